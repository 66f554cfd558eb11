# Counts the executed lines of a Python program by function, and its calls. Python imports this as `sitecustomize`.
import atexit
import itertools
import json
import os
import re
import sys
import threading
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
# `next` of a counter is one step, so threads lose nothing.
lines, calls, names, jumps, state = defaultdict(itertools.count), defaultdict(itertools.count), {}, {}, {}
# These live on when the program has ended.
HELPERS = "multiprocessing[.](resource_tracker|forkserver) import main"
TRACER = "it sets a tracer, which replaces the one that counts"
UNSEEN = "it starts a Python that is not counted (-I, -E, -S, or variables of its own without this PYTHONPATH)"


def begin():
    """An empty file, so that the reader misses what this process does not write."""
    for table in (lines, calls):
        table.clear()
    state["file"] = next(
        file for n in itertools.count() for file in [f"{HERE}/{os.getpid()}.{n}.lines"] if not os.path.exists(file)
    )
    open(state["file"], "x").close()


def end(*_):
    if "file" not in state:
        return
    if state.get("tracer") not in (None, sys.gettrace()):
        state["why"] = TRACER
    taken = [{key: next(counter) for key, counter in table.copy().items()} for table in (lines, calls)]

    def name(code):
        return names.get(code, code.co_filename if code else "")

    data = {
        "why": state.get("why"),
        "lines": [[name(code), code.co_filename, line, n] for (code, line), n in taken[0].items() if code.co_filename != __file__],
        "calls": [[name(caller), name(code), n] for (caller, code), n in taken[1].items() if code.co_filename != __file__],
    }
    with open(state["file"], "w") as file:
        json.dump(data, file)


def called(frame):
    code, back = frame.f_code, frame.f_back
    if code not in names:
        function = getattr(code, "co_qualname", code.co_name)
        names[code] = str(frame.f_globals.get("__name__")) + ("" if function == "<module>" else "." + function)
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


def audit(event, arguments):
    """Notes what replaces the tracer, if only for a while, and programs that this file is not part of."""
    if event == "sys.settrace" and "tracer" in state:
        if sys._getframe(1).f_globals.get("__name__") != "threading":
            state["why"] = TRACER
    elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system"):
        words, env = (arguments, None) if event == "os.system" else arguments[1::len(arguments) - 2]
        command, env = " ".join(map(os.fsdecode, words)), os.environ if env is None else env
        is_unseen = HERE not in str(env.get("PYTHONPATH")) and re.search("python|[.]py", command)
        if is_unseen or re.search(r"python[\d.]*(\s+-\S+)*\s+-[bBdiOqsuvx]*[IES]", command):
            state["why"] = UNSEEN
            event == "os.exec" and end()


def before(function):
    """Writes before a process becomes another one, or ends without its handlers of the end."""

    def call(*arguments):
        end()
        try:
            return function(*arguments)
        finally:  # It failed, so the process goes on.
            open(state.get("file", os.devnull), "w").close()

    return call


with open("/proc/self/cmdline") as file:
    if not re.search(HELPERS, file.read()):
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
