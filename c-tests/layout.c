/*
 * Sizes, offsets and numbers that programs are compiled with, as the first version has them. By hand: what is generated for other
 * languages comes from one description (ffi/picollo.abi.json), and this is what judges it. A test of picollo-ffi sees to it that
 * nothing is missing here.
 */
#include "test.h"

#ifndef __cplusplus
#include <assert.h>
#endif

/* Pointers are the last fields of structs. */
#define P sizeof(void *)
#define AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)
#define SIZE(type, size) static_assert(sizeof(type) == (size), #type)

SIZE(picollo_histogram_options, 64);
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
AT(picollo_histogram_options, unit, 56);

SIZE(picollo_recorder, 24 + 4 * P);
AT(picollo_recorder, length, 0);
AT(picollo_recorder, first_index, 8);
AT(picollo_recorder, block_scale, 16);
AT(picollo_recorder, counter_bits, 20);
AT(picollo_recorder, counters, 24);
AT(picollo_recorder, histogram, 24 + P);
AT(picollo_recorder, owner, 24 + 2 * P);
AT(picollo_recorder, reserved, 24 + 3 * P);
SIZE(picollo_atomic_recorder, 24 + 2 * P);
AT(picollo_atomic_recorder, length, 0);
AT(picollo_atomic_recorder, first_index, 8);
AT(picollo_atomic_recorder, block_scale, 16);
AT(picollo_atomic_recorder, reserved, 20);
AT(picollo_atomic_recorder, counters, 24);
AT(picollo_atomic_recorder, histogram, 24 + P);

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

SIZE(picollo_layout, 48);
AT(picollo_layout, min_trackable, 0);
AT(picollo_layout, max_trackable, 8);
AT(picollo_layout, first_index, 16);
AT(picollo_layout, length, 24);
AT(picollo_layout, relative_error, 32);
AT(picollo_layout, block_scale, 40);
AT(picollo_layout, significant_digits, 44);

SIZE(picollo_footprint, 40);
AT(picollo_footprint, counters, 0);
AT(picollo_footprint, initial_bytes, 8);
AT(picollo_footprint, step_bytes, 16);
AT(picollo_footprint, max_bytes, 24);
AT(picollo_footprint, snapshot_bytes, 32);

SIZE(picollo_step, 48);
AT(picollo_step, from, 0);
AT(picollo_step, to, 8);
AT(picollo_step, added_count, 16);
AT(picollo_step, cumulative_count, 24);
AT(picollo_step, rank, 32);
AT(picollo_step, rank_level, 40);

SIZE(picollo_merged, 32);
AT(picollo_merged, refined, 0);
AT(picollo_merged, underflow, 8);
AT(picollo_merged, overflow, 16);
AT(picollo_merged, lost, 24);

SIZE(picollo_log_interval, 256);
AT(picollo_log_interval, start_seconds, 0);
AT(picollo_log_interval, end_seconds, 8);
AT(picollo_log_interval, max, 16);
AT(picollo_log_interval, tag, 24);
SIZE(picollo_quantile_interval, 104);
AT(picollo_quantile_interval, quantile, 0);
AT(picollo_quantile_interval, confidence, 8);
AT(picollo_quantile_interval, coverage, 16);
AT(picollo_quantile_interval, total_count, 24);
AT(picollo_quantile_interval, target_count, 32);
AT(picollo_quantile_interval, value, 40);
AT(picollo_quantile_interval, lower, 48);
AT(picollo_quantile_interval, upper, 56);
AT(picollo_quantile_interval, lower_midpoint, 64);
AT(picollo_quantile_interval, upper_midpoint, 72);
AT(picollo_quantile_interval, lower_count, 80);
AT(picollo_quantile_interval, upper_count, 88);
AT(picollo_quantile_interval, bucket_width, 96);

SIZE(picollo_picture_options, 16);
AT(picollo_picture_options, struct_size, 0);
AT(picollo_picture_options, theme, 4);
AT(picollo_picture_options, width, 8);
AT(picollo_picture_options, height, 12);

SIZE(picollo_compare_options, 56);
AT(picollo_compare_options, struct_size, 0);
AT(picollo_compare_options, flags, 4);
AT(picollo_compare_options, quantile, 8);
AT(picollo_compare_options, confidence, 16);
AT(picollo_compare_options, relative_threshold, 24);
AT(picollo_compare_options, absolute_threshold, 32);
AT(picollo_compare_options, power, 40);
AT(picollo_compare_options, resolution, 48);

