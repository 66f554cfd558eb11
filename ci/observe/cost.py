#!/usr/bin/env python3
"""What `picollo top` costs: 100 histograms of the default layout of segments, one interval a second, and the first picture.

    cost.py PICOLLO              as they are here: up to eight CPUs each has a set of cells, and there is one that all share
    cost.py PICOLLO CPUS...      per-CPU histograms as of machines with so many CPUs, and the cost of a megabyte that is read

Counts what the kernel says of the process: its time on a CPU, its memory, and how long its first picture took to come. Give it a quiet machine.
"""

import fcntl
import os
import pty
import random
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import picollo

HISTOGRAMS, STARTS = 100, 21
#: A library that says there are so many CPUs as the environment does, for who asks how many are configured.
MORE_CPUS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
long sysconf(int name) {
    long (*const next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_NPROCESSORS_CONF ? atoi(getenv("COST_CPUS")) : next(name);
}
"""


def publish(mode):
    """Records a million values a second into all of them, until it is ended."""
    with picollo.Segment("cost") as segment:
        histograms = [
            segment.histogram("request", unit="ns", labels={"n": str(number)}, mode=mode or None) for number in range(HISTOGRAMS)
        ]
    values = [int(random.lognormvariate(14, 1)) for _ in range(1000)]
    print("published", flush=True)
    while True:
        for histogram in histograms:
            histogram.record_many(values)
        time.sleep(0.1)


class Published:
    """A process that publishes."""

    def __init__(self, cpus, shim):
        environment = dict(os.environ)
        if cpus:
            environment |= {"COST_CPUS": str(cpus), "LD_PRELOAD": shim}
        arguments = [sys.executable, __file__, "--publish", "per_cpu" if cpus else ""]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, env=environment)
        self.process.stdout.readline()
        with picollo.Viewer.find(str(self.process.pid)) as viewer:
            self.path, self.bytes = viewer.path, sum(entry.bytes for entry in viewer.entries)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        os.unlink(self.path)


def start():
    """`picollo top` in a terminal of 80 × 24: process, its end, and when it was started."""
    began = time.monotonic()
    process, end = pty.fork()
    if process == 0:
        os.execvp(command, [command, "top"])
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return process, end, began


def read(end, seconds):
    return os.read(end, 1 << 16) if select.select([end], [], [], seconds)[0] else b""


def quit_it(process, end):
    os.write(end, b"q")
    while True:
        try:
            if not os.read(end, 1 << 16):
                break
        except OSError:
            break
    os.waitpid(process, 0)
    os.close(end)


def nanoseconds(process):
    """On a CPU so far."""
    return sum(int(task.joinpath("schedstat").read_text().split()[0]) for task in Path(f"/proc/{process}/task").iterdir())


def memory(process, name):
    return next(int(line.split()[1]) for line in open(f"/proc/{process}/status") if line.startswith(name))


def first_pictures():
    """How long it takes to them, in milliseconds."""
    for _ in range(STARTS):
        process, end, began = start()
        screen = b""
        while b"request" not in screen:
            screen += read(end, 10)
        yield (time.monotonic() - began) * 1000
        quit_it(process, end)


def share(seconds):
    """Of a CPU, in percent, and the most memory in megabytes."""
    process, end, _ = start()
    deadline = time.monotonic() + 2
    while (left := deadline - time.monotonic()) > 0:
        read(end, left)
    before, began = nanoseconds(process), time.monotonic()
    while (left := began + seconds - time.monotonic()) > 0:
        read(end, left)
    used = (nanoseconds(process) - before) / (time.monotonic() - began) / 1e7
    most = memory(process, "VmHWM") / 1024
    quit_it(process, end)
    return used, most


def main(cpus):
    with tempfile.TemporaryDirectory() as place:
        shim = f"{place}/more_cpus.so"
        Path(f"{place}/more_cpus.c").write_text(MORE_CPUS)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", shim, f"{place}/more_cpus.c", "-ldl"], check=True)
        for number in cpus or [0]:
            published = Published(number, shim)
            megabytes = published.bytes / 1e6
            text = f"{HISTOGRAMS} histograms, {number or os.cpu_count()} CPUs, {megabytes:.1f} MB"
            first = [] if number else list(first_pictures())
            used, most = share(15 if number else 30)
            published.end()
            text += f": {used:.2f} % of a CPU, {used * 10 / megabytes:.2f} ms for each MB, {most:.1f} MB of memory at most"
            if first:
                text += f", first picture after {statistics.median(first):.0f} ms ({min(first):.0f} to {max(first):.0f}, {STARTS} starts)"
            print(text, flush=True)


if sys.argv[1] == "--publish":
    publish(sys.argv[2])
else:
    command = sys.argv[1]
    main([int(number) for number in sys.argv[2:]])
