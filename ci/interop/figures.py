"""Do the built-in figures match perf's, where perf has them?

    figures.py PERF     the command perf, of Linux 6.1

perf prints its formulas for other processors than this machine's. This script evaluates them on random counts, and the
library evaluates ours on the same counts under our names. For counts of the kernel, perf's printed figures of a program
are compared. Ends with "N checks passed".
"""

import os
import random
import re
import subprocess
import sys

import picollo

CHECKS = 300
INTEL, AMD = "GenuineIntel-6-8F", "AuthenticAMD-25-11-1"  # Sapphire Rapids, Zen 4

# Our figure, perf's figure, the processor, and our names of the events.
CYCLES, INSTRUCTIONS = {"CPU_CLK_UNHALTED.THREAD": "cycles"}, {"INST_RETIRED.ANY": "instructions"}
TOPDOWN = {f"topdown-{part}": f"topdown-{part}" for part in ("retiring", "bad-spec", "fe-bound", "be-bound", "heavy-ops", "br-mispredict", "fetch-lat", "mem-bound")}
PEERS = {
    "ipc": ("IPC", INTEL, CYCLES | INSTRUCTIONS),
    "cpi": ("CPI", INTEL, CYCLES | INSTRUCTIONS),
    "branch-miss-rate": ("branch_misprediction_ratio", AMD, {"ex_ret_brn_misp": "branch-misses", "ex_ret_brn": "branches"}),
    "branch-mpki": ("1000 / IpMispredict", INTEL, INSTRUCTIONS | {"BR_MISP_RETIRED.ALL_BRANCHES": "branch-misses"}),
    "l1d-mpki": ("L1MPKI", INTEL, INSTRUCTIONS | {"MEM_LOAD_RETIRED.L1_MISS": "L1-dcache-load-misses"}),
    "llc-mpki": ("L3MPKI", INTEL, INSTRUCTIONS | {"MEM_LOAD_RETIRED.L3_MISS": "LLC-load-misses"}),
    **{
        "tma-" + name.replace("_", "-"): ("tma_" + name, INTEL, TOPDOWN)
        for name in (
            "retiring bad_speculation frontend_bound backend_bound heavy_operations light_operations branch_mispredicts "
            "machine_clears fetch_latency fetch_bandwidth memory_bound core_bound"
        ).split()
    },
}
# perf corrects the front end by this in its list, but not in `perf stat --topdown`, which is the built-in formula.
NOT_CORRECTED = {"INT_MISC.UOP_DROPPING": 0}


def formulas(perf, cpuid):
    """perf's metrics for a processor: expressions by name."""
    done = subprocess.run([perf, "list", "--details", "metric"], env={**os.environ, "PERF_CPUID": cpuid}, check=True, capture_output=True, text=True)
    found = re.findall(r"^  (\w+)\n {7}\[.*\]\n {7}\[(.*)\]$", done.stdout, re.MULTILINE)
    assert len(found) > 10, f"perf lists {len(found)} metrics for {cpuid}"
    return dict(found)


def value(expression, metrics, counts):
    """Evaluates like perf: an event may have the name of a metric, with escaped characters."""

    def one(match):
        name = match[0].replace("\\", "")
        if name in ("max", "min", "d_ratio", "if", "else"):
            return name
        if name in counts:
            return repr(float(counts[name]))
        if name in metrics:
            return f"({value(metrics[name], metrics, counts)!r})"
        raise KeyError(name)

    plain = re.sub(r"[A-Za-z_](?:[\w.:@]|\\-)*", one, expression)
    return eval(plain, {"__builtins__": {}}, {"max": max, "min": min, "d_ratio": lambda a, b: a / b if b else 0.0})


def check_list(perf):
    metrics = {cpuid: formulas(perf, cpuid) for cpuid in (INTEL, AMD)}
    chance = random.Random(1)
    checks = 0
    for ours, (theirs, cpuid, names) in PEERS.items():
        for _ in range(CHECKS):
            counts = {name: chance.randrange(1, 1 << chance.randrange(1, 50)) for name in names}
            if names is TOPDOWN:
                # Categories of the second level are parts of the first level, except for the hardware's rounding.
                for part, whole in (("heavy-ops", "retiring"), ("br-mispredict", "bad-spec"), ("fetch-lat", "fe-bound"), ("mem-bound", "be-bound")):
                    counts[f"topdown-{part}"] = int(counts[f"topdown-{whole}"] * chance.random() * 1.01)
                slots = sum(counts[f"topdown-{part}"] for part in ("retiring", "bad-spec", "fe-bound", "be-bound"))
                expected = value(theirs, metrics[cpuid], counts | NOT_CORRECTED | {"TOPDOWN.SLOTS": slots})
            else:
                expected = value(theirs, metrics[cpuid], counts)
            found = picollo.figure(ours, {names[name]: [count] for name, count in counts.items()}).value
            # In double precision: perf subtracts three shares from 1 and adds others.
            assert abs(found - expected) <= 1e-9 * max(1.0, abs(expected)), f"{ours}: {found}, and perf's {theirs} is {expected}, of {counts}"
            checks += 1
    return checks


def check_printed(perf):
    """Compares the figures that perf prints with the counts of a program."""
    events = ["task-clock", "page-faults", "context-switches"]
    program = [sys.executable, "-c", "import time; [time.sleep(0.001) for _ in range(20)]; sum(range(10**6))"]
    checks = 0
    for _ in range(5):
        done = subprocess.run([perf, "stat", "-x", ";", "-e", ",".join([*events, "duration_time"]), *program], check=True, capture_output=True, text=True)
        rows = {line.split(";")[2].split(":")[0]: line.split(";") for line in done.stderr.splitlines() if line.count(";") >= 6}
        if not set(events) <= set(rows):
            print(f"SKIPPED: perf cannot count {', '.join(events)} here: {done.stderr.strip()[:200]}")
            return 0
        clock = float(rows["task-clock"][3])  # nanoseconds that it ran
        for name, ours in (("page-faults", "faults-per-second"), ("context-switches", "switches-per-second")):
            count, printed, unit = float(rows[name][0]), float(rows[name][5]), rows[name][6]
            assert unit in ("K/sec", "/sec", "M/sec"), unit
            expected = printed * {"/sec": 1, "K/sec": 1e3, "M/sec": 1e6}[unit]
            found = picollo.figure(ours, {name: [count], "task-clock": [clock]}).value
            # Printed with three decimals.
            assert abs(found - expected) <= 0.01 * expected + 1, f"{ours}: {found}, and perf says {expected}: {done.stderr}"
            checks += 1
        wall = rows.get("duration_time")
        if wall:
            found = picollo.figure("cpus", {"task-clock": [clock], "wall-clock": [float(wall[0])]}).value
            expected = float(rows["task-clock"][5])
            assert abs(found - expected) <= 0.05 * expected + 0.002, f"cpus: {found}, and perf says {expected}: {done.stderr}"
            checks += 1
    return checks


def main():
    perf = sys.argv[1]
    listed, printed = check_list(perf), check_printed(perf)
    print(f"figures: {listed + printed} checks passed")


main()
