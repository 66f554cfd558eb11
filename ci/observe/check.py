#!/usr/bin/env python3
"""Drives `picollo top` in a terminal of tmux while services run, and checks its output.

    check.py PICOLLO FOLDER NAME=COMMAND...
"""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

#: One of the eight colors, in either form.
COLOR = re.compile("\x1b\\[(3[0-7]|38;)")
ROWS = {"shop": r"shop/requ\S*order}", "web": r"web/requ\S*json}", "billing": r"billing/inv\S*oice"}
#: Keys for tmux, and what the screen then shows.
STEPS = [
    ("Right", r"RATE▾"),
    ("/ O R D E R", r"1 shown.*filter: ORDER_"),
    ("Enter Enter", r"shop/request\{route=/order\}.*p99 .*value at percentile.*●.*the last \d+ s, now"),
    ("Escape", r"RATE▾"),
    ("Escape", r"web/requ"),
    ("m", r"p99 SINCE THE MARK.* % \[[-+][\d.]+, [-+][\d.]+\] (more|less|same|unclear)"),
    ("M p", "PAUSED"),
    ("p r", r"recording: picollo-top-\d+\.hlog"),
]


class Terminal:
    """A shell in a terminal, on a separate tmux server."""

    def __init__(self, folder):
        self.tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / f"tmux-{os.getpid()}")]
        shell = ["env", "-u", "NO_COLOR", "PS1=prompt> ", "bash", "--norc", "--noprofile"]
        self.run("new-session", "-d", "-x", "80", "-y", "24", "-c", str(folder), *shell)
        self.run("set-option", "-g", "status", "off")

    def run(self, *words):
        return subprocess.run([*self.tmux, *words], check=True, capture_output=True, text=True).stdout

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def has_colors(self):
        return bool(COLOR.search(self.run("capture-pane", "-p", "-e")))

    def expect(self, pattern, seconds=60):
        deadline = time.monotonic() + seconds
        while not re.search(pattern, screen := self.run("capture-pane", "-p"), re.S | re.M):
            assert time.monotonic() < deadline, f"{pattern} is not on the screen:\n{screen}"
            time.sleep(0.05)
        print("ok:", pattern)


def drive(terminal, command, services):
    terminal.keys(f"{command} top", "Enter")
    for name in services:
        # Name, rate, a percentile with its unit, and the curve.
        terminal.expect(rf"^{ROWS[name]} .*\d( k)? ?/s.* \d\S* [nmuµ]?s .*[▁▂▃▄▅▆▇█]")
    assert terminal.has_colors()
    for keys, pattern in STEPS:
        terminal.keys(*keys.split())
        terminal.expect(pattern)
        if pattern == "PAUSED":
            still = terminal.run("capture-pane", "-p")
            time.sleep(2.5)
            assert terminal.run("capture-pane", "-p") == still
    os.killpg(services["shop"].pid, signal.SIGKILL)
    services["shop"].wait()
    terminal.expect(r"2 ended.*^ended shop")
    terminal.keys("x")
    terminal.expect(r"\A(?!.*shop/)")
    terminal.keys("q")
    terminal.expect(r"\.hlog: \d+ intervals[^>]*prompt>")
    terminal.keys(f"stty -a | grep -o ' echo '; NO_COLOR=1 {command} top web", "Enter")
    terminal.expect(r"picollo top  2 entries.*web/")
    assert not terminal.has_colors()


def main(command, folder, *services):
    folder = pathlib.Path(folder)
    for log in folder.glob("*.hlog"):
        log.unlink()
    running, terminal = {}, Terminal(folder)
    try:
        for name, words in (service.split("=", 1) for service in services):
            log = open(folder / f"{name}.log", "w")
            running[name] = subprocess.Popen(shlex.split(words), stdout=log, stderr=log, start_new_session=True)
        drive(terminal, command, running)
        (log,) = folder.glob("*.hlog")
        assert "Count" in subprocess.run([command, "hlog", log], check=True, capture_output=True, text=True).stdout
    finally:
        subprocess.run([*terminal.tmux, "kill-server"])
        for process in running.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    print(f"{len(running) + len(STEPS) + 6} passed, 0 failed")


main(*sys.argv[1:])
