/* NULL for every pointer of every function that has one: a status or nothing, never a crash, and no output written. */
#include "test.h"

#define NULL_IN(call) CHECK_STATUS(PICOLLO_ERR_NULL_POINTER, call)

static picollo_histogram *histogram;
static picollo_snapshot *snapshot;

static void histograms(void)
{
    const picollo_histogram_options options = default_options();
    picollo_histogram *out = NULL;
    picollo_recorder recorder;
    picollo_atomic_recorder atomic_recorder;
    uint64_t value = 5;
    size_t size = 77, align = 77;
    static uint64_t memory[1024];

    NULL_IN(picollo_histogram_create(&options, NULL));
    NULL_IN(picollo_histogram_create(NULL, NULL));
    NULL_IN(picollo_histogram_required_size(&options, NULL, &align));
    NULL_IN(picollo_histogram_required_size(&options, &size, NULL));
    CHECK_OK(picollo_histogram_required_size(NULL, &size, &align));
    NULL_IN(picollo_histogram_init_in(NULL, 0, &options, &out));
    NULL_IN(picollo_histogram_init_in(NULL, SIZE_MAX, &options, &out));
    NULL_IN(picollo_histogram_init_in(memory, sizeof memory, &options, NULL));
    NULL_IN(picollo_histogram_attach(NULL, SIZE_MAX, &out));
    NULL_IN(picollo_histogram_attach(memory, sizeof memory, NULL));
    picollo_histogram_free(NULL);
    picollo_histogram_record_batch(NULL, &value, 1);
    picollo_histogram_record_batch(histogram, NULL, 1);
    picollo_histogram_record_batch(histogram, NULL, 0);
    picollo_histogram_record_batch(NULL, NULL, 0);
    picollo_histogram_record_corrected(NULL, 5, 1);
    NULL_IN(picollo_histogram_record_in_range(NULL, 5, 1, 10));
    NULL_IN(picollo_histogram_reset(NULL));
    NULL_IN(picollo_histogram_footprint(NULL, &size));
    NULL_IN(picollo_histogram_footprint(histogram, NULL));
    NULL_IN(picollo_histogram_add(NULL, snapshot, 0, NULL));
    NULL_IN(picollo_histogram_add(histogram, NULL, 0, NULL));
    NULL_IN(picollo_histogram_recorder(NULL, PICOLLO_INLINE_VERSION, &recorder));
    NULL_IN(picollo_histogram_recorder(histogram, PICOLLO_INLINE_VERSION, NULL));
    NULL_IN(picollo_histogram_atomic_recorder(NULL, PICOLLO_INLINE_VERSION, &atomic_recorder));
    NULL_IN(picollo_histogram_atomic_recorder(histogram, PICOLLO_INLINE_VERSION, NULL));
    picollo_recorder_release(NULL);
    CHECK(out == NULL);
}

