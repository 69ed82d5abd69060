#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "connection.h"

/* Events that one call of the kernel brings, and bytes that one read does. */
enum { EVENTS = 1024, READ = 64 << 10 };

/* A folder that is read on a thread of its own, for reading blocks. */
struct job {
    struct connection *connection;
    const char *folder;
    int64_t bytes;
    int done;
};

struct loop {
    const struct spec *spec;
    /* The jobs that are done come through `done`, as pointers. */
    int epoll, done[2];
    struct connection *connections;
    struct job *jobs;
    size_t count, unfinished;
    /* No agent is due and no connection can have stalled before; LLONG_MAX where none is watched. A
     * deadline only ever moves away, so this is early at worst: a token costs it nothing. */
    int64_t look_ns;
};

static void look_by(struct loop *loop, int64_t ns) {
    if (ns < loop->look_ns)
        loop->look_ns = ns;
}

static void *read_folder(void *context) {
    struct job *job = context;
    job->bytes = job->folder ? ingest(job->folder) : 0;
    /* So few bytes are written at once, or the loop is gone and nobody asks. */
    if (write(job->done, &job, sizeof job) < 0)
        return NULL;
    return NULL;
}

static bool setup_failed(struct buffer *why, int error) {
    buffer_format(why, "cannot start the loop: %s", strerror(error));
    return false;
}

static bool start(struct loop *loop, size_t index, struct buffer *why) {
    struct connection *connection = &loop->connections[index];
    struct agent_run *agent = connection->agent;
    struct job *job = &loop->jobs[index];
    const char *folder = loop->spec->has_ingest_dir ? loop->spec->ingest_dir.data : NULL;
    *job = (struct job){connection, folder, 0, loop->done[1]};
    meter_agent(agent->meter);
    agent->start_ns = now_ns();
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &detached, read_folder, job);
    pthread_attr_destroy(&detached);
    return error ? setup_failed(why, error) : true;
}

static enum progress take_ingested(struct loop *loop, struct buffer *why) {
    struct job *job;
    if (read(loop->done[0], &job, sizeof job) != (ssize_t)sizeof job)
        return WAITING;
    struct agent_run *agent = job->connection->agent;
    if (job->bytes < 0) {
        buffer_format(why, "agent %zu: cannot ingest ", agent->index);
        buffer_text(why, job->folder);
        buffer_format(why, ": %s", strerror((int)-job->bytes));
        return FAILED;
    }
    agent->ingest_end_ns = now_ns();
    agent->ingest_bytes = job->bytes;
    enum progress progress = connection_begin_call(job->connection, why);
    if (progress == WAITING)
        look_by(loop, job->connection->heard_ns + loop->spec->stall_timeout_ns);
    return progress;
}

/* Looks at all agents, where one of them may be due or its connection may have stalled. */
static bool look(struct loop *loop, int64_t now, struct buffer *why) {
    if (now < loop->look_ns)
        return true;
    loop->look_ns = LLONG_MAX;
    for (size_t index = 0; index < loop->count; index++) {
        const struct connection *connection = &loop->connections[index];
        int64_t due_ns = connection->agent->due_ns;
        bool is_started = loop->jobs[index].connection;
        if (!is_started && due_ns > now)
            look_by(loop, due_ns);
        else if (!is_started && !start(loop, index, why))
            return false;
        int64_t deadline_ns = connection->heard_ns + loop->spec->stall_timeout_ns;
        if (connection->heard_ns == 0)
            continue;
        if (deadline_ns <= now) {
            agent_place(connection->agent, why);
            buffer_text(why, "stalled: the server sent nothing for the stall timeout");
            return false;
        }
        look_by(loop, deadline_ns);
    }
    return true;
}

/* How long to wait at most, in milliseconds; -1 is for ever. */
static int patience_ms(const struct loop *loop, int64_t now) {
    if (loop->look_ns == LLONG_MAX)
        return -1;
    int64_t left_ms = (loop->look_ns - now + 999999) / 1000000;
    return left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static bool turn(struct loop *loop, struct buffer *buffer, struct buffer *why) {
    struct epoll_event events[EVENTS];
    int64_t now = now_ns();
    if (!look(loop, now, why))
        return false;
    while (loop->unfinished > 0) {
        /* From the reading of the last wake-up: a stall is noticed later by no more than what that
         * wake-up had to do, and nobody reads the clock a second time for it. */
        int count = epoll_wait(loop->epoll, events, EVENTS, patience_ms(loop, now));
        if (count < 0 && errno != EINTR)
            return setup_failed(why, errno);
        now = now_ns();
        for (int index = 0; index < count; index++) {
            struct connection *connection = events[index].data.ptr;
            bool closing = events[index].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
            enum progress progress =
                connection ? connection_ready(connection, closing, buffer, now, why)
                           : take_ingested(loop, why);
            if (progress == FAILED)
                return false;
            loop->unfinished -= progress == FINISHED;
        }
        if (!look(loop, now, why))
            return false;
    }
    return true;
}

static bool run(struct loop *loop, struct agent_run *agents, struct buffer *why) {
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->done[0], &event) != 0)
        return setup_failed(why, errno);
    for (size_t index = 0; index < loop->count; index++)
        connection_init(&loop->connections[index], &agents[index], loop->epoll);
    struct buffer buffer = {0};
    buffer_reserve(&buffer, READ);
    bool is_done = turn(loop, &buffer, why);
    free(buffer.data);
    return is_done;
}

bool loop_run(struct agent_run *agents, size_t count, const struct spec *spec,
              struct buffer *why) {
    struct loop loop = {.spec = spec, .count = count, .unfinished = count};
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop.epoll < 0 || pipe(loop.done) != 0)
        return setup_failed(why, errno);
    loop.connections = zeroes(count, sizeof *loop.connections);
    loop.jobs = zeroes(count, sizeof *loop.jobs);
    /* After a failure threads may still read, and what they use stays until the process ends. */
    if (!run(&loop, agents, why))
        return false;
    for (size_t index = 0; index < count; index++) {
        free(loop.connections[index].output.data);
        free(loop.connections[index].http.line.data);
    }
    free(loop.connections);
    free(loop.jobs);
    close(loop.done[0]);
    close(loop.done[1]);
    close(loop.epoll);
    return true;
}
