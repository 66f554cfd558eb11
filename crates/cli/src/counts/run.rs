//! Runs commands where what they execute is counted: under Callgrind, or, if they are Python programs, by Python itself.
//!
//! A process that forks hands its counts on to its child, and one that becomes another program forgets them. Callgrind
//! therefore writes its counts before either, and starts again from zero. Valgrind starts what its client executes by the program
//! that `VALGRIND_LAUNCHER` names. That is this command, which gives each program separate files.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::SystemTime;

use clap::ArgMatches;

use super::callgrind::{self, Part, Profile};
use super::pythons::Pythons;
use super::source::Source;
use super::world::{self, Alike, Directory};
use crate::compare::runner::{check, display_command, input};
use crate::failure::{Failure, plain};

/// Where a process forks, by any name that C libraries have for it, and where it becomes another program.
const FORKS: [&str; 6] = ["fork", "_Fork", "__libc_fork", "vfork", "posix_spawn", "posix_spawnp"];
const EXECS: [&str; 2] = ["execve", "fexecve"];
const BEFORE: &str = "--dump-before=";
const OUT: &str = "--callgrind-out-file=";
const LOG: &str = "--log-file=";

/// The unit of the counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Instructions,
    /// Misses of a simulated first-level data cache.
    Misses,
    PythonLines,
}

impl Unit {
    pub(super) fn name(self) -> &'static str {
        match self {
            Unit::Instructions => "instructions",
            Unit::Misses => "simulated cache misses",
            Unit::PythonLines => "lines of Python",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Unit::PythonLines => "Counted by Python: exact, without what C functions execute",
            _ => {
                "Counted by Valgrind, which simulates the processor: exact, but programs may take other paths there (3.19 has no AVX-512)"
            }
        }
    }
}

/// Runs commands in the same world each time.
pub(super) struct Counter {
    pub(super) environment: Vec<(OsString, OsString)>,
    input: Option<PathBuf>,
    shows_output: bool,
    ignores_failure: bool,
    directory: Directory,
}

impl Counter {
    pub(super) fn new(matches: &ArgMatches) -> Result<Counter, Failure> {
        let given = matches.get_many::<String>("env").into_iter().flatten().map(String::as_str);
        Ok(Counter {
            environment: world::environment(given),
            input: matches.get_one::<String>("input").map(PathBuf::from),
            shows_output: matches.get_flag("show-output"),
            ignores_failure: matches.get_flag("ignore-failure"),
            directory: Directory::new()?,
        })
    }

    /// What can be counted of a command. An error if nothing can.
    pub(super) fn unit(&self, parts: &[String]) -> Result<Unit, Failure> {
        // A program that is missing is missed when it is run.
        let file = world::find_program(&parts[0], &self.environment).unwrap_or_default();
        let is_python = |path: &[u8]| path.windows(6).any(|part| part == b"python");
        let mut head = Vec::new();
        let _ = File::open(&file).and_then(|file| file.take(128).read_to_end(&mut head));
        let first = head.split(|&byte| byte == b'\n').next().filter(|line| line.starts_with(b"#!"));
        if file.file_name().is_some_and(|name| name.as_bytes().starts_with(b"python"))
            || first.is_some_and(is_python)
        {
            return Ok(Unit::PythonLines);
        }
        if fs::metadata(&file).is_ok_and(|about| about.permissions().mode() & 0o6000 != 0) {
            let why = "it is a setuid program, which Valgrind cannot run: count a copy without that mode";
            return Err(format!("{}: {why}", file.display()).into());
        }
        self.find_tool().map(|()| Unit::Instructions)
    }

