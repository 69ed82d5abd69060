#include "spec.h"

#include <stdlib.h>

#include "json.h"

static const int64_t PROTOCOL = 1;

/* --- The keys of an object --- */

struct keys {
    /* Ends with NULL; those before `required` must be there. */
    const char *const *names;
    unsigned required;
    unsigned seen;
};

/* The number of a key; -1 where there is no such key or it stands there twice. */
static int number_of(struct json *json, struct keys *keys, struct bytes key) {
    for (int number = 0; keys->names[number]; number++) {
        if (!bytes_are(key, keys->names[number]))
            continue;
        if (keys->seen & 1u << number) {
            json_wrong(json, "duplicate field", key);
            return -1;
        }
        keys->seen |= 1u << number;
        return number;
    }
    json_wrong(json, "unknown field", key);
    return -1;
}

static bool all_there(struct json *json, const struct keys *keys) {
    for (unsigned number = 0; number < keys->required; number++)
        if (!(keys->seen & 1u << number)) {
            struct buffer name = {0};
            buffer_text(&name, keys->names[number]);
            return json_wrong(json, "missing field", buffer_view(&name));
        }
    return true;
}

static bool text(struct json *json, struct buffer *into) {
    struct buffer scratch = {0};
    struct bytes value;
    bool is_text = json_string(json, &value, &scratch);
    if (is_text)
        buffer_bytes(into, value);
    free(scratch.data);
    return is_text;
}

/* --- A call --- */

static const char *const OPTIONS[] = {"seed",       "num_predict", "num_gpu", "num_ctx",
                                      "num_thread", "temperature", NULL};
enum { SEED, NUM_PREDICT, TEMPERATURE = 5 };

struct options {
    struct keys keys;
    struct call_spec *call;
};

static bool option(struct json *json, struct bytes key, void *context) {
    struct options *options = context;
    int number = number_of(json, &options->keys, key);
    if (number < 0)
        return false;
    if (number > NUM_PREDICT && json_null(json))
        return true;
    struct bytes written;
    const char *begin = json->at;
    int64_t value = 0;
    bool is_read = number == TEMPERATURE ? json_number(json, &written) : json_integer(json, &value);
    if (!is_read)
        return false;
    if (number == NUM_PREDICT)
        options->call->num_predict = value;
    struct buffer *into = &options->call->options;
    buffer_text(into, into->length ? ",\"" : "\"");
    buffer_text(into, OPTIONS[number]);
    buffer_text(into, "\":");
    written = bytes_trimmed((struct bytes){begin, (size_t)(json->at - begin)});
    buffer_bytes(into, written);
    return true;
}

struct call {
    struct keys keys;
    struct call_spec *spec;
};

static bool call_member(struct json *json, struct bytes key, void *context) {
    struct call *call = context;
    struct options options = {{OPTIONS, NUM_PREDICT + 1, 0}, call->spec};
    switch (number_of(json, &call->keys, key)) {
    case 0:
        return text(json, &call->spec->prompt);
    case 1:
        return json_object(json, option, &options) && all_there(json, &options.keys);
    default:
        return false;
    }
}

/* --- An agent --- */

static bool call(struct json *json, void *context) {
    static const char *const KEYS[] = {"prompt", "options", NULL};
    struct agent_spec *agent = context;
    size_t size = (agent->call_count + 1) * sizeof *agent->calls;
    agent->calls = memory(agent->calls, size);
    struct call found = {{KEYS, 2, 0}, &agent->calls[agent->call_count++]};
    *found.spec = (struct call_spec){0};
    return json_object(json, call_member, &found) && all_there(json, &found.keys);
}

struct agent {
    struct keys keys;
    struct agent_spec *spec;
};

static bool agent_member(struct json *json, struct bytes key, void *context) {
    struct agent *agent = context;
    switch (number_of(json, &agent->keys, key)) {
    case 0:
        return text(json, &agent->spec->server);
    case 1:
        return text(json, &agent->spec->model);
    case 2:
        return json_array(json, call, agent->spec);
    case 3:
        return json_null(json) || json_integer(json, &agent->spec->work_per_token_ns);
    case 4:
        return json_null(json) || json_integer(json, &agent->spec->drop_after_tokens);
    case 5:
        return json_null(json) || json_integer(json, &agent->spec->start_after_ns);
    default:
        return false;
    }
}

static bool agent(struct json *json, void *context) {
    static const char *const KEYS[] = {"server",            "model",          "calls",
                                       "work_per_token_ns", "drop_after_tokens",
                                       "start_after_ns",    NULL};
    struct spec *spec = context;
    size_t size = (spec->agent_count + 1) * sizeof *spec->agents;
    spec->agents = memory(spec->agents, size);
    struct agent found = {{KEYS, 3, 0}, &spec->agents[spec->agent_count++]};
    *found.spec = (struct agent_spec){0};
    return json_object(json, agent_member, &found) && all_there(json, &found.keys);
}

/* --- The spec --- */

struct root {
    struct keys keys, workload;
    struct spec *spec;
    int64_t protocol, stall_timeout_ms;
    struct buffer arrangement;
};

