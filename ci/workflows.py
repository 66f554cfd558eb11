#!/usr/bin/env python3
"""Are the workflows for GitHub right, as far as that can be seen without it?

    ci/workflows.py                 their files fit their schemas; each step is a target of make, or needs GitHub and says why
    ci/workflows.py --run JOB...    also runs the steps of these jobs of ci.yml here, each with all values of its matrix

A step that needs GitHub has a variable NEEDS_GITHUB in `env`, with the reason. Steps for another machine or a version that
is not here are listed as not run. Ends with "N passed, N failed". The checker of schemas is kept in ~/.cache/picollo.
"""

import itertools
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKER = "check-jsonschema==0.39.0"
SCHEMAS = {
    ".github/workflows/*.yml": ["vendor.github-workflows", "custom.github-workflows-require-timeout"],
    ".github/dependabot.yml": ["vendor.dependabot"],
    ".github/ISSUE_TEMPLATE/[!c]*.yml": ["vendor.github-issue-forms"],
    ".github/ISSUE_TEMPLATE/config.yml": ["vendor.github-issue-config"],
    "CITATION.cff": ["vendor.citation-file-format"],
}


def checker():
    """The environment of the checker, which also has a reader of YAML."""
    home = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "picollo"
    place = home / f"workflows-{sys.implementation.cache_tag}-{CHECKER.rpartition('=')[2]}"
    if not (place / "complete").exists():
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([place / "bin/pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:", CHECKER], check=True)
        (place / "complete").touch()
    return place


def combinations(matrix):
    """All sets of values of a matrix."""
    if "include" in matrix:
        return matrix["include"]
    return [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]


def missing(values):
    """What of a matrix's values is not here, or nothing."""
    if "arm" in values.get("runner", "") and platform.machine() != "aarch64":
        return "an arm64 machine"
    if version := values.get("python"):
        # pyenv's stand-ins are there for versions that are not.
        if not shutil.which(f"python{version}") or subprocess.run([f"python{version}", "--version"], capture_output=True).returncode:
            return f"Python {version}"
    if version := values.get("dotnet"):
        listed = subprocess.run(["dotnet", "--list-sdks"], capture_output=True, text=True).stdout if shutil.which("dotnet") else ""
        if not re.search(rf"^{re.escape(version)}", listed, re.MULTILINE):
            return f"a .NET {version} SDK"
    for compiler in (values.get("cc"), values.get("cxx")):
        if compiler and not shutil.which(compiler):
            return compiler
    return ""


def steps(workflow):
    """Each step that runs something, once for each set of values: the job, those values, the command, and why it needs GitHub."""
    for job, description in workflow["jobs"].items():
        for values in combinations(description.get("strategy", {}).get("matrix", {})):
            for step in description["steps"]:
                if "run" in step and not (step.get("if", "").startswith("matrix.rust ==") and values["rust"] not in step["if"]):
                    command = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda name: values[name[1]], step["run"])
                    yield job, values, command.strip(), step.get("env", {}).get("NEEDS_GITHUB", "")


def main(arguments):
    sys.path += map(str, (checker() / "lib").glob("python3*/site-packages"))
    from ruamel.yaml import YAML

    passed = failed = 0

    def note(good, text):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok' if good else 'FAILED'}: {text}", flush=True)

    os.chdir(ROOT)
    for pattern, schemas in SCHEMAS.items():
        files = sorted(map(str, ROOT.glob(pattern)))
        for schema in schemas:
            done = subprocess.run([checker() / "bin/check-jsonschema", "--builtin-schema", schema, *files], capture_output=True, text=True)
            note(files and done.returncode == 0, f"{pattern} as {schema} wants\n{done.stdout if done.returncode else ''}".strip())
    wanted = arguments[1:] if arguments[:1] == ["--run"] else []
    for file in sorted(ROOT.glob(".github/workflows/*.yml")):
        for job, values, command, needs in steps(YAML(typ="safe").load(file)):
            name = f"{file.name}, {job}{''.join(f', {value}' for value in values.values())}: {command.splitlines()[0]}"
            if needs:
                print(f"needs GitHub, {needs}: {name}")
            elif not re.fullmatch(r"make( [\w=+-]+)+", command):
                note(False, f"{name}: neither a target of make nor a step that needs GitHub")
            elif subprocess.run([*command.split(), "--dry-run"], capture_output=True).returncode:
                note(False, f"{name}: make has no such target")
            elif lacks := missing(values):
                print(f"not run, for lack of {lacks}: {name}")
            elif file.name == "ci.yml" and job in wanted:
                environment = {**os.environ, "PYTHON": f"python{values['python']}"} if "python" in values else None
                note(subprocess.run(command.split(), env=environment).returncode == 0, name)
            else:
                note(True, name)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
