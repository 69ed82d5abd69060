#include "meter.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int64_t clock_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

void work(int64_t ns) {
    if (ns <= 0)
        return;
    int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < ns)
        continue;
}

/* CPU time of all threads of this process. */
static int64_t cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* A number of /proc/self/status (memory is in KiB); 0 where the kernel does not say. */
static int64_t of_status(const char *key) {
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    long long number = 0;
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lld", &number);
    if (status)
        fclose(status);
    return number;
}

void meter_agent(struct meter *meter) {
    if (meter->cpu_at_first_agent_ns == 0)
        meter->cpu_at_first_agent_ns = cpu_ns();
}

void meter_token(struct meter *meter) {
    if (meter->cpu_at_first_token_ns == 0)
        meter->cpu_at_first_token_ns = cpu_ns();
}

void meter_last_token(struct meter *meter) {
    meter->cpu_at_last_token_ns = cpu_ns();
    /* Counting threads costs CPU time, so it comes after the reading. */
    meter->threads = of_status("Threads:");
}

static void counter(struct buffer *into, const char *name, int64_t value) {
    buffer_format(into, "\"%s\":%jd,", name, (intmax_t)(value < 0 ? 0 : value));
}

void meter_counters(const struct meter *meter, struct buffer *into) {
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    int64_t first_ns = meter->cpu_at_first_token_ns;
    counter(into, "process_start_ns", meter->process_start_ns);
    counter(into, "cpu_startup_ns", meter->cpu_at_first_agent_ns);
    counter(into, "cpu_streaming_ns", first_ns ? meter->cpu_at_last_token_ns - first_ns : 0);
    counter(into, "cpu_total_ns", cpu_ns());
    counter(into, "voluntary_switches", usage.ru_nvcsw);
    counter(into, "involuntary_switches", usage.ru_nivcsw);
    counter(into, "rss_high_water_bytes", of_status("VmHWM:") * 1024);
    counter(into, "threads", meter->threads);
}
