//! The kernel's side: its structures and numbers, system calls, threads and time.

pub(crate) mod cancel;
#[cfg(picollo_linux)]
pub(crate) mod groups;
#[cfg(picollo_linux)]
pub(crate) mod kernel;
#[cfg(feature = "std")]
pub(crate) mod pressure;
#[cfg(picollo_linux)]
pub(crate) mod sys;
/// For tests: each part is used somewhere.
#[cfg(all(test, picollo_linux))]
#[path = "../../tests/common/system.rs"]
pub(crate) mod testing;
#[cfg(picollo_linux)]
pub(crate) mod thread;
#[cfg(feature = "std")]
pub(crate) mod valgrind;
#[cfg_attr(not(picollo_linux), path = "../elsewhere/wall.rs")]
pub(crate) mod wall;
