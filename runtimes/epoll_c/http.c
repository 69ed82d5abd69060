#include "http.h"

#include <string.h>
#include <strings.h>

/* Bounds on what is kept of a head, a chunk-size line or trailers, in bytes. */
static const size_t MAX_LINE = 16 << 10, MAX_HEAD = 64 << 10;

static enum http_part wrong(struct http *http, const char *what, struct bytes line) {
    buffer_format(&http->error, "%s in `", what);
    buffer_excerpt(&http->error, line);
    buffer_text(&http->error, "`");
    return HTTP_WRONG;
}

static enum http_part end(struct http *http) {
    http->state = STATUS;
    http->head_bytes = 0;
    return HTTP_END;
}

/* Splits at most `limit` bytes off the front. */
static struct bytes take(struct bytes *input, uint64_t limit) {
    struct bytes piece = *input;
    if (limit < piece.length)
        piece.length = limit;
    input->data += piece.length, input->length -= piece.length;
    return piece;
}

/* --- Lines --- */

static bool is_name(struct bytes name, const char *of) {
    return name.length == strlen(of) && strncasecmp(name.data, of, name.length) == 0;
}

static enum http_part on_status(struct http *http, struct bytes line) {
    static const char VERSION[] = "HTTP/1.";
    const size_t version = sizeof VERSION - 1;
    const char *at = line.data;
    if (line.length < version + 5 || memcmp(at, VERSION, version) != 0 || at[version + 1] != ' ')
        return wrong(http, "status line", line);
    http->status = 0;
    for (const char *digit = at + version + 2; digit < at + version + 5; digit++) {
        if (*digit < '0' || *digit > '9')
            return wrong(http, "status line", line);
        http->status = http->status * 10 + *digit - '0';
    }
    http->keeps_alive = at[version] != '0';
    http->has_length = http->is_chunked = false;
    http->left = 0;
    http->state = HEADERS;
    return HTTP_MORE;
}

static bool decimal(struct bytes digits, uint64_t *value) {
    *value = 0;
    for (size_t at = 0; at < digits.length; at++) {
        if (digits.data[at] < '0' || digits.data[at] > '9' ||
            __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(digits.data[at] - '0'), value))
            return false;
    }
    return digits.length > 0;
}

static enum http_part on_header(struct http *http, struct bytes line) {
    const char *colon = memchr(line.data, ':', line.length);
    if (!colon)
        return wrong(http, "header", line);
    struct bytes name = {line.data, (size_t)(colon - line.data)};
    struct bytes value = {colon + 1, line.length - name.length - 1};
    value = bytes_trimmed(value);
    if (is_name(name, "content-length")) {
        if (!decimal(value, &http->left))
            return wrong(http, "content-length", line);
        http->has_length = true;
    } else if (is_name(name, "transfer-encoding")) {
        const size_t length = strlen("chunked");
        http->is_chunked = value.length >= length &&
                           strncasecmp(value.data + value.length - length, "chunked", length) == 0;
    } else if (is_name(name, "connection")) {
        http->keeps_alive = !is_name(value, "close");
    }
    return HTTP_MORE;
}

static enum http_part on_head_end(struct http *http) {
    if (http->status >= 100 && http->status < 200) {
        http->state = STATUS;
        return HTTP_MORE;
    }
    bool is_bodiless = http->status == 204 || http->status == 304;
    if (is_bodiless)
        http->left = 0;
    http->state = is_bodiless        ? SIZED
                  : http->is_chunked ? CHUNK_SIZE
                  : http->has_length ? SIZED
                                     : UNTIL_CLOSE;
    http->keeps_alive = http->keeps_alive && http->state != UNTIL_CLOSE;
    return HTTP_HEAD;
}

/* The hexadecimal size in front of a chunk; extensions after `;` are skipped. */
static enum http_part on_chunk_size(struct http *http, struct bytes line) {
    struct bytes digits = line;
    const char *extension = memchr(line.data, ';', line.length);
    if (extension)
        digits.length = (size_t)(extension - line.data);
    digits = bytes_trimmed(digits);
    http->left = 0;
    for (size_t at = 0; at < digits.length; at++) {
        static const char DIGITS[] = "0123456789abcdef";
        char byte = digits.data[at];
        const char *found = byte ? strchr(DIGITS, byte >= 'A' && byte <= 'F' ? byte | 0x20 : byte)
                                 : NULL;
        if (!found || http->left >> 60)
            return wrong(http, "chunk size", line);
        http->left = http->left << 4 | (uint64_t)(found - DIGITS);
    }
    if (digits.length == 0)
        return wrong(http, "chunk size", line);
    http->state = http->left ? CHUNK : TRAILERS;
    return HTTP_MORE;
}

static enum http_part on_line(struct http *http, struct bytes line) {
    switch (http->state) {
    case STATUS:
        return on_status(http, line);
    case HEADERS:
        return line.length ? on_header(http, line) : on_head_end(http);
    case CHUNK_SIZE:
        return on_chunk_size(http, line);
    case TRAILERS:
        return line.length ? HTTP_MORE : end(http);
    default:
        if (line.length)
            return wrong(http, "a chunk is longer than its size", line);
        http->state = CHUNK_SIZE;
        return HTTP_MORE;
    }
}

/* Takes bytes up to the end of a line, which is kept in `line` while it has none. False where more
 * are needed or there are too many. */
static bool take_line(struct http *http, struct bytes *input, struct bytes *line) {
    const char *found = input->length ? memchr(input->data, '\n', input->length) : NULL;
    size_t length = found ? (size_t)(found - input->data) + 1 : input->length;
    struct bytes piece = take(input, length);
    if (http->state == STATUS || http->state == HEADERS || http->state == TRAILERS)
        http->head_bytes += length;
    if (http->line.length + length > MAX_LINE || http->head_bytes > MAX_HEAD) {
        buffer_bytes(&http->line, piece);
        wrong(http, "a head or line is too long", buffer_view(&http->line));
        return false;
    }
    /* A whole line is read where it lies. */
    *line = piece;
    if (!found || http->line.length) {
        buffer_bytes(&http->line, piece);
        *line = buffer_view(&http->line);
    }
    if (!found)
        return false;
    http->line.length = 0;
    line->length--;
    if (line->length && line->data[line->length - 1] == '\r')
        line->length--;
    return true;
}

/* --- Parts --- */

enum http_part http_next(struct http *http, struct bytes *input, struct bytes *body) {
    enum http_part part = HTTP_MORE;
    while (part == HTTP_MORE) {
        struct bytes line;
        switch (http->state) {
        case SIZED:
        case CHUNK:
            if (http->left == 0)
                return end(http);
            *body = take(input, http->left);
            http->left -= body->length;
            if (http->state == CHUNK && http->left == 0)
                http->state = CHUNK_END;
            return body->length ? HTTP_BODY : HTTP_MORE;
        case UNTIL_CLOSE:
            *body = take(input, UINT64_MAX);
            return body->length ? HTTP_BODY : HTTP_MORE;
        default:
            if (!take_line(http, input, &line))
                return http->error.length ? HTTP_WRONG : HTTP_MORE;
            part = on_line(http, line);
        }
    }
    return part;
}

bool http_is_idle(const struct http *http) {
    return http->state == STATUS && http->line.length == 0 && http->head_bytes == 0;
}

bool http_closed(struct http *http) {
    return http->state == UNTIL_CLOSE && end(http) == HTTP_END;
}

void http_reset(struct http *http) {
    http->state = STATUS;
    http->head_bytes = http->line.length = http->error.length = 0;
}
