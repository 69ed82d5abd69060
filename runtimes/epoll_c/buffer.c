#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *memory(void *old, size_t size) {
    void *found = realloc(old, size ? size : 1);
    if (!found) {
        fputs("there is no memory\n", stderr);
        abort();
    }
    return found;
}

void *zeroes(size_t count, size_t size) {
    return memset(memory(NULL, count * size), 0, count * size);
}

void buffer_reserve(struct buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->length >= more)
        return;
    size_t capacity = buffer->capacity * 2;
    if (capacity < buffer->length + more)
        capacity = buffer->length + more;
    buffer->data = memory(buffer->data, capacity);
    buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const void *data, size_t length) {
    if (length == 0)
        return;
    buffer_reserve(buffer, length);
    memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
}

void buffer_text(struct buffer *buffer, const char *text) {
    buffer_append(buffer, text, strlen(text));
}

void buffer_bytes(struct buffer *buffer, struct bytes bytes) {
    buffer_append(buffer, bytes.data, bytes.length);
}

/* Only for short texts: names, numbers, words of the system. */
void buffer_format(struct buffer *buffer, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    buffer_text(buffer, text);
}

struct bytes buffer_view(const struct buffer *buffer) {
    return (struct bytes){buffer->data, buffer->length};
}

bool bytes_are(struct bytes bytes, const char *text) {
    return bytes_equal(bytes, (struct bytes){text, strlen(text)});
}

static bool is_blank(char byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

struct bytes bytes_trimmed(struct bytes bytes) {
    while (bytes.length && is_blank(bytes.data[0]))
        bytes.data++, bytes.length--;
    while (bytes.length && is_blank(bytes.data[bytes.length - 1]))
        bytes.length--;
    return bytes;
}

size_t utf8_length(struct bytes bytes) {
    const unsigned char *at = (const unsigned char *)bytes.data;
    if (bytes.length == 0)
        return 0;
    if (at[0] < 0x80)
        return 1;
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || bytes.length < length)
        return 0;
    for (size_t index = 1; index < length; index++)
        if ((at[index] & 0xC0) != 0x80)
            return 0;
    /* Longer than need be, a surrogate, or beyond the last character. */
    bool is_wrong = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
                    (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F);
    return is_wrong ? 0 : length;
}

bool utf8_is_valid(struct bytes bytes) {
    while (bytes.length) {
        uint64_t eight;
        size_t length = 8;
        if (bytes.length < 8 || (memcpy(&eight, bytes.data, 8), eight & 0x8080808080808080))
            length = utf8_length(bytes);
        if (length == 0)
            return false;
        bytes.data += length, bytes.length -= length;
    }
    return true;
}

void buffer_excerpt(struct buffer *buffer, struct bytes bytes) {
    for (int count = 0; count < 60 && bytes.length; count++) {
        size_t length = utf8_length(bytes);
        if (length)
            buffer_append(buffer, bytes.data, length);
        else
            buffer_text(buffer, "\xEF\xBF\xBD");
        length = length ? length : 1;
        bytes.data += length, bytes.length -= length;
    }
}
