//! The source of processor events by their makers' names: libpfm4, or [`NoLibrary`] if it is not installed. Its structures
//! and functions are as in its header. It is loaded when it is first needed, and only one thread at a time calls it.
//! All requests go through [`Library`], so that tests can replace it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::{offset_of, transmute_copy, zeroed};
use core::ptr;

use picollo_core::seam::Lock;

use picollo_native::seam::failure;
use picollo_native::seam::kernel::Attr;
use picollo_native::seam::sys::Errno;
use picollo_native::seam::text;
use picollo_native::{ExplainedError, Status};

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

/// `pfm_event_info_t` and `pfm_event_attr_info_t`, which are alike up to `numbers`.
#[repr(C)]
pub(crate) struct Info {
    pub name: *const c_char,
    pub about: *const c_char,
    pub equivalent: *const c_char,
    pub size: usize,
    pub code: u64,
    /// For an event: PMU, data type, index, number of attributes, reserved, flags. For an attribute: kind, index,
    /// control, flags, default (64 bits).
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
    /// Whether the library detects this PMU on this machine.
    pub(crate) fn is_present(&self) -> bool {
        // On little-endian machines, compilers put the first bit-field into the lowest bits.
        self.flags & if cfg!(target_endian = "little") { 1 } else { 1 << 31 } != 0
    }
}

// The sizes in its header, for 64-bit machines (PFM_PERF_ENCODE_ABI0 and the like) and for 32-bit ones.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<EncodeArguments>() == 40 && offset_of!(EncodeArguments, index) == 24);
    assert!(size_of::<Info>() == 64 && offset_of!(Info, numbers) == 40);
    assert!(size_of::<PmuInfo>() == 56 && offset_of!(PmuInfo, flags) == 52);
};
#[cfg(target_pointer_width = "32")]
const _: () = assert!(size_of::<EncodeArguments>() == 28);

/// Why there is no encoding.
// The errors are held by value, because nothing here may allocate.
#[allow(clippy::large_enum_variant)]
pub enum Refusal {
    /// The library does not know the name, or there is no library. The message may be empty.
    Unknown(ExplainedError),
    /// The library knows the event, but not with these attributes. The message is the library's.
    Wrong(ExplainedError),
    /// The event cannot be used, whoever knows it.
    Refused(ExplainedError),
}

impl Refusal {
    /// The refusal of an unknown name.
    pub fn unknown(why: core::fmt::Arguments<'_>) -> Refusal {
        Refusal::Unknown(ExplainedError::new(Status::NoSuchEvent, why))
    }

    /// The refusal of an unknown attribute.
    pub fn wrong(why: &str) -> Refusal {
        Refusal::Wrong(failure!(InvalidArgument, "{why}"))
    }

    /// The error alone, for callers that need only the reason.
    pub(crate) fn error(self) -> ExplainedError {
        let (Refusal::Unknown(error) | Refusal::Wrong(error) | Refusal::Refused(error)) = self;
        error
    }
}

/// The refusal of a library that is present but does not work.
pub(crate) fn broken(why: core::fmt::Arguments<'_>) -> Refusal {
    Refusal::unknown(format_args!("libpfm4 cannot be used: {why}"))
}

/// Copies a C string, cut to the buffer, without bytes that could affect a terminal.
pub(crate) fn copy(from: *const c_char, to: &mut [c_char]) {
    to.fill(0);
    let room = to.len() - 1;
    for (at, place) in to[..room].iter_mut().enumerate().take_while(|_| !from.is_null()) {
        // SAFETY: the caller passes a NUL-terminated string, and its end was not reached yet.
        let byte = unsafe { *from.add(at) };
        match byte as u8 {
            0 => return,
            control if control.is_ascii_control() => *place = b' ' as c_char,
            _ => *place = byte,
        }
    }
}

