/* Recording without a call, for C and C++.
 *
 * The compiler inlines picollo_recorder_record, which does the work of picollo_histogram_record: about twenty instructions in
 * the caller's loop (single-writer or thread-local), without a call into the library. It needs a recorder of the histogram:
 *
 *     options.mode = PICOLLO_MODE_SINGLE_WRITER;        (or PICOLLO_MODE_THREAD_LOCAL; the default mode has none)
 *     if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) ...
 *     picollo_recorder recorder;
 *     if (picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) ...
 *     for (...) picollo_recorder_record(&recorder, value);
 *     picollo_recorder_release(&recorder);
 *
 * Threads that share a histogram of the default mode use one atomic addition per record, and have nothing to release:
 *
 *     picollo_atomic_recorder shared;
 *     if (picollo_histogram_atomic_recorder(histogram, PICOLLO_INLINE_VERSION, &shared) != PICOLLO_OK) ...
 *     picollo_atomic_recorder_record(&shared, value);
 *
 * The functions are compiled into programs, so they belong to PICOLLO_INLINE_VERSION. A library that no longer supports them
 * refuses that version when the recorder is made. They are written for gcc and clang; other compilers call the library. */
#ifndef PICOLLO_INLINE_H
#define PICOLLO_INLINE_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* The storage index of a value. */
static inline uint64_t picollo_inline_index(uint32_t scale, uint64_t first_index, uint64_t value)
{
    /* Or-ing the block size in makes the exponent 0 for all values below it, without a branch. */
    const uint64_t bits = value | (UINT64_C(1) << (scale & 63));
    const uint32_t exponent = (uint32_t)(63 ^ __builtin_clzll(bits)) - scale;
    return ((uint64_t)exponent << (scale & 63)) + (value >> (exponent & 63)) - first_index;
}
#endif

/** Counts one value, as picollo_histogram_record(recorder->histogram, value) does.
 *
 * Requires: recorder is filled in and not released; this is not checked. One thread at a time.
 * Cost: about a nanosecond. It calls the library only for values out of range, and if a 32-bit counter wraps around. */
static inline void picollo_recorder_record(const picollo_recorder *recorder, uint64_t value)
{
#if defined(__GNUC__)
    const uint64_t index = picollo_inline_index(recorder->block_scale, recorder->first_index, value);
    if (__builtin_expect(index < recorder->length, 1)) {
        if (__builtin_expect(recorder->counter_bits == 64, 1)) {
            uint64_t *cell = (uint64_t *)recorder->counters + index;
#if defined(__x86_64__) && !(defined(__clang__) && defined(__OPTIMIZE__))
            /* One instruction, which no signal handler can interrupt. From a relaxed load and store gcc would make three.
             * Concurrent readers see the old or the new count, because aligned words are written as a whole. */
            __asm__("incq %0" : "+m"(*cell) : : "cc");
#else
            __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
#endif
            return;
        }
        uint32_t *cell = (uint32_t *)recorder->counters + index;
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
        /* As above. A wrap must be reported here: 2^32 more of this value leave the cell as it is, which is exactly the wrap. */
        int has_wrapped;
        __asm__("incl %0" : "+m"(*cell), "=@ccz"(has_wrapped));
        if (__builtin_expect(has_wrapped, 0))
            picollo_histogram_record_n(recorder->histogram, value, UINT64_C(1) << 32);
        return;
#else
        const uint32_t count = __atomic_load_n(cell, __ATOMIC_RELAXED);
        /* The library counts the wrap, too. */
        if (__builtin_expect(count != UINT32_MAX, 1)) {
            __atomic_store_n(cell, count + 1, __ATOMIC_RELAXED);
            return;
        }
#endif
    }
#endif
    picollo_histogram_record(recorder->histogram, value);
}

/** Counts one value by an atomic addition, as picollo_histogram_record(recorder->histogram, value) does.
 *
 * Requires: recorder is filled in, and its histogram is alive; neither is checked. Any number of threads, and signal handlers.
 * Cost: an atomic addition. It calls the library only for values out of range. */
static inline void picollo_atomic_recorder_record(const picollo_atomic_recorder *recorder, uint64_t value)
{
#if defined(__GNUC__)
    const uint64_t index = picollo_inline_index(recorder->block_scale, recorder->first_index, value);
    if (__builtin_expect(index < recorder->length, 1)) {
        (void)__atomic_fetch_add(recorder->counters + index, 1, __ATOMIC_RELAXED);
        return;
    }
#endif
    picollo_histogram_record(recorder->histogram, value);
}

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_INLINE_H */
