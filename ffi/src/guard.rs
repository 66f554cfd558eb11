//! The boundary that no panic crosses.
//!
//! Every exported function goes through here, but for those that are documented as hot: they call nothing that can
//! panic, and a landing pad would cost them registers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::Outcome;
use crate::status::{PICOLLO_ERR_PANIC, PICOLLO_OK, picollo_status};

/// Runs the body of a call that returns a status.
///
/// After a panic the objects that took part may hold half-done work; they are plain numbers, so that they stay safe to
/// use and to free.
pub fn guard(body: impl FnOnce() -> Outcome) -> picollo_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => PICOLLO_OK,
        Ok(Err(failure)) => failure.status(),
        Err(_) => PICOLLO_ERR_PANIC,
    }
}

/// Runs the body of a call that returns nothing.
pub fn guard_void(body: impl FnOnce()) {
    // There is nobody to tell: the panic hook has written its message.
    let _ = catch_unwind(AssertUnwindSafe(body));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guard(|| Ok(())), PICOLLO_OK);
        assert_eq!(guard(|| Err(Failure::INVALID_ARGUMENT)), -2);
        assert_eq!(guard(|| panic!("this panic is part of a test")), PICOLLO_ERR_PANIC);
        guard_void(|| panic!("this panic is part of a test"));
    }
}
