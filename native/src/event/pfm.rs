//! What knows the events of processors by their makers' names: libpfm4, or nobody where it is not installed. Its structures and functions
//! are as its header has them; it is loaded when it is first needed, and one thread at a time is in it. What it is asked goes through
//! [`Library`], so that tests can stand in for it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{offset_of, transmute_copy, zeroed};
use core::ptr;

use picollo_core::Lock;

use crate::base::error::{Error, Status, failure};
use crate::base::text;
use crate::os::kernel::Attr;
use crate::os::sys::Errno;

/// `PFM_OS_PERF_EVENT_EXT`: the kernel's attributes too, as precision.
pub(crate) const FOR_PERF: c_int = 2;
/// `PFM_PMU_TYPE_CORE`.
pub(crate) const CORE: c_int = 1;
/// `PFM_ATTR_UMASK`.
pub(crate) const UMASK: c_int = 1;
/// `PFM_ERR_*`.
pub(crate) const INVALID: c_int = -2;
pub(crate) const NOT_FOUND: c_int = -4;
const NO_MEMORY: c_int = -7;

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

/// `pfm_event_info_t` and `pfm_event_attr_info_t`, which are alike up to the numbers.
#[repr(C)]
pub(crate) struct Info {
    pub name: *const c_char,
    pub about: *const c_char,
    pub equivalent: *const c_char,
    pub size: usize,
    pub code: u64,
    /// An event's: PMU, data type, index, number of attributes, reserved, flags. An attribute's: kind, index, control, flags, default (64 bits).
    pub numbers: [c_int; 6],
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

impl PmuInfo {
    /// Whether the library finds it on this machine.
    pub(crate) fn is_present(&self) -> bool {
        // The lowest bit, as compilers lay out bit-fields on little-endian machines.
        self.flags & if cfg!(target_endian = "little") { 1 } else { 1 << 31 } != 0
    }
}

// What its header says of 64-bit machines (PFM_PERF_ENCODE_ABI0 and the like), and of 32-bit ones.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<EncodeArguments>() == 40 && offset_of!(EncodeArguments, index) == 24);
    assert!(size_of::<Info>() == 64 && offset_of!(Info, numbers) == 40);
    assert!(size_of::<PmuInfo>() == 56 && offset_of!(PmuInfo, flags) == 52);
};
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<EncodeArguments>() == 28);

/// Why there is no encoding.
// By value, as errors are: nothing here may allocate.
#[allow(clippy::large_enum_variant)]
pub enum Refusal {
    /// The library does not know the name, or there is no library: what there is to say of it; may be empty.
    Unknown(Error),
    /// It knows the event, but not with these attributes: what it says to that.
    Wrong(Error),
    /// The event cannot be used, whoever knows it.
    Refused(Error),
}

impl Refusal {
    /// There is no such name.
    pub fn unknown(why: core::fmt::Arguments<'_>) -> Refusal {
        Refusal::Unknown(Error::new(Status::NoSuchEvent, why))
    }

    /// There is no such attribute.
    pub fn wrong(why: &str) -> Refusal {
        Refusal::Wrong(failure!(InvalidArgument, "{why}"))
    }

    /// What it says to anybody who wants no more than the reason.
    pub(crate) fn error(self) -> Error {
        let (Refusal::Unknown(error) | Refusal::Wrong(error) | Refusal::Refused(error)) = self;
        error
    }
}

/// The library is there, and something is wrong with it.
pub(crate) fn broken(why: core::fmt::Arguments<'_>) -> Refusal {
    Refusal::unknown(format_args!("libpfm4 cannot be used: {why}"))
}

/// A C string, cut to the buffer, without what could do something to a terminal.
pub(crate) fn copy(from: *const c_char, to: &mut [c_char]) {
    to.fill(0);
    let room = to.len() - 1;
    for (at, place) in to[..room].iter_mut().enumerate().take_while(|_| !from.is_null()) {
        // SAFETY: the caller has a NUL-terminated string, whose end was not seen yet.
        let byte = unsafe { *from.add(at) };
        match byte as u8 {
            0 => return,
            control if control.is_ascii_control() => *place = b' ' as c_char,
            _ => *place = byte,
        }
    }
}

