//! Tests the system calls of a ring, their order, and the cleanup after a refusal.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::window::Faults;
use super::*;

/// A system that opens and maps until it is set to refuse.
#[derive(Debug)]
struct Fake(RefCell<State>);

impl Default for Fake {
    fn default() -> Self {
        Fake(RefCell::new(State { left: Some(1_000), ..State::default() }))
    }
}

#[derive(Default, Debug)]
struct State {
    opened: Vec<Attr>,
    descriptors: Vec<i32>,
    mapped: BTreeMap<usize, Box<[u64]>>,
    /// The number of the call to refuse, and its error.
    refuse_open: Option<(usize, i32)>,
    refuse_map: Option<(usize, i32)>,
    maps: usize,
    /// The count of switches, how often it was read, and whether the thread leaves the CPU between any two readings.
    left: Option<u64>,
    asked: u64,
    restless: bool,
    offsets: Option<&'static str>,
}

impl Files for &Fake {
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno> {
        match self.0.borrow().offsets {
            Some(text) if path == "/proc/self/timens_offsets" => {
                buffer[..text.len()].copy_from_slice(text.as_bytes());
                Ok(text.len())
            }
            _ => Err(Errno(libc::ENOENT)),
        }
    }
    fn list(&self, _: &str, _: &mut dyn FnMut(&str)) -> Result<(), Errno> {
        Err(Errno(libc::ENOENT))
    }
}

impl Threads for &Fake {
    fn context_switches(&self) -> Result<u64, Errno> {
        let mut state = self.0.borrow_mut();
        state.asked += 1;
        match state.left {
            Some(left) => Ok(left + if state.restless { state.asked } else { 0 }),
            None => Err(Errno(libc::EPERM)),
        }
    }
    fn thread_nanos(&self, _: i32) -> Result<u64, Errno> {
        Err(Errno(libc::EINVAL))
    }
}

impl System for &Fake {
    fn open_event(&self, attr: &Attr) -> Result<i32, Errno> {
        let mut state = self.0.borrow_mut();
        state.opened.push(*attr);
        let number = state.opened.len();
        if let Some((refused, errno)) = state.refuse_open
            && number >= refused
        {
            return Err(Errno(errno));
        }
        state.descriptors.push(100 + number as i32);
        Ok(100 + number as i32)
    }
    unsafe fn close_event(&self, fd: i32) {
        let mut state = self.0.borrow_mut();
        let at = state.descriptors.iter().position(|&open| open == fd).expect("an open descriptor");
        state.descriptors.remove(at);
    }
    fn map_ring(&self, fd: i32, length: usize) -> Result<NonNull<u8>, Errno> {
        let mut state = self.0.borrow_mut();
        assert!(state.descriptors.contains(&fd));
        state.maps += 1;
        if let Some((refused, errno)) = state.refuse_map
            && state.maps >= refused
        {
            return Err(Errno(errno));
        }
        let mut memory = vec![0u64; length / 8].into_boxed_slice();
        let at = NonNull::from(&mut memory[0]).cast();
        state.mapped.insert(at.as_ptr() as usize, memory);
        Ok(at)
    }
    unsafe fn unmap_ring(&self, at: NonNull<u8>, length: usize) {
        let gone = self.0.borrow_mut().mapped.remove(&(at.as_ptr() as usize));
        assert_eq!(gone.expect("a mapping").len() * 8, length);
    }
    fn raw_nanos(&self) -> u64 {
        1_000
    }
}

fn nothing_is_left(fake: &Fake) {
    let state = fake.0.borrow();
    assert!(state.mapped.is_empty() && state.descriptors.is_empty());
}

/// Software events, for switches the one that counts nothing, with only the time, dated by CLOCK_MONOTONIC_RAW. Faults
/// have separate rings. The descriptors are closed, and the mappings stay.
#[test]
fn a_ring_asks_for_what_it_needs() {
    let fakes = [Fake::default(), Fake::default()];
    let rings = [Ring::open(&fakes[0], false).unwrap(), Ring::open(&fakes[1], true).unwrap()];
    for (fake, configs) in fakes.iter().zip([&[(9, 0)][..], &[(9, 0), (2, 1), (5, 1), (6, 1)]]) {
        let state = fake.0.borrow();
        assert_eq!((state.descriptors.len(), state.mapped.len()), (0, configs.len()));
        let found: Vec<_> = state.opened.iter().map(|attr| (attr.config, attr.sample_period)).collect();
        assert_eq!(found, configs);
        for attr in &state.opened {
            assert_eq!((attr.kind, attr.sample_type, attr.clockid, attr.size), (1, 4, 4, 112));
            let flags = 1 << 5 | 1 << 6 | 1 << 25 | 1 << 27;
            let of_switches = if attr.config == 9 { 1 << 18 | 1 << 26 } else { 0 };
            assert!(cfg!(target_endian = "big") || attr.flags == flags | of_switches);
        }
    }
    let [plain, with_faults] = &rings;
    assert!(plain.window(1_000, 1_000).complete && !plain.window(999, 1_000).complete);
    assert_eq!(plain.window(1_000, 1_000).faults, None);
    let faults = Faults { complete: true, ..Faults::default() };
    assert_eq!(with_faults.window(1_000, 1_000).faults, Some(faults));
    drop(rings);
    fakes.iter().for_each(nothing_is_left);
}

