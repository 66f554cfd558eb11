/* A program from before options had a unit (ABI version 2, options of 56 bytes), with the library of today. What it was compiled with is
 * written down here, by hand and for good: structs, numbers, and the recorder's code, which compilers put into programs. Whatever it
 * hands over and gets back ends at the end of a page, and behind that there is none. */
#include "test.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct older_options {
    uint32_t struct_size, mode, storage, counter_bits;
    double relative_error;
    uint32_t significant_digits, flags;
    uint64_t min_trackable, max_trackable, max_bytes;
};
static_assert(sizeof(struct older_options) == 56, "as it was");

struct older_recorder {
    uint64_t length, first_index;
    uint32_t block_scale, counter_bits;
    void *counters, *histogram, *owner, *reserved;
};

struct older_layout {
    uint64_t min_trackable, max_trackable, first_index, length;
    double relative_error;
    uint32_t block_scale, significant_digits;
};

struct older_bucket {
    uint64_t lower, upper, step, count, storage_index, logical_index;
};

struct older_percentile {
    double rank;
    uint64_t value, target_count;
    struct older_bucket bucket;
};

struct older_counts {
    uint64_t total, underflow, overflow, lost;
};

enum { OK = 0, INVALID_ARGUMENT = -2, UNSUPPORTED = -5, UPPER = 2, NO_LIVE_RESET = 1, NATIVE = 2 };

/* So many bytes, all 0, with none behind them. */
static void *at_the_end(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const pages = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == (char *)MAP_FAILED || size > page || munmap(pages + page, page) != 0) abort();
    /* Nothing else comes to be there. */
    if (mmap(pages + page, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) abort();
    return pages + page - size;
}

static void give_back(void *end, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)end + size - page, 2 * page);
}

static struct older_options *older_options(void)
{
    struct older_options *const options = (struct older_options *)at_the_end(sizeof *options);
    options->struct_size = sizeof *options;
    return options;
}

#define AS_OF_TODAY(options) ((const picollo_histogram_options *)(const void *)(options))

/* Where a value goes: blocks of equal steps, which double. */
static uint64_t upper_end(uint64_t value, uint64_t block)
{
    uint64_t step = 1;
    while (value / step >= 2 * block) step *= 2;
    return value / step * step + (step - 1);
}

/* The recorder's code of then. */
static void older_record(const struct older_recorder *recorder, uint64_t value)
{
    const uint32_t scale = recorder->block_scale;
    const uint64_t bits = value | UINT64_C(1) << scale;
    const uint32_t exponent = (uint32_t)(63 ^ __builtin_clzll(bits)) - scale;
    const uint64_t index = ((uint64_t)exponent << scale) + (value >> exponent) - recorder->first_index;
    if (index < recorder->length) {
        if (recorder->counter_bits == 64) {
            ((uint64_t *)recorder->counters)[index]++;
            return;
        }
        uint32_t *const cell = (uint32_t *)recorder->counters + index;
        if (*cell != UINT32_MAX) {
            ++*cell;
            return;
        }
    }
    picollo_histogram_record((picollo_histogram *)recorder->histogram, value);
}

/* Three in range, 17 of each, one below and two above; read, reset, read again. */
static void used(picollo_histogram *histogram, const struct older_options *options, uint64_t block)
{
    struct older_recorder *const recorder = (struct older_recorder *)at_the_end(sizeof *recorder);
    struct older_layout *const layout = (struct older_layout *)at_the_end(sizeof *layout);
    struct older_counts *const counts = (struct older_counts *)at_the_end(sizeof *counts);
    struct older_percentile *const percentile = (struct older_percentile *)at_the_end(sizeof *percentile);
    const uint64_t values[] = {1000, 54321, 999999};
    const int is_exact = options->mode != 3;
    const double ranks[] = {1, 50, 100};
    picollo_snapshot *snapshot = NULL, *copy = NULL;
    static char bytes[1 << 16];
    size_t length = 0;

    CHECK_STATUS(OK, picollo_histogram_layout(histogram, (picollo_layout *)(void *)layout));
    CHECK(layout->min_trackable == 500 && layout->max_trackable == 1000000 && UINT64_C(1) << layout->block_scale == block);
    CHECK(layout->significant_digits == options->significant_digits && layout->relative_error == 0.5 / (double)block);
    CHECK_STATUS(OK, picollo_snapshot_create(histogram, &snapshot));
    for (int i = 0; i < 3; i++) {
        picollo_histogram_record(histogram, values[i]);
        picollo_histogram_record_n(histogram, values[i], 6);
        picollo_histogram_record_batch(histogram, values, 3);
    }
    if (picollo_histogram_recorder(histogram, 1, (picollo_recorder *)(void *)recorder) == OK) {
        CHECK(recorder->counter_bits == (options->counter_bits == 0 ? 64 : options->counter_bits) && recorder->length == layout->length);
        for (int i = 0; i < 21; i++) older_record(recorder, values[i % 3]);
        older_record(recorder, 3);
        older_record(recorder, UINT64_MAX);
        picollo_recorder_release((picollo_recorder *)(void *)recorder);
    } else {
        for (int i = 0; i < 21; i++) picollo_histogram_record(histogram, values[i % 3]);
        picollo_histogram_record(histogram, 3);
        picollo_histogram_record(histogram, UINT64_MAX);
    }
    picollo_histogram_record(histogram, 1u << 30);

    CHECK_STATUS(OK, picollo_snapshot_update(snapshot, 0));
    CHECK_STATUS(OK, picollo_snapshot_counts(snapshot, (picollo_counts *)(void *)counts));
    CHECK(!is_exact || counts->total == 3 * 17);
    CHECK(counts->underflow == 1 && counts->overflow == 2 && counts->lost == 0);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(OK, picollo_snapshot_percentiles(snapshot, &ranks[i], 1, UPPER, (picollo_percentile *)(void *)percentile));
        CHECK_U64(upper_end(values[i], block), percentile->value);
        CHECK(percentile->bucket.upper == percentile->value && (!is_exact || percentile->bucket.count == 17));
        CHECK(percentile->bucket.storage_index + layout->first_index == percentile->bucket.logical_index);
    }
    CHECK_STATUS(OK, picollo_snapshot_encode(snapshot, NATIVE, bytes, sizeof bytes, &length));
    CHECK(memcmp(bytes, "\x89" "Picollo\1\0", 10) == 0);
    CHECK_STATUS(OK, picollo_snapshot_decode(bytes, length, 0, &copy));
    CHECK_STATUS(OK, picollo_snapshot_merge(copy, snapshot, 0, NULL));
    picollo_snapshot_free(copy);

    CHECK_STATUS((options->flags & NO_LIVE_RESET) != 0 ? UNSUPPORTED : OK, picollo_histogram_reset(histogram));
    CHECK_STATUS(OK, picollo_snapshot_update(snapshot, 0));
    CHECK_STATUS(OK, picollo_snapshot_counts(snapshot, (picollo_counts *)(void *)counts));
    CHECK((counts->total == 0) == ((options->flags & NO_LIVE_RESET) == 0));
    picollo_snapshot_free(snapshot);
    give_back(recorder, sizeof *recorder);
    give_back(layout, sizeof *layout);
    give_back(counts, sizeof *counts);
    give_back(percentile, sizeof *percentile);
}