SIZE(picollo_comparison, 328);
AT(picollo_comparison, a, 0);
AT(picollo_comparison, b, 104);
AT(picollo_comparison, difference, 208);
AT(picollo_comparison, difference_lower, 216);
AT(picollo_comparison, difference_upper, 224);
AT(picollo_comparison, bucket_width, 232);
AT(picollo_comparison, margin, 240);
AT(picollo_comparison, smallest_detectable, 248);
AT(picollo_comparison, mann_whitney_u, 256);
AT(picollo_comparison, mann_whitney_z, 264);
AT(picollo_comparison, mann_whitney_p, 272);
AT(picollo_comparison, common_language, 280);
AT(picollo_comparison, cliffs_delta, 288);
AT(picollo_comparison, ks_distance, 296);
AT(picollo_comparison, ks_p, 304);
AT(picollo_comparison, cohens_d, 312);
AT(picollo_comparison, verdict, 320);
AT(picollo_comparison, flags, 324);

SIZE(picollo_block_comparison, 112);
AT(picollo_block_comparison, block_count, 0);
AT(picollo_block_comparison, confidence, 8);
AT(picollo_block_comparison, coverage, 16);
AT(picollo_block_comparison, median_a, 24);
AT(picollo_block_comparison, median_b, 32);
AT(picollo_block_comparison, difference, 40);
AT(picollo_block_comparison, difference_lower, 48);
AT(picollo_block_comparison, difference_upper, 56);
AT(picollo_block_comparison, margin, 64);
AT(picollo_block_comparison, smallest_detectable, 72);
AT(picollo_block_comparison, lag1, 80);
AT(picollo_block_comparison, inflation, 88);
AT(picollo_block_comparison, verdict, 96);
AT(picollo_block_comparison, flags, 100);
AT(picollo_block_comparison, resolution, 104);

SIZE(picollo_figure_estimate, 48);
AT(picollo_figure_estimate, value, 0);
AT(picollo_figure_estimate, lower, 8);
AT(picollo_figure_estimate, upper, 16);
AT(picollo_figure_estimate, confidence, 24);
AT(picollo_figure_estimate, scopes, 32);
AT(picollo_figure_estimate, flags, 40);
AT(picollo_figure_estimate, reserved, 44);

SIZE(picollo_run_comparison, 136);
AT(picollo_run_comparison, run_count, 0);
AT(picollo_run_comparison, confidence, 8);
AT(picollo_run_comparison, alarm_bound, 16);
AT(picollo_run_comparison, mean, 24);
AT(picollo_run_comparison, deviation, 32);
AT(picollo_run_comparison, lowest, 40);
AT(picollo_run_comparison, highest, 48);
AT(picollo_run_comparison, value, 56);
AT(picollo_run_comparison, difference, 64);
AT(picollo_run_comparison, difference_lower, 72);
AT(picollo_run_comparison, difference_upper, 80);
AT(picollo_run_comparison, margin, 88);
AT(picollo_run_comparison, smallest_detectable, 96);
AT(picollo_run_comparison, lag1, 104);
AT(picollo_run_comparison, inflation, 112);
AT(picollo_run_comparison, verdict, 120);
AT(picollo_run_comparison, flags, 124);
AT(picollo_run_comparison, resolution, 128);
SIZE(picollo_double_options, 24);
AT(picollo_double_options, struct_size, 0);
AT(picollo_double_options, flags, 4);
AT(picollo_double_options, relative_error, 8);
AT(picollo_double_options, max_bytes, 16);

SIZE(picollo_double_statistics, 72);
AT(picollo_double_statistics, count, 0);
AT(picollo_double_statistics, not_finite, 8);
AT(picollo_double_statistics, lost, 16);
AT(picollo_double_statistics, sum, 24);
AT(picollo_double_statistics, min, 32);
AT(picollo_double_statistics, max, 40);
AT(picollo_double_statistics, mean, 48);
AT(picollo_double_statistics, stddev, 56);
AT(picollo_double_statistics, relative_error, 64);

SIZE(picollo_double_bucket, 32);
AT(picollo_double_bucket, lower, 0);
AT(picollo_double_bucket, upper, 8);
AT(picollo_double_bucket, midpoint, 16);
AT(picollo_double_bucket, count, 24);

SIZE(picollo_double_percentile, 56);
AT(picollo_double_percentile, rank, 0);
AT(picollo_double_percentile, value, 8);
AT(picollo_double_percentile, target_count, 16);
AT(picollo_double_percentile, bucket, 24);

SIZE(picollo_double_summary, 72 + 16 * 56);
AT(picollo_double_summary, statistics, 0);
AT(picollo_double_summary, percentiles, 72);

