//! Instructions, counted exactly where there is no PMU: by Valgrind, which executes them all itself.
//!
//! Callgrind counts, and writes what it has counted whenever a process is about to fork or to become another program, and starts anew from zero.
//! A process that forks hands its counts on to its child (cachegrind's and callgrind's sums would then have them twice), and one that becomes
//! another program forgets them.

pub(crate) mod benchmarks;
mod dump;
pub(crate) mod judge;
mod world;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches};

use crate::failure::{Failure, plain};
pub(crate) use dump::{EVENTS, Totals};
use world::Directory;

/// Between two looks for parts of counts that the next program of the same process would write over. It takes a tenth of a second to start.
const WATCH: Duration = Duration::from_millis(5);

/// Where a process hands on what was counted so far.
const DUMP_BEFORE: [&str; 9] =
    ["fork", "_Fork", "__libc_fork", "vfork", "clone", "posix_spawn", "posix_spawnp", "execve", "fexecve"];

/// Options of commands that count so.
pub(crate) fn arguments() -> Vec<Arg> {
    let option = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    vec![
        option("counts", "TOOL", "count instructions by valgrind instead: exact and simulated, without times, some fifty times as slow")
            .value_parser(["valgrind"])
            .conflicts_with("event"),
        option("runs", "N", "with --counts: runs, which show whether the counts are always the same; else 3")
            .value_parser(clap::value_parser!(u32).range(2..1000)),
        Arg::new("caches").long("caches").action(ArgAction::SetTrue).requires("counts").help(
            "with --counts: data reads and writes, misses of a simulated cache and mispredicted branches, too",
        ),
        option("env", "NAME[=VALUE]", "with --counts: hand this variable on; programs get PATH only. May be given again")
            .action(ArgAction::Append)
            .requires("counts"),
        option("input", "FILE", "what commands read from standard input; else nothing"),
    ]
}

/// How programs are counted.
pub(crate) struct Settings {
    pub(crate) runs: usize,
    caches: bool,
    environment: Vec<(OsString, OsString)>,
    pub(crate) input: Option<PathBuf>,
    pub(crate) shows_output: bool,
    pub(crate) ignores_failure: bool,
    /// Counted are the benchmarks in a program, by the requests that they make, and nothing else.
    of_benchmarks: bool,
}

impl Settings {
    pub(crate) fn of(matches: &ArgMatches) -> Settings {
        let given = matches.get_many::<String>("env").into_iter().flatten().map(String::as_str);
        Settings {
            runs: matches.get_one::<u32>("runs").copied().unwrap_or(3) as usize,
            caches: matches.get_flag("caches"),
            environment: world::environment(given),
            input: matches.get_one::<String>("input").map(PathBuf::from),
            shows_output: matches.get_flag("show-output"),
            ignores_failure: matches.get_flag("ignore-failure"),
            of_benchmarks: false,
        }
    }

    /// For the benchmarks in a program, which are told so by variables.
    pub(crate) fn of_benchmarks(matches: &ArgMatches, blocks: u32, calls: Option<u32>) -> Settings {
        let mut settings = Settings { of_benchmarks: true, ..Settings::of(matches) };
        settings.environment.push(("PICOLLO_COUNT_BLOCKS".into(), blocks.to_string().into()));
        settings
            .environment
            .extend(calls.map(|calls| ("PICOLLO_COUNT_CALLS".into(), calls.to_string().into())));
        settings
    }
}

/// What was counted in one run: the sum of all its processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) totals: Totals,
    pub(crate) processes: usize,
}

/// Counts commands.
pub(crate) struct Simulator {
    settings: Settings,
    valgrind: PathBuf,
    directory: Directory,
}

impl Simulator {
    pub(crate) fn new(settings: Settings) -> Result<Simulator, Failure> {
        // Debian's valgrind is a script, which adds variables: what it starts is beside it.
        let found = ["valgrind.bin", "valgrind"].map(|name| world::found(name, &settings.environment));
        let Some(valgrind) = found.into_iter().flatten().next() else {
            return Err("--counts=valgrind needs valgrind, which is not installed: apt install valgrind, dnf install valgrind".into());
        };
        Ok(Simulator { settings, valgrind, directory: Directory::new()? })
    }

    pub(crate) fn runs(&self) -> usize {
        self.settings.runs
    }

    /// Gives the programs of commands one name and one place, where nothing depends on them.
    pub(crate) fn make_alike(&self, commands: &[&[String]]) -> Vec<Option<PathBuf>> {
        world::alike(commands, &self.settings.environment)
    }

