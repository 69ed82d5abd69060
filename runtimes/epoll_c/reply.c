#include "reply.h"

#include <string.h>

/* Bounds in bytes: of a line, and of what is kept of a response that is no stream. */
enum { MAX_LINE = 4 << 20, MAX_ERROR_BODY = 4 << 10 };
/* Rows are set aside for at most so many tokens of a call before it starts. */
enum { MAX_RESERVED = 1 << 16 };

/* The keys of a line, as far as an agent reads it; those of the last line come last. */
#define KEY(NAME) {NAME, sizeof NAME - 1}
static const struct bytes KEYS[] = {
    KEY("response"),
    KEY("thinking"),
    KEY("done"),
    KEY("model"),
    KEY("error"),
    KEY("sent_ns"),
    KEY("eval_count"),
    KEY("eval_duration"),
    KEY("prompt_eval_count"),
    KEY("prompt_eval_duration"),
    KEY("load_duration"),
    KEY("total_duration"),
};
enum { RESPONSE, THINKING, DONE, MODEL, ERROR, SENT_NS, OF_LAST_LINE };
enum { KEY_COUNT = OF_LAST_LINE + LAST_LINE };

const char *const LAST_LINE_COLUMNS[LAST_LINE] = {
    "call_eval_count",     "call_eval_ns", "call_prompt_eval_count",
    "call_prompt_eval_ns", "call_load_ns", "call_server_total_ns",
};

struct line {
    struct reply *reply;
    unsigned seen;
    struct bytes response, thinking, model, error;
    bool is_done, has_error;
    int64_t sent_ns, said[LAST_LINE];
};

void call_log_begin(struct call_log *log, int64_t tokens) {
    log->start_ns = log->end_ns = log->dropped_ns = UNSAID;
    for (int index = 0; index < LAST_LINE; index++)
        log->said[index] = UNSAID;
    log->capacity = tokens < 1 ? 1 : tokens > MAX_RESERVED ? MAX_RESERVED : (size_t)tokens;
    log->received_ns = memory(NULL, log->capacity * sizeof *log->received_ns);
    log->sent_ns = memory(NULL, log->capacity * sizeof *log->sent_ns);
}

static void add_token(struct call_log *log, int64_t received_ns, int64_t sent_ns) {
    if (log->tokens == log->capacity) {
        log->capacity *= 2;
        log->received_ns = memory(log->received_ns, log->capacity * sizeof *log->received_ns);
        log->sent_ns = memory(log->sent_ns, log->capacity * sizeof *log->sent_ns);
    }
    log->received_ns[log->tokens] = received_ns;
    log->sent_ns[log->tokens++] = sent_ns;
}

void reply_begin(struct reply *reply, struct call_log *log, bool is_last) {
    reply->log = log;
    reply->is_last = is_last;
    reply->is_done = false;
    reply->status = 200;
    reply->text.length = reply->carry.length = reply->error_body.length = 0;
    /* A token is about five bytes. */
    buffer_reserve(&reply->text, log->capacity * 8);
}

/* --- A line --- */

/* A key that is not there is null to a server, but texts and truth values are never null. */
static bool integer(struct json *json, int64_t *value) {
    return json_null(json) || json_integer(json, value);
}

static bool message(struct json *json, struct bytes key, void *context) {
    struct line *line = context;
    if (!bytes_are(key, "message") || !json_begins(json, '"'))
        return json_skip(json);
    return json_string(json, &line->error, &line->reply->scratch[3]);
}

/* An error is a string, or an object with a message; anything else is said as it is written. */
static bool error(struct json *json, struct line *line) {
    if (json_begins(json, '"'))
        return json_string(json, &line->error, &line->reply->scratch[3]);
    const char *begin = json->at;
    bool is_object = json_begins(json, '{');
    if (!(is_object ? json_object(json, message, line) : json_skip(json)))
        return false;
    if (!line->error.data)
        line->error = (struct bytes){begin, (size_t)(json->at - begin)};
    return true;
}

static bool member(struct json *json, struct bytes key, void *context) {
    struct line *line = context;
    struct buffer *scratch = line->reply->scratch;
    unsigned number = 0;
    while (number < KEY_COUNT && !bytes_equal(key, KEYS[number]))
        number++;
    if (number == KEY_COUNT)
        return json_skip(json);
    if (line->seen & 1u << number)
        return json_wrong(json, "duplicate field", key);
    line->seen |= 1u << number;
    switch (number) {
    case RESPONSE:
        return json_string(json, &line->response, &scratch[0]);
    case THINKING:
        return json_string(json, &line->thinking, &scratch[1]);
    case DONE:
        return json_bool(json, &line->is_done);
    case MODEL:
        return json_string(json, &line->model, &scratch[2]);
    case ERROR:
        line->has_error = !json_null(json);
        return !line->has_error || error(json, line);
    case SENT_NS:
        return integer(json, &line->sent_ns);
    default:
        return integer(json, &line->said[number - OF_LAST_LINE]);
    }
}

static bool parse(struct line *line, struct bytes data) {
    struct json *json = &line->reply->json;
    line->sent_ns = UNSAID;
    for (int index = 0; index < LAST_LINE; index++)
        line->said[index] = UNSAID;
    return json_begin(json, data) && json_object(json, member, line) && json_end(json);
}

