//! The calls on things that live on the heap alone, where there is none: arrays of histograms, histograms of doubles,
//! striped counters, registries with their counters and gauges, segments and their viewers.
//!
//! None of these things can be made, so that nothing can be done with one, whatever is passed: the calls answer
//! PICOLLO_ERR_UNSUPPORTED, or do nothing. They do not look at their parameters and declare none, which in the calling
//! conventions of C on all targets here (the caller gives and takes away) is the same to the caller.

use core::ptr;

use crate::handles::{
    picollo_double_histogram, picollo_histogram, picollo_histogram_array, picollo_metric_counter,
    picollo_metric_gauge,
};
use crate::status::{PICOLLO_ERR_UNSUPPORTED, picollo_status};

macro_rules! unsupported {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> picollo_status {
                PICOLLO_ERR_UNSUPPORTED
            }
        )*
    };
}

macro_rules! nothing {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() {}
        )*
    };
}

unsupported! {
    picollo_histogram_array_create
    picollo_histogram_array_ref
    picollo_histogram_array_footprint
    picollo_double_histogram_create
    picollo_double_histogram_collect
    picollo_double_histogram_add
    picollo_double_histogram_footprint
    picollo_double_snapshot_create
    picollo_double_snapshot_update
    picollo_double_snapshot_statistics
    picollo_double_snapshot_quantiles
    picollo_double_snapshot_summary
    picollo_double_snapshot_buckets
    picollo_double_snapshot_merge
    picollo_double_summary_format
    picollo_registry_create
    picollo_registry_add
    picollo_registry_add_double
    picollo_registry_remove
    picollo_registry_update
    picollo_registry_encode
    picollo_registry_negotiate
    picollo_registry_add_counter
    picollo_registry_add_gauge
    picollo_registry_set_exemplars
    picollo_otlp_export_create
    picollo_otlp_export_update
    picollo_otlp_export_request
    picollo_otlp_export_accept
    picollo_metric_counter_read
    picollo_metric_gauge_read
    picollo_striped_counter_create
    picollo_striped_counter_read
    picollo_segment_create
    picollo_segment_attach
    picollo_segment_path
    picollo_segment_histogram
    picollo_segment_counter
    picollo_segment_striped_counter
    picollo_segment_retire
    picollo_segment_estimate
    picollo_viewer_open
    picollo_viewer_list
    picollo_viewer_find
    picollo_viewer_refresh
    picollo_viewer_path
    picollo_viewer_length
    picollo_viewer_entry
    picollo_viewer_info
    picollo_viewer_faults
    picollo_viewer_snapshot
    picollo_viewer_counter
    picollo_figure_compute
    picollo_figure_compute_tail
    picollo_figures_format
}

nothing! {
    picollo_histogram_array_free
    picollo_histogram_array_record
    picollo_double_histogram_free
    picollo_double_histogram_record
    picollo_double_histogram_record_n
    picollo_double_histogram_record_batch
    picollo_double_snapshot_free
    picollo_registry_free
    picollo_otlp_export_free
    picollo_metric_counter_add
    picollo_metric_counter_free
    picollo_metric_gauge_set
    picollo_metric_gauge_add
    picollo_metric_gauge_free
    picollo_striped_counter_add
    picollo_striped_counter_free
    picollo_segment_free
    picollo_viewer_free
}

/// There are no arrays.
#[unsafe(no_mangle)]
extern "C" fn picollo_histogram_array_length() -> usize {
    0
}

/// Nor anything to count references to.
#[unsafe(no_mangle)]
extern "C" fn picollo_histogram_array_retain() -> *mut picollo_histogram_array {
    ptr::null_mut()
}

/// As for arrays.
#[unsafe(no_mangle)]
extern "C" fn picollo_double_histogram_retain() -> *mut picollo_double_histogram {
    ptr::null_mut()
}

/// As for arrays.
#[unsafe(no_mangle)]
extern "C" fn picollo_metric_counter_retain() -> *mut picollo_metric_counter {
    ptr::null_mut()
}

/// As for arrays.
#[unsafe(no_mangle)]
extern "C" fn picollo_metric_gauge_retain() -> *mut picollo_metric_gauge {
    ptr::null_mut()
}

/// Nor histograms in them.
#[unsafe(no_mangle)]
extern "C" fn picollo_histogram_array_borrow() -> *mut picollo_histogram {
    ptr::null_mut()
}
