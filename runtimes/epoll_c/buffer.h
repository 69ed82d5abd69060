/* Bytes that grow, and views of bytes that somebody else keeps. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const char *data;
    size_t length;
};

/* Zeroes are an empty one. */
struct buffer {
    char *data;
    size_t length, capacity;
};

/* Memory of that many bytes, grown from `old`. Without memory the program ends. */
void *memory(void *old, size_t size);
/* The same, of zeroes. */
void *zeroes(size_t count, size_t size);

void buffer_reserve(struct buffer *buffer, size_t more);
void buffer_append(struct buffer *buffer, const void *data, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_bytes(struct buffer *buffer, struct bytes bytes);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct bytes buffer_view(const struct buffer *buffer);

static inline bool bytes_equal(struct bytes bytes, struct bytes other) {
    return bytes.length == other.length &&
           (bytes.length == 0 || memcmp(bytes.data, other.data, bytes.length) == 0);
}

bool bytes_are(struct bytes bytes, const char *text);
/* Without blanks at either end. */
struct bytes bytes_trimmed(struct bytes bytes);

/* The length of the character of UTF-8 that bytes begin with; 0 where they begin with none. */
size_t utf8_length(struct bytes bytes);
bool utf8_is_valid(struct bytes bytes);
/* The first 60 characters, with U+FFFD for what is no UTF-8. */
void buffer_excerpt(struct buffer *buffer, struct bytes bytes);

/* The hash of that name. */
uint64_t xxh64(const void *data, size_t length, uint64_t seed);

#endif
