//! `picollo manual`: the manual pages and shell completions, for packagers.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use crate::failure::Failure;

const ABOUT: &str = "Writes manual pages and shell completions";

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
    let pages = share.join("man/man1");
    let written = fs::create_dir_all(&pages).and_then(|()| clap_mangen::generate_to(crate::tree(), &pages));
    written.map_err(|error| Failure::for_file(pages.display(), &error))?;
    // Completions leave out hidden commands.
    let mut shown = crate::tree_of(|one| !one.is_hide_set());
    for &(shell, place) in COMPLETIONS {
        let path = share.join(place);
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut shown, "picollo", &mut script);
        let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = parent.and_then(|()| fs::write(&path, script));
        written.map_err(|error| Failure::for_file(path.display(), &error))?;
    }
    Ok(0)
}
