/* Sizes, offsets and numbers that programs are compiled with, as the first version has them. */
#include "test.h"

#ifndef __cplusplus
#include <assert.h>
#endif

/* Pointers are the last fields of structs. */
#define P sizeof(void *)
#define AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)
#define SIZE(type, size) static_assert(sizeof(type) == (size), #type)

SIZE(picollo_histogram_options, 56);
AT(picollo_histogram_options, struct_size, 0);
AT(picollo_histogram_options, mode, 4);
AT(picollo_histogram_options, storage, 8);
AT(picollo_histogram_options, counter_bits, 12);
AT(picollo_histogram_options, relative_error, 16);
AT(picollo_histogram_options, significant_digits, 24);
AT(picollo_histogram_options, flags, 28);
AT(picollo_histogram_options, min_trackable, 32);
AT(picollo_histogram_options, max_trackable, 40);
AT(picollo_histogram_options, max_bytes, 48);

SIZE(picollo_recorder, 24 + 4 * P);
AT(picollo_recorder, length, 0);
AT(picollo_recorder, first_index, 8);
AT(picollo_recorder, block_scale, 16);
AT(picollo_recorder, counter_bits, 20);
AT(picollo_recorder, counters, 24);
AT(picollo_recorder, histogram, 24 + P);
AT(picollo_recorder, owner, 24 + 2 * P);
AT(picollo_recorder, reserved, 24 + 3 * P);

SIZE(picollo_bucket, 48);
AT(picollo_bucket, lower, 0);
AT(picollo_bucket, upper, 8);
AT(picollo_bucket, step, 16);
AT(picollo_bucket, count, 24);
AT(picollo_bucket, storage_index, 32);
AT(picollo_bucket, logical_index, 40);

SIZE(picollo_percentile, 72);
AT(picollo_percentile, rank, 0);
AT(picollo_percentile, value, 8);
AT(picollo_percentile, target_count, 16);
AT(picollo_percentile, bucket, 24);

SIZE(picollo_counts, 32);
AT(picollo_counts, total, 0);
AT(picollo_counts, underflow, 8);
AT(picollo_counts, overflow, 16);
AT(picollo_counts, lost, 24);

SIZE(picollo_summary, 88 + 16 * 72);
AT(picollo_summary, total_count, 0);
AT(picollo_summary, underflow_count, 8);
AT(picollo_summary, overflow_count, 16);
AT(picollo_summary, lost_count, 24);
AT(picollo_summary, mean, 32);
AT(picollo_summary, stddev, 40);
AT(picollo_summary, relative_error, 48);
AT(picollo_summary, min_trackable, 56);
AT(picollo_summary, max_trackable, 64);
AT(picollo_summary, timestamp_unix_nanos, 72);
AT(picollo_summary, value_selection, 80);
AT(picollo_summary, flags, 84);
AT(picollo_summary, percentiles, 88);

SIZE(picollo_status, 4);
static_assert(PICOLLO_OK == 0 && PICOLLO_ERR_NULL_POINTER == -1 && PICOLLO_ERR_INVALID_ARGUMENT == -2 &&
                  PICOLLO_ERR_OUT_OF_MEMORY == -3 && PICOLLO_ERR_BUFFER_TOO_SMALL == -4 &&
                  PICOLLO_ERR_UNSUPPORTED == -5 && PICOLLO_ERR_INCOMPATIBLE == -6 && PICOLLO_ERR_CORRUPT == -7 &&
                  PICOLLO_ERR_EMPTY == -8 && PICOLLO_ERR_WRONG_THREAD == -9 && PICOLLO_ERR_OS == -10 &&
                  PICOLLO_ERR_PERMISSION == -11 && PICOLLO_ERR_NO_SUCH_EVENT == -12 &&
                  PICOLLO_ERR_NOT_COUNTED == -13 && PICOLLO_ERR_BUSY == -14 && PICOLLO_ERR_FORKED == -15 &&
                  PICOLLO_ERR_PANIC == -127,
              "status numbers are never reused");
static_assert(PICOLLO_ABI_VERSION == 1 && PICOLLO_INLINE_VERSION == 1 && PICOLLO_SUMMARY_PERCENTILES == 16, "versions");
static_assert(PICOLLO_MODE_SINGLE_WRITER == 0 && PICOLLO_MODE_INTERLOCKED == 1 && PICOLLO_MODE_THREAD_LOCAL == 2 &&
                  PICOLLO_MODE_SCALABLE == 3 && PICOLLO_STORAGE_DENSE == 0 && PICOLLO_STORAGE_SPARSE == 1 &&
                  PICOLLO_HISTOGRAM_NO_LIVE_RESET == 1 && PICOLLO_VALUE_MIDPOINT == 0 && PICOLLO_VALUE_LOWER == 1 &&
                  PICOLLO_VALUE_UPPER == 2 && PICOLLO_SUMMARY_APPROXIMATE == 1 && PICOLLO_TEXT_MARKDOWN == 0 &&
                  PICOLLO_TEXT_LINE == 1 && PICOLLO_TEXT_JSON == 2 && PICOLLO_TEXT_CSV == 3,
              "codes");

static void asserted_by_the_compiler(void)
{
    CHECK(picollo_abi_version() == 1);
}

int main(void)
{
    RUN(asserted_by_the_compiler);
    return report();
}
