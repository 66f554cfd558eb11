//! The sizes and offsets that other languages rely on.

use core::mem::offset_of;

use crate::benchmark::{picollo_benchmark_counter, picollo_benchmark_options, picollo_benchmark_result};
use crate::clock::picollo_scope;
use crate::compare::{
    picollo_block_comparison, picollo_compare_options, picollo_comparison, picollo_quantile_interval,
};
#[cfg(feature = "std")]
use crate::double_histogram::{picollo_double_options, picollo_double_statistics};
#[cfg(feature = "std")]
use crate::double_snapshot::{picollo_double_bucket, picollo_double_percentile, picollo_double_summary};
use crate::event::{picollo_error, picollo_event, picollo_perf_info};
use crate::histogram_options::picollo_histogram_options;
use crate::log::picollo_log_interval;
use crate::mapping::{picollo_footprint, picollo_layout};
use crate::merge::picollo_merged;
use crate::recorder::picollo_recorder;
#[cfg(feature = "std")]
use crate::registry::{picollo_label, picollo_metric_options};
use crate::session::{picollo_event_info, picollo_reading};
use crate::session_options::picollo_session_options;
use crate::snapshot::{picollo_bucket, picollo_counts, picollo_percentile};
use crate::steps::picollo_step;
use crate::summary::picollo_summary;

/// Asserts the offset of each field, and the size of the whole.
macro_rules! layout {
    ($type:ty, $size:expr, $($field:ident $offset:expr),+) => {
        const _: () = assert!(size_of::<$type>() == $size);
        $(const _: () = assert!(offset_of!($type, $field) == $offset);)+
    };
}

/// Of a pointer: the last fields of structs.
const P: usize = size_of::<*const u8>();

layout!(picollo_histogram_options, 56, struct_size 0, mode 4, storage 8, counter_bits 12, relative_error 16,
    significant_digits 24, flags 28, min_trackable 32, max_trackable 40, max_bytes 48);
layout!(picollo_recorder, 24 + 4 * P, length 0, first_index 8, block_scale 16, counter_bits 20, counters 24,
    histogram 24 + P, owner 24 + 2 * P, reserved 24 + 3 * P);
layout!(picollo_bucket, 48, lower 0, upper 8, step 16, count 24, storage_index 32, logical_index 40);
layout!(picollo_percentile, 72, rank 0, value 8, target_count 16, bucket 24);
layout!(picollo_counts, 32, total 0, underflow 8, overflow 16, lost 24);
layout!(picollo_summary, 88 + 16 * 72, total_count 0, underflow_count 8, overflow_count 16, lost_count 24, mean 32,
    stddev 40, relative_error 48, min_trackable 56, max_trackable 64, timestamp_unix_nanos 72, value_selection 80,
    flags 84, percentiles 88);
layout!(picollo_layout, 48, min_trackable 0, max_trackable 8, first_index 16, length 24, relative_error 32,
    block_scale 40, significant_digits 44);
layout!(picollo_footprint, 40, counters 0, initial_bytes 8, step_bytes 16, max_bytes 24, snapshot_bytes 32);
layout!(picollo_step, 48, from 0, to 8, added_count 16, cumulative_count 24, rank 32, rank_level 40);
layout!(picollo_merged, 32, refined 0, underflow 8, overflow 16, lost 24);
layout!(picollo_log_interval, 256, start_seconds 0, end_seconds 8, max 16, tag 24);
layout!(picollo_quantile_interval, 104, quantile 0, confidence 8, coverage 16, total_count 24, target_count 32, value 40,
    lower 48, upper 56, lower_midpoint 64, upper_midpoint 72, lower_count 80, upper_count 88, bucket_width 96);
layout!(picollo_compare_options, 56, struct_size 0, flags 4, quantile 8, confidence 16, relative_threshold 24,
    absolute_threshold 32, power 40, resolution 48);
layout!(picollo_comparison, 328, a 0, b 104, difference 208, difference_lower 216, difference_upper 224, bucket_width 232,
    margin 240, smallest_detectable 248, mann_whitney_u 256, mann_whitney_z 264, mann_whitney_p 272, common_language 280,
    cliffs_delta 288, ks_distance 296, ks_p 304, cohens_d 312, verdict 320, flags 324);
layout!(picollo_block_comparison, 112, block_count 0, confidence 8, coverage 16, median_a 24, median_b 32, difference 40,
    difference_lower 48, difference_upper 56, margin 64, smallest_detectable 72, lag1 80, inflation 88, verdict 96,
    flags 100, resolution 104);
#[cfg(feature = "std")]
layout!(picollo_double_options, 24, struct_size 0, flags 4, relative_error 8, max_bytes 16);
#[cfg(feature = "std")]
layout!(picollo_double_statistics, 72, count 0, not_finite 8, lost 16, sum 24, min 32, max 40, mean 48, stddev 56,
    relative_error 64);
#[cfg(feature = "std")]
layout!(picollo_double_bucket, 32, lower 0, upper 8, midpoint 16, count 24);
#[cfg(feature = "std")]
layout!(picollo_double_percentile, 56, rank 0, value 8, target_count 16, bucket 24);
#[cfg(feature = "std")]
layout!(picollo_double_summary, 72 + 16 * 56, statistics 0, percentiles 72);
#[cfg(feature = "std")]
layout!(picollo_label, 2 * P, name 0, value P);
#[cfg(feature = "std")]
layout!(picollo_metric_options, 32 + 4 * P, struct_size 0, flags 4, divisor 8, labels_length 16, created_unix_nanos 24,
    name 32, help 32 + P, unit 32 + 2 * P, labels 32 + 3 * P);
layout!(picollo_benchmark_options, 80, struct_size 0, flags 4, min_blocks 8, max_blocks 12, repetitions 16,
    budget_seconds 24, warm_up_seconds 32, sample_seconds 40, precision 48, confidence 56, relative_threshold 64,
    resolution_seconds 72);
layout!(picollo_benchmark_result, 192, blocks 0, overhead_a 112, overhead_b 120, repetitions_a 128, repetitions_b 136,
    sample_count 144, elapsed 152, overhead_error_a 160, overhead_error_b 168, empty_count 176, flags 184, reserved 188);
layout!(picollo_benchmark_counter, 24, a 0, b 8, status 16, reserved 20);
layout!(picollo_scope, 16 + 2 * P, start 0, clock 8, unit 12, histogram 16, reserved 16 + P);
layout!(picollo_event, 200, config 0, config1 8, config2 16, config3 24, scale 32, r#type 40, bp_type 44, modifiers 48,
    reserved 52, unit 56, name 72);
const _: () = assert!(size_of::<picollo_error>() == 512);
layout!(picollo_perf_info, 504, pmu_available 0, user_read_available 4, fixed_counters 8, programmable_counters 12,
    paranoid 16, hypervisor 20, explanation 24);
layout!(picollo_session_options, 32, struct_size 0, flags 4, relative_error 8, thread 16, cpu 20, counter_bits 24,
    reserved 28);
layout!(picollo_reading, 40, value 0, raw 8, time_enabled 16, time_running 24, flags 32, status 36);
layout!(picollo_event_info, 288, not_counted_count 0, overhead_fast 8, overhead_syscall 16, status 24, os_errno 28,
    group 32, flags 36, message 40);
