"""Whether two histograms differ, by how much, and how well that is known. See ``docs/is-it-faster.md``."""

from __future__ import annotations

import ctypes
import enum
import math
from ctypes import byref
from typing import Any, NamedTuple, Optional, Sequence, Union

from . import _structs as structs
from ._calls import fetch, read_text
from ._fields import Field, flag, integer, number, pair
from ._handle import ask, locked
from ._library import held, released
from .histogram import Histogram, snapshot_of
from .snapshot import Snapshot
from .summary import SideBySide

__all__ = [
    "BlockComparison",
    "Comparison",
    "QuantileInterval",
    "Verdict",
    "compare",
    "compare_blocks",
    "quantile_interval",
]


class Verdict(enum.Enum):
    """The verdict on a difference, for values of which less is better, such as times."""

    #: Neither faster nor slower, as far as can be measured. This is not the same as equal: see ``smallest_detectable``.
    NO_EVIDENCE = "no evidence"
    #: B's values are smaller, by more than the margin.
    FASTER = "faster"
    #: B's values are larger, by more than the margin.
    SLOWER = "slower"

    def __str__(self) -> str:
        return self.value


_VERDICTS = {code: Verdict(name) for name, code in structs.codes("VERDICT", map(str, Verdict)).items()}

#: The text instead of "no evidence" if a difference is below the resolution.
BELOW_RESOLUTION = "below the resolution"
#: The text if others disturbed too much of a benchmark.
NOISY = "unproven: noisy"

_COMPARED = "histograms and snapshots are compared"


class QuantileInterval(NamedTuple):
    """A quantile, and the interval that contains the true one."""

    #: The requested quantile, between 0 and 1.
    quantile: float
    #: The requested confidence.
    confidence: float
    #: The actual confidence of the interval.
    coverage: float
    #: Observations in range.
    total_count: int
    #: The number of the observation at the quantile, from 1.
    target_count: int
    #: The midpoint of its bucket.
    value: int
    #: The smallest value of the bucket at the lower end; ``None`` if there are too few observations.
    lower: Optional[int]
    #: The largest value of the bucket at the upper end; ``None`` if there are too few observations.
    upper: Optional[int]
    #: The number of the observation at the lower end; ``None`` if there are too few.
    lower_count: Optional[int]
    #: The number of the observation at the upper end; ``None`` if there are too few.
    upper_count: Optional[int]
    #: The width of the widest of the three buckets.
    bucket_width: int


def _interval_from(raw: structs.QuantileInterval) -> QuantileInterval:
    found = QuantileInterval(*(getattr(raw, name) for name in QuantileInterval._fields))
    return found._replace(
        lower=raw.lower if raw.lower_count else None,
        upper=raw.upper if raw.upper_count else None,
        lower_count=raw.lower_count or None,
        upper_count=raw.upper_count or None,
    )


