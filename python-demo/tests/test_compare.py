"""Comparisons, and their statistics against SciPy's on the same data, value for value."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from conftest import REPOSITORY, run_python
from hypothesis import given, settings
from hypothesis import strategies as st

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
    """Latencies: skewed, heavily tied, far apart, in two heaps."""
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
    checked = 0
    for _ in range(2000):
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
        distance = numpy.abs(below[0] - below[1]).max()
        assert compared.ks_distance == pytest.approx(distance, abs=1e-14)
        limit = special.kolmogorov(compared.ks_distance * math.sqrt(pairs / (len(x) + len(y))))
        assert compared.ks_p == pytest.approx(limit, rel=1e-9, abs=1e-300)

        tail = (1 - confidence) / 2
        for side, interval in ((x, compared.a), (y, compared.b)):
            lower = int(stats.binom.ppf(tail, len(side), quantile))
            upper = int(stats.binom.isf(tail, len(side), quantile)) + 1
            assert interval.lower_count == (lower or None)
            assert interval.upper_count == (upper if upper <= len(side) else None)
            held = stats.binom.cdf(upper - 1, len(side), quantile) - stats.binom.cdf(lower - 1, len(side), quantile)
            assert interval.coverage == pytest.approx(held, abs=1e-12)
            side = numpy.sort(side)
            if interval.lower is not None:
                assert interval.lower <= side[lower - 1]
            if interval.upper is not None:
                assert side[upper - 1] <= interval.upper
            assert side[interval.target_count - 1] == interval.value

        pooled = math.sqrt((len(x) * x.var() + len(y) * y.var()) / (len(x) + len(y)))
        if pooled > 0:
            assert compared.cohens_d == pytest.approx((y.mean() - x.mean()) / pooled, rel=1e-9, abs=1e-12)
        else:
            assert math.isnan(compared.cohens_d)
        checked += 1
    assert checked == 2000


def test_kolmogorov_smirnov_is_conservative() -> None:
    """Never below the exact p of what was recorded, nor of the values themselves, but for the limit's last digits."""
    random = numpy.random.default_rng(2)
    for _ in range(300):
        lengths = random.integers(10, 100, 2)
        a, b = (1000 + random.exponential(500, length) for length in lengths)
        compared = picollo.compare(recorded(a.astype("u8"), 0.05), recorded(b.astype("u8"), 0.05))
        exact = stats.ks_2samp(a.astype("u8"), b.astype("u8"), method="exact")
        assert compared.ks_distance <= exact.statistic + 1e-12
        assert compared.ks_p >= exact.pvalue * 0.97, (lengths, exact)


@settings(max_examples=1000)
@given(
    st.one_of(st.integers(1, 10**4), st.integers(10**4, 10**12)),
    st.floats(0.0001, 0.9999),
    st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999, 0.999999]),
)
def test_intervals_are_binomial(total: int, quantile: float, confidence: float) -> None:
    histogram = Histogram(0.1, min=1, max=100)
    histogram.record_n(5, total)
    interval = picollo.quantile_interval(histogram, quantile, confidence)
    tail = (1 - confidence) / 2
    lower, upper = stats.binom.ppf(tail, total, quantile), stats.binom.isf(tail, total, quantile) + 1
    # Where SciPy's own distribution says that it took the neighbour of the right one, the right one it is.
    assert abs((interval.lower_count or 0) - lower) <= 1
    if (interval.lower_count or 0) != lower:
        found = interval.lower_count or 0
        reached = stats.binom.cdf(found, total, quantile)
        missed = stats.binom.cdf(found - 1, total, quantile)
        assert reached >= tail * (1 - 1e-9) and missed <= tail * (1 + 1e-9)
    if interval.upper_count is None:
        assert upper == total + 1
    elif interval.upper_count != upper:
        reached = stats.binom.sf(interval.upper_count - 1, total, quantile)
        missed = stats.binom.sf(interval.upper_count - 2, total, quantile)
        assert reached <= tail * (1 + 1e-9) and missed >= tail * (1 - 1e-9)


