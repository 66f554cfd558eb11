#!/usr/bin/env python3
"""Drives `picollo top` in a terminal of tmux while services run, and checks its output.

    check.py [--picture FILE] PICOLLO FOLDER NAME=COMMAND...

Ends with "N passed, N failed".
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

from picture import svg_of

#: One of the eight colors, in either form.
COLOR = re.compile("\x1b\\[(3[0-7]|38;)")
#: A unit of time, in either alphabet.
UNIT = "[nmuµ]?s"
passed = failed = 0


def check(name, is_so, found=""):
    global passed, failed
    passed, failed = passed + bool(is_so), failed + (not is_so)
    print(f"{'ok' if is_so else 'FAILED'}: {name}" + ("" if is_so else f":\n{found}"))


class Terminal:
    """A shell in a terminal, on a separate tmux server."""

    def __init__(self, folder, width, height):
        self.tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / f"tmux-{os.getpid()}")]
        shell = ["env", "-u", "NO_COLOR", "PS1=prompt> ", "bash", "--norc", "--noprofile"]
        self.run("new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(folder), *shell)
        self.run("set-option", "-g", "status", "off")
        self.run("resize-window", "-x", str(width), "-y", str(height))

    def run(self, *words):
        return subprocess.run([*self.tmux, *words], check=True, capture_output=True, text=True).stdout

    def keys(self, *keys):
        self.run("send-keys", *keys)

    def type(self, text):
        self.run("send-keys", "-l", text)

    def screen(self, colors=False):
        return self.run("capture-pane", "-p", *(["-e"] if colors else []))

    def wait(self, pattern, seconds=20):
        """Waits until the screen contains this; otherwise returns the last screen."""
        deadline = time.monotonic() + seconds
        while True:
            screen = self.screen()
            if re.search(pattern, screen, re.S | re.M):
                return True, screen
            if time.monotonic() > deadline:
                return False, screen
            time.sleep(0.05)

    def expect(self, name, pattern, seconds=20):
        check(name, *self.wait(pattern, seconds))

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True)


def start(word, folder):
    name, command = word.split("=", 1)
    log = open(folder / f"{name}.log", "w")
    return name, subprocess.Popen(shlex.split(command), stdout=log, stderr=log, start_new_session=True)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def drive(terminal, command, services, picture):
    rows = {"shop": ("shop/requ", "order}"), "web": ("web/requ", "json}"), "billing": ("billing/inv", "oice")}
    terminal.type(f"{command} top\n")
    for name in services:
        begin, end = rows[name]
        pattern = rf"^{re.escape(begin)}\S*{re.escape(end)} .*\d /s.* \d\S* {UNIT} .*[▁▂▃▄▅▆▇█]"
        terminal.expect(f"{name} is shown live", pattern.replace(r"\d /s", r"\d( k)? ?/s"))
    check("no more rows than a terminal has", len(terminal.screen().splitlines()) <= 24, terminal.screen())
    if picture:
        # Runs for a minute.
        time.sleep(60)
        pathlib.Path(f"{picture}.svg").write_text(svg_of(terminal.screen(colors=True), 80, 24))
    check("colours", COLOR.search(terminal.screen(colors=True)), terminal.screen(colors=True))
    terminal.keys("Right")
    terminal.expect("sorted by rate", r"RATE▾")
    terminal.keys("/")
    terminal.type("ORDER")
    terminal.expect("filtered", r"1 shown.*filter: ORDER_")
    terminal.keys("Enter")
    terminal.keys("Enter")
    terminal.expect("one histogram", r"shop/request\{route=/order\}.*p99 .*value at percentile.*●.*the last \d+ s, now")
    if picture:
        pathlib.Path(f"{picture}-one.svg").write_text(svg_of(terminal.screen(colors=True), 80, 24))
    terminal.run("resize-window", "-x", "200", "-y", "60")
    terminal.expect("resized, one histogram", rf"p99\.9 \S+ {UNIT}  max \S+ {UNIT}.*99\.99 *$")
    terminal.keys("Escape")
    terminal.keys("Escape")
    terminal.expect("resized, all columns", r"RATE▾ +p50 +p90 +p99 +p99\.9 +max +p99 1min")
    terminal.expect("all again", r"web/request\{route=/json\}")
    terminal.run("resize-window", "-x", "80", "-y", "24")
    terminal.keys("m")
    terminal.expect("a change since a mark", r"p99 SINCE THE MARK.* % \[[-+][\d.]+, [-+][\d.]+\] (more|less|same|unclear)", 60)
    terminal.keys("M")
    terminal.keys("p")
    terminal.expect("paused", r"PAUSED")
    still = terminal.screen()
    time.sleep(2.5)
    check("stays while it is paused", terminal.screen() == still, terminal.screen())
    terminal.keys("p")
    terminal.keys("r")
    terminal.expect("recording", r"recording: picollo-top-\d+\.hlog")
    kill(services["shop"])
    terminal.expect("one that was killed stays, with its last state", r"2 ended.*^ended shop")
    terminal.keys("x")
    time.sleep(1.2)
    check("until it is taken off", "shop/" not in terminal.screen(), terminal.screen())
    terminal.keys("q")
    terminal.expect("the terminal is as it was", r"\.hlog: \d+ intervals[^>]*prompt>")
    terminal.type("stty -a | grep -o ' echo '; NO_COLOR=1 " + command + " top web\n")
    terminal.expect("one target", r"picollo top  2 entries.*web/", 10)
    check("NO_COLOR", not COLOR.search(terminal.screen(colors=True)), terminal.screen(colors=True))
    pid = subprocess.run(["pgrep", "-f", f"^{command} top web$"], capture_output=True, text=True).stdout.split()
    check("one such process", len(pid) == 1, pid)
    os.kill(int(pid[0]), signal.SIGTERM)
    terminal.expect("SIGTERM gives the terminal back", r"^ echo\s*\nprompt>", 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture")
    parser.add_argument("command")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("services", nargs="+")
    arguments = parser.parse_args()
    for log in arguments.folder.glob("*.hlog"):
        log.unlink()
    services = dict(start(word, arguments.folder) for word in arguments.services)
    terminal = Terminal(arguments.folder, 80, 24)
    try:
        drive(terminal, arguments.command, services, arguments.picture)
        logs = list(arguments.folder.glob("*.hlog"))
        check("one log", len(logs) == 1, logs)
        read = subprocess.run([arguments.command, "hlog", *map(str, logs)], capture_output=True, text=True)
        check("which is read", read.returncode == 0 and "Count" in read.stdout, read.stdout + read.stderr)
    finally:
        terminal.close()
        for process in services.values():
            kill(process)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
