/* The readiness loop: one thread, one epoll, a connection for each agent. */
#ifndef LOOP_H
#define LOOP_H

#include "agent.h"

/* Runs agents at once until all are done; false with a sentence in `why`. */
bool loop_run(struct agent_run *agents, size_t count, const struct spec *spec, struct buffer *why);

#endif