SIZE(picollo_label, 2 * P);
AT(picollo_label, name, 0);
AT(picollo_label, value, P);

SIZE(picollo_metric_options, 40 + 4 * P);
AT(picollo_metric_options, struct_size, 0);
AT(picollo_metric_options, flags, 4);
AT(picollo_metric_options, divisor, 8);
AT(picollo_metric_options, labels_length, 16);
AT(picollo_metric_options, created_unix_nanos, 24);
AT(picollo_metric_options, name, 32);
AT(picollo_metric_options, help, 32 + P);
AT(picollo_metric_options, unit, 32 + 2 * P);
AT(picollo_metric_options, labels, 32 + 3 * P);
AT(picollo_metric_options, max_buckets, 32 + 4 * P);
AT(picollo_metric_options, reserved, 36 + 4 * P);

SIZE(picollo_metric_exemplar, 40 + 2 * P);
AT(picollo_metric_exemplar, value, 0);
AT(picollo_metric_exemplar, unix_nanos, 8);
AT(picollo_metric_exemplar, trace_id, 16);
AT(picollo_metric_exemplar, span_id, 32);
AT(picollo_metric_exemplar, labels, 40);
AT(picollo_metric_exemplar, labels_length, 40 + P);

SIZE(picollo_otlp_options, 8 + 2 * P);
AT(picollo_otlp_options, struct_size, 0);
AT(picollo_otlp_options, temporality, 4);
AT(picollo_otlp_options, resource, 8);
AT(picollo_otlp_options, resource_length, 8 + P);

SIZE(picollo_exemplars_options, 40);
AT(picollo_exemplars_options, struct_size, 0);
AT(picollo_exemplars_options, flags, 4);
AT(picollo_exemplars_options, threshold, 8);
AT(picollo_exemplars_options, unit, 16);
AT(picollo_exemplars_options, slowest, 20);
AT(picollo_exemplars_options, threads, 24);
AT(picollo_exemplars_options, rate, 28);
AT(picollo_exemplars_options, controls, 32);
AT(picollo_exemplars_options, reserved, 36);

SIZE(picollo_exemplar_scope, 64 + 2 * P);
AT(picollo_exemplar_scope, start, 0);
AT(picollo_exemplar_scope, due, 8);
AT(picollo_exemplar_scope, checkpoint, 16);
AT(picollo_exemplar_scope, number, 24);
AT(picollo_exemplar_scope, reserved, 32);
AT(picollo_exemplar_scope, thread, 56);
AT(picollo_exemplar_scope, exemplars, 56 + P);
AT(picollo_exemplar_scope, label, 56 + 2 * P);
AT(picollo_exemplar_scope, is_control, 60 + 2 * P);

SIZE(picollo_exemplar_context, 40);
AT(picollo_exemplar_context, words, 0);
AT(picollo_exemplar_context, trace_id, 16);
AT(picollo_exemplar_context, span_id, 32);

SIZE(picollo_exemplar, 200);
AT(picollo_exemplar, value, 0);
AT(picollo_exemplar, wall_nanos, 8);
AT(picollo_exemplar, unix_nanos, 16);
AT(picollo_exemplar, window_nanos, 24);
AT(picollo_exemplar, cpu_nanos, 32);
AT(picollo_exemplar, run_delay_nanos, 40);
AT(picollo_exemplar, off_nanos, 48);
AT(picollo_exemplar, preempted_nanos, 56);
AT(picollo_exemplar, fault_nanos, 64);
AT(picollo_exemplar, excess_nanos, 72);
AT(picollo_exemplar, reserved, 80);
AT(picollo_exemplar, context, 112);
AT(picollo_exemplar, cause, 152);
AT(picollo_exemplar, known, 156);
AT(picollo_exemplar, missing, 160);
AT(picollo_exemplar, label, 164);
AT(picollo_exemplar, thread, 168);
AT(picollo_exemplar, cpu, 172);
AT(picollo_exemplar, voluntary, 176);
AT(picollo_exemplar, involuntary, 180);
AT(picollo_exemplar, minor_faults, 184);
AT(picollo_exemplar, major_faults, 188);
AT(picollo_exemplar, throttled, 192);
AT(picollo_exemplar, is_slow, 196);

SIZE(picollo_exemplar_interval, 72);
AT(picollo_exemplar_interval, begin_unix_nanos, 0);
AT(picollo_exemplar_interval, end_unix_nanos, 8);
AT(picollo_exemplar_interval, threshold, 16);
AT(picollo_exemplar_interval, observations, 24);
AT(picollo_exemplar_interval, slow, 32);
AT(picollo_exemplar_interval, known, 40);
AT(picollo_exemplar_interval, controls, 48);
AT(picollo_exemplar_interval, excess_nanos, 56);
AT(picollo_exemplar_interval, length, 64);

