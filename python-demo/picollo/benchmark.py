"""Which of two pieces of code is faster, judged by interleaved blocks. See ``docs/comparing.md``."""

from __future__ import annotations

import ctypes
import gc
import json
import math
from contextlib import contextmanager
from ctypes import byref, c_double, c_uint32, c_uint64, c_void_p
from itertools import repeat
from types import FunctionType, MethodType
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

from . import _structs as structs
from ._fields import flag, integer, pair
from ._handle import Handle
from ._library import held, own, released
from ._text import c_text, read_text
from .compare import NOISY, BlockComparison, Verdict
from .errors import check, check_detail
from .event import Event
from .histogram import Histogram


class _Step(NamedTuple):
    which: int
    repetitions: int


class Step(_Step):
    """A sample to take: what to run, and how often (:attr:`repetitions`).

    :attr:`which` is one of :attr:`A`, :attr:`B` and :attr:`EMPTY`.
    """

    __slots__ = ()

    #: Run A.
    A = structs.BENCHMARK_A
    #: Run B.
    B = structs.BENCHMARK_B
    #: Run as many calls of nothing.
    EMPTY = structs.BENCHMARK_EMPTY


#: Of tables without units.
_TITLE = "Picoseconds a call"


class BenchmarkCounter(NamedTuple):
    """How much of an event a call took."""

    name: str
    #: Of A; ``None`` where it could not be counted.
    a: Optional[float]
    #: Of B; ``None`` where it could not be counted.
    b: Optional[float]


class BenchmarkNoise(NamedTuple):
    """What else the machine did during a benchmark; ``None`` is what is not known."""

    #: Blocks that were measured.
    blocks: int
    #: Of these, what was disturbed from outside.
    disturbed: int
    #: Of these, what was left out of the verdict: none where more than half were disturbed, so that all count, or where they were to be
    #: kept.
    left_out: int
    #: Seconds that were looked at.
    seconds: Optional[float]
    #: Seconds that the host took from the CPUs that the program may run on.
    steal: Optional[float]
    #: Seconds of CPU time that other programs took on these.
    others: Optional[float]
    #: Seconds in which something, this program or another, had to wait for a CPU.
    pressure: Optional[float]
    #: Hertz, the lowest and the highest that was seen, of one CPU.
    frequency: Optional[tuple[float, float]]
    #: CPUs that the program may run on.
    cpus: Optional[int]

    @classmethod
    def _of(cls, raw: structs.BenchmarkDisturbance) -> BenchmarkNoise:
        def known(value: float) -> Optional[float]:
            return None if math.isnan(value) else value

        low, high = known(raw.frequency_low), known(raw.frequency_high)
        return cls(
            raw.block_count,
            raw.disturbed_count,
            raw.left_out_count,
            known(raw.seconds),
            known(raw.steal_seconds),
            known(raw.others_seconds),
            known(raw.pressure_seconds),
            None if low is None or high is None else (low, high),
            raw.cpu_count or None,
        )


