//! A kernel for tests: it opens, groups and counts like the real one, and misbehaves on request.

use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::ptr::NonNull;

pub use picollo_native::seam::kernel::flag::{
    DISABLED, EXCLUDE_GUEST, EXCLUDE_HV, EXCLUDE_KERNEL, EXCLUDE_USER, INHERIT, PINNED,
};
use picollo_native::seam::{Attr, Errno, Files, Page, Perf, Threads};
use picollo_perf::seam::SessionOn;
use picollo_perf::{Event, EventInfo, ReadMode, Reading, SessionOptions};

mod pmu;
pub use pmu::FENCE;
use pmu::Pmu;

/// One request to open.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub attr: Attr,
    pub pid: i32,
    pub cpu: i32,
    pub group: i32,
    /// The number of requests before it.
    pub number: usize,
}

/// An open event.
#[derive(Clone, Debug)]
pub struct Opened {
    pub open: Open,
    pub leader: i32,
    pub value: u64,
    pub enabled: u64,
    pub running: u64,
    pub counting: bool,
    /// A pinned leader that found no room: reads return end of file until it is enabled again.
    pub failed: bool,
    /// The id of the thread that it counts.
    pub thread: i32,
}

pub type Refuse = dyn FnMut(&Open) -> Result<(), i32>;
pub type Distort = dyn FnMut(i32, &mut Vec<u64>) -> Result<usize, i32>;

#[derive(Default)]
pub struct State {
    events: BTreeMap<i32, Opened>,
    next: i32,
    /// All requests, in order.
    transcript: Vec<String>,
    opens: usize,
    refuse: Option<Box<Refuse>>,
    pub distort: Option<Box<Distort>>,
    pub files: BTreeMap<String, String>,
    directories: BTreeMap<String, Vec<String>>,
    pub switches: u64,
    pub failing_ioctls: BTreeSet<u64>,
    /// By position among the requests to open.
    pub failing_ids: BTreeSet<usize>,
    /// Files under this path may not be read.
    pub denied: Option<String>,
    page: Option<Box<[u64; 512]>>,
    pmu: Option<Pmu>,
    /// Calls of `read`.
    reads: usize,
    /// Pinned groups find no room.
    full: bool,
    /// The thread that is started before this many more requests to open, and how many were.
    pub ending: Option<(u32, i32)>,
    births: u32,
}

impl State {
    fn start_thread(&mut self, thread: i32) {
        // The name may contain what looks like its end.
        self.births += 1;
        let stat = format!("{thread} (x) y (z) S {} {} 0 0\n", ["1"; 18].join(" "), self.births);
        self.files.insert(format!("/proc/{thread}/stat"), stat);
    }
}

#[derive(Default)]
pub struct Fake(RefCell<State>);

impl Fake {
    pub fn new() -> Fake {
        let fake = Fake::default();
        fake.0.borrow_mut().next = 100;
        fake.file("/proc/sys/kernel/perf_event_paranoid", "2\n");
        fake.device("software");
        fake.device("cpu");
        fake
    }

