"""Which of two pieces of code is faster, judged by interleaved blocks. See ``docs/is-it-faster.md``."""

from __future__ import annotations

import gc
import json
import math
from contextlib import contextmanager
from ctypes import byref, c_uint32, c_uint64, c_void_p
from itertools import repeat
from types import FunctionType, MethodType
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence, Union

from . import _structs as structs
from ._calls import c_text, create, fetch, read_text
from ._fields import flag, integer, pair
from ._handle import Handle
from ._library import held, own, released
from .compare import NOISY, BlockComparison, Verdict
from .errors import check, check_detail
from .event import Event
from .histogram import Histogram


class _Step(NamedTuple):
    which: int
    repetitions: int


class Step(_Step):
    """A sample to take: the code to run, and how often (:attr:`repetitions`).

    :attr:`which` is one of :attr:`A`, :attr:`B` and :attr:`EMPTY`.
    """

    __slots__ = ()

    #: Run A.
    A = structs.BENCHMARK_A
    #: Run B.
    B = structs.BENCHMARK_B
    #: Run as many calls of an empty function.
    EMPTY = structs.BENCHMARK_EMPTY


#: The title of tables without units.
_TITLE = "Picoseconds a call"


class BenchmarkCounter(NamedTuple):
    """The count of an event in one call."""

    name: str
    #: For A; ``None`` if it could not be counted.
    a: Optional[float]
    #: For B; ``None`` if it could not be counted.
    b: Optional[float]


class BenchmarkNoise(NamedTuple):
    """Other activity on the machine during a benchmark; unknown values are ``None``."""

    #: Blocks that were measured.
    blocks: int
    #: How many of these were disturbed from outside.
    disturbed: int
    #: How many of these the verdict leaves out: none if you keep them, or if more than half were disturbed.
    left_out: int
    #: Seconds that were observed.
    seconds: Optional[float]
    #: Seconds that the host took from the CPUs that the program may run on.
    steal: Optional[float]
    #: Seconds of CPU time that other programs took on these.
    others: Optional[float]
    #: Seconds in which something, this program or another, waited for a CPU.
    pressure: Optional[float]
    #: The lowest and the highest observed frequency of one CPU, in hertz.
    frequency: Optional[tuple[float, float]]
    #: CPUs that the program may run on.
    cpus: Optional[int]

    @classmethod
    def _from_raw(cls, raw: structs.BenchmarkDisturbance) -> BenchmarkNoise:
        def finite(value: float) -> Optional[float]:
            return None if math.isnan(value) else value

        low, high = finite(raw.frequency_low), finite(raw.frequency_high)
        frequency = None if low is None or high is None else (low, high)
        counts = raw.block_count, raw.disturbed_count, raw.left_out_count
        seconds, steal = finite(raw.seconds), finite(raw.steal_seconds)
        others, pressure = finite(raw.others_seconds), finite(raw.pressure_seconds)
        return cls(*counts, seconds, steal, others, pressure, frequency, raw.cpu_count or None)


