/* Generated from ffi/src by ci/describe.sh; change it there. */
/*
 * Picollo: counters of one word that many threads share.
 *
 * The words are the caller's: uint32_t or uint64_t, aligned, zero at the beginning. While several threads use them,
 * they must use these functions only. The kinds trade accuracy for speed:
 *
 * - picollo_scalable_counter_...: exact up to a threshold of 2^threshold_bits. Above it they count in steps of 2^k
 *   with probability 2^-k, so threads contend less the higher the count is. The expected count is exact, and the
 *   relative standard deviation about 2^-((t + 1) / 2) * 1.15: 0.9 % for the default of 13 bits. (Dice, Lev and
 *   Moir, 2013.)
 * - picollo_capped_counter_...: the same with steps of at most 2^cap_bits, so the relative error falls again at high
 *   counts.
 * - picollo_sensing_counter_...: exact while threads do not meet; otherwise like the scalable one.
 *
 * For an exact counter of one word, use the language's atomic_fetch_add. A counter with PICOLLO_METRIC_STRIPED has
 * many words.
 *
 * Words of 32 bits count modulo 2^32. Each thread has a random generator, with another seed in each thread and each
 * process. The child of a fork continues with its parent's numbers.
 *
 * What holds for every function is at the end of picollo.h.
 */
#ifndef PICOLLO_COUNTER_H
#define PICOLLO_COUNTER_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Default threshold of scalable counters: 2^13 = 8192. */
#define PICOLLO_SCALABLE_THRESHOLD_BITS 13

/** Counts one or many events approximately (see the head of this section). Whole steps are added directly; the rest
 * adds a step or nothing.
 *
 * Requires: counter is not NULL, which is not checked; threshold_bits is 1 ..= 31, or 0 for 13.
 * Threads: any thread, and signal handlers of threads that have counted before.
 * Cost: an atomic addition below the threshold; above it, increasingly often only a load and a random number. */
void picollo_scalable_counter_add_n32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_scalable_counter_add_n64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/** Counts events as picollo_scalable_counter_add_n32 does, in steps of at most 2^cap_bits. From a count of
 * 2^(threshold_bits + cap_bits) on the relative error is sqrt(2^cap_bits / count).
 *
 * Requires: as picollo_scalable_counter_add_n32; cap_bits is 0 ..= 31; 0 counts exactly, and 10 leaves little
 *   contention.
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_capped_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits,
    uint32_t cap_bits);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_capped_counter_add32. */
void picollo_capped_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits,
    uint32_t cap_bits);

/** Counts events exactly unless another thread counts at the same moment; then as picollo_scalable_counter_add_n32.
 *
 * Cost: a compare-and-swap and, above the threshold, a random number; if it fails, at most an atomic addition.
 * Otherwise: as picollo_scalable_counter_add_n32. */
void picollo_sensing_counter_add32(uint32_t *counter, uint64_t count, uint32_t threshold_bits);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_sensing_counter_add32. */
void picollo_sensing_counter_add64(uint64_t *counter, uint64_t count, uint32_t threshold_bits);

/** Reads a counter of any of these kinds while others count.
 *
 * Returns: the count, exact or approximate; 0 if counter is NULL.
 * Cost: a load. */
uint32_t picollo_counter_read32(const uint32_t *counter);

/** The same in 64 bits.
 *
 * Otherwise: as picollo_counter_read32. */
uint64_t picollo_counter_read64(const uint64_t *counter);

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_COUNTER_H */
