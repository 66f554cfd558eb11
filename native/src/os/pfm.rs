//! libpfm4, the library that knows the events of processors by their makers' names: its structures and functions, as its header has them.
//! It is loaded when it is first needed, and one thread at a time is in it.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{MaybeUninit, offset_of, transmute};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::base::text;
use crate::os::kernel::Attr;
use crate::os::sys::Errno;
use crate::os::thread;

/// `PFM_OS_PERF_EVENT_EXT`: the kernel's attributes too, as precision.
pub(crate) const FOR_PERF: c_int = 2;
/// `PFM_PMU_TYPE_CORE`.
pub(crate) const CORE: c_int = 1;
/// `PFM_ATTR_UMASK`.
pub(crate) const UMASK: c_int = 1;
/// `PFM_ERR_*`.
pub(crate) const INVALID: c_int = -2;
pub(crate) const NOT_FOUND: c_int = -4;
pub(crate) const NO_MEMORY: c_int = -7;

/// `pfm_perf_encode_arg_t`.
#[repr(C)]
pub(crate) struct EncodeArguments {
    pub attr: *mut Attr,
    pub full: *mut *mut c_char,
    pub size: usize,
    pub index: c_int,
    pub cpu: c_int,
    pub flags: c_int,
    pub padding: c_int,
}

/// `pfm_event_info_t`.
#[repr(C)]
pub(crate) struct EventInfo {
    pub name: *const c_char,
    pub about: *const c_char,
    pub equivalent: *const c_char,
    pub size: usize,
    pub code: u64,
    pub pmu: c_int,
    pub data_type: c_int,
    pub index: c_int,
    pub attributes: c_int,
    pub reserved: c_int,
    pub flags: u32,
}

/// `pfm_event_attr_info_t`.
#[repr(C)]
pub(crate) struct AttributeInfo {
    pub name: *const c_char,
    pub about: *const c_char,
    pub equivalent: *const c_char,
    pub size: usize,
    pub code: u64,
    pub kind: c_int,
    pub index: c_int,
    pub control: c_int,
    pub flags: u32,
    pub default: u64,
}

/// `pfm_pmu_info_t`.
#[repr(C)]
pub(crate) struct PmuInfo {
    pub name: *const c_char,
    pub about: *const c_char,
    pub size: usize,
    pub pmu: c_int,
    pub kind: c_int,
    pub events: c_int,
    pub first_event: c_int,
    pub max_encoding: c_int,
    pub counters: c_int,
    pub fixed_counters: c_int,
    pub flags: u32,
}

// What its header says of 64-bit machines (PFM_PERF_ENCODE_ABI0 and the like), and of 32-bit ones.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<EncodeArguments>() == 40 && offset_of!(EncodeArguments, index) == 24);
    assert!(size_of::<EventInfo>() == 64 && offset_of!(EventInfo, pmu) == 40);
    assert!(size_of::<AttributeInfo>() == 64 && offset_of!(AttributeInfo, kind) == 40);
    assert!(size_of::<PmuInfo>() == 56 && offset_of!(PmuInfo, flags) == 52);
};
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<EncodeArguments>() == 28);

pub(crate) type Initialize = unsafe extern "C" fn() -> c_int;
pub(crate) type Encode = unsafe extern "C" fn(*const c_char, c_int, c_int, *mut c_void) -> c_int;
pub(crate) type Next = unsafe extern "C" fn(c_int) -> c_int;
pub(crate) type OfEvent = unsafe extern "C" fn(c_int, c_int, *mut EventInfo) -> c_int;
pub(crate) type OfAttribute = unsafe extern "C" fn(c_int, c_int, c_int, *mut AttributeInfo) -> c_int;
pub(crate) type OfPmu = unsafe extern "C" fn(c_int, *mut PmuInfo) -> c_int;
pub(crate) type Explain = unsafe extern "C" fn(c_int) -> *const c_char;

/// Its functions.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    pub encode: Encode,
    pub next: Next,
    pub event: OfEvent,
    pub attribute: OfAttribute,
    pub pmu: OfPmu,
    pub explain: Explain,
}

/// How far loading has come: in `STATE`, which whoever holds the lock changes.
const NOT_LOADED: u32 = 0;
const STARTING: u32 = 1;
const READY: u32 = 2;
static STATE: AtomicU32 = AtomicU32::new(NOT_LOADED);
/// The functions, from `READY` on: the loader, which has a state of its own that a fork may cut in two, is not asked again.
static LOADED: Loaded = Loaded(UnsafeCell::new(MaybeUninit::uninit()));

