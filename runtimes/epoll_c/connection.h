/* One agent's connection: non-blocking, kept alive between calls. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "agent.h"
#include "http.h"

enum progress {
    /* It waits for its server. */
    WAITING,
    /* Its last call is done. */
    FINISHED,
    /* A sentence says why the run is over. */
    FAILED,
};

struct connection {
    struct agent_run *agent;
    int epoll, socket;
    /* The socket has carried a call before this one. */
    bool is_reused;
    /* When the server was last asked or heard; 0 while no call is under way. */
    int64_t heard_ns;
    struct buffer output;
    size_t written;
    struct http http;
};

void connection_init(struct connection *connection, struct agent_run *agent, int epoll);
enum progress connection_begin_call(struct connection *connection, struct buffer *why);
/* The socket can be written or read, or its end is near where it is `closing`. `buffer` is what it
 * is read into; `now_ns` is the reading that all connections of one wake-up share. */
enum progress connection_ready(struct connection *connection, bool closing, struct buffer *buffer,
                               int64_t now_ns, struct buffer *why);

#endif
