/* Shared by the two halves of the simulation: the traps (traps.c) and the kernel's rules (rules.c). */
#ifndef SIMULATED_PMU_INTERNAL_H
#define SIMULATED_PMU_INTERNAL_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "simulated_pmu.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))

/* The simulation's descriptors begin here. High, so that no others take their place. */
enum { FIRST_FD = 512, MAX_EVENTS = 192, MAX_RATES = 16 };

enum state { OFF, INACTIVE, ACTIVE };

struct event {
    int used;
    int leader; /* the slot of its leader */
    int tid;    /* the thread that it counts */
    enum state state;
    uint32_t type;
    uint64_t config, id, read_format;
    int software;
    int process; /* the process that opened it */
    struct perf_event_mmap_page *page;
    uint32_t index;       /* on the PMU: as in the page */
    uint64_t reg;         /* the counter itself, `width` bits */
    uint64_t prev_count;  /* its value when it was last written (sign-extended) or read (raw) */
    int64_t period_left;
    uint64_t count, truth;
    uint64_t enabled, running, stamp; /* times until `stamp` */
};

struct world {
    simulated_pmu_options options;
    struct event events[MAX_EVENTS];
    simulated_pmu_statistics statistics;
    uint64_t next_id;
    uint32_t first_counter; /* allocation of general counters starts here, round robin */
    uint32_t turn;          /* which group is scheduled first */
    int out;                /* the task is off the PMU */
    uint64_t rates[MAX_RATES]; /* of generic events, by config; 0: default */
    uint32_t act_in;
    int act;
    uint64_t last_ticks; /* with the clock: counted up to here */
    uint64_t mult;       /* nanoseconds = ticks * mult >> 32 */
    uint64_t time_ticks; /* the moment of everything in the current system call or interrupt */
    int lock;
};

/* In memory shared with forked children, as they share the kernel. */
extern struct world *world HIDDEN;

HIDDEN uint64_t ticks(void);
HIDDEN uint64_t now(void);
HIDDEN void catch_up(void);
HIDDEN void count_all(uint64_t n);
HIDDEN void count_on(int tid, uint64_t n);
HIDDEN void publish(struct event *event);
HIDDEN void update(struct event *event);
HIDDEN void note_times(struct event *event);
HIDDEN void reschedule(void);
HIDDEN void act(int action);
HIDDEN int group_has_room(const struct event *leader, int more);

#endif
