"""The demos run, and print the expected results."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, REPOSITORY

import picollo

DEMOS = REPOSITORY / "python-demo"


def run(demo: str, *arguments: str, environment: "dict[str, str] | None" = None) -> str:
    result = subprocess.run(
        [sys.executable, "-W", "error", DEMOS / f"{demo}.py", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PICOLLO_LIBRARY": picollo.library_path, **(environment or {})},
        timeout=120,
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def check_counters(text: str, title: str) -> None:
    """Every event is either counted or explained; none is silently missing, and none is a made-up zero."""
    missing: set[str] = set()
    for names in re.findall(r"^(\S.*) (?:is|are) not counted: .{40,}$", text, re.MULTILINE):
        missing |= set(names.split(", "))
    for event in ("cycles", "branch-misses", "task-clock", "page-faults"):
        counted = re.search(title.format(re.escape(event)), text, re.MULTILINE)
        assert bool(counted) != (event in missing), event
    if not picollo.perf_probe().pmu_available:
        assert "cycles" in missing


def test_every_demo_is_tested_and_run() -> None:
    demos = {path.stem for path in DEMOS.glob("*.py")}
    assert {f"test_{demo}" for demo in demos} <= set(globals())
    script = (DEMOS / "run-demos.sh").read_text()
    assert all(demo in script for demo in demos)


def test_known_work() -> None:
    text = run("known_work", "--rounds", "50", "--repetitions", "100")
    assert "50 rounds of 25,600 dependent additions each." in text
    check_counters(text, r"^##### {}$")
    nanoseconds = re.search(r"^- ([\d.]+) nanoseconds$", text, re.MULTILINE)
    assert nanoseconds and 0.05 < float(nanoseconds[1]) < 10
    assert re.search(r"the processor runs at \d+\.\d\d GHz", text)


def test_sorted_or_not() -> None:
    """The demo's effect is real: an order of magnitude on most processors, but some factor on any with a branch predictor."""
    text = run("sorted_or_not", "--bytes", "300000", "--rounds", "2")
    assert "### In Python" in text and re.search(r"^\| TSC \(ticks\) +\|", text, re.MULTILINE)
    check_counters(text, r"^\| {} +\|")
    ratios = re.findall(r"^\| time \(ns\) .*\| *([\d.]+) \|$", text, re.MULTILINE)
    if shutil.which("cc") or shutil.which("gcc"):
        assert "### The same loop in C" in text and len(ratios) == 2 and float(ratios[1]) > 1.5
    environment = {"CC": "/nowhere/cc", "PATH": "/nowhere"}
    assert "There is no C compiler here" in run("sorted_or_not", "--bytes", "1000", "--rounds", "2", environment=environment)


def test_live_monitor() -> None:
    text = run("live_monitor", "--seconds", "1", "--interval", "0.1")
    lines = re.findall(r"^\d\d:\d\d:\d\d: Total=([\d,]+), ", text, re.MULTILINE)
    assert 2 <= len(lines) <= 11
    sums = re.search(r"The deltas add up to ([\d,]+); ([\d,]+) were recorded\.", text)
    assert sums and sums[1] == sums[2]
    assert sum(int(line.replace(",", "")) for line in lines) <= int(sums[1].replace(",", ""))
    assert "\njson.dumps: " in text


def test_clock_resolution() -> None:
    text = run("clock_resolution", "--reads", "5000")
    rows = re.findall(r"^\| (picollo\.clock\.ticks\('\w+'\)|time\.\w+_ns) +\| ", text, re.MULTILINE)
    assert len(rows) == 6
    assert re.search(r"The TSC ticks [\d,]+ times a second", text)
    assert "##### picollo.clock.ticks('tsc')" in text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="segments are Linux's")
def test_published() -> None:
    place = Path(f"/dev/shm/picollo-demo-{os.getpid()}")
    try:
        text = run("published", "--seconds", "0.5", environment={"PICOLLO_DIR": str(place)})
        assert re.match(r"[1-9][\d,]* requests of 4 workers, request \(ns\): Total=[1-9]", text)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="accounts of threads are Linux's")
def test_why_slow() -> None:
    # Other programs may delay its requests more than its own problems do.
    for _ in range(3):
        text = run("why_slow", "--seconds", "3")
        causes = re.findall(r"^([a-z][\w ,]+?) +\d+% ", text, re.MULTILINE)
        slowest = re.findall(r"^ +[\d.]+ m?s  (.*)  id (\d+)$", text, re.MULTILINE)
        if {"own waiting", "run queue"} <= set(causes) and {"page faults", "on CPU, cause not known"} & set(causes):
            break
    assert {"own waiting", "run queue"} <= set(causes), text
    assert {"page faults", "on CPU, cause not known"} & set(causes), text
    # Each explanation belongs to the affected requests.
    assert any("6,144 page faults" in said for said, _ in slowest), text
    for said, request in slowest:
        if "6,144 page faults" in said:
            assert int(request) % 97 == 0, (said, request)
        if said.startswith("own waiting"):
            assert int(request) % 61 == 0, (said, request)
