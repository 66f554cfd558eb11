//! Runs a program in a separate terminal.
#![allow(dead_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// Longer than any delay of a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Pty {
    pub child: Child,
    /// The other end of the terminal; `None` once it is closed. Only [`Pty::wait_until`] reads it: otherwise the output
    /// stays in the terminal until that is full.
    master: Option<File>,
    written: Vec<u8>,
}

impl Pty {
    /// Starts a program with 80 columns and 24 lines. A controlling terminal sends signals to it.
    pub fn start(mut command: Command, controls: bool) -> Pty {
        let (mut master, mut slave) = (0, 0);
        let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: numbers and a size on the stack; unneeded results are null.
        let result = unsafe {
            libc::openpty(&raw mut master, &raw mut slave, null_mut(), null_mut(), &raw const size)
        };
        assert_eq!(result, 0, "no terminals here");
        // SAFETY: just opened, and owned by nobody else.
        let (master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        // SAFETY: an open descriptor of this process, which must not be inherited by programs.
        unsafe { libc::fcntl(master.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
        // SAFETY: only system calls.
        unsafe {
            command.pre_exec(move || {
                libc::setsid();
                // The tests may have been started by `nohup`.
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                if controls {
                    libc::ioctl(0, libc::TIOCSCTTY as _, 0);
                }
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        // This closes its copies of the terminal.
        drop(command);
        Pty { child, master: Some(master), written: Vec::new() }
    }

    /// Everything read so far.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    /// Waits for this output. Returns whether it appeared.
    pub fn wait_for(&mut self, what: &str) -> bool {
        self.wait_until(|text| text.contains(what))
    }

    pub fn wait_until(&mut self, is_so: impl Fn(&str) -> bool) -> bool {
        let end = Instant::now() + PATIENCE;
        while !is_so(&self.text()) && Instant::now() < end {
            let Some(master) = &mut self.master else { break };
            let mut one = libc::pollfd { fd: master.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one structure on the stack.
            unsafe { libc::poll(&raw mut one, 1, 50) };
            let mut bytes = [0; 4096];
            match if one.revents == 0 { Ok(0) } else { master.read(&mut bytes) } {
                Ok(length) => self.written.extend_from_slice(&bytes[..length]),
                // The other end is closed.
                Err(_) => break,
            }
        }
        is_so(&self.text())
    }

    pub fn type_in(&mut self, keys: &[u8]) {
        self.master.as_mut().unwrap().write_all(keys).unwrap();
    }

    pub fn resize(&self, columns: u16) {
        let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: an open terminal, and a size on the stack.
        unsafe { libc::ioctl(self.master.as_ref().unwrap().as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    }

    /// Closes the terminal.
    pub fn close(&mut self) {
        self.master = None;
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a child of this process that was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Waits for the program's end.
    pub fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
