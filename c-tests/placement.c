/* Histograms and snapshots in the caller's memory: sizes, alignment, attaching, and invalid images. */
#include "test.h"

static void required(const picollo_histogram_options *options, size_t *size, size_t *align)
{
    *size = *align = 0;
    CHECK_OK(picollo_histogram_required_size(options, size, align));
    CHECK(*size > 0 && *align > 0 && (*align & (*align - 1)) == 0 && *size % *align == 0);
}

static picollo_histogram_options small_options(void)
{
    picollo_histogram_options options = default_options();
    options.relative_error = 0.01;
    options.min_trackable = 100;
    options.max_trackable = 100000;
    return options;
}

static void in_place(void)
{
    const picollo_histogram_options options = small_options();
    size_t size, align, snapshot_size = 0, snapshot_align = 0, footprint = 0;
    unsigned char *memory, *snapshot_memory;
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts;
    required(&options, &size, &align);
    /* Filled with garbage, with a guard after its end. */
    memory = (unsigned char *)aligned_alloc(align, size + align);
    memset(memory, 0xa5, size + align);
    CHECK_OK(picollo_histogram_init_in(memory, size, &options, &histogram));
    CHECK((void *)histogram == (void *)memory);
    CHECK_OK(picollo_histogram_footprint(histogram, &footprint));
    CHECK_U64(size, (footprint + align - 1) / align * align);
    for (uint64_t value = 0; value < 200000; value += 10) picollo_histogram_record(histogram, value);

    CHECK_OK(picollo_snapshot_required_size(histogram, &snapshot_size, &snapshot_align));
    snapshot_memory = (unsigned char *)aligned_alloc(snapshot_align, snapshot_size + snapshot_align);
    memset(snapshot_memory, 0xa5, snapshot_size + snapshot_align);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL,
                 picollo_snapshot_init_in(snapshot_memory, snapshot_size - 1, histogram, &snapshot));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_snapshot_init_in(snapshot_memory, 0, histogram, &snapshot));
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT,
                 picollo_snapshot_init_in(snapshot_memory + 8, snapshot_size, histogram, &snapshot));
    CHECK(snapshot == NULL);
    CHECK_OK(picollo_snapshot_init_in(snapshot_memory, snapshot_size, histogram, &snapshot));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(20000, counts.total + counts.underflow + counts.overflow);
    CHECK_U64(10, counts.underflow);
    CHECK_OK(picollo_histogram_reset(histogram));
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(0, counts.total);
    for (size_t i = 0; i < align; i++) CHECK(memory[size + i] == 0xa5);
    for (size_t i = 0; i < snapshot_align; i++) CHECK(snapshot_memory[snapshot_size + i] == 0xa5);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    free(snapshot_memory);
    free(memory);
}

static void bad_memory(void)
{
    const picollo_histogram_options options = small_options();
    size_t size, align;
    unsigned char *memory;
    picollo_histogram *histogram = NULL;
    required(&options, &size, &align);
    memory = (unsigned char *)aligned_alloc(align, size + align);
    memset(memory, 0xa5, size + align);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_init_in(memory, size - 1, &options, &histogram));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_init_in(memory, 0, &options, &histogram));
    for (size_t offset = 1; offset < align; offset++) {
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_init_in(memory + offset, size, &options, &histogram));
        CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_histogram_attach(memory + offset, size, &histogram));
    }
    CHECK(histogram == NULL);
    for (size_t i = 0; i < size + align; i++) CHECK(memory[i] == 0xa5);
    /* It contains no histogram. */
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_histogram_attach(memory, size, &histogram));
    memset(memory, 0, size);
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_histogram_attach(memory, size, &histogram));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_attach(memory, 0, &histogram));
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_attach(memory, 64, &histogram));
    CHECK(histogram == NULL);
    free(memory);
}

static void attaching(void)
{
    const picollo_histogram_options options = small_options();
    size_t size, align;
    unsigned char *memory, *elsewhere;
    picollo_histogram *histogram = NULL, *other = NULL;
    picollo_counts counts;
    picollo_snapshot *snapshot;
    required(&options, &size, &align);
    memory = (unsigned char *)aligned_alloc(align, size);
    elsewhere = (unsigned char *)aligned_alloc(align, size);
    CHECK_OK(picollo_histogram_init_in(memory, size, &options, &histogram));
    picollo_histogram_record_n(histogram, 5000, 3);
    CHECK_STATUS(PICOLLO_ERR_BUFFER_TOO_SMALL, picollo_histogram_attach(memory, size - align, &other));
    /* The image contains no pointers: it works at any address. */
    memcpy(elsewhere, memory, size);
    CHECK_OK(picollo_histogram_attach(elsewhere, size, &other));
    picollo_histogram_record(other, 5000);
    snapshot = snapshot_of(other);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(4, counts.total);
    picollo_snapshot_free(snapshot);

    free(elsewhere);
    free(memory);
}

int main(void)
{
    RUN(in_place);
    RUN(bad_memory);
    RUN(attaching);
    return report();
}
