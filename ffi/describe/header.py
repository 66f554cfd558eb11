"""Converts the declarations of the generated headers to ffi/picollo.abi.json.

This is the project's only C parser. It knows what the headers may contain, and otherwise fails with the text at fault.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Optional

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "ffi/src"


def headers() -> Iterator[tuple[Path, list[str]]]:
    """The generated headers with the names of their sections, as ffi/tests/header.rs has them: each folder of ffi/src is a header."""
    folders = [path for path in SOURCES.iterdir() if path.is_dir()]
    for folder in sorted(folders, key=lambda path: (path.name != "picollo", path.name)):
        sections = re.findall(r"^pub mod (?!\w+_options;)(\w+);", (folder / "mod.rs").read_text(encoding="utf-8"), re.M)
        name = "picollo.h" if folder.name == "picollo" else f"picollo_{folder.name}.h"
        yield ROOT / "include" / name, sections or [folder.name]


KNOWN = re.compile(
    r"""(?P<section>/\*\ -{50}.*?\*/)
    | /\*\*(?P<comment>.*?)\*/
    | /\*.*?\*/ | \#ifndef\ PICOLLO_NODISCARD.*?\#define\ PICOLLO_STATUS[^\n]* | \#ifdef\ __cplusplus.*?\#endif
    | \#(?:ifndef|define)\ PICOLLO_(?:\w+_)?H\n | \#include\ (?:<std(?:def|int)\.h>|"picollo\w*\.h") | \#endif\n?
    | \#define\ (?P<constant>PICOLLO_\w+)\ (?P<value>\(?[-\w<\ ]+\)?)(?=\n)
    | \#define\ (?P<initialiser>PICOLLO_\w+)\ \{[^\n]*\}
    | typedef\ struct\ (?P<handle>picollo_\w+)\ (?P=handle);
    | typedef\ struct\ (?P<struct>picollo_\w+)\ \{(?P<fields>.*?)\n\}\ (?P=struct);
    | typedef\ (?P<of>\w+)\ (?P<alias>\w+);
    | (?P<returns>(?:const\ )?\w+\ \**)(?P<function>picollo_\w+)\((?P<parameters>[\w\ *,\n]*)\);""",
    re.S | re.X,
)
DECLARED = re.compile(r"(?P<type>(?P<const>const )?(?P<base>\w+) (?P<pointers>(?:\*const )?\**))(?P<name>\w+)(?:\[(?P<length>\w+)\])?")


@dataclass
class Item:
    kind: str
    name: str
    section: str
    #: The lines of its comment.
    page: list[str]
    found: re.Match[str]

    def under(self, *labels: str) -> Optional[str]:
        """The text after the first existing one of these headings, on one line."""
        for label in labels:
            for at, line in enumerate(self.page):
                if line.startswith(f"{label}: "):
                    more = itertools.takewhile(lambda line: line.startswith("  "), self.page[at + 1 :])
                    return " ".join([line.removeprefix(f"{label}: "), *(line.strip() for line in more)])
        return None


def items() -> Iterator[Item]:
    for path, sections in headers():
        header = path.read_text(encoding="utf-8")
        # A header with only one section has no heading for it.
        at, section, page = 0, 0 if len(sections) == 1 else -1, []
        while rest := header[at:].lstrip():
            at = len(header) - len(rest)
            found = KNOWN.match(header, at)
            assert found, f"not known in {path.name}: {rest[:200]}"
            at = found.end()
            section += found["section"] is not None
            kind = next((one for one in ("constant", "initialiser", "handle", "struct", "alias", "function") if found[one]), None)
            if kind:
                assert page or kind == "initialiser", f"{found[kind]} says nothing"
                yield Item(kind, found[kind], sections[section], page, found)
            page = [re.sub(r"^ *\*? ?", "", line).rstrip() for line in (found["comment"] or "").splitlines()]
        assert section == len(sections) - 1, f"{path.name}: {section + 1} sections"


class Header:
    def __init__(self) -> None:
        self.items = list(items())
        self.named = {one.name: one for one in self.items}
        self.functions = self._all("function")

    def _all(self, kind: str) -> list[Item]:
        return [one for one in self.items if one.kind == kind]

    def value(self, expression: str) -> int:
        """The value of a number, a negative number, a shift, or another constant."""
        number, _, shift = expression.strip("()").partition("<<")
        number = number.strip()
        if number in self.named:
            return self.value(self.named[number].found["value"])
        return int(number) << int(shift or 0)

    def _groups(self) -> Iterator[dict[str, Any]]:
        """Adjacent constants with a common prefix, which becomes the group's name. Single constants that are no flags
        have none."""
        groups: list[list[Item]] = []
        last = -1
        for at, item in enumerate(self.items):
            if item.kind != "constant":
                continue
            before = groups[-1][-1] if groups and at == last + 1 else None
            last = at
            alike = before and (item.name.split("_")[1] == before.name.split("_")[1] or (_is_status(item) and _is_status(before)))
            if before and alike and before.section == item.section and _is_flag(before) == _is_flag(item):
                groups[-1].append(item)
            else:
                groups.append([item])
        for group in groups:
            first = group[0]
            words = zip(*(one.name.split("_")[1:] for one in group))
            begin = "_".join(same[0] for same in itertools.takewhile(lambda same: len(set(same)) == 1, words))
            if len(group) == 1:
                begin = first.name.split("_")[1] if _is_flag(first) else ""
            name = "STATUS" if _is_status(first) else begin
            kind = "flag" if _is_flag(first) else "code" if name else "number"
            values = {one.name: self.value(one.found["value"]) for one in group}
            yield {"group": name, "kind": kind, "section": first.section, "values": values}

    def _fields(self, struct: Item) -> Iterator[str]:
        """The declarations of fields, with lengths as numbers."""
        for comment, declared in re.findall(r"(/\*\*(?:(?!\*/).)*\*/)?\s*([^;/]+);", struct.found["fields"], re.S):
            field = DECLARED.fullmatch(declared)
            assert field, f"{struct.name}: {declared}"
            assert comment or field["name"] in ("struct_size", "reserved"), f"{struct.name}: {field['name']} says nothing"
            yield declared.replace(f"[{field['length']}]", f"[{self.value(field['length'] or '0')}]")

    def _struct(self, struct: Item) -> dict[str, Any]:
        one: dict[str, Any] = {"name": struct.name, "section": struct.section}
        if f"{struct.name.upper()}_INIT" in self.named:
            one["initialiser"] = f"{struct.name.upper()}_INIT"
        return {**one, "fields": list(self._fields(struct))}

    def _sent_to(self, text: str) -> Optional[Item]:
        """The function whose page a text refers to."""
        name = re.match(r"as (picollo_\w+)", text)
        assert not name or name[1] in self.named, f"{text}: no such function"
        return self.named[name[1]] if name else None

    def _is_hot(self, function: Item) -> bool:
        """Whether it says that it does not check its pointers."""
        if re.search("(this|which) is not checked", " ".join(function.page)):
            return True
        other = self._sent_to(function.under("Requires", "Otherwise") or "")
        return other is not None and self._is_hot(other)

    def _threads(self, function: Item) -> str:
        """The threads that may call it: one of five words for the comment's text."""
        text = function.under("Threads", "Otherwise")
        if text is None:
            if function.name.endswith(("_free", "_stop")):
                return "any" if function.name.replace("_free", "_retain") in self.named else "once"
            return "one at a time" if re.match(r"(const )?picollo_session \*\w", function.found["parameters"]) else "any"
        if other := self._sent_to(text):
            return self._threads(other)
        classes = {
            r"(any thread, )?one at a time": "one at a time", "any thread, once": "once", "any thread": "any",
            "(PICOLLO_READ_AUTO )?opening thread only": "opening", "as the mode says": "as the mode says",
        }  # fmt: skip
        found = next((name for begin, name in classes.items() if re.match(begin, text)), None)
        assert found, f'{function.name}: "Threads: {text}" begins like none of those that the description knows'
        return found

    def _refuses_null(self, function: Item, parameter: re.Match[str]) -> bool:
        """True in calls that return a status, unless the head of the header or the page allows NULL for the
        parameter."""
        page, name = " ".join(function.page), parameter["name"]
        is_text = parameter["type"] == "const char *" and f"{name} is not NULL" not in page
        optional = is_text or name in ("options", "error", "out_id") or not parameter["pointers"]
        allowed = any(f"{name} {words}" in page for words in ("is NULL", "may be NULL", "or NULL"))
        return "STATUS" in function.found["returns"] and not optional and not allowed

    def _function(self, function: Item) -> dict[str, Any]:
        text = " ".join(function.found["parameters"].split())
        parameters = [DECLARED.fullmatch(one) for one in text.split(", ")] if text != "void" else []
        assert all(parameters), f"{function.name}: {text}"
        is_hot = self._is_hot(function)
        refused = [one["name"] for one in parameters if one and not is_hot and self._refuses_null(function, one)]
        returns = function.found["returns"].strip().replace("PICOLLO_STATUS", "picollo_status")
        one: dict[str, Any] = {"name": function.name, "section": function.section, "returns": returns}
        if (threads := self._threads(function)) != "any":
            one["threads"] = threads
        one |= {"hot": True} if is_hot else {"refuses_null": refused} if refused else {}
        return {**one, "parameters": [one[0] for one in parameters if one]}

    def _numbers(self, array: Item) -> list[float]:
        """The numbers of an initializer that is not that of a struct."""
        return [float(number) for number in re.findall(r"[\d.]+", array.found[0].partition("{")[2])]

    def description(self) -> dict[str, Any]:
        return {
            "about": "Generated from the headers in include by ci/describe.sh, do not edit. docs/abi.md says what is in it.",
            "headers": {path.name: sections for path, sections in headers()},
            "aliases": {one.name: one.found["of"] for one in self._all("alias")},
            "handles": [one.name for one in self._all("handle")],
            "constants": list(self._groups()),
            "arrays": {one.name: self._numbers(one) for one in self._all("initialiser") if one.page},
            "structs": [self._struct(one) for one in self._all("struct")],
            "functions": [self._function(one) for one in self.functions],
        }


def _is_flag(constant: Item) -> bool:
    return "<<" in constant.found["value"]


def _is_status(constant: Item) -> bool:
    return constant.name in ("PICOLLO_OK", "PICOLLO_END") or constant.name.startswith("PICOLLO_ERR_")


def written(description: dict[str, Any]) -> str:
    """As JSON, with one line for each group of constants, struct and function."""

    def item(key: str, value: Any) -> str:
        many = isinstance(value, list) and isinstance(value[0], dict)
        text = "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]" if many else json.dumps(value)
        return f'  "{key}": {text}'

    return "{\n" + ",\n".join(item(*one) for one in description.items()) + "\n}\n"
