//! Runs commands where what they execute is counted: under Callgrind, or, if they are Python programs, by Python itself.
//!
//! A process that forks hands its counts on to its child, and one that becomes another program forgets them. Callgrind
//! therefore writes its counts before either, and starts again from zero. Valgrind starts what its client executes by the program
//! that `VALGRIND_LAUNCHER` names. That is this command, which gives each program files of its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::ArgMatches;

use super::callgrind::{self, Profile};
use super::source::{Source, Symbols};
use super::world::{self, Directory};
use crate::compare::runner::{check, input, shown};
use crate::failure::{Failure, plain};

/// Where a process forks, by any name that C libraries have for it, and where it becomes another program.
const FORKS: [&str; 7] = ["fork", "_Fork", "__libc_fork", "vfork", "clone", "posix_spawn", "posix_spawnp"];
const EXECS: [&str; 2] = ["execve", "fexecve"];
const OUT: &str = "--callgrind-out-file=";
const LOG: &str = "--log-file=";

/// What is counted.
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
            Unit::PythonLines => "Counted by Python: exact; what C functions execute is not in it",
            _ => {
                "Counted by Valgrind, which simulates the processor: exact, but programs may take other paths there (3.19 has no AVX-512)"
            }
        }
    }
}

/// Runs commands in the same world each time.
pub(super) struct Counter {
    environment: Vec<(OsString, OsString)>,
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
        let Some(file) = world::found(&parts[0], &self.environment) else {
            return self.find_tool().map(|()| Unit::Instructions);
        };
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
            let why = "it runs as another user (setuid), and Valgrind cannot count such programs: count a copy without that mode";
            return Err(format!("{}: {why}", file.display()).into());
        }
        self.find_tool()?;
        Ok(Unit::Instructions)
    }

    /// Puts what runs below Valgrind into the directory, once.
    fn find_tool(&self) -> Result<(), Failure> {
        let tool = self.directory.path.join("tool");
        if tool.is_symlink() {
            return Ok(());
        }
        // Debian's `valgrind` is a script around `valgrind.bin`.
        let found = ["valgrind.bin", "valgrind"].map(|name| world::found(name, &self.environment));
        let Some(valgrind) = found.into_iter().flatten().next() else {
            return Err("counting instructions needs Valgrind, which is not installed: apt install valgrind, dnf install valgrind".into());
        };
        let said = Command::new(&valgrind).args(["-d", "--tool=callgrind", "--version"]).output();
        let said = said.map(|output| [output.stderr, output.stdout].concat()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let path = said.lines().find_map(|line| line.split_once("launching ").map(|(_, path)| path.trim()));
        let Some(path) = path.filter(|path| Path::new(path).is_file()) else {
            return Err(format!(
                "{}: does not say where its tool callgrind is; is it installed completely?",
                valgrind.display()
            )
            .into());
        };
        let own = std::env::current_exe().map_err(|error| plain(&error))?;
        let link = |to: &Path, name: &str| {
            let link = self.directory.path.join(name);
            symlink(to, &link).map_err(|error| Failure::of_file(link.display(), &error))
        };
        link(&own, "launcher")?;
        link(Path::new(path), "tool")
    }

    /// A run that is not counted: it fills caches of files, and says at a hundredth of the time that a command fails.
    pub(super) fn warm_up(&self, parts: &[String]) -> Result<(), Failure> {
        let finished = self.finish(Command::new(&parts[0]).args(&parts[1..]), &parts[0], parts);
        finished.map_err(|failure| match failure {
            Failure::Told(what) => {
                format!("{what}; it gets few environment variables (--env hands more on)").into()
            }
            other => other,
        })
    }

    /// One run. `program` is started by the name that all programs share.
    pub(super) fn count(
        &self,
        parts: &[String],
        program: Option<&Path>,
        unit: Unit,
        symbols: &mut Symbols,
    ) -> Result<Source, Failure> {
        let place = self.directory.run()?;
        let name = match program {
            Some(file) => self.directory.link(file)?.into_os_string().into_string().unwrap_or_default(),
            None => parts[0].clone(),
        };
        let mut command;
        if unit == Unit::PythonLines {
            fs::write(place.join("sitecustomize.py"), include_str!("trace.py"))
                .map_err(|error| Failure::of_file(place.display(), &error))?;
            command = Command::new(&name);
            let given = self.environment.iter().find(|(name, _)| name == "PYTHONPATH");
            let mut paths = place.clone().into_os_string();
            if let Some((_, given)) = given {
                paths.push(":");
                paths.push(given);
            }
            command.env("PYTHONPATH", paths).env("PYTHONDONTWRITEBYTECODE", "1");
        } else {
            command = Command::new(self.directory.path.join("launcher"));
            command.arg(format!("{OUT}{}/0/out", place.display())).arg(LOG);
            command.args([
                "--tool=callgrind",
                "--command-line-only=yes",
                "--trace-children=yes",
                "--dump-instr=yes",
            ]);
            command.args(FORKS.iter().chain(&EXECS).map(|name| format!("--dump-before={name}")));
            // Rust's library reads the map of memory by this at its start, and Valgrind's own memory is in it.
            command.args(["--toggle-collect=pthread_getattr_np*", "--collect-atstart=yes"]);
            if unit == Unit::Misses {
                // Fixed sizes: those of this machine's caches would make other counts on another.
                command.args(["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]);
            }
            let library = fs::read_link(self.directory.path.join("tool")).unwrap_or_default();
            command.env("VALGRIND_LIB", library.parent().unwrap_or(Path::new("/"))).arg(&name);
        }
        command.args(&parts[1..]);
        let finished = self.finish(&mut command, &name, parts);
        let read = match (&finished, unit) {
            (Err(_), _) => Ok(Source::default()),
            (Ok(()), Unit::PythonLines) => read_python(&place, parts),
            (Ok(()), _) => read_images(&place, parts, unit, symbols),
        };
        let refused = refused_instruction(&place);
        let _ = fs::remove_dir_all(&place);
        if let (Err(Failure::Told(what)), true) = (&finished, unit != Unit::PythonLines) {
            let more = refused
                .map(|line| format!(": this Valgrind does not know an instruction: {line}"))
                .unwrap_or_default();
            return Err(format!(
                "{what}; under Valgrind, with few environment variables (--env hands more on){more}"
            )
            .into());
        }
        match refused {
            // The program survived: it has a handler, or another program started it. What it executed then is not what it executes.
            Some(line) => Err(format!(
                "{}: this Valgrind does not know an instruction that it executes: {line}",
                shown(parts)
            )
            .into()),
            None => finished.and(read),
        }
    }

    /// Runs a command to its end.
    fn finish(&self, command: &mut Command, name: &str, parts: &[String]) -> Result<(), Failure> {
        let given: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(OsString::from))).collect();
        command.env_clear().envs(self.environment.iter().cloned());
        command.envs(given.into_iter().filter_map(|(name, value)| Some((name, value?))));
        command.env(world::PADDING, world::padding(&self.environment, name.as_ref(), &parts[1..]));
        command.stdin(input(self.input.as_deref())?);
        if !self.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        world::same_addresses(command);
        let status = command.status().map_err(|error| format!("{}: {}", parts[0], plain(&error)))?;
        check(status, parts, self.ignores_failure)
    }

    /// The programs of commands that one name can be given to.
    pub(super) fn alike(&self, commands: &[&[String]]) -> Vec<Option<PathBuf>> {
        world::alike(commands, &self.environment)
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
    let option = |option: &str, name: &str| {
        let mut word = OsString::from(option);
        word.push(image.join(name));
        word
    };
    let mut words = vec![place.parent()?.join("tool").into(), option(OUT, "out.%p"), option(LOG, "log.%p")];
    // The two that are replaced are always the first.
    words.extend(arguments.into_iter().skip(3));
    let words: Vec<CString> =
        words.into_iter().filter_map(|word| CString::new(word.into_vec()).ok()).collect();
    let pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
    // SAFETY: one thread. `std` has the signal of a broken pipe ignored, which programs would inherit; and `Command` would clear the mask.
    unsafe {
        std::env::set_var("VALGRIND_LAUNCHER", place.parent()?.join("launcher"));
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execv(words[0].as_ptr(), pointers.as_ptr());
    }
    Some(ExitCode::from(127))
}

/// All files of one run. An error if a process is missing, or would be counted twice.
fn read_images(place: &Path, parts: &[String], unit: Unit, symbols: &mut Symbols) -> Result<Source, Failure> {
    let (mut profile, mut pids, mut missing) = (Profile::default(), HashSet::new(), 0);
    let events: &[&str] = if unit == Unit::Misses { &["D1mr", "D1mw"] } else { &["Ir"] };
    let failed = |path: &Path, error: &std::io::Error| Failure::of_file(path.display(), error);
    let files = |directory: &Path| {
        let entries = fs::read_dir(directory).map_err(|error| failed(directory, &error))?;
        Ok::<Vec<PathBuf>, Failure>(entries.flatten().map(|entry| entry.path()).collect())
    };
    for image in files(place)? {
        // Triggers of the files of each process, by the number of the file; the last one has none.
        let mut processes: HashMap<u64, BTreeMap<u64, String>> = HashMap::new();
        for path in files(&image)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let mut words = name.split('.');
            let (kind, pid) = (words.next(), words.next().and_then(|pid| pid.parse().ok()).unwrap_or(0));
            let process = processes.entry(pid).or_default();
            pids.insert(pid);
            // Callgrind makes an empty file for the end of each process, which a process that becomes another program leaves there.
            if kind == Some("out") && fs::metadata(&path).is_ok_and(|about| about.len() > 0) {
                let file = BufReader::new(File::open(&path).map_err(|error| failed(&path, &error))?);
                let trigger =
                    callgrind::read(&mut profile, file, events).map_err(|error| failed(&path, &error))?;
                let number = words.next().and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
                process.insert(number, trigger);
            }
        }
        let is_one_of = |trigger: &str, names: &[&str]| {
            trigger.strip_prefix("--dump-before=").is_some_and(|name| names.contains(&name))
        };
        let has_ended = |process: &&BTreeMap<u64, String>| {
            process.last_key_value().is_some_and(|(&n, trigger)| n == u64::MAX || is_one_of(trigger, &EXECS))
        };
        missing += processes.len() - processes.values().filter(has_ended).count();
        let triggers = processes.values().flat_map(BTreeMap::values);
        if triggers.filter(|trigger| is_one_of(trigger, &FORKS)).count() + 1 < processes.len() {
            return Err(format!(
                "{}: it forks without the functions of the C library (static and stripped, or Go), and would be counted twice",
                shown(parts)
            )
            .into());
        }
    }
    if missing > 0 || pids.is_empty() {
        let missing = missing.max(1);
        return Err(format!(
            "{}: {missing} of its processes were killed, or run on, and are not counted",
            shown(parts)
        )
        .into());
    }
    Ok(Source::of(&profile, symbols, pids.len()))
}

