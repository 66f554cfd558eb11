#!/usr/bin/env python3
"""Can the project files be loaded that no tool here reads? They must parse as XML, JSON or TOML, and the files that
they name must exist. And no committed plot contains its creation time, which would change with every run.

(There is no .NET SDK here to load dotnet's.) Ends with "N passed, N failed".
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def solution(text):
    """The projects of a solution of Visual Studio."""
    projects = re.findall(r'^Project\("\{[0-9A-F-]{36}\}"\) = "[^"]+", "([^"]+)", "(\{[0-9A-F-]{36}\})"\nEndProject$', text, re.MULTILINE)
    if not projects or len(projects) != text.count("\nEndProject\n"):
        raise ValueError("its projects cannot be read")
    if any(text.count(f"{identifier}.Release|Any CPU.Build.0 = ") != 1 for _, identifier in projects):
        raise ValueError("a project is not built in Release")
    return [path for path, _ in projects]


READERS = {
    ".sln": solution,
    ".csproj": xml.etree.ElementTree.fromstring,
    ".props": xml.etree.ElementTree.fromstring,
    ".targets": xml.etree.ElementTree.fromstring,
    ".svg": xml.etree.ElementTree.fromstring,
    ".json": json.loads,
    ".toml": tomllib.loads,
}


def named(suffix, content):
    """The files that a project names, except patterns and build outputs."""
    if suffix == ".sln":
        yield from (path.replace("\\", "/") for path in content)
    if suffix in (".csproj", ".props", ".targets"):
        for element in content.iter():
            if element.tag in ("ProjectReference", "Compile", "Content", "None", "EmbeddedResource", "Import"):
                for attribute in ("Include", "Update", "Project"):
                    name = element.get(attribute, "")
                    if name and not re.search(r"[*$@]", name):
                        yield name.replace("\\", "/")
            elif element.tag == "PackageReadmeFile" and not any(
                pathlib.PurePath(item.get("Include", "")).name == element.text for item in content.iter("None")
            ):
                yield f"{element.text} as an item"
    elif suffix == ".toml":
        for table in (content, content.get("package", {}), content.get("project", {})):
            if isinstance(table.get("readme"), str):
                yield table["readme"]
        for kind in ("bin", "test", "example", "bench"):
            yield from (entry["path"] for entry in content.get(kind, []) if "path" in entry)
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for value in content.get(kind, {}).values():
                if isinstance(value, dict) and "path" in value:
                    yield value["path"] + "/Cargo.toml"


def faults(name, text):
    """The faults in the text of a project file."""
    suffix = pathlib.PurePath(name).suffix
    try:
        content = READERS[suffix](text)
    except (xml.etree.ElementTree.ParseError, ValueError) as error:
        return [f"{name}: {error}"]
    if suffix == ".svg" and any(element.tag.endswith("}date") for element in content.iter()):
        return [f"{name}: says when it was drawn"]
    found = [f"{name}: names {file}, which does not exist" for file in named(suffix, content) if not (ROOT / name).parent.joinpath(file).exists()]
    if suffix == ".csproj" and content.findtext(".//OutputType") == "Exe" and content.findtext(".//RollForward") != "Major":
        found.append(f"{name}: no <RollForward>Major</RollForward>: it would start on one version of .NET only")
    return found


def main():
    # A check that cannot fail proves nothing.
    planted = {
        "dotnet/planted.csproj": "<Project><!-- dotnet run --project here --></Project>",
        "dotnet/absent.csproj": '<Project><ProjectReference Include="absent/Absent.csproj" /></Project>',
        "dotnet/readme.csproj": "<Project><PackageReadmeFile>absent.md</PackageReadmeFile></Project>",
        "dotnet/one.csproj": "<Project><OutputType>Exe</OutputType></Project>",
        "dotnet/planted.sln": 'Project("{0}") = "One", "One.csproj", "{1}"\nEndProject\n',
        "dotnet/absent.sln": (ROOT / "dotnet" / "Picollo.sln").read_text(encoding="utf-8").replace("Tests.csproj", "Absent.csproj"),
        "planted.svg": '<svg xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:date>2024-02-29</dc:date></svg>',
        "planted.json": '{"a": 1,}',
        "planted.toml": 'readme = "absent.md"',
    }
    passed = failed = 0
    for name, text in planted.items():
        if faults(name, text):
            passed += 1
        else:
            failed += 1
            print(f"FAILED: a planted fault was not found: {text}")
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    projects = [name for name in listed.stdout.split("\0") if pathlib.PurePath(name).suffix in READERS and (ROOT / name).exists()]
    for name in projects:
        found = faults(name, (ROOT / name).read_text(encoding="utf-8"))
        for fault in found:
            print("FAILED:", fault)
        failed += bool(found)
        passed += not found
    if not any(name.endswith(".csproj") for name in projects):
        failed += 1
        print("FAILED: no .csproj was found")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
