/* A worker of the workflows family, for programs in other languages.
 *
 * Load libworkflows_worker.so, open a worker on the pipes that the back end gave (its standard
 * input and output), and ask for steps until there are none:
 *
 *     workflows_step step;
 *     workflows_worker *worker = workflows_worker_open(0, 1, empty_call_ns);
 *     while (workflows_worker_next(worker, &step) == 1)
 *         workflows_worker_record(worker, compute(&step));
 *     workflows_worker_close(worker);
 *
 * Nothing calls back. One thread at a time may be in a call with a worker. Times are taken in
 * here: when `next` returns, and when `record` is called. */
#ifndef WORKFLOWS_WORKER_H
#define WORKFLOWS_WORKER_H

#include <stdint.h>

typedef struct workflows_worker workflows_worker;

/* All arithmetic is modulo 2^61 - 1. */
enum {
    WORKFLOWS_PASS = 0,     /* the first value, or 0 */
    WORKFLOWS_SQUARE = 1,   /* the square of the product of all values */
    WORKFLOWS_SUM = 2,      /* the sum of all values */
    WORKFLOWS_CONSTANT = 3, /* the argument */
    WORKFLOWS_SUM_ROWS = 4  /* the sum over rows part * argument up to (part + 1) * argument of the
                               table that the first value seeds: mix(value, row) % 10000, where mix
                               is the finaliser of SplitMix64, as hosts/worker.py has it */
};

typedef struct {
    uint64_t operation;
    uint64_t argument; /* 0 where the operation has none */
    uint64_t part;     /* which part of a fan-out, else 0 */
    uint64_t count;
    const uint64_t *values; /* the worker's, until the next call */
} workflows_step;

/* Begins between two open file descriptors, which stay the caller's. `ffi_call_ns` is what an
 * empty call takes from where this is called, in nanoseconds. NULL when it fails. */
workflows_worker *workflows_worker_open(int input, int output, uint64_t ffi_call_ns);

/* Waits for a step: 1; 0 when there is none any more; -1 when that fails. */
int workflows_worker_next(workflows_worker *worker, workflows_step *step);

/* Gives the value of the last step: 0; -1 when that fails. */
int workflows_worker_record(workflows_worker *worker, uint64_t value);

/* Ends the worker, which may be NULL. */
void workflows_worker_close(workflows_worker *worker);

/* Does nothing. */
void workflows_worker_empty(void);

#endif
