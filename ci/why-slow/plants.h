/* Requests whose cause of being slow is known, because it was planted. */
#ifndef PLANTS_H
#define PLANTS_H
#include <stdint.h>

/* What the kernel says of this thread, read directly and without the library: the oracle of what a plant did. */
struct accounts {
    /* Nanoseconds: the monotonic clock, on a CPU, ready and not running. */
    uint64_t wall, cpu, run_delay;
    uint64_t minor_faults, major_faults, voluntary, involuntary;
    /* Of the thread's control group: how long it was out of its quota, in nanoseconds, and how often. */
    uint64_t throttled, throttles;
};

struct accounts accounts_now(void);
struct accounts accounts_since(const struct accounts *begin);

/* Off CPU by the thread's own doing. */
uint64_t waiting_of(const struct accounts *accounts);

/* What is usual for a request: the label that the collector is given. Mixed: either of the others, and nobody says which. */
enum kind { KIND_WORK = 1, KIND_DATABASE = 2, KIND_MIXED = 3 };

struct plant {
    const char *name;
    enum kind kind;
    /* What is set up before the request and taken down after it, and the request itself. A dud does the same without the cause. */
    void (*before)(int dud);
    void (*request)(int dud);
    void (*after)(void);
    /* Of what the accounts tell of a request, that which was planted: nanoseconds. */
    uint64_t (*planted)(const struct accounts *);
    /* Needs a control group that may be written to. */
    int needs_group;
};

extern const struct plant plants[];
extern const unsigned plants_length;
/* What is ordinary for each kind: two, which may be the same. */
extern const struct plant *const ordinary[4][2];

/* How long an ordinary request of work is on the CPU, and one of the database off it; what each plant adds, at the least. */
#define USUAL_WORK 1500000u
#define USUAL_WAIT 10000000u
#define PLANTED 11000000u
/* What the plant adds to the ten milliseconds of a database. */
#define PLANTED_TO_DATABASE 2000000u

/* For the thread that calls: opens what it is read from, pins it, calibrates its work, starts its neighbours. `group`: the directory of its
 * control group, or NULL. Nothing is opened after this. Ends the process where the kernel keeps no schedstat: nothing could be judged. */
void plants_open(const char *group);
/* Ends the neighbours. */
void plants_close(void);

#endif