    pub fn state(&self) -> RefMut<'_, State> {
        self.0.borrow_mut()
    }

    pub fn refusing(refuse: impl FnMut(&Open) -> Result<(), i32> + 'static) -> Fake {
        let fake = Fake::new();
        fake.refuse(refuse);
        fake
    }

    /// Decides about every request to open.
    pub fn refuse(&self, refuse: impl FnMut(&Open) -> Result<(), i32> + 'static) {
        self.0.borrow_mut().refuse = Some(Box::new(refuse));
    }

    /// Changes the answers to reads: the right answer may be altered, cut, or refused. The length is in bytes.
    pub fn distort(&self, distort: impl FnMut(i32, &mut Vec<u64>) -> Result<usize, i32> + 'static) {
        self.0.borrow_mut().distort = Some(Box::new(distort));
    }

    /// Pinned groups find no room from now on, or find it again. Running ones are thrown off the PMU, and stay off
    /// until they are enabled, even if there is room again, as on Linux.
    pub fn full(&self, full: bool) {
        let mut state = self.0.borrow_mut();
        state.full = full;
        for event in state.events.values_mut().filter(|event| full && event.counting && is_pinned(event)) {
            (event.counting, event.failed) = (false, true);
        }
    }

    /// A thread is started with this id, after all earlier ones.
    pub fn start_thread(&self, thread: i32) {
        self.0.borrow_mut().start_thread(thread);
    }

    pub fn page(&self, capabilities: u64) {
        let mut page = Box::new([0; 512]);
        page[5] = capabilities;
        self.0.borrow_mut().page = Some(page);
    }

    /// Lets time pass: every counting event counts `count` times its position among the open ones (from 1), in `nanos`, of which
    /// it runs `running`.
    pub fn pass(&self, count: u64, nanos: u64, running: u64) {
        let state = &mut *self.0.borrow_mut();
        if let Some(pmu) = &mut state.pmu {
            pmu.pass(nanos);
        }
        let counting: BTreeSet<i32> =
            state.events.iter().filter(|(_, event)| event.counting).map(|(&fd, _)| fd).collect();
        for (position, (&fd, event)) in state.events.iter_mut().enumerate() {
            if counting.contains(&event.leader) {
                let count = count * (position as u64 + 1);
                event.value += count;
                event.enabled += nanos;
                event.running += running;
                if let Some(pmu) = &mut state.pmu {
                    pmu.count(fd, count, event);
                }
            }
        }
    }

    pub fn open_descriptors(&self) -> usize {
        self.0.borrow().events.len()
    }

    pub fn events(&self) -> Vec<Opened> {
        self.0.borrow().events.values().cloned().collect()
    }

    pub fn transcript(&self) -> Vec<String> {
        self.0.borrow().transcript.clone()
    }

    /// The requests to open, in short form.
    pub fn opens(&self) -> Vec<String> {
        self.transcript().into_iter().filter(|line| line.starts_with("open")).collect()
    }
}

fn is_pinned(event: &Opened) -> bool {
    event.open.attr.flags & PINNED != 0
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> i32 {
    // SAFETY: a query without arguments.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// An id that differs from others in its upper half only.
pub fn kernel_id(fd: i32) -> u64 {
    (fd as u64) << 32 | 7
}

fn letters(flags: u64) -> String {
    let all = [
        (DISABLED, 'd'),
        (INHERIT, 'i'),
        (PINNED, 'P'),
        (EXCLUDE_USER, 'u'),
        (EXCLUDE_KERNEL, 'k'),
        (EXCLUDE_HV, 'h'),
        (EXCLUDE_GUEST, 'g'),
    ];
    let mut text: String = all.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, letter)| letter).collect();
    text.extend(std::iter::repeat_n('p', (flags >> 15 & 3) as usize));
    text
}

impl Perf for &Fake {
    fn open(&self, attr: &Attr, pid: i32, cpu: i32, group: i32, flags: u64) -> Result<i32, Errno> {
        assert_eq!(flags, 8, "only CLOEXEC");
        let mut state = self.0.borrow_mut();
        let number = state.opens;
        state.opens += 1;
        if let Some((left, thread)) = &mut state.ending {
            *left -= 1;
            let (left, thread) = (*left, *thread);
            if left == 0 {
                state.ending = None;
                state.start_thread(thread);
            }
        }
        let open = Open { attr: *attr, pid, cpu, group, number };
        let decision = match state.refuse.take() {
            Some(mut refuse) => {
                let decision = refuse(&open);
                state.refuse = Some(refuse);
                decision
            }
            None => Ok(()),
        };
        // The library opens dummy events to find out whether anything works. They are not in the transcript.
        let line = format!("open {}:{:#x} {} group {group}", attr.kind, attr.config, letters(attr.flags));
        // 0 is the calling thread.
        let thread = if pid == 0 { thread_id() } else { pid };
        let answer = match decision {
            Ok(()) if group >= 0 && !state.events.contains_key(&group) => Err(libc::EBADF),
            // All events of a group count the same thread.
            Ok(()) if group >= 0 && state.events[&group].thread != thread => Err(libc::EINVAL),
            Ok(()) => {
                let fd = state.next;
                state.next += 1;
                let leader = if group < 0 { fd } else { group };
                let counting = attr.flags & DISABLED == 0;
                let event = Opened {
                    open,
                    leader,
                    value: 1000,
                    enabled: 5000,
                    running: 5000,
                    counting,
                    failed: false,
                    thread,
                };
                state.events.insert(fd, event);
                Ok(fd)
            }
            Err(errno) => Err(errno),
        };
        state.transcript.push(match answer {
            Ok(fd) => format!("{line} = {fd}"),
            Err(errno) => format!("{line} = errno {errno}"),
        });
        answer.map_err(Errno)
    }

