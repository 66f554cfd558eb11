"""Reads the C interface from the documentation and signatures in ffi/src: constants, structs and functions, in the order of the headers.

Each folder is a header, and the modules of its mod.rs are its sections. The sources are regular; what this does not know, it refuses.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Iterator, Optional

from description import ROOT

SOURCES = ROOT / "ffi/src"
#: Words in the documentation of other packages, and their words in C.
WORDS = {
    "A [`ValueSelection`] code": "PICOLLO_VALUE_...",
    "; make one with [`Event::parse`] or fill in the fields": ". picollo_event_parse makes one, or fill in the fields",
    "[`EVENT_USER`] and its siblings": "PICOLLO_EVENT_...",
    "[`READING_FAST`] and its siblings": "PICOLLO_READING_...",
    "[`EVENT_INFO_USER_ONLY`] and its siblings": "PICOLLO_EVENT_INFO_...",
    "0, or the code of `NotCounted`": "PICOLLO_OK, PICOLLO_ERR_NOT_COUNTED",
    "is `NotCounted`": "is PICOLLO_ERR_NOT_COUNTED",
    "The number of its [`Status`]": "What the call returned",
    "[`COMPARISON_TOO_FEW`] and its siblings": "PICOLLO_COMPARISON_...",
    "[`BENCHMARK_BUDGET_SPENT`] and its siblings.": "PICOLLO_BENCHMARK_...",
    "A [`Verdict`] code": "PICOLLO_VERDICT_...",
    "see [`quantile_interval`]": "see picollo_snapshot_quantile_interval",
    "See [`compare_snapshots`]": "See picollo_compare",
    "FIGURE_ flags": "PICOLLO_FIGURE_...",
    "`u64::MAX`": "UINT64_MAX",
    "`u32::MAX`": "UINT32_MAX",
    "`i32::MIN`": "INT32_MIN",
}
#: Constants of other packages: their section, the enum or macro whose lines they are, or the first of several constants; and what their
#: names begin with there, if they are constants, and in C.
CONSTANTS = [
    ("status", "statuses!", "", "ERR_"),
    ("snapshot", "enum ValueSelection", "", "VALUE_"),
    ("histogram", "enum Storage", "", "STORAGE_"),
    ("interchange", "enum Encoding", "", "ENCODING_"),
    ("comparison", "enum Verdict", "", "VERDICT_"),
    ("comparison", "COMPARISON_TOO_FEW", "COMPARISON_", "COMPARISON_"),
    ("figure", "FIGURE_FEW_SCOPES", "FIGURE_", "FIGURE_"),
    ("picture", "enum Theme", "", "THEME_"),
    ("picture", "enum Picture", "", "PICTURE_"),
    ("clock", "enum Clock", "", "CLOCK_"),
    ("clock", "enum TimeUnit", "", "UNIT_"),
    ("exemplar", "causes!", "", "CAUSE_"),
    ("exemplar", "KNOWN_ACCOUNTS", "KNOWN_", "KNOWN_"),
    ("exemplar", "missing!", "", "MISSING_"),
    ("exemplar", "EXEMPLARS_NO_RING", "EXEMPLARS_", "EXEMPLARS_"),
    ("event", "EVENT_USER", "EVENT_", "EVENT_"),
    ("session", "SESSION_PINNED", "SESSION_", "SESSION_"),
    ("session", "MAX_EVENTS", "MAX_EVENTS", "SESSION_MAX_EVENTS"),
    ("session", "enum ReadMode", "", "READ_"),
    ("session", "READING_FAST", "READING_", "READING_"),
    ("session", "EVENT_INFO_USER_ONLY", "EVENT_INFO_", "EVENT_INFO_"),
    ("benchmark", "BENCHMARK_BUDGET_SPENT", "BENCHMARK_", "BENCHMARK_"),
    ("benchmark", "enum Side", "", "BENCHMARK_"),
]
TYPES = {
    "u8": "uint8_t", "i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "f64": "double", "usize": "size_t",
    "c_char": "char", "c_void": "void",
}  # fmt: skip
ITEM = re.compile(
    r"""(?P<page>(?:^\ *///[^\n]*\n)*)(?:^\ *\#\[[^\n]*\n)*^\ *(?:
      pub\ const\ (?P<constant>\w+):\ \w+\ =\ (?P<value>[^;]+);
    | pub\ type\ (?P<alias>\w+)\ =\ (?P<of>\w+);
    | pub\ struct\ (?P<handle>picollo_\w+)\(\(\)\);
    | pub\ struct\ (?P<struct>\w+)\ \{\n(?P<fields>.*?)^\}
    | (?:pub\ (?:unsafe\ )?extern\ "C"\ )?fn\ (?P<function>picollo_\w+)\((?P<parameters>[^)]*)\)(?:\ ->\ (?P<returns>[^{]+?))?\ \{
    )""",
    re.M | re.S | re.X,
)
FIELD = re.compile(r"((?: *///.*\n)*)(?: *#\[.*\]\n)* *(?:pub )?(?:r#)?(\w+): ([^,]+),\n")
VARIANT = re.compile(r"((?: *///.*\n)*)(?: *#\[.*\]\n)* *(\w+) = ([^,:\n]+)[,:]")


@dataclass
class Item:
    kind: str
    name: str
    section: str
    #: The lines of its comment.
    page: list[str]
    #: The value of a constant or an array, the type of an alias, or what a function returns.
    value: str = ""
    #: The parameters of a function, or the fields of a struct with their comments, as in C.
    parts: list[tuple[str, list[str]]] = field(default_factory=list)

    def under(self, *labels: str) -> Optional[str]:
        """The text after the first existing one of these headings, on one line."""
        for label in labels:
            for at, line in enumerate(self.page):
                if line.startswith(f"{label}: "):
                    more = itertools.takewhile(lambda line: line.startswith("  "), self.page[at + 1 :])
                    return " ".join([line.removeprefix(f"{label}: "), *(line.strip() for line in more)])
        return None


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def headers() -> dict[str, tuple[Path, list[Path]]]:
    """The file with the head of each header, and the files of its sections; picollo.h first."""
    found = {}
    for folder in sorted((path for path in SOURCES.iterdir() if path.is_dir()), key=lambda path: (path.name != "picollo", path.name)):
        head = folder / "mod.rs"
        sections = [folder / f"{name}.rs" for name in re.findall(r"^pub mod (?!\w+_options;)(\w+);", read(head), re.M)]
        found["picollo.h" if folder.name == "picollo" else f"picollo_{folder.name}.h"] = (head, sections or [head])
    return found


def section_of(path: Path) -> str:
    return path.parent.name if path.name == "mod.rs" else path.stem


@lru_cache
def others() -> list[str]:
    """The sources of the other packages that may define what C sees."""
    folders = [ROOT / "core", ROOT / "native", *sorted((ROOT / "crates").iterdir())]
    return [read(path) for folder in folders for path in sorted((folder / "src").rglob("*.rs"))]


def only(lines: str) -> str:
    """The text after these lines of another package, which has them only once."""
    found = [text for text in others() if lines in text]
    assert len(found) == 1, f"{len(found)} packages have {lines!r}"
    return found[0].split(lines, 1)[1]


def taken(module: str) -> dict[str, str]:
    """The structs that a module takes from other packages: their names there and in C."""
    return dict(re.findall(r"(\w+) as (picollo_\w+)", " ".join(re.findall(r"^pub use ([^;]*);", module, re.M))))


@lru_cache
def renamed() -> dict[str, str]:
    """Rust's names of types, and C's."""
    return dict(TYPES, **{rust: c for _, sections in headers().values() for path in sections for rust, c in taken(read(path)).items()})


def declared(kind: str, name: str, is_const: bool = False) -> str:
    """A declaration in C, of a name with a type of Rust."""
    if array := re.fullmatch(r"\[(\w+); (\d+)\]", kind):
        return declared(array[1], f"{name}[{array[2]}]")
    const = "const " * is_const
    if pointer := re.fullmatch(r"\*(const|mut) (.+)", kind):
        return declared(pointer[2], f"*{const}{name}", pointer[1] == "const")
    return f"{const}{renamed().get(kind, kind)} {name}"


def page(comment: str) -> list[str]:
    """The lines of a comment, with C's words."""
    for rust, c in WORDS.items():
        comment = comment.replace(rust, c)
    comment = re.sub(r" Same layout as `\w+` in C\.", "", comment)
    # Links of Rust become the last part of their path.
    comment = re.sub(r"\[`(?:\w+::)*([A-Z_]+)`\](?:\([^)]*\))?", r"PICOLLO_\1", comment)
    comment = re.sub(r"\[`(?:\w+::)*(\w+)`\](?:\([^)]*\))?", r"\1", comment).replace("`", "")
    lines = [re.sub("^ */// ?", "", line).rstrip() for line in comment.splitlines()]
    for line in lines:
        word = re.search(r"::|\[`|`\]|u64(?<!uint64)|usize|&mut|Some\(|None", line)
        assert not word, f"{line}: {word and word[0]} is not C"
    return lines


def number(expression: str) -> str:
    """A number as in C. An expression may be a constant of another package, or a variant of its enum."""
    if variant := re.fullmatch(r"(\w+)::(\w+) as u32", expression):
        expression = re.split(rf"\n    {variant[2]} = ", only(f"#[repr(u32)]\npub enum {variant[1]} {{"), maxsplit=1)[1].split(",")[0]
    elif re.fullmatch(r"(\w+::)*[A-Z]\w+", expression):
        expression = re.split(" = ", only(f"pub const {expression.rpartition('::')[2]}: "), maxsplit=1)[1].split(";")[0]
        if "<<" in expression:
            value, _, shift = expression.partition(" << ")
            return str(int(value) << int(shift))
    if "<<" in expression or expression.startswith("-"):
        return f"({expression})"
    return str(int(expression.replace("_", ""), 0))


def constants(section: str) -> Iterator[Item]:
    """The constants that a section takes from other packages."""
    for own, what, rust, prefix in CONSTANTS:
        if own != section:
            continue
        if rust:
            text = next(text for text in others() if f"\npub const {what}: " in text)
            found = [(one["page"], one["constant"].removeprefix(rust), one["value"]) for one in ITEM.finditer(text) if (one["constant"] or "").startswith(rust)]
        else:
            body = only(f"\n{what} {{\n" if what.endswith("!") else f"#[repr(u32)]\npub {what} {{\n").split("\n}")[0]
            found = [(comment, re.sub("(?<!^)(?=[A-Z])", "_", name).upper(), value) for comment, name, value in VARIANT.findall(body + "\n")]
        assert found, f"no {what}"
        for comment, name, value in found:
            yield Item("constant", f"PICOLLO_{prefix}{name}", section, page(comment), number(value.strip()))


def ranks() -> list[Item]:
    """The usual ranks of percentiles: an array of another package, as an initializer."""
    numbers = re.findall(r"[\d.]+", only("\npub const SUMMARY_RANKS: [f64; ").split("] =", 1)[1].split("];")[0])
    name, values = "PICOLLO_DEFAULT_RANKS", ", ".join(number.removesuffix(".0") for number in numbers)
    about = "The usual ranks of percentiles, ascending: an initializer for an array of double."
    return [
        Item("array", name, "summary", [about], f"{{{values}}}"),
        Item("constant", f"{name}_LENGTH", "summary", [f"Number of {name}."], str(len(numbers))),
    ]


def item(found: re.Match[str], section: str) -> Item:
    kind = next(kind for kind in ("constant", "alias", "handle", "struct", "function") if found[kind])
    one = Item(kind, found[kind], section, page(found["page"]))
    if kind == "constant":
        one.value = number(found["value"])
    elif kind == "alias":
        one.value = TYPES[found["of"]]
    elif kind == "struct":
        one.name = renamed().get(one.name, one.name)
        one.parts = [(declared(kind, name), page(comment)) for comment, name, kind in FIELD.findall(found["fields"])]
        silent = [part for part, comment in one.parts if not comment and not part.endswith((" struct_size", "reserved", "reserved[3]"))]
        assert not silent, f"{one.name}: {silent} say nothing"
    elif kind == "function":
        given = [parameter.split(": ", 1) for parameter in re.split(r",\s*", found["parameters"].strip()) if parameter]
        one.parts = [(declared(kind, name), []) for name, kind in given]
        one.value = declared(found["returns"], "").strip() if found["returns"] else "void"
    assert one.page, f"{one.name} says nothing"
    return one


def defined(rust: str) -> re.Match[str]:
    """The definition of a struct of another package. Others may have the name for something else, but only this one is made for C."""
    text = next(text for text in others() if f"#[repr(C)]\npub struct {rust} {{\n" in text)
    return next(one for one in ITEM.finditer(text) if one["struct"] == rust)


def items(path: Path) -> list[Item]:
    """The items of a section: constants, handles and structs, functions."""
    section, module = section_of(path), read(path)
    options = path.with_name(f"{section}_options.rs")
    texts = [read(one) for one in (options, path) if one.exists()]
    own = [item(one, section) for text in texts for one in ITEM.finditer(text) if re.match("(?i)picollo_", _name(one))]
    own += [item(defined(rust), section) for rust in taken(module)]
    every = [*constants(section), *own]
    of = {kind: [one for one in every if one.kind == kind] for kind in ("constant", "alias", "handle", "struct", "function")}
    handles = sorted(of["handle"], key=lambda one: one.name)
    types = of["alias"] + handles + _as_needed(of["struct"])
    if section == "status":
        # Codes that are not errors come before the errors.
        return types + sorted(of["constant"], key=lambda one: "_ERR_" in one.name) + of["function"]
    return (ranks() if section == "summary" else []) + of["constant"] + types + of["function"]


def _name(found: re.Match[str]) -> str:
    return next(found[kind] for kind in ("constant", "alias", "handle", "struct", "function") if found[kind])


def _as_needed(structs: list[Item]) -> list[Item]:
    """Structs after those that they contain."""
    named, ordered = {one.name: one for one in structs}, dict[str, Item]()

    def add(one: Item) -> None:
        for part, _ in one.parts:
            if inner := named.get(part.removeprefix("const ").split()[0]):
                add(inner)
        ordered.setdefault(one.name, one)

    for one in structs:
        add(one)
    return list(ordered.values())
