#!/usr/bin/env python3
"""Extracts the code in the tables of a page, to compile and run it: docs/coming-from.md.

    ci/docs/rows.py PAGE LANGUAGE     prints the body of a function: the current code of the rows, in order
    ci/docs/rows.py PAGE --rust       prints crates/text/tests/from_hdrhistogram.rs

A table is between two HTML comments. The first has the code before its rows, the second the checks after them:

    <!-- rows cpp
    std::uint64_t v = 1;
    -->
    | theirs | `h.record(v)` |
    <!-- checks cpp
    CHECK(...);
    -->

All code in the last cell of a row runs, in order and in one scope: statements unchanged, and expressions as statements.
C calls that return a status must succeed.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = "docs/coming-from.md"
RUST_TEST = "crates/text/tests/from_hdrhistogram.rs"
COMMENT = {"python": "#"}


def statement(code, language, statuses):
    if language == "python":
        return code
    called = re.match(r"(\w+)\(.*\);$", code)
    if language == "c" and called and called[1] in statuses:
        return f"CHECK_OK({code[:-1]});"
    if code.endswith((";", "}")):
        return code
    if language == "c":
        return f"(void)({code});"
    if language == "cpp":
        return f"static_cast<void>({code});"
    if language == "csharp" and not code.endswith(")"):
        return f"GC.KeepAlive({code});"
    return code + ";"


def body(text, language):
    """The code of a language's rows, with the code around it; fails if there are no rows, or a row has no code."""
    match = re.search(rf"<!-- rows {language}\n(.*?)-->\n(.*?)<!-- checks {language}\n(.*?)-->", text, re.DOTALL)
    if not match:
        sys.exit(f"there are no rows in {language}")
    before, table, after = match.groups()
    statuses = set()
    if language == "c":
        headers = "".join(path.read_text() for path in (ROOT / "include").glob("*.h"))
        statuses = set(re.findall(r"^PICOLLO_STATUS (\w+)\(", headers, re.MULTILINE))
    lines = [before]
    for row in re.findall(r"^\|.*$", table, re.MULTILINE)[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        spans = [span.replace("\\|", "|") for span in re.findall(r"`([^`]+)`", cells[-1])]
        if not spans:
            sys.exit(f"a row without code in {language}: {row}")
        lines.append(f"{COMMENT.get(language, '//')} {cells[0]}\n")
        lines += [statement(span, language, statuses) + "\n" for span in spans]
    return "".join(lines) + after


def rust_test(text):
    return (
        f"//! Written by ci/docs/rows.py from {PAGE}: what its rows in Rust say.\n\n"
        "#[test]\n#[rustfmt::skip]\n#[allow(unused_must_use, clippy::all)]\n"
        "fn rows() -> picollo_core::Result<()> {\n" + body(text, "rust") + "Ok(())\n}\n"
    )


def main():
    text = (ROOT / sys.argv[1]).read_text()
    print(rust_test(text) if sys.argv[2] == "--rust" else body(text, sys.argv[2]), end="")


if __name__ == "__main__":
    main()