    unsafe fn close(&self, fd: i32) {
        let mut state = self.0.borrow_mut();
        assert!(state.events.remove(&fd).is_some(), "closed a descriptor that is not open: {fd}");
        state.transcript.push(format!("close {fd}"));
    }

    fn read(&self, fd: i32, buffer: &mut [u64]) -> Result<usize, Errno> {
        let mut state = self.0.borrow_mut();
        state.reads += 1;
        let event = state.events.get(&fd).expect("read of a closed descriptor").clone();
        if state.events[&event.leader].failed {
            return Ok(0);
        }
        let mut answer = if event.open.attr.read_format & 8 == 0 {
            vec![event.value, event.enabled, event.running, kernel_id(fd)]
        } else {
            let members: Vec<_> =
                state.events.iter().filter(|(_, other)| other.leader == event.leader).collect();
            let mut answer = vec![members.len() as u64, event.enabled, event.running];
            members.iter().for_each(|(fd, member)| answer.extend([member.value, kernel_id(**fd)]));
            answer
        };
        let mut bytes = answer.len() * 8;
        if let Some(mut distort) = state.distort.take() {
            let result = distort(fd, &mut answer);
            state.distort = Some(distort);
            bytes = result.map_err(Errno)?;
        }
        if answer.len() > buffer.len() && bytes > 0 {
            return Err(Errno(libc::ENOSPC));
        }
        let words = answer.len().min(buffer.len());
        buffer[..words].copy_from_slice(&answer[..words]);
        Ok(bytes)
    }

    unsafe fn ioctl(&self, fd: i32, request: u64, argument: u64) -> Result<(), Errno> {
        assert_eq!(argument, 0);
        let mut state = self.0.borrow_mut();
        if state.failing_ioctls.contains(&request) {
            return Err(Errno(libc::EIO));
        }
        let counting = match request {
            0x2400 => true,
            0x2401 => false,
            other => panic!("request {other:#x} must never be used"),
        };
        state.transcript.push(format!("{} {fd}", if counting { "enable" } else { "disable" }));
        let full = state.full;
        let event = state.events.get_mut(&fd).expect("ioctl on a closed descriptor");
        if counting {
            // It leaves the error state, and returns to it if there is still no room.
            event.failed = full && is_pinned(event);
            event.counting = !event.failed;
        } else {
            event.counting = false;
        }
        // Events that start get the free counters, and events that stop give theirs back.
        drop(state);
        self.on_pmu(1);
        Ok(())
    }

    fn event_id(&self, fd: i32) -> Result<u64, Errno> {
        let state = self.0.borrow();
        let event = state.events.get(&fd).expect("id of a closed descriptor");
        if state.failing_ids.contains(&event.open.number) {
            Err(Errno(libc::ENOTTY))
        } else {
            Ok(kernel_id(fd))
        }
    }

    fn map_page(&self, fd: i32) -> Result<NonNull<Page>, Errno> {
        let mut state = self.0.borrow_mut();
        if let Some(pmu) = &mut state.pmu {
            return Ok(pmu.map(fd));
        }
        let page = state.page.as_mut().ok_or(Errno(libc::EPERM))?;
        Ok(NonNull::new(page.as_mut_ptr().cast()).unwrap())
    }

