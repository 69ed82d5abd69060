#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wctype.h>

void agent_init(struct agent_run *agent, size_t index, const struct spec *spec,
                struct meter *meter, int64_t began_ns) {
    const struct agent_spec *of = &spec->agents[index];
    agent->due_ns = began_ns + of->start_after_ns;
    agent->index = index;
    agent->spec = of;
    agent->meter = meter;
    agent->calls = zeroes(of->call_count, sizeof *agent->calls);
    for (size_t call = 0; call < of->call_count; call++)
        call_log_begin(&agent->calls[call], of->calls[call].num_predict);
    agent->reply.model = buffer_view(&of->model);
    agent->reply.work_per_token_ns = of->work_per_token_ns;
    agent->reply.give_up_lag_ms = spec->give_up_lag_ms;
    agent->reply.meter = meter;
}

/* --- What an agent makes of a reply --- */

/* Takes a character off the front; bytes that are none are a character each. */
static uint32_t next_character(struct bytes *text) {
    size_t length = utf8_length(*text);
    const unsigned char *at = (const unsigned char *)text->data;
    uint32_t code = length < 2 ? at[0] : at[0] & (0x7Fu >> length);
    for (size_t index = 1; index < length; index++)
        code = code << 6 | (at[index] & 0x3F);
    length = length ? length : 1;
    text->data += length, text->length -= length;
    return code;
}

static bool is_of_word(uint32_t code) {
    if (code < 0x80)
        return (code >= '0' && code <= '9') || ((code | 0x20) >= 'a' && (code | 0x20) <= 'z');
    return iswalnum((wint_t)code) != 0;
}

/* Unicode's; iswspace leaves out the spaces that do not break. */
static bool is_space(uint32_t code) {
    return code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/* Counts the words of a reply and how many begin with each keyword, whatever their case. */
static void append_analysis(struct buffer *into, struct bytes reply) {
    static const char *const KEYWORDS[] = {"latency",    "throughput", "memory",
                                           "bottleneck", "improve",    "recommend"};
    enum { COUNT = sizeof KEYWORDS / sizeof *KEYWORDS };
    size_t counts[COUNT] = {0}, words = 0;
    bool was_word = false, was_space = true;
    while (reply.length) {
        struct bytes here = reply;
        uint32_t code = next_character(&reply);
        bool is_word = is_of_word(code), is_blank = is_space(code);
        for (int index = 0; is_word && !was_word && index < COUNT; index++) {
            size_t length = strlen(KEYWORDS[index]);
            if (here.length >= length && strncasecmp(here.data, KEYWORDS[index], length) == 0)
                counts[index]++;
        }
        words += was_space && !is_blank;
        was_word = is_word, was_space = is_blank;
    }
    buffer_text(into, "analysis:");
    for (int index = 0; index < COUNT; index++)
        buffer_format(into, " %s %zu,", KEYWORDS[index], counts[index]);
    buffer_format(into, " words %zu", words);
}

/* --- Calls --- */

static void append_body(const struct agent_run *agent, struct buffer *body) {
    const struct call_spec *call = &agent->spec->calls[agent->begun];
    struct buffer prompt = {0};
    buffer_bytes(&prompt, buffer_view(&call->prompt));
    if (agent->begun > 0) {
        buffer_text(&prompt, "\n\n");
        append_analysis(&prompt, buffer_view(&agent->reply.text));
    }
    buffer_text(body, "{\"model\":");
    buffer_json_string(body, buffer_view(&agent->spec->model));
    buffer_text(body, ",\"prompt\":");
    buffer_json_string(body, buffer_view(&prompt));
    buffer_text(body, ",\"stream\":true,\"options\":{");
    buffer_bytes(body, buffer_view(&call->options));
    buffer_text(body, "}}");
    free(prompt.data);
}

bool agent_next_request(struct agent_run *agent, struct buffer *request) {
    if (agent->begun == agent->spec->call_count)
        return false;
    struct call_log *log = &agent->calls[agent->begun];
    log->start_ns = now_ns();
    struct buffer body = {0};
    append_body(agent, &body);
    request->length = 0;
    buffer_text(request, "POST ");
    buffer_bytes(request, agent->spec->prefix);
    buffer_text(request, "/api/generate HTTP/1.1\r\ncontent-type: application/json\r\n"
                         "accept: */*\r\nhost: ");
    buffer_bytes(request, agent->spec->authority);
    buffer_format(request, "\r\ncontent-length: %zu\r\n\r\n", body.length);
    buffer_bytes(request, buffer_view(&body));
    free(body.data);
    agent->begun++;
    reply_begin(&agent->reply, log, agent->begun == agent->spec->call_count);
    return true;
}

void agent_place(const struct agent_run *agent, struct buffer *why) {
    size_t call = agent->begun ? agent->begun - 1 : 0;
    buffer_format(why, "agent %zu, call %zu on ", agent->index, call);
    buffer_bytes(why, buffer_view(&agent->spec->server));
    buffer_text(why, ": ");
}

bool agent_drops(struct agent_run *agent) {
    const struct reply *reply = &agent->reply;
    struct call_log *log = reply->log;
    size_t enough = (size_t)agent->spec->drop_after_tokens;
    if (enough == 0 || log->tokens < enough || !reply->is_last || reply->is_done)
        return false;
    meter_last_token(agent->meter);
    log->text_hash = (int64_t)xxh64(reply->text.data, reply->text.length, 0);
    log->dropped_ns = log->end_ns = agent->end_ns = now_ns();
    return true;
}

bool agent_end_of_body(struct agent_run *agent, struct buffer *why) {
    if (!reply_finish(&agent->reply, now_ns(), why))
        return false;
    agent->end_ns = now_ns();
    return true;
}

/* --- The folder --- */

static int in_order(const FTSENT **one, const FTSENT **other) {
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Reads a file into memory: its length, or an error number below 0. */
static int64_t read_file(const char *path, struct buffer *content) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t length = 1;
    content->length = 0;
    while (file >= 0 && length > 0) {
        buffer_reserve(content, 1 << 16);
        length = read(file, content->data + content->length, content->capacity - content->length);
        content->length += length > 0 ? (size_t)length : 0;
    }
    int64_t result = file < 0 || length < 0 ? -errno : (int64_t)content->length;
    if (file >= 0)
        close(file);
    return result;
}

int64_t ingest(const char *folder) {
    char *roots[] = {(char *)folder, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, in_order);
    if (!tree)
        return -errno;
    struct buffer content = {0};
    int64_t bytes = 0;
    uint64_t digest = 0;
    FTSENT *entry;
    while (bytes >= 0 && (entry = fts_read(tree))) {
        int kind = entry->fts_info;
        if (kind == FTS_NS || kind == FTS_DNR || kind == FTS_ERR) {
            bytes = -entry->fts_errno;
        } else if (kind == FTS_F) {
            int64_t length = read_file(entry->fts_path, &content);
            bytes = length < 0 ? length : bytes + length;
            digest = xxh64(content.data, content.length, digest);
        }
    }
    /* The hash is work that every agent does; nobody asks for it. */
    static volatile uint64_t hash;
    hash = digest;
    (void)hash;
    free(content.data);
    fts_close(tree);
    return bytes;
}