class _Judged:
    """Shared members of both kinds of comparison."""

    __slots__ = ()

    _raw: Any

    difference = number("B's value minus A's.")
    interval = pair(
        "difference_lower", "difference_upper", "The interval of the difference; infinite if there are too few observations."
    )
    margin = number("The interval must lie beyond this for a verdict.")
    smallest_detectable = number(
        "The true difference that would have been found with the requested power; infinite if there are too few observations."
    )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the difference."""
        return _VERDICTS[self._raw.verdict]

    is_margin_resolution = flag(
        structs.COMPARISON_MARGIN_IS_RESOLUTION, "The margin is the resolution of the measurement, not your threshold."
    )
    is_below_resolution = flag(
        structs.COMPARISON_BELOW_RESOLUTION,
        "The whole interval lies inside such a margin. The difference is below the resolution: neither equal nor different.",
    )
    is_noisy = flag(
        structs.COMPARISON_NOISY, "Other programs disturbed too much of the measurement. Nothing is proven, and the verdict is no evidence."
    )

    @property
    def verdict_text(self) -> str:
        """The verdict in words, also if the difference is below the resolution, or the measurement was too noisy."""
        if self.is_noisy:
            return NOISY
        return BELOW_RESOLUTION if self.is_below_resolution else str(self.verdict)

    is_within_margin = flag(
        structs.COMPARISON_WITHIN_MARGIN, "The whole interval lies inside the margin. No difference that matters to you exists."
    )
    has_too_few = flag(structs.COMPARISON_TOO_FEW, "There are too few observations for an end of an interval.")


class Comparison(_Judged, SideBySide):
    """How B differs from A. ``str()`` is the table of changes, with intervals and the verdict below it.

    The difference is B's quantile minus A's, between midpoints of buckets.
    """

    __slots__ = ("_raw",)

    def __init__(self, raw: structs.Comparison, *side_by_side: Any) -> None:
        """Not for callers: see :func:`compare`."""
        super().__init__(*side_by_side)
        self._raw = raw

    a = Field(lambda one, _: _interval_from(one._raw.a), "A's quantile and its interval.")
    b = Field(lambda one, _: _interval_from(one._raw.b), "B's quantile and its interval.")

    bucket_width = number("The width of the widest bucket involved. The true difference may lie this much beyond either end.")
    mann_whitney_u = number("Mann and Whitney's U: the number of pairs in which B's value is larger. Ties count half.")
    mann_whitney_z = number("The distance of U from its expectation, in standard deviations.")
    mann_whitney_p = number("The two-sided probability of such a U if there were no difference.")
    common_language = number("The probability that a value of B is larger than one of A. Ties count half.")
    cliffs_delta = number("The probability that a value of B is larger than one of A, minus the probability that it is smaller.")
    ks_distance = number("Kolmogorov and Smirnov's distance, at the ends of buckets.")
    ks_p = number("An upper bound of the probability of such a distance if there were no difference.")
    cohens_d = number("The difference of the means over the pooled standard deviation; NaN if that is zero.")
    is_partial = flag(structs.COMPARISON_OUT_OF_RANGE, "Some observations were out of range or lost. No number includes them.")
    layouts_differ = flag(structs.COMPARISON_LAYOUTS_DIFFER, "The precisions differ. Ranks are compared by the buckets of the coarser histogram.")

    def _format(self, form: int, title: Optional[str]) -> str:
        compared, arguments = byref(self._raw), self._arguments(title)
        return read_text(lambda *buffer: held.comparison_format(compared, *arguments, form, *buffer), "comparison")

    def __repr__(self) -> str:
        lower, upper = self.interval
        return f"<picollo.Comparison P{self._raw.a.quantile * 100:g} {self.difference:+g} [{lower:+g}, {upper:+g}] {self.verdict_text}>"


class BlockComparison(_Judged):
    """The difference between A and B from a series of pairs of blocks: the median of the differences within pairs."""

    __slots__ = ("_raw",)

    def __init__(self, raw: structs.BlockComparison) -> None:
        """Not for callers: see :func:`compare_blocks`."""
        self._raw = raw

    block_count = integer("Pairs of blocks.")
    coverage = number("The actual confidence of the interval.")
    median_a = number("The median of A's blocks.")
    median_b = number("The median of B's blocks.")
    lag1 = number("The correlation of each difference with the next.")
    inflation = number("The variance of their mean, divided by that of as many independent differences.")
    resolution = number("The resolution: smaller differences cannot be distinguished from none.")
    is_autocorrelated = flag(
        structs.COMPARISON_AUTOCORRELATED, "The differences depend on the ones before them. The interval is wider because of that."
    )

    def __str__(self) -> str:
        # Relative to a value near zero, a difference means nothing; then it is reported in absolute terms.
        base = 0.0 if self.median_a < self.resolution != 0 else abs(self.median_a)

        def share(value: float, sign: str = "+") -> str:
            if not math.isfinite(value):
                return "n/a"
            return f"{value / base:{sign}.1%}" if base else f"{value:{sign},.6g}"

        lower, upper = self.interval
        margin = f"{self.margin:,.6g} (resolution)" if self.is_margin_resolution else share(self.margin, "")
        warning = ", measurements depend on those before them" if self.is_autocorrelated else ""
        return (
            f"{self.verdict_text}: {share(self.difference)} [{share(lower)}, {share(upper)}] by {self.block_count} pairs of "
            f"blocks, margin {margin}{warning}"
        )

    def __repr__(self) -> str:
        return f"<picollo.BlockComparison {self}>"


def options_from(
    quantile: float,
    confidence: float,
    relative_threshold: float,
    absolute_threshold: float,
    power: float,
    resolution: float = 0.0,
) -> structs.CompareOptions:
    """The options for the library, where zero selects the default."""
    for name, value in (("quantile", quantile), ("confidence", confidence), ("power", power)):
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1, not {value!r}")
    if math.isnan(relative_threshold) or math.isnan(absolute_threshold) or math.isnan(resolution):
        raise ValueError("a threshold must be a number")
    share = relative_threshold if relative_threshold > 0 else -1
    size = ctypes.sizeof(structs.CompareOptions)
    return structs.CompareOptions(size, 0, quantile, confidence, share, absolute_threshold, power, resolution)


def quantile_interval(
    snapshot: Union[Histogram, Snapshot], quantile: float = 0.5, confidence: float = 0.95
) -> QuantileInterval:
    """A quantile, and the interval that contains the true one: order statistics, exact for any distribution.

    :param quantile: between 0 and 1, exclusive.
    :raises EmptyError: if nothing was recorded.
    """
    options_from(quantile, confidence, 0, 0, 0.5)
    snapshot = snapshot_of(snapshot, _COMPARED)
    function = snapshot._functions.snapshot_quantile_interval
    return _interval_from(ask(snapshot, function, structs.QuantileInterval, "quantile interval", quantile, confidence))


def compare(
    a: Union[Histogram, Snapshot],
    b: Union[Histogram, Snapshot],
    *,
    quantile: float = 0.5,
    confidence: float = 0.95,
    relative_threshold: float = 0.01,
    absolute_threshold: float = 0.0,
    power: float = 0.8,
    resolution: float = 0.0,
    title: str = "",
    name: Optional[str] = None,
    other_name: Optional[str] = None,
) -> Comparison:
    """Compares A, the older, with B, the newer: ``print(picollo.compare(before, after))``.

    :param quantile: which quantile to compare, between 0 and 1.
    :param confidence: of the intervals.
    :param relative_threshold: differences up to this share of A's quantile do not matter; 0 for no such threshold.
    :param absolute_threshold: nor do differences up to this, in units of the values.
    :param power: how often a difference of :attr:`Comparison.smallest_detectable` would be detected.
    :param resolution: differences up to this, or to a bucket, cannot be distinguished, in units of the values.
    :param name: heading of A's column (default: its name, then ``Before``).
    :param other_name: heading of B's (default: its name, then ``After``).
    :raises EmptyError: if one of them has no observations.
    """
    options = options_from(quantile, confidence, relative_threshold, absolute_threshold, power, resolution)
    a, b = snapshot_of(a, _COMPARED), snapshot_of(b, _COMPARED)
    with locked(a, b):
        raw = fetch(structs.Comparison, "comparison", released.compare, a._handle(), b._handle(), byref(options))
        summaries = a.summary(), b.summary()
    names = a.name if name is None else name, b.name if other_name is None else other_name
    return Comparison(raw, *summaries, title, *names)


def compare_blocks(
    a: Sequence[float],
    b: Sequence[float],
    *,
    confidence: float = 0.95,
    relative_threshold: float = 0.01,
    absolute_threshold: float = 0.0,
    power: float = 0.8,
    resolution: float = 0.0,
) -> BlockComparison:
    """Compares two series of blocks, ``a[i]`` measured next to ``b[i]``, by the differences within pairs.

    Slow changes, such as those of the clock frequency, affect both. The median of the differences is compared, with the
    interval that its order statistics give. The result also reports whether the differences depend on each other.

    :param resolution: differences up to this cannot be distinguished, in units of the values.
    :raises ValueError: for series of different lengths, and values that are not finite.
    :raises EmptyError: for no blocks.
    """
    options = options_from(0.5, confidence, relative_threshold, absolute_threshold, power, resolution)
    listed = [[float(value) for value in side] for side in (a, b)]
    length = len(listed[0])
    if length != len(listed[1]):
        raise ValueError(f"the series must have the same length, not {length} and {len(listed[1])}")
    if not all(math.isfinite(value) for side in listed for value in side):
        raise ValueError("blocks must be finite")
    arrays = [(ctypes.c_double * length)(*side) for side in listed]
    given = *arrays, length, byref(options)
    return BlockComparison(fetch(structs.BlockComparison, "comparison of blocks", released.compare_blocks, *given))


class RunComparison(_Judged):
    """The verdict of earlier runs on a new one: see :func:`compare_runs`. ``str()`` is a sentence."""

    __slots__ = ("_raw",)

    def __init__(self, raw: structs.RunComparison) -> None:
        """Not for callers: see :func:`compare_runs`."""
        self._raw = raw

    run_count = integer("Earlier runs.")
    confidence = number("One less the rate of alarms on unchanged code, where runs are distributed normally.")
    alarm_bound = number("The rate of alarms at most, whatever runs are distributed like: 2 / (run_count + 1).")
    mean = number("Of the earlier runs.")
    deviation = number("The standard deviation of the earlier runs.")
    spread = pair("lowest", "highest", "The smallest and the largest of the earlier runs.")
    value = number("The new run.")
    is_autocorrelated = flag(structs.COMPARISON_AUTOCORRELATED, "Runs depend on those before them: the interval is wider for it.")

    def __str__(self) -> str:
        runs = f"{self.run_count} earlier run{'s' * (self.run_count != 1)}"
        if self.has_too_few:
            return f"{runs} of {FEWEST_RUNS}: too few for a verdict"
        base = abs(self.mean) or math.inf
        lower, upper = self.interval
        lowest, highest = self.spread
        warning = "; runs depend on those before them" if self.is_autocorrelated else ""
        return (
            f"{self.verdict_text}: {self.difference / base:+.1%} [{lower / base:+.1%}, {upper / base:+.1%}] against {runs}, which did "
            f"not alternate with this one and spread over {(highest - lowest) / base:.1%}; a change of "
            f"{self.smallest_detectable / base:.1%} would most likely be found{warning}"
        )

    def __repr__(self) -> str:
        return f"<picollo.RunComparison {self}>"


#: Fewer earlier runs give no verdict.
FEWEST_RUNS = 5


def compare_runs(
    earlier: Sequence[float],
    value: float,
    *,
    confidence: float = 0.99,
    relative_threshold: float = 0.01,
    absolute_threshold: float = 0.0,
    power: float = 0.8,
    resolution: float = 0.0,
) -> RunComparison:
    """Compares a run with earlier ones of the same thing, oldest first. Each run is one value, such as its median.

    Runs on different days differ even if the code does not, and only other runs show by how much. The interval is that
    of one more value from the same distribution (Student's), and never ends within the range of the earlier runs.

    :param confidence: 1 minus the rate of alarms on unchanged code.
    :raises ValueError: for values that are not finite.
    :raises EmptyError: for no earlier runs.
    """
    options = options_from(0.5, confidence, relative_threshold, absolute_threshold, power, resolution)
    values = [float(one) for one in earlier]
    if not all(math.isfinite(one) for one in (*values, value)):
        raise ValueError("runs must be finite")
    given = (ctypes.c_double * len(values))(*values), len(values), value, byref(options)
    return RunComparison(fetch(structs.RunComparison, "comparison of runs", held.compare_runs, *given))