class BenchmarkResult:
    """The result of a benchmark. ``str()`` shows the changes, the verdict by blocks, and the counters, as Markdown."""

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
        #: Picoseconds per call of A, one observation for each sample.
        self.a = a
        #: Picoseconds per call of B, one observation for each sample.
        self.b = b
        #: The difference in picoseconds per call, and the verdict.
        self.blocks = BlockComparison(raw.blocks)
        self.counters = counters
        #: Other activity on the machine, and the number of blocks left out because of it.
        self.noise = noise

    @property
    def verdict(self) -> Verdict:
        """Whether B is faster, slower, or neither."""
        return self.blocks.verdict

    @property
    def is_noisy(self) -> bool:
        """Others disturbed so much that nothing is proven, and the verdict is no evidence. A larger budget may help."""
        return self.blocks.is_noisy

    overhead = pair(
        "overhead_a", "overhead_b", "Picoseconds of an empty sample, with as many calls as a sample of A and of B."
    )
    overhead_error = pair("overhead_error_a", "overhead_error_b", "Half the width of the interval of :attr:`overhead`, at 95 %.")
    empty_count = integer("The number of empty samples.")
    is_budget_spent = flag(
        structs.BENCHMARK_BUDGET_SPENT, "The budget was spent before ``min_blocks`` blocks were measured."
    )

    @property
    def is_nothing(self) -> tuple[bool, bool]:
        """Whether a call of A, and of B, takes less than the resolution."""
        return tuple(bool(self._raw.flags & flag) for flag in (structs.BENCHMARK_NOTHING_A, structs.BENCHMARK_NOTHING_B))  # type: ignore[return-value]

    is_simulated = flag(
        structs.BENCHMARK_SIMULATED, "Valgrind executed it, so its times mean nothing, and there is no verdict. See ``docs/counters.md``."
    )

    @property
    def repetitions(self) -> tuple[int, int]:
        """Calls in each sample of A and of B."""
        return int(self._raw.repetitions_a), int(self._raw.repetitions_b)

    @property
    def seconds(self) -> float:
        """The duration of the benchmark."""
        return float(self._raw.elapsed) / 1e12

    def markdown(self) -> str:
        """Markdown tables."""
        return self._texts[structs.TEXT_MARKDOWN]

    def text(self) -> str:
        """For people: the answer in a sentence, and the figures behind it."""
        return self._texts[structs.TEXT_HUMAN]

    def as_dict(self) -> dict[str, Any]:
        """Everything except the samples, for ``json``: times in picoseconds per call, missing values as ``None``."""

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
    """A benchmark for your own loops, which says what to run; :func:`benchmark` is simpler::

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
    :param events: events to count in addition to the time. One thread must then make all calls.
    :param warm_up: seconds for both together (default: a tenth of the budget).
    :param sample: target seconds of a sample.
    :param repetitions: calls in a sample (default: as many as ``sample`` takes).
    :param overhead: measure empty samples and subtract their time.
    :param relative_threshold: differences up to this share of A do not matter; 0 for no such threshold.
    :param keep_disturbed: also count blocks that other programs or the host disturbed: if other programs belong to the
        measurement, such as a server that you query.
    :param resolution: differences up to this many seconds per call cannot be distinguished (default: half a nanosecond,
        or a hundredth of an empty call if that is more); 0 for none.
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
        if resolution is not None and not 0 <= resolution <= 1e6:
            raise ValueError(f"resolution must be 0 seconds or more, not {resolution!r}")
        options = structs.options(
            structs.BenchmarkOptions,
            flags=structs.flags("BENCHMARK", NO_OVERHEAD=not overhead, KEEP_DISTURBED=keep_disturbed),
            min_blocks=min_blocks,
            max_blocks=max_blocks,
            repetitions=repetitions or 0,
            budget_seconds=budget,
            # 0 would select the default; this is the shortest time, practically none.
            warm_up_seconds=0 if warm_up is None else max(warm_up, 1e-12),
            sample_seconds=sample,
            precision=0 if precision is None else precision if precision > 0 else -1,
            confidence=confidence,
            relative_threshold=relative_threshold if relative_threshold > 0 else -1,
            resolution_seconds=0 if resolution is None else resolution or -1,
        )
        parsed = [event if isinstance(event, Event) else Event(event) for event in events]
        self._names = [event.name for event in parsed]
        raw_events = (structs.Event * len(parsed))(*(event._raw for event in parsed))
        self._error, self._events = structs.Error(), tuple(str(event) for event in parsed)
        pointer = create(released.benchmark_create, byref(options), raw_events, len(parsed), events=self._events)
        self._pointer = own(pointer, held.benchmark_free)
        self._which, self._repetitions = c_uint32(), c_uint64()

    def next(self) -> Optional[Step]:
        """Returns what to run now; ``None`` at the end. The sample begins when this returns."""
        status = held.benchmark_next(self._handle(), byref(self._which), byref(self._repetitions), byref(self._error))
        if status == structs.END:
            return None
        check_detail(status, self._error, self._events)
        return Step(self._which.value, self._repetitions.value)

    def done(self) -> None:
        """Ends the sample."""
        check_detail(held.benchmark_done(self._handle(), byref(self._error)), self._error, self._events)

    def done_after(self, seconds: float) -> None:
        """Ends a sample that was measured by other means and took this many seconds."""
        status = held.benchmark_done_after(self._handle(), round(seconds * 1e12), byref(self._error))
        check_detail(status, self._error, self._events)

    def result(self, title: str = _TITLE, name: str = "A", other_name: str = "B") -> BenchmarkResult:
        """The result so far.

        :raises EmptyError: before the first block is done.
        """
        handle = self._handle()
        raw, noise = structs.BenchmarkOutcome(), structs.BenchmarkDisturbance()
        check(held.benchmark_result(handle, byref(raw), byref(noise)), "benchmark")
        counters = []
        for index, event in enumerate(self._names):
            counter = fetch(structs.BenchmarkCounts, "counter", held.benchmark_counter, handle, index)
            known = counter.status == 0
            counters.append(BenchmarkCounter(event, counter.a if known else None, counter.b if known else None))
        names = c_text(name, "name"), c_text(other_name, "other_name")

        def text(form: int) -> str:
            # In text for people every number has its unit.
            is_needed = form == structs.TEXT_MARKDOWN or title != _TITLE
            heading = c_text(title if is_needed else "", "title")
            return read_text(lambda *buffer: held.benchmark_format(handle, heading, *names, form, *buffer), "benchmark")

        texts = {form: text(form) for form in (structs.TEXT_MARKDOWN, structs.TEXT_HUMAN)}
        a, b = self._histogram(Step.A, name), self._histogram(Step.B, other_name)
        return BenchmarkResult(raw, a, b, tuple(counters), BenchmarkNoise._from_raw(noise), texts)

    def _histogram(self, which: int, name: str) -> Histogram:
        return Histogram._adopt(fetch(c_void_p, "histogram", held.benchmark_histogram_ref, self._handle(), which), name)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Disables the garbage collector, which would otherwise run at any time and distort a sample."""
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
    """Runs A and B alternately until the difference is known well enough, or the budget is spent::

        print(picollo.benchmark(lambda: sorted(values), lambda: values.copy().sort(), budget=1))

    The time of a loop of calls to an empty function is subtracted, so that times are those of the code in A and B.

    :param name: of A (default: its ``__name__``).
    :param other_name: of B (default: its ``__name__``).
    :param collect_garbage: leave the garbage collector on.
    :param clone: measure each block with fresh copies of A and of B, if they are Python functions. Two equal functions
        may differ by 3 % all their life because of their code's place in memory. With copies, that is noise, and
        treated as such.
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


#: After this many calls the interpreter has specialized a function.
_SPECIALISED = 32


def _copy(function: Callable[[], object]) -> Callable[[], object]:
    """A copy of a Python function with its own code; another callable unchanged."""
    if type(function) is MethodType:
        return MethodType(_copy(function.__func__), function.__self__)
    if type(function) is not FunctionType:
        return function
    code = function.__code__.replace()
    copy = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


class _Runner:
    """Runs the steps of a benchmark."""

    def __init__(self, bench: Benchmark, a: Callable[[], object], b: Callable[[], object], clone: bool) -> None:
        self._bench, self._run, self._clone = bench, [a, b, _nothing], clone

    def __call__(self) -> None:
        bench, run, done, samples = self._bench, self._run, self._bench.done, 0
        originals, repetitions = tuple(run[:2]), 0
        while True:
            if self._clone and samples % 4 == 0:
                # Between blocks, before the clock is read. A slow function is not called more often than in a sample.
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