    unsafe fn unmap_page(&self, page: NonNull<Page>) {
        if let Some(pmu) = &mut self.0.borrow_mut().pmu {
            pmu.unmap(page);
        }
    }
}

/// The fake kernel's files, and what its threads have used.
impl Fake {
    pub fn file(&self, path: &str, text: &str) {
        self.0.borrow_mut().files.insert(path.into(), text.into());
    }

    pub fn device(&self, name: &str) {
        let mut state = self.0.borrow_mut();
        state.directories.entry("/sys/bus/event_source/devices".into()).or_default().push(name.into());
    }

    /// Adds a name to a directory.
    pub fn entry(&self, directory: &str, name: &str) {
        self.0.borrow_mut().directories.entry(directory.into()).or_default().push(name.into());
    }

    pub fn without_pmu(&self) {
        self.0.borrow_mut().directories.clear();
        self.device("software");
    }
}

impl Threads for &Fake {
    fn context_switches(&self) -> Result<u64, Errno> {
        Ok(self.0.borrow().switches)
    }

    fn thread_nanos(&self, _thread: i32) -> Result<u64, Errno> {
        Ok(self.0.borrow().switches * 1000)
    }
}

impl Files for &Fake {
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno> {
        let state = self.0.borrow();
        if state.denied.as_ref().is_some_and(|denied| path.starts_with(denied)) {
            return Err(Errno(libc::EACCES));
        }
        let text = state.files.get(path).ok_or(Errno(libc::ENOENT))?.as_bytes();
        let length = text.len().min(buffer.len());
        buffer[..length].copy_from_slice(&text[..length]);
        Ok(length)
    }

    fn list(&self, path: &str, each: &mut dyn FnMut(&str)) -> Result<(), Errno> {
        let state = self.0.borrow();
        state.directories.get(path).ok_or(Errno(libc::ENOENT))?.iter().for_each(|name| each(name));
        Ok(())
    }
}

/// Events by their names.
pub fn events(specs: &[&str]) -> Vec<Event> {
    specs.iter().map(|spec| Event::parse_with(&&Fake::new(), spec).unwrap()).collect()
}

/// A session on the fake with these flags, and defaults otherwise.
pub fn create<'a>(fake: &'a Fake, flags: u32, specs: &[&str]) -> picollo_native::Result<SessionOn<&'a Fake>> {
    SessionOn::with_sys(fake, &SessionOptions { flags, ..SessionOptions::default() }, &events(specs))
}

/// All readings of a session.
pub fn readings(session: &SessionOn<&Fake>, deltas: bool) -> Vec<Reading> {
    let mut out = vec![Reading::default(); session.length().unwrap()];
    session.readings(deltas, &mut out).unwrap();
    out
}

/// Reads, and returns the delta of each event.
pub fn read(session: &mut SessionOn<&Fake>) -> Vec<Reading> {
    session.read(ReadMode::Auto).unwrap();
    readings(session, true)
}

/// The same after [`Fake::pass`].
pub fn after(
    fake: &Fake,
    session: &mut SessionOn<&Fake>,
    count: u64,
    nanos: u64,
    running: u64,
) -> Vec<Reading> {
    fake.pass(count, nanos, running);
    read(session)
}

pub fn values(readings: &[Reading]) -> Vec<u64> {
    readings.iter().map(|reading| reading.value).collect()
}

/// The infos of all events of a session.
pub fn infos(session: &SessionOn<&Fake>) -> Vec<EventInfo> {
    (0..session.length().unwrap()).map(|index| session.event_info(index).unwrap()).collect()
}

/// Refuses to count in the kernel.
pub fn only_user_space(open: &Open) -> Result<(), i32> {
    if open.attr.flags & EXCLUDE_KERNEL == 0 { Err(libc::EACCES) } else { Ok(()) }
}
