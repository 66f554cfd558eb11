//! The kernel's account of how long a thread was ready and did not run: a descriptor of its own file.

use super::count::{Count, Counted};

/// Those of this process.
static OPEN: Count = Count::new();

/// The calling thread's `/proc/thread-self/schedstat`. Closed by dropping it, which only the thread may do.
#[derive(Debug)]
pub(super) struct Schedstat {
    descriptor: i32,
    counted: Counted,
}

/// Why there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NotOpened {
    /// Others may be closed.
    Cap,
    /// The system has none, or no descriptors.
    Refused,
}

// System calls by number, as the C library's are cancellation points.
impl Schedstat {
    /// Opens it, if fewer than `most` are open.
    pub(super) fn open(most: u32) -> Result<Schedstat, NotOpened> {
        let counted = OPEN.add(most as usize).ok_or(NotOpened::Cap)?;
        let name = c"/proc/thread-self/schedstat".as_ptr();
        // SAFETY: the name ends in NUL.
        let opened = unsafe {
            libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name, libc::O_RDONLY | libc::O_CLOEXEC)
        };
        match i32::try_from(opened) {
            Ok(descriptor) if descriptor >= 0 => Ok(Schedstat { descriptor, counted }),
            _ => Err(NotOpened::Refused),
        }
    }

    /// Nanoseconds that the thread was ready and did not run, since it began.
    pub(super) fn run_delay(&self) -> Option<u64> {
        let mut text = [0u8; 96];
        // SAFETY: the buffer is live and as long as said.
        let length = unsafe {
            libc::syscall(libc::SYS_pread64, self.descriptor, text.as_mut_ptr(), text.len(), 0 as libc::off_t)
        };
        parse(text.get(..usize::try_from(length).ok()?)?)
    }
}

impl Drop for Schedstat {
    fn drop(&mut self) {
        // A child of a fork that has closed what it inherited may have a file of its own under that number.
        if self.counted.is_of_this_process() {
            // SAFETY: opened by this thread, which gives it up.
            unsafe { libc::syscall(libc::SYS_close, self.descriptor) };
        }
    }
}

/// The second number.
fn parse(text: &[u8]) -> Option<u64> {
    let mut numbers = text.split(|byte| byte.is_ascii_whitespace()).filter(|number| !number.is_empty());
    let mut number = || core::str::from_utf8(numbers.next()?).ok()?.parse().ok();
    let (ran, delay): (u64, u64) = (number()?, number()?);
    // A kernel without these accounts has zeroes for a thread that runs.
    (ran > 0).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_is_written() {
        assert_eq!(parse(b"12 34 5\n"), Some(34));
        for none in [&b""[..], b"12", b"0 0 0\n", b"12 x 5", b"\xff 3 4", b"99999999999999999999 1 2"] {
            assert_eq!(parse(none), None);
        }
    }

    #[test]
    fn no_more_are_opened_than_may_be() {
        assert_eq!(Schedstat::open(0).unwrap_err(), NotOpened::Cap);
    }
}
