/* Slow requests with a known cause, because it was planted. */
#ifndef PLANTS_H
#define PLANTS_H
#include <stdint.h>

/* The kernel's accounts of this thread, read directly and without the library: the oracle on the effect of a plant. */
struct accounts {
    /* Nanoseconds: the monotonic clock, on a CPU, runnable but not running. */
    uint64_t wall, cpu, run_delay;
    uint64_t minor_faults, major_faults, voluntary, involuntary;
    /* For the thread's control group: how long it was out of its quota, in nanoseconds, and how often. */
    uint64_t throttled, throttles;
};

struct accounts accounts_now(void);
struct accounts accounts_since(const struct accounts *begin);

/* Time off the CPU by the thread's own calls. */
uint64_t waiting_of(const struct accounts *accounts);

/* The kind of a request, which determines the usual time: the collector gets it as a label. Mixed: either of the
 * others, unlabeled. */
enum kind { KIND_WORK = 1, KIND_DATABASE = 2, KIND_MIXED = 3 };

struct plant {
    const char *name;
    enum kind kind;
    /* The set-up before the request, the request itself, and the cleanup after it. */
    void (*before)(void);
    void (*request)(void);
    void (*after)(void);
    /* The planted part of a request's accounts, in nanoseconds. */
    uint64_t (*planted)(const struct accounts *);
    /* Needs a writable control group. */
    int needs_group;
};

extern const struct plant plants[];
extern const unsigned plants_length;
/* The ordinary requests of each kind: two, which may be the same. */
extern const struct plant *const ordinary[4][2];

/* How long an ordinary request of work is on the CPU, and one of the database off it; the minimum that each plant
 * adds. */
#define USUAL_WORK 1500000u
#define USUAL_WAIT 10000000u
#define PLANTED 11000000u
/* The plant's addition to the ten milliseconds of a database. */
#define PLANTED_TO_DATABASE 2000000u

/* Prepares the calling thread: opens its accounts, pins it, calibrates its work, starts its neighbors. `group`: the
 * directory of its control group, or NULL. Nothing is opened later. Ends the process if the kernel has no schedstat:
 * nothing could be judged. */
void plants_open(const char *group);
/* Ends the neighbors. */
void plants_close(void);

#endif