/// The library's functions.
pub(crate) struct Functions {
    pub encode: unsafe extern "C" fn(*const c_char, c_int, c_int, *mut c_void) -> c_int,
    pub next: unsafe extern "C" fn(c_int) -> c_int,
    event: unsafe extern "C" fn(c_int, c_int, *mut Info) -> c_int,
    attribute: unsafe extern "C" fn(c_int, c_int, c_int, *mut Info) -> c_int,
    pmu: unsafe extern "C" fn(c_int, *mut PmuInfo) -> c_int,
    explain: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// The functions, once they are found. The loader is not asked again, because a fork may leave its state half changed.
/// The lock orders threads, because the library does not.
#[cfg(not(loom))]
static LIBRARY: Lock<Option<Functions>> = Lock::new(None);
/// Models compile this and do not call it. Their lock cannot be built at compile time.
#[cfg(loom)]
static LIBRARY: std::sync::LazyLock<Lock<Option<Functions>>> = std::sync::LazyLock::new(|| Lock::new(None));

/// Calls the library. A failed load is tried again next time: memory may have been short, or it may be installed since.
pub(crate) fn with<R>(work: impl FnOnce(&Functions) -> Result<R, Refusal>) -> Result<R, Refusal> {
    let done = LIBRARY.with(|loaded| match loaded {
        Some(functions) => work(functions),
        None => work(loaded.insert(start()?)),
    });
    done.unwrap_or_else(|| {
        Err(broken(format_args!("this process was forked while another thread was loading or using it")))
    })
}

fn start() -> Result<Functions, Refusal> {
    let open = || {
        // SAFETY: the C library's variable of this thread.
        unsafe { *libc::__errno_location() = 0 };
        // SAFETY: the name is NUL-terminated. The library's only constructors are the C library's and the compiler's.
        let library = unsafe {
            libc::dlopen(c"libpfm.so.4".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE)
        };
        if library.is_null() { Err(Errno::last()) } else { Ok(library) }
    };
    // The loader explains a failure only in words, in the user's language. It does not always keep the number for a
    // lack of memory, so any other failure is tried again.
    let library = open().or_else(|errno| if errno == Errno(libc::ENOMEM) { Err(errno) } else { open() });
    let library = library.map_err(|errno| {
        if errno == Errno(libc::ENOMEM) || !picollo_core::seam::is_at_hand() {
            return Refusal::Refused(Status::OutOfMemory.into());
        }
        let mut why = [0; 120];
        // SAFETY: the last error of this thread, a NUL-terminated string or NULL.
        copy(unsafe { libc::dlerror() }, &mut why);
        broken(format_args!("it is not installed here, or cannot be loaded: {}", text::get(&why)))
    })?;
    // SAFETY: the functions have these types in the library's header, which its soname stands for.
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
    // SAFETY: no other thread calls the library. It repeats its first answer later. Here it can only report that it
    // found no PMU, which a lookup of names shows better.
    match unsafe { initialize() } {
        0 => Ok(functions),
        result => Err(functions.failed(result, |why| broken(format_args!("it does not start: {why}")))),
    }
}

/// Looks up a function of the library.
///
/// # Safety
/// `library` is open, and `F` is the type of its function of that name.
unsafe fn find<F: Copy>(library: *mut c_void, name: &CStr) -> Result<F, Refusal> {
    // SAFETY: by the caller; the name is NUL-terminated.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(broken(format_args!("libpfm.so.4 has no {}", name.to_str().unwrap_or(""))));
    }
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: by the caller; pointers of functions are as large as those of data.
    Ok(unsafe { transmute_copy(&found) })
}

impl Functions {
    /// Turns a failed result into a refusal, with the library's explanation.
    pub(crate) fn failed(&self, result: c_int, refusal: impl FnOnce(&str) -> Refusal) -> Refusal {
        if result == NO_MEMORY {
            return Refusal::Refused(Status::OutOfMemory.into());
        }
        let mut why = [0; 80];
        // SAFETY: the function takes any number, and its text is never freed.
        copy(unsafe { (self.explain)(result) }, &mut why);
        refusal(text::get(&why))
    }

    /// Information about a PMU; `None` if no PMU has this number.
    pub(crate) fn pmu_info(&self, pmu: c_int) -> Option<PmuInfo> {
        // SAFETY: the fields are numbers and pointers, for which zeros are valid.
        let mut info = PmuInfo { size: size_of::<PmuInfo>(), ..unsafe { zeroed() } };
        // SAFETY: the structure is as large as its size field says.
        (unsafe { (self.pmu)(pmu, &mut info) } == 0 && !info.name.is_null()).then_some(info)
    }

