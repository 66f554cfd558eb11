#!/usr/bin/env python3
"""Prints the licenses of what is compiled into the library and the command: packages of crates.io and Rust's standard library.
They have to be handed out with each binary.

    packaging/notices.py [NAME=FILE]...      also those of others, such as musl

If a package can be used under MIT among others, only that text is printed; and equal texts once.
"""

import html
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def packages():
    """Each package, its license's name, and its files about licenses with their texts."""
    tree = output("cargo", "tree", "--locked", "-p", "picollo-ffi", "-p", "picollo-cli", "-e", "normal,no-proc-macro", "--prefix", "none", "-f", "{p}")
    used = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    for package in json.loads(output("cargo", "metadata", "--locked", "--format-version", "1"))["packages"]:
        if package["source"] and (package["name"], "v" + package["version"]) in used:
            files = sorted(pathlib.Path(package["manifest_path"]).parent.glob("*"))
            texts = {file.name: file.read_text() for file in files if re.match("(?i)(un)?licen[sc]e|copying|copyright|notice", file.name) and file.is_file()}
            yield f"{package['name']} {package['version']}", package["license"], texts


def standard_library():
    """The same for Rust's standard library, from the notices that its distributors add."""
    sysroot = pathlib.Path(output("rustc", "--print", "sysroot").strip())
    page = (sysroot / "share/doc/rust/COPYRIGHT-library.html").read_text()
    yield "Rust's standard library, by the Rust Project Developers", "MIT OR Apache-2.0", {"MIT": (sysroot / "share/doc/rust/licenses/MIT.txt").read_text()}
    for section in page.split("<h3>")[1:]:
        name = re.sub(r"-(?=\d)", " ", re.sub(r"[^\w.+-]", "", section.partition("</h3>")[0]), count=1)
        texts = re.findall(r"<summary><code>(.*?)</code></summary>\s*<pre>(.*?)</pre>", section, re.DOTALL)
        yield name, re.search(r"License:</b> ([^<]+)", section)[1], {file: html.unescape(text) for file, text in texts}


def main(others):
    found = [*packages(), *standard_library()]
    for name, _, file in (other.partition("=") for other in others):
        found.append((name, "as below", {file: pathlib.Path(file).read_text()}))
    by_text = {}
    print("Picollo's library and command contain code of these packages; those of the standard library are listed for all systems.\n")
    for name, license_name, texts in sorted(found, key=lambda one: one[0]):
        print(f"  {name}: {license_name}")
        mit = {file: text for file, text in texts.items() if "MIT" in file and " OR " in license_name.replace("/", " OR ")}
        for text in (mit or texts).values():
            by_text.setdefault(" ".join(text.split()), (text.strip(), []))[1].append(name)
    for text, names in by_text.values():
        print(f"\n{'-' * 80}\n{', '.join(dict.fromkeys(names))}\n\n{text}")


if __name__ == "__main__":
    main(sys.argv[1:])
