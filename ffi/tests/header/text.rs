//! Shortens the output of cbindgen, and adds the parts that it does not write.

use std::fmt::Write as _;

/// Shortens the output of cbindgen.
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
            // They begin on the first line, and end on the last.
            let last = comment.len() - 1;
            for (at, line) in comment.iter().enumerate() {
                let (begin, end) = (if at == 0 { "/**" } else { " *" }, if at == last { " */" } else { "" });
                tidied.push(format!("{indent}{begin}{line}{end}"));
            }
            continue;
        }
        let line = match line.strip_prefix("#define ").and_then(|define| define.split_once(" -")) {
            Some((name, number)) => format!("#define {name} (-{number})"),
            None if line.contains("typedef") => line.to_string(),
            None => line.replace("struct picollo_", "picollo_"),
        };
        tidied.push(match line.strip_prefix("picollo_status picollo_") {
            Some(call) => format!("PICOLLO_STATUS picollo_{call}"),
            None => line,
        });
    }
    // As many parameters on a line as fit: cbindgen writes one per line.
    let mut filled: Vec<String> = Vec::new();
    let mut is_prototype = false;
    for line in tidied {
        match filled.last_mut() {
            Some(last) if is_prototype && last.len() + line.trim().len() < 110 => {
                *last += " ";
                *last += line.trim();
            }
            _ if is_prototype => filled.push(format!("    {}", line.trim())),
            _ => filled.push(line.clone()),
        }
        let is_code = !line.trim_start().starts_with(['/', '*', '#']);
        is_prototype = is_code && line.ends_with(',') && (is_prototype || line.contains('('));
    }
    let tidied = filled;
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

/// Adds a macro with default options after each struct of options. It has a value for every field, so no compiler warns of
/// missing ones, and an appended field needs no change here.
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
            writeln!(code, "#define {macro_name} {{{}}}", values.join(", ")).unwrap();
        }
    }
    code
}

/// The attribute of functions that return a status. These lines are not part of the declarations.
pub const NODISCARD: &str = "\
/* C++17 and C23 warn if a program ignores a status, unless it casts the call to void. In older languages gcc and clang warn in
 * spite of the cast, so this must be requested: define PICOLLO_WARN_UNUSED before you include this file. An empty definition of
 * PICOLLO_NODISCARD turns all these warnings off. */
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
#define PICOLLO_STATUS PICOLLO_NODISCARD picollo_status
";