def test_ties_of_a_million_million() -> None:
    """Against rational arithmetic: SciPy would need the observations one by one."""
    from fractions import Fraction

    counts = [(123_456_789_012, 234_567_890_123), (345_678_901_234, 34_567_890_123), (456_789_012, 10**12)]
    a, b = Histogram(0.1), Histogram(0.1)
    for value, (count_a, count_b) in enumerate(counts, 3):
        a.record_n(value, count_a)
        b.record_n(value, count_b)
    compared = picollo.compare(a, b)
    n_a, n_b = (sum(side) for side in zip(*counts))
    u = Fraction(0)
    for i, (_, count_b) in enumerate(counts):
        u += count_b * (sum(other for other, _ in counts[:i]) + Fraction(counts[i][0], 2))
    assert compared.mann_whitney_u == float(u)
    assert compared.cliffs_delta == float(2 * u / (n_a * n_b) - 1)
    n = n_a + n_b
    ties = sum((x + y) ** 3 - (x + y) for x, y in counts)
    variance = Fraction(n_a * n_b, 12) * (n + 1 - Fraction(ties, n * (n - 1)))
    z = (u - Fraction(n_a * n_b, 2) - Fraction(1, 2)) / 1
    assert compared.mann_whitney_z == pytest.approx(float(z) / math.sqrt(variance), rel=1e-12)
    assert compared.mann_whitney_p == 0


def test_result_and_texts() -> None:
    random = numpy.random.default_rng(3)
    a = recorded((1000 + random.exponential(500, 5000)).astype("u8"), name="old|er")
    b = recorded((1100 + random.exponential(500, 5000)).astype("u8"), name="<new>")
    compared = picollo.compare(a.snapshot(), b, title="Latency")
    assert compared.verdict is Verdict.SLOWER and str(compared.verdict) == "slower"
    assert compared.interval[0] < compared.difference < compared.interval[1]
    assert compared.interval[0] > compared.margin > compared.bucket_width
    assert compared.smallest_detectable > compared.margin
    assert not (compared.is_within_margin or compared.has_too_few or compared.is_partial)
    assert not (compared.is_approximate or compared.layouts_differ)
    assert str(compared).startswith("Latency\n<new> is ") and " slower than old|er (95 %: +" in str(compared)
    text = compared.markdown()
    assert text.startswith("##### Latency\n") and "| Verdict " in text and "old\\|er" in text
    assert compared._repr_markdown_() == text
    html = compared._repr_html_()
    assert "&lt;new&gt;" in html and "old|er" in html and html.count("<table") == 2
    assert "Verdict=slower" in compared.line() and repr(compared).endswith(" slower>")
    told = json.loads(compared.json())
    assert told["comparison"]["mann_whitney_p"] == compared.mann_whitney_p
    assert told["diff"]["a"]["name"] == "old|er"
    header, row = compared.csv().splitlines()
    assert len(header.split(",")) == len(row.split(","))
    assert picollo.compare(b, a).verdict is Verdict.FASTER
    same = picollo.compare(a, a, relative_threshold=0.05)
    assert same.verdict is Verdict.NO_EVIDENCE and same.is_within_margin
    assert "the same, as far as it matters" in same._repr_html_()
    assert picollo.compare(a, b, relative_threshold=0.5).verdict is Verdict.NO_EVIDENCE
    assert picollo.compare(a, b, absolute_threshold=1e6).margin == 1e6
    assert picollo.compare(a, b, relative_threshold=0).margin == compared.bucket_width
    assert picollo.compare(a, recorded([5, 6, 7], 0.1)).layouts_differ


def test_refusals() -> None:
    some, none = recorded([1, 2, 3]), Histogram()
    for a, b in ((some, none), (none, some)):
        with pytest.raises(picollo.EmptyError):
            picollo.compare(a, b)
    with pytest.raises(TypeError):
        picollo.compare(some, some.summary())  # type: ignore[arg-type]
    for wrong in (0, 1, -1, math.nan, 2):
        for name in ("quantile", "confidence", "power"):
            with pytest.raises(ValueError, match=name):
                picollo.compare(some, some, **{name: wrong})  # type: ignore[arg-type]
        with pytest.raises(ValueError):
            picollo.quantile_interval(some, wrong)
    with pytest.raises(ValueError):
        picollo.compare(some, some, absolute_threshold=math.nan)
    few = picollo.compare(some, some)
    assert few.has_too_few and few.a.lower is None and few.interval == (-math.inf, math.inf)


