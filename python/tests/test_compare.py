"""Comparisons, with their statistics checked against SciPy's on the same data, value for value."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import Any

import pytest
from conftest import assert_refused

import picollo
from picollo import Histogram, Verdict

numpy = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")
special = pytest.importorskip("scipy.special")


def recorded(values: Any, relative_error: float = 0.001, name: str = "") -> Histogram:
    histogram = Histogram(relative_error, name=name)
    histogram.record_many(values)
    return histogram


def as_recorded(histogram: Histogram) -> Any:
    """The values that a histogram reports for its observations, in order."""
    buckets = histogram.snapshot().bucket_array()
    return numpy.repeat(buckets["lower"] + buckets["step"] // 2, buckets["count"].astype("i8")).astype("f8")


def draw(random: Any, kind: int, length: int) -> Any:
    """Latencies: skewed, heavily tied, far apart, bimodal."""
    values = [
        lambda: 1000 + random.exponential(500, length),
        lambda: random.integers(5, 9, length),
        lambda: random.lognormal(8, 2, length),
        lambda: numpy.where(random.random(length) < 0.2, 9000, 1000) + random.normal(0, 50, length),
        lambda: numpy.full(length, 77),
    ][kind]()
    return numpy.maximum(values, 1).astype("u8")


def test_as_scipy() -> None:
    random = numpy.random.default_rng(1)
    for _ in range(300):
        error = random.choice([0.001, 0.02, 0.1])
        kinds = random.integers(0, 5, 2) if random.random() < 0.3 else [random.integers(0, 5)] * 2
        lengths = random.integers(10, 300, 2)
        a, b = (recorded(draw(random, kind, length), error) for kind, length in zip(kinds, lengths))
        quantile, confidence = random.uniform(0.02, 0.98), random.choice([0.8, 0.9, 0.95, 0.99, 0.999])
        compared = picollo.compare(a, b, quantile=quantile, confidence=confidence)
        x, y = as_recorded(a), as_recorded(b)

        if len(numpy.union1d(x, y)) > 1:
            expected = stats.mannwhitneyu(y, x, alternative="two-sided", method="asymptotic")
            assert compared.mann_whitney_u == pytest.approx(expected.statistic, rel=1e-14)
            assert compared.mann_whitney_p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)
        else:
            assert compared.mann_whitney_p == 1
        pairs = len(x) * len(y)
        assert compared.common_language == pytest.approx(compared.mann_whitney_u / pairs, rel=1e-14)
        assert compared.cliffs_delta == pytest.approx(2 * compared.mann_whitney_u / pairs - 1, abs=1e-14)

        grid = numpy.union1d(x, y)
        below = [numpy.searchsorted(numpy.sort(side), grid, side="right") / len(side) for side in (x, y)]
        assert compared.ks_distance == pytest.approx(numpy.abs(below[0] - below[1]).max(), abs=1e-14)
        limit = special.kolmogorov(compared.ks_distance * math.sqrt(pairs / (len(x) + len(y))))
        assert compared.ks_p == pytest.approx(limit, rel=1e-9, abs=1e-300)

        tail = (1 - confidence) / 2
        for side, interval in ((numpy.sort(x), compared.a), (numpy.sort(y), compared.b)):
            count = len(side)
            lower, upper = int(stats.binom.ppf(tail, count, quantile)), int(stats.binom.isf(tail, count, quantile)) + 1
            assert interval.lower_count == (lower or None)
            assert interval.upper_count == (upper if upper <= count else None)
            held = stats.binom.cdf(upper - 1, count, quantile) - stats.binom.cdf(lower - 1, count, quantile)
            assert interval.coverage == pytest.approx(held, abs=1e-12)
            assert interval.lower is None or interval.lower <= side[lower - 1]
            assert interval.upper is None or side[upper - 1] <= interval.upper
            assert side[interval.target_count - 1] == interval.value

        pooled = math.sqrt((len(x) * x.var() + len(y) * y.var()) / (len(x) + len(y)))
        expected_d = (y.mean() - x.mean()) / pooled if pooled > 0 else math.nan
        assert compared.cohens_d == pytest.approx(expected_d, rel=1e-9, abs=1e-12, nan_ok=True)


def test_result_and_texts() -> None:
    random = numpy.random.default_rng(3)
    a = recorded((1000 + random.exponential(500, 5000)).astype("u8"), name="old|er")
    b = recorded((1100 + random.exponential(500, 5000)).astype("u8"), name="<new>")
    compared = picollo.compare(a.snapshot(), b, title="Latency")
    assert compared.verdict is Verdict.SLOWER and str(compared.verdict) == "slower"
    assert compared.interval[0] < compared.difference < compared.interval[1]
    assert compared.interval[0] > compared.margin > compared.bucket_width
    assert compared.smallest_detectable > compared.margin
    assert not (compared.is_within_margin or compared.has_too_few or compared.is_partial or compared.layouts_differ)
    assert str(compared).startswith("Latency\n<new> is ") and " slower than old|er (95 %: +" in str(compared)
    text = compared.markdown()
    assert text.startswith("##### Latency\n") and "| Verdict " in text and "old\\|er" in text
    assert compared._repr_markdown_() == text
    assert "Verdict=slower" in compared.line() and repr(compared).endswith(" slower>")
    told = json.loads(compared.json())
    assert told["comparison"]["mann_whitney_p"] == compared.mann_whitney_p and told["diff"]["a"]["name"] == "old|er"
    assert picollo.compare(b, a).verdict is Verdict.FASTER
    same = picollo.compare(a, a, relative_threshold=0.05)
    assert same.verdict is Verdict.NO_EVIDENCE and same.is_within_margin
    assert "the same, as far as it matters" in same.markdown()
    assert picollo.compare(a, b, absolute_threshold=1e6).margin == 1e6
    assert picollo.compare(a, b, relative_threshold=0).margin == compared.bucket_width
    assert picollo.compare(a, recorded([5, 6, 7], 0.1)).layouts_differ


def test_refusals() -> None:
    some, none = recorded([1, 2, 3]), Histogram()
    wrongs = [(name, wrong) for wrong in (0, 1, -1, math.nan, 2) for name in ("quantile", "confidence", "power")]
    assert_refused(
        *((partial(picollo.compare, *two), picollo.EmptyError, "") for two in ((some, none), (none, some))),
        (lambda: picollo.compare(some, some.summary()), TypeError, ""),  # type: ignore[arg-type]
        *((partial(picollo.compare, some, some, **{name: wrong}), ValueError, name) for name, wrong in wrongs),  # type: ignore[arg-type]
        *((partial(picollo.quantile_interval, some, wrong), ValueError, "") for _, wrong in wrongs),
        (lambda: picollo.compare(some, some, absolute_threshold=math.nan), ValueError, ""),
    )
    few = picollo.compare(some, some)
    assert few.has_too_few and few.a.lower is None and few.interval == (-math.inf, math.inf)


def test_blocks() -> None:
    a, b = [103.0 + at % 7 for at in range(40)], [63.0 + at % 5 for at in range(40)]
    plain = picollo.compare_blocks(a, b)
    assert plain.verdict is Verdict.FASTER and not plain.is_margin_resolution and plain.resolution == 0
    assert (plain.median_a, plain.median_b, plain.block_count) == (numpy.median(a), numpy.median(b), 40)
    assert plain.interval[0] <= plain.difference == numpy.median(numpy.subtract(b, a)) <= plain.interval[1]
    assert plain.coverage >= 0.95 and plain.inflation >= 1 and abs(plain.lag1) < 1
    told = picollo.compare_blocks(a, b, resolution=500)
    assert told.verdict is Verdict.NO_EVIDENCE and told.is_below_resolution and told.is_margin_resolution
    assert told.resolution == told.margin == 500
    assert str(told).startswith("below the resolution: -") and "%" not in str(told)
    assert "margin 500 (resolution)" in repr(told)
    # Relative to zero there is no percentage, and nothing is cut off.
    nothing = picollo.compare_blocks([0.0] * 40, [1.9] * 40)
    assert "/a" not in str(nothing).replace("n/a", "") and "slower: +1.9 [+1.9, +1.9]" in str(nothing)
    # An increase from -100 is an increase.
    negative = picollo.compare_blocks([-100.0 - at % 3 for at in range(40)], [-95.0 - at % 2 for at in range(40)])
    assert negative.verdict is Verdict.SLOWER and "slower: +5" in str(negative) and "margin 1.0%" in str(negative)
    walk = numpy.cumsum(numpy.random.default_rng(4).normal(0, 1, 200))
    assert picollo.compare_blocks(numpy.zeros(200), walk).is_autocorrelated
    assert picollo.compare_blocks(a[:3], b[:3]).has_too_few
    assert_refused(
        (lambda: picollo.compare_blocks(a, b[:-1]), ValueError, "same length"),
        (lambda: picollo.compare_blocks([1.0], [math.inf]), ValueError, "finite"),
        (lambda: picollo.compare_blocks(a, b, resolution=math.nan), ValueError, "threshold"),
        (lambda: picollo.compare_blocks([], []), picollo.EmptyError, ""),
    )
