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
SERIES = r"\d+\.\d+"
VERSION = SERIES + r"\.\d+"
# The version, or its first two numbers, is the only group of each pattern. A file may have several places.
PLACES = {
    "Cargo.toml": rf'^(?:picollo-\w+ = {{ path = .*)?version = "({VERSION})"',
    "adapters/criterion/README.md": rf'^picollo-criterion = "({SERIES})"',
    "adapters/metrics/README.md": rf'^picollo-metrics = "({SERIES})"',
    "adapters/tracing/README.md": rf'^picollo-tracing = "({SERIES})"',
    "adapters/pytest/pyproject.toml": rf'(?:^version = "|picollo==)({VERSION})"',
    "dotnet/Directory.Build.props": rf"<Version>({VERSION})</Version>",
    "python/src/picollo/__init__.py": rf'^__version__ = "({VERSION})"',
    "packaging/debian/changelog": rf"\A\S+ \(({VERSION})-1\)",
    "CITATION.cff": rf"^version: ({VERSION})",
    "ci/install/CMakeLists.txt": rf"picollo(?: |>=)({SERIES})\b",
    "docs/embedded.md": rf'^picollo-core = {{ version = "({SERIES})"',
    "docs/platforms.md": rf"find_package\(picollo ({SERIES}) ",
}
# Its numbers; headers and description are generated from them.
NUMBERS = "ffi/src/picollo/version.rs"
NUMBER = r"PICOLLO_VERSION_{}: u32 = (\d+)"


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def found():
    """All places, as (file, version)."""
    for path, pattern in PLACES.items():
        versions = re.findall(pattern, read(path), re.MULTILINE)
        assert versions, f"{path} has no version"
        yield from ((path, version) for version in versions)
    numbers = [re.findall(NUMBER.format(part), read(NUMBERS)) for part in ("MAJOR", "MINOR", "PATCH")]
    yield NUMBERS, ".".join(number for (number,) in numbers)
    locked = re.findall(r'^name = "(picollo[\w-]*)"\nversion = "(.*)"', read("Cargo.lock"), re.MULTILINE)
    # Those that are not published have none.
    yield from (("Cargo.lock", version) for _, version in locked if version != "0.0.0")


def elsewhere(version):
    """Tracked files that name this version of Picollo, and that no list here names. Other things have the same version."""
    escaped = version.replace(".", r"\.")
    patterns = [rf'picollo[a-z@="( >_-]*{escaped}\b', rf'^version( = "|: ){escaped}\b']
    command = ["git", "grep", "-liE", *(f"-e{pattern}" for pattern in patterns)]
    known = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()
    return [path for path in known if path not in {*PLACES, "Cargo.lock", "CHANGELOG.md"}]


def change(new):
    for path, pattern in PLACES.items():
        if path.endswith("changelog"):
            continue
        series = new.rpartition(".")[0]
        replaced = re.sub(
            pattern, lambda match: match[0].replace(match[1], new if match[1].count(".") == 2 else series), read(path), flags=re.MULTILINE
        )
        (ROOT / path).write_text(replaced, encoding="utf-8")
    text = read(NUMBERS)
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), new.split(".")):
        text = re.sub(NUMBER.format(part), lambda match, number=number: match[0].removesuffix(match[1]) + number, text)
    (ROOT / NUMBERS).write_text(text, encoding="utf-8")
    subprocess.run(["ci/describe.sh"], cwd=ROOT, check=True)
    changes = read("packaging/debian/changelog")
    if f"({new}-1)" not in changes.splitlines()[0]:
        (who,) = set(re.findall(r"^ -- (.*>)  ", changes, re.MULTILINE))
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
        entry = f"picollo ({new}-1) unstable; urgency=medium\n\n  * New upstream release.\n\n -- {who}  {now}\n\n"
        (ROOT / "packaging/debian/changelog").write_text(entry + changes, encoding="utf-8")
    subprocess.run(["cargo", "update", "--quiet", "--offline", "--workspace"], cwd=ROOT, check=True)


def main():
    if len(sys.argv) > 1 and sys.argv[1]:
        if not re.fullmatch(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}", sys.argv[1]):
            sys.exit(f"A version has three numbers, such as 0.2.0; got {sys.argv[1]}")
        change(sys.argv[1])
    places = list(found())
    version = places[0][1]
    wrong = [f"{path} has {other}, Cargo.toml has {version}" for path, other in places if not f"{version}.".startswith(f"{other}.")]
    wrong += [f"{path} has {version}, and packaging/version.py does not change it" for path in elsewhere(version)]
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(places)} places have {version}")


if __name__ == "__main__":
    main()
