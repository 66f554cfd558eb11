"""The structs of ``include/picollo.h``, field for field.

Field order is the ABI. ``tests/test_layout.py`` holds every size and offset against a C program compiled from the header.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_char_p, c_double, c_int32, c_uint32, c_uint64, c_void_p

ABI_VERSION = 1
SUMMARY_PERCENTILES = 16

CLOCK_MONOTONIC, CLOCK_TSC = 0, 1
UNIT_TICKS, UNIT_NANOS, UNIT_MICROS, UNIT_MILLIS, UNIT_PICOS = 0, 1, 2, 3, 4

HISTOGRAM_NO_LIVE_RESET = 1 << 0
SUMMARY_APPROXIMATE = 1 << 0

DOUBLE_DOTNET_RANKS = 1 << 0
DOUBLE_EXACT_SUM = 1 << 1
METRIC_NO_CREATED = 1 << 0
SCALABLE_THRESHOLD_BITS = 13

VERDICT_NO_EVIDENCE, VERDICT_FASTER, VERDICT_SLOWER = range(3)
COMPARISON_TOO_FEW = 1 << 0
COMPARISON_WITHIN_MARGIN = 1 << 1
COMPARISON_OUT_OF_RANGE = 1 << 2
COMPARISON_APPROXIMATE = 1 << 3
COMPARISON_LAYOUTS_DIFFER = 1 << 4
COMPARISON_AUTOCORRELATED = 1 << 5
COMPARISON_MARGIN_IS_RESOLUTION = 1 << 6
COMPARISON_BELOW_RESOLUTION = 1 << 7
ENCODING_HDR_V2, ENCODING_HDR_V2_COMPRESSED, ENCODING_NATIVE = 0, 1, 2

BENCHMARK_A, BENCHMARK_B, BENCHMARK_EMPTY = range(3)
BENCHMARK_NO_OVERHEAD = 1 << 0
BENCHMARK_BUDGET_SPENT = 1 << 0
BENCHMARK_NOTHING_A = 1 << 1
BENCHMARK_NOTHING_B = 1 << 2

TEXT_MARKDOWN, TEXT_LINE, TEXT_JSON, TEXT_CSV = 0, 1, 2, 3

SESSION_PINNED = 1 << 0
SESSION_KERNEL = 1 << 1
SESSION_DISABLED = 1 << 2
SESSION_INHERIT = 1 << 3
SESSION_SKIP_UNAVAILABLE = 1 << 4
SESSION_ORDERED = 1 << 5
SESSION_ON_CPU = 1 << 6
SESSION_SUBTRACT = 1 << 7
SESSION_SYSCALL_ONLY = 1 << 8

READ_AUTO, READ_SYSCALL = 0, 1

READING_FAST = 1 << 0
READING_CLEAN = 1 << 1
READING_SCALED = 1 << 2
READING_RESYNC = 1 << 3
READING_TIMES_STALE = 1 << 4

EVENT_INFO_USER_ONLY = 1 << 0
EVENT_INFO_UNPINNED = 1 << 1
EVENT_INFO_SUBSTITUTED = 1 << 2
EVENT_INFO_FAST = 1 << 3
EVENT_INFO_SILENT = 1 << 4


class Error(ctypes.Structure):
    """``picollo_error``"""

    _fields_ = [
        ("status", c_int32),
        ("os_errno", c_int32),
        ("event_index", c_int32),
        ("reserved", c_uint32),
        ("message", c_char * 496),
    ]


class HistogramOptions(ctypes.Structure):
    """``picollo_histogram_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("mode", c_uint32),
        ("storage", c_uint32),
        ("counter_bits", c_uint32),
        ("relative_error", c_double),
        ("significant_digits", c_uint32),
        ("flags", c_uint32),
        ("min_trackable", c_uint64),
        ("max_trackable", c_uint64),
        ("max_bytes", c_uint64),
    ]


class Bucket(ctypes.Structure):
    """``picollo_bucket``"""

    _fields_ = [
        ("lower", c_uint64),
        ("upper", c_uint64),
        ("step", c_uint64),
        ("count", c_uint64),
        ("storage_index", c_uint64),
        ("logical_index", c_uint64),
    ]


class Percentile(ctypes.Structure):
    """``picollo_percentile``"""

    _fields_ = [
        ("rank", c_double),
        ("value", c_uint64),
        ("target_count", c_uint64),
        ("bucket", Bucket),
    ]


class Counts(ctypes.Structure):
    """``picollo_counts``"""

    _fields_ = [
        ("total", c_uint64),
        ("underflow", c_uint64),
        ("overflow", c_uint64),
        ("lost", c_uint64),
    ]


class Summary(ctypes.Structure):
    """``picollo_summary``"""

    _fields_ = [
        ("total_count", c_uint64),
        ("underflow_count", c_uint64),
        ("overflow_count", c_uint64),
        ("lost_count", c_uint64),
        ("mean", c_double),
        ("stddev", c_double),
        ("relative_error", c_double),
        ("min_trackable", c_uint64),
        ("max_trackable", c_uint64),
        ("timestamp_unix_nanos", c_uint64),
        ("value_selection", c_uint32),
        ("flags", c_uint32),
        ("percentiles", Percentile * SUMMARY_PERCENTILES),
    ]