/// Its functions.
pub(crate) struct Functions {
    pub encode: unsafe extern "C" fn(*const c_char, c_int, c_int, *mut c_void) -> c_int,
    pub next: unsafe extern "C" fn(c_int) -> c_int,
    event: unsafe extern "C" fn(c_int, c_int, *mut Info) -> c_int,
    attribute: unsafe extern "C" fn(c_int, c_int, c_int, *mut Info) -> c_int,
    pmu: unsafe extern "C" fn(c_int, *mut PmuInfo) -> c_int,
    explain: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// The functions, once they are found: the loader, which has a state of its own that a fork may cut in two, is not asked again. The lock keeps
/// order among threads, which the library does not.
#[cfg(not(loom))]
static LIBRARY: Lock<Option<Functions>> = Lock::new(None);
/// Models compile it, and do not call it. Their lock is not made by the compiler.
#[cfg(loom)]
static LIBRARY: std::sync::LazyLock<Lock<Option<Functions>>> = std::sync::LazyLock::new(|| Lock::new(None));

/// Calls the library. What failed at loading it is tried again next time: memory may have been short, or the library be installed meanwhile.
pub(crate) fn with<R>(work: impl FnOnce(&Functions) -> Result<R, Refusal>) -> Result<R, Refusal> {
    let done = LIBRARY.with(|loaded| match loaded {
        Some(functions) => work(functions),
        None => work(loaded.insert(start()?)),
    });
    done.unwrap_or_else(|| {
        Err(broken(format_args!("this process was forked while another thread was loading or asking it")))
    })
}

fn start() -> Result<Functions, Refusal> {
    let open = || {
        // SAFETY: the C library's variable of this thread.
        unsafe { *libc::__errno_location() = 0 };
        // SAFETY: the name is NUL-terminated. Its constructors are the C library's and the compiler's only.
        let library = unsafe {
            libc::dlopen(c"libpfm.so.4".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE)
        };
        if library.is_null() { Err(Errno::last()) } else { Ok(library) }
    };
    // The loader says in words only why it failed, in the language of the user. It does not always keep the number for a lack of memory,
    // so an allocation that failed is tried again.
    let library = open().or_else(|errno| if errno == Errno(libc::ENOMEM) { Err(errno) } else { open() });
    let library = library.map_err(|errno| {
        if errno == Errno(libc::ENOMEM) || !picollo_core::is_at_hand() {
            return Refusal::Refused(Status::OutOfMemory.into());
        }
        let mut why = [0; 120];
        // SAFETY: the last error of this thread, a NUL-terminated string or NULL.
        copy(unsafe { libc::dlerror() }, &mut why);
        broken(format_args!("it is not installed here, or cannot be loaded: {}", text::get(&why)))
    })?;
    // SAFETY: functions of these types, by its header, which its soname stands for.
    let (initialize, functions) = unsafe {
        let initialize: unsafe extern "C" fn() -> c_int = find(library, c"pfm_initialize")?;
        let functions = Functions {
            encode: find(library, c"pfm_get_os_event_encoding")?,
            next: find(library, c"pfm_get_event_next")?,
            event: find(library, c"pfm_get_event_info")?,
            attribute: find(library, c"pfm_get_event_attr_info")?,
            pmu: find(library, c"pfm_get_pmu_info")?,
            explain: find(library, c"pfm_strerror")?,
        };
        (initialize, functions)
    };
    // SAFETY: no other thread is in it. It keeps its answer, and gives it again; what it says on the way to it is that no PMU was found,
    // which names tell better.
    match unsafe { initialize() } {
        0 => Ok(functions),
        result => Err(functions.failed(result, |why| broken(format_args!("it does not start: {why}")))),
    }
}

/// A function of the library.
///
/// # Safety
/// `library` is open, and `F` is the type of its function of that name.
unsafe fn find<F: Copy>(library: *mut c_void, name: &CStr) -> Result<F, Refusal> {
    // SAFETY: by the caller, and a NUL-terminated name.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(broken(format_args!("libpfm.so.4 has no {}", name.to_str().unwrap_or(""))));
    }
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: by the caller; pointers of functions are as large as those of data.
    Ok(unsafe { transmute_copy(&found) })
}

impl Functions {
    /// What a result that is no success means, in the library's words.
    pub(crate) fn failed(&self, result: c_int, refusal: impl FnOnce(&str) -> Refusal) -> Refusal {
        if result == NO_MEMORY {
            return Refusal::Refused(Status::OutOfMemory.into());
        }
        let mut why = [0; 80];
        // SAFETY: takes any number; the text stays.
        copy(unsafe { (self.explain)(result) }, &mut why);
        refusal(text::get(&why))
    }

    /// What is known of a PMU; `None` where there is none of this number.
    pub(crate) fn pmu_info(&self, pmu: c_int) -> Option<PmuInfo> {
        // SAFETY: numbers and pointers, for which zeros are fine.
        let mut info = PmuInfo { size: size_of::<PmuInfo>(), ..unsafe { zeroed() } };
        // SAFETY: as large as its size says.
        (unsafe { (self.pmu)(pmu, &mut info) } == 0 && !info.name.is_null()).then_some(info)
    }