/// If any call fails, nothing is left behind, and the error shows the cause.
#[test]
fn refusals_leave_nothing() {
    for number in 1..=4 {
        let fake = Fake::default();
        fake.0.borrow_mut().refuse_open = Some((number, libc::EACCES));
        let refused = Ring::open(&fake, true).unwrap_err();
        assert!(matches!(refused, Refused::Open { errno: Errno(libc::EACCES), .. }), "{refused:?}");
        nothing_is_left(&fake);
        let fake = Fake::default();
        fake.0.borrow_mut().refuse_map = Some((number, libc::EPERM));
        let refused = Ring::open(&fake, true).unwrap_err();
        assert_eq!(refused, Refused::Memory(Errno(libc::EPERM)));
        nothing_is_left(&fake);
    }
    // Interrupted calls are repeated, but not forever.
    let fake = Fake::default();
    fake.0.borrow_mut().refuse_open = Some((1, libc::EINTR));
    assert!(matches!(Ring::open(&fake, false), Err(Refused::Open { errno: Errno(libc::EINTR), .. })));
}

/// Only the request for page faults is changed and repeated: each refused request costs a system call.
#[test]
fn a_ring_is_requested_without_faults_if_they_were_requested() {
    for (has_faults, requests) in [(false, 1), (true, 2)] {
        let fake = Fake::default();
        fake.0.borrow_mut().refuse_open = Some((1, libc::EACCES));
        assert!(Ring::open_possible(&fake, has_faults).is_err());
        assert_eq!(fake.0.borrow().opened.len(), requests);
    }
}

#[test]
fn clocks_of_a_namespace_are_noticed() {
    let same = "monotonic           0         0\nboottime            5         0\n";
    for (offsets, agree) in [
        (None, true),
        (Some(same), true),
        (Some("monotonic           0         1\nboottime            0         0\n"), false),
        (Some("monotonic  -86400         0\n"), false),
        (Some("boottime            0         0\nmonotonic           7         0\n"), false),
        (Some(""), true),
    ] {
        let fake = Fake::default();
        fake.0.borrow_mut().offsets = offsets;
        match Ring::open(&fake, false) {
            Ok(_) => assert!(agree, "{offsets:?}"),
            Err(refused) => assert_eq!((refused, agree), (Refused::Clock, false), "{offsets:?}"),
        }
    }
}

/// The kernel's count and the records must agree.
#[test]
fn a_ring_that_contradicts_the_account_is_ignored() {
    let fake = Fake::default();
    let ring = Ring::open(&fake, false).unwrap();
    let head = |bytes: u64| {
        let mut state = fake.0.borrow_mut();
        state.mapped.values_mut().next().unwrap()[DATA_HEAD / 8] = bytes.wrapping_neg();
    };
    let known = || ring.window(1_000, 1_000).complete;
    assert!(known());
    fake.0.borrow_mut().left = Some(1_001);
    assert!(!known());
    // More than the ring holds. The window needs no records, since no switch is so early.
    fake.0.borrow_mut().left = Some(1_000 + 500);
    head(500 * 32);
    assert_eq!(ring.account(), Ok(Some(1_000)));
    for (left, bytes) in [(1_499, 500 * 32), (1_500, 499 * 32), (1_500, 0)] {
        fake.0.borrow_mut().left = Some(left);
        head(bytes);
        assert!(ring.account() != Ok(Some(1_000)) && !known());
    }
    head(0);
    fake.0.borrow_mut().left = Some(1_000);
    assert!(known());
    fake.0.borrow_mut().restless = true;
    assert_eq!((ring.account(), known()), (Ok(None), false));
    fake.0.borrow_mut().left = None;
    assert!(!known());
    let refused = Ring::open(&fake, false).unwrap_err();
    assert_eq!(refused, Refused::Accounts(Errno(libc::EPERM)));
    assert!(refused.explain().message().contains("getrusage"));
    assert_eq!(fake.0.borrow().mapped.len(), 1);
}

#[test]
fn refusals_are_explained() {
    let attr = Attr { kind: kind::SOFTWARE, config: software::DUMMY, ..Attr::default() };
    for (refused, status, errno, part) in [
        (Refused::Clock, Status::Unsupported, 0, "time namespace"),
        (Refused::Memory(Errno(libc::EPERM)), Status::Permission, libc::EPERM, "RLIMIT_MEMLOCK"),
        (Refused::Memory(Errno(libc::ENOMEM)), Status::OutOfMemory, libc::ENOMEM, "mapped"),
        (Refused::Open { attr, errno: Errno(libc::EMFILE) }, Status::Os, libc::EMFILE, "ulimit -n"),
    ] {
        let error = refused.explain();
        assert!(error.message().starts_with("context switches: "), "{error}");
        assert!(error.message().contains(part), "{error}");
        assert_eq!((error.status(), error.os_errno()), (status, errno), "{error}");
    }
}
