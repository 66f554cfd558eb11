"""Writes the headers in include."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from source import Item, headers, items, read

NODISCARD = """\
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
"""


def files() -> dict[str, str]:
    """All headers by their paths."""
    bodies = {name: "\n".join(map(_section, sections)) for name, (_, sections) in headers().items()}
    types = {name: set(re.findall(r"^(?:\} |typedef struct \w+ )(\w+);", body, re.M)) for name, body in bodies.items()}
    found = {}
    for name, (head, _) in headers().items():
        code = re.sub(r"^ *(?:/\*|\*).*$", "", bodies[name], flags=re.M)
        words = set(re.findall(r"\bpicollo_\w+", code))
        used = [other for other in bodies if other != name and (other == "picollo.h" or types[other] & words)]
        includes = "".join(f'#include "{other}"\n' for other in used)
        if name == "picollo.h":
            includes = f"#include <stddef.h>\n#include <stdint.h>\n\n{NODISCARD}"
        found[name] = _framed(name, _introduction(read(head), ""), includes, bodies[name])
    everything = "".join(f'#include "{name}"\n' for name in [*bodies, "picollo_inline.h"])
    found["picollo_all.h"] = _framed("picollo_all.h", "/*\n * Picollo: all headers.\n */\n", everything, "")
    return {f"include/{name}": text for name, text in found.items()}


def _framed(name: str, head: str, includes: str, body: str) -> str:
    guard = name.upper().replace(".", "_")
    if body:
        body = f'#ifdef __cplusplus\nextern "C" {{\n#endif\n\n{body}\n#ifdef __cplusplus\n}}\n#endif\n\n'
    return (
        f"/* Generated from ffi/src by ci/describe.sh; change it there. */\n{head}"
        f"#ifndef {guard}\n#define {guard}\n\n{includes}\n{body}#endif /* {guard} */\n"
    )


def _introduction(text: str, bar: str) -> str:
    """The lines with //! that a file begins with, as a comment."""
    lines = "".join(f" *{line[3:]}\n" for line in itertools.takewhile(lambda line: line.startswith("//!"), text.splitlines()))
    return f"/*{bar}\n{lines} */\n".replace("`", "")


def _section(path: Path) -> str:
    text, last = "", ""
    for one in items(path):
        # Constants with short comments stand close together.
        is_close = one.kind == "constant" and last in ("constant", "array") and len(one.page) == 1
        text += "\n" * (bool(text) and not is_close) + _comment(one.page) + _declared(one)
        last = one.kind
    if path.name == "mod.rs":
        return text
    introduction = _introduction(read(path), f" {'-' * 106}")
    return f"{introduction}\n{text}" if text else introduction


def _comment(page: list[str], indent: str = "") -> str:
    lines = "".join(f"{indent} *{' ' * bool(line)}{line}\n" for line in page)
    return indent + "/**" + lines[len(indent) + 2 : -1] + " */\n" if page else ""


def _field(code: str, page: list[str]) -> str:
    """A field with its comment: after it if there is room on the line, and otherwise before it."""
    line = f"{code} /**< {' '.join(page)} */\n"
    return line if len(page) == 1 and len(line) <= 120 else f"{_comment(page, '    ')}{code}\n"


def _declared(one: Item) -> str:
    if one.kind in ("constant", "array"):
        return f"#define {one.name} {one.value}\n"
    if one.kind == "alias":
        return f"typedef {one.value} {one.name};\n"
    if one.kind == "handle":
        return f"typedef struct {one.name} {one.name};\n"
    if one.kind == "struct":
        fields = "".join(_field(f"    {part};", comment) for part, comment in one.parts)
        # It has a value for every field, so no compiler warns of missing ones.
        values = [f"sizeof({one.name})", *("NULL" if "*" in part else "0" for part, _ in one.parts[1:])]
        initialiser = f"#define {one.name.upper()}_INIT {{{', '.join(values)}}}\n" if one.name.endswith("_options") else ""
        return f"typedef struct {one.name} {{\n{fields}}} {one.name};\n{initialiser}"
    returns = one.value.replace("picollo_status", "PICOLLO_STATUS")
    begin = returns + " " * (not returns.endswith("*")) + one.name
    lines = [f"{begin}({', '.join(part for part, _ in one.parts) or 'void'});"]
    if len(lines[0]) > 110:
        # As many parameters on a line as fit.
        lines = [f"{begin}("]
        for at, (part, _) in enumerate(one.parts):
            part += ");" if at + 1 == len(one.parts) else ","
            if at == 0:
                lines[0] += part
            elif len(lines[-1]) + len(part) < 110:
                lines[-1] += f" {part}"
            else:
                lines.append(f"    {part}")
    return "\n".join(lines) + "\n"