SIZE(picollo_exemplar_share, 32);
AT(picollo_exemplar_share, share, 0);
AT(picollo_exemplar_share, excess_nanos, 8);
AT(picollo_exemplar_share, observations, 16);
AT(picollo_exemplar_share, typical_nanos, 24);
SIZE(picollo_segment_options, 16 + 2 * P);
AT(picollo_segment_options, struct_size, 0);
AT(picollo_segment_options, flags, 4);
AT(picollo_segment_options, max_bytes, 8);
AT(picollo_segment_options, name, 16);
AT(picollo_segment_options, directory, 16 + P);

SIZE(picollo_segment_entry, 48 + 4 * P);
AT(picollo_segment_entry, created_unix_nanos, 0);
AT(picollo_segment_entry, bytes, 8);
AT(picollo_segment_entry, divisor, 16);
AT(picollo_segment_entry, labels_length, 24);
AT(picollo_segment_entry, name, 32);
AT(picollo_segment_entry, unit, 32 + P);
AT(picollo_segment_entry, help, 32 + 2 * P);
AT(picollo_segment_entry, labels, 32 + 3 * P);
AT(picollo_segment_entry, kind, 32 + 4 * P);
AT(picollo_segment_entry, writer_pid, 36 + 4 * P);
AT(picollo_segment_entry, is_retired, 40 + 4 * P);
AT(picollo_segment_entry, reserved, 44 + 4 * P);

SIZE(picollo_segment_info, 312);
AT(picollo_segment_info, identity_high, 0);
AT(picollo_segment_info, identity_low, 8);
AT(picollo_segment_info, created_unix_nanos, 16);
AT(picollo_segment_info, start_time, 24);
AT(picollo_segment_info, entries, 32);
AT(picollo_segment_info, refused, 40);
AT(picollo_segment_info, memory, 48);
AT(picollo_segment_info, capacity, 56);
AT(picollo_segment_info, pid, 64);
AT(picollo_segment_info, is_live, 68);
AT(picollo_segment_info, name, 72);
AT(picollo_segment_info, program, 144);
AT(picollo_segment_info, boot_id, 272);

SIZE(picollo_benchmark_options, 80);
AT(picollo_benchmark_options, struct_size, 0);
AT(picollo_benchmark_options, flags, 4);
AT(picollo_benchmark_options, min_blocks, 8);
AT(picollo_benchmark_options, max_blocks, 12);
AT(picollo_benchmark_options, repetitions, 16);
AT(picollo_benchmark_options, budget_seconds, 24);
AT(picollo_benchmark_options, warm_up_seconds, 32);
AT(picollo_benchmark_options, sample_seconds, 40);
AT(picollo_benchmark_options, precision, 48);
AT(picollo_benchmark_options, confidence, 56);
AT(picollo_benchmark_options, relative_threshold, 64);
AT(picollo_benchmark_options, resolution_seconds, 72);

SIZE(picollo_benchmark_outcome, 192);
AT(picollo_benchmark_outcome, blocks, 0);
AT(picollo_benchmark_outcome, overhead_a, 112);
AT(picollo_benchmark_outcome, overhead_b, 120);
AT(picollo_benchmark_outcome, repetitions_a, 128);
AT(picollo_benchmark_outcome, repetitions_b, 136);
AT(picollo_benchmark_outcome, sample_count, 144);
AT(picollo_benchmark_outcome, elapsed, 152);
AT(picollo_benchmark_outcome, overhead_error_a, 160);
AT(picollo_benchmark_outcome, overhead_error_b, 168);
AT(picollo_benchmark_outcome, empty_count, 176);
AT(picollo_benchmark_outcome, flags, 184);
AT(picollo_benchmark_outcome, reserved, 188);

SIZE(picollo_benchmark_disturbance, 80);
AT(picollo_benchmark_disturbance, block_count, 0);
AT(picollo_benchmark_disturbance, disturbed_count, 8);
AT(picollo_benchmark_disturbance, left_out_count, 16);
AT(picollo_benchmark_disturbance, seconds, 24);
AT(picollo_benchmark_disturbance, steal_seconds, 32);
AT(picollo_benchmark_disturbance, others_seconds, 40);
AT(picollo_benchmark_disturbance, pressure_seconds, 48);
AT(picollo_benchmark_disturbance, frequency_low, 56);
AT(picollo_benchmark_disturbance, frequency_high, 64);
AT(picollo_benchmark_disturbance, cpu_count, 72);
AT(picollo_benchmark_disturbance, reserved, 76);

