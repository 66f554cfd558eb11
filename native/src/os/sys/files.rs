//! The kernel's files: small ones, read whole, in `/proc` and `/sys`.

use super::{Errno, Kernel};

/// Reading files, as far as events and explanations need it.
pub trait Files {
    /// The beginning of a file, as far as the buffer goes; the number of bytes read.
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno>;
    /// Calls `each` with the names in a directory.
    fn list(&self, path: &str, each: &mut dyn FnMut(&str)) -> Result<(), Errno>;
}

impl Files for Kernel {
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> Result<usize, Errno> {
        // No std::fs: its path conversion may allocate, and this is called while reading counters.
        let name = Name::new(path)?;
        // SAFETY: the name is NUL-terminated.
        let fd = unsafe { libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(Errno::last());
        }
        let mut length = 0;
        let result = loop {
            let rest = &mut buffer[length..];
            if rest.is_empty() {
                break Ok(length);
            }
            // SAFETY: the rest of the buffer is live and as long as said.
            match unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) } {
                0 => break Ok(length),
                bytes if bytes > 0 => length += bytes as usize,
                _ if Errno::last() == Errno(libc::EINTR) => {}
                _ => break Err(Errno::last()),
            }
        };
        // SAFETY: opened above.
        unsafe { libc::close(fd) };
        result
    }

    fn list(&self, path: &str, each: &mut dyn FnMut(&str)) -> Result<(), Errno> {
        // No std::fs here either: it ends the process where there is no memory for a path or a name.
        let name = Name::new(path)?;
        // SAFETY: the name is NUL-terminated.
        let directory = unsafe { libc::opendir(name.as_ptr()) };
        if directory.is_null() {
            return Err(Errno::last());
        }
        let result = loop {
            // SAFETY: the C library's variable of this thread; only so can the end be told from an error.
            unsafe { *libc::__errno_location() = 0 };
            // SAFETY: opened above, and used by this thread alone.
            let entry = unsafe { libc::readdir64(directory) };
            if entry.is_null() {
                break match Errno::last() {
                    Errno(0) => Ok(()),
                    error => Err(error),
                };
            }
            // SAFETY: an entry stays until the next call, and its name is NUL-terminated.
            let name = unsafe { core::ffi::CStr::from_ptr((&raw const (*entry).d_name).cast()) };
            if let Ok(name) = name.to_str()
                && name != "."
                && name != ".."
            {
                each(name);
            }
        };
        // SAFETY: opened above, and not used after this.
        unsafe { libc::closedir(directory) };
        result
    }
}

/// A path as the C library wants it.
struct Name([u8; 512]);

impl Name {
    fn new(path: &str) -> Result<Name, Errno> {
        let mut name = Name([0; 512]);
        if path.len() >= name.0.len() || path.as_bytes().contains(&0) {
            return Err(Errno(libc::ENAMETOOLONG));
        }
        name.0[..path.len()].copy_from_slice(path.as_bytes());
        Ok(name)
    }

    /// NUL-terminated: the path is shorter than its zeroed buffer.
    fn as_ptr(&self) -> *const core::ffi::c_char {
        self.0.as_ptr().cast()
    }
}
