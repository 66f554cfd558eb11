"""Encodings, copies, pickles and sums."""

from __future__ import annotations

import base64
import copy
import operator
import pickle
import random
import zlib
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import U64_MAX, Naive, bucket, scale

import picollo
from picollo import Histogram, Snapshot

#: A histogram of HdrHistogram for Java: 0, 1, twice 3, 7, a hundred times 1000, 2047, 2048, 123456789; 1 to 3.6e9, 3 digits.
GOLDEN = bytes.fromhex(
    "1c849313000000120000000000000003000000000000000100000000d693a4003ff0000000000000"
    "020200040502bf0fc801ab100202b3fd0102"
)
GOLDEN_VALUES = [0, 1, 3, 3, 7, *[1000] * 100, 2047, 2048, 123456789]

PICKLED_SNAPSHOT = (
    "gASVhAAAAAAAAACME3BpY29sbG8uaW50ZXJjaGFuZ2WUjAh1bnBpY2tsZZSTlENViVBpY29sbG8BAAAACQAAAAAAAAAAAAAAZAAA"
    "AAAAAACO5eVqdx7qGAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAkAAAAAAAAAAAUBAAECAFwBJZ7RjpSMAUGUhpRSlC4="
)
PICKLED_HISTOGRAM = (
    "gASVEAEAAAAAAACME3BpY29sbG8uaW50ZXJjaGFuZ2WUjBJ1bnBpY2tsZV9oaXN0b2dyYW2Uk5R9lCiMDnJlbGF0aXZlX2Vycm9y"
    "lEc/UAAAAAAAAIwDbWlulEsAjANtYXiUS2SMBG1vZGWUjAtpbnRlcmxvY2tlZJSMB3N0b3JhZ2WUjAVkZW5zZZSMDGNvdW50ZXJf"
    "Yml0c5RLQIwKbGl2ZV9yZXNldJSIjAltYXhfYnl0ZXOUSwB1Q1WJUGljb2xsbwEAAAAJAAAAAAAAAAAAAABkAAAAAAAAAJMI6Gp3"
    "HuoYAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACQAAAAAAAAAABQEAAQIAXAGSeRMRlIwBQZSHlFKULg=="
)


def filled(values: "list[int]", **options: Any) -> Histogram:
    histogram = Histogram(**options)
    histogram.record_many(values)
    return histogram


def content(snapshot: Snapshot) -> "list[tuple[int, int, int]]":
    return [(bucket.lower, bucket.upper, bucket.count) for bucket in snapshot.buckets()]


values = st.lists(st.integers(0, 64).flatmap(lambda bits: st.integers(0, max(0, 2**bits - 1))), max_size=50)
ranges = st.tuples(st.integers(0, U64_MAX), st.integers(0, U64_MAX)).map(sorted).filter(lambda r: r[0] < r[1])


@given(values, ranges, st.sampled_from([0.1, 0.01, 0.001]))
def test_native_keeps_everything(values: "list[int]", range_: "list[int]", error: float) -> None:
    histogram = filled(values, relative_error=error, min=range_[0], max=range_[1], name="A")
    snapshot = histogram.snapshot()
    for other in (
        Snapshot.decode(snapshot.encode(), name="A"),
        Snapshot.decode(snapshot.encode_text("native"), name="A"),
        pickle.loads(pickle.dumps(snapshot)),
        copy.copy(snapshot),
        copy.deepcopy(snapshot),
        pickle.loads(pickle.dumps(histogram)).snapshot(),
        Histogram.decode(histogram.encode(), name="A").snapshot(),
    ):
        assert other.name == "A"
        assert other.buckets(non_empty=False) == snapshot.buckets(non_empty=False)
        assert other.counts == snapshot.counts
        assert (other.summary().min_trackable, other.summary().max_trackable) == tuple(range_)
    assert pickle.loads(pickle.dumps(snapshot)).summary().timestamp == snapshot.summary().timestamp


