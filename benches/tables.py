#!/usr/bin/env python3
"""Writes a run's tables into benches/README.md, in place of those of the run before.

    python3 benches/tables.py target/bench/results.json
"""

import json
import pathlib
import re
import sys

README = pathlib.Path(__file__).with_name("README.md")
RANGES = {"30000": "30 000", "1000000000": "1e9", "7716549600": "7 716 549 600", "9223372036854775807": "2^63-1"}


def table(head, rows):
    """Markdown, its columns aligned."""
    cells = [head, *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    line = lambda row: "| " + " | ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) + " |"
    rule = "| :" + "-" * (widths[0] - 1) + " | " + " | ".join("-" * (w - 1) + ":" for w in widths[1:]) + " |"
    return "\n".join([line(head), rule, *map(line, rows)]) + "\n"


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def side_by_side(title, sections, heads):
    """The rows of several sections that differ in one thing."""
    names = list(dict.fromkeys(name for section in sections for name in section["rows"]))
    rows = [[name, *(number(s["rows"][name]) if name in s["rows"] else "" for s in sections)] for name in names]
    return table([title, *heads], rows)


def alone(section):
    reference = next(iter(section["rows"].values()))
    rows = [[name, number(value), f"{value / reference:.2f}"] for name, value in section["rows"].items()]
    return table([section["title"], section["unit"], "ratio"], rows)


# Mode; in which section; ours; the other one.
INSTEAD = [
    ("single writer, in cache", "Recording beside the histogram crate, 4,096", "picollo, single writer, a writer in a loop", "histogram crate"),
    ("single writer, in cache, batch", "Recording beside the histogram crate, 4,096", "picollo, single writer, batch", "histogram crate"),
    ("single writer, a million values", "Recording beside the histogram crate, a million", "picollo, single writer, a writer in a loop", "histogram crate"),
    ("single writer, through a library", "Recording skewed values up to 7716549600", ".so: picollo, single writer", ".so: HdrHistogram_c"),
    ("interlocked, 1 thread", "Recording beside the histogram crate, a million", "picollo, interlocked, inlined", "histogram crate, atomic"),
    ("interlocked, 2 threads", "Recording by 2 threads beside", "picollo, interlocked, inlined", "histogram crate, atomic"),
    ("thread-local, 2 threads", "Recording by 2 threads beside", "picollo, thread-local", "histogram crate, one for each"),
    ("thread-local, 4 threads on 2 cores", "Recording by 4 threads, up to 7716549600", "picollo, thread-local", "hdrhistogram crate, sync recorder"),
    ("per-CPU, 2 threads", "Recording by CPU, 2 threads", ".so: picollo, per-CPU", None),
    ("scalable, 4 threads on 2 cores", "Recording by 4 threads, up to 7716549600", "picollo, scalable", "HdrHistogram_c, atomic"),
]


def instead(sections):
    rows = []
    for mode, title, ours, other in INSTEAD:
        found = next(s["rows"] for s in sections if s["title"].startswith(title))
        theirs = [other, number(found[other]), f"{found[ours] / found[other]:.2f}"] if other else ["nothing like it", "", ""]
        rows.append([mode, number(found[ours]), *theirs])
    return table(["mode", "ns/value", "instead", "ns/value", "ratio"], rows)


def main():
    run = json.loads(pathlib.Path(sys.argv[1]).read_text())
    sections = run["sections"]
    out = [
        f"{run['processor']}, {run['cores']} cores, {run['date']}, load average {run['load average at the start']} at the start.\n",
        table(
            ["", "ratio", "at most", ""],
            [[t["name"], f"{t['ratio']:.2f}", f"{t['at_most']:.2f}", "met" if t["ratio"] <= t["at_most"] else "missed"] for t in run["targets"]],
        ),
        "[docs/performance.md](../docs/performance.md) explains the numbers, and those that were missed.\n",
        "### One thread\n",
    ]
    for kind in ("skewed", "uniform", "equal"):
        found = [s for s in sections if s["title"].startswith(f"Recording {kind}")]
        out.append(side_by_side(f"ns/value, {kind}", found, [RANGES[re.search(r"up to (\d+)", s["title"])[1]] for s in found]))
    out.append("### Several threads\n\nTime of the slowest thread, from a common start.\n")
    for what in ("up to 7716549600", "narrow range, up to 1000"):
        found = [s for s in sections if re.fullmatch(rf"Recording by \d threads?, {what}", s["title"])]
        out.append(side_by_side(f"ns/value, {what}", found, [re.search(r"\d threads?", s["title"])[0] for s in found]))
    by_cpu = [s for s in sections if s["title"].startswith("Recording by CPU")]
    heads = [re.search(r"\d threads?", s["title"])[0] for s in by_cpu]
    out.append("### Per CPU\n\nProcessor time of one thread, of as many threads as the column says.\n")
    out.append(side_by_side("ns/value, up to 7716549600", by_cpu, heads))
    kinds = [s for s in sections if s["title"].startswith(".so: recording into each kind")]
    heads = [re.search(r"\d threads?", s["title"])[0] for s in kinds]
    out.append("### Each kind through the shared library\n")
    out.append(side_by_side("ns/value, up to 7716549600", kinds, heads))
    out.append("### Beside the histogram crate\n")
    out += [alone(s) for s in sections if "beside the histogram crate" in s["title"]]
    out.append("### What one would pick instead\n\nFor each mode the fastest that others have for the same job; above 1 the other one is faster.\n")
    out.append(instead(sections))
    out.append("### Reading\n")
    out += [alone(s) for s in sections if s["title"].startswith("Reading") and "software" not in s["title"]]
    out.append("### Memory\n\nBlock size 1024. Half of a histogram is room for the baseline of live resets, which can be left out.\n")
    found = [s for s in sections if s["title"].startswith("Memory")]
    out.append(side_by_side("bytes", found, [RANGES[re.search(r"up to (\d+)", s["title"])[1]] for s in found]))
    out.append(
        "### Counter reads\n\nSoftware events have no user-space read, so these are system calls. *read(2)* is the bare call on an open\n"
        "group; *read and deltas* also checks thread, process and times, and subtracts.\n"
    )
    out += [alone(s) for s in sections if "software" in s["title"]]
    text = README.read_text()
    head = text[: text.index("## The last run")]
    README.write_text(f"{head}## The last run\n\n" + "\n".join(out))


main()
