//! The machine's other load: steal, everybody's CPU time, and the time in which something had to wait for a CPU, each
//! so far; and the frequency.
//!
//! The files are kept open and read into memory that is kept, so a look takes a few microseconds and allocates nothing.
//! A figure that cannot be read is unknown, which is never the same as 0.

#[cfg(target_os = "linux")]
mod procfs;

use picollo_native::Result;
use picollo_native::seam::pressure::waited;
use picollo_native::seam::vectors::with_room;

/// CPU time so far, in nanoseconds: sums over the CPUs that exist and on which the program may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cpus {
    /// Identifies the CPUs: equal for equal sets.
    pub which: u64,
    pub count: u32,
    /// Time of programs and of the kernel for them. Interrupts are excluded, because nobody knows whose they are.
    pub busy: u64,
    pub idle: u64,
    /// Time that the host took from this virtual machine; `None` if the kernel does not report it.
    pub steal: Option<u64>,
}

/// The machine's figures so far, at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    pub cpus: Option<Cpus>,
    /// CPU time of this program and of its children that have ended: nanoseconds.
    pub own: Option<u64>,
    /// Time in which something had to wait for a CPU: nanoseconds.
    pub waited: Option<u64>,
    /// The present frequency of one CPU: hertz.
    pub hertz: Option<u64>,
}

/// The files that are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum File {
    /// `/proc/stat`
    Stat = 0,
    /// `/proc/pressure/cpu`
    Pressure = 1,
    /// `scaling_cur_freq` of one CPU.
    Frequency = 2,
}

/// CPUs by their numbers, up to 8,191.
#[derive(Clone)]
pub(crate) struct CpuSet(pub [u64; 128]);

impl CpuSet {
    pub(crate) const ALL: CpuSet = CpuSet([u64::MAX; 128]);

    fn has(&self, cpu: usize) -> bool {
        self.0.get(cpu / 64).is_some_and(|word| word >> (cpu % 64) & 1 != 0)
    }
}

/// The source of the figures: the kernel, or planted text in tests. The defaults know nothing.
pub(crate) trait Source {
    /// Reads the beginning of a file, as far as the buffer goes, and returns its length. `None` if it cannot be read.
    fn read(&mut self, _: File, _: &mut [u8]) -> Option<usize> {
        None
    }
    /// CPU time of this program and of its children that have ended: nanoseconds.
    fn own(&mut self) -> Option<u64> {
        None
    }
    /// The CPUs on which the calling thread may run.
    fn allowed(&self) -> CpuSet {
        CpuSet::ALL
    }
    /// The length of the kernel's ticks: nanoseconds.
    fn tick(&self) -> u64 {
        10_000_000
    }
}

/// A machine without `/proc`.
#[cfg(any(test, not(target_os = "linux")))]
struct Nothing;

#[cfg(any(test, not(target_os = "linux")))]
impl Source for Nothing {}

enum Chosen {
    #[cfg(target_os = "linux")]
    Machine(procfs::Procfs),
    #[cfg(not(target_os = "linux"))]
    Machine(Nothing),
    #[cfg(test)]
    Planted(Box<dyn Source + Send>),
}

/// Looks at the machine.
pub(crate) struct Watch {
    source: Chosen,
    allowed: CpuSet,
    tick: u64,
    buffer: Vec<u8>,
}

/// The longest line of a CPU in `/proc/stat`: its name and ten numbers.
const LINE: usize = 256;
/// The smallest buffer, whatever the number of CPUs.
const LEAST: usize = 4096;

impl Watch {
    pub(crate) fn machine() -> Result<Watch> {
        #[cfg(target_os = "linux")]
        let machine = procfs::Procfs::open();
        #[cfg(not(target_os = "linux"))]
        let machine = Nothing;
        Watch::with_source(Chosen::Machine(machine))
    }

    #[cfg(test)]
    pub(crate) fn planted(source: impl Source + Send + 'static) -> Watch {
        Watch::with_source(Chosen::Planted(Box::new(source))).unwrap()
    }

