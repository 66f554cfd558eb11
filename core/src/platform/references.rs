//! How many references there are to something that the last one frees.

use crate::platform::atomics::{AtomicUsize, Ordering, const_unless_loom};

/// A count of references.
pub(crate) struct References(AtomicUsize);

impl References {
    const_unless_loom! {
        #[cfg(feature = "alloc")]
        pub(crate) const fn new(number: usize) -> References {
            References(AtomicUsize::new(number))
        }
    }

    /// One reference more. Relaxed, since whoever adds one has one.
    ///
    /// A program that gives up references without end, by `forget` or in C, would bring the count back to zero; where it has 32
    /// bits that takes a minute. So such a program is ended before: see [`is_too_many`].
    pub(crate) fn retain(&self) {
        if is_too_many(self.0.fetch_add(1, Ordering::Relaxed)) {
            abort();
        }
    }

    /// How many there are.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn number(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// One reference less. Returns whether it was the last: then what all its holders did happened before.
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        if self.0.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        // A load, which thread sanitizers understand, where a fence would do.
        self.0.load(Ordering::Acquire);
        true
    }
}

/// Whether there were so many references that another one is not to be had: more than half of what can be counted, as for
/// `Arc`. Threads that add one at the same time, before the first of them has ended the program, do not get to the other half.
const fn is_too_many(references: usize) -> bool {
    references > isize::MAX as usize
}

/// Ends the program: a panic could be caught, and would leave the count where it is.
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
        // A panic during a panic is not caught.
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

    /// In a process of its own, since it is ended.
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
