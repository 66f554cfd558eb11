#!/usr/bin/env python3
"""What `picollo top` costs: 100 histograms of the default layout of segments, one interval a second, and the first picture.

    cost.py PICOLLO

Counts what the kernel says of the process: its time on a CPU, its memory, and how long its first picture took to come. Give it a quiet machine.
"""

import fcntl
import os
import pty
import random
import select
import statistics
import struct
import sys
import termios
import threading
import time

import picollo

HISTOGRAMS, SECONDS, STARTS = 100, 30, 21
command = sys.argv[1]
stop = threading.Event()


def publish():
    with picollo.Segment("cost") as segment:
        histograms = [segment.histogram("request", unit="ns", labels={"n": str(number)}) for number in range(HISTOGRAMS)]
    values = [int(random.lognormvariate(14, 1)) for _ in range(1000)]
    while not stop.wait(0.1):
        for histogram in histograms:
            histogram.record_many(values)


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


def ticks(process):
    fields = open(f"/proc/{process}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def memory(process, name):
    return next(int(line.split()[1]) for line in open(f"/proc/{process}/status") if line.startswith(name))


worker = threading.Thread(target=publish)
worker.start()
time.sleep(1)
first = []
for _ in range(STARTS):
    process, end, began = start()
    screen = b""
    while b"request" not in screen:
        screen += read(end, 10)
    first.append((time.monotonic() - began) * 1000)
    quit_it(process, end)
process, end, _ = start()
deadline = time.monotonic() + 2
while (left := deadline - time.monotonic()) > 0:
    read(end, left)
before, began = ticks(process), time.monotonic()
while (left := began + SECONDS - time.monotonic()) > 0:
    read(end, left)
share = (ticks(process) - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began) * 100
most = memory(process, "VmHWM") / 1024
quit_it(process, end)
stop.set()
worker.join()
print(f"{HISTOGRAMS} histograms, {os.cpu_count()} CPUs: {share:.2f} % of a CPU over {SECONDS} s, {most:.1f} MB at most, "
      f"first picture after {statistics.median(first):.0f} ms ({min(first):.0f} to {max(first):.0f}, {STARTS} starts)")
