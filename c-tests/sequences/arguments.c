/* What is wrong in the same way everywhere: options of another version, and pointers that are not aligned. */
#include "buffers.h"

static picollo_status try_histogram(const void *options)
{
    picollo_histogram *histogram = NULL;
    const picollo_status status = picollo_histogram_create((const picollo_histogram_options *)options, &histogram);
    picollo_histogram_free(histogram);
    return status;
}

static picollo_status try_doubles(const void *options)
{
    picollo_double_histogram *histogram = NULL;
    const picollo_status status = picollo_double_histogram_create((const picollo_double_options *)options, &histogram);
    picollo_double_histogram_free(histogram);
    return status;
}

static picollo_status try_compare(const void *options)
{
    static const double blocks[] = {1, 2, 3};
    picollo_block_comparison compared;
    return picollo_compare_blocks(blocks, blocks, 3, (const picollo_compare_options *)options, &compared);
}

static picollo_status try_picture(const void *options)
{
    size_t length = 0;
    const picollo_status status =
        picollo_pictures_format_svg(NULL, NULL, 0, 0, NULL, NULL, (const picollo_picture_options *)options, NULL, 0, &length);
    return status == PICOLLO_ERR_BUFFER_TOO_SMALL ? PICOLLO_OK : status;
}

static picollo_status try_benchmark(const void *options)
{
    picollo_benchmark *benchmark = NULL;
    const picollo_status status = picollo_benchmark_create((const picollo_benchmark_options *)options, NULL, 0, &benchmark, NULL);
    picollo_benchmark_free(benchmark);
    return status;
}

static picollo_status try_session(const void *options)
{
    picollo_session *session = NULL;
    picollo_event event;
    picollo_status status = picollo_event_parse("task-clock", &event, NULL);
    if (status == PICOLLO_OK) status = picollo_session_create((const picollo_session_options *)options, &event, 1, &session, NULL);
    picollo_session_free(session);
    /* Where it cannot be counted, the options were fine. */
    return status == PICOLLO_ERR_PERMISSION || status == PICOLLO_ERR_NO_SUCH_EVENT || status == PICOLLO_ERR_OS ? PICOLLO_OK : status;
}

static picollo_status try_metric(const void *options)
{
    picollo_metric_options metric;
    _Alignas(8) unsigned char bytes[256];
    picollo_registry *registry = NULL;
    picollo_double_histogram *histogram = NULL;
    picollo_status status = picollo_registry_create(&registry);
    if (status == PICOLLO_OK) status = picollo_double_histogram_create(NULL, &histogram);
    /* These want a name. */
    memcpy(bytes, options, sizeof bytes);
    memcpy(&metric, bytes, sizeof metric);
    metric.name = "x";
    memcpy(bytes, &metric, sizeof metric);
    if (status == PICOLLO_OK) status = picollo_registry_add_double(registry, histogram, (const picollo_metric_options *)(void *)bytes, NULL, 0, NULL);
    picollo_double_histogram_free(histogram);
    picollo_registry_free(registry);
    return status;
}

static const struct kind {
    size_t size;
    picollo_status (*try)(const void *options);
    /* Of its first version, where that was shorter. */
    size_t first;
} kinds[] = {
    {sizeof(picollo_histogram_options), try_histogram, 56},
    {sizeof(picollo_double_options), try_doubles, 0},
    {sizeof(picollo_compare_options), try_compare, 48},
    {sizeof(picollo_picture_options), try_picture, 0},
    {sizeof(picollo_benchmark_options), try_benchmark, 72},
    {sizeof(picollo_session_options), try_session, 0},
    {sizeof(picollo_metric_options), try_metric, offsetof(picollo_metric_options, max_buckets)},
};

/* All of these have the defaults where they are zero. */
static void op_options(struct world *world)
{
    const struct kind *const kind = &kinds[choose(world, sizeof kinds / sizeof *kinds)];
    union {
        uint32_t struct_size;
        unsigned char bytes[256];
        double aligned;
    } options;
    const size_t beyond = kind->size + (size_t)choose(world, 100);
    memset(&options, 0, sizeof options);
    options.struct_size = (uint32_t)kind->size;
    EXPECT(PICOLLO_OK, kind->try(&options));
    /* A newer program's: fine as long as it wants nothing new. */
    options.struct_size = (uint32_t)beyond + 1;
    EXPECT(PICOLLO_OK, kind->try(&options));
    options.bytes[beyond] = (unsigned char)(1 << choose(world, 8));
    EXPECT(PICOLLO_ERR_UNSUPPORTED, kind->try(&options));
    /* What lies behind it is not looked at. */
    options.struct_size = (uint32_t)beyond;
    EXPECT(PICOLLO_OK, kind->try(&options));
    if (kind->first != 0) {
        options.struct_size = (uint32_t)kind->first;
        EXPECT(PICOLLO_OK, kind->try(&options));
    }
    options.struct_size = (uint32_t)choose(world, kind->first != 0 ? kind->first : kind->size);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, kind->try(&options));
    options.struct_size = 4097 + (uint32_t)choose(world, UINT32_MAX - 4097);
    EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, kind->try(&options));
}

