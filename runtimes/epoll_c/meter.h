/* Clocks, and what the run costs this process. */
#ifndef METER_H
#define METER_H

#include "buffer.h"

/* Comparable with the stamps of any process of this machine. */
int64_t now_ns(void);
/* Uses so much CPU time of this thread. */
void work(int64_t ns);

/* Readings of CPU time are 0 before they were taken. */
struct meter {
    int64_t process_start_ns, cpu_at_first_agent_ns, cpu_at_first_token_ns, cpu_at_last_token_ns;
    int64_t threads;
};

void meter_agent(struct meter *meter);
void meter_token(struct meter *meter);
/* The `done` line of an agent's last call was parsed; the last agent's stays. */
void meter_last_token(struct meter *meter);
/* Members of a JSON object. */
void meter_counters(const struct meter *meter, struct buffer *into);

#endif