struct Loaded(UnsafeCell<MaybeUninit<Functions>>);

// SAFETY: whoever holds the lock writes it, before `READY` is stored and never again.
unsafe impl Sync for Loaded {}
/// The process whose thread is in the library, which keeps no order among threads; 0: none.
static HOLDER: AtomicU64 = AtomicU64::new(0);

/// The right to call the library.
pub(crate) struct Held;

impl Held {
    pub(crate) fn take() -> Held {
        let mine = thread::process();
        loop {
            match HOLDER.compare_exchange(0, mine, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Held,
                // The thread that had it is in the process that forked this one, and will not come back here.
                Err(other) if other != mine => {
                    if HOLDER.compare_exchange(other, mine, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                        return Held;
                    }
                }
                // Sleeping lets threads of lower priority finish, too.
                Err(_) => {
                    // SAFETY: a call without pointers.
                    let _ = unsafe { libc::usleep(50) };
                }
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Release);
    }
}

/// Why the library cannot be used.
pub(crate) enum Unloaded {
    /// It is not installed.
    Absent,
    /// There is no memory for it.
    NoMemory,
    /// It is, and something is wrong with it.
    Broken([c_char; 160]),
}

pub(crate) fn broken(why: core::fmt::Arguments<'_>) -> Unloaded {
    let mut text = [0; 160];
    text::set(&mut text, why);
    Unloaded::Broken(text)
}

/// A C string, cut to the buffer, without what could do something to a terminal.
pub(crate) fn copy(from: *const c_char, to: &mut [c_char]) {
    to.fill(0);
    if from.is_null() {
        return;
    }
    let room = to.len() - 1;
    for (place, at) in to[..room].iter_mut().zip(0..) {
        // SAFETY: the caller has a NUL-terminated string, whose end was not seen yet.
        let byte = unsafe { *from.add(at) };
        match byte as u8 {
            0 => return,
            control if control.is_ascii_control() => *place = b' ' as c_char,
            _ => *place = byte,
        }
    }
}

/// Loads the library and finds its functions. What failed is tried again next time: memory may have been short, or the library be
/// installed meanwhile.
pub(crate) fn load(_: &Held) -> Result<Functions, Unloaded> {
    match STATE.load(Ordering::Acquire) {
        // SAFETY: it was written before this state, and is not written any more.
        READY => return Ok(unsafe { (*LOADED.0.get()).assume_init() }),
        // A child of a process that was forked while the library was being loaded, or setting itself up, has half of it. The loader would
        // give it out as whole.
        STARTING => {
            return Err(broken(format_args!("this process was forked while another thread was starting it")));
        }
        _ => {}
    }
    STATE.store(STARTING, Ordering::Relaxed);
    let functions = start();
    if let Ok(functions) = &functions {
        // SAFETY: no other thread has the lock, and whoever has it reads this after `READY` only.
        unsafe { *LOADED.0.get() = MaybeUninit::new(*functions) };
    }
    STATE.store(if functions.is_ok() { READY } else { NOT_LOADED }, Ordering::Release);
    functions
}

fn start() -> Result<Functions, Unloaded> {
    // The error's text does not always say that memory was out, so the C library's number is looked at, too.
    // SAFETY: the C library's variable of this thread.
    unsafe { *libc::__errno_location() = 0 };
    // SAFETY: the name is NUL-terminated. Its constructors are the C library's and the compiler's only.
    let library = unsafe {
        libc::dlopen(c"libpfm.so.4".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE)
    };
    if library.is_null() {
        let is_starved = Errno::last() == Errno(libc::ENOMEM);
        let mut why = [0; 120];
        // SAFETY: the last error of this thread, a NUL-terminated string or NULL.
        copy(unsafe { libc::dlerror() }, &mut why);
        let why = text::get(&why);
        return Err(match why {
            _ if is_starved || why.contains("memory") => Unloaded::NoMemory,
            _ if why.is_empty() || why.contains("No such file") || why.contains("not found") => {
                Unloaded::Absent
            }
            _ => broken(format_args!("{why}")),
        });
    }
    let find = |name: &CStr| {
        // SAFETY: a library that was opened above, and a NUL-terminated name.
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        match found.is_null() {
            true => Err(broken(format_args!("libpfm.so.4 has no {}", name.to_str().unwrap_or("")))),
            false => Ok(found),
        }
    };
    // SAFETY: functions of these types, by its header, which its soname stands for.
    let (initialize, functions) = unsafe {
        let initialize: Initialize = transmute(find(c"pfm_initialize")?);
        let functions = Functions {
            encode: transmute::<*mut c_void, Encode>(find(c"pfm_get_os_event_encoding")?),
            next: transmute::<*mut c_void, Next>(find(c"pfm_get_event_next")?),
            event: transmute::<*mut c_void, OfEvent>(find(c"pfm_get_event_info")?),
            attribute: transmute::<*mut c_void, OfAttribute>(find(c"pfm_get_event_attr_info")?),
            pmu: transmute::<*mut c_void, OfPmu>(find(c"pfm_get_pmu_info")?),
            explain: transmute::<*mut c_void, Explain>(find(c"pfm_strerror")?),
        };
        (initialize, functions)
    };
    // SAFETY: no other thread is in it.
    let result = unsafe { initialize() };
    // It keeps its answer, and gives it again; what it says on the way to it is that no PMU was found, which names tell better.
    match result {
        0 => Ok(functions),
        NO_MEMORY => Err(Unloaded::NoMemory),
        _ => {
            let mut why = [0; 80];
            functions.why(result, &mut why);
            Err(broken(format_args!("it does not start: {}", text::get(&why))))
        }
    }
}

impl Functions {
    /// What a result means.
    pub(crate) fn why(&self, result: c_int, out: &mut [c_char]) {
        // SAFETY: takes any number; the text stays.
        copy(unsafe { (self.explain)(result) }, out);
    }

