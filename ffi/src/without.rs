//! The functions that a target does not support. They are exported all the same, so programs link and load
//! everywhere.
//!
//! None of these objects can be made, so no call can do anything with one: it returns PICOLLO_ERR_UNSUPPORTED or does
//! nothing. The functions ignore their parameters and declare none, except those that explain errors. In the C calling
//! conventions of all targets here (the caller passes and removes arguments), this makes no difference to the caller.

use crate::failure::Failure;
use crate::guard::guard_explained;
use crate::status::{picollo_error, picollo_status};
use core::ffi::c_void;
use picollo_native::failure;

macro_rules! without {
    ($($result:ty = $value:expr, [$($name:ident)*])*) => {
        $($(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> $result {
                $value
            }
        )*)*
    };
}

/// Functions that explain why they are unsupported. Their parameters have the sizes of those that the header declares,
/// and the error comes last.
macro_rules! explained {
    ($reason:expr, $($name:ident($($type:ty),*))*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($(_: $type,)* error: *mut picollo_error) -> picollo_status {
                guard_explained(error, || Err(failure!(Unsupported, "{}", $reason)))
            }
        )*
    };
}

/// Any pointer.
type P = *const c_void;

const WITHOUT_STD: &str =
    "this build of the library has no heap, threads or clocks; build it with the feature std";

/// Collectors of exemplars, which need accounts of threads, and segments, which need locks that end with their holder:
/// only on Linux.
mod linux {
    use super::*;

    const ONLY_LINUX: &str = if cfg!(feature = "std") {
        "segments and collectors of exemplars exist only on Linux; registries and logs work here"
    } else {
        WITHOUT_STD
    };

    explained! { ONLY_LINUX,
        picollo_exemplars_create(P, P, P)
        picollo_exemplars_prepare_thread(P)
        picollo_exemplars_collect(P)
        picollo_exemplars_publish(P, P, u64)
        picollo_segment_create(P, P)
        picollo_segment_attach(P, P)
        picollo_segment_histogram(P, P, P, P)
        picollo_segment_counter(P, P, P)
        picollo_segment_retire(P, P)
    }

    without! {
        picollo_status = Failure::UNSUPPORTED.status(), [
            picollo_exemplars_annotate picollo_exemplars_interval picollo_exemplars_share picollo_exemplars_get
            picollo_exemplars_format picollo_segment_path picollo_segment_estimate
        ]
        () = (), [
            picollo_exemplars_begin picollo_exemplars_free picollo_segment_free
        ]
        u32 = 0, [
            picollo_exemplars_end picollo_exemplars_offer
        ]
    }
}

/// What needs the heap: histograms of doubles, registries with counters, gauges and servers, benchmarks, logs, decoded
/// and copied snapshots.
#[cfg(not(feature = "std"))]
mod memory {
    use super::*;

    explained! { WITHOUT_STD,
        picollo_benchmark_create(P, P, usize, P)
        picollo_benchmark_next(P, P, P)
        picollo_benchmark_done(P)
        picollo_benchmark_done_after(P, u64)
        picollo_figure_compute(P, P, P, usize, f64, P)
        picollo_registry_add(P, P, P, P, usize, P)
        picollo_registry_add_double(P, P, P, P, usize, P)
        picollo_registry_add_counter(P, P, P, P)
        picollo_registry_add_gauge(P, P, P, P)
        picollo_registry_set_exemplars(P, u64, P, usize)
        picollo_server_start(P, P, P, P)
        picollo_session_open(P, usize, P, P)
    }

    without! {
        picollo_status = Failure::UNSUPPORTED.status(), [
            picollo_double_histogram_create picollo_double_histogram_collect picollo_double_histogram_add
            picollo_double_histogram_footprint picollo_double_snapshot_create picollo_double_snapshot_update
            picollo_double_snapshot_statistics picollo_double_snapshot_quantiles
            picollo_double_snapshot_summary picollo_double_snapshot_buckets picollo_double_snapshot_merge
            picollo_double_summary_format picollo_registry_create picollo_registry_remove
            picollo_registry_update picollo_registry_encode picollo_registry_negotiate
            picollo_metric_counter_read picollo_metric_gauge_read picollo_server_address
            picollo_benchmark_result picollo_benchmark_counter picollo_benchmark_histogram_ref
            picollo_benchmark_format picollo_compare_blocks picollo_snapshot_create_from_layout
            picollo_snapshot_copy picollo_snapshot_corrected picollo_snapshot_encode_base64
            picollo_snapshot_decode picollo_snapshot_decode_first picollo_log_reader_create
            picollo_log_reader_next picollo_log_reader_decode picollo_log_format_header
            picollo_log_format_interval
        ]
        () = (), [
            picollo_double_histogram_free picollo_double_histogram_record picollo_double_histogram_record_n
            picollo_double_histogram_record_batch picollo_double_snapshot_free picollo_registry_free
            picollo_metric_counter_add picollo_metric_counter_free picollo_metric_gauge_set
            picollo_metric_gauge_add picollo_metric_gauge_free picollo_server_stop picollo_benchmark_free
            picollo_log_reader_free
        ]
    }
}
