"""Sorted or not: a million bytes summed behind a branch, before and after sorting.

The bytes and their sum are the same, and so is the number of instructions. The difference is how well the processor
predicts the branch. Python's interpreter takes dozens of instructions and branches for each byte, which hide most of
the effect. With a C compiler, the demo also measures the same loop without an interpreter.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Callable, Optional

import picollo

EVENTS = ["cycles", "branch-misses", "task-clock", "page-faults"]

#: The empty asm keeps compilers from replacing the branch by a conditional move or by vector instructions.
SOURCE = """
#include <stddef.h>
#include <stdint.h>
uint64_t sum_large(const unsigned char *data, size_t length) {
    uint64_t total = 0;
    for (size_t i = 0; i < length; i++) {
        if (data[i] >= 128) {
            total += data[i];
            __asm__ volatile("" : "+r"(total));
        }
    }
    return total;
}
"""

Sum = Callable[[bytes], int]


def sum_in_python(data: bytes) -> int:
    total = 0
    for byte in data:
        if byte >= 128:
            total += byte
    return total


def sum_in_c(folder: Path) -> Optional[Sum]:
    """The same loop compiled, or ``None`` without a compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    source, library = folder / "sum.c", folder / "sum.so"
    source.write_text(SOURCE)
    command = [compiler, "-O1", "-shared", "-fPIC", str(source), "-o", str(library)]
    try:
        subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    function = ctypes.PyDLL(str(library)).sum_large
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_uint64
    return lambda data: int(function(data, len(data)))


class Measured:
    """One run: the distributions of time, ticks, and every event that the machine counts."""

    def __init__(self, function: Sum, data: bytes, rounds: int) -> None:
        time, ticks = picollo.Histogram(name="time (ns)"), picollo.Histogram(name="TSC (ticks)")
        self.total = function(data)
        with picollo.Session(EVENTS, skip_unavailable=True) as session:
            measurement, time_scope, tick_scope = session.measure(), time.nano_scope(), ticks.tick_scope()
            for _ in range(rounds):
                with measurement, time_scope, tick_scope:
                    function(data)
            self.histograms = [time, ticks, *session.histograms.values()]
            self.missing = session.explain_missing()


def compare(where: str, function: Sum, shuffled: bytes, ordered: bytes, rounds: int) -> None:
    before, after = Measured(function, shuffled, rounds), Measured(function, ordered, rounds)
    assert before.total == after.total
    print(f"### {where}\n")
    print(before.histograms[0].diff(after.histograms[0], f"{where}: time (ns)", "Shuffled", "Sorted"))
    print("Medians:\n")
    print("| Counter        |     Shuffled |       Sorted | Shuffled / Sorted |")
    print("| :------------- | -----------: | -----------: | ----------------: |")
    for first, second in zip(before.histograms, after.histograms):
        a, b = first.summary().p50, second.summary().p50
        ratio = f"{a / b:.2f}" if b else "n/a"
        print(f"| {first.name:14} | {a:12,} | {b:12,} | {ratio:>17} |")
    print()
    if before.missing:
        print(before.missing + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=1_000_000, help="how many bytes (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="measurements in Python (default: %(default)s)")
    arguments = parser.parse_args()

    shuffled = random.Random(1).getrandbits(8 * arguments.bytes).to_bytes(arguments.bytes, "little")
    ordered = bytes(sorted(shuffled))

    compare("In Python", sum_in_python, shuffled, ordered, arguments.rounds)
    with tempfile.TemporaryDirectory() as folder:
        compiled = sum_in_c(Path(folder))
        if compiled is None:
            print("There is no C compiler here, so the bare loop is not measured.")
        else:
            compare("The same loop in C", compiled, shuffled, ordered, 10 * arguments.rounds)


if __name__ == "__main__":
    main()
