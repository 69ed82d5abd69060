module runtimes-go_net_http

go 1.21
