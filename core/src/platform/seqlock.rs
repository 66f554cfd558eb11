//! The version under which a baseline changes: odd while a reset writes it.
//!
//! A sequence lock between resets and readers. Writers of the histogram never look at it.

use crate::error::{Error, Result};
use crate::platform::atomics::Ordering::*;
use crate::platform::atomics::{AtomicU32, const_unless_loom, fence, pause};
use crate::platform::banks::Banks;

/// How often readers and competing resets look again before they answer [`Error::Busy`].
pub(crate) const RETRIES: u32 = if cfg!(loom) { 3 } else { 1000 };

/// Even: the baseline stands. Odd: a reset is writing it.
pub(crate) struct Version(AtomicU32);

impl Version {
    const_unless_loom! {
        pub(crate) const fn new() -> Version {
            Version(AtomicU32::new(0))
        }
    }

    /// The word, for a baseline in two banks, which has another protocol.
    pub(crate) fn banks(&self) -> Banks<'_> {
        Banks(&self.0)
    }

    /// Runs `change` with the version odd, keeping other changes out.
    pub(crate) fn change(&self, change: impl FnOnce()) -> Result<()> {
        for attempt in 0..RETRIES {
            let version = self.0.load(Relaxed);
            if version & 1 == 0
                && self.0.compare_exchange(version, version.wrapping_add(1), Acquire, Relaxed).is_ok()
            {
                // Orders the odd version before what `change` writes.
                fence(Release);
                change();
                self.0.store(version.wrapping_add(2), Release);
                return Ok(());
            }
            pause(attempt);
        }
        Err(Error::Busy)
    }

    /// Runs `read` until no change overlapped it. Returns the version it belongs to.
    pub(crate) fn read(&self, mut read: impl FnMut()) -> Result<u32> {
        for attempt in 0..RETRIES {
            let version = self.0.load(Acquire);
            if version & 1 == 0 {
                read();
                // Orders what `read` read before the second look at the version.
                fence(Acquire);
                if self.0.load(Relaxed) == version {
                    return Ok(version);
                }
            }
            pause(attempt);
        }
        Err(Error::Busy)
    }

    /// Whether the baseline that was read at `version` still stands.
    pub(crate) fn is(&self, version: u32) -> bool {
        self.0.load(Acquire) == version
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_never_ends_is_reported() {
        let version = Version::new();
        assert_eq!(version.read(|| {}), Ok(0));
        assert_eq!(version.change(|| {}), Ok(()));
        assert!(version.is(2));
        version.0.store(3, Relaxed);
        assert_eq!(version.read(|| panic!("must not read under a change")), Err(Error::Busy));
        assert_eq!(version.change(|| panic!("must not change under a change")), Err(Error::Busy));
    }

    #[test]
    fn a_read_that_is_overtaken_reads_again() {
        let version = Version::new();
        let mut reads = 0;
        let seen = version.read(|| {
            if reads == 0 {
                version.change(|| {}).unwrap();
            }
            reads += 1;
        });
        assert_eq!((seen, reads), (Ok(2), 2));
    }
}