class QuantileInterval(ctypes.Structure):
    """``picollo_quantile_interval``"""

    _fields_ = [
        ("quantile", c_double),
        ("confidence", c_double),
        ("coverage", c_double),
        ("total_count", c_uint64),
        ("target_count", c_uint64),
        ("value", c_uint64),
        ("lower", c_uint64),
        ("upper", c_uint64),
        ("lower_midpoint", c_uint64),
        ("upper_midpoint", c_uint64),
        ("lower_count", c_uint64),
        ("upper_count", c_uint64),
        ("bucket_width", c_uint64),
    ]


class CompareOptions(ctypes.Structure):
    """``picollo_compare_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("quantile", c_double),
        ("confidence", c_double),
        ("relative_threshold", c_double),
        ("absolute_threshold", c_double),
        ("power", c_double),
        ("resolution", c_double),
    ]


class PictureOptions(ctypes.Structure):
    """``picollo_picture_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("theme", c_uint32),
        ("width", c_uint32),
        ("height", c_uint32),
    ]


class Comparison(ctypes.Structure):
    """``picollo_comparison``"""

    _fields_ = [
        ("a", QuantileInterval),
        ("b", QuantileInterval),
        ("difference", c_double),
        ("difference_lower", c_double),
        ("difference_upper", c_double),
        ("bucket_width", c_double),
        ("margin", c_double),
        ("smallest_detectable", c_double),
        ("mann_whitney_u", c_double),
        ("mann_whitney_z", c_double),
        ("mann_whitney_p", c_double),
        ("common_language", c_double),
        ("cliffs_delta", c_double),
        ("ks_distance", c_double),
        ("ks_p", c_double),
        ("cohens_d", c_double),
        ("verdict", c_uint32),
        ("flags", c_uint32),
    ]


class BlockComparison(ctypes.Structure):
    """``picollo_block_comparison``"""

    _fields_ = [
        ("block_count", c_uint64),
        ("confidence", c_double),
        ("coverage", c_double),
        ("median_a", c_double),
        ("median_b", c_double),
        ("difference", c_double),
        ("difference_lower", c_double),
        ("difference_upper", c_double),
        ("margin", c_double),
        ("smallest_detectable", c_double),
        ("lag1", c_double),
        ("inflation", c_double),
        ("verdict", c_uint32),
        ("flags", c_uint32),
        ("resolution", c_double),
    ]


class Layout(ctypes.Structure):
    """``picollo_layout``"""

    _fields_ = [
        ("min_trackable", c_uint64),
        ("max_trackable", c_uint64),
        ("first_index", c_uint64),
        ("length", c_uint64),
        ("relative_error", c_double),
        ("block_scale", c_uint32),
        ("significant_digits", c_uint32),
    ]


class Merged(ctypes.Structure):
    """``picollo_merged``"""

    _fields_ = [
        ("refined", c_uint64),
        ("underflow", c_uint64),
        ("overflow", c_uint64),
        ("lost", c_uint64),
    ]


class LogInterval(ctypes.Structure):
    """``picollo_log_interval``"""

    _fields_ = [
        ("start_seconds", c_double),
        ("end_seconds", c_double),
        ("max", c_double),
        ("tag", c_char * 232),
    ]


class BenchmarkOptions(ctypes.Structure):
    """``picollo_benchmark_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("min_blocks", c_uint32),
        ("max_blocks", c_uint32),
        ("repetitions", c_uint64),
        ("budget_seconds", c_double),
        ("warm_up_seconds", c_double),
        ("sample_seconds", c_double),
        ("precision", c_double),
        ("confidence", c_double),
        ("relative_threshold", c_double),
        ("resolution_seconds", c_double),
    ]


class BenchmarkResult(ctypes.Structure):
    """``picollo_benchmark_result``"""

    _fields_ = [
        ("blocks", BlockComparison),
        ("overhead_a", c_double),
        ("overhead_b", c_double),
        ("repetitions_a", c_uint64),
        ("repetitions_b", c_uint64),
        ("sample_count", c_uint64),
        ("elapsed", c_uint64),
        ("overhead_error_a", c_double),
        ("overhead_error_b", c_double),
        ("empty_count", c_uint64),
        ("flags", c_uint32),
        ("reserved", c_uint32),
    ]


class BenchmarkCounter(ctypes.Structure):
    """``picollo_benchmark_counter``"""

    _fields_ = [
        ("a", c_double),
        ("b", c_double),
        ("status", c_int32),
        ("reserved", c_uint32),
    ]


class Scope(ctypes.Structure):
    """``picollo_scope``"""

    _fields_ = [
        ("start", c_uint64),
        ("clock", c_uint32),
        ("unit", c_uint32),
        ("histogram", c_void_p),
        ("reserved", c_void_p),
    ]


class Event(ctypes.Structure):
    """``picollo_event``"""

    _fields_ = [
        ("config", c_uint64),
        ("config1", c_uint64),
        ("config2", c_uint64),
        ("config3", c_uint64),
        ("scale", c_double),
        ("type", c_uint32),
        ("bp_type", c_uint32),
        ("modifiers", c_uint32),
        ("reserved", c_uint32),
        ("unit", c_char * 16),
        ("name", c_char * 128),
    ]


class PerfInfo(ctypes.Structure):
    """``picollo_perf_info``"""

    _fields_ = [
        ("pmu_available", c_uint32),
        ("user_read_available", c_uint32),
        ("fixed_counters", c_uint32),
        ("programmable_counters", c_uint32),
        ("paranoid", c_int32),
        ("hypervisor", c_uint32),
        ("explanation", c_char * 480),
    ]


class SessionOptions(ctypes.Structure):
    """``picollo_session_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("relative_error", c_double),
        ("thread", c_int32),
        ("cpu", c_int32),
        ("counter_bits", c_uint32),
        ("reserved", c_uint32),
    ]


