"""A directory of logs, by tag and hour: what reading them one after another in one process gives."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import clusters
import data
import oracle
import picollo
import pytest
from settings import FILES

import picollo_engines.dask
import picollo_engines.spark
from picollo_engines import Files, Result, TooManyGroups
from picollo_engines.logs import count_logs, result_of_logs
from picollo_engines.merging import merge

START = 1_700_000_000 // 3600 * 3600


def write(directory: Path, files: int) -> None:
    """A log a host and an hour, with two intervals of each of two tags; some compressed, some of other digits."""
    templates: "dict[tuple[int, int], picollo.Histogram]" = {}
    for number in range(files):
        kind = number % 10, {3: 2, 5: 1}.get(number % 7, 3)
        if kind not in templates:
            templates[kind] = picollo.Histogram(significant_digits=kind[1], max=10**10)
            templates[kind].record_many(data.values(number, 200))
        folder = directory / f"host-{number % 13}"
        folder.mkdir(exist_ok=True, parents=True)
        begin = START + number % 5 * 3600
        with picollo.write_log(folder / f"{number:05}.hlog{'.gz' if number % 4 == 1 else ''}", start=begin) as log:
            for at, tag in ((0, "GET"), (60, "GET"), (3540, "PUT"), (3600, "PUT")):
                log.write(templates[kind], begin + at, begin + at + 60, tag)


def one_process(directory: Path) -> "dict[Any, list[picollo.Snapshot]]":
    found: "dict[Any, list[picollo.Snapshot]]" = {}
    for path in directory.rglob("*.hlog*"):
        for interval in picollo.read_log(path):
            found.setdefault((interval.tag, int(interval.start) // 3600 * 3600), []).append(interval.snapshot)
    return found


def check(result: Result, directory: Path, files: int) -> None:
    expected = one_process(directory)
    assert set(result.groups) == set(expected) and len(expected) == 11
    for key, snapshots in expected.items():
        assert oracle.same(result[key], picollo.Snapshot.merged(snapshots))
    assert result.tally.rows == 4 * files == sum(map(len, expected.values()))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("logs")
    write(directory, FILES)
    return directory


def test_with_dask(directory: Path) -> None:
    pytest.importorskip("distributed")
    with clusters.dask_cluster(2):
        check(picollo_engines.dask.logs(Files(directory), files_per_task=max(1, FILES // 20)), directory, FILES)


def test_other_groups_and_limits(tmp_path: Path) -> None:
    write(tmp_path, 20)
    (paths,) = Files(tmp_path).tasks(100)
    by_tag = result_of_logs(count_logs(paths, ("tag",), 10))
    assert set(by_tag.groups) == {("GET",), ("PUT",)}
    assert by_tag.snapshot.total_count == 20 * 4 * 200
    together = result_of_logs(count_logs(paths, (), 10))
    assert set(together.groups) == {()} and together[()].total_count == 20 * 4 * 200
    with pytest.raises(TooManyGroups, match="5 groups or more in the logs up to .*hlog"):
        count_logs(paths, ("tag", "hour"), 4)
    with pytest.raises(ValueError, match="not by 'week'"):
        count_logs(paths, ("week",), 4)
    with pytest.raises(FileNotFoundError, match="there are no logs"):
        Files(tmp_path / "nowhere").tasks(1)
    with pytest.raises(ValueError, match="files_per_task must be at least 1"):
        Files(tmp_path).tasks(0)


def test_different_buckets_add_up_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, 30)
    (paths,) = Files(tmp_path).tasks(100)
    each = [count_logs([path], ("tag", "hour"), 100) for path in paths]
    # From coarse to fine, two at a time, where midpoints of midpoints would differ most.
    digits = {5: 1, 3: 2}
    coarse_first = sorted(each, key=lambda part: digits.get(int(Path(paths[each.index(part)]).name[:5]) % 7, 3))
    fold = functools.reduce(lambda a, b: merge([a, b], 100), coarse_first)
    for parts in (each, each[::-1], [merge(each[1::2], 100), merge(each[::2], 100)], [fold]):
        check(result_of_logs(merge(parts, 100)), tmp_path, 30)


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    write(tmp_path, 2)
    (tmp_path / "bad.hlog").write_text("#[Histogram log format version 1.3]\n1,2,3,HISTFAAAnonsense\n")
    with pytest.raises(picollo.LogError, match=r"bad\.hlog:2"):
        count_logs(Files(tmp_path).tasks(9)[0], ("tag",), 10)
