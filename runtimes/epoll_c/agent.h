/* One agent: a folder to read, then its calls in order. It knows no socket. */
#ifndef AGENT_H
#define AGENT_H

#include "reply.h"

struct agent_run {
    size_t index;
    const struct agent_spec *spec;
    struct meter *meter;
    struct call_log *calls;
    /* The number of calls that were begun; the current one is the last of them. */
    size_t begun;
    struct reply reply;
    int64_t due_ns, start_ns, end_ns, ingest_end_ns, ingest_bytes;
};

/* The run began at this time. */
void agent_init(struct agent_run *agent, size_t index, const struct spec *spec,
                struct meter *meter, int64_t began_ns);
/* Begins the next call: its request as HTTP/1.1. False when all are done. */
bool agent_next_request(struct agent_run *agent, struct buffer *request);
/* Says which agent and call a failure is of, before the sentence. */
void agent_place(const struct agent_run *agent, struct buffer *why);
/* Drops the rest of the last reply where so many of its tokens came as was asked; true if so. The
 * connection is closed then, and no request is left. */
bool agent_drops(struct agent_run *agent);
/* The body of the current call is complete; false with a sentence in `why`. */
bool agent_end_of_body(struct agent_run *agent, struct buffer *why);

/* Reads every regular file below a folder into memory and hashes it; links are not followed. It
 * gives their length in bytes, or an error number below 0. It blocks. */
int64_t ingest(const char *folder);

#endif
