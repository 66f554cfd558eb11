"""Saved runs of benchmarks, and new ones against them."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import assert_refused
from hypothesis import given, settings
from hypothesis import strategies as st

import picollo
from picollo import Baseline, SavedRun, Verdict
from picollo.baseline import environment

HERE = {"cpu": "one", "cpus": "2", "kernel": "6.1"}


def histogram(*values: int) -> picollo.Histogram:
    made = picollo.Histogram()
    made.record_many(values)
    return made


def test_runs_come_back_in_order(tmp_path: Path) -> None:
    baseline = Baseline("main", tmp_path / "deep" / "er")
    assert baseline.runs() == []
    paths = [baseline.save({"sort": histogram(10_000 + at)}, HERE) for at in range(12)]
    runs = baseline.runs()
    assert [run.path for run in runs] == paths and all(path.parent == baseline.directory for path in paths)
    for at, run in enumerate(runs):
        assert run.environment == {"unit": "ps", **HERE}
        assert abs(run.medians["sort"].value - (10_000 + at)) <= 16
    assert {path.suffix for path in baseline.directory.iterdir()} == {".hlog"}
    assert repr(baseline) == f"<picollo.Baseline 'main' in {str(tmp_path / 'deep' / 'er')!r}>"


@settings(max_examples=60)
@given(st.sets(st.text(min_size=1, max_size=30), min_size=1, max_size=4), st.text(max_size=200))
def test_any_name_and_any_text_come_back(tmp_path_factory: pytest.TempPathFactory, names: set[str], text: str) -> None:
    baseline = Baseline("any", tmp_path_factory.mktemp("names"))
    baseline.save({name: histogram(77) for name in names}, {text: text})
    assert baseline.runs()[0].medians.keys() == names


def test_the_verdict_is_that_of_the_medians(tmp_path: Path) -> None:
    baseline = Baseline("main", tmp_path)
    for value in (99_000, 99_500, 100_000, 100_500, 101_000):
        baseline.save({"sort": histogram(value - 1, value, value + 10_000)}, HERE)
    for value, verdict in ((104_000, Verdict.NO_EVIDENCE), (106_000, Verdict.SLOWER), (94_000, Verdict.FASTER)):
        found = baseline.judge("sort", histogram(value), environment=HERE)
        assert found.comparison is not None and found.comparison.verdict is verdict and found.comparison.run_count == 5
        assert len(found.notes) == (verdict is not Verdict.NO_EVIDENCE)
    few = baseline.judge("sort", histogram(1), earlier=baseline.runs()[:4], environment=HERE).comparison
    assert few is not None and few.has_too_few and str(few) == "4 earlier runs of 5: too few for a verdict"
    with pytest.raises(picollo.EmptyError):
        baseline.judge("sort", histogram())


def test_other_machines_are_left_out_and_changes_are_noted(tmp_path: Path) -> None:
    medians = {"sort": picollo.Median(1e5, 64)}
    earlier = [SavedRun(tmp_path, HERE, medians)] * 5 + [SavedRun(tmp_path, {**HERE, "cpu": "another"}, medians)]
    now = {**HERE, "kernel": "6.2", "governor": "powersave"}
    found = Baseline("main").judge("sort", histogram(100_000), earlier=earlier, environment=now)
    assert found.comparison is not None and found.comparison.run_count == 5
    assert found.notes == [
        "1 earlier run was left out, because the machine had another processor",
        "kernel was 6.1 in 5 of 5 earlier runs and is 6.2",
        "governor was unknown in 5 of 5 earlier runs and is powersave",
    ]
    found = Baseline("main").judge("sort", histogram(100_000), earlier=earlier, environment={"cpu": "one", "cpus": "4"})
    assert found == (None, ["6 earlier runs were left out, because the machine had another processor"])
    here = environment()
    assert here["cpus"] and here["kernel"] and "Py" in here["compiler"]


def test_runs_that_cannot_be_saved_or_read_are_errors(tmp_path: Path) -> None:
    baseline, names = Baseline("main", tmp_path), ("", ".", "..", ".hidden", "a/b", "a\0b", "a\nb", "x" * 201)
    runs: list[dict[str, picollo.Histogram]] = [{}, {"": histogram(1)}, {"one": histogram()}]
    assert_refused(
        *((partial(Baseline, name), ValueError, "the name of a baseline") for name in names),
        *((partial(baseline.save, run), ValueError, "a run to save has") for run in runs),
    )
    assert not baseline.directory.exists()
    path = baseline.save({"one": histogram(1)})
    path.with_suffix(".begun").write_text("half")
    assert len(baseline.runs()) == 1
    path.with_name("9.hlog").write_text("1,2,3,HISTFAAAA\n")
    with pytest.raises(picollo.LogError, match=r"9\.hlog"):
        baseline.runs()


def test_runs_are_compared() -> None:
    compared = picollo.compare_runs([98, 99, 100, 101, 102], 110)
    assert compared.verdict is Verdict.SLOWER and compared.mean == 100 and compared.spread == (98, 102) and compared.value == 110
    assert compared.deviation == pytest.approx(2.5**0.5) and not compared.is_autocorrelated
    assert compared.alarm_bound == pytest.approx(1 / 3) and compared.confidence == 0.99
    assert 13 < compared.interval[1] < 20 and repr(compared).startswith("<picollo.RunComparison slower: +10.0%")
    with pytest.raises(picollo.EmptyError):
        picollo.compare_runs([], 1)
    for earlier, value in (([float("nan")], 1.0), ([1.0], float("inf"))):
        with pytest.raises(ValueError, match="finite"):
            picollo.compare_runs(earlier, value)


def shared_cases() -> Any:
    """The files on which the command's reader is tested as well: ``crates/bench/src/baseline/tests.rs``."""
    path = Path(__file__).parents[2] / "crates" / "bench" / "tests" / "baselines" / "cases.py"
    spec = importlib.util.spec_from_file_location("picollo_baseline_cases", path)
    assert spec is not None and spec.loader is not None
    if not path.is_file():
        pytest.skip("its files are elsewhere")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_shared_files_are_judged_as_everywhere() -> None:
    """Runs that the command saved, and runs that Python saved, with notes."""
    cases = shared_cases()
    lines = (cases.ROOT / "cases.txt").read_text(encoding="utf-8").splitlines()
    asked = [line.split("\t") for line in lines if not line.startswith("#")]
    assert len(asked) > 25
    for baseline, benchmark, picos, changes, expected in asked:
        assert cases.answer(baseline, benchmark, picos, changes) == expected
