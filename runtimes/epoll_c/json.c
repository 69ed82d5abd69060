#include "json.h"

#include <string.h>

/* Deeper values are refused, so that no text can exhaust the stack. */
static const unsigned DEPTH = 1000;

static bool wrong(struct json *json, const char *why) {
    if (json->error.length == 0)
        buffer_format(&json->error, "%s at byte %zu", why, (size_t)(json->at - json->begin));
    return false;
}

bool json_wrong(struct json *json, const char *why, struct bytes what) {
    if (json->error.length == 0) {
        buffer_format(&json->error, "%s `", why);
        buffer_excerpt(&json->error, what);
        buffer_text(&json->error, "`");
    }
    return false;
}

bool json_begin(struct json *json, struct bytes text) {
    json->begin = json->at = text.data;
    json->end = text.data + text.length;
    json->depth = 0;
    json->error.length = 0;
    return utf8_is_valid(text) || wrong(json, "it is not UTF-8");
}

static void skip_blanks(struct json *json) {
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' ||
                                    *json->at == '\r'))
        json->at++;
}

bool json_end(struct json *json) {
    skip_blanks(json);
    return json->at == json->end || wrong(json, "something follows");
}

bool json_begins(struct json *json, char sign) {
    skip_blanks(json);
    return json->at < json->end && *json->at == sign;
}

/* Takes a sign where it is next. */
static bool take(struct json *json, char sign) {
    bool is_next = json_begins(json, sign);
    json->at += is_next;
    return is_next;
}

static bool take_word(struct json *json, const char *word) {
    size_t length = strlen(word);
    skip_blanks(json);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return false;
    json->at += length;
    return true;
}

bool json_null(struct json *json) {
    return take_word(json, "null");
}

bool json_bool(struct json *json, bool *value) {
    *value = take_word(json, "true");
    return *value || take_word(json, "false") || wrong(json, "expected true or false");
}

static bool digits(struct json *json) {
    const char *begin = json->at;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9')
        json->at++;
    return json->at > begin || wrong(json, "expected a digit");
}

static bool take_one_of(struct json *json, char one, char other) {
    bool is_next = json->at < json->end && (*json->at == one || *json->at == other);
    json->at += is_next;
    return is_next;
}

static bool number(struct json *json, struct bytes *value, bool *is_integer) {
    skip_blanks(json);
    const char *begin = json->at;
    *is_integer = true;
    take_one_of(json, '-', '-');
    if (!take_one_of(json, '0', '0') && !digits(json))
        return false;
    if (take_one_of(json, '.', '.')) {
        *is_integer = false;
        if (!digits(json))
            return false;
    }
    if (take_one_of(json, 'e', 'E')) {
        *is_integer = false;
        take_one_of(json, '+', '-');
        if (!digits(json))
            return false;
    }
    *value = (struct bytes){begin, (size_t)(json->at - begin)};
    return true;
}

bool json_number(struct json *json, struct bytes *value) {
    bool is_integer;
    return number(json, value, &is_integer);
}

bool json_integer(struct json *json, int64_t *value) {
    struct bytes text;
    bool is_integer;
    if (!number(json, &text, &is_integer))
        return false;
    if (!is_integer)
        return wrong(json, "expected an integer");
    bool is_negative = text.data[0] == '-';
    int64_t found = 0;
    for (size_t index = is_negative; index < text.length; index++) {
        int digit = text.data[index] - '0';
        if (__builtin_mul_overflow(found, 10, &found) ||
            __builtin_add_overflow(found, is_negative ? -digit : digit, &found))
            return wrong(json, "an integer has more than 64 bits");
    }
    *value = found;
    return true;
}

/* --- Strings --- */

static bool hexadecimal(struct json *json, uint32_t *value) {
    *value = 0;
    for (int count = 0; count < 4; count++, json->at++) {
        if (json->at == json->end)
            return wrong(json, "a string has no end");
        char digit = *json->at;
        if (digit >= '0' && digit <= '9')
            *value = *value * 16 + (uint32_t)(digit - '0');
        else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
            *value = *value * 16 + (uint32_t)((digit | 0x20) - 'a' + 10);
        else
            return wrong(json, "expected a hexadecimal digit");
    }
    return true;
}

static void append_character(struct buffer *buffer, uint32_t code) {
    char bytes[4];
    size_t length = 0;
    if (code < 0x80) {
        bytes[length++] = (char)code;
    } else if (code < 0x800) {
        bytes[length++] = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[length++] = (char)(0xE0 | code >> 12);
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3F));
    } else {
        bytes[length++] = (char)(0xF0 | code >> 18);
        bytes[length++] = (char)(0x80 | (code >> 12 & 0x3F));
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80)
        bytes[length++] = (char)(0x80 | (code & 0x3F));
    buffer_append(buffer, bytes, length);
}

