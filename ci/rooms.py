#!/usr/bin/env python3
"""Do the crates' rooms import only from earlier rooms? docs/architecture.md describes the rooms.

    ci/rooms.py               checks
    ci/rooms.py --planted     also checks a copy with an upward import and one through the facade, which it must find

Fails on an upward import, on one through the crate's facade (`use crate::Snapshot`), and on a file or folder without a
room. Tests may import from anywhere.
"""
import re
import shutil
import sys
import tempfile
from pathlib import Path

# In the order in which they may import. All may import the items before a colon, which import nothing.
ROOMS = {
    "core": "error format Error Result: platform layout cells snapshot statistics threads histograms handle doubles metric models",
    "native": "base Error Status: os clock work elsewhere",
}
# Macros write paths with `$crate`.
PATH = re.compile(r"(?<![\w:])\$?(crate|super|self)((?:::\w+)+|::\{)")


def without_tests(text):
    """The numbered lines of a file, without comments and code for tests only."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        if re.match(r"\s*#\[cfg\((all\()?test\b", line):
            indent = len(line) - len(line.lstrip())
            # Up to the item's end: a brace or a semicolon at the attribute's indentation.
            while number < len(lines) and not re.match(rf"\s{{{indent}}}(\}}|[^#\s].*;$)", lines[number]):
                number += 1
        elif not line.lstrip().startswith("//"):
            yield number + 1, line.split(" // ")[0]
        number += 1


def is_test(path):
    return "tests" in path.parts or path.stem.endswith("tests") or path.stem in ("model", "models", "example")


def look(root):
    """The faults, and the number of imports."""
    faults, seen = [], 0
    for crate, order in ROOMS.items():
        source = root / crate / "src"
        free, ordered = (part.split() for part in order.split(":"))
        rank = {room: at for at, room in enumerate(ordered)} | {room: -1 for room in free}
        for path in sorted(source.rglob("*.rs")):
            relative = path.relative_to(source)
            module = list(relative.with_suffix("").parts)
            if module[-1] == "mod":
                module.pop()
            if module == ["lib"]:
                continue
            if module[0] not in rank:
                faults.append(f"{path.relative_to(root)}: in no room")
                continue
            if is_test(relative) or module[0] == "models":
                continue
            for number, line in without_tests(path.read_text()):
                for found in PATH.finditer(line):
                    start, names = found.group(1), found.group(2).removeprefix("::").split("::")
                    if start == "super":
                        base = module[: len(module) - 1]
                        while names and names[0] == "super":
                            base, names = base[:-1], names[1:]
                        target = base + names
                    elif start == "self":
                        target = module + names
                    else:
                        target = names
                    seen += 1
                    room = target[0] if target else ""
                    place = f"{path.relative_to(root)}:{number}"
                    if room not in rank:
                        faults.append(f"{place}: {found.group(0)} goes through the facade: name the room")
                    elif room != module[0] and rank[room] >= 0 and not 0 <= rank[room] < rank[module[0]]:
                        faults.append(f"{place}: {module[0]} imports {'::'.join(target[:3])}, which is above it")
    return faults, seen


# File, line to add, expected message.
PLANTED = [
    ("core/src/layout/bucket.rs", "use crate::snapshot::merge::Merged;", "layout imports snapshot"),
    ("core/src/metric.rs", "use crate::Snapshot;", "goes through the facade"),
    ("core/src/misplaced.rs", "", "in no room"),
    ("native/src/os/thread.rs", "use crate::clock::Clock;", "os imports clock"),
]


def plant(root):
    """The number of planted faults that are missed."""
    missed = 0
    for file, line, said in PLANTED:
        with tempfile.TemporaryDirectory() as copy:
            for crate in ROOMS:
                shutil.copytree(root / crate / "src", Path(copy, crate, "src"))
            path = Path(copy, file)
            path.write_text(f"{line}\n{path.read_text() if path.exists() else ''}")
            faults, _ = look(Path(copy))
        noticed = any(fault.startswith(file) and said in fault for fault in faults)
        missed += not noticed
        print(f"{'noticed' if noticed else 'MISSED '}  {file}: {line or 'a file'}")
    return missed


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    faults, seen = look(root)
    print("\n".join(faults))
    missed = plant(root) if "--planted" in arguments else 0
    print(f"rooms: {seen} imports; {len(ROOMS) + (len(PLANTED) - missed if '--planted' in arguments else 0)} passed, {len(faults) + missed} failed")
    return 1 if faults or missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
