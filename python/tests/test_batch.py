"""Recording many values: read in place, converted, or refused."""

from __future__ import annotations

import array
import ctypes
import sys
from typing import Any, Callable

import pytest
from conftest import output_of
from hypothesis import given
from hypothesis import strategies as st

from picollo import Histogram
from picollo._buffers import batch_of

numpy = pytest.importorskip("numpy")

VALUES = [0, 1, 127, 128, 10**6, 10**6, 2**63 - 1]
SWAPPED = ">u8" if sys.byteorder == "little" else "<u8"


def recorded(values: Any) -> list[tuple[int, int]]:
    histogram = Histogram(0.01)
    histogram.record_many(values)
    return [(bucket.lower, bucket.count) for bucket in histogram.snapshot().buckets()]


def one_by_one(values: list[int]) -> list[tuple[int, int]]:
    histogram = Histogram(0.01)
    for value in values:
        histogram.record(value)
    return [(bucket.lower, bucket.count) for bucket in histogram.snapshot().buckets()]


class Arraylike:
    """Like a pandas Series: without a buffer, but convertible to an array."""

    def __array__(self) -> Any:
        return numpy.array(VALUES, dtype="u8")


@pytest.mark.parametrize(
    "values",
    [
        *(array.array(code, VALUES) for code in "QqL"),
        memoryview(array.array("Q", VALUES)).toreadonly(),
        memoryview(array.array("Q", VALUES).tobytes()).cast("Q"),
        (ctypes.c_uint64 * len(VALUES))(*VALUES),
        *(numpy.array(VALUES, dtype=dtype) for dtype in ("u8", "i8", "=u8")),
        VALUES,
        tuple(VALUES),
        iter(VALUES),
        (value for value in VALUES),
        Arraylike(),
    ],
    ids=lambda values: type(values).__name__,
)
def test_accepted_values(values: Any) -> None:
    assert recorded(values) == one_by_one(VALUES)


@pytest.mark.parametrize("shape", [(), (2, 3), (2, 3, 4)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    count = int(numpy.prod(shape))
    for dtype in ("u8", "i8"):
        rows_first = numpy.arange(count, dtype=dtype).reshape(shape)
        read_only = rows_first.copy()
        read_only.setflags(write=False)
        for values in (rows_first, numpy.asfortranarray(rows_first), read_only):
            assert recorded(values) == one_by_one(list(range(count)))


@pytest.mark.parametrize("values", [[], (), array.array("Q"), numpy.array([], dtype="u8"), numpy.zeros((0, 3), "i8")])
def test_nothing(values: Any) -> None:
    assert recorded(values) == []


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: numpy.array([1.5]), TypeError, "scale to a unit"),
    (lambda: array.array("d", [1.5]), TypeError, "scale to a unit"),
    (lambda: numpy.array([1], dtype="u4"), TypeError, r"astype\(numpy.uint64\)"),
    (lambda: array.array("i", [1]), TypeError, r"array.array\('Q', values\)"),
    (lambda: numpy.array([1], dtype=SWAPPED), TypeError, r"astype\(numpy.uint64\)"),
    (lambda: b"12345678", TypeError, r"memoryview\(values\).cast\('Q'\)"),
    (lambda: bytearray(b"12345678"), TypeError, r"memoryview\(values\).cast\('Q'\)"),
    (lambda: numpy.array([True]), TypeError, r"astype\(numpy.uint64\)"),
    (lambda: numpy.array([1], dtype="m8[ns]"), TypeError, r"values.view\('i8'\)"),
    (lambda: numpy.array([(1, 2)], dtype=[("a", "u4"), ("b", "u4")]), TypeError, "64-bit integers"),
    (lambda: numpy.array([None]), TypeError, "64-bit integers"),
    (lambda: "12", TypeError, "not str"),
    (lambda: {1: 2}, TypeError, "not dict"),
    (lambda: 5, TypeError, "iterable of ints"),
    (lambda: None, TypeError, "iterable of ints"),
    (lambda: [1.5], TypeError, "iterable of ints"),
    (lambda: ["1"], TypeError, "iterable of ints"),
    (lambda: numpy.ma.masked_array(numpy.array([1.0, 2.0]), mask=[True, False]), TypeError, "buffer of 64-bit integers"),
    (lambda: [1, -1], ValueError, "must be within"),
    (lambda: [2**64], ValueError, "must be within"),
    (lambda: array.array("q", [5, -1]), ValueError, "must not be negative"),
    (lambda: numpy.array([3, -7, 5]), ValueError, "must not be negative"),
    (lambda: numpy.array([[1], [-(2**63)]]), ValueError, "must not be negative"),
    (lambda: numpy.arange(10)[::2], ValueError, "contiguous"),
    (lambda: memoryview(array.array("Q", range(10)))[::2], ValueError, "contiguous"),
    (lambda: numpy.ones((4, 4), "u8")[:, 1], ValueError, "contiguous"),
]


