"""One partition: which values are counted, which are left out, which are errors; without copying; and the merging of parts."""

from __future__ import annotations

import decimal
import pickle
import random
import sys
from typing import Any

import numpy
import oracle
import pandas
import picollo
import pyarrow
import pytest

import picollo_engines
from picollo_engines import InvalidValue, Layout, Part, Result, Rules, Tally, TooManyGroups
from picollo_engines.columns import PIECE, arrow, pieces
from picollo_engines.counting import Counter
from picollo_engines.merging import merge


def counted(column: Any, keys: Any = None, layout: Layout = Layout(), **rules: Any) -> Result:
    counter = Counter(layout, Rules(**rules), "partition 3: latency", keys is not None)
    counter.add(column, keys)
    return Result(counter.part(), layout.histogram().snapshot())


def naive(values: Any, layout: Layout = Layout()) -> Any:
    """Value by value."""
    histogram = layout.histogram()
    for value in values:
        histogram.record(int(value))
    return histogram.snapshot()


VALUES = [0, 1, 7, 1000, 12345, 2**31 - 1]


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8"])
def test_every_integer(kind: str) -> None:
    values = numpy.array([value for value in VALUES if value <= numpy.iinfo(kind).max], kind)
    assert oracle.same(counted(values).snapshot, naive(values))
    assert oracle.same(counted(pyarrow.array(values)).snapshot, naive(values))


def test_the_largest_integers() -> None:
    values = numpy.array([2**63, 2**64 - 1], "u8")
    assert oracle.same(counted(values).snapshot, naive(values))
    assert oracle.same(counted([2**64 - 1, 3]).snapshot, naive([2**64 - 1, 3]))


@pytest.mark.parametrize("seed", range(20))
def test_random_columns_with_nulls_and_groups(seed: int) -> None:
    """Against a dictionary of lists: chunks, slices, nulls, groups and what is to be skipped."""
    choice = random.Random(seed)
    number = choice.choice((0, 1, 3000, PIECE + 5))
    values = [choice.choice((None, -1, choice.getrandbits(choice.randrange(1, 63)))) for _ in range(number)]
    keys = [choice.choice((None, "a", "b", "")) for _ in range(number)]
    at = choice.randrange(number + 1)
    # Slices of something longer, so that neither values nor validity begin where their buffers do.
    column = pyarrow.chunked_array(
        [pyarrow.array([9, None, *piece], pyarrow.int64()).slice(2) for piece in (values[:at], values[at:])], pyarrow.int64()
    )
    categories = pandas.CategoricalDtype(["b", "a", "", "never"])
    of = pyarrow.array(["x", *keys], pyarrow.string()).slice(1)
    for given in (of, of.dictionary_encode(), pandas.Series(keys, dtype="object"), pandas.Series(keys, dtype=categories)):
        result = counted(column, given, invalid="skip")
        expected: "dict[Any, list[int]]" = {}
        for key, value in zip(keys, values):
            if value is not None and value >= 0:
                expected.setdefault(key, []).append(value)
        assert {key for key, of_key in result.groups.items() if of_key.total_count} == set(expected)
        assert all(oracle.same(result[key], naive(listed)) for key, listed in expected.items())
        assert (result.tally.nulls, result.tally.negative) == (values.count(None), values.count(-1))
        assert result.tally.rows == number and result.snapshot.total_count == number - result.tally.left_out
    assert oracle.same(counted(column, invalid="skip").snapshot, naive(sum(expected.values(), [])))


def test_what_is_under_a_null_is_not_looked_at() -> None:
    """The memory of a null may hold anything: here it is negative, and not finite."""
    valid = pyarrow.py_buffer(bytes([0b101]))
    integers = pyarrow.Array.from_buffers(pyarrow.int64(), 3, [valid, pyarrow.py_buffer(numpy.array([5, -7, 9]).tobytes())])
    assert oracle.same(counted(integers).snapshot, naive([5, 9]))
    doubles = pyarrow.Array.from_buffers(
        pyarrow.float64(), 3, [valid, pyarrow.py_buffer(numpy.array([5, float("nan"), 9]).tobytes())]
    )
    assert oracle.same(counted(doubles, scale=1.0).snapshot, naive([5, 9]))


def test_nothing_is_copied() -> None:
    """Pieces lie in Arrow's buffer, and that in numpy's."""
    values = numpy.arange(3 * PIECE + 7, dtype="i8")
    column = arrow(values, "values")
    assert column.chunk(0).buffers()[1].address == values.ctypes.data
    addresses = [piece.values.ctypes.data for piece in pieces(column.slice(5), "values")]
    assert addresses == [values.ctypes.data + 8 * (5 + PIECE * number) for number in range(4)]


def test_floats_are_scaled_and_rounded() -> None:
    seconds = numpy.array([0.0, -0.0, 1e-9, 0.5e-9, 1.5e-9, 1.25, 3600], "f8")
    assert oracle.same(counted(seconds, scale=1e9).snapshot, naive([0, 0, 1, 0, 2, 1_250_000_000, 3_600_000_000_000]))
    assert oracle.same(counted(seconds.astype("f4")[5:], scale=4).snapshot, naive([5, 14400]))
    with pytest.raises(TypeError, match="partition 3: latency is of double, which takes a scale"):
        counted(seconds)
    with pytest.raises(TypeError, match="is of int64, which is counted as it is"):
        counted([1], scale=10.0)
    for scale in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="scale must be a finite number above 0"):
            Rules(scale=scale)