static bool workload_member(struct json *json, struct bytes key, void *context) {
    struct root *root = context;
    struct spec *spec = root->spec;
    int64_t ignored;
    switch (number_of(json, &root->workload, key)) {
    case 0:
        return text(json, &root->arrangement);
    case 1:
        return json_integer(json, &root->stall_timeout_ms);
    case 2:
        return json_array(json, agent, spec);
    case 3:
        spec->has_ingest_dir = !json_null(json);
        return !spec->has_ingest_dir || text(json, &spec->ingest_dir);
    case 4:
        spec->has_piece_bytes = !json_null(json);
        return !spec->has_piece_bytes || json_integer(json, &ignored);
    case 5:
        return json_null(json) || json_integer(json, &spec->give_up_lag_ms);
    default:
        return false;
    }
}

static bool root_member(struct json *json, struct bytes key, void *context) {
    struct root *root = context;
    switch (number_of(json, &root->keys, key)) {
    case 0:
        return json_integer(json, &root->protocol);
    case 1:
        return text(json, &root->spec->run);
    case 2:
        return json_object(json, workload_member, root) && all_there(json, &root->workload);
    default:
        return false;
    }
}

/* Splits `http://host:port/prefix/`; false where it is no such address. */
static bool split(struct agent_spec *agent) {
    static const char SCHEME[] = "http://";
    const size_t scheme = sizeof SCHEME - 1;
    struct bytes rest = buffer_view(&agent->server);
    if (rest.length < scheme || !bytes_are((struct bytes){rest.data, scheme}, SCHEME))
        return false;
    rest.data += scheme, rest.length -= scheme;
    while (rest.length && rest.data[rest.length - 1] == '/')
        rest.length--;
    size_t end = 0, colon = rest.length;
    for (; end < rest.length && rest.data[end] != '/'; end++)
        if (rest.data[end] == ':')
            colon = end;
    agent->authority = (struct bytes){rest.data, end};
    agent->prefix = (struct bytes){rest.data + end, rest.length - end};
    if (colon == 0 || colon >= end)
        return false;
    agent->host = (struct bytes){rest.data, colon};
    long port = 0;
    for (size_t at = colon + 1; at < end; at++) {
        if (rest.data[at] < '0' || rest.data[at] > '9' || port > 65535)
            return false;
        port = port * 10 + rest.data[at] - '0';
    }
    buffer_format(&agent->port, "%ld", port);
    return colon + 1 < end && port <= 65535;
}

/* Refuses a workload that no variant can run. */
static bool check(struct root *root, struct buffer *why) {
    struct spec *spec = root->spec;
    spec->is_solo = bytes_are(buffer_view(&root->arrangement), "solo");
    if (!spec->is_solo && !bytes_are(buffer_view(&root->arrangement), "concurrent")) {
        buffer_text(why, "`arrangement` is neither `concurrent` nor `solo`: write one of these");
        return false;
    }
    if (spec->agent_count == 0) {
        buffer_text(why, "the workload names no agent: give `agents` at least one");
        return false;
    }
    if (root->stall_timeout_ms < 1) {
        buffer_format(why, "`stall_timeout_ms` is %jd: give at least 1",
                      (intmax_t)root->stall_timeout_ms);
        return false;
    }
    for (size_t index = 0; index < spec->agent_count; index++) {
        struct agent_spec *agent = &spec->agents[index];
        if (agent->call_count == 0) {
            buffer_format(why, "agent %zu: `calls` is empty: give at least one", index);
            return false;
        }
        if (!split(agent)) {
            buffer_format(why, "agent %zu: `server` is `", index);
            buffer_bytes(why, buffer_view(&agent->server));
            buffer_text(why, "`: write it as http://HOST:PORT");
            return false;
        }
    }
    return true;
}

bool spec_read(struct spec *spec, struct bytes line, struct buffer *why) {
    static const char *const KEYS[] = {"protocol", "run", "workload", NULL};
    static const char *const WORKLOAD[] = {"arrangement", "stall_timeout_ms", "agents",
                                           "ingest_dir",  "piece_bytes",      "give_up_lag_ms",
                                           NULL};
    struct json json = {0};
    struct root root = {{KEYS, 3, 0}, {WORKLOAD, 3, 0}, spec, 0, 0, {0}};
    if (!json_begin(&json, line) || !json_object(&json, root_member, &root) ||
        !all_there(&json, &root.keys) || !json_end(&json)) {
        buffer_text(why, "cannot read the run spec: ");
        buffer_bytes(why, buffer_view(&json.error));
        return false;
    }
    if (root.protocol != PROTOCOL) {
        buffer_format(why, "the run spec is protocol %jd, this variant speaks %jd",
                      (intmax_t)root.protocol, (intmax_t)PROTOCOL);
        return false;
    }
    /* A century is never. */
    const int64_t most_ms = (int64_t)100 * 366 * 86400 * 1000;
    int64_t ms = root.stall_timeout_ms < most_ms ? root.stall_timeout_ms : most_ms;
    spec->stall_timeout_ns = ms * 1000000;
    buffer_append(&spec->ingest_dir, "", 1);
    return check(&root, why);
}
