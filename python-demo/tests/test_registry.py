"""Registries: their text as Prometheus' own parser reads it."""

from __future__ import annotations

import gc
import math
import os
import pickle
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, in_threads
from hypothesis import given
from hypothesis import strategies as st

import picollo
from picollo import DoubleHistogram, Histogram, Registry

parser = pytest.importorskip("prometheus_client.openmetrics.parser")


def families(text: str) -> dict[str, Any]:
    return {family.name: family for family in parser.text_string_to_metric_families(text)}


def samples(family: Any) -> dict[tuple[str, str], float]:
    """By suffix of the name, and bound."""
    return {(s.name[len(family.name) :], s.labels.get("le", "")): s.value for s in family.samples}


def test_nothing() -> None:
    assert Registry().openmetrics() == "# EOF\n"
    assert families(Registry().openmetrics()) == {}


def test_a_service() -> None:
    registry = Registry()
    start = time.time()
    histograms = {}
    for method in ("GET", "PUT"):
        histograms[method] = Histogram(0.01, max=10**10)
        registry.add(
            histograms[method],
            "request_seconds",
            help='Time to "serve"\na \\ request',
            unit="seconds",
            labels={"method": method, "path": '/a "b" \\c\n{d,e=f} é', "empty": ""},
            bounds=[1_000_000, 10_000_000, 2**30 - 1],
            divisor=1e9,
        )
    values = [999_000, 1_500_000, 9_000_000, 2**30 - 1, 2**30, 10**9]
    histograms["GET"].record_many(values)
    family = families(registry.openmetrics())["request_seconds"]
    assert (family.type, family.unit) == ("histogram", "seconds")
    assert family.documentation == 'Time to "serve"\na \\ request'
    assert {s.labels["path"] for s in family.samples} == {'/a "b" \\c\n{d,e=f} é'}
    got = {
        (s.name.rpartition("_")[2], s.labels.get("le")): s.value for s in family.samples if s.labels["method"] == "GET"
    }
    assert got["bucket", "0.001"] == 1 and got["bucket", "0.01"] == 3 and got["bucket", "1.073741823"] == 5
    assert got["bucket", "+Inf"] == got["count", None] == 6
    assert got["sum", None] == pytest.approx(sum(values) / 1e9, rel=0.01)
    assert start - 1 <= got["created", None] <= time.time() + 1
    # It goes on from there.
    histograms["GET"].record(5)
    histograms["PUT"].record(5)
    assert 'request_seconds_count{empty="",method="PUT"' in registry.openmetrics()
    assert registry.openmetrics(update=False) == registry.openmetrics()


@given(
    st.lists(st.integers(0, 2**40), max_size=60),
    st.lists(st.integers(0, 2**41), min_size=1, max_size=9, unique=True),
)
def test_cumulative_counts(values: list[int], bounds: list[int]) -> None:
    bounds.sort()
    histogram, registry = Histogram(0.01, max=2**40), Registry()
    histogram.record_many(values)
    registry.add(histogram, "x", bounds=bounds, created=False)
    family = families(registry.openmetrics())["x"]
    got = [(float(s.labels["le"]), s.value) for s in family.samples if s.name == "x_bucket"]
    assert [bound for bound, _ in got] == [*map(float, bounds), math.inf]
    for (_, count), bound in zip(got, bounds):
        low = sum(value <= bound * 0.99 - 1 for value in values)
        high = sum(value <= bound * 1.01 + 1 for value in values)
        assert low <= count <= high
    assert got[-1][1] == len(values)
    assert not any(s.name == "x_created" for s in family.samples)


@given(st.lists(st.integers(0, 2**40), max_size=60))
def test_default_bounds_are_exact(values: list[int]) -> None:
    histogram, registry = Histogram(0.01), Registry()
    histogram.record_many(values)
    registry.add(histogram, "x")
    for (suffix, bound), count in samples(families(registry.openmetrics())["x"]).items():
        if suffix == "_bucket":
            # Bounds above 2**53 are written as the nearest double, above all these values.
            assert count == sum(value <= float(bound) for value in values), bound


def test_doubles() -> None:
    skew, registry = DoubleHistogram(0.01, exact_sum=True), Registry()
    registry.add(skew, "skew_seconds", unit="seconds", bounds=[-1.0, 0.0, 2.5])
    registry.add(skew, "again_seconds", unit="seconds")
    skew.record_many([-7.5, -1.0, -0.5, 0.0, 2.0, 100.0, math.nan])
    text = registry.openmetrics()
    got = samples(families(text)["skew_seconds"])
    assert [got["_bucket", bound] for bound in ("-1.0", "0.0", "2.5", "+Inf")] == [2, 4, 5, 6]
    assert ("_sum", "") not in got and ("_count", "") not in got, "as the standard has it"
    assert families(text)["skew_seconds_not_finite"].samples[0].value == 1
    skew.collect()
    skew.record_many([0.25, 0.5])
    got = samples(families(registry.openmetrics())["again_seconds"])
    assert (got["_count", ""], got["_sum", ""]) == (2, 0.75)


