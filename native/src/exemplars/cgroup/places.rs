//! Where the files of this process's groups are: from `/proc/self/cgroup`, which names the group, and `/proc/self/mountinfo`, which says where
//! trees of groups are to be seen.
//!
//! Both name paths within a tree; a mount shows a part of the tree, from its root on. In a container with a namespace of its own
//! both are `/`, in one without, the path begins with the root of the mount. Where it does not, the group cannot be seen from here, and no other
//! is taken for it.

use super::Source;
use crate::os::sys::Errno;

/// Longest path that is looked for; mounts and groups with longer ones are left out.
const LONGEST: usize = 480;

/// Text of a bounded length.
pub(super) struct Path {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Path {
    pub(super) const EMPTY: Path = Path { bytes: [0; LONGEST], length: 0 };

    fn push(&mut self, bytes: &[u8]) -> bool {
        let Some(room) = self.bytes.get_mut(self.length..self.length + bytes.len()) else { return false };
        room.copy_from_slice(bytes);
        self.length += bytes.len();
        true
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.as_bytes()).ok()
    }

    /// The same with one more name at its end, where there is room.
    fn with(&self, name: &str) -> Option<Path> {
        let mut path = Path { bytes: self.bytes, length: self.length };
        path.push(name.as_bytes()).then_some(path)
    }

    /// What the file writes as `\040` is a space.
    fn unescaped(field: &[u8]) -> Option<Path> {
        let mut path = Path::EMPTY;
        let mut rest = field;
        while let [first, tail @ ..] = rest {
            let (byte, tail) = match (first, tail) {
                (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                    ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), tail)
                }
                (&byte, tail) => (byte, tail),
            };
            if !path.push(&[byte]) {
                return None;
            }
            rest = tail;
        }
        Some(path)
    }
}

/// The folder of the process's own group, and how much of its path is the mount's.
pub(super) struct Places {
    group: Path,
    mount: usize,
}

impl Places {
    /// Those of the tree that the CPU controller is in: a tree of its own (version 1), or the common one (version 2). `None` where
    /// there is none to be seen.
    pub(super) fn find<S: Source>(sys: &S) -> Option<Places> {
        let (mut common, mut own) = (None, None);
        lines(sys, "/proc/self/cgroup", |line| {
            // Number, controllers, path. The number 0 is the common tree's.
            let mut parts = line.splitn(3, |&byte| byte == b':');
            let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
            else {
                return;
            };
            if controllers.split(|&byte| byte == b',').any(|name| name == b"cpu") {
                own = whole(path);
            } else if number == b"0" && controllers.is_empty() {
                common = whole(path);
            }
        })
        .ok()?;
        // A controller is in one tree only. One that is disabled has a line of its own, but no mount.
        own.and_then(|path| Places::mounted(sys, &path, true))
            .or_else(|| common.and_then(|path| Places::mounted(sys, &path, false)))
    }

    fn mounted<S: Source>(sys: &S, path: &Path, own: bool) -> Option<Places> {
        let mut found = None;
        lines(sys, "/proc/self/mountinfo", |line| {
            // The last one: where several lie on top of each other, it is the one to be seen.
            if let Some(places) = place(line, path, own) {
                found = Some(places);
            }
        })
        .ok()?;
        found
    }

    /// The `cpu.stat` of the process's own group, then of those above it, up to what is mounted.
    pub(super) fn each(&self, mut each: impl FnMut(&str)) {
        let mut length = self.group.length;
        loop {
            let folder = Path { bytes: self.group.bytes, length };
            if let Some(file) = folder.with("/cpu.stat")
                && let Some(name) = file.as_str()
            {
                each(name);
            }
            let within = self.group.bytes.get(self.mount..length).unwrap_or_default();
            match within.iter().rposition(|&byte| byte == b'/') {
                Some(at) => length = self.mount + at,
                None => return,
            }
        }
    }
}

fn whole(path: &[u8]) -> Option<Path> {
    let mut whole = Path::EMPTY;
    whole.push(path).then_some(whole)
}

/// The folder of a group with this path in what a line of mounts shows.
fn place(line: &[u8], path: &Path, own: bool) -> Option<Places> {
    // Number, its parent's, device, root, mount point, options, any number of further fields, a dash, kind, source, options.
    let mut fields = line.split(|&byte| byte == b' ');
    let (root, at) = (fields.nth(3)?, fields.next()?);
    fields.by_ref().find(|&field| field == b"-")?;
    let (kind, _, options) = (fields.next()?, fields.next()?, fields.next()?);
    let right = match own {
        true => kind == b"cgroup" && options.split(|&byte| byte == b',').any(|option| option == b"cpu"),
        false => kind == b"cgroup2",
    };
    if !right {
        return None;
    }
    let (root, mut group) = (Path::unescaped(root)?, Path::unescaped(at)?);
    let root = root.as_bytes().strip_suffix(b"/").unwrap_or(root.as_bytes());
    let below = path.as_bytes().strip_prefix(root)?;
    // `/a` is not above `/ab`; and a group outside of the namespace has a path that goes up from its root.
    if !(below.is_empty() || below.starts_with(b"/"))
        || below.split(|&byte| byte == b'/').any(|name| name == b"..")
    {
        return None;
    }
    let mount = group.length;
    group.push(below.strip_suffix(b"/").unwrap_or(below)).then_some(Places { group, mount })
}

/// Calls with each line of a file, however long the file is. Lines that are too long for this are passed over.
fn lines<S: Source>(sys: &S, path: &str, mut each: impl FnMut(&[u8])) -> Result<(), Errno> {
    let fd = sys.open(path)?;
    let mut buffer = [0; 2048];
    let (mut kept, mut offset, mut skipping) = (0, 0, false);
    let result = loop {
        match sys.read_at(fd, &mut buffer[kept..], offset) {
            Ok(0) => {
                if kept > 0 && !skipping {
                    each(&buffer[..kept]);
                }
                break Ok(());
            }
            Ok(length) => {
                offset += length as u64;
                let filled = (kept + length).min(buffer.len());
                let mut from = 0;
                while let Some(at) = buffer[from..filled].iter().position(|&byte| byte == b'\n') {
                    if !skipping {
                        each(&buffer[from..from + at]);
                    }
                    (from, skipping) = (from + at + 1, false);
                }
                buffer.copy_within(from..filled, 0);
                kept = filled - from;
                if kept == buffer.len() {
                    // The rest of this line is passed over.
                    (kept, skipping) = (0, true);
                } else if skipping {
                    kept = 0;
                }
            }
            Err(errno) => break Err(errno),
        }
    };
    sys.close(fd);
    result
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
