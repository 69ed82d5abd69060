/* What is to be run. */
#ifndef SPEC_H
#define SPEC_H

#include "buffer.h"

struct call_spec {
    struct buffer prompt;
    /* Ollama's options as JSON, as they are sent. */
    struct buffer options;
    int64_t num_predict;
};

struct agent_spec {
    struct buffer server, model;
    /* Of the server's address, which has a port. */
    struct bytes host, authority, prefix;
    struct buffer port;
    int64_t work_per_token_ns, drop_after_tokens, start_after_ns;
    struct call_spec *calls;
    size_t call_count;
};

struct spec {
    struct buffer run;
    bool is_solo, has_ingest_dir, has_piece_bytes;
    int64_t stall_timeout_ns;
    /* 0 for none. */
    int64_t give_up_lag_ms;
    /* Ends with a zero. */
    struct buffer ingest_dir;
    struct agent_spec *agents;
    size_t agent_count;
};

/* Reads a spec from a line; false with a sentence in `why`. */
bool spec_read(struct spec *spec, struct bytes line, struct buffer *why);

#endif
