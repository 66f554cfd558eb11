//! What the environment says about reading counters in user space, read once.

use core::sync::atomic::{AtomicU8, Ordering};
use std::ffi::OsStr;

/// What `PICOLLO_RDPMC` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Read in user space where the child survived it.
    Auto,
    /// Never.
    Off,
    /// Never: the value is none that there is. Whoever sets the variable most likely means to switch user reads off.
    Misspelt,
    /// Without asking a child: for simulators, which make the fault good.
    Force,
}

impl Policy {
    /// What `PICOLLO_RDPMC` said when this process first asked.
    ///
    /// Later changes have no effect: the environment may be read while another thread changes it only at the price of undefined
    /// behaviour, which opening a session is not to risk again and again.
    pub(crate) fn of_process() -> Policy {
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        const ALL: [Policy; 4] = [Policy::Auto, Policy::Off, Policy::Misspelt, Policy::Force];
        let known = usize::from(KNOWN.load(Ordering::Relaxed));
        if let Some(&policy) = known.checked_sub(1).and_then(|index| ALL.get(index)) {
            return policy;
        }
        let policy = Policy::named(std::env::var_os("PICOLLO_RDPMC").as_deref());
        // No lock: a child forked meanwhile would find it held for ever. Threads that come here together all store the same.
        let number = ALL.iter().position(|&one| one == policy).map_or(0, |index| index + 1);
        KNOWN.store(number as u8, Ordering::Relaxed);
        policy
    }

    /// Whether no counter is read in user space, whatever can be.
    pub(crate) fn is_off(self) -> bool {
        matches!(self, Policy::Off | Policy::Misspelt)
    }

    fn named(value: Option<&OsStr>) -> Policy {
        let Some(value) = value else { return Policy::Auto };
        let is_one_of = |names: &[&str]| names.iter().any(|name| value.eq_ignore_ascii_case(name));
        match () {
            () if is_one_of(&["auto", "on", "1"]) => Policy::Auto,
            () if is_one_of(&["force"]) => Policy::Force,
            () if is_one_of(&["off", "0"]) => Policy::Off,
            () => Policy::Misspelt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_says() {
        let named = |value: &str| Policy::named(Some(OsStr::new(value)));
        assert_eq!(Policy::named(None), Policy::Auto);
        for on in ["auto", "AUTO", "on", "On", "1"] {
            assert_eq!(named(on), Policy::Auto, "{on}");
        }
        assert_eq!((named("force"), named("Force")), (Policy::Force, Policy::Force));
        for off in ["off", "OFF", "Off", "0"] {
            assert_eq!(named(off), Policy::Off, "{off}");
        }
        // A switch that fails, fails on the safe side; and it says so.
        for misspelt in ["", " ", "no", "none", "false", "disable", "offf", "auto ", "2", "forced", "ähm"] {
            assert_eq!(named(misspelt), Policy::Misspelt, "{misspelt}");
            assert!(named(misspelt).is_off());
        }
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(Policy::named(Some(OsStr::from_bytes(b"\xff"))), Policy::Misspelt);
    }
}
