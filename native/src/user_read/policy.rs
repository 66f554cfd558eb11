//! What the environment says about reading counters in user space, read once.

use core::sync::atomic::{AtomicU8, Ordering};
use std::ffi::OsStr;

/// What `PICOLLO_RDPMC` says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// Read in user space where the child survived it.
    Auto,
    /// Never.
    Off,
    /// Without asking a child: for simulators, which make the fault good.
    Force,
}

impl Policy {
    /// What `PICOLLO_RDPMC` said when this process first asked.
    pub(crate) fn of_process() -> Policy {
        Policy::setting().0
    }

    /// The policy, and whether the environment has a value that is none.
    ///
    /// Later changes have no effect: the environment may be read while another thread changes it only at the price of undefined
    /// behaviour, which opening a session is not to risk again and again.
    pub(crate) fn setting() -> (Policy, bool) {
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        const SETTINGS: [(Policy, bool); 4] =
            [(Policy::Auto, false), (Policy::Off, false), (Policy::Off, true), (Policy::Force, false)];
        let known = usize::from(KNOWN.load(Ordering::Relaxed));
        if let Some(&setting) = known.checked_sub(1).and_then(|index| SETTINGS.get(index)) {
            return setting;
        }
        let setting = Policy::named(std::env::var_os("PICOLLO_RDPMC").as_deref());
        // No lock: a child forked meanwhile would find it held for ever. Threads that come here together all store the same.
        let number = SETTINGS.iter().position(|&one| one == setting).map_or(0, |index| index + 1);
        KNOWN.store(number as u8, Ordering::Relaxed);
        setting
    }

    /// Whoever sets the variable most likely means to switch user reads off: what is not understood does that.
    fn named(value: Option<&OsStr>) -> (Policy, bool) {
        let Some(value) = value else { return (Policy::Auto, false) };
        let is_one_of = |names: &[&str]| names.iter().any(|name| value.eq_ignore_ascii_case(name));
        match () {
            () if is_one_of(&["auto", "on", "1"]) => (Policy::Auto, false),
            () if is_one_of(&["force"]) => (Policy::Force, false),
            () if is_one_of(&["off", "0"]) => (Policy::Off, false),
            () => (Policy::Off, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_says() {
        let named = |value: &str| Policy::named(Some(OsStr::new(value)));
        assert_eq!(Policy::named(None), (Policy::Auto, false));
        for on in ["auto", "AUTO", "on", "On", "1"] {
            assert_eq!(named(on), (Policy::Auto, false), "{on}");
        }
        assert_eq!((named("force"), named("Force")), ((Policy::Force, false), (Policy::Force, false)));
        for off in ["off", "OFF", "Off", "0"] {
            assert_eq!(named(off), (Policy::Off, false), "{off}");
        }
        // A switch that fails, fails on the safe side; and it says so.
        for misspelt in ["", " ", "no", "none", "false", "disable", "offf", "auto ", "2", "forced", "ähm"] {
            assert_eq!(named(misspelt), (Policy::Off, true), "{misspelt}");
        }
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(Policy::named(Some(OsStr::from_bytes(b"\xff"))), (Policy::Off, true));
    }
}