    /// A run that is not counted: it fills caches of files, and says at a hundredth of the time that a command fails.
    pub(crate) fn warm_up(&self, parts: &[String]) -> Result<(), Failure> {
        let mut command = Command::new(&parts[0]);
        command.arg0(&parts[0]).args(&parts[1..]);
        self.finish(&mut command, OsStr::new(&parts[0]), parts)?;
        Ok(())
    }

    /// One run. `program` stands where the command has the name of one.
    pub(crate) fn count(&self, parts: &[String], program: Option<&Path>) -> Result<Counts, Failure> {
        let (counts, unfinished) = self.execute(parts, program, dump::read)?;
        if unfinished > 0 || counts.processes == 0 {
            let who = shown(parts);
            return Err(format!(
                "{who}: {} of its processes were killed, or run on, and are not counted",
                unfinished.max(1)
            )
            .into());
        }
        Ok(counts)
    }

    /// One run, of whose files `read` makes something.
    fn execute<T>(
        &self,
        parts: &[String],
        program: Option<&Path>,
        read: impl Fn(&Path) -> io::Result<T>,
    ) -> Result<T, Failure> {
        let place = self.directory.run()?;
        let mut command = Command::new(&self.valgrind);
        // No settings but these: neither the user's nor the directory's.
        command.args(["--command-line-only=yes", "--tool=callgrind", "--trace-children=yes"]);
        if self.settings.caches {
            // Fixed sizes: those of this machine's caches would make other counts on another.
            command.args([
                "--cache-sim=yes",
                "--branch-sim=yes",
                "--I1=32768,8,64",
                "--D1=32768,8,64",
                "--LL=8388608,16,64",
            ]);
        }
        if self.settings.of_benchmarks {
            command.args(["--collect-atstart=no", "--dump-line=no"]);
        } else {
            command.args(DUMP_BEFORE.map(|name| format!("--dump-before={name}")));
        }
        let at = |name: &str| {
            let mut argument = OsString::from(name);
            argument.push(place.join(if name.contains("log") { "log.%p" } else { "out.%p" }));
            argument
        };
        command.arg(at("--log-file=")).arg(at("--callgrind-out-file="));
        let name = match program {
            Some(file) => self.directory.link(file)?.into_os_string(),
            None => parts[0].clone().into(),
        };
        command.arg(&name).args(&parts[1..]);
        let is_over = AtomicBool::new(false);
        let finished = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let mut taken = 0;
                while !is_over.load(Ordering::Acquire) {
                    dump::set_aside(&place, &mut taken);
                    std::thread::sleep(WATCH);
                }
            });
            let finished = self.finish(&mut command, &name, parts);
            is_over.store(true, Ordering::Release);
            let _ = watcher.join();
            finished
        });
        let read = read(&place).map_err(|error| Failure::of_file(place.display(), &error));
        let refused = dump::refused(&place);
        let _ = fs::remove_dir_all(&place);
        if let Err(Failure::Told(mut what)) = finished {
            what += "; under valgrind, with few environment variables (--env hands more on)";
            if let Some(line) = refused {
                what += &format!(": {line}");
            }
            return Err(Failure::Told(what));
        }
        read
    }

    /// Runs a command to its end, in the same world each time.
    fn finish(&self, command: &mut Command, name: &OsStr, parts: &[String]) -> Result<(), Failure> {
        let settings = &self.settings;
        command
            .stdin(input(settings.input.as_deref())?)
            .env_clear()
            .envs(settings.environment.iter().cloned());
        command.env(world::PADDING, world::padding(&settings.environment, name, &parts[1..]));
        if !settings.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        world::same_addresses(command);
        let status = command.status().map_err(|error| format!("{}: {}", parts[0], plain(&error)))?;
        check(status, parts, settings.ignores_failure)
    }
}

/// What a command reads: a file from its start, or nothing.
pub(crate) fn input(file: Option<&Path>) -> Result<Stdio, Failure> {
    match file {
        None => Ok(Stdio::null()),
        Some(file) => {
            fs::File::open(file).map(Stdio::from).map_err(|error| Failure::of_file(file.display(), &error))
        }
    }
}

/// Whether a command did what it should.
pub(crate) fn check(status: ExitStatus, parts: &[String], ignores_failure: bool) -> Result<(), Failure> {
    if status.success() || ignores_failure {
        return Ok(());
    }
    let how = match status.signal() {
        Some(signal) => format!("was ended by signal {signal}"),
        None => format!("failed with status {}", status.code().unwrap_or(-1)),
    };
    Err(format!("{}: {how}; --show-output shows what it said, --ignore-failure goes on", shown(parts)).into())
}

/// A command as a shell would be given it.
pub(crate) fn shown(parts: &[String]) -> String {
    shlex::try_join(parts.iter().map(String::as_str)).unwrap_or_else(|_| parts[0].clone())
}