static void every_kind_of_histogram(void)
{
    struct older_options *const options = older_options();
    options->min_trackable = 500;
    options->max_trackable = 1000000;
    for (uint32_t kind = 0; kind < 4 * 2 * 2 * 3 * 2; kind++) {
        picollo_histogram *histogram = NULL;
        uint64_t block = 1024;
        options->mode = kind % 4;
        options->storage = kind / 4 % 2;
        options->counter_bits = kind / 8 % 2 * 32;
        options->flags = kind / 16 % 2 == 0 ? 0 : NO_LIVE_RESET;
        options->significant_digits = kind / 32;
        options->relative_error = 0.01;
        options->max_bytes = options->storage == 0 ? 0 : 1 << 20;
        if (options->significant_digits == 0) block = 64;
        if (options->significant_digits == 1) block = 16;
        if (options->significant_digits == 2) block = 128;
        const picollo_status status = picollo_histogram_create(AS_OF_TODAY(options), &histogram);
        if (options->storage == 1 && options->mode > 1) {
            CHECK_STATUS(UNSUPPORTED, status);
            continue;
        }
        CHECK_STATUS(OK, status);
        used(histogram, options, block);
        picollo_histogram_free(histogram);
    }
    give_back(options, sizeof *options);
}

static void whatever_else_takes_options(void)
{
    struct older_options *const options = older_options();
    struct older_layout *const layout = (struct older_layout *)at_the_end(sizeof *layout);
    picollo_histogram *histogram = NULL;
    picollo_histogram_array *array = NULL;
    size_t size = 0, align = 0;
    picollo_footprint footprint;
    void *memory;
    options->min_trackable = 500;
    options->max_trackable = 1000000;
    options->significant_digits = 3;
    CHECK_STATUS(OK, picollo_layout_of_options(AS_OF_TODAY(options), (picollo_layout *)(void *)layout));
    CHECK(layout->block_scale == 10 && layout->significant_digits == 3 && layout->max_trackable == 1000000);
    CHECK_STATUS(OK, picollo_histogram_estimate(AS_OF_TODAY(options), &footprint));
    CHECK_U64(layout->length, footprint.counters);
    CHECK_STATUS(OK, picollo_histogram_required_size(AS_OF_TODAY(options), &size, &align));
    memory = aligned_alloc(align, (size + align - 1) / align * align);
    CHECK_STATUS(OK, picollo_histogram_init_in(memory, size, AS_OF_TODAY(options), &histogram));
    used(histogram, options, 1024);
    picollo_histogram_free(histogram);
    CHECK_STATUS(OK, picollo_histogram_attach(memory, size, &histogram));
    free(memory);
    CHECK_STATUS(OK, picollo_histogram_array_create(AS_OF_TODAY(options), 3, &array));
    CHECK_STATUS(OK, picollo_histogram_array_ref(array, 2, &histogram));
    picollo_histogram_array_free(array);
    used(histogram, options, 1024);
    picollo_histogram_free(histogram);
    /* What nobody offered then, and what was refused. */
    options->significant_digits = 6;
    CHECK_STATUS(INVALID_ARGUMENT, picollo_histogram_create(AS_OF_TODAY(options), &histogram));
    options->significant_digits = 0;
    options->struct_size = 55;
    CHECK_STATUS(INVALID_ARGUMENT, picollo_histogram_create(AS_OF_TODAY(options), &histogram));
    give_back(options, sizeof *options);
    give_back(layout, sizeof *layout);
}

/* It compares these with what it was compiled with. */
static void versions(void)
{
    CHECK(picollo_abi_version() == 2);
}

int main(void)
{
    RUN(every_kind_of_histogram);
    RUN(whatever_else_takes_options);
    RUN(versions);
    return report();
}
