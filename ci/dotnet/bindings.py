"""Fails if the tests did not call every library function that the binding calls.

usage: bindings.py FILE...
The files are the loader's output under LD_DEBUG=bindings: the runtime looks up a function at its first call.
"""

import re
import sys

import layout_probe

bound = {name for path in sys.argv[1:] for name in re.findall(r"symbol `(picollo_\w+)'", open(path, encoding="utf-8").read())}
called = layout_probe.called()
if missing := called - bound:
    sys.exit(f"no test calls {', '.join(sorted(missing))}")
print(f"each of {len(called)} functions is called by a test")