    /// What is known of a PMU; `None` where there is none of this number.
    pub(crate) fn pmu_info(&self, pmu: c_int) -> Option<PmuInfo> {
        // SAFETY: numbers and pointers, for which zeros are fine.
        let mut info: PmuInfo = unsafe { core::mem::zeroed() };
        info.size = size_of::<PmuInfo>();
        // SAFETY: as large as its size says.
        (unsafe { (self.pmu)(pmu, &mut info) } == 0 && !info.name.is_null()).then_some(info)
    }

    /// What is known of an event, or the library's reason not to tell.
    pub(crate) fn event_info(&self, index: c_int) -> Result<EventInfo, c_int> {
        // SAFETY: as above.
        let mut info: EventInfo = unsafe { core::mem::zeroed() };
        info.size = size_of::<EventInfo>();
        // SAFETY: as above.
        match unsafe { (self.event)(index, FOR_PERF, &mut info) } {
            0 if info.name.is_null() => Err(NOT_FOUND),
            0 => Ok(info),
            why => Err(why),
        }
    }

    /// The same of an attribute.
    pub(crate) fn attribute_info(&self, event: c_int, attribute: c_int) -> Result<AttributeInfo, c_int> {
        // SAFETY: as above.
        let mut info: AttributeInfo = unsafe { core::mem::zeroed() };
        info.size = size_of::<AttributeInfo>();
        // SAFETY: as above.
        match unsafe { (self.attribute)(event, attribute, FOR_PERF, &mut info) } {
            0 if info.name.is_null() => Err(NOT_FOUND),
            0 => Ok(info),
            why => Err(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr;

    #[test]
    fn foreign_text_is_cut_and_cannot_speak_to_terminals() {
        let mut to = [1; 6];
        copy(c"a\x1b[0mlong".as_ptr(), &mut to);
        assert_eq!((text::get(&to), to[5]), ("a [0m", 0));
        copy(ptr::null(), &mut to);
        assert_eq!(text::get(&to), "");
        copy(c"ab\xff".as_ptr(), &mut to);
        assert_eq!(text::get(&to), "ab");
    }

    /// Whoever is in the library when the process forks is not there in the child, which must not wait for it.
    #[test]
    fn a_holder_from_before_a_fork_is_not_waited_for() {
        let held = Held::take();
        // SAFETY: the child only takes the lock, from atomics, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            drop(Held::take());
            drop(Held::take());
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(7) };
        }
        let mut status = 0;
        // SAFETY: the child is ours.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(libc::WEXITSTATUS(status), 7);
        drop(held);
    }
}
