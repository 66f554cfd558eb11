"""Shared by the tests."""

from __future__ import annotations

import ctypes
import contextlib
import functools
import os
import pty
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Union

import pytest
from hypothesis import configuration, settings

#: The functions of the library that tests have called through ctypes, by their C names.
CALLED: set[str] = set()


def _load_and_count(self: ctypes.CDLL, *arguments: Any, _load: Callable[..., None] = ctypes.CDLL.__init__, **options: Any) -> None:
    _load(self, *arguments, **options)
    plain: Any = self._FuncPtr

    class Counting(plain):  # type: ignore[misc]
        _flags_, _restype_ = plain._flags_, plain._restype_

        def __call__(self, *values: Any) -> Any:
            CALLED.add(self.__name__)
            return super().__call__(*values)

    self._FuncPtr = Counting


# Before the package loads the library, because it looks up every function once.
ctypes.CDLL.__init__ = _load_and_count  # type: ignore[method-assign]

import picollo  # noqa: E402
from picollo._structs import FUNCTIONS  # noqa: E402

PROJECT = Path(__file__).resolve().parent.parent
SOURCES = PROJECT / "src"
#: The package under test: the installed one, if run-tests.sh runs the tests.
PACKAGE = Path(picollo.__file__).resolve().parent
REPOSITORY = PROJECT.parent
# Away from the sources, as with a wheel, the tests of the sources themselves are left out, and that of blocks, which has its own job.
HAS_SOURCES = (REPOSITORY / "Cargo.toml").is_file()
collect_ignore = [] if HAS_SOURCES else ["test_call_leaks.py", "test_demos.py", "test_docs.py", "test_install.py", "test_library.py"]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "picollo"

# The tree stays clean; and a busy machine is not a failure.
configuration.set_hypothesis_home_dir(CACHE / "hypothesis")
settings.register_profile("picollo", deadline=None)
settings.load_profile("picollo")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Checks after a full run that some test called every function that the package uses."""
    config = session.config
    chosen = config.option.keyword or config.option.markexpr or config.option.collectonly or config.args_source.name == "ARGS"
    # These are called in C, and by test_with_and_without_the_module through ctypes.
    in_c = {"picollo_scope_begin", "picollo_scope_end"} if picollo.extension_path else set()
    used = {name for path in PACKAGE.glob("*.py") for name in re.findall(r"(?:held|released|functions)\.(\w+)", path.read_text())}
    missing = sorted({f"picollo_{name}" for name in used & set(FUNCTIONS)} - CALLED - in_c)
    if missing and not chosen and not session.shouldstop:
        print(f"\nNo test calls {len(missing)} of {len(used)} functions: {', '.join(missing)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_report_header() -> list[str]:
    info = picollo.perf_probe()
    return [
        f"picollo: {picollo.library_path} ({picollo.library_version})",
        f"performance counters: {'yes' if info.pmu_available else info.explanation}",
    ]


def run_python(
    code: str, *, environment: Optional[dict[str, Optional[str]]] = None, cwd: Optional[Path] = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program in a separate interpreter, with this package and this library."""
    variables: dict[str, str] = {
        **os.environ,
        "PICOLLO_LIBRARY": picollo.library_path,
        "PYTHONPATH": str(PACKAGE.parent),
    }
    for name, value in (environment or {}).items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=variables,
        cwd=cwd,
        timeout=60,
    )


def output_of(code: str, **options: Any) -> str:
    """The output of such a program, which ends well and writes no errors."""
    told = run_python(code, **options)
    assert (told.returncode, told.stderr) == (0, "")
    return told.stdout


def forked(work: Callable[[], Any]) -> int:
    """Runs this in a forked child. Returns the child's exit status, which is 0 unless it raised."""
    with warnings.catch_warnings():
        # Python 3.12 warns if there are other threads; the library's objects are made for that.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        # Ends a child that waits forever.
        signal.alarm(30)
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def outcome(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The outcome of a call: the result or the exception."""
    try:
        return call(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)


def assert_refused(*wrongs: tuple[Callable[[], Any], type[Exception], str]) -> None:
    """Each of these raises this error, with this message."""
    for call, error, message in wrongs:
        with pytest.raises(error, match=message or None):
            call()


def in_threads(*works: Callable[[], None]) -> None:
    """Runs each in a separate thread, concurrently, to its end."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@functools.lru_cache(maxsize=None)
def native_command() -> str:
    """The command ``picollo``: that of ``PICOLLO_COMMAND``, built from the current sources, or that of the package."""
    named = os.environ.get("PICOLLO_COMMAND")
    if named or not HAS_SOURCES:
        return named or str(PACKAGE / "bin" / "picollo")
    # Sanitizers, and their build directories, are only for the library.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "RUSTFLAGS", "RUSTC_", "CFLAGS"))}
    target = REPOSITORY / "target"
    if "RUSTFLAGS" not in os.environ:
        target = Path(os.environ.get("CARGO_TARGET_DIR") or target)
    environment["CARGO_TARGET_DIR"] = str(target.resolve())
    build = ["cargo", "build", "--quiet", "--locked", "--package", "picollo-cli"]
    subprocess.run(build, cwd=REPOSITORY, env=environment, check=True)
    return str(target.resolve() / "debug" / "picollo")


def command_environment(**changes: str) -> dict[str, str]:
    """For ``python -m picollo``, with this package and the command of :func:`native_command`."""
    found = {"PYTHONPATH": str(PACKAGE.parent), "PICOLLO_LIBRARY": picollo.library_path, "PICOLLO_COMMAND": native_command()}
    return {**os.environ, **found, **changes}


def python_m(*arguments: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """``python -m picollo`` with these arguments, and these changes of the environment."""
    program = [sys.executable, "-X", "dev", "-W", "error", "-m", "picollo", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, env=command_environment(**changes), timeout=120)


def on_a_terminal(*program: "Union[str, Path]", lines: Iterable[bytes] = ()) -> tuple[str, str]:
    """The output of a program that reads these lines, slowly, and what it writes to a terminal meanwhile."""
    leader, follower = pty.openpty()
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=follower, env=command_environment()) as process:
        os.close(follower)
        assert process.stdin is not None and process.stdout is not None
        for line in lines:
            process.stdin.write(line)
            process.stdin.flush()
            time.sleep(0.05)
        process.stdin.close()
        output = process.stdout.read().decode()
        assert process.wait(120) == 0
    shown = b""
    with contextlib.suppress(OSError):  # Linux's error if nobody is at the other end
        while part := os.read(leader, 1 << 16):
            shown += part
    os.close(leader)
    return output, shown.decode()
