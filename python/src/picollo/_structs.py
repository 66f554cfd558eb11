"""The constants, structs and functions of ``include/picollo*.h``, from the description of the interface in ``abi.json``:
``TEXT_LINE`` is ``PICOLLO_TEXT_LINE``, ``Counts`` is ``picollo_counts``. ``docs/abi.md`` says what is in the file.
"""

from __future__ import annotations

import ctypes
import json
import pkgutil
import re
from ctypes import c_char_p, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, Iterable

_described = json.loads(pkgutil.get_data(__package__ or "picollo", "abi.json") or b"")
_functions = {one["name"][len("picollo_") :]: one for one in _described["functions"]}
_kinds: dict[str, Any] = {
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": c_uint64,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "char": ctypes.c_char,
    "uint8_t": ctypes.c_uint8,
}
_kinds.update({alias: _kinds[name] for alias, name in _described["aliases"].items()})

# A value of 64 bits on the hot path. Where pointers have 64 bits too, c_void_p passes the same bits in the same register,
# and ctypes converts an int to it in half the time of c_uint64 (no isinstance check). Callers check the range first.
_HOT = c_void_p if ctypes.sizeof(c_void_p) == 8 else c_uint64

#: The functions by their names without ``picollo_``.
FUNCTIONS = tuple(_functions)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def prototype(name: str) -> tuple[Any, list[Any]]:
    """What a function returns, and what it takes.

    All pointers are c_void_p: byref() objects and bytes pass through unchecked, which is cheaper than a typed pointer.
    """
    function = _functions[name]
    # Callers check the range of recorded and added values.
    is_hot = function["returns"] == "void" or "_record" in name
    taken = [
        c_void_p if "*" in declared else _HOT if is_hot and declared.startswith("uint64_t ") else _kinds[declared.split()[0]]
        for declared in function["parameters"]
    ]
    returned = {"void": None, "const char *": c_char_p}
    result = function["returns"]
    return returned[result] if result in returned else c_void_p if "*" in result else _kinds[result], taken


def options(kind: Any, **members: Any) -> Any:
    """A struct of options, which has its size in its first member."""
    return kind(struct_size=ctypes.sizeof(kind), **members)


def codes(group: str, names: Iterable[str]) -> dict[str, int]:
    """The numbers of a group by the names that Python has for them: ``codes("MODE", ["per_cpu"])``."""
    return {name: globals()[f"{group}_{re.sub('[ -]', '_', name).upper()}"] for name in names}


def flags(group: str, **are_set: bool) -> int:
    """The sum of those flags of a group that are set: ``flags("SESSION", KERNEL=kernel)``."""
    return sum(globals()[f"{group}_{name}"] * bool(is_set) for name, is_set in are_set.items())


def _field(declared: str) -> tuple[str, Any]:
    found = re.fullmatch(r"(?:const )?(\w+) (\**)(\w+)(?:\[(\d+)\])?", declared)
    assert found, declared
    base, pointers, name, length = found.groups()
    kind = _kinds.get(base, c_void_p)
    if pointers:
        is_struct = isinstance(kind, type) and issubclass(kind, ctypes.Structure)
        kind = ctypes.POINTER(kind) if is_struct else c_char_p if base == "char" else c_void_p
    return name, kind * int(length) if length else kind


for _group in _described["constants"]:
    globals().update({name[len("PICOLLO_") :]: value for name, value in _group["values"].items()})
for _name, _numbers in _described["arrays"].items():
    globals()[_name[len("PICOLLO_") :]] = tuple(_numbers)
for _struct in _described["structs"]:
    _short = _struct["name"][len("picollo_") :].title().replace("_", "")
    _fields = list(map(_field, _struct["fields"]))
    globals()[_short] = _kinds[_struct["name"]] = type(_short, (ctypes.Structure,), {"_fields_": _fields})
