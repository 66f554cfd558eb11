//! The calls on collectors of exemplars where there are no accounts of threads: elsewhere than on Linux.
//!
//! None can be made, so that nothing can be done with one: as in the calls on things that live on the heap, where there is none.

use core::ptr;

use crate::handles::picollo_exemplars;
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

unsupported! {
    picollo_exemplars_create
    picollo_exemplars_annotate
    picollo_exemplars_prepare_thread
    picollo_exemplars_collect
    picollo_exemplars_interval
    picollo_exemplars_share
    picollo_exemplars_get
    picollo_exemplars_format
    picollo_exemplars_publish
}

/// Nothing is measured.
#[unsafe(no_mangle)]
extern "C" fn picollo_exemplars_begin() {}

/// Nor kept.
#[unsafe(no_mangle)]
extern "C" fn picollo_exemplars_end() -> u32 {
    0
}

/// Nor offered.
#[unsafe(no_mangle)]
extern "C" fn picollo_exemplars_offer() -> u32 {
    0
}

/// There is nothing to count references to.
#[unsafe(no_mangle)]
extern "C" fn picollo_exemplars_retain() -> *mut picollo_exemplars {
    ptr::null_mut()
}

/// Nor to free.
#[unsafe(no_mangle)]
extern "C" fn picollo_exemplars_free() {}