def test_blocks() -> None:
    random = numpy.random.default_rng(4)
    drift = numpy.linspace(100, 200, 80)
    a, b = drift + random.normal(0, 1, 80), drift + 7 + random.normal(0, 1, 80)
    compared = picollo.compare_blocks(a, b)
    differences = numpy.sort(b - a)
    assert compared.difference == pytest.approx(numpy.median(differences))
    assert compared.median_a == pytest.approx(numpy.median(a))
    assert compared.median_b == pytest.approx(numpy.median(b))
    lower, upper = int(stats.binom.ppf(0.025, 80, 0.5)), int(stats.binom.isf(0.025, 80, 0.5)) + 1
    assert compared.interval == (differences[lower - 1], differences[upper - 1])
    assert compared.verdict is Verdict.SLOWER and "slower: +" in str(compared)
    centred = (b - a) - (b - a).mean()
    assert compared.lag1 == pytest.approx((centred[1:] * centred[:-1]).sum() / (centred**2).sum())
    assert picollo.compare_blocks(b, a).verdict is Verdict.FASTER
    # Differences that drift themselves: as many ranks as there are independent ones, so that the interval is wider.
    grows = picollo.compare_blocks(a, drift * 1.05 + random.normal(0, 1, 80))
    assert grows.is_autocorrelated and grows.verdict is Verdict.SLOWER
    within = numpy.sort(drift * 0.05)
    assert grows.interval[0] < within[lower - 1] and grows.interval[1] > within[upper - 1]
    walk = numpy.cumsum(random.normal(0, 1, 200))
    assert picollo.compare_blocks(numpy.zeros(200), walk).is_autocorrelated
    assert picollo.compare_blocks(a[:3], b[:3]).has_too_few
    with pytest.raises(ValueError):
        picollo.compare_blocks(a, b[:-1])
    with pytest.raises(ValueError):
        picollo.compare_blocks([1.0], [math.inf])
    with pytest.raises(picollo.EmptyError):
        picollo.compare_blocks([], [])


def test_below_the_resolution_and_below_zero() -> None:
    a, b = [103.0 + at % 7 for at in range(40)], [63.0 + at % 5 for at in range(40)]
    told = picollo.compare_blocks(a, b, resolution=500)
    assert told.verdict is Verdict.NO_EVIDENCE and told.is_below_resolution and told.is_margin_resolution
    assert told.resolution == told.margin == 500
    assert str(told).startswith("below what this measurement can tell: -") and "%" not in str(told)
    assert "margin 500 (resolution)" in repr(told)
    plain = picollo.compare_blocks(a, b)
    assert plain.verdict is Verdict.FASTER and not plain.is_margin_resolution and plain.resolution == 0
    # In proportion to nothing there is no percentage, and nothing is cut off either.
    nothing = picollo.compare_blocks([0.0] * 40, [1.9] * 40)
    assert "/a" not in str(nothing).replace("n/a", "") and "slower: +1.9 [+1.9, +1.9]" in str(nothing)
    # More than -100 is more.
    negative = picollo.compare_blocks([-100.0 - at % 3 for at in range(40)], [-95.0 - at % 2 for at in range(40)])
    assert negative.verdict is Verdict.SLOWER and "slower: +5" in str(negative) and "margin 1.0%" in str(negative)
    with pytest.raises(ValueError):
        picollo.compare_blocks(a, b, resolution=math.nan)


def test_the_page_tells_what_is() -> None:
    """The examples of docs/comparing.md run, one after the other, and print what the page shows."""
    text = (REPOSITORY / "docs" / "comparing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = [code for language, code in blocks if language == "python"]
    assert len(examples) == 3
    # A processor that changes its speed while it measures makes blocks depend on each other, and the verdict "no evidence".
    for _ in range(4):
        result = run_python("\n".join(examples))
        if result.returncode == 0:
            break
    assert (result.returncode, result.stderr) == (0, "")
    shown = [block for language, block in blocks if language == ""]
    for output in shown[:3]:
        assert output in result.stdout
    for name in re.findall(r"`picollo\.(\w{2,})", text):
        assert hasattr(picollo, name), name
    header = (REPOSITORY / "include" / "picollo.h").read_text(encoding="utf-8")
    for name in re.findall(r"`(picollo_\w+)`", text):
        assert name in header or name == "picollo_native", name
