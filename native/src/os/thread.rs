//! Who is calling: the same thread, and the same process, as before?

use core::sync::atomic::{AtomicU64, Ordering};

pub use picollo_core::seam::process;

unsafe extern "C" {
    fn picollo_asm_thread_token() -> u64;
    fn picollo_asm_set_thread_token(token: u64);
}

/// A number of the calling thread that is never reused, unlike thread ids and addresses. A forked child's first thread
/// inherits its parent's number; [`process`] distinguishes the two.
#[inline]
pub fn token() -> u64 {
    // SAFETY: reads a thread-local variable that C owns. It is a plain number without a destructor, so it can be read
    // even while the thread's other locals are being destroyed.
    let token = unsafe { picollo_asm_thread_token() };
    if token == 0 { new_token() } else { token }
}

#[cold]
fn new_token() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // At a billion threads per second it lasts for five centuries.
    let token = NEXT.fetch_add(1, Ordering::Relaxed);
    // SAFETY: writes the same variable.
    unsafe { picollo_asm_set_thread_token(token) };
    token
}

/// The kernel's id of the calling thread.
pub fn kernel_id() -> i32 {
    // SAFETY: a query without arguments. (The raw number: older C libraries have no wrapper.)
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    i32::try_from(id).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn tokens_are_never_reused() {
        let here = token();
        assert_eq!(token(), here);
        let tokens: BTreeSet<u64> = (0..50).map(|_| std::thread::spawn(token).join().unwrap()).collect();
        assert_eq!(tokens.len(), 50);
        assert!(!tokens.contains(&here));
    }
}
