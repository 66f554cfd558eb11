"""The extension module and ctypes do the same; with it nothing leaks, and without it nothing is missing."""

from __future__ import annotations

import gc
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import weakref
from functools import partial
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import PACKAGE, PROJECT, assert_refused, outcome, output_of, run_python
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import Histogram, _extension, clock

#: These tests run differently with the module.
CONCERNED = ("test_recording", "test_timing", "test_clock", "test_lifetime", "test_extension", "test_call_leaks")
#: They test no single calls, and take long.
LONG = ("multiprocessing", "two_threads", "shutdown", "nothing_leaks", "snapshot", "without_their_consumers")

#: The default places where the package looks.
PLACES = (str(PACKAGE / _extension._NAME), str(PACKAGE.parents[2] / "target" / "python" / _extension._NAME))


needs_the_module = pytest.mark.skipif(not picollo.extension_path, reason="the extension module is not in use")
#: For tests that leave the choice to the package.
needs_one_in_its_place = pytest.mark.skipif(
    not picollo.extension_path or not any(map(os.path.isfile, PLACES)), reason="no extension module lies where the package looks"
)


@pytest.mark.skipif("PICOLLO_THE_OTHER_WAY" in os.environ, reason="this is the other way")
def test_with_and_without_the_module() -> None:
    """Runs these files without the module if this run has it, and with it otherwise."""
    other = "off" if picollo.extension_path else next(filter(os.path.isfile, PLACES), None)
    if other is None:
        pytest.skip("the extension module is not built: python/build-extension.sh says why")
    files = [f"tests/{name}.py" for name in CONCERNED]
    told = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", " and ".join(f"not {name}" for name in LONG)],
        cwd=PROJECT,
        env={**os.environ, "PICOLLO_EXTENSION": other, "PICOLLO_THE_OTHER_WAY": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stdout + told.stderr


# ── which module ───────────────────────────────────────────────────────────────────────────────────────────


def test_places_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PICOLLO_EXTENSION", raising=False)
    assert tuple(_extension.candidates(PACKAGE)) == PLACES
    for named, expected in (("/elsewhere/_speed.abi3.so", ["/elsewhere/_speed.abi3.so"]), ("off", [])):
        monkeypatch.setenv("PICOLLO_EXTENSION", named)
        assert _extension.candidates(PACKAGE) == expected
    assert output_of("import picollo; print(picollo.extension_path)", environment={"PICOLLO_EXTENSION": "off"}) == "None\n"


def test_a_named_module_must_work(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_text("not a module")
    for path in ("/nowhere/_speed.so", str(broken), picollo.library_path):
        told = run_python("import picollo", environment={"PICOLLO_EXTENSION": path})
        assert told.returncode != 0
        assert "LibraryError" in told.stderr and f"{path} (the environment variable PICOLLO_EXTENSION)" in told.stderr


def test_an_unfit_module_is_ignored(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "picollo")
    (tmp_path / "picollo" / "_speed.abi3.so").write_text("not a module")
    code = "import picollo; h = picollo.Histogram(); h.record(5); print(picollo.__file__, picollo.extension_path, h.total_count)"
    told = output_of(code, environment={"PICOLLO_EXTENSION": None, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    assert told == f"{tmp_path}/picollo/__init__.py None 1\n"


@needs_the_module
def test_modules_of_other_versions_and_libraries_are_refused() -> None:
    told = output_of(
        """
        import picollo
        module = picollo._extension._speed
        same = picollo._extension._REVISION, __import__("ctypes").c_void_p, 32
        for arguments in ((same[0] + 1, *same[1:]), (*same[:2], 65), same):
            try:
                module.connect(*arguments, 1, 2, 3, 4, 5)
            except ImportError as error:
                print(error)
        picollo.Histogram().record(1)
        """
    )
    assert told == "it is of another version\n" * 2 + "it serves another library already\n"


@needs_one_in_its_place
def test_there_is_one_library(tmp_path: Path) -> None:
    """A reimported package uses the same library; with another library, which only ctypes knows, it uses ctypes."""
    other = tmp_path / "libpicollo.so"
    shutil.copy(os.path.realpath(picollo.library_path), other)
    told = output_of(
        f"""
        import os, sys
        def again():
            for name in [name for name in sys.modules if name.split(".")[0] == "picollo"]:
                del sys.modules[name]
            import picollo
            return picollo
        first = again()
        with open("/proc/self/maps") as maps:
            loaded = {{line.split()[-1] for line in maps if "libpicollo" in line}}
        assert len(loaded) == 1, loaded
        before, scope = first.Histogram(), first.Histogram().nano_scope()
        second = again()
        assert first.extension_path == second.extension_path is not None
        after = second.Histogram()
        del first
        __import__("gc").collect()
        with scope, before.nano_scope(), after.nano_scope():
            before.record(5), after.record(5)
        assert before.total_count == after.total_count == 2
        os.environ["PICOLLO_LIBRARY"] = {str(other)!r}
        third = again()
        assert third.extension_path is None and third.library_path == {str(other)!r}
        with third.Histogram().nano_scope() as scope:
            third.Histogram().record(5)
        before.record(5)
        assert before.total_count == 3
        """,
        environment={"PICOLLO_EXTENSION": None},
    )
    assert told == ""


@needs_one_in_its_place
def test_other_interpreters_use_ctypes() -> None:
    output_of(
        """
        import picollo
        try:
            import _xxsubinterpreters as interpreters  # until 3.12
            other = interpreters.create(isolated=False)
        except ImportError:
            import _interpreters as interpreters
            other = interpreters.create("legacy")
        code = '''
        import picollo
        histogram = picollo.Histogram()
        histogram.record(5)
        with histogram.nano_scope(): pass
        assert picollo.extension_path is None
        assert histogram.total_count == 2
        '''
        failed = interpreters.run_string(other, __import__("textwrap").dedent(code))
        assert failed is None, failed
        interpreters.destroy(other)
        histogram = picollo.Histogram()
        histogram.record(5)
        assert picollo.extension_path and histogram.total_count == 1
        """,
        environment={"PICOLLO_EXTENSION": None},
    )


# ── the twins ──────────────────────────────────────────────────────────────────────────────────────────────


class Seven:
    def __index__(self) -> int:
        return 7


class Whole(int):
    """Claims that it fits."""

    def __ge__(self, other: Any) -> bool:
        return True

    __le__ = __ge__


class Unfit(int):
    """Claims that it does not fit."""

    def __ge__(self, other: Any) -> bool:
        return False

    __le__ = __ge__


class Refusing:
    def __index__(self) -> int:
        raise ZeroDivisionError("refused")


ODD: list[Any] = [None, "1", b"1", True, 1.0, Seven(), Refusing(), Whole(5), Whole(-7), Unfit(5), 1j, (), [1], object]
EDGES = [0, 1, 2**63, 2**64 - 1, 2**64, -1, -(2**63), 2**200, 2**30, 2**60]


def plain(histogram: Histogram, name: str) -> Callable[..., Any]:
    """The Python function of a twin."""
    call: Callable[..., Any] = getattr(histogram, f"_plain_{name}")
    return call


def assert_recording_is_the_same(thing: Any) -> None:
    fast, slow = Histogram(0.01, min=10, max=2**63), Histogram(0.01, min=10, max=2**63)
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("record", (thing,)), ("record_n", (thing, 3)), ("record_n", (100, thing)), ("record", ()), ("record", (1, 2)),
    ]  # fmt: skip
    for _ in range(2):
        for name, args in calls:
            assert outcome(getattr(fast, name), *args) == outcome(plain(slow, name), *args)
        if not fast.closed:
            assert (fast.counts, fast.snapshot().buckets()) == (slow.counts, slow.snapshot().buckets())
        fast.close()
        slow.close()


@needs_the_module
@pytest.mark.parametrize("thing", ODD, ids=lambda thing: type(thing).__name__)
def test_odd_values_are_the_same(thing: Any) -> None:
    assert_recording_is_the_same(thing)


@needs_the_module
@given(number=st.one_of(st.integers(0, 2**64 - 1), st.sampled_from(EDGES), st.integers()))
def test_one_value_is_the_same(number: int) -> None:
    assert_recording_is_the_same(number)


@needs_the_module
@pytest.mark.parametrize("name", ["nano_scope", "micro_scope", "milli_scope", "tick_scope"])
def test_making_scopes_is_the_same(name: str) -> None:
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), (("tsc",), {}), (("monotonic",), {}), ((), {"clock": "monotonic"}), (("sundial",), {}), (([],), {}), ((1, 2), {}), ((), {"unit": 5}),
    ]  # fmt: skip
    for args, kwargs in calls:
        histogram = Histogram()
        fast, slow = (outcome(call, *args, **kwargs) for call in (getattr(histogram, name), plain(histogram, name)))
        assert type(fast) is type(slow)
        if isinstance(fast, picollo.Scope):
            for scope in (fast, slow):
                with scope:
                    clock.ticks()
            # The unit shows in the elapsed value: ticks or picoseconds differ greatly from milliseconds.
            assert (fast.elapsed < 1000) == (slow.elapsed < 1000) or name in ("nano_scope", "tick_scope")
            assert histogram.total_count == 2
        else:
            assert fast == slow
        histogram.close()
        assert outcome(getattr(histogram, name), *args, **kwargs) == outcome(plain(histogram, name), *args, **kwargs)


@needs_the_module
def test_reading_clocks_is_the_same() -> None:
    slow: Callable[..., Any] = clock._plain_ticks  # type: ignore[attr-defined]
    apart = 10**6  # clocks of different processors differ by less
    for args in ((), ("tsc",), ("monotonic",), ("".join(["mono", "tonic"]),)):
        before, now, after = slow(*args), clock.ticks(*args), slow(*args)
        assert before - apart <= now <= after + apart
    assert slow("monotonic") <= clock.ticks(clock="monotonic") <= slow("monotonic")
    wrong: list[Any] = [("sundial",), (None,), ([],), (1, 2), ("tsc\0",), ("\ud800",)]
    for bad in wrong:
        assert outcome(clock.ticks, *bad) == outcome(slow, *bad)
    assert pickle.loads(pickle.dumps(clock.ticks)) is clock.ticks


def test_names_and_documentation_are_the_same() -> None:
    for name in ("record", "record_n", "nano_scope", "micro_scope", "milli_scope", "tick_scope"):
        method = getattr(Histogram, name)
        original = getattr(Histogram, f"_plain_{name}", method)
        assert inspect.getdoc(method) == inspect.getdoc(original) and inspect.getdoc(method)
        assert list(inspect.signature(method).parameters) == list(inspect.signature(original).parameters)
        assert (method.__name__, method.__qualname__) == (name, f"Histogram.{name}")
    assert inspect.signature(clock.ticks).parameters["clock"].default == "tsc"
    assert (clock.ticks.__name__, clock.ticks.__module__) == ("ticks", "picollo.clock") and inspect.getdoc(clock.ticks)
    scope = Histogram().nano_scope()
    assert type(scope) is picollo.Scope
    assert (picollo.Scope.__name__, picollo.Scope.__qualname__, picollo.Scope.__module__) == ("Scope", "Scope", "picollo.scope")
    assert "Times a ``with`` block" in (picollo.Scope.__doc__ or "")
    assert_refused(
        *((partial(setattr, scope, name, 5), AttributeError, "") for name in ("other", "elapsed")),
        (lambda: weakref.ref(scope), TypeError, ""),
    )


def test_subclasses() -> None:
    class Doubling(Histogram):
        def record(self, value: int) -> None:
            super().record(value)
            super().record(value)

        def __del__(self) -> None:
            gone.append(self.__class__.__name__)

    gone: list[str] = []
    histogram = Doubling(0.01, name="twice")
    histogram.record(5)
    Histogram.record(histogram, 6)
    with histogram.nano_scope():
        pass
    assert histogram.total_count == 4
    histogram.myself = histogram  # type: ignore[attr-defined]
    del histogram
    gc.collect()
    assert gone == ["Doubling"]
    with pytest.raises((TypeError, AttributeError)):
        Histogram.record(5, 5)  # type: ignore[arg-type]
    never_made = Histogram.__new__(Histogram)
    calls = (lambda: never_made.record(5), lambda: never_made.record_n(5, 5), never_made.nano_scope)
    assert_refused(*((call, AttributeError, "_pointer") for call in calls))