def test_what_is_lost() -> None:
    empty = Histogram(0.01, storage="sparse").footprint
    histogram, registry = Histogram(0.01, storage="sparse", max_bytes=empty + 10), Registry()
    registry.add(histogram, "x")
    histogram.record_n(5, 3)
    text = registry.openmetrics()
    assert samples(families(text)["x"])["_count", ""] == 0
    assert families(text)["x_lost"].samples[0].value == 3


@pytest.mark.parametrize(
    "options",
    [
        {"name": "x"},
        {"name": "x_sum"},
        {"name": ""},
        {"name": "a b"},
        {"name": "9"},
        {"name": "y", "unit": "seconds"},
        {"name": "y", "labels": {"le": "1"}},
        {"name": "y", "labels": {"__a": "1"}},
        {"name": "y", "labels": {"a b": "1"}},
        {"name": "y", "labels": {"a-b": "1", "a_b": "1"}},
        {"name": "y", "bounds": [2, 1]},
        {"name": "y", "bounds": [1, 1]},
        {"name": "y", "bounds": [2**64 - 2, 2**64 - 1]},
    ],
)
def test_what_is_refused(options: dict[str, Any]) -> None:
    registry = Registry()
    histogram = Histogram(0.01)
    registry.add(histogram, "x")
    with pytest.raises(picollo.InvalidArgumentError, match="metric"):
        registry.add(histogram, **options)
    assert list(families(registry.openmetrics())) == ["x"]


def test_wrong_types() -> None:
    registry, histogram = Registry(), Histogram(0.01)
    for arguments, error in [
        ((5, "x", {}), TypeError),
        ((histogram, 5, {}), TypeError),
        ((histogram, "x\0", {}), ValueError),
        ((histogram, "x", {"labels": {"a": 5}}), TypeError),
        ((histogram, "x", {"bounds": [1.5]}), TypeError),
        ((histogram, "x", {"divisor": 0}), ValueError),
        ((histogram, "x", {"divisor": math.nan}), ValueError),
    ]:
        positional, name, options = arguments
        with pytest.raises(error):
            registry.add(positional, name, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pickle.dumps(registry)


def test_removing_and_closing() -> None:
    registry = Registry()
    number = registry.add(Histogram(0.01), "x", labels={"a": "1"})
    gc.collect()
    other = registry.add(Histogram(0.01), "x", labels={"a": "2"})
    registry.update()
    registry.remove(number)
    assert {s.labels["a"] for s in families(registry.openmetrics())["x"].samples} == {"2"}
    with pytest.raises(picollo.InvalidArgumentError):
        registry.remove(number)
    registry.remove(other)
    assert registry.openmetrics() == "# EOF\n"
    with registry:
        pass
    registry.close()
    assert "closed" in repr(registry)
    for call in (registry.update, registry.openmetrics, lambda: registry.remove(1), lambda: registry.add(Histogram(), "x")):
        with pytest.raises(picollo.ClosedError):
            call()


def test_threads() -> None:
    registry = Registry()
    histogram = Histogram(0.1, max=1000)
    failures = []

    def work(label: str) -> None:
        try:
            for _ in range(100):
                number = registry.add(histogram, "x", labels={"thread": label})
                histogram.record(5)
                families(registry.openmetrics())
                registry.remove(number)
        except BaseException as error:
            failures.append(error)

    in_threads(*(partial(work, str(n)) for n in range(4)))
    assert not failures
    assert registry.openmetrics() == "# EOF\n"


def test_the_text_of_a_program_in_c() -> None:
    program = REPOSITORY / "target" / "c-tests" / "registry.c11"
    if not program.is_file():
        pytest.skip("the C tests are not built: make -C c-tests")
    library = Path(picollo.library_path).resolve().parent
    text = subprocess.run(
        [str(program), "text"], check=True, capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": str(library)}
    ).stdout.decode("utf-8")
    found = families(text)
    assert list(found) == ["request_seconds", "skew", "skew_not_finite", "ratio", "ratio_not_finite"]
    assert found["request_seconds"].documentation == 'How \\ "long"\nreally'
    assert any(s.labels.get("c") == "é" for s in found["request_seconds"].samples)
