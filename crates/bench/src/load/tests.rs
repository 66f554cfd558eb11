//! Files as kernels write them, and malformed files.

use super::*;

const TICK: u64 = 10_000_000;

/// Recorded on a virtual machine with two CPUs.
const STAT: &str = "\
cpu  110728 13057 29224 211087 988 0 155 89 0 0
cpu0 53359 5980 13672 109183 364 0 23 44 0 0
cpu1 57368 7076 15551 101903 624 0 131 44 0 0
intr 1691138 0 0 0
ctxt 4711
";

fn only(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet([0; 128]);
    cpus.iter().for_each(|cpu| set.0[cpu / 64] |= 1 << (cpu % 64));
    set
}

fn read(text: &str, allowed: &CpuSet) -> Option<Cpus> {
    cpus(text.as_bytes(), allowed, TICK)
}

#[test]
fn recorded() {
    let both = read(STAT, &CpuSet::ALL).unwrap();
    assert_eq!((both.count, both.steal), (2, Some(88 * TICK)));
    assert_eq!(both.busy, (53359 + 5980 + 13672 + 57368 + 7076 + 15551) * TICK);
    assert_eq!(both.idle, (109183 + 364 + 101903 + 624) * TICK);
    // A set that lacks some of the CPUs.
    let second = read(STAT, &only(&[1, 900])).unwrap();
    assert_eq!((second.count, second.busy), (1, (57368 + 7076 + 15551) * TICK));
    let first = read(STAT, &only(&[0])).unwrap();
    assert_ne!(first.which, second.which, "as many, and not the same");
    assert_ne!(both.which, second.which);
    assert_eq!(read(STAT, &only(&[0, 1])).unwrap(), both);
    assert_eq!(read(STAT, &only(&[7])), None, "nothing of CPUs that are not there");
}

#[test]
fn not_known() {
    // Kernels before 2.6.11, and a field that is not a number.
    let old = "cpu  1 2 3 4 5\ncpu0 1 2 3 4 5\nintr 0\n";
    assert_eq!(
        read(old, &CpuSet::ALL).map(|cpus| (cpus.busy, cpus.idle, cpus.steal)),
        Some((6 * TICK, 9 * TICK, None))
    );
    for (from, to) in
        [("57368", "x"), ("57368", "99999999999999999999"), ("57368", "9999999999999"), ("cpu1", "cpux")]
    {
        assert_eq!(read(&STAT.replace(from, to), &CpuSet::ALL), None, "{to}");
    }
    for cut in 0..STAT.find("intr").unwrap() {
        assert_eq!(read(&STAT[..cut], &CpuSet::ALL), None, "cut at {cut}");
    }
    assert_eq!(read("", &CpuSet::ALL), None);
    for (text, nanos) in [
        (
            "some avg10=0.11 avg60=6.97 avg300=9.24 total=421143819\nfull avg10=0.00 total=0\n",
            Some(421_143_819_000),
        ),
        ("full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", None),
        ("some avg10=0.11\n", None),
        ("some total=-1\n", None),
        ("", None),
    ] {
        assert_eq!(waited(text.as_bytes()), nanos, "{text}");
    }
    assert_eq!((number(b"2600000\n"), number(b"<unknown>\n")), (Some(2_600_000), None));
}

/// Missing files, and hundreds of CPUs.
struct Planted(Option<String>);

impl Source for Planted {
    fn read(&mut self, file: File, buffer: &mut [u8]) -> Option<usize> {
        let stat = self.0.as_ref()?;
        let text = match file {
            File::Stat => stat,
            File::Pressure => return None,
            File::Frequency => "2600000\n",
        };
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text.as_bytes()[..length]);
        Some(length)
    }

    fn own(&mut self) -> Option<u64> {
        self.0.as_ref().map(|_| 5)
    }
}

#[test]
fn missing_files_and_many_cpus() {
    assert_eq!(Watch::planted(Planted(None)).measure(true), Load::default());
    for count in [1, 40, 700, 5_000] {
        let mut text = String::from("cpu  1 1 1 1 1 1 1 1 0 0\n");
        (0..count).for_each(|cpu| text += &format!("cpu{cpu} 1000000 1 1 1 1 1 1 1 0 0\n"));
        let load = Watch::planted(Planted(Some(text + "intr 1 2 3\n"))).measure(true);
        let cpus = load.cpus.unwrap();
        assert_eq!((cpus.count, cpus.busy), (count, u64::from(count) * 1_000_002 * TICK));
        assert_eq!((load.own, load.waited, load.hertz), (Some(5), None, Some(2_600_000_000)));
    }
}

/// The machine itself.
#[cfg(target_os = "linux")]
#[cfg_attr(miri, ignore)]
#[test]
fn this_machine() {
    let mut watch = Watch::machine().unwrap();
    assert!((1_000_000..=10_000_000).contains(&watch.tick()), "100 to 1,000 hertz");
    // A look may lose its CPU between its two figures for any length of time.
    let is_among = (0..20).any(|_| {
        let before = watch.measure(true);
        let Some(cpus) = before.cpus else {
            eprintln!("SKIPPED: no /proc/stat here");
            return true;
        };
        assert!(cpus.count >= 1 && cpus.busy > 0, "{cpus:?}");
        let began = std::time::Instant::now();
        while began.elapsed().as_millis() < 60 {
            picollo_native::work::add_chain_256(10);
        }
        let after = watch.measure(true);
        let own = after.own.unwrap() - before.own.unwrap();
        assert!(own > 0, "{before:?} {after:?}");
        let busy = after.cpus.unwrap().busy - cpus.busy;
        // Everybody's time includes this program's, except for a few ticks of its threads.
        busy + 4 * watch.tick() * u64::from(cpus.count) >= own
    });
    assert!(is_among);
}