    /// What is known of an event, or of one of its attributes; `None` where the library does not tell. Not telling for want of memory is an
    /// error.
    pub(crate) fn info(&self, event: c_int, attribute: Option<c_int>) -> Result<Option<Info>, Refusal> {
        // SAFETY: as above.
        let mut info = Info { size: size_of::<Info>(), ..unsafe { zeroed() } };
        // SAFETY: as above.
        let result = unsafe {
            match attribute {
                None => (self.event)(event, FOR_PERF, &mut info),
                Some(attribute) => (self.attribute)(event, attribute, FOR_PERF, &mut info),
            }
        };
        match result {
            NO_MEMORY => Err(Refusal::Refused(Status::OutOfMemory.into())),
            _ => Ok((result == 0 && !info.name.is_null()).then_some(info)),
        }
    }
}

/// The longest name that is asked for or told, with its NUL.
const NAME: usize = 256;

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
    /// The library finds the PMU on this machine.
    pub is_present: bool,
    /// The name with all attributes spelled out.
    pub full: [c_char; 512],
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
    /// Encodes a name. `ring` is where it counts if the name does not say: `USER_RING` or `KERNEL_RING`.
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

const ABSENT: &str = "libpfm4, which knows the processor's own names, is not installed here";

impl Library for Nobody {
    fn encode(&self, _: &str, _: i32) -> Result<Encoded, Refusal> {
        Err(Refusal::unknown(format_args!("{ABSENT}")))
    }

    fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        Err(Refusal::unknown(format_args!("{ABSENT}")))
    }

    fn is_forced(&self, _: &str) -> bool {
        false
    }
}

/// The library that is installed.
pub struct Pfm;

impl Library for Pfm {
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal> {
        let mut spelled = [0; NAME + 1];
        if name.len() >= spelled.len() || name.bytes().any(|byte| byte == 0) {
            return Err(Refusal::unknown(format_args!("")));
        }
        text::set(&mut spelled, format_args!("{name}"));
        with(|functions| {
            let attr = Attr { size: size_of::<Attr>() as u32, ..Attr::default() };
            let mut found =
                Encoded { attr, cpu: -1, pmu: [0; 64], is_core: false, is_present: false, full: [0; 512] };
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
                NOT_FOUND | INVALID => return Err(Refusal::unknown(format_args!(""))),
                _ => return Err(functions.failed(result, Refusal::wrong)),
            }
            let pmu = functions.info(index, None)?.and_then(|info| functions.pmu_info(info.numbers[0]));
            let pmu = pmu.ok_or_else(|| broken(format_args!("it does not say which PMU the event is of")))?;
            (found.cpu, found.is_core, found.is_present) = (cpu, pmu.kind == CORE, pmu.is_present());
            copy(pmu.name, &mut found.pmu);
            Ok(found)
        })
    }

    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        with(|functions| {
            // Numbers of PMUs have gaps, and newer versions have more of them.
            let pmus = (0..4096).filter_map(|number| functions.pmu_info(number));
            for pmu in pmus.filter(|pmu| pmu.is_present() && pmu.kind == CORE) {
                let mut index = pmu.first_event;
                let mut left = pmu.events;
                while index >= 0 && left > 0 {
                    list_event(functions, &pmu, index, each)?;
                    // SAFETY: takes any number.
                    index = unsafe { (functions.next)(index) };
                    left -= 1;
                }
            }
            Ok(())
        })
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

/// An event, and each of its unit masks as an event. What the library does not tell of is left out.
fn list_event(
    functions: &Functions,
    pmu: &PmuInfo,
    index: c_int,
    each: &mut dyn FnMut(&ListedEvent<'_>),
) -> Result<(), Refusal> {
    let Some(event) = functions.info(index, None)? else { return Ok(()) };
    let (mut name, mut about, mut of) = ([0; NAME], [0; 512], [0; 64]);
    copy(pmu.name, &mut of);
    copy(event.name, &mut name);
    let mut has_masks = false;
    for at in 0..event.numbers[3].min(4096) {
        let Some(mask) = functions.info(index, Some(at))?.filter(|attribute| attribute.numbers[0] == UMASK)
        else {
            continue;
        };
        has_masks = true;
        let (mut of_mask, mut with_mask) = ([0; NAME], [0; NAME]);
        copy(mask.name, &mut of_mask);
        copy(mask.about, &mut about);
        text::set(&mut with_mask, format_args!("{}.{}", text::get(&name), text::get(&of_mask)));
        each(&ListedEvent { pmu: text::get(&of), name: text::get(&with_mask), about: text::get(&about) });
    }
    if !has_masks {
        copy(event.about, &mut about);
        each(&ListedEvent { pmu: text::get(&of), name: text::get(&name), about: text::get(&about) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_forces() {
        for (forced, pmu, is) in [
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
        copy(core::ptr::null(), &mut to);
        assert_eq!(text::get(&to), "");
        copy(c"ab\xff".as_ptr(), &mut to);
        assert_eq!(text::get(&to), "ab");
    }
}