@given(values.map(lambda values: [value >> 1 for value in values]), st.integers(0, 5), st.booleans())
def test_hdr_keeps_values_and_counts(values: "list[int]", digits: int, compressed: bool) -> None:
    encoding: picollo.interchange.Encoding = "hdr_v2_compressed" if compressed else "hdr_v2"
    # Sparse, as five digits over all 64 bits are 50 MB otherwise.
    histogram = filled(values, significant_digits=digits, storage="sparse", max=2**40)
    snapshot = histogram.snapshot()
    for data in (snapshot.encode(encoding), snapshot.encode_text(encoding), bytearray(snapshot.encode(encoding))):
        decoded = Snapshot.decode(data)
        assert content(decoded) == content(snapshot)
        assert decoded.total_count == snapshot.total_count
    if compressed:
        raw = snapshot.encode(encoding)
        assert zlib.decompress(raw[8:]) == snapshot.encode("hdr_v2")
        assert snapshot.encode_text() == base64.b64encode(raw).decode()
        assert snapshot.encode_text().startswith("HISTFAAA")


def test_one_after_another() -> None:
    snapshot = filled(GOLDEN_VALUES, significant_digits=3, max=3_600_000_000).snapshot()
    encoded = (f" {snapshot.encode_text()}\r\n".encode(), snapshot.encode("hdr_v2_compressed"), GOLDEN, snapshot.encode())
    data = b"".join(encoded)
    for source in (data, bytearray(data), memoryview(data)):
        offset, ends = 0, []
        while offset < len(source):
            decoded, offset = Snapshot.decode_first(source, offset, name="A")
            ends.append(offset)
            assert (decoded.name, content(decoded)) == ("A", content(snapshot))
        assert ends == [sum(map(len, encoded[: i + 1])) for i in range(4)]
    # Text counts in characters, whatever they are before.
    texts = f"größe {snapshot.encode_text()}\n{snapshot.encode_text('native')}"
    decoded, offset = Snapshot.decode_first(texts, 6)
    assert (content(decoded), texts[offset - 1]) == (content(snapshot), "\n")
    assert Snapshot.decode_first(texts, offset)[1] == len(texts)
    for at in (len(data), 2):
        with pytest.raises(picollo.CorruptError, match=f"at {at}"):
            Snapshot.decode_first(data, at)
    with pytest.raises(picollo.OutOfMemoryError):
        Snapshot.decode_first(data, max_counters=10)
    for wrong in (len(data) + 1, -1):
        with pytest.raises(ValueError):
            Snapshot.decode_first(data, wrong)
    with pytest.raises(TypeError):
        Snapshot.decode_first(data, 0.5)  # type: ignore[arg-type]


def test_no_digits() -> None:
    histogram = filled([0, 1, 2, 3, 100], significant_digits=0, max=2**20, unit=1)
    buckets = [(b.lower, b.upper, b.count) for b in histogram.snapshot().buckets()]
    assert buckets == [(0, 0, 1), (1, 1, 1), (2, 3, 2), (64, 127, 1)]
    assert "significant_digits=0" in repr(histogram) or histogram.relative_error == 0.5
    for other in (
        pickle.loads(pickle.dumps(histogram)),
        copy.deepcopy(histogram),
        Histogram.decode(histogram.encode("hdr_v2")),
        Histogram.decode(histogram.encode()),
    ):
        other.record(5)
        assert other.snapshot().buckets()[3].count == 1
        assert other.snapshot().layout == histogram.snapshot().layout
    with pytest.raises(ValueError, match="0, 1, 2, 3, 4, 5"):
        Histogram(significant_digits=6)


def test_golden_vector() -> None:
    histogram = filled(GOLDEN_VALUES, significant_digits=3, min=0, max=3_600_000_000)
    assert histogram.encode("hdr_v2") == GOLDEN
    decoded = Snapshot.decode(GOLDEN, name="golden")
    assert content(decoded) == content(histogram.snapshot())
    summary = decoded.summary()
    assert (summary.name, summary.total_count) == ("golden", 108)
    assert summary.mean == pytest.approx(1143899.685185)
    assert summary.stddev == pytest.approx(11822525.659786)


