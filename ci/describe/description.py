"""The description of the C interface, ffi/picollo.abi.json, read for the generators of other languages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parent.parent.parent
PATH = ROOT / "ffi" / "picollo.abi.json"


@dataclass(frozen=True)
class Constant:
    name: str
    value: int
    expression: str
    kind: str
    group: Optional[str]
    section: str

    @property
    def short(self) -> str:
        """Without ``PICOLLO_``."""
        return self.name[len("PICOLLO_") :]


@dataclass(frozen=True)
class Value:
    """A parameter or a field."""

    name: str
    type: str
    base: str
    pointers: int
    is_const: bool

    @property
    def declared(self) -> str:
        """As C declares it."""
        return f"{self.type}{self.name}" if self.type.endswith("*") else f"{self.type} {self.name}"


@dataclass(frozen=True)
class Field(Value):
    length: Optional[int]
    offset: int
    size: int

    @property
    def declared(self) -> str:
        return super().declared + (f"[{self.length}]" if self.length else "")


@dataclass(frozen=True)
class Parameter(Value):
    #: What NULL is answered by: "refused", "allowed", "unchecked"; None: no pointer.
    null: Optional[str]


@dataclass(frozen=True)
class Struct:
    name: str
    section: str
    size: int
    fields: tuple[Field, ...]


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
        """Without ``picollo_``."""
        return self.name[len("picollo_") :]

    @property
    def declared(self) -> str:
        """As C declares it, without the semicolon."""
        result = self.returns if self.returns.endswith("*") else self.returns + " "
        return f"{result}{self.name}({', '.join(one.declared for one in self.parameters) or 'void'})"


class Description:
    def __init__(self, path: Path = PATH) -> None:
        file: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.sections: list[str] = file["sections"]
        self.constants = [Constant(**one) for one in file["constants"]]
        self.aliases: dict[str, str] = {one["name"]: one["type"] for one in file["aliases"]}
        self.handles: list[str] = [one["name"] for one in file["handles"]]
        self.structs = [
            Struct(one["name"], one["section"], one["size"], tuple(map(_field, one["fields"]))) for one in file["structs"]
        ]
        self.functions = [
            Function(
                one["name"], one["section"], one["returns"], one["hot"], one["threads"], tuple(map(_parameter, one["parameters"]))
            )
            for one in file["functions"]
        ]
        self.struct_names = {one.name for one in self.structs}


def _field(one: dict[str, Any]) -> Field:
    return Field(
        one["name"], one["type"], one["base"], one["pointers"], one["const"], one["length"], one["offset"], one["size"]
    )


def _parameter(one: dict[str, Any]) -> Parameter:
    return Parameter(one["name"], one["type"], one["base"], one["pointers"], one["const"], one["null"])


def camel(name: str) -> str:
    """``picollo_event_info`` is ``PicolloEventInfo``."""
    return "".join(word[:1].upper() + word[1:] for word in name.lower().split("_"))
