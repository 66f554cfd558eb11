"""Encodings, copies, pickles and sums."""

from __future__ import annotations

import base64
import copy
import pickle
from functools import partial
from typing import Any

import pytest
from conftest import assert_refused

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


def test_one_after_another() -> None:
    snapshot = filled(GOLDEN_VALUES, significant_digits=3, max=3_600_000_000).snapshot()
    assert snapshot.encode("hdr_v2") == GOLDEN
    encoded = (f" {snapshot.encode_text()}\r\n".encode(), snapshot.encode("hdr_v2_compressed"), GOLDEN, snapshot.encode())
    data = b"".join(encoded)
    for source in (data, bytearray(data), memoryview(data)):
        offset, ends = 0, []
        while offset < len(source):
            decoded, offset = Snapshot.decode_first(source, offset, name="A")
            ends.append(offset)
            assert (decoded.name, content(decoded)) == ("A", content(snapshot))
        assert ends == [sum(map(len, encoded[: i + 1])) for i in range(4)]
    # Text counts in characters, whatever precedes it.
    texts = f"größe {snapshot.encode_text()}\n{snapshot.encode_text('native')}"
    decoded, offset = Snapshot.decode_first(texts, 6)
    assert (content(decoded), texts[offset - 1]) == (content(snapshot), "\n")
    assert Snapshot.decode_first(texts, offset)[1] == len(texts)
    assert_refused(
        *((partial(Snapshot.decode_first, data, at), picollo.CorruptError, f"at {at}") for at in (len(data), 2)),
        *((partial(Snapshot.decode_first, data, at), ValueError, "offset must be") for at in (len(data) + 1, -1)),
        (lambda: Snapshot.decode_first(data, 0.5), TypeError, ""),  # type: ignore[arg-type]
    )


def test_pickles_stay_readable() -> None:
    """Pickles of the first version, in base64: a snapshot and a histogram of 5, 7, 7 and 100."""
    snapshot, histogram = (pickle.loads(base64.b64decode(text)) for text in (PICKLED_SNAPSHOT, PICKLED_HISTOGRAM))
    for thing in (snapshot, histogram.snapshot()):
        assert (thing.name, content(thing)) == ("A", [(5, 5, 1), (7, 7, 2), (100, 100, 1)])
    histogram.record(5)
    assert histogram.total_count == 5
    damaged = base64.b64decode(PICKLED_SNAPSHOT).replace(b"Picollo", b"picollo")
    # Users pickle their own snapshots: 48 million counters are not too many.
    finest = Histogram(1e-6, storage="sparse").snapshot()
    assert pickle.loads(pickle.dumps(finest)).total_count == 0
    too_many = (lambda: Snapshot.decode(finest.encode())), picollo.OutOfMemoryError, ""
    assert_refused((lambda: pickle.loads(damaged), picollo.CorruptError, ""), too_many)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol(protocol: int) -> None:
    histogram = filled([1, 2, 3], name="A")
    things: list[Any] = [histogram, histogram.snapshot(), histogram.summary(), histogram.percentile(50), histogram.counts]
    for thing in things:
        again = pickle.loads(pickle.dumps(thing, protocol))
        assert type(again) is type(thing)
        if isinstance(thing, tuple):
            assert again == thing
        else:
            assert (again.name, str(again)) == ("A", str(thing))


