//! What the environment says about reading counters in user space, read once.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::fault::Policy;

/// What `PICOLLO_RDPMC` said when this process first asked. Later changes have no effect: the environment may be read while
/// another thread changes it only at the price of undefined behaviour, which opening a session is not to risk again and again.
pub(crate) fn policy() -> Policy {
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    const KINDS: [Policy; 3] = [Policy::Auto, Policy::Off, Policy::Force];
    let known = usize::from(KNOWN.load(Ordering::Relaxed));
    if let Some(&policy) = known.checked_sub(1).and_then(|index| KINDS.get(index)) {
        return policy;
    }
    let policy = Policy::of_environment();
    // No lock: a child forked meanwhile would find it held for ever. Threads that come here together all store the same.
    let number = KINDS.iter().position(|&kind| kind == policy).map_or(0, |index| index + 1);
    KNOWN.store(number as u8, Ordering::Relaxed);
    policy
}