static void snapshots(void)
{
    picollo_snapshot *out = NULL;
    picollo_counts counts;
    picollo_percentile percentile;
    picollo_bucket bucket;
    picollo_summary summary;
    double rank = 50;
    uint64_t value = 5;
    size_t size = 77, align = 77, length = 77;
    static uint64_t memory[1024];

    NULL_IN(picollo_snapshot_create(NULL, &out));
    NULL_IN(picollo_snapshot_create(histogram, NULL));
    NULL_IN(picollo_snapshot_required_size(NULL, &size, &align));
    NULL_IN(picollo_snapshot_required_size(histogram, NULL, &align));
    NULL_IN(picollo_snapshot_required_size(histogram, &size, NULL));
    NULL_IN(picollo_snapshot_init_in(NULL, SIZE_MAX, histogram, &out));
    NULL_IN(picollo_snapshot_init_in(memory, sizeof memory, NULL, &out));
    NULL_IN(picollo_snapshot_init_in(memory, sizeof memory, histogram, NULL));
    NULL_IN(picollo_snapshot_update(NULL, 0));
    picollo_snapshot_free(NULL);
    NULL_IN(picollo_snapshot_counts(NULL, &counts));
    NULL_IN(picollo_snapshot_counts(snapshot, NULL));
    NULL_IN(picollo_snapshot_percentiles(NULL, &rank, 1, 0, &percentile));
    NULL_IN(picollo_snapshot_percentiles(snapshot, NULL, 1, 0, &percentile));
    NULL_IN(picollo_snapshot_percentiles(snapshot, &rank, 1, 0, NULL));
    NULL_IN(picollo_snapshot_percentile_values(NULL, &rank, 1, 0, &value));
    NULL_IN(picollo_snapshot_percentile_values(snapshot, NULL, 1, 0, &value));
    NULL_IN(picollo_snapshot_percentile_values(snapshot, &rank, 1, 0, NULL));
    NULL_IN(picollo_snapshot_rank_of_value(NULL, 5, 0, &rank));
    NULL_IN(picollo_snapshot_rank_of_value(snapshot, 5, 0, NULL));
    NULL_IN(picollo_snapshot_bucket_of(NULL, 5, &bucket));
    NULL_IN(picollo_snapshot_bucket_of(snapshot, 5, NULL));
    NULL_IN(picollo_snapshot_buckets(NULL, 0, &bucket, 1, &length));
    NULL_IN(picollo_snapshot_buckets(snapshot, 0, &bucket, 1, NULL));
    NULL_IN(picollo_snapshot_merge(NULL, snapshot, 0, NULL));
    NULL_IN(picollo_snapshot_merge(snapshot, NULL, 0, NULL));
    NULL_IN(picollo_snapshot_merge(NULL, NULL, 0, NULL));
    NULL_IN(picollo_snapshot_summary(NULL, 0, &summary));
    NULL_IN(picollo_snapshot_summary(snapshot, 0, NULL));
    NULL_IN(picollo_histogram_summary(NULL, 0, &summary));
    NULL_IN(picollo_histogram_summary(histogram, 0, NULL));
    CHECK(out == NULL && rank == 50 && value == 5 && length == 77 && size == 77 && align == 77);
}

