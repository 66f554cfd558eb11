//! The boundary that no panic crosses.
//!
//! Every exported function goes through here, except those documented as hot. These call nothing that can panic, and
//! a landing pad would cost them registers.
//!
//! A build without `std` cannot stop a panic: the program ends there (`without_std.rs`).

#[cfg(feature = "std")]
use std::panic::{AssertUnwindSafe, catch_unwind};

use picollo_native::{ExplainedError, Status, Uncancelled};

use crate::failure::Outcome;
use crate::status::{PICOLLO_OK, picollo_status};

/// In a build that is made to test the boundary, every call panics while the variable is set.
#[cfg(picollo_plant_panic)]
fn plant() {
    unsafe extern "C" {
        fn getenv(name: *const core::ffi::c_char) -> *const core::ffi::c_char;
    }
    // SAFETY: a name that ends in NUL; the tests do not change the environment meanwhile.
    if !unsafe { getenv(c"PICOLLO_PLANT_PANIC".as_ptr()) }.is_null() {
        panic!("this panic is part of a test");
    }
}

/// Runs a body and catches its panic.
#[cfg(feature = "std")]
fn caught<T>(body: impl FnOnce() -> T) -> Result<T, ()> {
    let body = || {
        #[cfg(picollo_plant_panic)]
        plant();
        body()
    };
    catch_unwind(AssertUnwindSafe(body)).map_err(|_| ())
}

#[cfg(not(feature = "std"))]
fn caught<T>(body: impl FnOnce() -> T) -> Result<T, ()> {
    Ok(body())
}

/// Runs the body of a call that returns a status.
///
/// After a panic the objects involved may hold incomplete work. They are plain numbers, so they stay safe to use and
/// to free.
pub fn guard(body: impl FnOnce() -> Outcome) -> picollo_status {
    match caught(body) {
        Ok(Ok(())) => PICOLLO_OK,
        Ok(Err(failure)) => failure.status(),
        Err(_) => Status::Panic.code(),
    }
}

/// Functions that C calls, each with its documentation. rustfmt leaves them alone; keep its style by hand. They are unsafe,
/// because of what "Requires" asks of the caller. No panic leaves them: [`guard`] runs the body, or [`guard_uncancelled`] after
/// `explained(error)`, which names the parameter that receives explanations.
macro_rules! exported {
    (explained($error:ident) $($(#[$page:meta])*
     fn $name:ident($($parameter:ident: $type:ty),* $(,)?) -> picollo_status $body:block)*) => {
        $(
            $(#[$page])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($parameter: $type),*) -> picollo_status {
                $crate::guard::guard_uncancelled($error, || $body)
            }
        )*
    };
    ($($(#[$page:meta])* fn $name:ident($($parameter:ident: $type:ty),* $(,)?) -> picollo_status $body:block)*) => {
        $(
            $(#[$page])*
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($parameter: $type),*) -> picollo_status {
                $crate::guard::guard(|| $body)
            }
        )*
    };
}
pub(crate) use exported;

/// Runs the body of a call that returns a status, and explains a failure in `error`. This is NULL or valid for a
/// write.
pub fn guard_explained(
    error: *mut ExplainedError,
    body: impl FnOnce() -> Result<(), ExplainedError>,
) -> picollo_status {
    let explanation = match caught(body) {
        Ok(Ok(())) => return PICOLLO_OK,
        Ok(Err(explanation)) => explanation,
        Err(_) => Status::Panic.into(),
    };
    if !error.is_null() && error.is_aligned() {
        // SAFETY: not NULL, aligned, and valid for a write, as the caller of the exported function promises.
        unsafe { error.write(explanation) };
    }
    explanation.status().code()
}

/// As [`guard_explained`], for calls that reach cancellation points. It defers `pthread_cancel`, which would unwind
/// Rust's frames. This takes 25 ns; calls for which that is too much must not reach a cancellation point.
pub fn guard_uncancelled(
    error: *mut ExplainedError,
    body: impl FnOnce() -> Result<(), ExplainedError>,
) -> picollo_status {
    let _uncancelled = Uncancelled::new();
    guard_explained(error, body)
}

/// Runs the body of a call that returns a number, and returns `otherwise` after a panic.
pub fn guard_value<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    caught(body).unwrap_or(otherwise)
}

/// [`guard_void`] with cancellation deferred: see [`guard_uncancelled`].
pub fn guard_void_uncancelled(body: impl FnOnce()) {
    let _uncancelled = Uncancelled::new();
    guard_void(body);
}

/// Runs the body of a call that returns nothing.
pub fn guard_void(body: impl FnOnce()) {
    // Nobody can be informed: the panic hook has written its message.
    let _ = caught(body);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guard(|| Ok(())), PICOLLO_OK);
        assert_eq!(guard(|| Err(Failure::INVALID_ARGUMENT)), -2);
        assert_eq!(guard(|| panic!("this panic is part of a test")), -127);
        guard_void(|| panic!("this panic is part of a test"));
        assert_eq!(guard_value(7, || panic!("this panic is part of a test")), 7);
    }

    #[test]
    fn failures_are_explained() {
        let mut error = ExplainedError::from(Status::Os);
        assert_eq!(guard_explained(&mut error, || Ok(())), PICOLLO_OK);
        assert_eq!(error.status(), Status::Os, "written only on failure");
        assert_eq!(guard_explained(&mut error, || Err(Failure::NULL_POINTER.into())), -1);
        assert_eq!((error.status(), error.event_index()), (Status::NullPointer, -1));
        assert_eq!(guard_explained(&mut error, || panic!("this panic is part of a test")), -127);
        assert_eq!(error.status(), Status::Panic);
        assert_eq!(guard_explained(std::ptr::null_mut(), || Err(Status::Busy.into())), -14);
    }
}
