/* Histograms and snapshots in the caller's memory: sizes, alignment, attaching, and images that are none. */

#include "test.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
    /* Filled with garbage, and watched behind its end. */
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

static void snapshot_in_place_keeps_its_histogram(void)
{
    picollo_histogram *histogram = example(0);
    picollo_snapshot *snapshot = NULL;
    picollo_counts counts;
    size_t size = 0, align = 0;
    void *memory;
    CHECK_OK(picollo_snapshot_required_size(histogram, &size, &align));
    memory = aligned_alloc(align, size);
    CHECK_OK(picollo_snapshot_init_in(memory, size, histogram, &snapshot));
    picollo_histogram_free(histogram);
    CHECK_OK(picollo_snapshot_update(snapshot, 0));
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(99940, counts.total);
    picollo_snapshot_free(snapshot);
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
    /* No histogram in there. */
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
    /* The image holds no pointers: it works wherever it is. */
    memcpy(elsewhere, memory, size);
    CHECK_OK(picollo_histogram_attach(elsewhere, size, &other));
    picollo_histogram_record(other, 5000);
    snapshot = snapshot_of(other);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(4, counts.total);
    picollo_snapshot_free(snapshot);

    /* Every header with one bit turned is refused or still a histogram that fits into the memory. */
    for (size_t bit = 0; bit < 64 * 8; bit++) {
        picollo_status status;
        memcpy(elsewhere, memory, size);
        elsewhere[bit / 8] ^= (unsigned char)(1u << bit % 8);
        other = NULL;
        status = picollo_histogram_attach(elsewhere, size, &other);
        CHECK(status == PICOLLO_OK || status == PICOLLO_ERR_CORRUPT || status == PICOLLO_ERR_INCOMPATIBLE ||
              status == PICOLLO_ERR_BUFFER_TOO_SMALL);
        CHECK((status == PICOLLO_OK) == (other != NULL));
        if (other != NULL) {
            picollo_histogram_record(other, 100);
            picollo_histogram_record(other, UINT64_MAX);
            picollo_histogram_free(other);
        }
    }
    free(elsewhere);
    free(memory);
}

static void shared_between_processes(void)
{
    const picollo_histogram_options options = small_options();
    size_t size, align;
    void *memory;
    picollo_histogram *histogram = NULL;
    picollo_snapshot *snapshot;
    picollo_counts counts;
    pid_t child;
    int child_status = -1;
    required(&options, &size, &align);
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK_OK(picollo_histogram_init_in(memory, size, &options, &histogram));
    child = fork();
    if (child == 0) {
        picollo_histogram *attached = NULL;
        if (picollo_histogram_attach(memory, size, &attached) != PICOLLO_OK) _exit(1);
        for (int i = 0; i < 1000; i++) picollo_histogram_record(attached, 5000);
        _exit(0);
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &child_status, 0) == child && WIFEXITED(child_status) && WEXITSTATUS(child_status) == 0);
    snapshot = snapshot_of(histogram);
    CHECK_OK(picollo_snapshot_counts(snapshot, &counts));
    CHECK_U64(1000, counts.total);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    munmap(memory, size);
}

static void not_everything_fits_there(void)
{
    picollo_histogram_options options = small_options();
    size_t size = 77, align = 77;
    options.mode = PICOLLO_MODE_THREAD_LOCAL;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_required_size(&options, &size, &align));
    options.mode = PICOLLO_MODE_SINGLE_WRITER;
    options.storage = PICOLLO_STORAGE_SPARSE;
    CHECK_STATUS(PICOLLO_ERR_UNSUPPORTED, picollo_histogram_required_size(&options, &size, &align));
    CHECK(size == 77 && align == 77);
}

int main(void)
{
    RUN(in_place);
    RUN(snapshot_in_place_keeps_its_histogram);
    RUN(bad_memory);
    RUN(attaching);
    RUN(shared_between_processes);
    RUN(not_everything_fits_there);
    return report();
}
