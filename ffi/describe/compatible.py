"""Compares two descriptions of the C interface, and prints the changes that would break programs built for the older
one.

    compatible.py OLD NEW     each is a path; fails if anything is incompatible

Additions are allowed: functions, constants, structs, and fields at the end of a struct of options. Names of parameters may change.
If PICOLLO_ABI_VERSION is higher, and so the SONAME another, every change is allowed.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any


def breaks(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """One sentence for each incompatible change."""
    before, after = map(declared, (old, new))
    if before["PICOLLO_ABI_VERSION"] < after["PICOLLO_ABI_VERSION"]:
        return []
    found = []
    for name, was in before.items():
        if name in after:
            found += [f"{name}: {what}" for what in changes(was, after[name])]
        else:
            found.append(f"{name} is gone")
    return found


def declared(description: dict[str, Any]) -> dict[str, Any]:
    """All named items by name: the value of a constant, the type of an alias, the entry of a struct or a function."""
    constants = {name: value for group in description["constants"] for name, value in group["values"].items()}
    named = {one["name"]: one for one in description["structs"] + description["functions"]}
    handles = dict.fromkeys(description["handles"])
    all_of_it = {**constants, **description["aliases"], **handles, **named}
    return {name: what for name, what in all_of_it.items() if not name.startswith("PICOLLO_VERSION_")}


def changes(old: Any, new: Any) -> list[str]:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return differ("what it is", old, new)
    if "returns" in old:
        return differ("what it returns", old["returns"], new["returns"]) + differ(
            "its parameters", *([re.sub(r"\w+$", "", one) for one in function["parameters"]] for function in (old, new))
        )
    # Sizes and offsets follow from the declarations.
    before, after = old["fields"], new["fields"]
    return differ("its fields", before, after[: len(before)] if "initialiser" in old else after)


def differ(what: str, old: Any, new: Any) -> list[str]:
    return [] if old == new else [f"{what} was {old} and is {new}"]


def main() -> None:
    found = breaks(*(json.loads(Path(path).read_text(encoding="utf-8")) for path in sys.argv[1:3]))
    print("\n".join(found) or "compatible")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
