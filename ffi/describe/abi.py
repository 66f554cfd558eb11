"""Describes the C interface for programs: ffi/picollo.abi.json."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, Iterator, Optional

from source import Item, headers, items, section_of


class Interface:
    def __init__(self) -> None:
        self.sections = {name: [section_of(path) for path in sections] for name, (_, sections) in headers().items()}
        self.items = [one for _, sections in headers().values() for path in sections for one in items(path)]
        self.named = {one.name: one for one in self.items}

    def _all(self, kind: str) -> list[Item]:
        return [one for one in self.items if one.kind == kind]

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
            yield {"group": name, "kind": kind, "section": first.section, "values": {one.name: _value(one) for one in group}}

    def _struct(self, struct: Item) -> dict[str, Any]:
        one: dict[str, Any] = {"name": struct.name, "section": struct.section}
        if struct.name.endswith("_options"):
            one["initialiser"] = f"{struct.name.upper()}_INIT"
        return {**one, "fields": [part for part, _ in struct.parts]}

    def _referred(self, text: str) -> Optional[Item]:
        """The function whose page a text refers to."""
        name = re.match(r"as (picollo_\w+)", text)
        assert not name or name[1] in self.named, f"{text}: no such function"
        return self.named[name[1]] if name else None

    def _is_hot(self, function: Item) -> bool:
        """Whether it says that it does not check its pointers."""
        if re.search("(this|which) is not checked", " ".join(function.page)):
            return True
        other = self._referred(function.under("Requires", "Otherwise") or "")
        return other is not None and self._is_hot(other)

    def _threads(self, function: Item) -> str:
        """The threads that may call it: one of five words for the comment's text."""
        text = function.under("Threads", "Otherwise")
        if text is None:
            if function.name.endswith(("_free", "_stop")):
                return "any" if function.name.replace("_free", "_retain") in self.named else "once"
            return "one at a time" if function.parts and re.match(r"(const )?picollo_session \*\w", function.parts[0][0]) else "any"
        if other := self._referred(text):
            return self._threads(other)
        classes = {
            r"(any thread, )?one at a time": "one at a time", "any thread, once": "once", "any thread": "any",
            "(PICOLLO_READ_AUTO )?opening thread only": "opening", "as the mode says": "as the mode says",
        }  # fmt: skip
        found = next((name for begin, name in classes.items() if re.match(begin, text)), None)
        assert found, f'{function.name}: "Threads: {text}" begins like none of those that the description knows'
        return found

    def _refuses_null(self, function: Item, parameter: str) -> bool:
        """True in calls that return a status, unless the head of the header or the page allows NULL for the
        parameter."""
        page, (kind, name) = " ".join(function.page), re.fullmatch(r"(.*?)(\w+)", parameter).groups()  # type: ignore[union-attr]
        is_text = kind == "const char *" and f"{name} is not NULL" not in page
        optional = is_text or name in ("options", "error", "out_id") or "*" not in kind
        allowed = any(f"{name} {words}" in page for words in ("is NULL", "may be NULL", "or NULL"))
        return function.value == "picollo_status" and not optional and not allowed

    def _function(self, function: Item) -> dict[str, Any]:
        is_hot = self._is_hot(function)
        parameters = [part for part, _ in function.parts]
        refused = [part.split("*")[-1].split()[-1] for part in parameters if self._refuses_null(function, part)]
        one: dict[str, Any] = {"name": function.name, "section": function.section, "returns": function.value}
        if (threads := self._threads(function)) != "any":
            one["threads"] = threads
        one |= {"hot": True} if is_hot else {"refuses_null": refused} if refused else {}
        return {**one, "parameters": parameters}

    def documentation(self) -> dict[tuple[str, str], str]:
        """The documentation of structs, fields and constants, by the keys of `Description.documentation`."""
        structs = self._all("struct")
        pages = [(("", one.name), one.page) for one in self._all("constant")] + [((one.name, ""), one.page) for one in structs]
        for one in structs:
            pages += [((one.name, re.findall(r"\w+", re.sub(r"\[.*", "", part))[-1]), page) for part, page in one.parts]
        return {key: " ".join(line.strip() for line in page) for key, page in pages}

    def description(self) -> dict[str, Any]:
        return {
            "about": "Generated from ffi/src by ci/describe.sh, do not edit. docs/abi.md says what is in it.",
            "headers": self.sections,
            "aliases": {one.name: one.value for one in self._all("alias")},
            "handles": [one.name for one in self._all("handle")],
            "constants": list(self._groups()),
            "arrays": {one.name: [float(number) for number in one.value.strip("{}").split(", ")] for one in self._all("array")},
            "structs": [self._struct(one) for one in self._all("struct")],
            "functions": [self._function(one) for one in self._all("function")],
        }


def _value(constant: Item) -> int:
    number, _, shift = constant.value.strip("()").partition(" << ")
    return int(number) << int(shift or 0)


def _is_flag(constant: Item) -> bool:
    return "<<" in constant.value


def _is_status(constant: Item) -> bool:
    return constant.name in ("PICOLLO_OK", "PICOLLO_END") or constant.name.startswith("PICOLLO_ERR_")


def written(description: dict[str, Any]) -> str:
    """As JSON, with one line for each group of constants, struct and function."""

    def item(key: str, value: Any) -> str:
        many = isinstance(value, list) and isinstance(value[0], dict)
        text = "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]" if many else json.dumps(value)
        return f'  "{key}": {text}'

    return "{\n" + ",\n".join(item(*one) for one in description.items()) + "\n}\n"
