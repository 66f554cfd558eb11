/* A PMU for machines without one. Preload libsimulated_pmu.so: a simulation of the kernel's rules then answers
 * perf_event_open, the reads, ioctls and mappings of its descriptors, and the instruction rdpmc. Its counts are known
 * exactly, so that a test can check every reading. x86-64 Linux only.
 *
 * Tests find these functions with dlsym(RTLD_DEFAULT, ...) or link the library. The environment can also set it up:
 * SIMULATED_PMU="width=48 user_time=1 clock=1".
 */
#ifndef SIMULATED_PMU_H
#define SIMULATED_PMU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simulated_pmu_options {
    uint32_t width;      /* of the counters, in bits */
    uint32_t period;     /* counters are re-armed every 2^period - 1 counts; 0: 2^(width-1) - 1 */
    uint32_t counters;   /* general ones, in addition to three fixed ones */
    uint32_t user_reads; /* cap_user_rdpmc */
    uint32_t user_time;  /* cap_user_time */
    uint32_t hidden;     /* the index stays 0 though events run, as on arm64 with perf_user_access off */
    uint32_t clock;      /* counts advance with the time stamp counter, without simulated_pmu_count */
    uint32_t drift;      /* counts that each rdpmc takes; a system call takes 100 times as many */
} simulated_pmu_options;

/* Forgets all events, and starts again. Close sessions before. NULL: the environment's set-up. */
void simulated_pmu_reset(const simulated_pmu_options *options);

/* Simulates n units of work: an event of the generic config c counts n * (c % 4 + 1) while it is on the PMU. */
void simulated_pmu_count(uint64_t n);
/* The same, only on the thread with this id. */
void simulated_pmu_count_on(int32_t tid, uint64_t n);
/* From now on a generic event with this config, below 16, counts n * rate; 0: as before. */
void simulated_pmu_rate(uint64_t config, uint64_t rate);

/* The count of the k-th of the open events, since it was opened or last reset. */
uint64_t simulated_pmu_truth(uint32_t k);

enum {
    SIMULATED_PMU_NOTHING,
    SIMULATED_PMU_SWITCH,       /* the task leaves the CPU and comes back */
    SIMULATED_PMU_REARM,        /* an overflow interrupt rewrites all counters */
    SIMULATED_PMU_RESET,        /* another holder of the descriptors resets all events */
    SIMULATED_PMU_FOREIGN_READ, /* another holder reads all events */
    SIMULATED_PMU_ROTATE,       /* multiplexing: the next groups run */
    SIMULATED_PMU_MIGRATE,      /* off and on again, on other counters */
    SIMULATED_PMU_OUT,          /* the task leaves the CPU's PMU */
    SIMULATED_PMU_IN,
    SIMULATED_PMU_SILENCE       /* only the lock changes, as when another event is mapped */
};
void simulated_pmu_act(int action);
/* The same right after the k-th rdpmc from now: an interrupt in the middle of a reading. */
void simulated_pmu_act_at(uint32_t k, int action);

typedef struct simulated_pmu_statistics {
    uint64_t opens, reads, ioctls, maps, closes;
    uint64_t rdpmcs;         /* all */
    uint64_t foreign_rdpmcs; /* by a thread that the event does not count: always wrong */
    uint64_t open_events;    /* at this moment */
    uint64_t resets;         /* RESET and PERIOD requests by the library: must be 0 */
} simulated_pmu_statistics;
void simulated_pmu_get_statistics(simulated_pmu_statistics *out);

#ifdef __cplusplus
}
#endif
#endif