static void text(void)
{
    char buffer[4096];
    size_t length = 77;
    picollo_summary summary;
    CHECK_OK(picollo_snapshot_summary(snapshot, 0, &summary));
    memset(buffer, 0x5a, sizeof buffer);
    NULL_IN(picollo_summary_format(NULL, "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_summary_format(&summary, "", 0, NULL, 1, &length));
    NULL_IN(picollo_summary_format(&summary, "", 0, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_summary_format_diff(NULL, &summary, "", "", "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_summary_format_diff(&summary, NULL, "", "", "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_summary_format_diff(&summary, &summary, "", "", "", 0, NULL, 1, &length));
    NULL_IN(picollo_summary_format_diff(&summary, &summary, "", "", "", 0, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_percentile_format(NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_percentile_format(&summary.percentiles[0], NULL, 1, &length));
    NULL_IN(picollo_percentile_format(&summary.percentiles[0], buffer, sizeof buffer, NULL));
    NULL_IN(picollo_snapshot_format_buckets(NULL, 0, 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_snapshot_format_buckets(snapshot, 0, 0, NULL, 1, &length));
    NULL_IN(picollo_snapshot_format_buckets(snapshot, 0, 0, buffer, sizeof buffer, NULL));
    CHECK(length == 77 && buffer[0] == 0x5a);
    CHECK_OK(picollo_summary_format_diff(&summary, &summary, NULL, NULL, NULL, 0, buffer, sizeof buffer, &length));
}

static void layouts_and_steps(void)
{
    const picollo_histogram_options options = default_options();
    picollo_layout layout;
    picollo_footprint footprint;
    picollo_bucket bucket;
    picollo_step step;
    picollo_merged merged;
    picollo_snapshot *out = NULL;
    uint64_t count = 77, value = 5;
    double ratio = 77;
    size_t length = 77;

    NULL_IN(picollo_layout_of_options(&options, NULL));
    NULL_IN(picollo_histogram_layout(NULL, &layout));
    NULL_IN(picollo_histogram_layout(histogram, NULL));
    NULL_IN(picollo_snapshot_layout(NULL, &layout));
    NULL_IN(picollo_snapshot_layout(snapshot, NULL));
    CHECK_OK(picollo_snapshot_layout(snapshot, &layout));
    NULL_IN(picollo_layout_bucket_of(NULL, 5, &bucket));
    NULL_IN(picollo_layout_bucket_of(&layout, 5, NULL));
    NULL_IN(picollo_layout_unit(NULL, &count));
    NULL_IN(picollo_layout_unit(&layout, NULL));
    NULL_IN(picollo_layout_with_range(NULL, 0, 5, &layout));
    NULL_IN(picollo_layout_with_range(&layout, 0, 5, NULL));
    NULL_IN(picollo_snapshot_create_from_layout(NULL, &out));
    NULL_IN(picollo_snapshot_create_from_layout(&layout, NULL));
    NULL_IN(picollo_snapshot_value_ratio(NULL, &ratio));
    NULL_IN(picollo_snapshot_value_ratio(snapshot, NULL));
    NULL_IN(picollo_histogram_estimate(&options, NULL));
    CHECK_OK(picollo_histogram_estimate(NULL, &footprint));
    NULL_IN(picollo_snapshot_count_between(NULL, 1, 5, &count));
    NULL_IN(picollo_snapshot_count_between(snapshot, 1, 5, NULL));
    NULL_IN(picollo_snapshot_linear_steps(NULL, 10, &step, 1, &length));
    NULL_IN(picollo_snapshot_linear_steps(snapshot, 10, &step, 1, NULL));
    NULL_IN(picollo_snapshot_logarithmic_steps(NULL, 10, 2, &step, 1, &length));
    NULL_IN(picollo_snapshot_logarithmic_steps(snapshot, 10, 2, &step, 1, NULL));
    NULL_IN(picollo_snapshot_percentile_steps(NULL, 5, &step, 1, &length));
    NULL_IN(picollo_snapshot_percentile_steps(snapshot, 5, &step, 1, NULL));
    NULL_IN(picollo_snapshot_merge(NULL, snapshot, 0, &merged));
    NULL_IN(picollo_snapshot_merge(snapshot, NULL, 0, &merged));
    NULL_IN(picollo_snapshot_subtract(NULL, snapshot, &merged));
    NULL_IN(picollo_snapshot_subtract(snapshot, NULL, &merged));
    NULL_IN(picollo_histogram_add(NULL, snapshot, 0, &merged));
    NULL_IN(picollo_histogram_add(histogram, NULL, 0, &merged));
    NULL_IN(picollo_snapshot_copy(NULL, &out));
    NULL_IN(picollo_snapshot_copy(snapshot, NULL));
    picollo_histogram_record_corrected_n(NULL, 5, 1, 1);
    picollo_histogram_record_corrected_batch(NULL, &value, 1, 1);
    picollo_histogram_record_corrected_batch(histogram, NULL, 1, 1);
    picollo_histogram_record_corrected_batch(histogram, NULL, 0, 1);
    CHECK(out == NULL && count == 77 && length == 77 && ratio == 77);
}

static void interchange(void)
{
    static const char text[] = "1,1,1,HISTF\n";
    picollo_snapshot *out = NULL;
    picollo_log_reader *reader = NULL;
    picollo_log_interval interval;
    char buffer[4096];
    uint64_t bytes = 77, line = 77;
    double start = 77, base = 77;
    size_t length = 77;

    memset(buffer, 0x5a, sizeof buffer);
    NULL_IN(picollo_snapshot_encode(NULL, 2, buffer, sizeof buffer, &length));
    NULL_IN(picollo_snapshot_encode(snapshot, 2, NULL, 1, &length));
    NULL_IN(picollo_snapshot_encode(snapshot, 2, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_snapshot_encode_base64(NULL, 2, buffer, sizeof buffer, &length));
    NULL_IN(picollo_snapshot_encode_base64(snapshot, 2, NULL, 1, &length));
    NULL_IN(picollo_snapshot_encode_base64(snapshot, 2, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_snapshot_decode(NULL, 1, 0, &out));
    NULL_IN(picollo_snapshot_decode(buffer, 1, 0, NULL));
    CHECK_STATUS(PICOLLO_ERR_CORRUPT, picollo_snapshot_decode(NULL, 0, 0, &out));
    NULL_IN(picollo_snapshot_format_hgrm(NULL, 5, 1, 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_snapshot_format_hgrm(snapshot, 5, 1, 0, NULL, 1, &length));
    NULL_IN(picollo_snapshot_format_hgrm(snapshot, 5, 1, 0, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_snapshot_corrected(NULL, 1, &out));
    NULL_IN(picollo_snapshot_corrected(snapshot, 1, NULL));

    NULL_IN(picollo_log_reader_create(NULL, 1, &reader));
    NULL_IN(picollo_log_reader_create(text, sizeof text - 1, NULL));
    NULL_IN(picollo_log_reader_next(NULL, &interval));
    NULL_IN(picollo_log_reader_decode(NULL, &out));
    NULL_IN(picollo_log_reader_tag(NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_log_reader_set_max_counters(NULL, 0));
    NULL_IN(picollo_log_reader_position(NULL, &bytes, &line));
    NULL_IN(picollo_log_reader_times(NULL, &start, &base));
    picollo_log_reader_free(NULL);
    CHECK(reader == NULL);
    CHECK_OK(picollo_log_reader_create(text, sizeof text - 1, &reader));
    NULL_IN(picollo_log_reader_next(reader, NULL));
    NULL_IN(picollo_log_reader_position(reader, NULL, &line));
    NULL_IN(picollo_log_reader_position(reader, &bytes, NULL));
    NULL_IN(picollo_log_reader_times(reader, NULL, &base));
    NULL_IN(picollo_log_reader_times(reader, &start, NULL));
    CHECK(bytes == 77 && line == 77 && start == 77 && base == 77);
    /* Nothing was read by those. */
    CHECK_OK(picollo_log_reader_next(reader, &interval));
    NULL_IN(picollo_log_reader_decode(reader, NULL));
    NULL_IN(picollo_log_reader_tag(reader, NULL, 1, &length));
    NULL_IN(picollo_log_reader_tag(reader, buffer, sizeof buffer, NULL));
    picollo_log_reader_free(reader);
    NULL_IN(picollo_log_format_header(1, "", NULL, 1, &length));
    NULL_IN(picollo_log_format_header(1, "", buffer, sizeof buffer, NULL));
    NULL_IN(picollo_log_format_interval(NULL, 1, 1, "", buffer, sizeof buffer, &length));
    NULL_IN(picollo_log_format_interval(snapshot, 1, 1, "", NULL, 1, &length));
    NULL_IN(picollo_log_format_interval(snapshot, 1, 1, "", buffer, sizeof buffer, NULL));
    CHECK(out == NULL && length == 77 && buffer[0] == 0x5a);
}

static void comparisons(void)
{
    char buffer[4096];
    size_t length = 77;
    picollo_summary summary;
    picollo_quantile_interval interval;
    picollo_comparison compared;
    picollo_block_comparison blocks;
    picollo_run_comparison runs;
    const double block = 1;
    memset(buffer, 0x5a, sizeof buffer);
    CHECK_OK(picollo_snapshot_summary(snapshot, 0, &summary));
    NULL_IN(picollo_snapshot_quantile_interval(NULL, 0.5, 0, &interval));
    NULL_IN(picollo_snapshot_quantile_interval(snapshot, 0.5, 0, NULL));
    NULL_IN(picollo_compare(NULL, snapshot, NULL, &compared));
    NULL_IN(picollo_compare(snapshot, NULL, NULL, &compared));
    NULL_IN(picollo_compare(snapshot, snapshot, NULL, NULL));
    CHECK_OK(picollo_compare(snapshot, snapshot, NULL, &compared));
    NULL_IN(picollo_compare_blocks(NULL, &block, 1, NULL, &blocks));
    NULL_IN(picollo_compare_blocks(&block, NULL, 1, NULL, &blocks));
    NULL_IN(picollo_compare_blocks(&block, &block, 1, NULL, NULL));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_compare_blocks(NULL, NULL, 0, NULL, &blocks));
    NULL_IN(picollo_compare_runs(NULL, 1, 1, NULL, &runs));
    NULL_IN(picollo_compare_runs(&block, 1, 1, NULL, NULL));
    CHECK_STATUS(PICOLLO_ERR_EMPTY, picollo_compare_runs(NULL, 0, 1, NULL, &runs));
    NULL_IN(picollo_comparison_format(NULL, &summary, &summary, "", "", "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_comparison_format(&compared, NULL, &summary, "", "", "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_comparison_format(&compared, &summary, NULL, "", "", "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_comparison_format(&compared, &summary, &summary, "", "", "", 0, NULL, 1, &length));
    NULL_IN(picollo_comparison_format(&compared, &summary, &summary, "", "", "", 0, buffer, sizeof buffer, NULL));
    CHECK(length == 77 && buffer[0] == 0x5a);
    CHECK_OK(picollo_comparison_format(&compared, &summary, &summary, NULL, NULL, NULL, 0, buffer, sizeof buffer, &length));
}

static void pictures(void)
{
    char buffer[64];
    size_t length = 77;
    const picollo_snapshot *good = snapshot, *bad = NULL;
    memset(buffer, 0x5a, sizeof buffer);
    NULL_IN(picollo_snapshot_format_sparkline(NULL, 0, 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_snapshot_format_sparkline(snapshot, 0, 0, NULL, 1, &length));
    NULL_IN(picollo_snapshot_format_sparkline(snapshot, 0, 0, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_snapshot_format_chart(NULL, 0, NULL, NULL, 0, 0, 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_snapshot_format_chart(snapshot, 0, NULL, NULL, 0, 0, 0, NULL, 1, &length));
    NULL_IN(picollo_snapshot_format_chart(snapshot, 0, NULL, NULL, 0, 0, 0, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_pictures_format_svg(NULL, NULL, 1, 0, NULL, NULL, NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_pictures_format_svg(&bad, NULL, 1, 0, NULL, NULL, NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_pictures_format_svg(&good, NULL, 1, 0, NULL, NULL, NULL, NULL, 1, &length));
    NULL_IN(picollo_pictures_format_svg(&good, NULL, 1, 0, NULL, NULL, NULL, buffer, sizeof buffer, NULL));
    NULL_IN(picollo_report_format_html(NULL, NULL, 1, NULL, NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_report_format_html(&bad, NULL, 1, NULL, NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_report_format_html(&good, NULL, 1, NULL, NULL, NULL, 1, &length));
    NULL_IN(picollo_report_format_html(&good, NULL, 1, NULL, NULL, buffer, sizeof buffer, NULL));
    CHECK(length == 77 && buffer[0] == 0x5a);
}

static void interpolation(void)
{
    double rank = 50;
    uint64_t value = 5;
    NULL_IN(picollo_snapshot_interpolated_percentiles(NULL, &rank, 1, &value));
    NULL_IN(picollo_snapshot_interpolated_percentiles(snapshot, NULL, 1, &value));
    NULL_IN(picollo_snapshot_interpolated_percentiles(snapshot, &rank, 1, NULL));
    CHECK(value == 5);
}

static void arrays(void)
{
    picollo_histogram_array *array = NULL;
    picollo_histogram *out = NULL;
    size_t bytes = 77;
    CHECK_OK(picollo_histogram_array_create(NULL, 1, &array));
    NULL_IN(picollo_histogram_array_create(NULL, 1, NULL));
    picollo_histogram_array_free(NULL);
    CHECK(picollo_histogram_array_length(NULL) == 0 && picollo_histogram_array_borrow(NULL, 0) == NULL);
    NULL_IN(picollo_histogram_array_ref(NULL, 0, &out));
    NULL_IN(picollo_histogram_array_ref(array, 0, NULL));
    NULL_IN(picollo_histogram_array_footprint(NULL, &bytes));
    NULL_IN(picollo_histogram_array_footprint(array, NULL));
    CHECK(out == NULL && bytes == 77);
    picollo_histogram_array_free(array);
}

static void registries(void)
{
    picollo_registry *registry = NULL;
    picollo_double_histogram *values = NULL;
    picollo_metric_options metric;
    picollo_label label = {NULL, NULL};
    picollo_metric_counter *counter = NULL;
    picollo_metric_gauge *gauge = NULL;
    uint32_t format = 77;
    double value = 77;
    uint64_t id = 77;
    size_t length = 77;
    char buffer[64];
    memset(&metric, 0, sizeof metric);
    metric.struct_size = sizeof metric;
    metric.name = "x";
    CHECK_OK(picollo_double_histogram_create(NULL, &values));
    CHECK_OK(picollo_registry_create(&registry));
    NULL_IN(picollo_registry_create(NULL));
    picollo_registry_free(NULL);
    NULL_IN(picollo_registry_add(NULL, histogram, &metric, NULL, 0, &id));
    NULL_IN(picollo_registry_add(registry, NULL, &metric, NULL, 0, &id));
    NULL_IN(picollo_registry_add(registry, histogram, NULL, NULL, 0, &id));
    NULL_IN(picollo_registry_add(registry, histogram, &metric, NULL, 1, &id));
    NULL_IN(picollo_registry_add_double(NULL, values, &metric, NULL, 0, &id));
    NULL_IN(picollo_registry_add_double(registry, NULL, &metric, NULL, 0, &id));
    NULL_IN(picollo_registry_add_double(registry, values, NULL, NULL, 0, &id));
    NULL_IN(picollo_registry_add_double(registry, values, &metric, NULL, 1, &id));
    metric.labels_length = 1;
    NULL_IN(picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
    /* The empty name is no name of a label. */
    metric.labels = &label;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
    metric.labels_length = 0;
    metric.name = NULL;
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_registry_add(registry, histogram, &metric, NULL, 0, &id));
    NULL_IN(picollo_registry_remove(NULL, 1));
    NULL_IN(picollo_registry_update(NULL));
    NULL_IN(picollo_registry_encode(NULL, PICOLLO_EXPOSITION_OPENMETRICS, buffer, sizeof buffer, &length));
    NULL_IN(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, NULL, 1, &length));
    NULL_IN(picollo_registry_encode(registry, PICOLLO_EXPOSITION_OPENMETRICS, buffer, sizeof buffer, NULL));
    metric.name = "x";
    NULL_IN(picollo_registry_add_counter(NULL, &metric, &counter, &id));
    NULL_IN(picollo_registry_add_counter(registry, NULL, &counter, &id));
    NULL_IN(picollo_registry_add_counter(registry, &metric, NULL, &id));
    NULL_IN(picollo_registry_add_gauge(NULL, &metric, &gauge, &id));
    NULL_IN(picollo_registry_add_gauge(registry, NULL, &gauge, &id));
    NULL_IN(picollo_registry_add_gauge(registry, &metric, NULL, &id));
    NULL_IN(picollo_registry_negotiate(NULL, NULL, buffer, sizeof buffer, &length));
    NULL_IN(picollo_registry_negotiate(NULL, &format, NULL, 1, &length));
    NULL_IN(picollo_registry_negotiate(NULL, &format, buffer, sizeof buffer, NULL));
    CHECK(id == 77 && length == 77 && format == 77 && counter == NULL && gauge == NULL);
    CHECK_OK(picollo_registry_add_counter(registry, &metric, &counter, NULL));
    metric.name = "y";
    CHECK_OK(picollo_registry_add_gauge(registry, &metric, &gauge, NULL));
    NULL_IN(picollo_metric_counter_read(NULL, &id));
    NULL_IN(picollo_metric_counter_read(counter, NULL));
    NULL_IN(picollo_metric_gauge_read(NULL, &value));
    NULL_IN(picollo_metric_gauge_read(gauge, NULL));
    CHECK(picollo_metric_counter_retain(NULL) == NULL && picollo_metric_gauge_retain(NULL) == NULL);
    picollo_metric_counter_free(NULL);
    picollo_metric_gauge_free(NULL);
    picollo_metric_counter_free(counter);
    picollo_metric_gauge_free(gauge);
    picollo_registry_free(registry);
    picollo_double_histogram_free(values);
}

static void doubles(void)
{
    picollo_double_histogram *out = NULL, *values = NULL;
    picollo_double_snapshot *out_snapshot = NULL, *counts = NULL;
    picollo_double_statistics statistics;
    picollo_double_summary summary;
    picollo_double_bucket bucket;
    double quantile = 0.5, value = 5;
    size_t length = 77;
    char buffer[8];

    CHECK_OK(picollo_double_histogram_create(NULL, &values));
    CHECK_OK(picollo_double_snapshot_create(NULL, &counts));
    NULL_IN(picollo_double_histogram_create(NULL, NULL));
    picollo_double_histogram_free(NULL);
    picollo_double_histogram_record_batch(NULL, &value, 1);
    picollo_double_histogram_record_batch(values, NULL, 1);
    picollo_double_histogram_record_batch(values, NULL, 0);
    NULL_IN(picollo_double_histogram_collect(NULL, &quantile, 1, &value, &statistics));
    NULL_IN(picollo_double_histogram_collect(values, NULL, 1, &value, &statistics));
    NULL_IN(picollo_double_histogram_collect(values, &quantile, 1, NULL, &statistics));
    NULL_IN(picollo_double_histogram_collect(values, &quantile, 1, &value, NULL));
    NULL_IN(picollo_double_histogram_add(NULL, counts));
    NULL_IN(picollo_double_histogram_add(values, NULL));
    NULL_IN(picollo_double_histogram_footprint(NULL, &length));
    NULL_IN(picollo_double_histogram_footprint(values, NULL));
    NULL_IN(picollo_double_snapshot_create(NULL, NULL));
    NULL_IN(picollo_double_snapshot_create(values, NULL));
    picollo_double_snapshot_free(NULL);
    NULL_IN(picollo_double_snapshot_update(NULL, values, 0));
    NULL_IN(picollo_double_snapshot_update(counts, NULL, 0));
    NULL_IN(picollo_double_snapshot_statistics(NULL, &statistics));
    NULL_IN(picollo_double_snapshot_statistics(counts, NULL));
    NULL_IN(picollo_double_snapshot_quantiles(NULL, &quantile, 1, &value));
    NULL_IN(picollo_double_snapshot_quantiles(counts, NULL, 1, &value));
    NULL_IN(picollo_double_snapshot_quantiles(counts, &quantile, 1, NULL));
    NULL_IN(picollo_double_snapshot_summary(NULL, &summary));
    NULL_IN(picollo_double_snapshot_summary(counts, NULL));
    NULL_IN(picollo_double_snapshot_buckets(NULL, &bucket, 1, &length));
    NULL_IN(picollo_double_snapshot_buckets(counts, &bucket, 1, NULL));
    NULL_IN(picollo_double_snapshot_merge(NULL, counts));
    NULL_IN(picollo_double_snapshot_merge(counts, NULL));
    NULL_IN(picollo_double_snapshot_merge(NULL, NULL));
    CHECK_OK(picollo_double_snapshot_summary(counts, &summary));
    NULL_IN(picollo_double_summary_format(NULL, "", 0, buffer, sizeof buffer, &length));
    NULL_IN(picollo_double_summary_format(&summary, "", 0, NULL, 1, &length));
    NULL_IN(picollo_double_summary_format(&summary, "", 0, buffer, sizeof buffer, NULL));
    CHECK(out == NULL && out_snapshot == NULL && value == 5 && length == 77);
    picollo_double_snapshot_free(counts);
    picollo_double_histogram_free(values);
}

static void counters(void)
{
    picollo_striped_counter *counter = NULL;
    uint64_t value = 5;
    NULL_IN(picollo_striped_counter_create(NULL));
    CHECK_OK(picollo_striped_counter_create(&counter));
    NULL_IN(picollo_striped_counter_read(NULL, &value));
    NULL_IN(picollo_striped_counter_read(counter, NULL));
    picollo_striped_counter_free(NULL);
    picollo_striped_counter_free(counter);
    CHECK(value == 5 && picollo_counter_read32(NULL) == 0 && picollo_counter_read64(NULL) == 0);
}

static void benchmarks(void)
{
    picollo_benchmark *benchmark = NULL, *none = NULL;
    picollo_benchmark_outcome result;
    picollo_benchmark_counts counter;
    picollo_benchmark_disturbance noise;
    picollo_histogram *out = NULL;
    uint32_t which = 77;
    uint64_t repetitions = 77;
    double progress = 77;
    char buffer[16];
    size_t length = 77;
    NULL_IN(picollo_benchmark_create(NULL, NULL, 0, NULL, NULL));
    NULL_IN(picollo_benchmark_create(NULL, NULL, 1, &none, NULL));
    CHECK_OK(picollo_benchmark_create(NULL, NULL, 0, &benchmark, NULL));
    NULL_IN(picollo_benchmark_next(NULL, &which, &repetitions, NULL));
    NULL_IN(picollo_benchmark_next(benchmark, NULL, &repetitions, NULL));
    NULL_IN(picollo_benchmark_next(benchmark, &which, NULL, NULL));
    NULL_IN(picollo_benchmark_done(NULL, NULL));
    NULL_IN(picollo_benchmark_done_after(NULL, 1, NULL));
    NULL_IN(picollo_benchmark_progress(NULL, &progress));
    NULL_IN(picollo_benchmark_progress(benchmark, NULL));
    NULL_IN(picollo_benchmark_result(NULL, &result));
    NULL_IN(picollo_benchmark_result(benchmark, NULL));
    NULL_IN(picollo_benchmark_noise(NULL, &noise));
    NULL_IN(picollo_benchmark_noise(benchmark, NULL));
    NULL_IN(picollo_benchmark_counter(NULL, 0, &counter));
    NULL_IN(picollo_benchmark_counter(benchmark, 0, NULL));
    NULL_IN(picollo_benchmark_histogram_ref(NULL, 0, &out));
    NULL_IN(picollo_benchmark_histogram_ref(benchmark, 0, NULL));
    NULL_IN(picollo_benchmark_format(NULL, "", "", "", PICOLLO_TEXT_MARKDOWN, buffer, sizeof buffer, &length));
    CHECK(none == NULL && out == NULL && which == 77 && repetitions == 77 && progress == 77 && length == 77);
    picollo_benchmark_free(benchmark);
    picollo_benchmark_free(NULL);
}

int main(void)
{
    histogram = create(0.01, 1, 1000);
    picollo_histogram_record(histogram, 5);
    snapshot = snapshot_of(histogram);
    RUN(histograms);
    RUN(snapshots);
    RUN(text);
    RUN(layouts_and_steps);
    RUN(interchange);
    RUN(comparisons);
    RUN(pictures);
    RUN(interpolation);
    RUN(arrays);
    RUN(registries);
    RUN(doubles);
    RUN(counters);
    RUN(benchmarks);
    picollo_snapshot_free(snapshot);
    picollo_histogram_free(histogram);
    return report();
}