SIZE(picollo_benchmark_counts, 24);
AT(picollo_benchmark_counts, a, 0);
AT(picollo_benchmark_counts, b, 8);
AT(picollo_benchmark_counts, status, 16);
AT(picollo_benchmark_counts, reserved, 20);

SIZE(picollo_error, 512);
AT(picollo_error, status, 0);
AT(picollo_error, os_errno, 4);
AT(picollo_error, event_index, 8);
AT(picollo_error, reserved, 12);
AT(picollo_error, message, 16);

SIZE(picollo_scope, 16 + 2 * P);
AT(picollo_scope, start, 0);
AT(picollo_scope, clock, 8);
AT(picollo_scope, unit, 12);
AT(picollo_scope, histogram, 16);
AT(picollo_scope, reserved, 16 + P);

SIZE(picollo_event, 200);
AT(picollo_event, config, 0);
AT(picollo_event, config1, 8);
AT(picollo_event, config2, 16);
AT(picollo_event, config3, 24);
AT(picollo_event, scale, 32);
AT(picollo_event, type, 40);
AT(picollo_event, bp_type, 44);
AT(picollo_event, modifiers, 48);
AT(picollo_event, reserved, 52);
AT(picollo_event, unit, 56);
AT(picollo_event, name, 72);

SIZE(picollo_perf_info, 504);
AT(picollo_perf_info, pmu_available, 0);
AT(picollo_perf_info, user_read_available, 4);
AT(picollo_perf_info, fixed_counters, 8);
AT(picollo_perf_info, programmable_counters, 12);
AT(picollo_perf_info, paranoid, 16);
AT(picollo_perf_info, hypervisor, 20);
AT(picollo_perf_info, explanation, 24);

SIZE(picollo_session_options, 32);
AT(picollo_session_options, struct_size, 0);
AT(picollo_session_options, flags, 4);
AT(picollo_session_options, relative_error, 8);
AT(picollo_session_options, thread, 16);
AT(picollo_session_options, cpu, 20);
AT(picollo_session_options, counter_bits, 24);
AT(picollo_session_options, reserved, 28);

SIZE(picollo_reading, 40);
AT(picollo_reading, value, 0);
AT(picollo_reading, raw, 8);
AT(picollo_reading, time_enabled, 16);
AT(picollo_reading, time_running, 24);
AT(picollo_reading, flags, 32);
AT(picollo_reading, status, 36);

SIZE(picollo_event_info, 288);
AT(picollo_event_info, not_counted_count, 0);
AT(picollo_event_info, overhead_fast, 8);
AT(picollo_event_info, overhead_syscall, 16);
AT(picollo_event_info, status, 24);
AT(picollo_event_info, os_errno, 28);
AT(picollo_event_info, group, 32);
AT(picollo_event_info, flags, 36);
AT(picollo_event_info, message, 40);

SIZE(picollo_status, 4);
static_assert(PICOLLO_OK == 0 && PICOLLO_END == -100 && PICOLLO_ERR_NULL_POINTER == -1 && PICOLLO_ERR_INVALID_ARGUMENT == -2 &&
                  PICOLLO_ERR_OUT_OF_MEMORY == -3 && PICOLLO_ERR_BUFFER_TOO_SMALL == -4 &&
                  PICOLLO_ERR_UNSUPPORTED == -5 && PICOLLO_ERR_INCOMPATIBLE == -6 && PICOLLO_ERR_CORRUPT == -7 &&
                  PICOLLO_ERR_EMPTY == -8 && PICOLLO_ERR_WRONG_THREAD == -9 && PICOLLO_ERR_OS == -10 &&
                  PICOLLO_ERR_PERMISSION == -11 && PICOLLO_ERR_NO_SUCH_EVENT == -12 &&
                  PICOLLO_ERR_NOT_COUNTED == -13 && PICOLLO_ERR_BUSY == -14 && PICOLLO_ERR_FORKED == -15 &&
                  PICOLLO_ERR_PANIC == -127,
              "status numbers are never reused");
