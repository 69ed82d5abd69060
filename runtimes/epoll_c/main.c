/* The floor's work by hand: one thread, epoll, plain sockets, and no library beside C's. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"

/* `build` says the folder's name. */
#ifndef VARIANT
#define VARIANT "epoll_c"
#endif

static const char IDENTITY[] =
    "{\"protocol\":1,\"family\":\"runtimes\",\"variant\":\"" VARIANT
    "\",\"measures\":\"epoll\",\"version\":\"installed\",\"features\":[]}";
static const char HELP[] =
    "runtimes-" VARIANT ": agents on one thread, epoll and plain sockets, in C.\n\n"
    "Reads one run spec as a JSON line from standard input and writes one outcome as a JSON line.\n"
    "\n"
    "  --describe  print who this is, as JSON\n"
    "  --help      print this\n\n"
    "Exit codes: 0 done, 1 failed (the outcome says why), 2 bad spec";
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_BAD_SPEC = 2 };

/* --- The outcome --- */

static void column(struct buffer *into, const char *name) {
    char last = into->data[into->length - 1];
    buffer_format(into, "%s\"%s\":[", last == '{' ? "" : "],", name);
}

static void row(struct buffer *into, int64_t value) {
    char last = into->data[into->length - 1];
    buffer_format(into, "%s%jd", last == '[' ? "" : ",", (intmax_t)value);
}

#define AGENT_COLUMN(NAME, VALUE)                                                                  \
    column(into, NAME);                                                                            \
    for (const struct agent_run *agent = agents; agent < agents + count; agent++)                  \
    row(into, VALUE)

#define CALL_COLUMN(NAME, VALUE)                                                                   \
    column(into, NAME);                                                                            \
    for (const struct agent_run *agent = agents; agent < agents + count; agent++)                  \
        for (const struct call_log *call = agent->calls; call < agent->calls + agent->begun;       \
             call++)                                                                               \
    row(into, VALUE)

#define TOKEN_COLUMN(NAME, VALUE)                                                                  \
    column(into, NAME);                                                                            \
    for (const struct agent_run *agent = agents; agent < agents + count; agent++)                  \
        for (const struct call_log *call = agent->calls; call < agent->calls + agent->begun;       \
             call++)                                                                               \
            for (size_t token = 0; token < call->tokens; token++)                                  \
    row(into, VALUE)

/* One column a name; agent by agent, call by call, token by token. There is one thread, which is
 * number 0, and nobody leaves it. */
static void append_samples(struct buffer *into, const struct agent_run *agents, size_t count) {
    bool come_later = false, are_dropped = false;
    for (const struct agent_run *agent = agents; agent < agents + count; agent++) {
        come_later |= agent->due_ns != agents->due_ns;
        are_dropped |= agent->calls[agent->begun - 1].dropped_ns != UNSAID;
    }
    if (come_later) {
        AGENT_COLUMN("agent_due_ns", agent->due_ns);
    }
    if (are_dropped) {
        CALL_COLUMN("call_dropped_ns", call->dropped_ns);
    }
    AGENT_COLUMN("agent_start_ns", agent->start_ns);
    AGENT_COLUMN("agent_end_ns", agent->end_ns);
    AGENT_COLUMN("agent_migrations", 0);
    AGENT_COLUMN("ingest_end_ns", agent->ingest_end_ns);
    AGENT_COLUMN("ingest_bytes", agent->ingest_bytes);
    CALL_COLUMN("call_agent", (int64_t)agent->index);
    CALL_COLUMN("call_thread", 0);
    CALL_COLUMN("call_start_ns", call->start_ns);
    CALL_COLUMN("call_first_token_ns", call->tokens ? call->received_ns[0] : UNSAID);
    CALL_COLUMN("call_last_token_ns", call->tokens ? call->received_ns[call->tokens - 1] : UNSAID);
    CALL_COLUMN("call_end_ns", call->end_ns);
    CALL_COLUMN("call_tokens", (int64_t)call->tokens);
    CALL_COLUMN("call_text_hash", call->text_hash);
    for (int index = 0; index < LAST_LINE; index++) {
        CALL_COLUMN(LAST_LINE_COLUMNS[index], call->said[index]);
    }
    TOKEN_COLUMN("token_received_ns", call->received_ns[token]);
    TOKEN_COLUMN("token_sent_ns", call->sent_ns[token]);
    buffer_text(into, "]");
}

