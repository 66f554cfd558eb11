"""Reads the description of the C interface, ffi/picollo.abi.json, for the generators of other languages.

Run as a program, it prints the sorted names of all functions.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parent.parent.parent
PATH = ROOT / "ffi" / "picollo.abi.json"

#: Size and alignment on 64-bit targets, and on 32-bit targets.
Room = tuple[tuple[int, int], tuple[int, int]]
Rooms = dict[str, Room]


@dataclass(frozen=True)
class Constant:
    name: str
    value: int
    kind: str
    group: str
    section: str

    @property
    def short(self) -> str:
        """The name without ``PICOLLO_``."""
        return self.name[len("PICOLLO_") :]

    @property
    def expression(self) -> str:
        """A flag as a shift."""
        if self.kind != "flag":
            return str(self.value)
        shift = (self.value & -self.value).bit_length() - 1
        return f"{self.value >> shift} << {shift}"


class Value:
    """A parameter or a field, from its C declaration."""

    def __init__(self, declared: str) -> None:
        self.declared = declared
        parts = re.fullmatch(r"(?P<type>(?P<const>const )?(?P<base>\w+) (?P<pointers>(?:\*const )?\**))(?P<name>\w+)(?:\[(?P<length>\d+)\])?", declared)
        assert parts, declared
        self.name: str = parts["name"]
        self.type: str = parts["type"].strip()
        self.base: str = parts["base"]
        self.pointers: int = parts["pointers"].count("*")
        self.is_const = parts["const"] is not None
        self.length: Optional[int] = int(parts["length"]) if parts["length"] else None


class Field(Value):
    """With its size and offset on 64-bit targets and, with ``_32``, on 32-bit targets."""

    def __init__(self, declared: str, rooms: Rooms, ends: list[int]) -> None:
        """The next field of a struct, whose fields so far end there."""
        super().__init__(declared)
        self.room: Room = rooms["*" if self.pointers else self.base]
        (self.size, align), (self.size_32, align_32) = [(size * (self.length or 1), align) for size, align in self.room]
        self.offset, self.offset_32 = _aligned(ends[0], align), _aligned(ends[1], align_32)
        ends[:] = [self.offset + self.size, self.offset_32 + self.size_32]


class Parameter(Value):
    def __init__(self, declared: str, function: dict[str, Any]) -> None:
        super().__init__(declared)
        #: The reaction to NULL: "refused", "allowed", "unchecked"; None: not a pointer.
        self.null: Optional[str] = None
        if self.pointers:
            refused = "refused" if self.name in function.get("refuses_null", []) else "allowed"
            self.null = "unchecked" if function.get("hot") else refused


@dataclass(frozen=True)
class Struct:
    name: str
    section: str
    size: int
    size_32: int
    fields: tuple[Field, ...]
    #: The macro that initializes a struct of options.
    initialiser: Optional[str]


@dataclass(frozen=True)
class Function:
    name: str
    section: str
    returns: str
    is_hot: bool
    threads: str
    parameters: tuple[Parameter, ...]

    @property
    def short(self) -> str:
        """The name without ``picollo_``."""
        return self.name[len("picollo_") :]

    @property
    def declared(self) -> str:
        """The C declaration, without the semicolon."""
        result = self.returns if self.returns.endswith("*") else self.returns + " "
        return f"{result}{self.name}({', '.join(one.declared for one in self.parameters) or 'void'})"


class Description:
    def __init__(self, described: Optional[dict[str, Any]] = None, documentation: Optional[dict[tuple[str, str], str]] = None) -> None:
        file: dict[str, Any] = described or json.loads(PATH.read_text(encoding="utf-8"))
        #: The sections of each header.
        self.headers: dict[str, list[str]] = file["headers"]
        self.aliases: dict[str, str] = file["aliases"]
        self.handles: list[str] = file["handles"]
        self.constants = [
            Constant(name, value, group["kind"], group["group"], group["section"])
            for group in file["constants"]
            for name, value in group["values"].items()
        ]
        #: Constant arrays of double by their names.
        self.arrays: dict[str, list[float]] = file["arrays"]
        wide = {"char": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "double": 8}
        rooms: Rooms = {name: ((size, size), (size, size)) for name, size in wide.items()}
        rooms |= dict.fromkeys(["*", "size_t"], ((8, 8), (4, 4))) | {alias: rooms[name] for alias, name in self.aliases.items()}
        self.structs: list[Struct] = []
        for one in file["structs"]:
            ends = [0, 0]
            fields = tuple(Field(declared, rooms, ends) for declared in one["fields"])
            aligns = [max(field.room[at][1] for field in fields) for at in (0, 1)]
            sizes = list(map(_aligned, ends, aligns))
            rooms[one["name"]] = ((sizes[0], aligns[0]), (sizes[1], aligns[1]))
            self.structs.append(Struct(one["name"], one["section"], sizes[0], sizes[1], fields, one.get("initialiser")))
        self.functions = [
            Function(
                one["name"], one["section"], one["returns"], "hot" in one, one.get("threads", "any"),
                tuple(Parameter(declared, one) for declared in one["parameters"]),
            )
            for one in file["functions"]
        ]  # fmt: skip
        self.struct_names = {one.name for one in self.structs}
        #: The text on a field, by its struct and name, on a struct, by its name and "", and on a constant, by "" and its name.
        self.documentation = documentation or {}


def _aligned(end: int, align: int) -> int:
    return -(-end // align) * align


def camel(name: str) -> str:
    """``picollo_event_info`` is ``PicolloEventInfo``."""
    return "".join(word[:1].upper() + word[1:] for word in name.lower().split("_"))


if __name__ == "__main__":
    print("\n".join(sorted(one.name for one in Description().functions)))