static_assert(PICOLLO_ABI_VERSION == 2 && PICOLLO_INLINE_VERSION == 1 && PICOLLO_SUMMARY_PERCENTILES == 16, "versions");
static_assert(PICOLLO_MODE_INTERLOCKED == 0 && PICOLLO_MODE_SINGLE_WRITER == 1 && PICOLLO_MODE_THREAD_LOCAL == 2 &&
                  PICOLLO_MODE_SCALABLE == 3 && PICOLLO_MODE_PER_CPU == 4 && PICOLLO_STORAGE_DENSE == 0 && PICOLLO_STORAGE_SPARSE == 1 &&
                  PICOLLO_HISTOGRAM_NO_LIVE_RESET == 1 && PICOLLO_HISTOGRAM_WHOLE_ARRAY == 2 && PICOLLO_ZERO_DIGITS == 255 &&
                  PICOLLO_VALUE_MIDPOINT == 0 && PICOLLO_VALUE_LOWER == 1 &&
                  PICOLLO_VALUE_UPPER == 2 && PICOLLO_SUMMARY_APPROXIMATE == 1 && PICOLLO_TEXT_MARKDOWN == 0 &&
                  PICOLLO_TEXT_LINE == 1 && PICOLLO_TEXT_JSON == 2 && PICOLLO_TEXT_CSV == 3 &&
                  PICOLLO_TEXT_HUMAN == 4 && PICOLLO_TEXT_FULL == 5,
              "codes");

static_assert(PICOLLO_ENCODING_HDR_V2 == 0 && PICOLLO_ENCODING_HDR_V2_COMPRESSED == 1 && PICOLLO_ENCODING_NATIVE == 2 &&
                  PICOLLO_DEFAULT_MAX_COUNTERS == 6291456 && PICOLLO_LOG_TAG_SIZE == 232 && PICOLLO_MAX_STEPS == 16777216,
              "interchange");
static_assert(PICOLLO_SINCE_RESET == 0 && PICOLLO_SINCE_PREVIOUS == 1 && PICOLLO_RANK_WHOLE_BUCKETS == 0 &&
                  PICOLLO_RANK_INTERPOLATED == 1 && PICOLLO_BUCKETS_ALL == 0 && PICOLLO_BUCKETS_NON_EMPTY == 1 &&
                  PICOLLO_PLACEMENT_MIDPOINT == 0 && PICOLLO_PLACEMENT_SPREAD == 1 && PICOLLO_PLACEMENT_LOW_ENDS == 2 &&
                  PICOLLO_INTERVAL_LOOK == 0 &&
                  PICOLLO_INTERVAL_COLLECT == 1 && PICOLLO_HGRM_COLUMNS == 0 && PICOLLO_HGRM_CSV == 1 &&
                  PICOLLO_CHARACTERS_UNICODE == 0 && PICOLLO_CHARACTERS_ASCII == 1,
              "either of two");
static_assert(PICOLLO_CLOCK_MONOTONIC == 0 && PICOLLO_CLOCK_TSC == 1 && PICOLLO_UNIT_TICKS == 0 && PICOLLO_UNIT_NANOS == 1 &&
                  PICOLLO_UNIT_MICROS == 2 && PICOLLO_UNIT_MILLIS == 3 && PICOLLO_UNIT_PICOS == 4,
              "clocks and units");
static_assert(PICOLLO_SESSION_PINNED == 1 && PICOLLO_SESSION_KERNEL == 2 && PICOLLO_SESSION_DISABLED == 4 &&
                  PICOLLO_SESSION_INHERIT == 8 && PICOLLO_SESSION_SKIP_UNAVAILABLE == 16 &&
                  PICOLLO_SESSION_ORDERED == 32 && PICOLLO_SESSION_ON_CPU == 64 && PICOLLO_SESSION_SUBTRACT == 128 &&
                  PICOLLO_SESSION_SYSCALL_ONLY == 256 &&
                  PICOLLO_READ_AUTO == 0 && PICOLLO_READ_SYSCALL == 1 && PICOLLO_READING_FAST == 1 &&
                  PICOLLO_READING_CLEAN == 2 && PICOLLO_READING_SCALED == 4 && PICOLLO_READING_RESYNC == 8 &&
                  PICOLLO_READING_TIMES_STALE == 16 && PICOLLO_EVENT_INFO_USER_ONLY == 1 &&
                  PICOLLO_EVENT_INFO_UNPINNED == 2 && PICOLLO_EVENT_INFO_SUBSTITUTED == 4 &&
                  PICOLLO_EVENT_INFO_FAST == 8 && PICOLLO_EVENT_INFO_SILENT == 16 && PICOLLO_SESSION_MAX_EVENTS == 64,
              "flags");
