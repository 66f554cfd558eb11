//! The kernel's side: its structures and numbers, system calls, threads and time.

pub mod cancel;
#[cfg(picollo_linux)]
pub mod groups;
#[cfg(picollo_linux)]
pub mod kernel;
#[cfg(feature = "std")]
pub mod pressure;
#[cfg(picollo_linux)]
pub mod sys;
/// For tests: each part is used somewhere.
#[cfg(all(test, picollo_linux))]
#[path = "../../tests/common/system.rs"]
pub mod testing;
#[cfg(picollo_linux)]
pub mod thread;
#[cfg(feature = "std")]
pub mod valgrind;
#[cfg_attr(not(picollo_linux), path = "../elsewhere/wall.rs")]
pub mod wall;
