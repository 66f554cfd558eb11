"""Fails if the tests did not call every library function that the binding calls.

usage: bindings.py FILE...
The files are the loader's output under LD_DEBUG=bindings: the runtime looks up a function at its first call.
"""

import re
import sys

import layout_probe

# Only a machine with performance counters calls these.
HARDWARE: set[str] = set()


def gaps(called: set[str], bound: set[str]) -> set[str]:
    return called - bound - HARDWARE


bound = {name for path in sys.argv[1:] for name in re.findall(r"symbol `(picollo_\w+)'", open(path, encoding="utf-8").read())}
called = layout_probe.called()
if gaps(called | {"picollo_planted"}, bound) - gaps(called, bound) != {"picollo_planted"}:
    sys.exit("a planted gap is not noticed")
if gaps(called, bound):
    sys.exit(f"no test calls {', '.join(sorted(gaps(called, bound)))}")
print(f"each of {len(called)} functions is called by a test")
