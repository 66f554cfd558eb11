#!/usr/bin/env python3
"""Project files are XML, and what they name is there: what an SDK would find out, where there is none.

usage: projects.py [DIRECTORY]    prints what is wrong, and ends in "N passed, N failed"
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

# What make nuget or an SDK fills in.
MADE = ("$(", "@(")


def faults(project):
    try:
        root = ET.parse(project).getroot()
    except ET.ParseError as error:
        return [f"no XML: {error}"]
    found = []
    for element in root.iter():
        named = element.get("Include") or element.get("Project")
        if element.tag not in ("ProjectReference", "None", "Compile", "Content", "Import") or not named:
            continue
        if not any(sign in named for sign in MADE) and not any(project.parent.glob(named) if ".." not in named else [
            path for path in [project.parent / named] if path.exists()
        ]):
            found.append(f"{element.tag} of {named}, which is not there")
    readme = root.findtext(".//PackageReadmeFile")
    if readme and not (project.parent / readme).exists():
        found.append(f"no {readme}")
    if root.findtext(".//OutputType") == "Exe" and root.findtext(".//RollForward") != "Major":
        found.append("no <RollForward>Major</RollForward>: it would start on one version of .NET only")
    return found


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    passed = failed = 0
    for project in sorted([*root.rglob("*.csproj"), *root.rglob("*.targets")]):
        wrong = faults(project)
        failed += bool(wrong)
        passed += not wrong
        for fault in wrong:
            print(f"FAILED {project}: {fault}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
