#!/usr/bin/env python3
"""Makes docs/images/picollo-top.svg and -one.svg: what `picollo top` shows of three simulated services.

    picture.py PICOLLO      ci/observe.sh --picture runs it; takes a minute

The services record random values, because the pictures should show usual ones, and not those of a busy machine.
"""

import io
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import picollo
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/images"
#: For each service its routes: requests per second, median in ms, and standard deviation of the logarithm.
SERVICES = {
    "shop": [("/cart", 412, 3.1, 0.4), ("/items", 1870, 0.82, 0.35), ("/order", 196, 11.5, 0.5), ("/pay", 88, 43, 0.3)],
    "web": [("/json", 940, 1.9, 0.4), ("/login", 138, 62, 0.25), ("/search", 615, 24, 0.6)],
    "billing": [("/bill", 257, 7.4, 0.45), ("/card", 49, 9.1, 0.4), ("/tax", 530, 0.31, 0.5)],
}
TMUX = ["tmux", "-f", "/dev/null", "-L", f"picollo-{os.getpid()}"]
THEME = TerminalTheme((13, 17, 23), (208, 215, 222), [(0, 0, 0), (244, 112, 103), (87, 171, 90)] + [(86, 182, 194)] * 5)
SVG = """<svg viewBox="0 0 1090 HEIGHT" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font-family: DejaVu Sans Mono, Menlo, Consolas, monospace; font-size: {char_height}px; }}
{styles}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g transform="translate(8, 8)">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def serve(name, histograms):
    with picollo.Segment(name) as segment:
        latencies = [segment.histogram("request", unit="ns", labels={"route": row[0]}) for row in histograms]
    began, done = time.monotonic(), [0] * len(histograms)
    while True:
        now = time.monotonic() - began
        for at, (_, rate, median, width) in enumerate(histograms):
            # Load rises and falls, and one request in two thousand waits.
            load = 1 + 0.3 * math.sin(now / (5 + 2 * at))
            while done[at] < now * rate:
                slow = 6 if random.random() < 0.0005 else load
                latencies[at].record(round(slow * median * 1e6 * random.lognormvariate(0, width)))
                done[at] += 1
        time.sleep(0.02)


def tmux(*words):
    return subprocess.run([*TMUX, *words], check=True, capture_output=True, text=True).stdout


def draw(name, *keys, lines):
    tmux("resize-window", "-x", "88", "-y", str(lines))
    tmux("send-keys", *keys)
    time.sleep(1.5)
    screen = tmux("capture-pane", "-p", "-e", "-N")
    console = Console(record=True, width=88, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(screen.rstrip("\n")), no_wrap=True, crop=False)
    svg = console.export_svg(theme=THEME, code_format=SVG.replace("HEIGHT", str(round(lines * 24.4 + 16))), unique_id="top")
    (IMAGES / name).write_text(re.sub(r' clip-path="[^"]*"| +$', "", svg, flags=re.M))


def main(command):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.environ["PICOLLO_DIR"] = folder
        children = []
        for name, histograms in SERVICES.items():
            children.append(os.fork())
            if children[-1] == 0:
                serve(name, histograms)
        try:
            tmux("new-session", "-d", "-x", "88", "-y", "13", f"{os.path.abspath(command)} top")
            tmux("set-option", "-g", "status", "off")
            time.sleep(62)
            draw("picollo-top.svg", "Home", lines=13)
            draw("picollo-top-one.svg", "End", "Enter", lines=24)
        finally:
            subprocess.run([*TMUX, "kill-server"])
            for child in children:
                os.kill(child, signal.SIGKILL)


main(*sys.argv[1:])
