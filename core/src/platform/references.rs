//! Counts the references to a value that the last one frees.

use crate::platform::atomics::{AtomicUsize, Ordering, const_unless_loom};

/// A reference count.
pub(crate) struct References(AtomicUsize);

impl References {
    const_unless_loom! {
        #[cfg(feature = "alloc")]
        pub(crate) const fn new(number: usize) -> References {
            References(AtomicUsize::new(number))
        }
    }

    /// Adds a reference. Relaxed, because whoever adds one already has one.
    ///
    /// A program that leaks references forever, by `forget` or in C, would bring the count back to zero; with 32 bits
    /// that takes a minute. So the program is ended before that: see [`is_too_many`].
    pub(crate) fn retain(&self) {
        if is_too_many(self.0.fetch_add(1, Ordering::Relaxed)) {
            abort();
        }
    }

    /// Returns the number of references.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn number(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Removes a reference. Returns whether it was the last; then everything that its holders did happened before.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        if self.0.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        // This is a load, which thread sanitizers understand, although a fence would be enough.
        self.0.load(Ordering::Acquire);
        true
    }
}

/// Returns whether there are too many references for another one: more than half of the range, as for `Arc`. Other
/// threads may add references before the first thread has ended the program, but they do not reach the other half.
const fn is_too_many(references: usize) -> bool {
    references > isize::MAX as usize
}

/// Ends the program. A panic could be caught, and would leave the count unchanged.
#[cold]
#[inline(never)]
fn abort() -> ! {
    #[cfg(feature = "std")]
    std::process::abort();
    #[cfg(not(feature = "std"))]
    {
        struct Again;
        impl Drop for Again {
            fn drop(&mut self) {
                panic!("too many references");
            }
        }
        // A panic during a panic cannot be caught.
        let _again = Again;
        panic!("too many references");
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn half_of_what_can_be_counted() {
        let limit = isize::MAX as usize;
        assert!([0, 1, 2, limit - 1, limit].into_iter().all(|references| !is_too_many(references)));
        assert!([limit + 1, usize::MAX].into_iter().all(is_too_many));
    }

    /// This runs in a separate process, because that process is ended.
    #[test]
    fn one_reference_too_many_ends_the_program() {
        const CHILD: &str = "PICOLLO_TEST_REFERENCES";
        if std::env::var_os(CHILD).is_some() {
            let references = References::new(isize::MAX as usize);
            references.retain();
            std::println!("the last that there may be");
            references.retain();
            std::println!("one too many");
            return;
        }
        let Ok(test) = std::env::current_exe() else {
            return std::eprintln!("SKIPPED: no process of its own");
        };
        let arguments = [
            "platform::references::tests::one_reference_too_many_ends_the_program",
            "--exact",
            "--nocapture",
        ];
        let Ok(ended) = Command::new(test).args(arguments).env(CHILD, "1").output() else {
            return std::eprintln!("SKIPPED: cannot start a process here");
        };
        let said = std::string::String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(!ended.status.success() && said.contains("the last that there may be"), "{said}");
        assert!(!said.contains("one too many"), "{said}");
    }
}
