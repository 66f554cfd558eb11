//! `picollo manual`: the manual's pages and what shells complete with, for those who package the command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::{Generator, Shell};

use crate::failure::Failure;

const ABOUT: &str = "Write manual pages and shell completions";

/// Where shells look for completions of the command, below `share`.
const COMPLETIONS: &[(Shell, &str)] = &[
    (Shell::Bash, "bash-completion/completions/picollo"),
    (Shell::Zsh, "zsh/site-functions/_picollo"),
    (Shell::Fish, "fish/vendor_completions.d/picollo.fish"),
];

pub(crate) fn command() -> Command {
    Command::new("manual").about(ABOUT).hide(true).arg(
        Arg::new("directory")
            .value_name("DIRECTORY")
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help("the share directory that gets man/man1, and completions for bash, zsh and fish"),
    )
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let share = matches.get_one::<PathBuf>("directory").map_or(Path::new("."), PathBuf::as_path);
    // Each page says how it is called: `picollo top`, not `top`.
    let mut tree = crate::tree().disable_help_subcommand(true);
    tree.build();
    write(share, Path::new("man/man1/picollo.1"), &page(&tree)?)?;
    for one in tree.get_subcommands().filter(|one| !one.is_hide_set()) {
        let name = format!("man/man1/picollo-{}.1", one.get_name());
        write(share, Path::new(&name), &page(one)?)?;
    }
    // Completions have no hidden command.
    let mut shown = crate::tree_of(|one| !one.is_hide_set());
    for &(shell, place) in COMPLETIONS {
        let mut script = Vec::new();
        shown.set_bin_name("picollo");
        shown.build();
        shell.generate(&shown, &mut script);
        write(share, Path::new(place), &script)?;
    }
    Ok(0)
}

/// A page of the manual.
fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    // Its name is that of the file, as `man picollo-top` asks for it.
    let name = command.get_bin_name().unwrap_or("picollo").replace(' ', "-");
    let version = format!("picollo {}", env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).source(version);
    let mut text = Vec::new();
    man.render(&mut text).map_err(|error| Failure::of_file(name, &error))?;
    Ok(text)
}

fn write(share: &Path, place: &Path, text: &[u8]) -> Result<(), Failure> {
    let path = share.join(place);
    let failure = |error| Failure::of_file(path.display(), &error);
    if let Some(parent) = path.parent().filter(|parent| parent.as_os_str() != OsStr::new("")) {
        std::fs::create_dir_all(parent).map_err(failure)?;
    }
    std::fs::write(&path, text).map_err(failure)
}
