//! Why a thread has no ring, in words. Nothing but precision is lost.

use crate::base::error::{Error, Status};
use crate::machine::diagnose::Refusal;
use crate::machine::target::Target;
use crate::os::kernel::Attr;
use crate::os::sys::{Errno, Files, Perf};

/// Why there is no ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// There are as many in this process as there may be.
    Cap,
    /// The kernel opens no such event.
    Open {
        /// What was asked for.
        attr: Attr,
        errno: Errno,
    },
    /// It does not map the ring: `EPERM` where the user may lock no more memory.
    Memory(Errno),
    /// The clock that the program reads is not the one that records are dated by: a time namespace lies in between.
    Clock,
}

impl Refused {
    /// In words, with what to do about it. Reads files of the system; meant for the first refusal of its kind.
    pub(crate) fn explain<S: Files + Perf>(&self, sys: &S) -> Error {
        match *self {
            Refused::Cap => Error::new(
                Status::Os,
                format_args!(
                    "context switches: as many threads are watched as there may be; of the others, the time off CPU is split by accounts \
                     alone. Ask for more rings"
                ),
            ),
            Refused::Open { attr, errno } => {
                let target = Target { pid: 0, cpu: -1 };
                Refusal { name: "context switches", attr: &attr, target, errno }.explain(sys)
            }
            Refused::Memory(Errno(libc::EPERM)) => Error::new(
                Status::Permission,
                format_args!(
                    "context switches: no more memory may be locked (EPERM): events of this user have taken what \
                     kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK allow. Raise one of them (ulimit -l, LimitMEMLOCK= of a service), \
                     or ask for fewer rings"
                ),
            )
            .with_errno(libc::EPERM),
            Refused::Memory(Errno(errno)) => Error::new(
                if errno == libc::ENOMEM { Status::OutOfMemory } else { Status::Os },
                format_args!(
                    "context switches: their ring cannot be mapped: {}",
                    std::io::Error::from_raw_os_error(errno)
                ),
            )
            .with_errno(errno),
            Refused::Clock => Error::new(
                Status::Unsupported,
                format_args!(
                    "context switches: this process is in a time namespace with a clock of its own, and the kernel dates them by the \
                     machine's. Run it without one (unshare --time, or timeOffsets of the container)"
                ),
            ),
        }
    }
}
