/* Parses HTTP/1.1 responses from bytes that are cut anywhere; it does no I/O. */
#ifndef HTTP_H
#define HTTP_H

#include "buffer.h"

enum http_part {
    /* More bytes are needed. */
    HTTP_MORE,
    /* The head is complete. */
    HTTP_HEAD,
    /* Bytes of the body, without the chunks' framing. */
    HTTP_BODY,
    /* The response is complete; what follows belongs to the next one. */
    HTTP_END,
    /* It is no HTTP/1.1; `error` says why. */
    HTTP_WRONG,
};

enum http_state {
    STATUS,
    HEADERS,
    SIZED,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILERS,
    UNTIL_CLOSE,
};

/* Of one connection. Zeroes are one at its beginning; the buffers are kept. */
struct http {
    enum http_state state;
    struct buffer line, error;
    size_t head_bytes;
    int status;
    bool has_length, is_chunked, keeps_alive;
    /* Bytes that are left of a sized body or of a chunk. */
    uint64_t left;
};

/* Takes the next part off the front of `input`; `body` is set for HTTP_BODY. Interim responses are
 * skipped. */
enum http_part http_next(struct http *http, struct bytes *input, struct bytes *body);
/* Nothing of a response has arrived since the last one ended. */
bool http_is_idle(const struct http *http);
/* The connection was closed: right for a body without a length, which then is complete. */
bool http_closed(struct http *http);
/* For a new connection. */
void http_reset(struct http *http);

#endif