    /// A watch that can read nothing.
    #[cfg(test)]
    pub(crate) fn unknown() -> Watch {
        Watch::planted(Nothing)
    }

    fn with_source(mut source: Chosen) -> Result<Watch> {
        let (allowed, tick) = (source.get().allowed(), source.get().tick());
        let mut buffer: Vec<u8> = with_room(LEAST)?;
        buffer.resize(LEAST, 0);
        // The CPUs come first. As long as the buffer holds nothing else, it needs more room.
        while let Some(length) = source.get().read(File::Stat, &mut buffer)
            && length == buffer.len()
            && cpus(&buffer, &allowed, tick).is_none()
            && length < LINE * 8192
        {
            buffer = with_room(2 * length)?;
            buffer.resize(2 * length, 0);
        }
        Ok(Watch { source, allowed, tick, buffer })
    }

    /// The length of the kernel's ticks: nanoseconds.
    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the present load. Allocates nothing.
    pub(crate) fn measure(&mut self, with_frequency: bool) -> Load {
        let Watch { source, allowed, tick, buffer } = self;
        let source = source.get();
        let mut read = |file, into: &mut dyn FnMut(&[u8])| {
            if let Some(text) = source.read(file, buffer).and_then(|length| buffer.get(..length)) {
                into(text);
            }
        };
        let (mut cpus, mut waited, mut hertz) = (None, None, None);
        read(File::Stat, &mut |text| cpus = self::cpus(text, allowed, *tick));
        read(File::Pressure, &mut |text| waited = self::waited(text));
        if with_frequency {
            read(File::Frequency, &mut |text| hertz = number(text).map(|kilohertz| kilohertz * 1000));
        }
        // Read next to the CPUs' times, from which it is subtracted.
        Load { cpus, own: source.own(), waited, hertz }
    }
}

impl Chosen {
    fn get(&mut self) -> &mut dyn Source {
        match self {
            Chosen::Machine(procfs) => procfs,
            #[cfg(test)]
            Chosen::Planted(source) => &mut **source,
        }
    }
}

fn number(text: &[u8]) -> Option<u64> {
    core::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Parses `/proc/stat`. `None` if it is malformed, or cut among the CPUs.
fn cpus(text: &[u8], allowed: &CpuSet, tick: u64) -> Option<Cpus> {
    // FNV-1a.
    const SEED: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut sum = Cpus { which: SEED, count: 0, busy: 0, idle: 0, steal: Some(0) };
    let text = core::str::from_utf8(text).ok()?;
    for line in text.split_inclusive('\n') {
        // A cut line is refused if it could still become a CPU's.
        if !line.ends_with('\n') && "cpu".starts_with(&line[..line.len().min(3)]) {
            return None;
        }
        let Some(rest) = line.strip_prefix("cpu") else {
            return (sum.count != 0).then_some(sum);
        };
        let mut fields = rest.split_ascii_whitespace();
        if rest.starts_with(' ') {
            continue;
        }
        let cpu: usize = fields.next()?.parse().ok()?;
        if !allowed.has(cpu) {
            continue;
        }
        let mut next = || fields.next().map(|field| field.parse::<u64>().ok()?.checked_mul(tick));
        // user nice system idle iowait irq softirq steal
        let [user, nice, system, idle] = [next()??, next()??, next()??, next()??];
        let waiting = next().unwrap_or(Some(0))?;
        let (_, _, steal) = (next(), next(), next().flatten());
        sum.which = (sum.which ^ cpu as u64).wrapping_mul(PRIME);
        sum.count += 1;
        sum.busy = sum.busy.checked_add(user)?.checked_add(nice)?.checked_add(system)?;
        sum.idle = sum.idle.checked_add(idle)?.checked_add(waiting)?;
        sum.steal = sum.steal.zip(steal).and_then(|(sum, steal)| sum.checked_add(steal));
    }
    // The end of the file, or of the buffer.
    None
}

#[cfg(test)]
mod tests;