static bool broken(struct buffer *why, struct bytes line, struct bytes cause) {
    buffer_text(why, "broken JSON in line `");
    buffer_excerpt(why, line);
    buffer_text(why, "`: ");
    buffer_bytes(why, cause);
    return false;
}

/* Ollama's tag `latest` may be left out. */
static struct bytes untagged(struct bytes model) {
    static const char TAG[] = ":latest";
    const size_t length = sizeof TAG - 1;
    if (model.length >= length &&
        bytes_are((struct bytes){model.data + model.length - length, length}, TAG))
        model.length -= length;
    return model;
}

/* Ollama names the model on every line: none may name another one, and the last must name it. */
static bool check_model(const struct reply *reply, const struct line *line, struct buffer *why) {
    bool is_said = line->model.length > 0;
    if (is_said ? bytes_equal(untagged(line->model), untagged(reply->model)) : !line->is_done)
        return true;
    buffer_text(why, "asked for model ");
    buffer_bytes(why, reply->model);
    buffer_text(why, is_said ? ", the server says that it ran "
                             : ", the server does not say which one it ran");
    buffer_bytes(why, line->model);
    return false;
}

/* A thought is a token that is no text. */
static bool has_token(const struct line *line) {
    return line->response.length || line->thinking.length;
}

static bool check(const struct reply *reply, const struct line *line, struct buffer *why) {
    if (line->has_error) {
        buffer_text(why, "the server reports an error: ");
        buffer_bytes(why, line->error);
        return false;
    }
    if (reply->is_done && (line->is_done || has_token(line))) {
        buffer_text(why, "the server went on after its done line, with `");
        buffer_excerpt(why, line->response);
        buffer_text(why, "`");
        return false;
    }
    return check_model(reply, line, why);
}

/* False with a sentence in `why` where a token waited for too long. */
static bool keeps_up(const struct reply *reply, int64_t lag_ns, struct buffer *why) {
    int64_t lag_ms = lag_ns / 1000000, limit_ms = reply->give_up_lag_ms;
    if (limit_ms == 0 || lag_ms <= limit_ms)
        return true;
    buffer_format(why, "saturated: a token waited %lld ms for its agent, and %lld ms are the limit",
                  (long long)lag_ms, (long long)limit_ms);
    return false;
}

static bool take_line(struct reply *reply, struct bytes data, int64_t received_ns,
                      struct buffer *why) {
    if (bytes_trimmed(data).length == 0)
        return true;
    struct line line = {.reply = reply};
    if (!parse(&line, data))
        return broken(why, data, buffer_view(&reply->json.error));
    if (!check(reply, &line, why))
        return false;
    if (has_token(&line)) {
        meter_token(reply->meter);
        buffer_bytes(&reply->text, line.response);
        add_token(reply->log, received_ns, line.sent_ns);
        work(reply->work_per_token_ns);
        if (line.sent_ns >= 0 && !keeps_up(reply, received_ns - line.sent_ns, why))
            return false;
    }
    if (line.is_done) {
        reply->is_done = true;
        reply->log->end_ns = now_ns();
        memcpy(reply->log->said, line.said, sizeof line.said);
        if (reply->is_last)
            meter_last_token(reply->meter);
    }
    return true;
}

/* --- A stream --- */

bool reply_feed(struct reply *reply, struct bytes body, int64_t received_ns, struct buffer *why) {
    if (reply->status != 200) {
        size_t room = MAX_ERROR_BODY - reply->error_body.length;
        buffer_append(&reply->error_body, body.data, body.length < room ? body.length : room);
        return true;
    }
    const char *end;
    while (body.length && (end = memchr(body.data, '\n', body.length))) {
        struct bytes line = {body.data, (size_t)(end - body.data)};
        body.length -= line.length + 1;
        body.data = end + 1;
        /* The common case, a whole line in one piece, is read where it lies. */
        if (reply->carry.length) {
            buffer_bytes(&reply->carry, line);
            line = buffer_view(&reply->carry);
        }
        if (!take_line(reply, line, received_ns, why))
            return false;
        reply->carry.length = 0;
    }
    buffer_bytes(&reply->carry, body);
    if (reply->carry.length <= MAX_LINE)
        return true;
    struct buffer cause = {0};
    buffer_format(&cause, "no end of line within %d bytes", MAX_LINE);
    return broken(why, buffer_view(&reply->carry), buffer_view(&cause));
}

/* Ollama explains a refusal as `{"error": "…"}`, a gateway with an object there. */
static void refused(struct reply *reply, struct buffer *why) {
    struct bytes body = buffer_view(&reply->error_body);
    struct line line = {.reply = reply};
    buffer_format(why, "status %d: ", reply->status);
    if (parse(&line, body) && line.has_error)
        buffer_bytes(why, line.error);
    else
        buffer_excerpt(why, body);
}

bool reply_finish(struct reply *reply, int64_t received_ns, struct buffer *why) {
    if (reply->status != 200) {
        refused(reply, why);
        return false;
    }
    /* A server need not end its last line. */
    if (!take_line(reply, buffer_view(&reply->carry), received_ns, why))
        return false;
    if (!reply->is_done) {
        buffer_format(why, "the body ended without a done line, after %zu tokens",
                      reply->log->tokens);
        return false;
    }
    reply->log->text_hash = (int64_t)xxh64(reply->text.data, reply->text.length, 0);
    return true;
}
