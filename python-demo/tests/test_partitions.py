"""The demo of partitions: its counts are exact, its percentiles as promised, its memory bounded, on both engines."""

from __future__ import annotations

import array
import functools
import importlib
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import oracle
import pytest
from conftest import PACKAGE_ROOT
from test_demos import run

import picollo

# Demos are programs; types of this one are checked where it lies.
partitions: Any = importlib.import_module("demos.partitions")


def sorted_values(directory: Path) -> "list[int]":
    """Everything, in one process: what the demo does without."""
    values = array.array("Q")
    for path in sorted(directory.iterdir()):
        values.frombytes(path.read_bytes())
    return sorted(values)


def check(text: str, directory: Path) -> None:
    values = sorted_values(directory)
    rows = re.findall(r"^\| +([\d.]+) \| +([\d,]+) \| +([\d,]+) \| +([\d.]+)% \|$", text, re.MULTILINE)
    assert [float(row[0]) for row in rows] == list(partitions.RANKS)
    for rank, value, exact, _ in rows:
        truth = values[oracle.target(float(rank), len(values)) - 1]
        assert int(exact.replace(",", "")) == truth
        assert abs(int(value.replace(",", "")) - truth) <= 0.001 * truth
    assert f"Counted: {len(values):,} of {len(values):,}." in text
    assert re.search(rf"^\| Precision: .*\| Total: +\| +{len(values):,} \|$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("partitions")
    for number in range(7):
        # Of different lengths, and one that has nothing.
        partitions.generate(directory / f"part-{number:04}.u64", number * 10_000, number)
    return directory


def test_partitions(data: Path) -> None:
    text = run("partitions", "--partitions", "7", "--workers", "2", "--data", str(data))
    assert text.startswith("7 partitions, 210,000 values, 2 MB.\n")
    assert "concurrent.futures, 2 workers: " in text
    check(text, data)


def test_partitions_with_dask(data: Path) -> None:
    if find_spec("dask") is None:
        pytest.skip("dask is not installed")
    text = run("partitions", "--partitions", "7", "--workers", "2", "--data", str(data), "--dask")
    assert "Dask, 2 workers: " in text
    check(text, data)


def test_without_dask(data: Path, tmp_path: Path) -> None:
    (tmp_path / "dask.py").write_text("raise ImportError('not here')")
    result = subprocess.run(
        [sys.executable, "-c", "import runpy; runpy.run_module('demos.partitions', run_name='__main__')", "--dask"],
        cwd=PACKAGE_ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PICOLLO_LIBRARY": picollo.library_path},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1 and "--dask needs Dask: not here. Install it with: pip install dask" in result.stderr


def test_the_order_makes_no_difference(data: Path) -> None:
    counted = [partitions.count(path) for path in sorted(data.iterdir())]
    in_order = functools.reduce(partitions.combine, counted)
    reverse = functools.reduce(partitions.combine, counted[::-1])
    tree = partitions.combine(
        functools.reduce(partitions.combine, counted[1::2]), functools.reduce(partitions.combine, counted[::2])
    )
    for other in (reverse, tree):
        assert other.snapshot.buckets() == in_order.snapshot.buckets()
        assert other.memory == in_order.memory


def test_memory_is_bounded(tmp_path: Path) -> None:
    """A hundred times the data take no more memory."""
    memory = []
    for values in (10_000, 1_000_000):
        directory = tmp_path / str(values)
        text = run(
            "partitions", "--partitions", "8", "--values", str(values), "--workers", "2", "--data", str(directory)
        )  # fmt: skip
        found = re.search(r"The largest worker had ([\d,]+) MB;", text)
        assert found
        memory.append(int(found[1].replace(",", "")))
        check(text, directory)
    # 64 MB of data.
    assert memory[1] < memory[0] + 10


def test_wrong_usage() -> None:
    for arguments in (["--partitions", "0"], ["--workers", "-1"], ["--values", "x"]):
        result = subprocess.run(
            [sys.executable, "-m", "demos.partitions", *arguments], cwd=PACKAGE_ROOT, capture_output=True, text=True
        )
        assert result.returncode == 2 and "error: " in result.stderr
