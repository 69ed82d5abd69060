#include "connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

void connection_init(struct connection *connection, struct agent_run *agent, int epoll) {
    connection->agent = agent;
    connection->epoll = epoll;
    connection->socket = -1;
}

static enum progress failed(const struct connection *connection, struct buffer *why,
                            const char *sentence) {
    agent_place(connection->agent, why);
    buffer_text(why, sentence);
    return FAILED;
}

/* The same for an error of the system. */
static enum progress failed_by(const struct connection *connection, struct buffer *why,
                               int error) {
    if (error == ECONNREFUSED)
        return failed(connection, why, "connection refused");
    if (error == ECONNRESET || error == EPIPE)
        return failed(connection, why, "connection reset by the server");
    failed(connection, why, "cannot talk to the server: ");
    buffer_text(why, strerror(error));
    return FAILED;
}

/* --- The socket --- */

static void close_socket(struct connection *connection) {
    if (connection->socket >= 0)
        close(connection->socket);
    connection->socket = -1;
}

/* The address of a host, which may be in brackets; NULL where no name server knows it. */
static struct addrinfo *resolve(const struct agent_spec *spec, const char **why) {
    struct bytes host = spec->host;
    if (host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']')
        host.data++, host.length -= 2;
    char name[256] = {0}, port[8] = {0};
    if (host.length >= sizeof name) {
        *why = "the host's name is too long";
        return NULL;
    }
    memcpy(name, host.data, host.length);
    memcpy(port, spec->port.data, spec->port.length);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int error = getaddrinfo(name, port, &hints, &found);
    *why = gai_strerror(error);
    return error ? NULL : found;
}

/* Begins to connect to an address: an error number, or 0. */
static int open_socket(struct connection *connection, const struct addrinfo *address) {
    int one = 1;
    int kind = address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int opened = socket(address->ai_family, kind, address->ai_protocol);
    if (opened < 0)
        return errno;
    connection->socket = opened;
    setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(opened, address->ai_addr, address->ai_addrlen) != 0 && errno != EINPROGRESS)
        return errno;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.ptr = connection};
    return epoll_ctl(connection->epoll, EPOLL_CTL_ADD, opened, &event) ? errno : 0;
}

static enum progress connect_anew(struct connection *connection, struct buffer *why) {
    const char *unknown;
    struct addrinfo *address = resolve(connection->agent->spec, &unknown);
    if (!address) {
        failed(connection, why, "cannot talk to the server: ");
        buffer_text(why, unknown);
        return FAILED;
    }
    int error = open_socket(connection, address);
    freeaddrinfo(address);
    http_reset(&connection->http);
    connection->written = 0;
    /* Asking for the address is none of the server's silence. */
    connection->heard_ns = now_ns();
    return error ? failed_by(connection, why, error) : WAITING;
}

/* Writes what is left of the request, as far as the socket takes it: an error number, or 0. */
static int flush(struct connection *connection) {
    while (connection->written < connection->output.length) {
        ssize_t length = send(connection->socket, connection->output.data + connection->written,
                              connection->output.length - connection->written, MSG_NOSIGNAL);
        if (length >= 0)
            connection->written += (size_t)length;
        else if (errno == EAGAIN || errno == ENOTCONN)
            return 0;
        else if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* --- Calls --- */

/* The connection is gone, by an error or, where that is 0, by a close. */
static enum progress on_close(struct connection *connection, int error, struct buffer *why);

enum progress connection_begin_call(struct connection *connection, struct buffer *why) {
    if (!agent_next_request(connection->agent, &connection->output)) {
        connection->heard_ns = 0;
        close_socket(connection);
        return FINISHED;
    }
    connection->written = 0;
    connection->is_reused = connection->socket >= 0;
    if (!connection->is_reused)
        return connect_anew(connection, why);
    connection->heard_ns = now_ns();
    int error = flush(connection);
    return error ? on_close(connection, error, why) : WAITING;
}

static enum progress end_call(struct connection *connection, struct buffer *why) {
    struct buffer sentence = {0};
    if (!agent_end_of_body(connection->agent, &sentence)) {
        agent_place(connection->agent, why);
        buffer_bytes(why, buffer_view(&sentence));
        return FAILED;
    }
    if (!connection->http.keeps_alive)
        close_socket(connection);
    return connection_begin_call(connection, why);
}

static enum progress consume(struct connection *connection, struct bytes input,
                             struct buffer *why) {
    struct reply *reply = &connection->agent->reply;
    struct buffer sentence = {0};
    struct bytes body;
    for (;;) {
        switch (http_next(&connection->http, &input, &body)) {
        case HTTP_MORE:
            return WAITING;
        case HTTP_HEAD:
            reply->status = connection->http.status;
            break;
        case HTTP_BODY:
            if (reply_feed(reply, body, now_ns(), &sentence)) {
                if (agent_drops(connection->agent))
                    return connection_begin_call(connection, why);
                break;
            }
            agent_place(connection->agent, why);
            buffer_bytes(why, buffer_view(&sentence));
            return FAILED;
        case HTTP_END:
            return end_call(connection, why);
        case HTTP_WRONG:
            failed(connection, why, "the response is not HTTP/1.1: ");
            buffer_bytes(why, buffer_view(&connection->http.error));
            return FAILED;
        }
    }
}

static enum progress on_close(struct connection *connection, int error, struct buffer *why) {
    close_socket(connection);
    /* A server may close an idle connection while the next request is on its way; as HTTP clients
     * do, that one request is sent again on a fresh connection. */
    if (connection->is_reused && http_is_idle(&connection->http)) {
        connection->is_reused = false;
        return connect_anew(connection, why);
    }
    if (error)
        return failed_by(connection, why, error);
    if (!http_closed(&connection->http))
        return failed(connection, why, "the connection was closed inside the reply");
    return end_call(connection, why);
}

/* A short read means that the socket is drained, so that the next bytes raise a new event
 * (epoll(7), "edge-triggered"); but where this event was `closing`, it has announced the end behind
 * the bytes, too, and none will follow. */
enum progress connection_ready(struct connection *connection, bool closing, struct buffer *buffer,
                               int64_t now_ns, struct buffer *why) {
    for (;;) {
        int error = flush(connection);
        if (error)
            return on_close(connection, error, why);
        ssize_t length = recv(connection->socket, buffer->data, buffer->capacity, 0);
        if (length == 0)
            return on_close(connection, 0, why);
        if (length < 0) {
            if (errno == EINTR)
                continue;
            /* A socket that is still connecting says one or the other. */
            if (errno == EAGAIN || errno == ENOTCONN)
                return WAITING;
            return on_close(connection, errno, why);
        }
        connection->heard_ns = now_ns;
        struct bytes input = {buffer->data, (size_t)length};
        enum progress progress = consume(connection, input, why);
        if (progress != WAITING)
            return progress;
        if ((size_t)length < buffer->capacity && !closing)
            return WAITING;
    }
}
