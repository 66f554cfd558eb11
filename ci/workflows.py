#!/usr/bin/env python3
"""Are the workflows for GitHub right, as far as that can be seen without it?

    ci/workflows.py                               the files fit their schemas; each step is a target of make, or needs GitHub and says why
    ci/workflows.py --run [--covered] [JOB]...    also runs the steps here: all, or those of these jobs, with all values of their matrix

A step that needs GitHub has a variable NEEDS_GITHUB in `env`, with the reason. Steps for another machine or a version that
is not here are listed as not run. With --covered, targets that passed in the last `make test`, `make check` or `.ci/run` are
not run again: target/ci/sum.json has them. Ends with "N passed, N failed".
"""

import itertools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Also has a reader of YAML.
CHECKER = "check-jsonschema==0.39.0"
PYTHON = "%d.%d" % sys.version_info[:2]
SCHEMAS = {
    ".github/workflows/*.yml": ["vendor.github-workflows", "custom.github-workflows-require-timeout"],
    ".github/dependabot.yml": ["vendor.dependabot"],
    ".github/ISSUE_TEMPLATE/[!c]*.yml": ["vendor.github-issue-forms"],
    ".github/ISSUE_TEMPLATE/config.yml": ["vendor.github-issue-config"],
    "CITATION.cff": ["vendor.citation-file-format"],
}


def combinations(matrix):
    """All sets of values of a matrix."""
    if "include" in matrix:
        return matrix["include"]
    if "fromJSON" in str(matrix):
        checks = subprocess.run(["make", "--silent", "checks"], check=True, capture_output=True, text=True).stdout
        return [{"job": name} for name in json.loads(checks)]
    return [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]


def interpreter(version):
    """Python of this version, if it is here. pyenv's stand-ins are there for versions that are not."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    for found in (shutil.which(f"python{version}"), *sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python{version}")))):
        if found and subprocess.run([found, "--version"], capture_output=True).returncode == 0:
            return found
    return None


def missing(values):
    """What of a matrix's values is not here, or nothing."""
    if "arm" in values.get("runner", "") and platform.machine() != "aarch64":
        return "an arm64 machine"
    if (version := values.get("python")) and not interpreter(version):
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
    os.chdir(ROOT)
    checker = pathlib.Path(subprocess.run(["ci/tools/venv.sh", "workflows", CHECKER], check=True, capture_output=True, text=True).stdout.strip())
    sys.path += map(str, (checker / "lib").glob("python3*/site-packages"))
    from ruamel.yaml import YAML

    options = {each for each in arguments if each.startswith("--")}
    assert options <= {"--run", "--covered"}, options
    wanted = [each for each in arguments if each not in options]
    done = pathlib.Path("target/ci/sum.json")
    if "--covered" in options and not done.exists():
        sys.exit(f"there is no {done}: .ci/run makes it")
    results = json.loads(done.read_text())[0] if "--covered" in options else {}
    covered = {name for name, result in results.items() if result["verdict"] == "passed"}
    passed = failed = 0

    def note(good, text):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok' if good else 'FAILED'}: {text}", flush=True)

    for pattern, schemas in SCHEMAS.items():
        files = sorted(map(str, ROOT.glob(pattern)))
        for schema in schemas:
            done = subprocess.run([checker / "bin/check-jsonschema", "--builtin-schema", schema, *files], capture_output=True, text=True)
            note(files and done.returncode == 0, f"{pattern} as {schema} wants\n{done.stdout if done.returncode else ''}".strip())
    for file in sorted(ROOT.glob(".github/workflows/*.yml")):
        workflow = YAML(typ="safe").load(file)
        for job, values, command, needs in steps(workflow):
            name = f"{file.name}, {job}{''.join(f', {value}' for value in values.values())}: {command.splitlines()[0]}"
            targets = [word for word in command.split()[1:] if not re.search("^-|=", word)]
            usual = values.get("python", PYTHON) == PYTHON and values.get("cc", "gcc") == "gcc"
            if needs:
                print(f"needs GitHub, {needs}: {name}")
            elif not re.fullmatch(r"make( [\w=+-]+)+", command):
                note(False, f"{name}: neither a target of make nor a step that needs GitHub")
            elif subprocess.run([*command.split(), "--dry-run"], capture_output=True).returncode:
                note(False, f"{name}: make has no such target")
            elif lacks := missing(values):
                print(f"not run, for lack of {lacks}: {name}")
            elif "--run" in options and usual and covered.issuperset(targets):
                note(True, f"{name}, covered by target/ci/sum.json")
            elif "--run" in options and (not wanted or job in wanted):
                environment = os.environ | {key: str(value) for key, value in workflow.get("env", {}).items()}
                environment["PYTHON"] = interpreter(values.get("python", PYTHON)) or "python3"
                note(subprocess.run(command.split(), env=environment).returncode == 0, f"{name}, run here")
            else:
                note(True, name)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