static_assert(PICOLLO_EVENT_USER == 1 && PICOLLO_EVENT_KERNEL == 2 && PICOLLO_EVENT_HYPERVISOR == 4 &&
                  PICOLLO_EVENT_PRECISE == 8 && PICOLLO_EVENT_PRECISE_MASK == 24 && PICOLLO_EVENT_HOST == 32 &&
                  PICOLLO_EVENT_GUEST == 64 && PICOLLO_EVENT_EXCLUDE_IDLE == 128,
              "modifiers of events");

static_assert(PICOLLO_FIGURE_FEW_SCOPES == 1 && PICOLLO_FIGURE_PARTIAL == 2 && PICOLLO_FIGURE_MAX_EVENTS == 16, "figures");
static_assert(PICOLLO_VERDICT_NO_EVIDENCE == 0 && PICOLLO_VERDICT_FASTER == 1 && PICOLLO_VERDICT_SLOWER == 2 &&
                  PICOLLO_COMPARISON_TOO_FEW == 1 && PICOLLO_COMPARISON_WITHIN_MARGIN == 2 &&
                  PICOLLO_COMPARISON_OUT_OF_RANGE == 4 && PICOLLO_COMPARISON_APPROXIMATE == 8 &&
                  PICOLLO_COMPARISON_LAYOUTS_DIFFER == 16 && PICOLLO_COMPARISON_AUTOCORRELATED == 32 &&
                  PICOLLO_COMPARISON_MARGIN_IS_RESOLUTION == 64 && PICOLLO_COMPARISON_BELOW_RESOLUTION == 128 &&
                  PICOLLO_COMPARISON_NOISY == 256 && PICOLLO_BENCHMARK_KEEP_DISTURBED == 2 &&
                  PICOLLO_BENCHMARK_A == 0 && PICOLLO_BENCHMARK_B == 1 && PICOLLO_BENCHMARK_EMPTY == 2 &&
                  PICOLLO_BENCHMARK_NO_OVERHEAD == 1 && PICOLLO_BENCHMARK_BUDGET_SPENT == 1 &&
                  PICOLLO_BENCHMARK_NOTHING_A == 2 && PICOLLO_BENCHMARK_NOTHING_B == 4 && PICOLLO_BENCHMARK_SIMULATED == 8,
              "comparisons");
static_assert(PICOLLO_PICTURE_PERCENTILES == 0 && PICOLLO_PICTURE_DENSITY == 1 && PICOLLO_PICTURE_HEAT_MAP == 2 &&
                  PICOLLO_THEME_AUTO == 0 && PICOLLO_THEME_LIGHT == 1 && PICOLLO_THEME_DARK == 2,
              "pictures");
static_assert(PICOLLO_DOUBLE_DOTNET_RANKS == 1 && PICOLLO_DOUBLE_EXACT_SUM == 2 && PICOLLO_SCALABLE_THRESHOLD_BITS == 13 &&
                  PICOLLO_METRIC_NO_CREATED == 1 && PICOLLO_METRIC_NATIVE == 2 && PICOLLO_METRIC_SINCE_RESET == 4 && PICOLLO_METRIC_SUMMARY == 8 &&
                  PICOLLO_EXPOSITION_OPENMETRICS == 0 && PICOLLO_EXPOSITION_PROMETHEUS_TEXT == 1 &&
                  PICOLLO_EXPOSITION_PROMETHEUS_PROTOBUF == 2 && PICOLLO_EXPOSITION_OTLP == 3 &&
                  PICOLLO_TEMPORALITY_CUMULATIVE == 0 && PICOLLO_TEMPORALITY_DELTA == 1,
              "doubles, counters and metrics");
static_assert(PICOLLO_EXEMPLARS_NO_RING == 1 && PICOLLO_EXEMPLARS_NO_SLOWEST == 2 && PICOLLO_EXEMPLARS_FAULT_TIMES == 4, "exemplars");
static_assert(PICOLLO_EXEMPLAR_KEPT == 1, "exemplar");
static_assert(PICOLLO_CPU_UNKNOWN == 4294967295, "cpu");
static_assert(PICOLLO_CAUSE_OWN_WAITING == 1 && PICOLLO_CAUSE_RUN_QUEUE == 2 &&
              PICOLLO_CAUSE_RUN_QUEUE_OR_QUOTA == 3 && PICOLLO_CAUSE_THROTTLED == 4 && PICOLLO_CAUSE_OFF_CPU == 5 &&
              PICOLLO_CAUSE_PAGE_FAULTS == 6 && PICOLLO_CAUSE_MORE_INSTRUCTIONS == 7 &&
              PICOLLO_CAUSE_SLOWER_INSTRUCTIONS == 8 && PICOLLO_CAUSE_ON_CPU == 9 &&
              PICOLLO_CAUSE_UNEXPLAINED == 10 && PICOLLO_CAUSE_SEVERAL == 11 && PICOLLO_CAUSE_NOT_KNOWN == 12, "cause");
