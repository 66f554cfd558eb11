"""Figures from the simulated PMU: instructions are twice the cycles, for any program. See ci/simulated-pmu.sh.

    figures.py benchmark    in the text of a benchmark
    figures.py compare      of two commands, by picollo compare
"""

import json
import re
import subprocess
import sys


def benchmark() -> None:
    import picollo

    # Both do something: on a busy machine, calls that do nothing may cost as much as the subtracted overhead.
    result = picollo.benchmark(lambda: sum(range(100)), lambda: sum(range(200)), budget=0.3, events=["instructions", "cycles"])
    for text, row in ((result.text(), r"^ipc +([\d.]+) +([\d.]+)$"), (result.markdown(), r"^\| ipc +\| +([\d.]+) \| +([\d.]+) \|$")):
        found = re.search(row, text, re.MULTILINE)
        assert found and abs(float(found[2]) - 2) < 0.1, text


def compare() -> None:
    command = ["target/debug/picollo", "compare", "--json", "--budget=3", "--min-blocks=10", "true", "true"]
    figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["figures"]
    for name, planted in (("ipc", 2), ("cpi", 0.5), ("cache-miss-rate", 4 / 3)):
        for side in ("a", "b"):
            assert abs(figures[name][side]["value"] / planted - 1) < 0.05, (name, figures[name])
        difference = figures[name]["difference"]
        assert abs(difference["value"]) < 0.05 and difference["lower"] <= difference["value"] <= difference["upper"], (name, difference)
    # Not among the usual events.
    assert "not counted" in figures["l1d-mpki"]["a"]["why_not"], figures["l1d-mpki"]


{"benchmark": benchmark, "compare": compare}[sys.argv[1]]()
print("figures are right")