    /// Puts what runs below Valgrind into the directory, once.
    fn find_tool(&self) -> Result<(), Failure> {
        let tool = self.directory.path.join("tool");
        if tool.is_symlink() {
            return Ok(());
        }
        // Debian's `valgrind` is a script around `valgrind.bin`.
        let found = ["valgrind.bin", "valgrind"].map(|name| world::find_program(name, &self.environment));
        let Some(valgrind) = found.into_iter().flatten().next() else {
            return Err("counting instructions needs Valgrind, and PATH has no valgrind: apt install valgrind, or dnf install valgrind".into());
        };
        let said = Command::new(&valgrind).args(["-d", "--tool=callgrind", "--version"]).output();
        let said = said.map(|output| [output.stderr, output.stdout].concat()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let path = said.lines().find_map(|line| line.split_once("launching ").map(|(_, path)| path.trim()));
        let Some(path) = path.filter(|path| Path::new(path).is_file()) else {
            let why = "its tool callgrind was not found: install all of Valgrind";
            return Err(format!("{}: {why}", valgrind.display()).into());
        };
        symlink(path, &tool).map_err(|error| Failure::for_file(tool.display(), &error))
    }

    /// A program with what all of them get.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment.iter().cloned());
        command
    }

    /// A run that is not counted. It fills the caches of files, and finds commands that fail in a hundredth of the time.
    pub(super) fn warm_up(&self, parts: &[String]) -> Result<(), Failure> {
        let finished = self.finish(self.command(&parts[0]), &parts[0], parts, None);
        finished.map_err(|why| {
            let what = why.text();
            format!("{what}; commands get few environment variables, and --env passes more on").into()
        })
    }

    /// One run. A program that is alike is started by the name that all programs share.
    pub(super) fn count(
        &self,
        parts: &[String],
        alike: Option<&Alike>,
        unit: Unit,
    ) -> Result<Source, Failure> {
        let (directory, began) = (self.directory.run()?, SystemTime::now());
        let place = directory.path();
        let name = alike.map_or_else(|| Ok(parts[0].clone()), |alike| self.directory.link(alike))?;
        let program =
            world::find_program(&parts[0], &self.environment).and_then(|file| file.canonicalize().ok());
        let source = |(profile, processes): (Profile, usize)| {
            let program = program.unwrap_or_default();
            Source::from_profile(&profile, &program.to_string_lossy(), began, processes)
        };
        if unit == Unit::PythonLines {
            fs::write(place.join("sitecustomize.py"), include_str!("trace.py"))
                .map_err(|error| Failure::for_file(place.display(), &error))?;
            let given = self.environment.iter().filter(|(name, _)| name == "PYTHONPATH");
            let given = given.flat_map(|(_, paths)| std::env::split_paths(paths));
            let paths = std::env::join_paths([place.to_owned()].into_iter().chain(given));
            let paths = paths.map_err(|error| format!("TMPDIR: {error}"))?;
            let mut command = self.command(&name);
            command.env("PYTHONPATH", paths).env("PYTHONDONTWRITEBYTECODE", "1");
            let mut pythons = Pythons::follow(&mut command);
            self.finish(command, &name, parts, Some(&mut pythons))?;
            return pythons.read(place, parts).map(source);
        }
        let mut command = self.command(std::env::current_exe().map_err(|error| plain(&error))?);
        command.arg(format!("{OUT}{}/0/out", place.display())).arg(LOG);
        let tool = ["--tool=callgrind", "--command-line-only=yes", "--trace-children=yes"];
        command.args(tool).arg("--dump-instr=yes");
        // A symbol may have a version.
        let names = FORKS.iter().chain(&EXECS).flat_map(|name| [(*name).to_owned(), format!("{name}@*")]);
        command.args(names.map(|name| format!("{BEFORE}{name}")));
        // Rust's library reads the map of memory by this at its start, and Valgrind's own memory is in it.
        command.args(["--toggle-collect=pthread_getattr_np*", "--collect-atstart=yes"]);
        if unit == Unit::Misses {
            // Fixed sizes: those of this machine's caches would make other counts on another.
            command.args(["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]);
        }
        let library = fs::read_link(self.directory.path.join("tool")).unwrap_or_default();
        command.env("VALGRIND_LIB", library.parent().unwrap_or(Path::new("/"))).arg(&name);
        match (self.finish(command, &name, parts, None), refused(place)) {
            (Ok(()), None) => read_images(place, parts, unit).map(source),
            // The program survived: it has a handler, or a parent that ignored it. What it executed then is not what it executes.
            (Ok(()), Some(why)) => Err(format!("{}: {why}", display_command(parts)).into()),
            (Err(what), why) => {
                let alone = "it fails only under Valgrind, which starts no setuid programs and writes nothing after chroot; it also gets few environment variables, and --env passes more on";
                Err(format!("{}; {}", what.text(), why.as_deref().unwrap_or(alone)).into())
            }
        }
    }

    /// Runs a command with the arguments that it has been given, to its end.
    fn finish(
        &self,
        mut command: Command,
        name: &str,
        parts: &[String],
        mut pythons: Option<&mut Pythons>,
    ) -> Result<(), Failure> {
        command.args(&parts[1..]);
        command.env(world::PADDING, world::padding(&self.environment, name.as_ref(), &parts[1..]));
        command.stdin(input(self.input.as_deref())?);
        if !self.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        world::same_addresses(&mut command, self.directory.signals);
        let follows = pythons.is_some();
        let failed = |error: io::Error| {
            let is_forbidden = follows && matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
            let why = "this system does not allow ptrace, which finds the processes of a Python program: use --shell to count its instructions";
            Failure::Message(format!(
                "{}: {}",
                parts[0],
                if is_forbidden { why.into() } else { plain(&error) }
            ))
        };
        let mut child = command.process_group(0).spawn().map_err(failed)?;
        loop {
            let signal = self.directory.signals.next(None);
            if let Some(signal) = signal.filter(|&signal| signal != libc::SIGCHLD) {
                // SAFETY: two system calls; the group is the child's own. The signal waits until the directory is gone.
                unsafe {
                    libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL);
                    libc::raise(signal);
                }
                child.wait().map_err(failed)?;
                return Err("interrupted".into());
            }
            let mut status = 0;
            // SAFETY: the call writes to the stack. This process has no other children.
            while let pid @ 1.. = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::__WALL) }
            {
                if let Some(pythons) = pythons.as_mut() {
                    pythons.go_on(pid, status);
                }
                if pid == child.id() as libc::pid_t && !libc::WIFSTOPPED(status) {
                    return check(ExitStatus::from_raw(status), parts, self.ignores_failure);
                }
            }
        }
    }
}