fn read_python(place: &Path, parts: &[String]) -> Result<Source, Failure> {
    let mut source = Source::default();
    let entries = fs::read_dir(place).map_err(|error| Failure::of_file(place.display(), &error))?;
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "lines"))
    {
        let text = fs::read(&path).map_err(|error| Failure::of_file(path.display(), &error))?;
        let data: serde_json::Value = serde_json::from_slice(&text).map_err(|_| {
            let why =
                "a process of it was killed, runs on, or has set a tracer that replaces the one that counts";
            format!("{}: {why}, so it is not counted", shown(parts))
        })?;
        source.add_python(&data);
    }
    if source.processes == 0 || source.total() == 0 {
        let why = "no lines were counted: is it Python 3.7 or later, started without -I, -E and -S?";
        return Err(format!("{}: {why}", shown(parts)).into());
    }
    Ok(source)
}

/// What Valgrind could not execute.
fn refused_instruction(place: &Path) -> Option<String> {
    let images = fs::read_dir(place).ok()?.flatten().filter_map(|image| fs::read_dir(image.path()).ok());
    let logs =
        images.flat_map(Iterator::flatten).filter(|file| file.file_name().as_bytes().starts_with(b"log"));
    logs.filter_map(|log| File::open(log.path()).ok())
        .flat_map(|log| BufReader::new(log).lines().map_while(Result::ok))
        .find(|line| {
            ["unhandled instruction", "Unrecognised instruction"].iter().any(|what| line.contains(what))
        })
        .map(|line| line.rsplit("==").next().unwrap_or("").trim().to_owned())
}
