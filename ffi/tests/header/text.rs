//! What cbindgen writes, made shorter to read, and what it does not write.

use std::fmt::Write as _;

/// What cbindgen writes, made shorter to read.
pub fn tidy(text: &str) -> String {
    let mut tidied: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim() == "/**" {
            let mut comment = Vec::new();
            while let Some(line) = lines.next_if(|line| line.trim() != "*/") {
                comment.push(line.trim().trim_start_matches('*').trim_end());
            }
            lines.next();
            // Comments on one line where they fit.
            match comment[..] {
                [only] => tidied.push(format!("{indent}/**{only} */")),
                _ => {
                    tidied.push(line.to_string());
                    tidied.extend(comment.iter().map(|line| format!("{indent} *{line}")));
                    tidied.push(format!("{indent} */"));
                }
            }
            continue;
        }
        let line = match line.strip_prefix("#define ").and_then(|define| define.split_once(" -")) {
            Some((name, number)) => format!("#define {name} (-{number})"),
            None if line.contains("typedef") => line.to_string(),
            None => line.replace("struct picollo_", "picollo_"),
        };
        if line.starts_with("picollo_status picollo_") {
            tidied.push("PICOLLO_NODISCARD".to_string());
        }
        tidied.push(line);
    }
    // Constants stand close together: no blank line between one and the next, unless their comments are long.
    let mut text = String::new();
    for (at, line) in tidied.iter().enumerate() {
        let next = tidied.get(at + 1).map_or("", |line| line.as_str());
        let is_define = |at: usize| tidied.get(at).is_some_and(|line| line.starts_with("#define "));
        let between = at > 0 && is_define(at - 1) && next.ends_with(" */") && is_define(at + 2);
        if line.is_empty() && (next.is_empty() || between) {
            continue;
        }
        text += line;
        text += "\n";
    }
    text
}

/// Behind each struct of options a macro that is one without wishes: a value for every field, so that no compiler warns of
/// missing ones, and a field that is appended needs nothing here.
pub fn with_initialisers(text: &str) -> String {
    let mut code = String::new();
    let mut values: Vec<String> = Vec::new();
    for line in text.lines() {
        writeln!(code, "{line}").unwrap();
        if line.starts_with("typedef struct ") {
            values.clear();
        } else if line.starts_with("    ") && !line.trim().starts_with(['*', '/']) && line.ends_with(';') {
            values.push(if line.contains('*') { "NULL" } else { "0" }.to_string());
        } else if let Some(name) = line.strip_prefix("} ").and_then(|end| end.strip_suffix(';'))
            && name.ends_with("_options")
        {
            values[0] = format!("sizeof({name})");
            let macro_name = format!("{}_INIT", name.to_uppercase());
            write!(
                code,
                "\n/** Options that ask for nothing but the defaults: {name} options = {macro_name}; */\n\
                 #define {macro_name} {{{}}}\n",
                values.join(", ")
            )
            .unwrap();
        }
    }
    code
}

/// In front of what returns a status. Its own lines are no part of what the header declares.
pub const NODISCARD: &str = "\
/* Statuses are not to be passed over: C++17 and C23 warn of it, but for calls behind (void). The attribute that gcc and clang have
 * for older languages warns in spite of (void), so it has to be asked for: by PICOLLO_WARN_UNUSED, defined before this file is
 * included. PICOLLO_NODISCARD defined as nothing is silent everywhere. */
#ifndef PICOLLO_NODISCARD
#if (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L) || \\
    (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define PICOLLO_NODISCARD [[nodiscard]]
#elif defined(PICOLLO_WARN_UNUSED) && defined(__GNUC__)
#define PICOLLO_NODISCARD __attribute__((warn_unused_result))
#else
#define PICOLLO_NODISCARD
#endif
#endif
";
