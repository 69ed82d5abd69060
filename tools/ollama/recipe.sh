# shellcheck shell=bash
# Real Ollama servers with a small model.
up() {
    exec bash "$folder/up.sh" "$@"
}

down() {
    exec bash "$folder/down.sh" "$@"
}

status() {
    up --status "$@"
}
