/* What does a record without a call cost, by value, by pointer, through the library, and written by hand with constants?
 *
 * The address of a loop changes its time by a third. So each form is compiled at sixteen addresses, and its time is the median
 * over these of the medians of all rounds. The forms take turns within a round, on the same values: 65,536, skewed over 1 to
 * 7.7e9, in the default layout. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <picollo.h>
#include <picollo_inline.h>

enum { VALUES = 65536, ROUNDS = 41, PLACES = 16, BY_HAND = 0, BY_VALUE, BY_POINTER, EXPORTED, NARROW, FORMS };
/* The default layout: all 64-bit values within 0.1 %. main compares them with the recorder's. */
enum { SCALE = 9, LENGTH = 28672 };

static uint64_t values[VALUES];

static inline void add(uint64_t *cell)
{
#if defined(__x86_64__)
    __asm__("incq %0" : "+m"(*cell) : : "cc");
#else
    __atomic_store_n(cell, __atomic_load_n(cell, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
#endif
}

static inline uint64_t index_of(uint32_t scale, uint64_t first_index, uint64_t value)
{
    const uint64_t bits = value | (UINT64_C(1) << (scale & 63));
    const uint32_t exponent = (uint32_t)(63 ^ __builtin_clzll(bits)) - scale;
    return ((uint64_t)exponent << (scale & 63)) + (value >> (exponent & 63)) - first_index;
}

/* What a program would write that knows the layout. */
static inline void record_by_hand(uint64_t *cells, picollo_histogram *histogram, uint64_t value)
{
    const uint64_t index = index_of(SCALE, 0, value);
    if (__builtin_expect(index < LENGTH, 1)) add(cells + index);
    else picollo_histogram_record(histogram, value);
}

/* The recorder behind a pointer: each addition might change its fields, so the compiler loads them for each value. */
static inline void record_by_pointer(const picollo_recorder *recorder, uint64_t value)
{
    const uint64_t index = index_of(recorder->block_scale, recorder->first_index, value);
    if (__builtin_expect(index < recorder->length && recorder->counter_bits == 64, 1)) add((uint64_t *)recorder->counters + index);
    else picollo_histogram_record(recorder->histogram, value);
}

typedef void loop(picollo_recorder *recorder);

#define ALL for (int i = 0; i < VALUES; i++)
#define AT(n) __attribute__((noinline, aligned(64))) static void
#define SHIFT(n) __asm__ volatile(".skip %c0, 0x90" : : "i"(4 * (n) + 4))
#define FORMS_AT(n) \
    AT(n) by_hand_##n(picollo_recorder *recorder) \
    { \
        SHIFT(n); \
        uint64_t *const cells = (uint64_t *)recorder->counters; \
        picollo_histogram *const histogram = recorder->histogram; \
        ALL record_by_hand(cells, histogram, values[i]); \
    } \
    AT(n) by_value_##n(picollo_recorder *recorder) \
    { \
        SHIFT(n); \
        const picollo_writer writer = picollo_recorder_writer(recorder); \
        ALL picollo_writer_record(writer, values[i]); \
    } \
    AT(n) by_pointer_##n(picollo_recorder *recorder) \
    { \
        SHIFT(n); \
        ALL record_by_pointer(recorder, values[i]); \
    } \
    AT(n) exported_##n(picollo_recorder *recorder) \
    { \
        SHIFT(n); \
        picollo_histogram *const histogram = recorder->histogram; \
        ALL picollo_histogram_record(histogram, values[i]); \
    }
#define ROW(n) {by_hand_##n, by_value_##n, by_pointer_##n, exported_##n, by_value_##n}
#define EACH(what, with) \
    what(0) with what(1) with what(2) with what(3) with what(4) with what(5) with what(6) with what(7) with \
    what(8) with what(9) with what(10) with what(11) with what(12) with what(13) with what(14) with what(15)
#define NOTHING
#define COMMA ,

EACH(FORMS_AT, NOTHING)
static loop *const loops[PLACES][FORMS] = {EACH(ROW, COMMA)};
static const char *const names[FORMS] = {
    "by hand, with constants", "by value: picollo_writer_record", "by pointer, as a recorder is filled in",
    "exported: picollo_histogram_record", "by value, 32-bit counters",
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *times, size_t length)
{
    qsort(times, length, sizeof *times, ascending);
    return times[length / 2];
}

static picollo_recorder recorder_of(uint32_t bits)
{
    picollo_histogram_options options = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    picollo_histogram *histogram;
    picollo_recorder recorder;
    options.mode = PICOLLO_MODE_SINGLE_WRITER;
    options.counter_bits = bits;
    if (picollo_histogram_create(&options, &histogram) != PICOLLO_OK ||
        picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, &recorder) != PICOLLO_OK)
        puts("no recorder"), exit(1);
    picollo_histogram_free(histogram);
    return recorder;
}

int main(void)
{
    static double times[FORMS][PLACES][ROUNDS];
    picollo_recorder wide = recorder_of(64), narrow = recorder_of(32);
    double found[FORMS];
    uint64_t state = 88172645463325252u;
    if (wide.block_scale != SCALE || wide.length != LENGTH || wide.first_index != 0)
        printf("the default layout has scale %u and %llu counters\n", wide.block_scale, (unsigned long long)wide.length), exit(1);
    for (int i = 0; i < VALUES; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        values[i] = (state >> (state % 33)) % (UINT64_C(1) << (1 + (state >> 32) % 33)) % 7700000000u;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int place = 0; place < PLACES; place++)
            for (int form = 0; form < FORMS; form++) {
                const double start = now();
                loops[place][form](form == NARROW ? &narrow : &wide);
                times[form][place][round] = (now() - start) / VALUES;
            }
    puts("ns per value: median of the medians at sixteen addresses (lowest, highest), and times that by hand");
    for (int form = 0; form < FORMS; form++) {
        double medians[PLACES];
        for (int place = 0; place < PLACES; place++) medians[place] = median(times[form][place], ROUNDS);
        found[form] = median(medians, PLACES);
        printf("%-40s %.2f (%.2f, %.2f)  %.2f\n", names[form], found[form], medians[0], medians[PLACES - 1], found[form] / found[BY_HAND]);
    }
    printf("by value / by hand %.2f, at most 1.20; by value / by pointer %.2f, at most 0.85\n", found[BY_VALUE] / found[BY_HAND],
           found[BY_VALUE] / found[BY_POINTER]);
    picollo_recorder_release(&wide);
    picollo_recorder_release(&narrow);
    return 0;
}