class BenchmarkResult:
    """How a benchmark went. ``str()`` is what changed, the verdict by blocks, and the counters, as Markdown."""

    __slots__ = ("_raw", "_texts", "a", "b", "blocks", "counters", "noise")

    def __init__(
        self,
        raw: structs.BenchmarkOutcome,
        a: Histogram,
        b: Histogram,
        counters: tuple[BenchmarkCounter, ...],
        noise: BenchmarkNoise,
        texts: Mapping[int, str],
    ) -> None:
        """Not for callers: see :func:`benchmark`."""
        self._raw = raw
        self._texts = texts
        #: Picoseconds a call of A, an observation for each sample.
        self.a = a
        #: Picoseconds a call of B, an observation for each sample.
        self.b = b
        #: The difference in picoseconds a call, and the verdict.
        self.blocks = BlockComparison(raw.blocks)
        self.counters = counters
        #: What else the machine did, and how many blocks were left out for it.
        self.noise = noise

    @property
    def verdict(self) -> Verdict:
        """Whether B is faster, slower, or neither."""
        return self.blocks.verdict

    @property
    def is_noisy(self) -> bool:
        """Others disturbed so much that nothing is proven, and the verdict is no evidence: a larger budget may tell."""
        return self.blocks.is_noisy

    overhead = pair(
        "overhead_a", "overhead_b", "Picoseconds that samples without anything in them took, with as many calls as A's and B's."
    )
    overhead_error = pair("overhead_error_a", "overhead_error_b", "Half the intervals of :attr:`overhead`, at 95 %.")
    empty_count = integer("Samples without anything in them.")
    is_budget_spent = flag(
        structs.BENCHMARK_BUDGET_SPENT, "The budget was spent before as many blocks were measured as there should be at least."
    )

    @property
    def is_nothing(self) -> tuple[bool, bool]:
        """Whether a call of A, and of B, takes less than can be told."""
        return tuple(bool(self._raw.flags & flag) for flag in (structs.BENCHMARK_NOTHING_A, structs.BENCHMARK_NOTHING_B))  # type: ignore[return-value]

    is_simulated = flag(
        structs.BENCHMARK_SIMULATED, "Valgrind executed it: its times say nothing, and there is no verdict. See ``docs/counters.md``."
    )

    @property
    def repetitions(self) -> tuple[int, int]:
        """Calls in a sample of A and of B."""
        return int(self._raw.repetitions_a), int(self._raw.repetitions_b)

    @property
    def seconds(self) -> float:
        """How long it took."""
        return float(self._raw.elapsed) / 1e12

    def markdown(self) -> str:
        """Markdown tables."""
        return self._texts[structs.TEXT_MARKDOWN]

    def text(self) -> str:
        """For people: the answer in a sentence, and what it is made of."""
        return self._texts[structs.TEXT_HUMAN]

    def as_dict(self) -> dict[str, Any]:
        """All of it but the samples, as what ``json`` takes: times in picoseconds a call; ``None`` for what does not exist."""

        def number(value: float) -> Optional[float]:
            return value if math.isfinite(value) else None

        blocks, calls = self.blocks, self.repetitions
        lower, upper = blocks.interval
        return {
            "verdict": NOISY if self.is_noisy else str(self.verdict),
            "below_resolution": blocks.is_below_resolution,
            "a": blocks.median_a,
            "b": blocks.median_b,
            "difference": blocks.difference,
            "difference_lower": number(lower),
            "difference_upper": number(upper),
            "margin": blocks.margin,
            "margin_by": "resolution" if blocks.is_margin_resolution else "threshold",
            "resolution": blocks.resolution,
            "smallest_detectable": number(blocks.smallest_detectable),
            "lag1": blocks.lag1,
            "inflation": blocks.inflation,
            "autocorrelated": blocks.is_autocorrelated,
            "blocks": blocks.block_count,
            "calls": list(calls),
            "overhead": [total / count for total, count in zip(self.overhead, calls)],
            "overhead_error": [total / count for total, count in zip(self.overhead_error, calls)],
            "empty_samples": self.empty_count,
            "nothing": list(self.is_nothing),
            "budget_spent": self.is_budget_spent,
            "simulated": self.is_simulated,
            "seconds": self.seconds,
            "noisy": self.is_noisy,
            "noise": self.noise._asdict(),
            "counters": {name: {"a": of_a, "b": of_b} for name, of_a, of_b in self.counters},
        }

    def json(self) -> str:
        """:meth:`as_dict` as JSON."""
        return json.dumps(self.as_dict())

    def __str__(self) -> str:
        return self.text()

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        calls = "/".join(f"{count:,}" for count in dict.fromkeys(self.repetitions))
        overhead = ""
        if self.empty_count:
            call, error = (of[0] / self.repetitions[0] for of in (self.overhead, self.overhead_error))
            overhead = f", overhead {call:,.0f} \u00b1 {error:,.0f} ps a call"
        return f"<picollo.BenchmarkResult {self.blocks}; {calls} calls a sample{overhead}>"