def test_pickles_stay_readable() -> None:
    """What the first version made, in base64: a snapshot and a histogram of 5, 7, 7 and 100."""
    snapshot, histogram = (pickle.loads(base64.b64decode(text)) for text in (PICKLED_SNAPSHOT, PICKLED_HISTOGRAM))
    for thing in (snapshot, histogram.snapshot()):
        assert (thing.name, content(thing)) == ("A", [(5, 5, 1), (7, 7, 2), (100, 100, 1)])
    histogram.record(5)
    assert histogram.total_count == 5


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(protocol: int) -> None:
    histogram = filled([1, 2, 3], name="A")
    things: list[Any] = [histogram, histogram.snapshot(), histogram.summary(), histogram.percentile(50), histogram.counts]
    for thing in things:
        again = pickle.loads(pickle.dumps(thing, protocol))
        assert type(again) is type(thing)
        if isinstance(thing, (Histogram, Snapshot)):
            assert (again.name, again.counts) == ("A", thing.counts)
        elif isinstance(thing, tuple):
            assert again == thing


@pytest.mark.parametrize("mode", ["single_writer", "interlocked", "thread_local", "scalable", "per_cpu"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_copies_of_histograms(mode: "picollo.histogram.Mode", storage: "picollo.histogram.Storage") -> None:
    try:
        histogram = Histogram(0.01, 10, 5000, mode, storage, 32, live_reset=False, name="A")
    except picollo.UnsupportedError as error:
        pytest.skip(f"the library does not offer it: {error}")
    histogram.record_many([5, 100, 200, 6000])
    other = copy.copy(histogram)
    assert (other.name, other.counts, other.relative_error) == ("A", histogram.counts, histogram.relative_error)
    assert other._options is not None and histogram._options is not None
    for field in ("mode", "storage", "counter_bits", "flags", "min_trackable", "max_trackable"):
        assert getattr(other._options, field) == getattr(histogram._options, field), field
    # They count apart.
    other.record(100)
    assert (histogram.total_count, other.total_count) == (2, 3)


def test_a_sessions_histogram_can_be_copied() -> None:
    with picollo.Session(["task-clock"], skip_unavailable=True) as session:
        if not session.info[0].available:
            pytest.skip(f"task-clock cannot be counted here: {session.info[0].message}")
        with session.measure():
            sum(range(1000))
        histogram = session.histogram(0)
        assert copy.copy(histogram).counts == histogram.counts


def test_what_is_decoded_has_no_histogram() -> None:
    snapshot = filled([1, 2, 3]).snapshot()
    for other in (Snapshot.decode(snapshot.encode()), copy.copy(snapshot), snapshot + snapshot, snapshot.corrected(1)):
        with pytest.raises(picollo.UnsupportedError):
            other.update()
    snapshot.close()
    with pytest.raises(picollo.ClosedError):
        pickle.dumps(snapshot)
    with pytest.raises(picollo.ClosedError):
        snapshot.encode()


# ── sums ───────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(values, ranges), min_size=1, max_size=5), st.randoms())
def test_sums_lose_nothing(parts: "list[tuple[list[int], list[int]]]", order: random.Random) -> None:
    """Whatever the ranges are, and in any order."""
    snapshots = [filled(values, relative_error=0.01, min=low, max=high).snapshot() for values, (low, high) in parts]
    oracle = Naive(0.01)
    for values, (low, high) in parts:
        part = Naive(0.01, low, high)
        for value in values:
            part.record(value)
        oracle.values += part.values
        oracle.underflow += part.underflow
        oracle.overflow += part.overflow
    shuffled = order.sample(snapshots, len(snapshots))
    for total in (Snapshot.merged(snapshots), Snapshot.merged(iter(shuffled)), sum(shuffled), reduce(operator.add, shuffled)):
        assert isinstance(total, Snapshot)
        assert content(total) == oracle.buckets()
        assert total.counts == (len(oracle.values), oracle.underflow, oracle.overflow, 0)
    before = [snapshot.counts for snapshot in snapshots]
    assert before == [snapshot.counts for snapshot in snapshots], "the parts stay as they are"


def test_sums_have_the_finest_precision() -> None:
    coarse, fine = filled([1_000_000], relative_error=0.1).snapshot(), filled([1_000_000], relative_error=0.001).snapshot()
    for total in (coarse + fine, fine + coarse):
        assert total.summary().relative_error == fine.summary().relative_error
        assert total.total_count == 2
        assert fine.buckets()[0] in total.buckets() or any(b.lower <= 1_000_000 <= b.upper for b in total.buckets())


@given(values, values, ranges)
def test_differences(first: "list[int]", second: "list[int]", range_: "list[int]") -> None:
    """Taking away undoes adding, and tells what came later."""
    histogram = filled(first, relative_error=0.01, min=range_[0], max=range_[1], name="A")
    earlier = histogram.snapshot()
    histogram.record_many(second)
    later = histogram.snapshot()
    between = filled(second, relative_error=0.01, min=range_[0], max=range_[1]).snapshot()
    difference = later - earlier
    assert (difference.name, difference.counts) == ("A", between.counts)
    assert content(difference) == content(between)
    assert later.subtract(between) == (0, 0, 0, 0)
    assert (content(later), later.counts) == (content(earlier), earlier.counts)


def test_what_became_of_counts() -> None:
    coarse = filled([500, 100_000, 2**40], relative_error=0.1).snapshot()
    narrow = Histogram(0.001, 1000, 10**6)
    assert narrow.add(coarse) == (1, 1, 1, 0)
    snapshot = Histogram(0.001, 1000, 10**6).snapshot()
    assert snapshot.merge(coarse) == picollo.Merged(refined=1, underflow=1, overflow=1, lost=0)
    assert snapshot.counts == narrow.counts == (1, 1, 1, 0)
    # A count of many, divided among the buckets within.
    many = Histogram(0.1)
    many.record_n(100_000, 1000)
    spread = Histogram(0.001, 1000, 10**6).snapshot()
    spread.merge(many.snapshot(), spread=True)
    assert spread.total_count == 1000
    assert len(spread.buckets()) > 10
    again = Histogram(0.001, 1000, 10**6)
    again.add(many, spread=True)
    assert content(again.snapshot()) == content(spread)


def test_what_cannot_be_taken_away() -> None:
    snapshot, more = filled([1, 2]).snapshot(), filled([1, 1]).snapshot()
    for act in (lambda: snapshot.subtract(more), lambda: snapshot - more):
        with pytest.raises(picollo.InvalidArgumentError, match="less here than is to be taken away"):
            act()
    assert snapshot.total_count == 2
    with pytest.raises(ValueError, match="itself"):
        snapshot.subtract(snapshot)
    with pytest.raises(TypeError, match="not int"):
        snapshot.subtract(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        snapshot - 1  # type: ignore[operator]
    assert (snapshot - copy.copy(snapshot)).total_count == 0


def test_what_cannot_be_added() -> None:
    snapshot = filled([1]).snapshot()
    with pytest.raises(ValueError, match="no snapshots to merge"):
        Snapshot.merged([])
    with pytest.raises(TypeError, match="not Histogram"):
        Snapshot.merged([filled([1])])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        snapshot + 1  # type: ignore[operator]
    with pytest.raises(TypeError):
        1 + snapshot
    assert Snapshot.merged([snapshot], name="B").name == "B"


@given(values, st.integers(0, 5), st.sampled_from([0.1, 0.02, 0.001, 0.0002]))
def test_with_digits(values: "list[int]", digits: int, error: float) -> None:
    values = [value % 2**30 for value in values]
    snapshot = filled(values, relative_error=error, max=2**30, name="A").snapshot()
    converted = snapshot.with_digits(digits)
    assert (converted.name, converted.total_count) == ("A", len(values))
    wanted = {0: 0, 1: 4, 2: 7, 3: 10, 4: 14, 5: 17}[digits]
    if wanted <= scale(error):
        # Coarser: as if it had been recorded there.
        assert content(converted) == content(filled(values, significant_digits=digits, max=2**30).snapshot())
    else:
        spans = {bucket(value, scale(error)) for value in values}
        assert all(any(low <= b.lower and b.upper <= high for low, high in spans) for b in converted.buckets())
    assert Snapshot.decode(converted.encode("hdr_v2")).buckets() == converted.buckets()


def test_corrected() -> None:
    histogram = filled([100, 1000], significant_digits=3, max=10_000)
    by_hand = Histogram(significant_digits=3, max=10_000)
    for value in (100, 1000):
        by_hand.record_corrected(value, 100)
    assert content(histogram.snapshot().corrected(100)) == content(by_hand.snapshot())
    assert histogram.snapshot().corrected(0).total_count == 2
    with pytest.raises(ValueError):
        histogram.snapshot().corrected(-1)


def test_hgrm() -> None:
    snapshot = Snapshot.decode(GOLDEN)
    lines = snapshot.hgrm().splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert lines[-3] == "#[Mean    =  1143899.685, StdDeviation   = 11822525.660]"
    assert lines[-2] == "#[Max     = 123469823.000, Total count    =          108]"
    scaled = snapshot.hgrm(ticks_per_half_distance=1, scale=1000)
    assert len(scaled.splitlines()) < len(lines)
    assert "  123469.823 1.000000000000        108" in scaled
    assert snapshot.hgrm(csv=True).splitlines()[0] == '"Value","Percentile","TotalCount","1/(1-Percentile)"'
    for ticks in (0, 1_000_001):
        with pytest.raises(picollo.InvalidArgumentError, match="ticks_per_half_distance"):
            snapshot.hgrm(ticks)
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(picollo.InvalidArgumentError, match="scale must be positive"):
            snapshot.hgrm(scale=wrong)


# ── what is wrong ──────────────────────────────────────────────────────────────────────────────────────


def test_what_hdr_has_no_room_for() -> None:
    for histogram in (filled([1]), filled([2**63], significant_digits=1)):
        for encoding in ("hdr_v2", "hdr_v2_compressed"):
            with pytest.raises(picollo.IncompatibleError, match="native encoding"):
                histogram.encode(encoding)
    with pytest.raises(ValueError, match="encoding must be one of"):
        filled([1]).encode("v2")  # type: ignore[arg-type]


@pytest.mark.parametrize("data", [b"", b"x", "", "é", "\ud800", "HISTFAAA", b"\x1c\x84\x93\x13", b"\x89Picollo", bytes(1000)])
def test_what_is_no_encoding(data: Any) -> None:
    with pytest.raises(picollo.CorruptError, match=r"^\d+ bytes: this is no encoded histogram"):
        Snapshot.decode(data)
    with pytest.raises(picollo.CorruptError):
        Histogram.decode(data)


@pytest.mark.parametrize("data", [None, 5, 1.5, [1, 2], object()])
def test_what_is_no_bytes(data: Any) -> None:
    with pytest.raises(TypeError, match="bytes or base64"):
        Snapshot.decode(data)


def test_limits() -> None:
    snapshot = filled([1, 2, 3], max=1000).snapshot()
    assert Snapshot.decode(snapshot.encode(), max_counters=len(snapshot.buckets(False))).counts == snapshot.counts
    with pytest.raises(picollo.OutOfMemoryError, match="max_counters"):
        Snapshot.decode(snapshot.encode(), max_counters=10)
    with pytest.raises(ValueError):
        Snapshot.decode(snapshot.encode(), max_counters=-1)
    # Announces 48 million counters.
    finest = Histogram(1e-6, storage="sparse").snapshot().encode()
    with pytest.raises(picollo.OutOfMemoryError):
        Snapshot.decode(finest)
    # A pickle of it is one that someone made of a snapshot that they had.
    assert pickle.loads(pickle.dumps(Histogram(1e-6, storage="sparse").snapshot())).total_count == 0


def test_later_versions() -> None:
    data = bytearray(filled([1]).encode())
    data[8] = 3
    with pytest.raises(picollo.UnsupportedError, match="later version"):
        Snapshot.decode(data)


@given(st.binary(max_size=8), st.integers(0, 200), st.sampled_from(["native", "hdr_v2", "hdr_v2_compressed"]), st.booleans())
def test_damaged_data(noise: bytes, at: int, encoding: "picollo.interchange.Encoding", cut: bool) -> None:
    """Decodes to something, or raises what it should; nothing else happens."""
    data = filled([1, 5, 5, 1000, 70000], significant_digits=2, max=10**6).encode(encoding)
    damaged = data[:at] + noise + (b"" if cut else data[at + len(noise) :])
    try:
        decoded = Snapshot.decode(damaged, max_counters=100_000)
    except (picollo.CorruptError, picollo.OutOfMemoryError, picollo.UnsupportedError):
        return
    decoded.summary()
    if encoding == "native":
        assert damaged == data


def test_damaged_pickles() -> None:
    data = pickle.dumps(filled([1, 2, 3]).snapshot())
    damaged = data.replace(b"Picollo", b"picollo")
    assert damaged != data
    with pytest.raises(picollo.CorruptError):
        pickle.loads(damaged)
