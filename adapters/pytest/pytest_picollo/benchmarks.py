"""Measurements of the fixture, and their report at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import pytest
from picollo import Against, Baseline, BenchmarkResult, SavedRun, Snapshot, Verdict, benchmark
from picollo.baseline import environment


#: With fewer samples than this, a median of zero comes from the machine: it was away for longer than all calls took.
_FEW = 20


class Measured(NamedTuple):
    """A benchmark of this run."""

    name: str
    snapshot: Snapshot
    against: Optional[Against]
    #: Too slow for this baseline: it failed, and is not saved.
    is_slower: bool
    #: Slower at the first look, so there was a second one.
    is_second_look: bool


class Benchmarks:
    """The benchmarks of a run of pytest."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        directory = Path(option("picollo_baselines") or config.rootpath / ".picollo")

        def baseline(name: Optional[str]) -> Optional[Baseline]:
            try:
                return None if name is None else Baseline(name, directory)
            except ValueError as error:
                raise pytest.UsageError(str(error)) from None

        self.saves, self.judges = baseline(option("picollo_save")), baseline(option("picollo_against"))
        self.budget: float = option("picollo_budget")
        self.threshold: float = option("picollo_threshold")
        self.confidence: float = 1 - option("picollo_alarms")
        # Processes that run tests at the same time would measure each other.
        self.is_parallel = hasattr(config, "workerinput")
        self.is_off: bool = option("picollo_off") or self.is_parallel
        self.measured: dict[str, Measured] = {}
        self._earlier: Optional[list[SavedRun]] = None
        self._environment = environment()
        self._saved = ""

    def judge(self, name: str, snapshot: Snapshot) -> Optional[Against]:
        """The verdict of earlier runs; ``None`` if it was not requested."""
        if self.judges is None or _is_lost(snapshot):
            return None
        if self._earlier is None:
            self._earlier = self.judges.runs()
        return self.judges.judge(
            name,
            snapshot,
            earlier=self._earlier,
            environment=self._environment,
            confidence=self.confidence,
            relative_threshold=self.threshold,
            # Placement in memory may change this much, as for two functions.
            resolution=5e-10,
        )

    def save(self) -> None:
        """Adds the run to its baseline, except slower benchmarks: they would begin a slower history, which nobody would
        notice any more."""
        histograms = {name: one.snapshot for name, one in self.measured.items() if not one.is_slower and not _is_lost(one.snapshot)}
        if self.saves is not None and histograms:
            path = self.saves.save(histograms, self._environment)
            count = len(self.saves.runs())
            self._saved = f"saved as {os.path.relpath(path)}; {self.saves.name} has {count} run{'s' * (count != 1)}"

    def report(self, reporter: pytest.TerminalReporter) -> None:
        """Writes the results."""
        if self.is_off and not self.is_parallel:
            reporter.write_line("picollo: benchmarks were called once, nothing was measured (--picollo-off)")
        if not self.measured:
            return
        reporter.section("benchmarks")
        width = max(len(name) for name in self.measured)
        notes: dict[str, None] = {}
        for name, one in self.measured.items():
            text = f"{name:{width}}  {_time(one.snapshot.percentile(50).value):>10}"
            if _is_lost(one.snapshot):
                text += "  not measured, as the machine is too busy: neither judged nor saved"
            elif one.against is not None:
                found = one.against.comparison
                earlier = "no earlier run of this machine has it" if found is None else f"{_time(found.mean):>10} before  {found}"
                text += f"  {earlier}"
                notes.update(dict.fromkeys(one.against.notes))
            if one.is_second_look and not one.is_slower:
                text += " (slower at a first look, not at a second one)"
            reporter.write_line(text, red=one.is_slower)
        for line in filter(None, (*notes, self._saved)):
            reporter.write_line(line)
        if self.saves is not None and any(one.is_slower for one in self.measured.values()):
            reporter.write_line("what is slower was not saved: --picollo-save without --picollo-against does that")