@pytest.mark.parametrize(("make", "error", "advice"), REFUSED)
def test_refusals_explain_what_to_do(make: Callable[[], Any], error: type[Exception], advice: str) -> None:
    histogram = Histogram()
    with pytest.raises(error, match=advice):
        histogram.record_many(make())
    assert histogram.total_count == 0


def test_unaligned_memory_is_read_correctly() -> None:
    raw = b"x" + array.array("Q", VALUES).tobytes()
    unaligned = numpy.frombuffer(raw, dtype="u8", offset=1)
    assert batch_of(unaligned).address % 8 == 0
    for values in (unaligned, numpy.frombuffer(bytearray(raw), dtype="u8", offset=1)):
        assert recorded(values) == one_by_one(VALUES)


def test_buffers_are_read_where_they_are() -> None:
    writable = array.array("Q", range(1000))
    assert batch_of(writable).address == writable.buffer_info()[0]
    for dtype in ("u8", "i8"):
        ndarray = numpy.arange(1000, dtype=dtype)
        address = ndarray.ctypes.data
        assert batch_of(ndarray).address == address
        assert batch_of(ndarray[10:]).address == address + 80
        ndarray.setflags(write=False)
        assert batch_of(ndarray).address == address
        columns_first = numpy.asfortranarray(numpy.ones((5, 7), dtype))
        assert batch_of(columns_first).address == columns_first.ctypes.data
    plain = numpy.ma.masked_array(numpy.arange(1000, dtype="u8"))
    assert batch_of(plain).address == plain.data.ctypes.data, "in place where nothing is masked"


def test_the_buffer_is_held_during_the_call_only() -> None:
    values = array.array("Q", range(10))
    batch = batch_of(values)
    with pytest.raises(BufferError):
        values.append(1)
    del batch
    values.append(1)
    Histogram().record_many(values)
    values.append(2)
    data = bytearray(80)
    view = memoryview(data).toreadonly().cast("Q")
    Histogram().record_many(view)
    view.release()
    with pytest.raises(ValueError):
        Histogram().record_many(view)
    del view
    data.append(1)


def test_signed_values_without_numpy() -> None:
    """The search for negative values must not need numpy, nor load it."""
    told = output_of(
        """
        import array, sys
        from picollo import Histogram
        histogram = Histogram()
        histogram.record_many(array.array("q", range(100)))
        try:
            histogram.record_many(array.array("q", [1, -2]))
        except ValueError as error:
            assert "the smallest is -2" in str(error), error
        else:
            raise AssertionError("recorded a negative value")
        assert histogram.total_count == 100 and "numpy" not in sys.modules
        """
    )
    assert told == ""


@given(st.lists(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 300))))
def test_batches_count_like_single_values(values: list[int]) -> None:
    assert recorded(array.array("Q", values)) == one_by_one(values)


def test_masked_values_are_left_out() -> None:
    for dtype in ("u8", "i8"):
        data = numpy.array([5, 7, 9, 11], dtype=dtype)
        masked = numpy.ma.masked_array(data, mask=[False, True, False, True])
        for values in (masked, masked.reshape(2, 2).T):
            assert recorded(values) == one_by_one([5, 9])
        assert recorded(numpy.ma.masked_array(data)) == one_by_one([5, 7, 9, 11])
        assert recorded(numpy.ma.masked_array(data, mask=True)) == []
    # A masked value may be one that would be refused.
    assert recorded(numpy.ma.masked_less(numpy.array([-1, 5], dtype="i8"), 0)) == one_by_one([5])
