//! What else the machine is busy with: steal, the CPU time of everybody, the time in which something had to wait for a CPU, and the
//! frequency, so far.
//!
//! From files that are kept open and read into memory that is kept: a look takes some microseconds and allocates nothing. What
//! cannot be read is not known, which is never the same as 0.

#[cfg(test)]
#[path = "../../elsewhere/procfs.rs"]
mod nothing;
#[cfg_attr(not(picollo_linux), path = "../../elsewhere/procfs.rs")]
pub(crate) mod procfs;

use self::procfs::Procfs;
use crate::base::error::Result;
use crate::base::vectors::with_room;

/// What the CPUs have done so far, in nanoseconds each: sums over those that are there and on which the program may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cpus {
    /// Which CPUs these are: equal for equal ones.
    pub which: u64,
    pub count: u32,
    /// Running programs and the kernel for them. Without interrupts, which nobody says whose they are.
    pub busy: u64,
    pub idle: u64,
    /// What the host took from this virtual machine; `None` where the kernel does not say.
    pub steal: Option<u64>,
}

/// What the machine has done so far, at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Load {
    pub cpus: Option<Cpus>,
    /// CPU time of this program and of its children that have ended: nanoseconds.
    pub own: Option<u64>,
    /// In which something had to wait for a CPU: nanoseconds.
    pub waited: Option<u64>,
    /// Of one CPU, now: hertz.
    pub hertz: Option<u64>,
}

/// The files that are looked at.
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

/// Where a look comes from: the kernel, and in tests what they plant.
pub(crate) trait Source {
    /// The beginning of a file, as far as the buffer goes; how much that is. `None` where it cannot be read.
    fn read(&mut self, file: File, buffer: &mut [u8]) -> Option<usize>;
    /// CPU time of this program and of its children that have ended: nanoseconds.
    fn own(&mut self) -> Option<u64>;
    /// Where the calling thread may run.
    fn allowed(&self) -> CpuSet;
    /// How long the kernel's ticks are: nanoseconds.
    fn tick(&self) -> u64;
}

enum Chosen {
    Machine(Procfs),
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

/// Of `/proc/stat`, a CPU at most: its name and ten numbers.
const LINE: usize = 256;
/// Never less, whatever the number of CPUs.
const LEAST: usize = 4096;

impl Watch {
    pub(crate) fn machine() -> Result<Watch> {
        Watch::of(Chosen::Machine(Procfs::open()))
    }

    #[cfg(test)]
    pub(crate) fn planted(source: impl Source + Send + 'static) -> Watch {
        Watch::of(Chosen::Planted(Box::new(source))).unwrap()
    }

    /// Of which nothing can be read.
    #[cfg(test)]
    pub(crate) fn unknown() -> Watch {
        Watch::planted(nothing::Procfs::open())
    }

    fn of(mut source: Chosen) -> Result<Watch> {
        let (allowed, tick) = (source.get().allowed(), source.get().tick());
        let mut buffer: Vec<u8> = with_room(LEAST)?;
        buffer.resize(LEAST, 0);
        // The CPUs come first: as long as the file is nothing but them, more room.
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

    /// The kernel's ticks: nanoseconds.
    pub(crate) fn tick(&self) -> u64 {
        self.tick
    }

    /// How things are now. Allocates nothing.
    pub(crate) fn look(&mut self, with_frequency: bool) -> Load {
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
        // Next to the CPUs' times, which it is subtracted from.
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

/// Of `/proc/stat`. `None` where it is not as it should be, or was cut among the CPUs.
fn cpus(text: &[u8], allowed: &CpuSet, tick: u64) -> Option<Cpus> {
    // FNV-1a.
    const SEED: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut sum = Cpus { which: SEED, count: 0, busy: 0, idle: 0, steal: Some(0) };
    let text = core::str::from_utf8(text).ok()?;
    for line in text.split_inclusive('\n') {
        // Cut: also what could still become a CPU.
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
    // The end, or the buffer's.
    None
}

/// Of a file of `/proc/pressure`: the nanoseconds in which something waited.
pub(crate) fn waited(text: &[u8]) -> Option<u64> {
    let text = core::str::from_utf8(text).ok()?;
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests;