class Reading(ctypes.Structure):
    """``picollo_reading``"""

    _fields_ = [
        ("value", c_uint64),
        ("raw", c_uint64),
        ("time_enabled", c_uint64),
        ("time_running", c_uint64),
        ("flags", c_uint32),
        ("status", c_int32),
    ]


class EventInfo(ctypes.Structure):
    """``picollo_event_info``"""

    _fields_ = [
        ("not_counted_count", c_uint64),
        ("overhead_fast", c_uint64),
        ("overhead_syscall", c_uint64),
        ("status", c_int32),
        ("os_errno", c_int32),
        ("group", c_uint32),
        ("flags", c_uint32),
        ("message", c_char * 248),
    ]


class DoubleOptions(ctypes.Structure):
    """``picollo_double_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("relative_error", c_double),
        ("max_bytes", c_uint64),
    ]


class DoubleStatistics(ctypes.Structure):
    """``picollo_double_statistics``"""

    _fields_ = [
        ("count", c_uint64),
        ("not_finite", c_uint64),
        ("lost", c_uint64),
        ("sum", c_double),
        ("min", c_double),
        ("max", c_double),
        ("mean", c_double),
        ("stddev", c_double),
        ("relative_error", c_double),
    ]


class DoubleBucket(ctypes.Structure):
    """``picollo_double_bucket``"""

    _fields_ = [
        ("lower", c_double),
        ("upper", c_double),
        ("midpoint", c_double),
        ("count", c_uint64),
    ]


class DoublePercentile(ctypes.Structure):
    """``picollo_double_percentile``"""

    _fields_ = [
        ("rank", c_double),
        ("value", c_double),
        ("target_count", c_uint64),
        ("bucket", DoubleBucket),
    ]


class DoubleSummary(ctypes.Structure):
    """``picollo_double_summary``"""

    _fields_ = [
        ("statistics", DoubleStatistics),
        ("percentiles", DoublePercentile * SUMMARY_PERCENTILES),
    ]


class Label(ctypes.Structure):
    """``picollo_label``"""

    _fields_ = [
        ("name", c_char_p),
        ("value", c_char_p),
    ]


class MetricOptions(ctypes.Structure):
    """``picollo_metric_options``"""

    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("divisor", c_double),
        ("labels_length", c_uint64),
        ("created_unix_nanos", c_uint64),
        ("name", c_char_p),
        ("help", c_char_p),
        ("unit", c_char_p),
        ("labels", ctypes.POINTER(Label)),
    ]


#: Every struct with its name in C.
BY_C_NAME: dict[str, type[ctypes.Structure]] = {
    "picollo_error": Error,
    "picollo_histogram_options": HistogramOptions,
    "picollo_bucket": Bucket,
    "picollo_percentile": Percentile,
    "picollo_counts": Counts,
    "picollo_summary": Summary,
    "picollo_quantile_interval": QuantileInterval,
    "picollo_compare_options": CompareOptions,
    "picollo_picture_options": PictureOptions,
    "picollo_comparison": Comparison,
    "picollo_block_comparison": BlockComparison,
    "picollo_layout": Layout,
    "picollo_merged": Merged,
    "picollo_log_interval": LogInterval,
    "picollo_benchmark_options": BenchmarkOptions,
    "picollo_benchmark_result": BenchmarkResult,
    "picollo_benchmark_counter": BenchmarkCounter,
    "picollo_scope": Scope,
    "picollo_event": Event,
    "picollo_perf_info": PerfInfo,
    "picollo_session_options": SessionOptions,
    "picollo_reading": Reading,
    "picollo_event_info": EventInfo,
    "picollo_double_options": DoubleOptions,
    "picollo_double_statistics": DoubleStatistics,
    "picollo_double_bucket": DoubleBucket,
    "picollo_double_percentile": DoublePercentile,
    "picollo_double_summary": DoubleSummary,
    "picollo_label": Label,
    "picollo_metric_options": MetricOptions,
}
