//! libpfm4, which knows the events of processors by their makers' names. It is loaded when it is first needed, and what it is asked
//! goes through [`Library`], so that tests can stand in for it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{offset_of, transmute};
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::base::text;
use crate::os::kernel::Attr;
use crate::os::thread;

/// The longest name that is asked for or told, with its NUL.
pub(crate) const NAME: usize = 256;

/// A name's encoding.
pub struct Encoded {
    /// What the kernel is to be asked for.
    pub attr: Attr,
    /// The CPU that the name asks for; -1: none.
    pub cpu: i32,
    /// The PMU that it is an event of.
    pub pmu: [c_char; 64],
    /// The PMU counts for a core: it is no part of what cores share, nor the kernel's own.
    pub is_core: bool,
    /// The name with all attributes spelled out.
    pub full: [c_char; 512],
}

/// Why there is no encoding.
pub enum Refusal {
    /// The library is not installed.
    Absent,
    /// It is there, and of no use: why.
    Broken([c_char; 160]),
    /// It does not know the name.
    Unknown,
    /// It knows the event, but not so: why.
    Wrong([c_char; 80]),
}

/// An event that the library lists.
pub struct ListedEvent<'a> {
    /// The PMU.
    pub pmu: &'a str,
    /// `EVENT`, or `EVENT.UMASK`.
    pub name: &'a str,
    /// What it counts.
    pub about: &'a str,
}

/// What knows events of processors by name.
pub trait Library {
    /// Encodes a name. `ring` is where it counts if the name does not say: [`USER_RING`] or [`KERNEL_RING`].
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal>;
    /// Calls `each` with the events of the PMUs of cores that the library takes this machine to have. `each` must not call the library.
    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal>;
    /// Whether the user said that the machine has this PMU.
    fn is_forced(&self, pmu: &str) -> bool;
}

/// `PFM_PLM3`.
pub const USER_RING: i32 = 8;
/// `PFM_PLM0`.
pub const KERNEL_RING: i32 = 1;

/// No library.
pub struct Nobody;

impl Library for Nobody {
    fn encode(&self, _: &str, _: i32) -> Result<Encoded, Refusal> {
        Err(Refusal::Absent)
    }

    fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        Err(Refusal::Absent)
    }

    fn is_forced(&self, _: &str) -> bool {
        false
    }
}

/// The library that is installed.
pub struct Pfm;

/// `PFM_OS_PERF_EVENT_EXT`: the kernel's attributes too, as precision.
const FOR_PERF: c_int = 2;
/// `PFM_PMU_TYPE_CORE`.
const CORE: c_int = 1;
/// `PFM_ATTR_UMASK`.
const UMASK: c_int = 1;
/// `PFM_ERR_*`.
const INVALID: c_int = -2;
const NOT_FOUND: c_int = -4;

/// `pfm_perf_encode_arg_t`.
#[repr(C)]
struct EncodeArguments {
    attr: *mut Attr,
    full: *mut *mut c_char,
    size: usize,
    index: c_int,
    cpu: c_int,
    flags: c_int,
    padding: c_int,
}

/// `pfm_event_info_t`.
#[repr(C)]
struct EventInfo {
    name: *const c_char,
    about: *const c_char,
    equivalent: *const c_char,
    size: usize,
    code: u64,
    pmu: c_int,
    data_type: c_int,
    index: c_int,
    attributes: c_int,
    reserved: c_int,
    flags: u32,
}

/// `pfm_event_attr_info_t`.
#[repr(C)]
struct AttributeInfo {
    name: *const c_char,
    about: *const c_char,
    equivalent: *const c_char,
    size: usize,
    code: u64,
    kind: c_int,
    index: c_int,
    control: c_int,
    flags: u32,
    default: u64,
}

