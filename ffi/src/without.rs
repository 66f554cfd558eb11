//! The calls on what a target does not have. They are exported all the same, so that programs link and load everywhere.
//!
//! None of these things can be made, so that nothing can be done with one, whatever is passed: the calls answer
//! PICOLLO_ERR_UNSUPPORTED, or do nothing. They do not look at their parameters and declare none, which in the calling
//! conventions of C on all targets here (the caller gives and takes away) is the same to the caller.

use crate::failure::Failure;
use crate::status::picollo_status;

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

/// Collectors of exemplars, where there are no accounts of threads: elsewhere than on Linux.
mod accounts {
    use super::*;

    without! {
        picollo_status = Failure::UNSUPPORTED.status(), [
            picollo_exemplars_create picollo_exemplars_annotate picollo_exemplars_prepare_thread
            picollo_exemplars_collect picollo_exemplars_interval picollo_exemplars_share
            picollo_exemplars_get picollo_exemplars_format picollo_exemplars_publish
        ]
        () = (), [
            picollo_exemplars_begin picollo_exemplars_free
        ]
        u32 = 0, [
            picollo_exemplars_end picollo_exemplars_offer
        ]
    }
}

/// What lives on the heap alone: histograms of doubles, registries with their counters and gauges, segments.
#[cfg(not(feature = "std"))]
mod memory {
    use super::*;

    without! {
        picollo_status = Failure::UNSUPPORTED.status(), [
            picollo_double_histogram_create picollo_double_histogram_collect picollo_double_histogram_add
            picollo_double_histogram_footprint picollo_double_snapshot_create picollo_double_snapshot_update
            picollo_double_snapshot_statistics picollo_double_snapshot_quantiles
            picollo_double_snapshot_summary picollo_double_snapshot_buckets picollo_double_snapshot_merge
            picollo_double_summary_format picollo_registry_create picollo_registry_add
            picollo_registry_add_double picollo_registry_remove picollo_registry_update
            picollo_registry_encode picollo_registry_negotiate picollo_registry_add_counter
            picollo_registry_add_gauge picollo_registry_set_exemplars picollo_metric_counter_read
            picollo_metric_gauge_read picollo_segment_create picollo_segment_attach picollo_segment_path
            picollo_segment_histogram picollo_segment_counter picollo_segment_retire
            picollo_segment_estimate picollo_figure_compute
        ]
        () = (), [
            picollo_double_histogram_free picollo_double_histogram_record picollo_double_histogram_record_n
            picollo_double_histogram_record_batch picollo_double_snapshot_free picollo_registry_free
            picollo_metric_counter_add picollo_metric_counter_free picollo_metric_gauge_set
            picollo_metric_gauge_add picollo_metric_gauge_free picollo_segment_free
        ]
    }
}
