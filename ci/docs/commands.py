#!/usr/bin/env python3
"""Does every command in the documentation work? Each runs here, or in the script that is named for it; a command in
neither list fails. Needs the staged library. Ends with "N commands: M run here, the rest by other scripts".
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Run here, some in a shorter form.
HERE = {
    "PICOLLO_MAY_CHANGE_THIS_MACHINE=1 make demo": "make demo",
    "make demo-slow": "make demo-slow",
    "make bench": "PICOLLO_BENCH_QUICK=1 make bench",
    "PICOLLO_BENCH_QUICK=1 make bench": "PICOLLO_BENCH_QUICK=1 make bench",
    "PYTHONPATH=python/src python3 python/bench.py": "PYTHONPATH=python/src python3 python/bench.py",
    "python-demo/run-demos.sh": "python-demo/run-demos.sh",
    "PYTHONPATH=python/src python3 python-demo/known_work.py": "PYTHONPATH=python/src python3 python-demo/known_work.py",
    "make nuget": "make nuget",
}
# Run by another check, as a pattern.
ELSEWHERE = {
    r"(PICOLLO_MAY_CHANGE_THIS_MACHINE=1 )?make (test|stage|dist|install( \w+=\S+)*)|git clone .*": ".ci/run",
    r"(cc|g\+\+) .*example\.c.*|\./a\.out": "ci/docs/readme.py",
    r"cargo build --profile embedded .*": "ci/targets/bare-metal.sh",
    r"cargo run .* --example pictures .*": "ci/docs.sh",
    r"cargo build --release -p picollo-ffi": "ci/stage.sh",
    r"(WHY_SLOW_TIMES=100 )?ci/why-slow\.sh|ci/dist/test\.sh( twice)?": "ci/jobs.mk",
    r"python/(run-tests|build-extension)\.sh": "python/run-tests.sh",
    r"(PICOLLO_LIBRARY=\S+ )?pip install '?\./python.*": "python/tests/test_install.py",
    r"(uvicorn|gunicorn) shop:.*|picollo show shop": "ci/docs/services.py",
    r"picollo (show|record|top|report) .*": "crates/cli/tests/command/main.rs",
    # Not as they are written.
    r"pip install picollo-.*|tar xzf picollo-.*": "ci/dist/test.sh",
}
# Not run, with the reason.
NOWHERE = {'dotnet add package Picollo.Native --source "$PWD/target/nuget"': "there is no .NET SDK"}
# Faults that must be found.
PLANTED = ["picollo show shop --no-such-option", "picollo record shop --keep many", "picollo shew shop", "make install PREFX=1", "make instal", "dotnet remove"]
PAGES = ["README.md", "benches/README.md", "python/README.md", "python-demo/README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]


def commands(page):
    """Lines of shell blocks, and indented lines that begin like commands; without comments."""
    fence = None
    text = re.sub(r"\\\n +", "", (ROOT / page).read_text())  # a command may have several lines
    for line in text.splitlines():
        mark = re.match(r"```(\w*)", line)
        if mark:
            fence = None if fence is not None else mark[1]
            continue
        shell = fence in ("sh", "bash") or fence is None and re.match(r" {4}(make|cargo|ci/|PICOLLO_\w+=\S+ make)", line)
        command = re.sub(r"\s+#.*", "", line).strip()
        if shell and command:
            yield command


def demo_is_short(printed):
    """Faults in the output of `make demo`: a newcomer's terminal has 80 columns, and patience for a screen or two."""
    lines = [line for line in printed.splitlines() if not line.startswith(("make", "ci/stage.sh"))]
    if len(lines) > 45:
        yield f"prints {len(lines)} lines, and 45 at most were to be"
    yield from (f"prints a line of {len(line)} characters: {line}" for line in lines if len(line) > 80)
    if not re.search(r"^sorted is [\d.]+ × faster than random ", printed, re.MULTILINE):
        yield f"does not give its answer:\n{printed}"
    if not (ROOT / "target/demo/report.html").read_text().startswith("<!"):
        yield "writes no report"