@pytest.mark.parametrize("mode", ["single_writer", "interlocked", "thread_local", "per_cpu"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_copies_of_histograms(mode: "picollo.histogram.Mode", storage: "picollo.histogram.Storage") -> None:
    make = partial(Histogram, 0.01, 10, 5000, mode, storage, 64 if mode == "per_cpu" else 32, live_reset=False, name="A")
    if storage == "sparse" and mode in ("thread_local", "per_cpu"):
        assert_refused((make, picollo.UnsupportedError, "not supported"))
        return
    histogram = make()
    histogram.record_many([5, 100, 200, 6000])
    other = copy.copy(histogram)
    assert (other.name, other.counts, other.relative_error) == ("A", histogram.counts, histogram.relative_error)
    assert other._options is not None and histogram._options is not None
    for field in ("mode", "storage", "counter_bits", "flags", "min_trackable", "max_trackable"):
        assert getattr(other._options, field) == getattr(histogram._options, field), field
    # They count separately.
    other.record(100)
    assert (histogram.total_count, other.total_count) == (2, 3)
    # A whole array is restored with its size.
    whole = filled([5000, 8191, 8192], significant_digits=3, max=5000, whole_array=True, mode=mode)
    assert whole.counts[:3] == copy.copy(whole).counts[:3] == (2, 0, 1)
    assert copy.copy(whole).snapshot().layout == whole.snapshot().layout


def test_a_sessions_histogram_can_be_copied() -> None:
    with picollo.Session(["task-clock"], skip_unavailable=True) as session:
        if not session.info[0].available:
            pytest.skip(f"task-clock cannot be counted here: {session.info[0].message}")
        with session.measure():
            sum(range(1000))
        histogram = session.histogram(0)
        assert copy.copy(histogram).counts == histogram.counts


def test_decoded_snapshots_have_no_histogram() -> None:
    snapshot = filled([1, 2, 3]).snapshot()
    for other in (Snapshot.decode(snapshot.encode()), copy.copy(snapshot), snapshot + snapshot, snapshot.corrected(1)):
        with pytest.raises(picollo.UnsupportedError):
            other.update()
    resumed = Histogram.decode(snapshot.encode(), name="B")
    resumed.record(4)
    assert (resumed.name, resumed.total_count) == ("B", 4)
    snapshot.close()
    closed = picollo.ClosedError, "closed"
    assert_refused((lambda: pickle.dumps(snapshot), *closed), (snapshot.encode, *closed))


# ── sums ───────────────────────────────────────────────────────────────────────────────────────────────


def test_merged_counts() -> None:
    coarse = filled([500, 100_000, 2**40], relative_error=0.1).snapshot()
    narrow = Histogram(0.001, 1000, 10**6)
    snapshot = narrow.snapshot()
    assert narrow.add(coarse) == snapshot.merge(coarse) == picollo.Merged(refined=1, underflow=1, overflow=1, lost=0)
    assert snapshot.counts == narrow.counts == (1, 1, 1, 0)
    total = coarse + filled([7], max=100).snapshot()
    assert (total.total_count, total.layout.high, (total - coarse).total_count) == (4, 2**64 - 1, 1)
    assert sum([total, total]).total_count == 8 and Snapshot.merged([total], name="B").name == "B"  # type: ignore[union-attr]


def test_refused_sums_and_differences() -> None:
    histogram = filled([1, 2])
    snapshot, more = histogram.snapshot(), filled([1, 1]).snapshot()
    less = "fewer values than the other"
    assert_refused(
        (lambda: snapshot.subtract(more), picollo.InvalidArgumentError, less),
        (lambda: snapshot - more, picollo.InvalidArgumentError, less),
        (lambda: snapshot.subtract(snapshot), ValueError, "itself"),
        (lambda: snapshot.merge(snapshot), ValueError, "cannot merge itself"),
        (lambda: snapshot.subtract(1), TypeError, "not int"),  # type: ignore[arg-type]
        (lambda: snapshot.merge(histogram), TypeError, "not Histogram"),  # type: ignore[arg-type]
        (lambda: histogram.add(5), TypeError, "not int"),  # type: ignore[arg-type]
        (lambda: snapshot - 1, TypeError, ""),  # type: ignore[operator]
        (lambda: snapshot + 1, TypeError, ""),  # type: ignore[operator]
        (lambda: 1 + snapshot, TypeError, ""),
        (lambda: Snapshot.merged([]), ValueError, "no snapshots to merge"),
        (lambda: Snapshot.merged([histogram]), TypeError, "not Histogram"),  # type: ignore[list-item]
        (lambda: snapshot.corrected(-1), ValueError, ""),
    )
    assert snapshot.total_count == 2 and (snapshot - copy.copy(snapshot)).total_count == 0
    histogram.add(histogram)
    assert histogram.total_count == 4


def test_hgrm() -> None:
    snapshot = Snapshot.decode(GOLDEN)
    lines = snapshot.hgrm().splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert lines[-2] == "#[Max     = 123469823.000, Total count    =          108]"
    scaled = snapshot.hgrm(ticks_per_half_distance=1, scale=1000)
    assert len(scaled.splitlines()) < len(lines) and "  123469.823 1.000000000000        108" in scaled
    assert snapshot.hgrm(csv=True).splitlines()[0] == '"Value","Percentile","TotalCount","1/(1-Percentile)"'
    invalid, scales = picollo.InvalidArgumentError, (0.0, -1.0, float("nan"), float("inf"))
    assert_refused(
        *((partial(snapshot.hgrm, ticks), invalid, "ticks_per_half_distance") for ticks in (0, 1_000_001)),
        *((partial(snapshot.hgrm, scale=scale), invalid, "scale must be positive") for scale in scales),
    )


# ── what is wrong ──────────────────────────────────────────────────────────────────────────────────────


def test_limits_of_hdr_encodings() -> None:
    for histogram in (filled([1]), filled([2**63], significant_digits=1)):
        for encoding in ("hdr_v2", "hdr_v2_compressed"):
            assert_refused((partial(histogram.encode, encoding), picollo.IncompatibleError, "native encoding"))
    one, wrong = filled([1]).snapshot(), "significant_digits must be within"
    assert_refused(
        (lambda: one.encode("v2"), ValueError, "encoding must be one of"),  # type: ignore[arg-type]
        *((partial(one.with_digits, digits), ValueError, wrong) for digits in (-1, 6)),
    )
    # Blocks of five digits leave room for a unit of 2^44 below 2^62.
    assert filled([1], significant_digits=0, unit=2**60, max=2**62).snapshot().with_digits(5).layout.unit == 2**44


@pytest.mark.parametrize("data", [b"", b"x", "", "é", "\ud800", "HISTFAAA", b"\x1c\x84\x93\x13", b"\x89Picollo", bytes(1000)])
def test_invalid_encodings(data: Any) -> None:
    for kind in (Snapshot, Histogram):
        with pytest.raises(picollo.CorruptError, match=r"^\d+ bytes: this is no encoded histogram"):
            kind.decode(data)


def test_invalid_types_and_limits() -> None:
    snapshot = filled([1, 2, 3], max=1000).snapshot()
    encoded = bytearray(snapshot.encode())
    later = encoded[:8] + b"\3" + encoded[9:]
    assert Snapshot.decode(encoded, max_counters=len(snapshot.buckets(False))).counts == snapshot.counts
    decode, first = Snapshot.decode, Snapshot.decode_first
    assert_refused(
        *((partial(decode, data), TypeError, "bytes or base64") for data in (None, 5, 1.5, [1, 2], object())),
        *((partial(one, encoded, max_counters=10), picollo.OutOfMemoryError, "max_counters") for one in (decode, first)),
        (lambda: decode(encoded, max_counters=-1), ValueError, ""),
        (lambda: decode(later), picollo.UnsupportedError, "later version"),
    )
