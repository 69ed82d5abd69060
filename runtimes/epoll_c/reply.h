/* One reply as it arrives: lines of JSON, cut anywhere, and the time of each token. */
#ifndef REPLY_H
#define REPLY_H

#include "json.h"
#include "meter.h"
#include "spec.h"

/* What a server did not say. */
static const int64_t UNSAID = -1;

/* Columns of a call from the server's last line. */
enum { LAST_LINE = 6 };
extern const char *const LAST_LINE_COLUMNS[LAST_LINE];

/* The samples of one call. */
struct call_log {
    int64_t start_ns, end_ns, dropped_ns, text_hash, said[LAST_LINE];
    int64_t *received_ns, *sent_ns;
    size_t tokens, capacity;
};

/* Of one agent, from call to call. */
struct reply {
    struct bytes model;
    int64_t work_per_token_ns, give_up_lag_ms;
    struct meter *meter;
    struct call_log *log;
    bool is_last, is_done;
    int status;
    struct buffer text, carry, error_body, scratch[4];
    struct json json;
};

/* Rows for so many tokens are set aside, so that none are allocated under way. */
void call_log_begin(struct call_log *log, int64_t tokens);

void reply_begin(struct reply *reply, struct call_log *log, bool is_last);
/* Takes bytes of the body, which were handed over at this time; false with a sentence in `why`. */
bool reply_feed(struct reply *reply, struct bytes body, int64_t received_ns, struct buffer *why);
/* The body is complete. */
bool reply_finish(struct reply *reply, int64_t received_ns, struct buffer *why);

#endif