class Benchmark(Handle):
    """A benchmark that says what to run, for loops of one's own; :func:`benchmark` is simpler::

        run = {Step.A: a, Step.B: b, Step.EMPTY: lambda: None}
        with Benchmark(budget=1) as bench:
            while (step := bench.next()) is not None:
                for _ in range(step.repetitions):
                    run[step.which]()
                bench.done()
            print(bench.result())

    :param budget: seconds at most.
    :param precision: it ends when half the width of the interval of the difference is at most this share of A, or a tenth of the
        resolution; 0: only with the budget (default: when the answer can no longer change).
    :param events: what to count beside the time. All calls are then to be made by one thread.
    :param warm_up: seconds for both together (default: a tenth of the budget).
    :param sample: seconds that a sample should take.
    :param repetitions: calls in a sample (default: as many as ``sample`` takes).
    :param overhead: measure empty samples, and subtract what they take.
    :param relative_threshold: differences up to this share of A do not matter; 0 for no such threshold.
    :param keep_disturbed: count blocks that other programs or the host disturbed, too: where other programs belong to what is
        measured, as a server that is asked.
    :param resolution: seconds a call that cannot be told apart (default: half a nanosecond, or a hundredth of what a call of nothing
        takes where that is more); 0 for none.
    """

    _KIND = "benchmark"

    def __init__(
        self,
        *,
        budget: float = 5.0,
        precision: Optional[float] = None,
        events: Sequence[Union[str, Event]] = (),
        warm_up: Optional[float] = None,
        sample: float = 2e-4,
        repetitions: Optional[int] = None,
        overhead: bool = True,
        confidence: float = 0.95,
        relative_threshold: float = 0.01,
        resolution: Optional[float] = None,
        min_blocks: int = 20,
        max_blocks: int = 100_000,
        keep_disturbed: bool = False,
    ) -> None:
        self._pointer = None
        for name, value in (("budget", budget), ("sample", sample)):
            if not value > 0:
                raise ValueError(f"{name} must be above 0 seconds, not {value!r}")
        if warm_up is not None and not warm_up >= 0:
            raise ValueError(f"warm_up must be 0 seconds or more, not {warm_up!r}")
        for name, number in (("min_blocks", min_blocks), ("max_blocks", max_blocks), ("repetitions", repetitions or 1)):
            if not 0 < number < 2**32:
                raise ValueError(f"{name} must be above 0, and below 2**32, not {number!r}")
        options = structs.BenchmarkOptions()
        options.struct_size = ctypes.sizeof(options)
        options.flags = 0 if overhead else structs.BENCHMARK_NO_OVERHEAD
        options.flags |= structs.BENCHMARK_KEEP_DISTURBED if keep_disturbed else 0
        options.min_blocks, options.max_blocks = min_blocks, max_blocks
        options.repetitions = repetitions or 0
        options.budget_seconds = budget
        # 0 is the default, and the shortest time none.
        options.warm_up_seconds = 0 if warm_up is None else max(warm_up, 1e-12)
        options.sample_seconds = sample
        options.precision = 0 if precision is None else precision if precision > 0 else -1
        options.confidence = confidence
        options.relative_threshold = relative_threshold if relative_threshold > 0 else -1
        if resolution is not None and not 0 <= resolution <= 1e6:
            raise ValueError(f"resolution must be 0 seconds or more, not {resolution!r}")
        options.resolution_seconds = 0 if resolution is None else resolution or -1
        parsed = [event if isinstance(event, Event) else Event(event) for event in events]
        self._names = [event.name for event in parsed]
        raw_events = (structs.Event * len(parsed))(*(event._raw for event in parsed))
        pointer, self._error = c_void_p(), structs.Error()
        self._events = tuple(str(event) for event in parsed)
        status = released.benchmark_create(
            byref(options), raw_events, len(parsed), byref(pointer), byref(self._error)
        )
        check_detail(status, self._error, self._events)
        self._pointer = own(pointer, held.benchmark_free)
        self._which, self._repetitions = c_uint32(), c_uint64()

    def next(self) -> Optional[Step]:
        """What to run now; ``None`` at the end. The sample begins when this returns."""
        status = held.benchmark_next(self._handle(), byref(self._which), byref(self._repetitions), byref(self._error))
        if status == structs.END:
            return None
        check_detail(status, self._error, self._events)
        return Step(self._which.value, self._repetitions.value)

    def done(self) -> None:
        """Ends the sample."""
        check_detail(held.benchmark_done(self._handle(), byref(self._error)), self._error, self._events)

    def done_after(self, seconds: float) -> None:
        """Ends a sample that was measured by other means: it took so many seconds."""
        status = held.benchmark_done_after(self._handle(), round(seconds * 1e12), byref(self._error))
        check_detail(status, self._error, self._events)

    @property
    def progress(self) -> float:
        """The part of the budget that is spent, 0 to 1."""
        progress = c_double()
        check(held.benchmark_progress(self._handle(), byref(progress)), "benchmark")
        return progress.value

    def result(self, title: str = _TITLE, name: str = "A", other_name: str = "B") -> BenchmarkResult:
        """How it went, so far.

        :raises EmptyError: before the first block is done.
        """
        handle = self._handle()
        raw, noise = structs.BenchmarkOutcome(), structs.BenchmarkDisturbance()
        check(held.benchmark_result(handle, byref(raw), byref(noise)), "benchmark")
        counters = []
        for index, event in enumerate(self._names):
            counter = structs.BenchmarkCounts()
            check(held.benchmark_counter(handle, index, byref(counter)), "counter")
            known = counter.status == 0
            counters.append(BenchmarkCounter(event, counter.a if known else None, counter.b if known else None))
        names = c_text(name, "name"), c_text(other_name, "other_name")

        def text(form: int) -> str:
            # For people every number has its unit.
            is_needed = form == structs.TEXT_MARKDOWN or title != _TITLE
            heading = c_text(title if is_needed else "", "title")
            return read_text(lambda *buffer: held.benchmark_format(handle, heading, *names, form, *buffer), "benchmark")

        texts = {form: text(form) for form in (structs.TEXT_MARKDOWN, structs.TEXT_HUMAN)}
        a, b = self._histogram(Step.A, name), self._histogram(Step.B, other_name)
        return BenchmarkResult(raw, a, b, tuple(counters), BenchmarkNoise._of(noise), texts)

    def _histogram(self, which: int, name: str) -> Histogram:
        pointer = c_void_p()
        check(held.benchmark_histogram_ref(self._handle(), which, byref(pointer)), "histogram")
        return Histogram._adopt(pointer, name)

    def __reduce__(self) -> Any:
        raise TypeError("a benchmark cannot be pickled")


