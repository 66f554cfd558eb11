//! The manual pages and the completions: every command has its own, and shells accept them.

use std::path::Path;
use std::process::Command;

use crate::common::{outcome, run};

#[test]
fn every_command_has_a_page_and_completions() {
    let share = Path::new(env!("CARGO_TARGET_TMPDIR")).join("share");
    let _ = std::fs::remove_dir_all(&share);
    let picollo = |arguments: &[&str]| outcome(&run(arguments));
    assert_eq!(picollo(&["manual", share.to_str().unwrap()]), (0, String::new(), String::new()));
    let (_, help, _) = picollo(&["--help"]);
    let named: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter(|line| line.as_bytes().get(2).is_some_and(u8::is_ascii_lowercase))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(named.len() >= 14 && named.contains(&"top") && !named.contains(&"manual"), "{help}");

    let read = |name: &str| {
        std::fs::read_to_string(share.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let (all, pages) =
        (read("man/man1/picollo.1"), std::fs::read_dir(share.join("man/man1")).unwrap().count());
    assert_eq!(pages, named.len() + 1);
    let scripts = [
        "bash-completion/completions/picollo",
        "zsh/site-functions/_picollo",
        "fish/vendor_completions.d/picollo.fish",
    ];
    for name in &named {
        let page = read(&format!("man/man1/picollo-{name}.1"));
        assert!(page.contains(&format!("picollo\\-{name} \\- ")), "{page}");
        assert!(page.contains(&format!("\\fBpicollo {name}\\fR")), "{page}");
        assert!(all.contains(&format!("picollo\\-{name}(1)")), "{all}");
        for script in scripts {
            assert!(read(script).contains(name), "{script} lacks {name}");
        }
    }
    assert!(!scripts.iter().any(|script| read(script).contains("manual")), "what is hidden is not offered");

    // What bash offers for `picollo pr`, and for an option of a command.
    let ask = format!(
        "source '{}'; COMP_WORDS=(picollo pr); COMP_CWORD=1; _picollo picollo pr picollo; echo \"${{COMPREPLY[*]}}\"; \
         COMP_WORDS=(picollo hlog --by); COMP_CWORD=2; _picollo picollo --by hlog; echo \"${{COMPREPLY[*]}}\"",
        share.join(scripts[0]).display()
    );
    let (_, offered, errors) = outcome(&Command::new("bash").args(["-c", &ask]).output().unwrap());
    assert_eq!(offered.lines().collect::<Vec<_>>(), ["prune probe", "--by-tag"], "{errors}");

    let (status, _, errors) = picollo(&["manual", "/proc/no/such"]);
    assert_eq!((status, errors.lines().count()), (1, 1), "{errors}");
}