static_assert(PICOLLO_KNOWN_ACCOUNTS == 1 && PICOLLO_KNOWN_RUN_DELAY == 2 && PICOLLO_KNOWN_QUOTA == 4 &&
              PICOLLO_KNOWN_RING == 8 && PICOLLO_KNOWN_FAULT_TIMES == 16, "known");
static_assert(PICOLLO_MISSING_NOTHING == 0 && PICOLLO_MISSING_TIMED_ELSEWHERE == 1 &&
              PICOLLO_MISSING_OTHER_THREAD == 2 && PICOLLO_MISSING_FORKED == 3 && PICOLLO_MISSING_TOO_MANY == 4 &&
              PICOLLO_MISSING_OVERWRITTEN == 5 && PICOLLO_MISSING_CONTRADICTORY == 6 &&
              PICOLLO_MISSING_UNSUPPORTED == 7, "missing");
static_assert(PICOLLO_SEGMENT_KEEP == 1 && PICOLLO_SEGMENT_ON_DISK == 2 && PICOLLO_SEGMENT_INTERLOCKED == 4 &&
                  PICOLLO_SEGMENT_LIVE_RESET == 8 &&
                  PICOLLO_ENTRY_HISTOGRAM == 1 && PICOLLO_ENTRY_COUNTER == 2,
              "segments");

static void asserted_by_the_compiler(void)
{
    CHECK(picollo_abi_version() == 2);
}

#define ALL_DEFAULTS(type, options)                                                           \
    do {                                                                                      \
        type zero;                                                                            \
        memset(&zero, 0, sizeof zero);                                                        \
        zero.struct_size = sizeof zero;                                                       \
        CHECK(memcmp(&zero, &options, sizeof zero) == 0);                                     \
    } while (0)

/* For static memory, too. */
static picollo_histogram_options in_static_memory = PICOLLO_HISTOGRAM_OPTIONS_INIT;

static void initialisers_ask_for_the_defaults(void)
{
    const picollo_histogram_options histograms = PICOLLO_HISTOGRAM_OPTIONS_INIT;
    const picollo_compare_options compares = PICOLLO_COMPARE_OPTIONS_INIT;
    const picollo_picture_options pictures = PICOLLO_PICTURE_OPTIONS_INIT;
    const picollo_double_options doubles = PICOLLO_DOUBLE_OPTIONS_INIT;
    const picollo_metric_options metrics = PICOLLO_METRIC_OPTIONS_INIT;
    const picollo_otlp_options exports = PICOLLO_OTLP_OPTIONS_INIT;
    const picollo_segment_options segments = PICOLLO_SEGMENT_OPTIONS_INIT;
    const picollo_exemplars_options exemplars = PICOLLO_EXEMPLARS_OPTIONS_INIT;
    const picollo_session_options sessions = PICOLLO_SESSION_OPTIONS_INIT;
    const picollo_benchmark_options benchmarks = PICOLLO_BENCHMARK_OPTIONS_INIT;
    ALL_DEFAULTS(picollo_histogram_options, histograms);
    ALL_DEFAULTS(picollo_compare_options, compares);
    ALL_DEFAULTS(picollo_picture_options, pictures);
    ALL_DEFAULTS(picollo_double_options, doubles);
    ALL_DEFAULTS(picollo_metric_options, metrics);
    ALL_DEFAULTS(picollo_otlp_options, exports);
    ALL_DEFAULTS(picollo_segment_options, segments);
    ALL_DEFAULTS(picollo_exemplars_options, exemplars);
    ALL_DEFAULTS(picollo_session_options, sessions);
    ALL_DEFAULTS(picollo_benchmark_options, benchmarks);
    ALL_DEFAULTS(picollo_histogram_options, in_static_memory);
}

static void the_version_of_the_header_is_that_of_the_library(void)
{
    char *end = NULL;
    CHECK(PICOLLO_VERSION_MAJOR == strtoul(picollo_version(), &end, 10) && *end == '.');
    CHECK(PICOLLO_VERSION_MINOR == strtoul(end + 1, &end, 10) && *end == '.');
    CHECK(PICOLLO_VERSION_PATCH == strtoul(end + 1, &end, 10));
}

int main(void)
{
    RUN(asserted_by_the_compiler);
    RUN(initialisers_ask_for_the_defaults);
    RUN(the_version_of_the_header_is_that_of_the_library);
    return report();
}