    /// Information about an event, or about one of its attributes; `None` if the library returns nothing. A lack of
    /// memory is an error.
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

/// The longest name, in requests and in answers, with its NUL.
const NAME: usize = 256;

/// A name's encoding.
pub struct Encoded {
    /// The request to the kernel.
    pub attr: Attr,
    /// The CPU that the name chooses; -1 if it chooses no CPU.
    pub cpu: i32,
    /// The event's PMU.
    pub pmu: [c_char; 64],
    /// The PMU belongs to a core: cores do not share it, and it is not the kernel's own.
    pub is_core: bool,
    /// The library detects the PMU on this machine.
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

/// A source of processor events by name.
pub trait Library {
    /// Encodes a name. `ring` is where it counts if the name does not say: `USER_RING` or `KERNEL_RING`.
    fn encode(&self, name: &str, ring: i32) -> Result<Encoded, Refusal>;
    /// Calls `each` with the events of the core PMUs that the library detects. `each` must not call the library.
    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal>;
    /// Whether the user declared that the machine has this PMU.
    fn is_forced(&self, _pmu: &str) -> bool {
        false
    }
}

/// `PFM_PLM3`.
pub const USER_RING: i32 = 8;
/// `PFM_PLM0`.
pub const KERNEL_RING: i32 = 1;

/// No library.
pub struct NoLibrary;

const ABSENT: &str = "libpfm4, which knows the processor's own names, is not installed here";

impl Library for NoLibrary {
    fn encode(&self, _: &str, _: i32) -> Result<Encoded, Refusal> {
        Err(Refusal::unknown(format_args!("{ABSENT}")))
    }

    fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        Err(Refusal::unknown(format_args!("{ABSENT}")))
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
            // SAFETY: the name is NUL-terminated. The structures have the sizes that they state, and outlive the call.
            let result =
                unsafe { (functions.encode)(spelled.as_ptr(), ring, FOR_PERF, (&raw mut arguments).cast()) };
            let (index, cpu) = (arguments.index, arguments.cpu);
            copy(full, &mut found.full);
            // SAFETY: the library's answer is NULL, or comes from the C library's malloc and is the caller's to free.
            unsafe { libc::free(full.cast()) };
            match result {
                0 => {}
                // For the library, a comma separates two names.
                NOT_FOUND | INVALID => return Err(Refusal::unknown(format_args!(""))),
                _ => return Err(functions.failed(result, Refusal::wrong)),
            }
            let pmu = functions.info(index, None)?.and_then(|info| functions.pmu_info(info.numbers[0]));
            let pmu = pmu.ok_or_else(|| broken(format_args!("it does not report the PMU of the event")))?;
            (found.cpu, found.is_core, found.is_present) = (cpu, pmu.kind == CORE, pmu.is_present());
            copy(pmu.name, &mut found.pmu);
            Ok(found)
        })
    }

    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> Result<(), Refusal> {
        with(|functions| {
            // PMU numbers have gaps, and newer versions have more of them.
            let pmus = (0..4096).filter_map(|number| functions.pmu_info(number));
            for pmu in pmus.filter(|pmu| pmu.is_present() && pmu.kind == CORE) {
                let mut index = pmu.first_event;
                let mut left = pmu.events;
                while index >= 0 && left > 0 {
                    list_event(functions, &pmu, index, each)?;
                    // SAFETY: the function takes any number.
                    index = unsafe { (functions.next)(index) };
                    left -= 1;
                }
            }
            Ok(())
        })
    }

    fn is_forced(&self, pmu: &str) -> bool {
        let mut forced = [0; 128];
        // SAFETY: the name is NUL-terminated. The library reads the variable in the same way.
        copy(unsafe { libc::getenv(c"LIBPFM_FORCE_PMU".as_ptr()) }, &mut forced);
        forces(text::get(&forced), pmu)
    }
}

/// Whether the user's setting, up to a comma, is this PMU's name or begins it, as the library matches it. An empty
/// setting matches nothing here, but the library takes it for its first PMU.
fn forces(forced: &str, pmu: &str) -> bool {
    let name = forced.split(',').next().unwrap_or_default();
    let begin = pmu.as_bytes().get(..name.len());
    !name.is_empty() && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
}

/// Lists an event, and each of its unit masks as an event. Without information from the library, they are skipped.
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
    fn forced_pmus() {
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
