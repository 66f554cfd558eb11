# Counts the executed lines of a Python program by function, and its calls, and writes them as Callgrind does. Python imports this as
# `sitecustomize`.
import atexit
import itertools
import os
import re
import sys
import threading
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
# `next` of a counter is one step, so threads lose nothing.
lines, calls, names, jumps, state = defaultdict(itertools.count), defaultdict(itertools.count), {}, {}, {}
# These live on when the program has ended.
HELPERS = b"multiprocessing[.](resource_tracker|forkserver) import main"
TRACER = "it sets a tracer, which replaces the one that counts"


def create(kind, content=b""):
    names = (f"{HERE}/{os.getpid()}.{n}.{kind}" for n in itertools.count())
    name = next(name for name in names if not os.path.exists(name))
    with open(name, "xb") as file:
        file.write(content)
    return name


def begin():
    """An empty file, so that the reader misses what this process does not write."""
    for table in (lines, calls):
        table.clear()
    state["file"] = create("lines")


def end(*_):
    if "file" not in state:
        return
    if state.get("tracer") not in (None, sys.gettrace()):
        state["why"] = TRACER
    taken = [
        {key: next(n) for key, n in table.copy().items() if __file__ not in [getattr(part, "co_filename", "") for part in key]}
        for table in (lines, calls)
    ]

    def at(code, mark=""):
        """Where code is. The reader takes endings off names, such as `.part`, but none that ends in a parenthesis."""
        file, name = (code.co_filename, names.get(code, "<module>")) if code else ("", "[Python]")
        name += "" if name.endswith((">", "]")) else "()"
        rows = [f"{mark}{key}={text}" for key, text in (("ob", file), ("fl", file), ("fn", name))]
        return "".join(row.replace("\n", "?") + "\n" for row in rows)

    with open(state["file"], "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"events: Lines\ndesc: Trigger: {state.get('why', '')}\n")
        for (code, line), n in taken[0].items():
            file.write(f"{at(code)}0 {line} {n}\n")
        for (caller, code), n in taken[1].items():
            file.write(f"{at(caller)}{at(code, 'c')}calls={n}\n0 0 0\n")
        file.write(f"totals: {sum(taken[0].values())}\n")


def called(frame):
    code, back = frame.f_code, frame.f_back
    if code not in names:
        function = getattr(code, "co_qualname", code.co_name)
        names[code] = f"{frame.f_globals.get('__name__')}.{function}"
    next(calls[back and back.f_code, code])


def trace(frame, event, _):
    # A generator that goes on has its tracer already.
    if event == "call" and frame.f_trace is None:
        called(frame)
    elif event == "line":
        next(lines[frame.f_code, frame.f_lineno])
    return trace


def jumped(code, *offsets):
    """A jump back within one line, of which `LINE` says nothing."""
    if (code, offsets) not in jumps:
        at, to = [next((line for begin, end, line in code.co_lines() if begin <= offset < end), None) for offset in offsets]
        jumps[code, offsets] = offsets[1] < offsets[0] and at == to and at
    if not jumps[code, offsets]:
        return sys.monitoring.DISABLE
    next(lines[code, jumps[code, offsets]])


def audit(event, _):
    """Notes what replaces the tracer, if only for a while."""
    if event == "sys.settrace" and sys._getframe(1).f_globals.get("__name__") != "threading":
        state["why"] = TRACER


def before(function):
    """Writes before a process becomes another one, or ends without its handlers of the end."""

    def call(*arguments):
        end()
        try:
            return function(*arguments)
        finally:  # It failed, so the process goes on.
            open(state.get("file", os.devnull), "w").close()

    return call


with open("/proc/self/cmdline", "rb") as file:
    command = file.read()
# The reader knows the commands of all Pythons, and misses those of others.
create("command", command)
if not re.search(HELPERS, command):
    begin()
atexit.register(end)
os.register_at_fork(after_in_child=begin)
os._exit, os.execv, os.execve = before(os._exit), before(os.execv), before(os.execve)
sys.path[:] = [path for path in sys.path if path != HERE]
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # The user's own.
except ImportError:
    sys.modules["sitecustomize"] = None
if hasattr(sys, "monitoring"):
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(4, "picollo")
    sys.monitoring.register_callback(4, events.LINE, lambda code, line: next(lines[code, line]))
    sys.monitoring.register_callback(4, events.PY_START, lambda code, offset: called(sys._getframe(1)))
    sys.monitoring.register_callback(4, events.JUMP, jumped)
    sys.monitoring.set_events(4, events.LINE | events.PY_START | events.JUMP)
else:
    state["tracer"] = trace
    threading.settrace(trace)
    sys.settrace(trace)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(audit)
