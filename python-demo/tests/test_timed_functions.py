"""What ``@timed`` makes of an ordinary function is such a function in all that programs ask of it, in C too."""

from __future__ import annotations

import abc
import copy
import functools
import gc
import inspect
import pickle
import types
import weakref
from typing import Any

import pytest

from picollo import Histogram, timed

LATENCY = Histogram(0.1)


@timed(LATENCY)
def measured(a: int, b: int = 2, *, c: int = 3) -> int:
    """Adds."""
    return a + b + c


add: Any = measured.__wrapped__  # type: ignore[attr-defined]


def test_timed_functions_are_functions() -> None:
    assert (measured.__name__, measured.__qualname__, measured.__module__, measured.__doc__) == (
        "measured",
        "measured",
        __name__,
        "Adds.",
    )
    assert inspect.signature(measured) == inspect.signature(add)
    assert inspect.unwrap(measured) is add
    assert measured.__annotations__ == add.__annotations__
    assert inspect.isfunction(measured) and inspect.isroutine(measured) and isinstance(measured, types.FunctionType)
    assert not inspect.iscoroutinefunction(measured) and not inspect.isgeneratorfunction(measured)
    assert inspect.getsource(measured) == inspect.getsource(add)
    assert repr(measured).startswith("<function measured at 0x")
    assert callable(measured) and hash(measured) == hash(measured) and measured == measured != add
    with pytest.raises(AttributeError, match="'function' object has no attribute 'nothing'"):
        getattr(measured, "nothing")
    measured.mark = 5  # type: ignore[attr-defined]
    assert measured.mark == measured.__dict__["mark"] == 5  # type: ignore[attr-defined]
    del measured.mark  # type: ignore[attr-defined]
    assert not hasattr(measured, "mark")
    again = functools.wraps(measured)(lambda: None)
    assert again.__name__ == "measured" and again.__wrapped__ is measured
    before = LATENCY.total_count
    assert (measured(1), measured(1, 1), measured(1, b=1, c=1), measured(*[1, 1], **{"c": 1})) == (6, 5, 3, 3)
    assert measured.__call__(1) == 6
    assert LATENCY.total_count == before + 5
    # The messages are those of the function, and such calls count as well.
    for args, kwargs in (((), {}), ((1, 2, 3), {}), ((1,), {"d": 1})):
        said = []
        for call in (measured, add):
            with pytest.raises(TypeError) as caught:
                call(*args, **kwargs)
            said.append(str(caught.value))
        assert said[0] == said[1]
    assert LATENCY.total_count == before + 8


def test_timed_functions_travel_by_their_names() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(measured, protocol)) is measured
    assert pickle._loads(pickle._dumps(measured)) is measured  # type: ignore[attr-defined]
    assert copy.copy(measured) is copy.deepcopy(measured) is measured
    assert pickle.loads(pickle.dumps(functools.partial(measured, 1)))() == 6
    reference = weakref.ref(measured)
    assert reference() is measured


def untyped(value: Any) -> Any:
    """For mypy, which takes ``__new__`` at its word."""
    return value


def test_timed_methods() -> None:
    histogram = Histogram()
    made: list[type] = []

    class Thing(abc.ABC):
        @timed(histogram)
        def __new__(cls) -> Any:
            return super().__new__(cls)

        @timed(histogram)
        def __init_subclass__(cls) -> None:
            made.append(cls)

        @timed(histogram)
        def __class_getitem__(cls, item: Any) -> Any:
            return item

        @timed(histogram)
        def method(self, *args: Any, **kwargs: Any) -> Any:
            return self, args, kwargs

        @classmethod
        @timed(histogram)
        def of_class(cls) -> Any:
            return cls

        @staticmethod
        @timed(histogram)
        def static() -> int:
            return 5

        @property
        @timed(histogram)
        def value(self) -> int:
            return 7

        @timed(histogram)
        def __len__(self) -> int:
            return 9

        partial = functools.partialmethod(timed(histogram)(lambda self, x: (self, x)), 3)

    cls: Any = untyped(Thing)
    thing = cls()
    assert thing.method(1, x=2) == cls.method(thing, 1, x=2) == (thing, (1,), {"x": 2})
    bound = thing.method
    assert isinstance(bound, types.MethodType) and bound.__self__ == thing and bound(1) == (thing, (1,), {})
    assert bound == thing.method and bound.__name__ == "method"
    assert thing.of_class() is cls.of_class() is cls
    assert thing.static() == cls.static() == 5
    assert (thing.value, len(thing), cls[4]) == (7, 9, 4)
    assert thing.partial() == (thing, 3)
    assert histogram.total_count == 1 + 2 + 1 + 4 + 3 + 1

    class Derived(Thing):
        @timed(histogram)
        def method(self, *args: Any, **kwargs: Any) -> Any:
            return super().method(*args, **kwargs)

        @abc.abstractmethod
        @timed(histogram)
        def missing(self) -> None: ...

    assert made == [Derived] and Derived.missing.__isabstractmethod__  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="abstract"):
        Derived()  # type: ignore[abstract]
    Derived.__abstractmethods__ = frozenset()
    derived = untyped(Derived)()
    before = histogram.total_count
    assert derived.method(1)[1] == (1,)
    assert histogram.total_count == before + 2


def test_timed_functions_go_on_after_closing() -> None:
    """What was made from a histogram stays usable; calls within calls, too."""
    histogram = Histogram()
    snapshot = histogram.snapshot()

    @timed(histogram)
    def down(n: int) -> int:
        if n == 3:
            histogram.close()
        return down(n - 1) + 1 if n else 0

    assert down(5) == 5
    assert snapshot.update().total_count == 6


def test_a_timed_function_may_drop_itself() -> None:
    histogram = Histogram()
    holder: dict[str, Any] = {}

    def leave() -> str:
        holder.clear()
        gc.collect()
        return "left"

    holder["call"] = timed(histogram)(leave)
    reference = weakref.ref(holder["call"])
    assert holder["call"]() == "left"
    assert histogram.total_count == 1 and reference() is None


def test_timed_functions_in_cycles_are_collected() -> None:
    def cycle() -> Any:
        def recurse(n: int) -> Any:
            return recurse(n - 1) + 1 if n else 0

        recurse = timed(Histogram(0.1, max=100))(recurse)
        assert recurse(5) == 5
        return weakref.ref(recurse)

    reference = cycle()
    gc.collect()
    assert reference() is None


def test_deep_recursion_is_a_recursion_error() -> None:
    @timed(Histogram())
    def forever() -> None:
        forever()

    with pytest.raises(RecursionError):
        forever()
