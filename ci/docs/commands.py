#!/usr/bin/env python3
"""Does every command in the documentation work? Each runs here, or in the script that is named for it; a command in
neither list fails. Needs the staged library. Ends with "N commands: M run here, the rest by other scripts".
"""

import os
import pathlib
import re
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
# Run by another check: the script, and the part of the command that it contains.
ELSEWHERE = {
    "PICOLLO_MAY_CHANGE_THIS_MACHINE=1 make test": (".ci/run", "make test"),
    "make install PREFIX=$HOME/.local": ("ci/install.sh", "make"),
    "git clone <this repository> && cd picollo": ("ci/install.sh", "make"),
    "make stage": ("Makefile", "demo: stage"),
    "cc example.c -Wl,-rpath,$PWD/target/stage/lib $(PKG_CONFIG_PATH=target/stage/lib/pkgconfig pkg-config --cflags --libs picollo)": (
        "ci/docs/readme.py",
        "run_c",
    ),
    "cc example.c -I target/stage/include target/stage/lib/libpicollo.a -lm -lpthread -ldl": ("ci/docs/readme.py", "ways_to_compile"),
    "./a.out": ("ci/docs/readme.py", "run_c"),
    "g++ -std=c++17 example.cpp -Wl,-rpath,$PWD/target/stage/lib $(PKG_CONFIG_PATH=target/stage/lib/pkgconfig pkg-config --cflags --libs picollo)": (
        "ci/docs/readme.py",
        "docs/languages/cpp.md",
    ),
    "cargo build --profile embedded -p picollo-ffi --no-default-features --features critical-section --target thumbv6m-none-eabi": (
        "ci/targets/bare-metal.sh",
        "--no-default-features --features critical-section",
    ),
    "cargo run --release -p picollo-text --example pictures -- docs/images target/report.html": ("ci/docs.sh", "--example pictures"),
    "cargo build --release -p picollo-ffi": ("ci/stage.sh", "cargo build --release --quiet -p picollo-ffi"),
    "ci/why-slow.sh": ("ci/jobs.mk", "ci/why-slow.sh"),
    "WHY_SLOW_TIMES=100 ci/why-slow.sh": ("ci/jobs.mk", "WHY_SLOW_TIMES=100 ci/why-slow.sh"),
    "make dist": ("ci/jobs.mk", "packaging/dist.sh"),
    "ci/dist/test.sh": ("ci/jobs.mk", "ci/dist/test.sh"),
    "ci/dist/test.sh twice": ("ci/jobs.mk", "ci/dist/test.sh twice"),
    "python/run-tests.sh": ("ci/jobs.mk", "python/run-tests.sh"),
    "python/build-extension.sh": ("python/run-tests.sh", "build-extension.sh"),
    "pip install ./python": ("python/tests/test_install.py", "pip"),
    "pip install './python[plot]'": ("python/tests/test_install.py", "pip"),
    "PICOLLO_LIBRARY=/path/to/libpicollo.so pip install ./python": ("python/tests/test_install.py", "PICOLLO_LIBRARY"),
    "uvicorn shop:app --workers 4": ("ci/docs/services.py", "uvicorn"),
    "gunicorn shop:app --workers 4 --worker-class uvicorn_worker.UvicornWorker": ("ci/docs/services.py", "gunicorn"),
    "gunicorn shop:app --workers 4": ("ci/docs/services.py", "gunicorn"),
    "gunicorn shop:app --workers 4 --preload": ("ci/docs/services.py", "gunicorn"),
    "gunicorn shop:app --workers 2 --threads 4": ("ci/docs/services.py", "gunicorn"),
    "gunicorn shop:application --workers 4": ("ci/docs/services.py", "gunicorn"),
    "picollo show shop": ("ci/docs/services.py", "show"),
    "picollo show shop --every 1s": ("crates/cli/tests/command/segments.rs", "--every"),
    "picollo record shop -o shop.hlog --rotate 100MB --keep 10": ("crates/cli/tests/command/following.rs", "--rotate"),
    "picollo top shop": ("crates/cli/tests/command/top.rs", "top"),
    "picollo report checkout --exemplars slow.json -o page.html": ("crates/cli/tests/command/exemplars.rs", "--exemplars"),
    "picollo report --exemplars monday.json --exemplars tuesday.json -o page.html": ("crates/cli/tests/command/exemplars.rs", "--exemplars"),
}
# Not runnable here, with the reason.
NOWHERE = {
    "pip install picollo-*-manylinux_2_17_x86_64.whl": "ci/dist/test.sh installs it by its path",
    "tar xzf picollo-*-linux-x86_64.tar.gz": "ci/dist/test.sh unpacks it elsewhere",
    'dotnet add package Picollo.Native --source "$PWD/target/nuget"': "there is no .NET SDK",
}
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


def main():
    found = {command: page for page in PAGES for command in commands(page)}
    wrong = []
    for command, page in found.items():
        if command in ELSEWHERE:
            script, part = ELSEWHERE[command]
            if part not in (ROOT / script).read_text():
                wrong.append(f"{page}: {command}: {script} does not run it any more")
        elif command in NOWHERE:
            print(f"SKIPPED: {page}: {command}: {NOWHERE[command]}")
        elif command not in HERE:
            wrong.append(f"{page}: {command}: no check runs it; add it to ci/docs/commands.py")
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
