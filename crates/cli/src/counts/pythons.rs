//! The processes of a Python program. Each Python counts its own lines, and none may be missing, whoever starts it.
//!
//! A Python that is started with `-I`, with `-E`, or with other variables does not know that it is to count, and the program that starts it
//! may be any. So the kernel stops each process that becomes another program (`ptrace`), and each Python that counts leaves a file with its
//! command.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use libc::pid_t;

use super::callgrind::Profile;
use super::run::{files, read_file};
use crate::compare::runner::display_command;
use crate::failure::Failure;

/// The Pythons of one run.
#[derive(Default)]
pub(super) struct Pythons {
    /// Processes and threads that have had their first stop.
    known: HashSet<pid_t>,
    /// The commands of all, each word with a zero behind it.
    commands: Vec<Vec<u8>>,
}

impl Pythons {
    /// Has the kernel stop all processes of a command that is started after this.
    pub(super) fn follow(command: &mut Command) -> Pythons {
        // SAFETY: one system call, which takes no memory.
        let follow = || match unsafe { libc::ptrace(libc::PTRACE_TRACEME) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        // SAFETY: as above.
        unsafe { command.pre_exec(follow) };
        Pythons::default()
    }

    /// Handles a status from `waitpid`, and continues the process or thread if it was stopped.
    pub(super) fn go_on(&mut self, pid: pid_t, status: libc::c_int) {
        if !libc::WIFSTOPPED(status) {
            self.known.remove(&pid);
            return;
        }
        let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
        // The first stop of the program follows its start; others stop for the first time before they begin.
        let is_first = self.known.insert(pid) && matches!(signal, libc::SIGTRAP | libc::SIGSTOP);
        if event == libc::PTRACE_EVENT_EXEC || is_first && signal == libc::SIGTRAP {
            self.note(pid);
        }
        let signal = if is_first || event != 0 { 0 } else { signal };
        let forks = libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK | libc::PTRACE_O_TRACECLONE;
        // SAFETY: the process is stopped, and these calls write nothing here.
        unsafe {
            libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0usize, (forks | libc::PTRACE_O_TRACEEXEC) as usize);
            libc::ptrace(libc::PTRACE_CONT, pid, 0usize, signal as usize);
        }
    }

    /// Notes what a process has become, if that is a Python.
    fn note(&mut self, pid: pid_t) {
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let name = program.file_name().unwrap_or_default().as_bytes();
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // These only print something.
        let prints = [&b"-V"[..], b"-VV", b"--version", b"-h", b"--help"];
        let runs = !command.split(|&byte| byte == 0).nth(1).is_some_and(|word| prints.contains(&word));
        if runs && (name.starts_with(b"python") || name.starts_with(b"pypy")) {
            self.commands.push(command);
        }
    }

    /// What all of them counted, and their number. An error if one is missing.
    pub(super) fn read(mut self, place: &Path, parts: &[String]) -> Result<(Profile, usize), Failure> {
        let refuse = |why: &str| Err(format!("{}: {why}", display_command(parts)).into());
        let (mut profile, mut processes) = (Profile::default(), 0);
        for path in files(place) {
            let kind = path.extension().unwrap_or_default();
            if kind == "command" {
                let command = fs::read(&path).unwrap_or_default();
                if let Some(at) = self.commands.iter().position(|of| *of == command) {
                    self.commands.swap_remove(at);
                }
            } else if kind == "lines" {
                processes += 1;
                match read_file(&mut profile, &path, &["Lines"])? {
                    None => {
                        return refuse(
                            "one of its Python processes was killed or still runs, so its lines are not counted: let the program wait for it",
                        );
                    }
                    Some(part) if !part.trigger.is_empty() => {
                        return refuse(&format!("{}: use --shell to count its instructions", part.trigger));
                    }
                    Some(_) => {}
                }
            }
        }
        if profile.cells.is_empty() {
            return refuse(
                "no lines were counted: use Python 3.7 or later, and start it without -I, -E and -S",
            );
        }
        let Some(command) = self.commands.first() else { return Ok((profile, processes)) };
        let words = String::from_utf8_lossy(command);
        let words: Vec<String> = words.split_terminator('\0').map(str::to_owned).collect();
        let how = "start it without -I, -E and -S and with the variables of this program, or use --shell to count the instructions of all";
        refuse(&format!("it starts a Python that is not counted ({}): {how}", display_command(&words)))
    }
}