/// Whether this is what Valgrind starts programs by. It makes a directory for the program that it is to start, and becomes Callgrind.
pub(crate) fn launch() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let out = arguments.get(1)?.as_bytes().strip_prefix(OUT.as_bytes())?.to_vec();
    let out = PathBuf::from(OsString::from_vec(out));
    let place = out.parent()?.parent()?;
    let image = (0..100_000)
        .map(|n| place.join(format!("{}.{n}", std::process::id())))
        .find(|image| fs::create_dir(image).is_ok())?;
    let own = [format!("{OUT}{}/out.%p", image.display()), format!("{LOG}{}/log.%p", image.display())];
    // The two that are replaced are always the first.
    let words = own.map(OsString::from).into_iter().chain(arguments.into_iter().skip(3));
    let words = [place.parent()?.join("tool").into_os_string()].into_iter().chain(words);
    let words: Vec<CString> = words.filter_map(|word| CString::new(word.into_vec()).ok()).collect();
    let pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
    // SAFETY: one thread. `std` has the signal of a broken pipe ignored, which programs would inherit; and `Command` would clear the mask.
    unsafe {
        std::env::set_var("VALGRIND_LAUNCHER", std::env::current_exe().ok()?);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execv(words[0].as_ptr(), pointers.as_ptr());
    }
    Some(ExitCode::from(127))
}