#define ODD(type) ((type *)(void *)(room.bytes + 1))
#define MISALIGNED(call)                                                                                \
    do {                                                                                                \
        EXPECT(PICOLLO_ERR_INVALID_ARGUMENT, call);                                                     \
        if (!is_untouched(&room, 0, sizeof room)) FAIL("%s has written", #call);                        \
    } while (0)

static void op_misaligned(struct world *world)
{
    const struct snapshot *const snapshot = any_snapshot(world);
    const size_t slot = pick(world);
    union {
        double aligned;
        unsigned char bytes[4096];
    } room;
    double ranks[] = {50};
    size_t length;
    memset(&room, UNTOUCHED, sizeof room);
    MISALIGNED(picollo_histogram_create(NULL, ODD(picollo_histogram *)));
    MISALIGNED(picollo_layout_of_options(NULL, ODD(picollo_layout)));
    MISALIGNED(picollo_histogram_estimate(NULL, ODD(picollo_footprint)));
    MISALIGNED(picollo_clock_frequency(PICOLLO_CLOCK_MONOTONIC, ODD(uint64_t)));
    MISALIGNED(picollo_event_parse("cycles", ODD(picollo_event), NULL));
    MISALIGNED(picollo_registry_create(ODD(picollo_registry *)));
    MISALIGNED(picollo_striped_counter_create(ODD(picollo_striped_counter *)));
    MISALIGNED(picollo_double_histogram_create(NULL, ODD(picollo_double_histogram *)));
    MISALIGNED(picollo_double_snapshot_create(NULL, ODD(picollo_double_snapshot *)));
    MISALIGNED(picollo_log_reader_create("", 0, ODD(picollo_log_reader *)));
    MISALIGNED(picollo_log_format_header(1, NULL, (char *)room.bytes, 100, ODD(size_t)));
    if (world->histograms[slot] != NULL) {
        MISALIGNED(picollo_histogram_footprint(world->histograms[slot], ODD(size_t)));
        MISALIGNED(picollo_histogram_layout(world->histograms[slot], ODD(picollo_layout)));
        MISALIGNED(picollo_snapshot_create(world->histograms[slot], ODD(picollo_snapshot *)));
        MISALIGNED(picollo_histogram_summary(world->histograms[slot], 0, ODD(picollo_summary)));
    }
    if (snapshot == NULL) return;
    MISALIGNED(picollo_snapshot_counts(snapshot->handle, ODD(picollo_counts)));
    MISALIGNED(picollo_snapshot_summary(snapshot->handle, 0, ODD(picollo_summary)));
    MISALIGNED(picollo_snapshot_percentile_values(snapshot->handle, ranks, 1, 0, ODD(uint64_t)));
    MISALIGNED(picollo_snapshot_percentiles(snapshot->handle, ODD(double), 1, 0, (picollo_percentile *)(void *)room.bytes));
    MISALIGNED(picollo_snapshot_count_between(snapshot->handle, 0, 1, ODD(uint64_t)));
    MISALIGNED(picollo_snapshot_copy(snapshot->handle, ODD(picollo_snapshot *)));
    MISALIGNED(picollo_snapshot_linear_steps(snapshot->handle, UINT64_MAX, NULL, 0, ODD(size_t)));
    MISALIGNED(picollo_snapshot_encode(snapshot->handle, PICOLLO_ENCODING_NATIVE, NULL, 0, ODD(size_t)));
    MISALIGNED(picollo_snapshot_decode("", 0, 0, ODD(picollo_snapshot *)));
    MISALIGNED(picollo_snapshot_format_sparkline(snapshot->handle, 0, 0, NULL, 0, ODD(size_t)));
    MISALIGNED(picollo_compare(snapshot->handle, snapshot->handle, NULL, ODD(picollo_comparison)));
    if (snapshot->exact && total_of(&snapshot->now) > 0) MISALIGNED(picollo_snapshot_buckets(snapshot->handle, 1, ODD(picollo_bucket), 9, &length));
}

const struct operation argument_operations[] = {
    {"options of other versions", op_options, 3},
    {"misaligned pointers", op_misaligned, 3},
    {NULL, NULL, 0},
};