@contextmanager
def _without_collection() -> Iterator[None]:
    """The garbage collector runs when it wants, on whoever's time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _nothing() -> None:
    pass


def benchmark(
    a: Callable[[], object],
    b: Callable[[], object],
    *,
    name: Optional[str] = None,
    other_name: Optional[str] = None,
    title: str = _TITLE,
    collect_garbage: bool = False,
    clone: bool = False,
    **options: Any,
) -> BenchmarkResult:
    """Runs A and B in turns until the difference is known well enough, or the budget is spent::

        print(picollo.benchmark(lambda: sorted(values), lambda: values.copy().sort(), budget=1))

    What a loop of calls to a function that does nothing takes is subtracted, so that times are those of what is in A and B.

    :param name: of A (default: its ``__name__``).
    :param other_name: of B (default: its ``__name__``).
    :param collect_garbage: leave the garbage collector on.
    :param clone: measure each block with fresh copies of A and of B, where they are Python functions. Two functions that are equal
        may differ by 3 % for where in memory their code lies, as long as they live; with copies that is noise, and seen as such.
    :param options: see :class:`Benchmark`.
    """
    names = [
        given if given is not None else _name(function, default)
        for given, function, default in ((name, a, "A"), (other_name, b, "B"))
    ]
    with Benchmark(**options) as bench:
        run = _Runner(bench, a, b, clone)
        if collect_garbage:
            run()
        else:
            with _without_collection():
                run()
        return bench.result(title, *names)


#: Calls after which the interpreter has made its own of a function.
_SPECIALISED = 32


def _copy(function: Callable[[], object]) -> Callable[[], object]:
    """A Python function again, with code of its own; another callable as it is."""
    if type(function) is MethodType:
        return MethodType(_copy(function.__func__), function.__self__)
    if type(function) is not FunctionType:
        return function
    code = function.__code__.replace()
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


class _Runner:
    """Runs what a benchmark asks for."""

    def __init__(self, bench: Benchmark, a: Callable[[], object], b: Callable[[], object], clone: bool) -> None:
        self._bench, self._run, self._clone = bench, [a, b, _nothing], clone

    def __call__(self) -> None:
        bench, run, done, samples = self._bench, self._run, self._bench.done, 0
        originals, repetitions = tuple(run[:2]), 0
        while True:
            if self._clone and samples % 4 == 0:
                # Between blocks, and before the clock is read. Not more often than a sample calls what is slow.
                for side, original in enumerate(originals):
                    copy = run[side] = _copy(original)
                    if copy is not original:
                        for _ in repeat(None, min(_SPECIALISED, repetitions)):
                            copy()
            step = bench.next()
            if step is None:
                return
            call, repetitions = run[step.which], step.repetitions
            samples += step.which != Step.EMPTY
            for _ in repeat(None, repetitions):
                call()
            done()


def _name(function: Callable[[], object], default: str) -> str:
    name = getattr(function, "__name__", "")
    return default if not name or name == "<lambda>" else name