/// All files of one run, and the number of processes. An error if one is missing, or would be counted twice.
fn read_images(place: &Path, parts: &[String], unit: Unit) -> Result<(Profile, usize), Failure> {
    let mut profile = Profile::default();
    // For each process: whether it has ended, and whether it wrote all of its counts.
    let mut processes: HashMap<String, (bool, bool)> = HashMap::new();
    let events: &[&str] = if unit == Unit::Misses { &["D1mr", "D1mw"] } else { &["Ir"] };
    for image in files(place) {
        // The parts that each process wrote, by the number of the file; the last file has no number.
        let mut written: HashMap<String, BTreeMap<u64, Part>> = HashMap::new();
        for path in files(&image) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let mut words = name.split('.');
            let (kind, pid) = (words.next(), words.next().unwrap_or_default().to_owned());
            let of = written.entry(pid).or_default();
            // Callgrind makes an empty file for the end of each process, which a process that becomes another program leaves there.
            if kind == Some("out")
                && let Some(part) = read_file(&mut profile, &path, events)?
            {
                of.insert(words.next().and_then(|number| number.parse().ok()).unwrap_or(u64::MAX), part);
            }
        }
        let is_before = |part: &Part, names: &[&str]| {
            let name = part.trigger.strip_prefix(BEFORE).and_then(|name| name.split('@').next());
            name.is_some_and(|name| names.contains(&name))
        };
        // The program's first process begins with nothing, and each fork where its parent wrote what it had until then.
        let all = written.values().flat_map(BTreeMap::values);
        let mut begins: Vec<u64> =
            all.filter(|part| is_before(part, &FORKS)).map(|part| part.time[1]).collect();
        begins.push(0);
        for (pid, parts_of) in written {
            let (has_ended, is_whole) = processes.entry(pid).or_insert((false, true));
            let last = parts_of.last_key_value();
            let ends = last.is_some_and(|(&number, _)| number == u64::MAX);
            *has_ended |= ends;
            *is_whole &= ends || last.is_some_and(|(_, part)| is_before(part, &EXECS));
            let Some((_, first)) = parts_of.first_key_value() else { continue };
            let Some(at) = begins.iter().position(|&begin| begin == first.time[0]) else {
                let why = "it forks without the C library (Go, or static and stripped), so what it executed before would count twice: compare its times instead";
                return Err(format!("{}: {why}", display_command(parts)).into());
            };
            begins.swap_remove(at);
        }
    }
    let missing = processes.values().filter(|of| **of != (true, true)).count();
    if missing > 0 || processes.is_empty() {
        let why = "of its processes have no counts, because they were killed, still run, or changed their root: let the program wait for them";
        return Err(format!("{}: {} {why}", display_command(parts), missing.max(1)).into());
    }
    Ok((profile, processes.len()))
}

/// Adds a file of counts. `None` if it is empty.
pub(super) fn read_file(
    profile: &mut Profile,
    path: &Path,
    events: &[&str],
) -> Result<Option<Part>, Failure> {
    let read = File::open(path).and_then(|file| match file.metadata()?.len() {
        0 => Ok(None),
        _ => callgrind::read(profile, BufReader::new(file), events).map(Some),
    });
    read.map_err(|error| Failure::for_file(path.display(), &error))
}

/// The reason why programs took another path under Valgrind, from its log.
fn refused(place: &Path) -> Option<String> {
    const UNKNOWN: &str = "Valgrind does not know one of its instructions: install a newer Valgrind, or build for an older processor";
    const SETUID: &str = "it starts a setuid program, which Valgrind cannot run";
    const REASONS: [(&str, &str); 3] = [
        ("unhandled instruction", UNKNOWN),
        ("Unrecognised instruction", UNKNOWN),
        ("Can't execute setuid", SETUID),
    ];
    let logs = files(place).into_iter().flat_map(|image| files(&image));
    let logs = logs.filter(|file| file.file_name().is_some_and(|name| name.as_bytes().starts_with(b"log")));
    let text = logs.filter_map(|log| fs::read(log).ok()).collect::<Vec<_>>().concat();
    String::from_utf8_lossy(&text).lines().find_map(|line| {
        let (_, why) = REASONS.iter().find(|(mark, _)| line.contains(mark))?;
        Some(format!("{why}: {}", line.rsplit("==").next().unwrap_or("").trim()))
    })
}

/// The files in one of our directories.
pub(super) fn files(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