def slow_ones_are_named(printed):
    """Faults in the output of `make demo-slow`: three problems, each the cause of some slow requests, and those
    requests."""
    causes = {cause: int(number.replace(",", "")) for cause, number in re.findall(r"^([a-z][\w ,]+?) +\d+% +([\d,]+) ", printed, re.MULTILINE)}
    for name in ("own waiting", "run queue"):
        if not causes.get(name):
            yield f"names no {name}:\n{printed}"
    # If the times of page faults are unknown, their number is the evidence.
    if not {"page faults", "on CPU, cause not known"} & set(causes) or "page faults  id" not in printed:
        yield f"names no page faults:\n{printed}"
    slowest = re.findall(r"^ +[\d.]+ ms  (.*)  id (\d+)$", printed, re.MULTILINE)
    if not slowest:
        yield f"names no requests:\n{printed}"
    for said, request in slowest:
        problems = {"own waiting": int(request) % 61 == 0, "page faults": int(request) % 97 == 0, "run queue": True}
        if not any(name in said and met for name, met in problems.items()):
            yield f"says {said} of request {request}, which met nothing of that"
        if "page faults" in said and int(request) % 97 != 0:
            yield f"says page faults of request {request}, which had none"


def fault(command):
    """Why no check would run a command, or it would fail; None if all is well."""
    scripts = [script for pattern, script in ELSEWHERE.items() if re.fullmatch(pattern, command)]
    if command not in HERE and command not in NOWHERE and not (scripts and (ROOT / scripts[0]).exists()):
        return "no check runs it; add it to ci/docs/commands.py"
    words = shlex.split(command)
    if words[0] == "picollo":
        # The options before --help are parsed first.
        parse = ["cargo", "run", "--quiet", "--locked", "-p", "picollo-cli", "--", *words[1:], "--help"]
        done = subprocess.run(parse, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return done.stderr if done.returncode != 0 else None
    makefile = (ROOT / "Makefile").read_text()
    if "make" in words:
        variables = [word.partition("=")[0] for word in words[words.index("make") :] if "=" in word]
        unused = [name for name in variables if not re.search(rf"^export .*\b{name}\b|\$\({name}\)", makefile, re.MULTILINE)]
        return f"make does not use {unused[0]}" if unused else None
    return None


def main():
    found = {command: page for page in PAGES for command in commands(page)}
    wrong = [f"{command}: this fault was not found" for command in PLANTED if not fault(command)]
    for command, page in found.items():
        if why := fault(command):
            wrong.append(f"{page}: {command}: {why}")
        elif command in NOWHERE:
            print(f"SKIPPED: {page}: {command}: {NOWHERE[command]}")
    run = {HERE[command]: page for command, page in found.items() if command in HERE}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python" / "src")}
    for command, page in run.items():
        # If a processor changes its speed during the demo, there is rightly no answer; and other programs may delay the
        # requests of the other demo more than its own problems do.
        for _ in range(4 if command in ("make demo", "make demo-slow") else 1):
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True)
            is_open = any(words in done.stdout for words in ("No difference found", "not proven to exceed", "Unproven: "))
            if not is_open and not (command == "make demo-slow" and [*slow_ones_are_named(done.stdout)]):
                break
        if done.returncode != 0:
            wrong.append(f"{page}: {command}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        else:
            print(f"ok: {command}", flush=True)
        if command == "make demo":
            wrong += [f"{page}: {command}: {fault}" for fault in demo_is_short(done.stdout)]
        if command == "make demo-slow":
            wrong += [f"{page}: {command}: {fault}" for fault in slow_ones_are_named(done.stdout)]
    for line in wrong:
        print("FAILED:", line)
    if wrong:
        sys.exit(1)
    print(f"{len(found)} commands: {len(run)} run here, the rest by other scripts")


main()