class Picollo:
    """The fixture ``picollo``."""

    def __init__(self, benchmarks: Benchmarks, node: pytest.Item) -> None:
        self._benchmarks, self._node = benchmarks, node

    def __call__(
        self,
        function: Callable[[], object],
        reference: Optional[Callable[[], object]] = None,
        *,
        name: Optional[str] = None,
        budget: Optional[float] = None,
        clone: bool = True,
        **options: Any,
    ) -> Optional[BenchmarkResult]:
        """Measures a function in interleaved blocks, and judges it by earlier runs if ``--picollo-against`` names
        them::

            def test_sort(picollo):
                picollo(lambda: sorted(values))

        A slower benchmark is measured again, and fails if it is slower again. The second look uses the same earlier
        runs, because the version that they measured cannot run here. With a reference, such as the previous version,
        the two run alternately. If that or the earlier runs find it slower, they run alternately again, and that
        decides; the test may check the result::

            def test_sort(picollo):
                result = picollo(new, old)
                assert result is None or result.verdict is not result.verdict.SLOWER

        :param name: distinguishes several benchmarks in a test.
        :param budget: in seconds (default: ``--picollo-budget``).
        :param clone: measure each block with fresh copies of Python functions: see :func:`picollo.benchmark`.
        :param options: for :func:`picollo.benchmark`; the default precision is 0.002.
        :returns: A is the reference, or the function itself, B the function; ``None`` if nothing is measured.
        """
        benchmarks = self._benchmarks
        full = self._node.nodeid if name is None else f"{self._node.nodeid} {name}"
        if full in benchmarks.measured:
            pytest.fail(f"{full}: a test with two benchmarks needs a name for each: picollo(function, name=...)", pytrace=False)
        if benchmarks.is_off:
            function()
            return None
        # This run will judge others, so its times must be known, whatever the alternate runs find.
        settings = {"budget": benchmarks.budget if budget is None else budget, "precision": 0.002, "clone": clone, **options}
        result, snapshot = _measure(function, reference, settings)
        against = benchmarks.judge(full, snapshot)
        in_turns = result.verdict is Verdict.SLOWER if reference is not None else False
        is_second_look = against is not None and (in_turns or _is_slower(against))
        if is_second_look:
            # Measures again before a failure: disturbances do not last. Only with a reference are both versions
            # measured.
            result, snapshot = _measure(function, reference, settings)
            against = benchmarks.judge(full, snapshot)
        decides = _is_slower(against) if reference is None else result.verdict is Verdict.SLOWER
        is_slower = is_second_look and decides
        benchmarks.measured[full] = Measured(full, snapshot, against, is_slower, is_second_look)
        if is_slower:
            assert against is not None
            why = str(against.comparison if reference is None else result.blocks)
            pytest.fail("\n".join([f"twice {why}", *against.notes]), pytrace=False)
        return result


def _measure(
    function: Callable[[], object], reference: Optional[Callable[[], object]], settings: dict[str, Any]
) -> tuple[BenchmarkResult, Snapshot]:
    """Without a reference the function is both sides, and all samples are of it. A lost measurement is tried three
    times."""
    for _ in range(3):
        result = benchmark(function if reference is None else reference, function, **settings)
        snapshot = result.b.snapshot()
        if reference is None:
            snapshot.merge(result.a.snapshot())
        if not _is_lost(snapshot):
            break
    return result, snapshot


def _is_lost(snapshot: Snapshot) -> bool:
    """Whether it shows nothing: few samples, and empty calls, on a machine that is away, took longer than its calls."""
    return not snapshot.total_count or (snapshot.total_count < _FEW and not snapshot.percentile(50).value)


def _is_slower(against: Optional[Against]) -> bool:
    return against is not None and against.comparison is not None and against.comparison.verdict is Verdict.SLOWER


def _time(picos: float) -> str:
    for unit, size in (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)):
        if picos >= size:
            return f"{picos / size:,.2f} {unit}"
    return f"{picos:.0f} ps"