/* What stands behind `\u`: a character, or the first half of a pair and its second. */
static bool unicode(struct json *json, struct buffer *into) {
    uint32_t code, low;
    if (!hexadecimal(json, &code))
        return false;
    if (code >= 0xD800 && code < 0xE000) {
        bool is_first = code < 0xDC00 && json->end - json->at >= 2 && json->at[0] == '\\' &&
                        json->at[1] == 'u';
        if (!is_first)
            return wrong(json, "half of a surrogate pair");
        json->at += 2;
        if (!hexadecimal(json, &low))
            return false;
        if (low < 0xDC00 || low > 0xDFFF)
            return wrong(json, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_character(into, code);
    return true;
}

/* What stands behind a backslash. */
static bool escape(struct json *json, struct buffer *into) {
    static const char SIGNS[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    if (json->at == json->end)
        return wrong(json, "a string has no end");
    char sign = *json->at++;
    if (sign == 'u')
        return unicode(json, into);
    const char *found = sign ? strchr(SIGNS, sign) : NULL;
    if (!found)
        return wrong(json, "there is no such escape");
    buffer_append(into, MEANT + (found - SIGNS), 1);
    return true;
}

/* Up to the next quotation mark or backslash. */
static bool plain(struct json *json, struct bytes *run) {
    const char *begin = json->at;
    while (json->at < json->end && *json->at != '"' && *json->at != '\\') {
        if ((unsigned char)*json->at < 0x20)
            return wrong(json, "a control character in a string");
        json->at++;
    }
    *run = (struct bytes){begin, (size_t)(json->at - begin)};
    return json->at < json->end || wrong(json, "a string has no end");
}

bool json_string(struct json *json, struct bytes *value, struct buffer *scratch) {
    if (!take(json, '"'))
        return wrong(json, "expected a string");
    if (!plain(json, value))
        return false;
    if (*json->at++ == '"')
        return true;
    scratch->length = 0;
    buffer_bytes(scratch, *value);
    do {
        if (!escape(json, scratch) || !plain(json, value))
            return false;
        buffer_bytes(scratch, *value);
    } while (*json->at++ != '"');
    *value = buffer_view(scratch);
    return true;
}

/* --- What holds values --- */

bool json_object(struct json *json, json_member *member, void *context) {
    if (!take(json, '{'))
        return wrong(json, "expected an object");
    if (++json->depth > DEPTH)
        return wrong(json, "it is nested too deeply");
    if (!take(json, '}')) {
        do {
            struct bytes key;
            if (!json_string(json, &key, &json->key))
                return false;
            if (!take(json, ':'))
                return wrong(json, "expected `:`");
            if (!member(json, key, context))
                return false;
        } while (take(json, ','));
        if (!take(json, '}'))
            return wrong(json, "expected `,` or `}`");
    }
    json->depth--;
    return true;
}

bool json_array(struct json *json, json_element *element, void *context) {
    if (!take(json, '['))
        return wrong(json, "expected an array");
    if (++json->depth > DEPTH)
        return wrong(json, "it is nested too deeply");
    if (!take(json, ']')) {
        do {
            if (!element(json, context))
                return false;
        } while (take(json, ','));
        if (!take(json, ']'))
            return wrong(json, "expected `,` or `]`");
    }
    json->depth--;
    return true;
}

static bool skip(struct json *json, void *scratch);

static bool skip_member(struct json *json, struct bytes key, void *scratch) {
    (void)key;
    return skip(json, scratch);
}

static bool skip(struct json *json, void *scratch) {
    struct bytes ignored;
    bool truth;
    skip_blanks(json);
    switch (json->at < json->end ? *json->at : 0) {
    case '{':
        return json_object(json, skip_member, scratch);
    case '[':
        return json_array(json, skip, scratch);
    case '"':
        return json_string(json, &ignored, scratch);
    case 't':
    case 'f':
        return json_bool(json, &truth);
    case 'n':
        return json_null(json) || wrong(json, "expected a value");
    default:
        return json_number(json, &ignored);
    }
}

bool json_skip(struct json *json) {
    /* Whoever skips a value has looked at its key already. */
    return skip(json, &json->key);
}

void buffer_json_string(struct buffer *buffer, struct bytes text) {
    static const char SIGNS[] = "\"\\bfnrt", MEANT[] = "\"\\\b\f\n\r\t";
    buffer_text(buffer, "\"");
    for (size_t index = 0; index < text.length; index++) {
        char byte = text.data[index];
        const char *found = byte ? strchr(MEANT, byte) : NULL;
        if (found)
            buffer_format(buffer, "\\%c", SIGNS[found - MEANT]);
        else if ((unsigned char)byte < 0x20)
            buffer_format(buffer, "\\u%04x", (unsigned)byte);
        else
            buffer_append(buffer, &byte, 1);
    }
    buffer_text(buffer, "\"");
}
