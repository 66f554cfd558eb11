//! Facts about the machine that need no counting, for explanations and for the probe.

use core::ffi::c_char;
use core::fmt::Write;

#[cfg(target_arch = "x86")]
use core::arch::x86::__cpuid;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__cpuid;

use crate::event::sysfs;
use picollo_native::seam::sys::Files;
use picollo_native::seam::text;

/// The machine, as far as it matters for counting.
pub(crate) struct Machine {
    /// `/proc/sys/kernel/perf_event_paranoid`; `None` if it cannot be read.
    pub paranoid: Option<i32>,
    /// Running under a hypervisor.
    pub hypervisor: bool,
    /// Windows Subsystem for Linux.
    pub wsl: bool,
    /// A container, as far as can be seen.
    pub container: bool,
    /// System calls of this process are filtered.
    pub seccomp: bool,
    /// The NMI watchdog occupies a counter.
    pub nmi_watchdog: bool,
    /// The kernel lists a PMU of the CPU itself.
    pub core_pmu: bool,
    devices: [c_char; 200],
}

impl Machine {
    /// Inspects the machine. It reads about a dozen small files, so it is for cold paths.
    pub(crate) fn inspect(sys: &dyn Files) -> Machine {
        let mut core_pmu = false;
        let mut devices = [0; 200];
        let mut list = text::Writer::new(&mut devices);
        let _ = sys.list(sysfs::DEVICES, &mut |name| {
            core_pmu |= is_core_pmu(name);
            let _ = write!(list, " {name}");
        });
        let exists = |path| sys.read_file(path, &mut [0; 1]).is_ok();
        let mut buffer = [0; 4096];
        // Bytes, not text: a status begins with a thread's name, which is cut at 15 bytes, even inside a character.
        let mut file = |path, test: fn(&[u8]) -> bool| {
            let length = sys.read_file(path, &mut buffer).unwrap_or(0);
            test(&buffer[..length])
        };
        let wsl =
            file("/proc/sys/kernel/osrelease", |text| contains(text, b"icrosoft") || contains(text, b"WSL"));
        // Each thread has its own filters.
        let seccomp = file("/proc/thread-self/status", is_filtered);
        let nmi_watchdog = file("/proc/sys/kernel/nmi_watchdog", |text| text.trim_ascii() == b"1");
        Machine {
            paranoid: paranoid(sys),
            hypervisor: hypervisor() || exists("/sys/hypervisor/type"),
            wsl,
            container: exists("/.dockerenv") || exists("/run/.containerenv"),
            seccomp,
            nmi_watchdog,
            core_pmu,
            devices,
        }
    }

    /// The PMUs that the kernel lists, each with a space before it.
    pub(crate) fn devices(&self) -> &str {
        text::get(&self.devices)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether a thread's status says that its system calls are filtered.
fn is_filtered(status: &[u8]) -> bool {
    let mode = |line: &[u8]| line.strip_prefix(b"Seccomp:").is_some_and(|mode| mode.trim_ascii() == b"2");
    status.split(|&byte| byte == b'\n').any(mode)
}

fn paranoid(sys: &dyn Files) -> Option<i32> {
    let mut buffer = [0; 16];
    let length = sys.read_file("/proc/sys/kernel/perf_event_paranoid", &mut buffer).ok()?;
    core::str::from_utf8(&buffer[..length]).ok()?.trim().parse().ok()
}

/// The names of the CPU's own PMU. All others count something beside it.
fn is_core_pmu(name: &str) -> bool {
    let arm = name.starts_with("armv") || name.starts_with("apple_");
    name == "cpu" || name.starts_with("cpu_") || name.starts_with("cpum_") || arm
}

/// The counters that the CPU reports: fixed and programmable. This is an upper bound: the kernel, the hypervisor or a
/// watchdog may keep some, and only opening a group shows it. (0, 0) if the CPU does not report them.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
pub(crate) fn counters() -> (u32, u32) {
    let leaf_0 = __cpuid(0);
    let vendor = (leaf_0.ebx, leaf_0.edx, leaf_0.ecx);
    let word = |text: &[u8; 4]| u32::from_le_bytes(*text);
    let amd = vendor == (word(b"Auth"), word(b"enti"), word(b"cAMD"));
    let hygon = vendor == (word(b"Hygo"), word(b"nGen"), word(b"uine"));
    if amd || hygon {
        let last = __cpuid(0x8000_0000).eax;
        if last >= 0x8000_0022 && __cpuid(0x8000_0022).eax & 1 != 0 {
            return (0, __cpuid(0x8000_0022).ebx & 0xf);
        }
        let extended = last >= 0x8000_0001 && __cpuid(0x8000_0001).ecx & 1 << 23 != 0;
        return (0, if extended { 6 } else { 4 });
    }
    if leaf_0.eax < 0xa {
        return (0, 0);
    }
    let leaf = __cpuid(0xa);
    let version = leaf.eax & 0xff;
    let programmable = if version == 0 { 0 } else { leaf.eax >> 8 & 0xff };
    let fixed = match version {
        0 | 1 => 0,
        2..=4 => leaf.edx & 0x1f,
        _ => (leaf.edx & 0x1f).max(leaf.ecx.count_ones()),
    };
    (fixed, programmable)
}

/// This CPU does not report its counters to user code.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
pub(crate) fn counters() -> (u32, u32) {
    (0, 0)
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn hypervisor() -> bool {
    __cpuid(1).ecx & 1 << 31 != 0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn hypervisor() -> bool {
    // Under KVM and Xen, the device tree says so.
    std::path::Path::new("/proc/device-tree/hypervisor").exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use picollo_native::seam::sys::Kernel;

    #[test]
    fn this_machine() {
        let machine = Machine::inspect(&Kernel);
        assert!(machine.devices().contains(" software"), "{}", machine.devices());
        assert!(machine.paranoid.is_some());
        let (fixed, programmable) = counters();
        eprintln!("{fixed} fixed and {programmable} programmable counters, core PMU: {}", machine.core_pmu);
        assert!(fixed < 32 && programmable < 256);
    }

    #[test]
    fn a_status_is_bytes() {
        for (status, filtered) in [
            (&b"Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"[..], true),
            // The kernel escapes newlines and backslashes of a name, and cuts a long name at any byte.
            (b"Name:\taaaaaaaaaaaaaa\xc3\nUmask:\t0022\nSeccomp:\t2\n", true),
            (b"Name:\tSeccomp:\t2\nSeccomp:\t0\n", false),
            (b"Seccomp:\t2", true),
            (b"Seccomp:\t1\n", false),
            (b"Seccomp:\t22\n", false),
            (b"Seccomp_filters:\t2\n", false),
            (b"", false),
        ] {
            assert_eq!(is_filtered(status), filtered, "{}", String::from_utf8_lossy(status));
        }
    }

    #[test]
    fn core_pmus() {
        for name in ["cpu", "cpu_core", "cpu_atom", "cpum_cf", "armv8_pmuv3_0", "apple_firestorm_pmu"] {
            assert!(is_core_pmu(name), "{name}");
        }
        for name in ["software", "msr", "power", "cstate_core", "uncore_imc", "breakpoint"] {
            assert!(!is_core_pmu(name), "{name}");
        }
    }
}
