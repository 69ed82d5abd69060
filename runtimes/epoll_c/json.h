/* Reads JSON in one pass where it lies, and writes it. */
#ifndef JSON_H
#define JSON_H

#include "buffer.h"

/* Zeroes are one that has read nothing yet; the buffers are kept from text to text. */
struct json {
    const char *begin, *at, *end;
    unsigned depth;
    struct buffer key, error;
};

typedef bool json_member(struct json *json, struct bytes key, void *context);
typedef bool json_element(struct json *json, void *context);

/* A text of UTF-8 is read from here on; false where it is none. */
bool json_begin(struct json *json, struct bytes text);
/* Nothing but blanks is left. */
bool json_end(struct json *json);

/* What follows reads one value. False is an error, which `error` explains. */

bool json_object(struct json *json, json_member *member, void *context);
bool json_array(struct json *json, json_element *element, void *context);
/* A view of the text, or of `scratch` where the text has escapes. */
bool json_string(struct json *json, struct bytes *value, struct buffer *scratch);
bool json_bool(struct json *json, bool *value);
bool json_integer(struct json *json, int64_t *value);
/* As it is written. */
bool json_number(struct json *json, struct bytes *value);
bool json_skip(struct json *json);
/* Takes `null` where it is next, and is false and no error where it is not. */
bool json_null(struct json *json);
/* Whether the next value begins with this sign, which stays where it is. */
bool json_begins(struct json *json, char sign);
/* Says an error; always false. */
bool json_wrong(struct json *json, const char *why, struct bytes what);

void buffer_json_string(struct buffer *buffer, struct bytes text);

#endif
