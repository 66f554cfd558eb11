//! The fake kernel's files, and what its threads have used.

use picollo_native::seam::{Errno, Files, Threads};

use super::Fake;

impl Fake {
    pub fn file(&self, path: &str, text: &str) {
        self.0.borrow_mut().files.insert(path.into(), text.into());
    }

    pub fn remove(&self, path: &str) {
        self.0.borrow_mut().files.remove(path);
    }

    /// Files under this path may not be read.
    pub fn deny(&self, path: &str) {
        self.0.borrow_mut().denied = Some(path.into());
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
