"""Plots the tables of a run: plot.py RESULTS.md OUT.svg"""

import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SECTIONS = [
    "Recording skewed values up to 7716549600",
    "Recording by 2 threads, up to 7716549600",
    "Reading 55296 counters",
]


def sections(text):
    """The title of each table, its unit, and its rows."""
    for part in text.split("\n##### ")[1:]:
        title, head, _rule, *lines = part.splitlines()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
        yield {"title": title, "unit": head.split("|")[2].strip(), "rows": {row[0]: float(row[1]) for row in rows}}


def main(source, target):
    text = Path(source).read_text(encoding="utf-8")
    found = [*sections(text)]
    chosen = [section for start in SECTIONS for section in found if section["title"].startswith(start)]
    heights = [len(section["rows"]) + 2 for section in chosen]
    figure, axes = plt.subplots(
        len(chosen), 1, figsize=(10, 0.24 * sum(heights)), height_ratios=heights, squeeze=False, layout="constrained"
    )
    for axis, section in zip(axes[:, 0], chosen):
        rows = sorted(section["rows"].items(), key=lambda row: -row[1])
        names, numbers = [name for name, _ in rows], [number for _, number in rows]
        ours = ["tab:blue" if "picollo" in name else "tab:gray" for name in names]
        bars = axis.barh(names, numbers, color=ours)
        axis.bar_label(bars, fmt=lambda number: f" {number:,.2f}" if number < 1000 else f" {number:,.0f}", fontsize=7)
        axis.set_title(section["title"], fontsize=10)
        axis.set_xlabel(section["unit"], fontsize=8)
        axis.tick_params(labelsize=7)
        axis.margins(x=0.12)
        if max(numbers) > 50 * min(numbers):
            axis.set_xscale("log")
    about = ", ".join(re.findall(r"^(?:processor|date): (.+)", text, re.MULTILINE))
    figure.suptitle(about, fontsize=8)
    figure.savefig(target)


main(*sys.argv[1:])
