#!/usr/bin/env python3
"""The version stands in several files. Without an argument this compares them all with Cargo.toml; with a version, such
as 0.2.0, it changes them. Ends with "N places have VERSION".

    make version V=X.Y.Z
"""

import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = r"\d+\.\d+\.\d+"
# The version is the only group of each pattern. A file may have several places.
PLACES = {
    "Cargo.toml": rf'^(?:picollo-\w+ = {{ path = .*)?version = "({VERSION})"',
    "adapters/pytest/pyproject.toml": rf'(?:^version = "|picollo==)({VERSION})"',
    "dotnet/Directory.Build.props": rf"<Version>({VERSION})</Version>",
    "python/src/picollo/__init__.py": rf'^__version__ = "({VERSION})"',
    "packaging/debian/changelog": rf"\A\S+ \(({VERSION})-1\)",
    "CITATION.cff": rf"^version: ({VERSION})",
}
# Its numbers; the header is generated from them.
NUMBERS = ["ffi/src/picollo/version.rs", "include/picollo.h"]
NUMBER = r"PICOLLO_VERSION_{}(?:: u32 =)? (\d+)"


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def found():
    """All places, as (file, version)."""
    for path, pattern in PLACES.items():
        if not (ROOT / path).exists():
            continue
        versions = re.findall(pattern, read(path), re.MULTILINE)
        assert versions, f"{path} has no version"
        yield from ((path, version) for version in versions)
    for path in NUMBERS:
        numbers = [re.findall(NUMBER.format(part), read(path)) for part in ("MAJOR", "MINOR", "PATCH")]
        assert all(len(number) == 1 for number in numbers), f"{path}: {numbers}"
        yield path, ".".join(number for (number,) in numbers)
    locked = re.findall(r'^name = "(picollo[\w-]*)"\nversion = "(.*)"', read("Cargo.lock"), re.MULTILINE)
    # Those that are not published have none.
    yield from (("Cargo.lock", version) for _, version in locked if version != "0.0.0")


def elsewhere(version):
    """Tracked files with the version that no list here names."""
    listed = {*PLACES, *NUMBERS, "Cargo.lock", "CHANGELOG.md"}
    known = subprocess.run(["git", "grep", "-lwF", version], cwd=ROOT, capture_output=True, text=True).stdout.split()
    return [path for path in known if path not in listed]


def change(new):
    for path, pattern in PLACES.items():
        if path.endswith("changelog") or not (ROOT / path).exists():
            continue
        replaced = re.sub(pattern, lambda match: match[0].replace(match[1], new), read(path), flags=re.MULTILINE)
        (ROOT / path).write_text(replaced, encoding="utf-8")
    for path in NUMBERS:
        text = read(path)
        for part, number in zip(("MAJOR", "MINOR", "PATCH"), new.split(".")):
            text = re.sub(NUMBER.format(part), lambda match, number=number: match[0].removesuffix(match[1]) + number, text)
        (ROOT / path).write_text(text, encoding="utf-8")
    changes = read("packaging/debian/changelog")
    if f"({new}-1)" not in changes.splitlines()[0]:
        (who,) = set(re.findall(r"^ -- (.*>)  ", changes, re.MULTILINE))
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
        entry = f"picollo ({new}-1) unstable; urgency=medium\n\n  * New upstream release.\n\n -- {who}  {now}\n\n"
        (ROOT / "packaging/debian/changelog").write_text(entry + changes, encoding="utf-8")
    subprocess.run(["cargo", "update", "--quiet", "--offline", "--workspace"], cwd=ROOT, check=True)


def main():
    if len(sys.argv) > 1 and sys.argv[1]:
        assert re.fullmatch(VERSION, sys.argv[1]), f"{sys.argv[1]} is no version of three numbers"
        change(sys.argv[1])
    places = list(found())
    version = places[0][1]
    wrong = [f"{path} has {other}, Cargo.toml has {version}" for path, other in places if other != version]
    wrong += [f"{path} has {version}, and packaging/version.py does not change it" for path in elsewhere(version)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(places)} places have {version}")


if __name__ == "__main__":
    main()