@pytest.mark.parametrize(
    "value, kind, said",
    [
        (-1.0, "negative", "-1.0 is negative"),
        (float("nan"), "not_finite", "nan is not finite"),
        (float("inf"), "not_finite", "inf is not finite"),
        (float("-inf"), "not_finite", "-inf is not finite"),
        (2.0**64, "too_large", r"1\.8.*e\+19 is too large"),
    ],
)
def test_values_without_room(value: float, kind: str, said: str) -> None:
    column = numpy.ones(PIECE + 10)
    column[PIECE + 4] = value
    with pytest.raises(InvalidValue, match=rf"^partition 3: latency, row {PIECE + 4}: {said}"):
        counted(column, scale=1.0)
    with pytest.raises(InvalidValue, match=said):
        counted(pandas.Series(column), scale=1.0)
    result = counted(column, scale=1.0, invalid="skip")
    assert getattr(result.tally, kind) == result.tally.left_out == 1
    assert oracle.same(result.snapshot, naive([1] * (PIECE + 9)))


def test_rows_are_numbered_over_batches() -> None:
    counter = Counter(Layout(), Rules(), "partition 0: x")
    counter.add([1] * 100)
    with pytest.raises(InvalidValue, match="row 102: -3 is negative"):
        counter.add(pyarrow.array([1, None, -3]))


def test_durations_count_in_their_unit_and_other_types_are_refused() -> None:
    assert oracle.same(counted(numpy.array([5, 70], "m8[us]")).snapshot, naive([5, 70]))
    assert counted(pyarrow.nulls(4)).tally.nulls == 4
    for column, said in [
        (numpy.array(["2026-01-01"], "M8[ns]"), "subtract a time"),
        (["a"], "is of string, which is no type of numbers: cast it to integers"),
        ([True], "is of bool"),
        ([decimal.Decimal("1.5")], "smallest unit"),
        (pyarrow.array([1]).dictionary_encode(), "decode it first"),
        ([[1]], "is of list"),
        ([1, "a"], "cannot be made a column of one type"),
        ([-1, 2**64 - 1], "cannot be made a column of one type"),
        ([2**64], "cannot be made a column of one type"),
        (numpy.array([1], ">i8"), "cannot be made a column of one type"),
        (numpy.array([1j]), "cannot be made a column of one type"),
    ]:
        with pytest.raises(TypeError, match=said):
            counted(column)
    with pytest.raises(TypeError, match="by is of double: groups are of integers"):
        counted([1], [1.5])


def test_what_is_out_of_the_range_is_counted_apart() -> None:
    layout = Layout(0.01, 10, 1000)
    parts = [Counter(layout, Rules(), "p") for _ in range(2)]
    for part in parts:
        part.add([1, 50, 60, 100_000])
    merged = Result(merge([part.part() for part in parts], 1), layout.histogram().snapshot())
    assert merged.snapshot.counts == picollo.Counts(total=4, underflow=2, overflow=2, lost=0)


@pytest.mark.parametrize("seed", range(10))
def test_any_order_and_grouping(seed: int) -> None:
    """And what is merged stays as it was, so that it may be merged again."""
    choice = random.Random(seed)
    parts = []
    for _ in range(12):
        counter = Counter(Layout(), Rules(), "p", True)
        counter.add([choice.getrandbits(40) for _ in range(50)], [choice.choice("abc") for _ in range(50)])
        parts.append(counter.part())
    before = pickle.dumps(parts)
    expected = merge(parts, 3)
    while len(parts) > 1:
        choice.shuffle(parts)
        number = choice.randrange(1, len(parts) + 1)
        parts[:number] = [merge([Part(), *parts[:number]], 3)]
    assert set(parts[0].encoded) == set(expected.encoded)
    decoded = [{key: picollo.Snapshot.decode(data) for key, data in part.encoded.items()} for part in (parts[0], expected)]
    assert all(oracle.same(decoded[0][key], decoded[1][key]) for key in expected.encoded)
    assert parts[0].tally.rows == expected.tally.rows == 600 and parts[0].tally.partitions == 12
    assert pickle.dumps(pickle.loads(before)) == before
    assert sys.getsizeof(expected) > sum(map(len, expected.encoded.values()))
    with pytest.raises(TooManyGroups, match="3 groups or more in 2 parts of the data, and max_groups is 2"):
        merge([expected, expected], 2)


def test_groups_of_one_part_alone() -> None:
    parts = []
    for key in "ab":
        parts.append(Counter(Layout(), Rules(), "p", True))
        parts[-1].add([1, 2, 3], [key] * 3)
    merged = Result(merge([part.part() for part in parts], 2), Layout().histogram().snapshot())
    assert {key: snapshot.total_count for key, snapshot in merged.groups.items()} == {"a": 3, "b": 3}


def test_groups_are_bounded_in_a_partition() -> None:
    with pytest.raises(TooManyGroups, match="5 groups or more in partition 3: latency, and max_groups is 4"):
        counted([1] * 5, list(range(5)), max_groups=4)
    assert len(counted([1] * 5, list(range(5)), max_groups=5).groups) == 5


def test_nothing_at_all() -> None:
    result = counted([])
    assert result.snapshot.total_count == 0 and result.tally == Tally(partitions=1, counted_bytes=result.tally.counted_bytes)
    assert merge([], 1) == Part()
    with pytest.raises(ValueError, match="invalid must be error or skip"):
        Rules(invalid="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_groups must be at least 1"):
        Rules(max_groups=0)
    assert "rows, " in repr(result)


def test_engines_are_imported_when_they_are_needed() -> None:
    import subprocess

    text = "import sys, picollo_engines.dask, picollo_engines.spark; print('dask' in sys.modules, 'pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
    assert picollo_engines.__all__