/// `pfm_pmu_info_t`.
#[repr(C)]
struct PmuInfo {
    name: *const c_char,
    about: *const c_char,
    size: usize,
    pmu: c_int,
    kind: c_int,
    events: c_int,
    first_event: c_int,
    max_encoding: c_int,
    counters: c_int,
    fixed_counters: c_int,
    flags: u32,
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

type Initialize = unsafe extern "C" fn() -> c_int;
type Encode = unsafe extern "C" fn(*const c_char, c_int, c_int, *mut c_void) -> c_int;
type Next = unsafe extern "C" fn(c_int) -> c_int;
type OfEvent = unsafe extern "C" fn(c_int, c_int, *mut EventInfo) -> c_int;
type OfAttribute = unsafe extern "C" fn(c_int, c_int, c_int, *mut AttributeInfo) -> c_int;
type OfPmu = unsafe extern "C" fn(c_int, *mut PmuInfo) -> c_int;
type Explain = unsafe extern "C" fn(c_int) -> *const c_char;

/// Its functions.
#[derive(Clone, Copy)]
struct Functions {
    encode: Encode,
    next: Next,
    event: OfEvent,
    attribute: OfAttribute,
    pmu: OfPmu,
    explain: Explain,
}

/// How far loading has come: in `STATE`, which whoever holds the lock changes.
const NOT_LOADED: u32 = 0;
const STARTING: u32 = 1;
const READY: u32 = 2;
static STATE: AtomicU32 = AtomicU32::new(NOT_LOADED);
/// The process whose thread is in the library, which keeps no order among threads; 0: none.
static HOLDER: AtomicU64 = AtomicU64::new(0);

/// The right to call the library.
struct Held;

impl Held {
    fn take() -> Held {
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

fn broken(why: core::fmt::Arguments<'_>) -> Refusal {
    let mut text = [0; 160];
    text::set(&mut text, why);
    Refusal::Broken(text)
}

/// A C string, cut to the buffer, without what could do something to a terminal.
fn copy(from: *const c_char, to: &mut [c_char]) {
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
fn load(_: &Held) -> Result<Functions, Refusal> {
    // A child of a process that was forked while the library was setting itself up has half of it.
    if STATE.load(Ordering::Relaxed) == STARTING {
        return Err(broken(format_args!("this process was forked while another thread was starting it")));
    }
    // SAFETY: the name is NUL-terminated. Its constructors are the C library's and the compiler's only.
    let library = unsafe {
        libc::dlopen(c"libpfm.so.4".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE)
    };
    if library.is_null() {
        let mut why = [0; 120];
        // SAFETY: the last error of this thread, a NUL-terminated string or NULL.
        copy(unsafe { libc::dlerror() }, &mut why);
        let why = text::get(&why);
        let is_absent = why.is_empty() || why.contains("No such file") || why.contains("not found");
        return Err(if is_absent { Refusal::Absent } else { broken(format_args!("{why}")) });
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
    if STATE.load(Ordering::Relaxed) != READY {
        STATE.store(STARTING, Ordering::Relaxed);
        // SAFETY: no other thread is in it.
        let result = unsafe { initialize() };
        // It keeps its answer, and gives it again; what it says on the way to it is that no PMU was found, which names tell better.
        STATE.store(if result == 0 { READY } else { NOT_LOADED }, Ordering::Relaxed);
        if result != 0 {
            let mut why = [0; 80];
            // SAFETY: takes any number.
            copy(unsafe { (functions.explain)(result) }, &mut why);
            return Err(broken(format_args!("it does not start: {}", text::get(&why))));
        }
    }
    Ok(functions)
}

impl Functions {
    /// What is known of a PMU; `None` where there is none of this number.
    fn pmu_info(&self, pmu: c_int) -> Option<PmuInfo> {
        // SAFETY: numbers and pointers, for which zeros are fine.
        let mut info: PmuInfo = unsafe { core::mem::zeroed() };
        info.size = size_of::<PmuInfo>();
        // SAFETY: as large as its size says.
        (unsafe { (self.pmu)(pmu, &mut info) } == 0 && !info.name.is_null()).then_some(info)
    }

    fn event_info(&self, index: c_int) -> Option<EventInfo> {
        // SAFETY: as above.
        let mut info: EventInfo = unsafe { core::mem::zeroed() };
        info.size = size_of::<EventInfo>();
        // SAFETY: as above.
        (unsafe { (self.event)(index, FOR_PERF, &mut info) } == 0 && !info.name.is_null()).then_some(info)
    }

    fn attribute_info(&self, event: c_int, attribute: c_int) -> Option<AttributeInfo> {
        // SAFETY: as above.
        let mut info: AttributeInfo = unsafe { core::mem::zeroed() };
        info.size = size_of::<AttributeInfo>();
        // SAFETY: as above.
        let result = unsafe { (self.attribute)(event, attribute, FOR_PERF, &mut info) };
        (result == 0 && !info.name.is_null()).then_some(info)
    }
}

impl Library for Pfm {
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal> {
        let mut spelled = [0; NAME + 1];
        if name.len() >= spelled.len() || name.bytes().any(|byte| byte == 0) {
            return Err(Refusal::Unknown);
        }
        text::set(&mut spelled, format_args!("{name}"));
        let held = Held::take();
        let functions = load(&held)?;
        let attr = Attr { size: size_of::<Attr>() as u32, ..Attr::default() };
        let mut found = Encoded { attr, cpu: -1, pmu: [0; 64], is_core: false, full: [0; 512] };
        let mut full = ptr::null_mut();
        let mut arguments = EncodeArguments {
            attr: &mut found.attr,
            full: &mut full,
            size: size_of::<EncodeArguments>(),
            index: -1,
            cpu: -1,
            flags: 0,
            padding: 0,
        };
        // SAFETY: a NUL-terminated name; the structures are as large as their sizes say, and live during the call.
        let result =
            unsafe { (functions.encode)(spelled.as_ptr(), ring, FOR_PERF, (&raw mut arguments).cast()) };
        let (index, cpu) = (arguments.index, arguments.cpu);
        copy(full, &mut found.full);
        // SAFETY: the library's answer, from the C library's malloc, and the caller's to free; or NULL.
        unsafe { libc::free(full.cast()) };
        match result {
            0 => {}
            // A name with a comma in it is two names to it.
            NOT_FOUND | INVALID => return Err(Refusal::Unknown),
            _ => {
                let mut why = [0; 80];
                // SAFETY: takes any number.
                copy(unsafe { (functions.explain)(result) }, &mut why);
                return Err(Refusal::Wrong(why));
            }
        }
        found.cpu = cpu;
        let pmu = functions.event_info(index).and_then(|info| functions.pmu_info(info.pmu));
        let pmu = pmu.ok_or_else(|| broken(format_args!("it does not say which PMU the event is of")))?;
        found.is_core = pmu.kind == CORE;
        copy(pmu.name, &mut found.pmu);
        Ok(found)
    }

    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        let held = Held::take();
        let functions = load(&held)?;
        // Numbers of PMUs have gaps, and newer versions have more of them.
        for pmu in (0..4096).filter_map(|number| functions.pmu_info(number)) {
            // The lowest bit, as compilers lay out bit-fields on little-endian machines.
            let present = if cfg!(target_endian = "little") { 1 } else { 1 << 31 };
            if pmu.flags & present == 0 || pmu.kind != CORE {
                continue;
            }
            let mut index = pmu.first_event;
            let mut left = pmu.events;
            while index >= 0 && left > 0 {
                list_event(&functions, &pmu, index, each);
                // SAFETY: takes any number.
                index = unsafe { (functions.next)(index) };
                left -= 1;
            }
        }
        Ok(())
    }

    fn is_forced(&self, pmu: &str) -> bool {
        let mut forced = [0; 128];
        // SAFETY: a NUL-terminated name. The library reads it in the same way.
        copy(unsafe { libc::getenv(c"LIBPFM_FORCE_PMU".as_ptr()) }, &mut forced);
        forces(text::get(&forced), pmu)
    }
}

/// Whether what a user set is this PMU's name, or begins it, up to a comma: so the library takes it. Nothing means nothing, other than to
/// the library, which takes it for its first PMU.
fn forces(forced: &str, pmu: &str) -> bool {
    let name = forced.split(',').next().unwrap_or_default();
    let begin = pmu.as_bytes().get(..name.len());
    !name.is_empty() && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
}

/// An event, and each of its unit masks as an event.
fn list_event(functions: &Functions, pmu: &PmuInfo, index: c_int, each: &mut dyn FnMut(&ListedEvent<'_>)) {
    let Some(event) = functions.event_info(index) else { return };
    let (mut name, mut about, mut of) = ([0; NAME], [0; 512], [0; 64]);
    copy(pmu.name, &mut of);
    copy(event.name, &mut name);
    let mut has_masks = false;
    for at in 0..event.attributes {
        let Some(attribute) = functions.attribute_info(index, at).filter(|info| info.kind == UMASK) else {
            continue;
        };
        has_masks = true;
        let (mut mask, mut with_mask) = ([0; NAME], [0; NAME]);
        copy(attribute.name, &mut mask);
        copy(attribute.about, &mut about);
        text::set(&mut with_mask, format_args!("{}.{}", text::get(&name), text::get(&mask)));
        each(&ListedEvent { pmu: text::get(&of), name: text::get(&with_mask), about: text::get(&about) });
    }
    if !has_masks {
        copy(event.about, &mut about);
        each(&ListedEvent { pmu: text::get(&of), name: text::get(&name), about: text::get(&about) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_forces() {
        for (forced, pmu, is) in [
            ("skx", "skx", true),
            ("SKX", "skx", true),
            ("skx,1", "skx", true),
            ("sk", "skx", true),
            ("skx", "skl", false),
            ("skxx", "skx", false),
            ("", "skx", false),
            (",skx", "skx", false),
            ("ä", "ä", true),
        ] {
            assert_eq!(forces(forced, pmu), is, "{forced} {pmu}");
        }
    }

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
