/* What the kernel says of this thread, read directly and without the library: the oracle of what a plant did. */
#ifndef ORACLE_H
#define ORACLE_H
#include <stdint.h>

struct accounts {
    /* Nanoseconds: the monotonic clock, on a CPU, ready and not running. */
    uint64_t wall, cpu, run_delay;
    uint64_t minor_faults, major_faults, voluntary, involuntary;
    /* Of the thread's control group: how long it was out of its quota, in nanoseconds, and how often. */
    uint64_t throttled, throttles;
};

/* Opens what the calling thread is read from. Ends the process where the kernel keeps no schedstat: nothing could be judged. */
void oracle_open(void);
/* Also reads cpu.stat of the control group in this directory; NULL: none. */
void oracle_of_group(const char *directory);

struct accounts accounts_now(void);
struct accounts accounts_since(const struct accounts *begin);

/* Off CPU by the thread's own doing. */
uint64_t waiting_of(const struct accounts *accounts);

#endif
