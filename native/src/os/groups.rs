//! Finds the files of this process's control groups: `/proc/self/cgroup` names the group, and `/proc/self/mountinfo`
//! says where trees of groups are mounted.
//!
//! Both name paths within a tree; a mount shows the part of the tree below its root. In a container with a separate
//! namespace both are `/`. In one without, the path begins with the root of the mount. If it does not, the group is not
//! visible from here, and no other group is used instead.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest path; mounts and groups with longer ones are left out. The standard library opens a file with such a
/// path without allocating. A failed allocation would end the process.
const LONGEST: usize = 380;

/// Concatenates two texts; `None` if the result is too long, or memory is short.
fn joined(parts: [&[u8]; 2]) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let length = parts[0].len() + parts[1].len();
    all.try_reserve_exact(length).ok().filter(|()| length <= LONGEST)?;
    parts.iter().for_each(|part| all.extend_from_slice(part));
    Some(all)
}

/// Reads a whole file; `None` if it cannot be read or memory is short (`std::fs::read` would end the process then).
fn contents(path: &str) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let (mut all, mut piece) = (Vec::new(), [0; 2048]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Some(all),
            Ok(length) => {
                all.try_reserve(length).ok()?;
                all.extend_from_slice(&piece[..length]);
            }
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Decodes the file's escapes, such as `\040` for a space.
fn unescaped(field: &[u8]) -> Option<Vec<u8>> {
    let mut path = Vec::new();
    path.try_reserve_exact(field.len()).ok()?;
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let (byte, tail) = match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), tail)
            }
            (&byte, tail) => (byte, tail),
        };
        path.push(byte);
        rest = tail;
    }
    Some(path)
}

/// The folder of the process's own group, and the length of the mount's part of its path.
#[derive(Debug)]
pub struct Groups {
    group: Vec<u8>,
    mount: usize,
    /// The controller has a separate tree: version 1 of control groups.
    pub has_own_tree: bool,
}

impl Groups {
    /// Finds the group in the controller's tree: a separate one (version 1), or the common one (version 2). `None` if
    /// no group is visible, or memory is short.
    pub fn for_process(controller: &str) -> Option<Groups> {
        Groups::find(controller, &contents("/proc/self/cgroup")?, &contents("/proc/self/mountinfo")?)
    }

    pub fn find(controller: &str, group: &[u8], mountinfo: &[u8]) -> Option<Groups> {
        let (mut common, mut own) = (None, None);
        for line in lines(group) {
            // Number, controllers, path. Number 0 is the common tree.
            let mut parts = line.splitn(3, |&byte| byte == b':');
            let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if controllers.split(|&byte| byte == b',').any(|name| name == controller.as_bytes()) {
                own = Some(path);
            } else if number == b"0" && controllers.is_empty() {
                common = Some(path);
            }
        }
        // The last one: if several mounts lie on top of each other, only that one is visible.
        let mounted = |path, own| lines(mountinfo).filter_map(|line| place(line, path, own)).last();
        // A controller is in one tree only. A disabled one has a line, but no mount.
        own.and_then(|path| mounted(path, Some(controller)))
            .or_else(|| common.and_then(|path| mounted(path, None)))
    }

    /// Calls `each` with a file of the process's own group, then of those above it, up to the mount.
    pub fn each(&self, file: &str, mut each: impl FnMut(&Path)) {
        let mut length = self.group.len();
        loop {
            if let Some(file) = joined([&self.group[..length], file.as_bytes()]) {
                each(Path::new(OsStr::from_bytes(&file)));
            }
            let within = self.group.get(self.mount..length).unwrap_or_default();
            match within.iter().rposition(|&byte| byte == b'/') {
                Some(at) => length = self.mount + at,
                None => return,
            }
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// The folder of the group with this path, if the mount on this line shows it.
fn place(line: &[u8], path: &[u8], own: Option<&str>) -> Option<Groups> {
    // Number, its parent's, device, root, mount point, options, any number of further fields, a dash, kind, source, options.
    let mut fields = line.split(|&byte| byte == b' ');
    let (root, at) = (fields.nth(3)?, fields.next()?);
    fields.by_ref().find(|&field| field == b"-")?;
    let (kind, _, options) = (fields.next()?, fields.next()?, fields.next()?);
    let right = match own {
        Some(controller) => {
            kind == b"cgroup"
                && options.split(|&byte| byte == b',').any(|option| option == controller.as_bytes())
        }
        None => kind == b"cgroup2",
    };
    if !right {
        return None;
    }
    let (root, mount) = (unescaped(root)?, unescaped(at)?);
    let below = path.strip_prefix(root.strip_suffix(b"/").unwrap_or(&root))?;
    // `/a` is not above `/ab`. The path of a group outside the namespace goes up from its root.
    if !(below.is_empty() || below.starts_with(b"/"))
        || below.split(|&byte| byte == b'/').any(|name| name == b"..")
    {
        return None;
    }
    let group = joined([&mount, below.strip_suffix(b"/").unwrap_or(below)])?;
    Some(Groups { group, mount: mount.len(), has_own_tree: own.is_some() })
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
