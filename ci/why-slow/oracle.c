#define _GNU_SOURCE
#include "oracle.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static __thread int schedstat = -1;
static int cpu_stat = -1;

static uint64_t clock_of(clockid_t id)
{
    struct timespec time;
    clock_gettime(id, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static const char *text_of(int descriptor, char *text, size_t size)
{
    const ssize_t length = pread(descriptor, text, size - 1, 0);
    if (length <= 0) {
        perror("oracle");
        exit(2);
    }
    text[length] = 0;
    return text;
}

void oracle_open(void)
{
    schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (schedstat < 0) {
        perror("/proc/thread-self/schedstat");
        exit(2);
    }
}

void oracle_of_group(const char *directory)
{
    char path[4096];
    if (directory == NULL) return;
    snprintf(path, sizeof path, "%s/cpu.stat", directory);
    cpu_stat = open(path, O_RDONLY | O_CLOEXEC);
    if (cpu_stat < 0) {
        perror(path);
        exit(2);
    }
}

static uint64_t field_of(const char *text, const char *name)
{
    const char *const at = strstr(text, name);
    return at == NULL ? 0 : strtoull(at + strlen(name), NULL, 10);
}

static struct accounts accounts_once(void)
{
    struct accounts now = {0};
    struct rusage usage;
    char text[1024], *rest;
    if (cpu_stat >= 0) {
        text_of(cpu_stat, text, sizeof text);
        now.throttles = field_of(text, "nr_throttled ");
        /* Nanoseconds in the first version of control groups, microseconds in the second. */
        now.throttled = strstr(text, "throttled_usec ") != NULL ? field_of(text, "throttled_usec ") * 1000 : field_of(text, "throttled_time ");
    }
    strtoull(text_of(schedstat, text, sizeof text), &rest, 10);
    now.run_delay = strtoull(rest, NULL, 10);
    now.cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
    now.wall = clock_of(CLOCK_MONOTONIC);
    getrusage(RUSAGE_THREAD, &usage);
    now.minor_faults = (uint64_t)usage.ru_minflt;
    now.major_faults = (uint64_t)usage.ru_majflt;
    now.voluntary = (uint64_t)usage.ru_nvcsw;
    now.involuntary = (uint64_t)usage.ru_nivcsw;
    return now;
}

/* Of one moment: a thread that loses the CPU between two of the readings has accounts that do not fit together, and reads them again.
 * Where others want the CPU all the time, a tick takes it right where a loop of readings is. */
struct accounts accounts_now(void)
{
    for (;;) {
        struct rusage before;
        getrusage(RUSAGE_THREAD, &before);
        const struct accounts now = accounts_once();
        if ((uint64_t)before.ru_nivcsw == now.involuntary && (uint64_t)before.ru_nvcsw == now.voluntary) return now;
    }
}

struct accounts accounts_since(const struct accounts *begin)
{
    struct accounts now = accounts_now();
    uint64_t *const numbers = (uint64_t *)&now;
    for (unsigned i = 0; i < sizeof now / sizeof *numbers; i++) numbers[i] -= ((const uint64_t *)begin)[i];
    return now;
}

uint64_t waiting_of(const struct accounts *accounts)
{
    const uint64_t used = accounts->cpu + accounts->run_delay;
    return accounts->wall > used ? accounts->wall - used : 0;
}
