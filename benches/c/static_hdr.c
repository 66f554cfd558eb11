/* HdrHistogram_c as a user compiles it into a program: a separate unit, at -O3. Its names get a prefix, because
 * the copy in the shared library has the original names. */
#define hdr_init static_hdr_init
#define hdr_close static_hdr_close
#define hdr_alloc static_hdr_alloc
#define hdr_reset static_hdr_reset
#define hdr_get_memory_size static_hdr_get_memory_size
#define hdr_record_value static_hdr_record_value
#define hdr_record_value_atomic static_hdr_record_value_atomic
#define hdr_record_values static_hdr_record_values
#define hdr_record_values_atomic static_hdr_record_values_atomic
#define hdr_record_corrected_value static_hdr_record_corrected_value
#define hdr_record_corrected_value_atomic static_hdr_record_corrected_value_atomic
#define hdr_record_corrected_values static_hdr_record_corrected_values
#define hdr_record_corrected_values_atomic static_hdr_record_corrected_values_atomic
#define hdr_add static_hdr_add
#define hdr_add_while_correcting_for_coordinated_omission static_hdr_add_corrected
#define hdr_min static_hdr_min
#define hdr_max static_hdr_max
#define hdr_value_at_percentile static_hdr_value_at_percentile
#define hdr_stddev static_hdr_stddev
#define hdr_mean static_hdr_mean
#define hdr_values_are_equivalent static_hdr_values_are_equivalent
#define hdr_lowest_equivalent_value static_hdr_lowest_equivalent_value
#define hdr_count_at_value static_hdr_count_at_value
#define hdr_count_at_index static_hdr_count_at_index
#define hdr_value_at_index static_hdr_value_at_index
#define hdr_iter_init static_hdr_iter_init
#define hdr_iter_percentile_init static_hdr_iter_percentile_init
#define hdr_iter_recorded_init static_hdr_iter_recorded_init
#define hdr_iter_linear_init static_hdr_iter_linear_init
#define hdr_iter_linear_set_value_units_per_bucket static_hdr_iter_linear_set
#define hdr_iter_log_init static_hdr_iter_log_init
#define hdr_iter_next static_hdr_iter_next
#define hdr_percentiles_print static_hdr_percentiles_print
#define hdr_calculate_bucket_config static_hdr_calculate_bucket_config
#define hdr_init_preallocated static_hdr_init_preallocated
#define hdr_size_of_equivalent_value_range static_hdr_size_of_equivalent_value_range
#define hdr_next_non_equivalent_value static_hdr_next_non_equivalent_value
#define hdr_median_equivalent_value static_hdr_median_equivalent_value
#define hdr_reset_internal_counters static_hdr_reset_internal_counters
#define counts_index_for static_hdr_counts_index_for
#include "hdr_histogram.c"

/* Several ascending percentiles in one pass of the library's own iterator. Later versions offer this as
 * hdr_value_at_percentiles; this version would need a pass for each. */
void static_hdr_one_pass(const struct hdr_histogram *h, const double *ranks, int64_t *values, size_t length)
{
    struct hdr_iter iter;
    hdr_iter_init(&iter, h);
    int64_t total = 0;
    size_t at = 0;
    while (at < length && hdr_iter_next(&iter)) {
        total += iter.count;
        while (at < length && total >= (int64_t)(ranks[at] / 100 * (double)h->total_count + 0.5)) {
            values[at++] = highest_equivalent_value(h, iter.value);
        }
    }
}

/* The same without the iterator: it reads only the array of counts. */
void static_hdr_bare_pass(const struct hdr_histogram *h, const double *ranks, int64_t *values, size_t length)
{
    int64_t total = 0;
    size_t at = 0;
    int64_t target = (int64_t)(ranks[0] / 100 * (double)h->total_count + 0.5);
    for (int32_t index = 0; index < h->counts_len; index++) {
        total += h->counts[index];
        while (total >= target && total > 0) {
            values[at++] = highest_equivalent_value(h, hdr_value_at_index(h, index));
            if (at == length) return;
            target = (int64_t)(ranks[at] / 100 * (double)h->total_count + 0.5);
        }
    }
}
