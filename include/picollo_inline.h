/* Recording without a call, for C and C++.
 *
 * The compiler inlines picollo_writer_record, which does the work of picollo_histogram_record: about fifteen instructions in
 * the caller's loop (single-writer or thread-local), without a call into the library. It needs a recorder of the histogram,
 * and the recorder's writer, which is passed by value:
 *
 *     options.mode = PICOLLO_MODE_SINGLE_WRITER;        (or PICOLLO_MODE_THREAD_LOCAL; the default mode has none)
 *     if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK) ...
 *     picollo_recorder recorder;
 *     if (picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK) ...
 *     picollo_writer writer = picollo_recorder_writer(&recorder);
 *     for (...) picollo_writer_record(writer, value);
 *     picollo_recorder_release(&recorder);
 *
 * Threads that share a histogram of the default mode use one atomic addition per record, and have nothing to release:
 *
 *     picollo_atomic_recorder shared;
 *     if (picollo_histogram_atomic_recorder(histogram, PICOLLO_INLINE_VERSION, &shared) != PICOLLO_OK) ...
 *     picollo_atomic_writer writer = picollo_atomic_recorder_writer(&shared);
 *     picollo_atomic_writer_record(writer, value);
 *
 * A writer is a local variable whose address nobody takes. So the compiler knows that no count changes it, and keeps it in
 * registers. A recorder was filled in through a pointer: from it, the compiler would have to load five fields per record.
 *
 * The functions are compiled into programs, so they belong to PICOLLO_INLINE_VERSION. A library that no longer supports them
 * refuses that version when the recorder is made. They are written for gcc and clang; other compilers call the library. */
#ifndef PICOLLO_INLINE_H
#define PICOLLO_INLINE_H

#include "picollo.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a record needs, by value. Copies are valid until the recorder is released. Its fields are private. */
typedef struct picollo_writer {
    /** The cells. */
    void *counters;
    /** Number of 64-bit cells. 0 if the cells have 32 bits, so the usual record compares once. */
    uint64_t length;
    /** Number of 32-bit cells. 0 if they have 64 bits. */
    uint64_t narrow_length;
    uint64_t first_index;
    uint64_t block_size;
    uint32_t block_scale;
    uint32_t reserved;
    /** Takes the values that the cells cannot. */
    picollo_histogram *histogram;
} picollo_writer;

/** What an atomic record needs, by value. Valid as long as the histogram. Its fields are private. */
typedef struct picollo_atomic_writer {
    uint64_t *counters;
    uint64_t length;
    uint64_t first_index;
    uint64_t block_size;
    uint32_t block_scale;
    uint32_t reserved;
    /** Takes the values that the cells cannot. */
    picollo_histogram *histogram;
} picollo_atomic_writer;

/** Returns the writer of a recorder, for picollo_writer_record.
 *
 * Requires: recorder is filled in and not released; this is not checked. */
static inline picollo_writer picollo_recorder_writer(const picollo_recorder *recorder)
{
    picollo_writer writer;
    writer.counters = recorder->counters;
    writer.length = recorder->counter_bits == 64 ? recorder->length : 0;
    writer.narrow_length = recorder->counter_bits == 64 ? 0 : recorder->length;
    writer.first_index = recorder->first_index;
    writer.block_size = UINT64_C(1) << (recorder->block_scale & 63);
    writer.block_scale = recorder->block_scale;
    writer.reserved = 0;
    writer.histogram = recorder->histogram;
    return writer;
}

/** Returns the writer of an atomic recorder, for picollo_atomic_writer_record.
 *
 * Requires: recorder is filled in; this is not checked. */
static inline picollo_atomic_writer picollo_atomic_recorder_writer(const picollo_atomic_recorder *recorder)
{
    picollo_atomic_writer writer;
    writer.counters = recorder->counters;
    writer.length = recorder->length;
    writer.first_index = recorder->first_index;
    writer.block_size = UINT64_C(1) << (recorder->block_scale & 63);
    writer.block_scale = recorder->block_scale;
    writer.reserved = 0;
    writer.histogram = recorder->histogram;
    return writer;
}

#if defined(__GNUC__)
/* The storage index of a value. */
static inline uint64_t picollo_inline_index(uint64_t block_size, uint32_t block_scale, uint64_t first_index, uint64_t value)
{
    /* Or-ing the block size in makes the exponent 0 for all values below it, without a branch. */
    const uint32_t exponent = (uint32_t)(63 ^ __builtin_clzll(value | block_size)) - block_scale;
    return ((uint64_t)exponent << (block_scale & 63)) + (value >> (exponent & 63)) - first_index;
}
#endif

/** Counts one value, as picollo_histogram_record does for the writer's histogram.
 *
 * Requires: the writer's recorder is not released; this is not checked. One thread at a time.
 * Cost: about a nanosecond. It calls the library only for values out of range, and if a 32-bit counter wraps around. */
static inline void picollo_writer_record(picollo_writer writer, uint64_t value)
{
#if defined(__GNUC__)
    const uint64_t index = picollo_inline_index(writer.block_size, writer.block_scale, writer.first_index, value);
    if (__builtin_expect(index < writer.length, 1)) {
        uint64_t *cell = (uint64_t *)writer.counters + index;
#if defined(__x86_64__) && !(defined(__clang__) && defined(__OPTIMIZE__))
        /* One instruction, which no signal handler can interrupt. From a relaxed load and store gcc would make three.
         * Concurrent readers see the old or the new count, because aligned words are written as a whole. */
        __asm__("incq %0" : "+m"(*cell) : : "cc");
#else
        __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
#endif
        return;
    }
    if (index < writer.narrow_length) {
        uint32_t *cell = (uint32_t *)writer.counters + index;
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
        /* As above. A wrap must be reported here: 2^32 more of this value leave the cell as it is, which is exactly the wrap. */
        int has_wrapped;
        __asm__("incl %0" : "+m"(*cell), "=@ccz"(has_wrapped));
        if (__builtin_expect(has_wrapped, 0))
            picollo_histogram_record_n(writer.histogram, value, UINT64_C(1) << 32);
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
    picollo_histogram_record(writer.histogram, value);
}

/** Counts one value by an atomic addition, as picollo_histogram_record does for the writer's histogram.
 *
 * Requires: the histogram is alive; this is not checked. Any number of threads, and signal handlers.
 * Cost: an atomic addition. It calls the library only for values out of range. */
static inline void picollo_atomic_writer_record(picollo_atomic_writer writer, uint64_t value)
{
#if defined(__GNUC__)
    const uint64_t index = picollo_inline_index(writer.block_size, writer.block_scale, writer.first_index, value);
    if (__builtin_expect(index < writer.length, 1)) {
        (void)__atomic_fetch_add(writer.counters + index, 1, __ATOMIC_RELAXED);
        return;
    }
#endif
    picollo_histogram_record(writer.histogram, value);
}

#ifdef __cplusplus
}
#endif

#endif /* PICOLLO_INLINE_H */