/* First agent's start to last agent's end. */
static int64_t wall_ns(const struct agent_run *agents, size_t count) {
    int64_t start_ns = agents->start_ns, end_ns = agents->end_ns;
    for (const struct agent_run *agent = agents; agent < agents + count; agent++) {
        start_ns = agent->start_ns < start_ns ? agent->start_ns : start_ns;
        end_ns = agent->end_ns > end_ns ? agent->end_ns : end_ns;
    }
    return end_ns - start_ns;
}

static void append_head(struct buffer *into, const struct spec *spec, const char *status) {
    buffer_text(into, "{\"protocol\":1,\"run\":");
    buffer_json_string(into, buffer_view(&spec->run));
    buffer_format(into, ",\"status\":\"%s\"", status);
}

static int without_numbers(const struct spec *spec, const char *status, struct bytes reason) {
    struct buffer said = {0};
    append_head(&said, spec, status);
    buffer_text(&said, ",\"reason\":");
    buffer_json_string(&said, reason);
    buffer_text(&said, ",\"counters\":{},\"samples\":{}}");
    fprintf(stderr, VARIANT ": %.*s\n", (int)reason.length, reason.data);
    printf("%.*s\n", (int)said.length, said.data);
    free(said.data);
    return strcmp(status, "failed") == 0 ? EXIT_FAILED : EXIT_DONE;
}

static int with_numbers(const struct spec *spec, const struct agent_run *agents,
                        const struct meter *meter) {
    struct buffer said = {0};
    append_head(&said, spec, "ok");
    buffer_text(&said, ",\"counters\":{");
    meter_counters(meter, &said);
    buffer_format(&said, "\"wall_ns\":%jd},\"samples\":{",
                  (intmax_t)wall_ns(agents, spec->agent_count));
    append_samples(&said, agents, spec->agent_count);
    buffer_text(&said, "}}\n");
    bool is_written = fwrite(said.data, 1, said.length, stdout) == said.length &&
                      fflush(stdout) == 0;
    free(said.data);
    return is_written ? EXIT_DONE : EXIT_FAILED;
}

/* --- The run --- */

static int run(const struct spec *spec, struct meter *meter) {
    static const char CUTS_NONE[] = "it takes a reply's bytes as its client gives them";
    if (spec->has_piece_bytes)
        return without_numbers(spec, "unsupported",
                               (struct bytes){CUTS_NONE, sizeof CUTS_NONE - 1});
    int64_t began_ns = now_ns();
    size_t count = spec->agent_count, step = spec->is_solo ? 1 : count;
    struct agent_run *agents = zeroes(count, sizeof *agents);
    for (size_t index = 0; index < count; index++)
        agent_init(&agents[index], index, spec, meter, began_ns);
    struct buffer why = {0};
    for (size_t index = 0; index < count; index += step)
        if (!loop_run(agents + index, step, spec, &why))
            return without_numbers(spec, "failed", buffer_view(&why));
    return with_numbers(spec, agents, meter);
}

/* The process ends behind it, and its memory with it. */
static int answer(struct meter *meter) {
    struct spec spec = {0};
    struct buffer why = {0};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&line, &capacity, stdin);
    if (length <= 0)
        buffer_text(&why, "standard input ended before a run spec: write one JSON line to it");
    else if (spec_read(&spec, (struct bytes){line, (size_t)length}, &why))
        return run(&spec, meter);
    fprintf(stderr, "%.*s\n", (int)why.length, why.data);
    return EXIT_BAD_SPEC;
}

int main(int count, char **arguments) {
    /* First of all, for the time until the first agent counts from here. */
    struct meter meter = {.process_start_ns = now_ns()};
    if (count == 1) {
        /* What a letter is beyond ASCII. */
        setlocale(LC_CTYPE, "C.UTF-8");
        return answer(&meter);
    }
    if (count == 2 && strcmp(arguments[1], "--describe") == 0)
        return puts(IDENTITY) < 0 ? EXIT_FAILED : EXIT_DONE;
    if (count == 2 && (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0))
        return puts(HELP) < 0 ? EXIT_FAILED : EXIT_DONE;
    fputs("the only arguments are --describe and --help\n", stderr);
    return EXIT_BAD_SPEC;
}
