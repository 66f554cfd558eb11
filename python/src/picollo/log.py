"""Logs of histograms (``.hlog``), in the format of HdrHistogram's tools: a line for each interval."""

from __future__ import annotations

import contextlib
import gzip
import math
import os
import re
import time
import zlib
from ctypes import byref, c_void_p
from typing import IO, Any, Callable, Collection, Iterable, Iterator, Literal, NamedTuple, Optional, Union

from . import _structs as structs
from ._arguments import u64
from ._calls import c_text, fetch, read_bytes, read_text
from ._handle import Lock
from ._library import held, own, released
from ._lines import LineSource, TooLong
from .errors import ClosedError, CorruptError, IncompatibleError, InvalidArgumentError, PicolloError, check
from .histogram import Histogram, snapshot_of
from .interchange import MOST_FIT, NO_ROOM, check_decoding, digits_for, merged
from .snapshot import Snapshot

#: Another log begins with these lines, after an interval.
_HEADER = re.compile(rb"(?:^|[\r\n])[\s\xef\xbb\xbf]*#\[(?:Histogram log format version|StartTime:)", re.IGNORECASE)

#: A source of a log.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], IO[str], gzip.GzipFile]


class LogError(CorruptError):
    """A log cannot be read at some line; ``str(error)`` is ``file:line: what is wrong with it``."""

    #: Name of the log.
    source: str
    #: Number of the line, from 1 on.
    line: int

    def __init__(self, status: Optional[int] = None, message: str = "", source: str = "", line: int = 0) -> None:
        super().__init__(status, f"{source}:{line}: {message}" if source else message)
        self.source = source
        self.line = line

    def __reduce__(self) -> Any:
        return _log_error, (self.status, self.message, self.source, self.line)


def _log_error(status: int, message: str, source: str, line: int) -> LogError:
    """Unpickles."""
    error = LogError(status, message)
    error.source, error.line = source, line
    return error


class LogInterval(NamedTuple):
    """A line of a log: the recorded values of an interval."""

    #: When it begins, in seconds since 1970, or since the time that the log's times count from.
    start: float
    #: When it ends.
    end: float
    #: The counts, named like the tag, with the times and the tag. They stay valid when the log is closed.
    snapshot: Snapshot
    #: Distinguishes intervals of the same time; ``""`` without one.
    tag: str = ""
    #: The largest value divided by a million, as the log has it; NaN if that is no number. The counts are more exact.
    max: float = math.nan
    #: Number of the line, from 1 on.
    line: int = 0


class LogReader(Iterator[LogInterval]):
    """The intervals of a log, one by one: see :func:`read_log`.

    Memory in use does not depend on the length of the log. After a :class:`LogError` the next call continues with the
    next line. Threads that share a reader get different intervals.
    """

    def __init__(
        self,
        source: Source,
        *,
        tag: Union[None, str, Collection[str]] = None,
        select: Optional[Callable[[str, float, float], bool]] = None,
        errors: Literal["strict", "skip"] = "strict",
        max_counters: int = 0,
    ) -> None:
        if errors not in ("strict", "skip"):
            raise ValueError(f"errors must be strict or skip, not {errors!r}")
        self._tags = {tag} if isinstance(tag, str) else None if tag is None else frozenset(tag)
        self._select = select
        self._skips = errors == "skip"
        self._max_counters = u64(max_counters, "max_counters")
        #: The number of unreadable lines that were skipped.
        self.skipped = 0
        self._lock = Lock()
        self._file = LineSource(source)
        # The library reads this memory, so it must stay valid until the reader ends or gets another text.
        self._text = b""
        #: The last interval that was read, and the position after it.
        self._raw = structs.LogInterval(log_start_seconds=math.nan, log_base_seconds=math.nan)
        #: The number of lines before this text, and where its last interval of this log ends, if it has one.
        self._before, self._after_interval = 0, -1
        self._pointer: Optional[c_void_p] = None

    @property
    def name(self) -> str:
        """The path of the log, or its name in messages."""
        return self._file.name

    @property
    def line(self) -> int:
        """Number of the line that was read last, from 1 on."""
        return int(self._before + self._raw.line)

    def __iter__(self) -> LogReader:
        return self

    def __next__(self) -> LogInterval:
        # The library's reader takes one call at a time, and decoding lets other threads run.
        with self._lock:
            while self._pointer is not None or self._go_on():
                pointer = self._pointer
                assert pointer is not None
                status = held.log_reader_next(pointer, byref(self._raw))
                if status == structs.END:
                    self._pointer = None
                    continue
                try:
                    interval = self._interval(pointer, status)
                except LogError:
                    self.skipped += 1
                    if not self._skips:
                        raise
                else:
                    if interval is not None:
                        return interval
            self.close()
            raise StopIteration

    def _interval(self, pointer: c_void_p, status: int) -> Optional[LogInterval]:
        """The interval of the line that was read last; ``None`` if it is not selected."""
        if status == CorruptError.STATUS:
            raise self._error(status, f"this is no interval of a log: {self._excerpt()}")
        check(status, "log")
        raw = self._raw
        self._after_interval = raw.position
        tag, start, end = raw.tag.decode("utf-8"), raw.start_seconds, raw.end_seconds
        if self._tags is not None and tag not in self._tags:
            return None
        if self._select is not None and not self._select(tag, start, end):
            return None
        decoded = c_void_p()
        status = released.log_reader_decode(pointer, self._max_counters, byref(decoded))
        if status:
            try:
                check_decoding(status, "the histogram")
            except Exception as error:
                raise self._error(status, f"{error}: {self._excerpt()}") from None
        snapshot = Snapshot._adopt(decoded, tag)
        snapshot.start, snapshot.end, snapshot.tag = start, end, tag
        return LogInterval(start, end, snapshot, tag, raw.max, self.line)

    def _error(self, status: int, message: str, line: Optional[int] = None) -> LogError:
        return LogError(status, message, self.name, self.line if line is None else line)

    def _excerpt(self) -> str:
        """The beginning of the line that was read last, as printable characters."""
        line = self._text[: self._raw.position].rstrip(b"\r\n")
        line = line[max(line.rfind(b"\n"), line.rfind(b"\r")) + 1 :].strip()
        text = line[:60].decode("utf-8", "replace")
        return ascii(text + "..." if len(line) > 60 else text)

    def _go_on(self) -> bool:
        """Continues with the next lines, with the times from the previous ones; returns false at the end."""
        raw = self._raw
        try:
            text = self._file.lines()
        except (EOFError, zlib.error, TooLong) as error:
            self._file.close()
            raise self._error(CorruptError.STATUS, str(error), self.line + 1) from None
        if text is None:
            return False
        start, base, after = raw.log_start_seconds, raw.log_base_seconds, self._after_interval
        times = (("StartTime", start), ("BaseTime", base))
        known = ["#\n", *(f"#[{name}: {seconds!r}]\n" for name, seconds in times if not math.isnan(seconds))]
        has_intervals = after >= 0 and not math.isnan(base) and _HEADER.search(self._text[after : raw.position]) is None
        if has_intervals:
            known.append("0,0,0,x\n")
        head = "".join(known).encode()
        self._before, raw.line = self.line - len(known), len(known)
        self._text = head + text
        self._after_interval = len(head) if has_intervals else -1
        pointer = fetch(c_void_p, "log", held.log_reader_create, self._text, len(self._text))
        self._pointer = own(pointer, held.log_reader_free)
        if has_intervals:
            check(held.log_reader_next(pointer, byref(raw)), "log")
        return True

    def sum(self, name: str = "") -> Snapshot:
        """The counts of all intervals from here on, in one snapshot, as HdrHistogram's tools add up a log. It has the
        digits and unit of the first, and the ranges of all. Counts of wider buckets go to the bucket at their low end.

        :raises ValueError: if there are none.
        :raises IncompatibleError: for those of doubles with different ratios (:attr:`Snapshot.value_ratio`).
        """
        try:
            return merged((interval.snapshot for interval in self), name, as_logs=True)
        except ValueError as error:
            if isinstance(error, PicolloError):
                raise
            raise ValueError(f"{self.name}: there are no intervals to add up") from None

    def close(self) -> None:
        """Closes the log, and the file if it was given as a path. May be called again. Nothing more can be read."""
        with self._lock:
            self._pointer = None
            self._file.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<picollo.LogReader {self.name!r}, line {self.line}>"


class LogWriter:
    """Writes a log of histograms: see :func:`write_log`. Any thread may write."""

    def __init__(self, target: Any, *, start: Optional[float] = None, comment: str = "") -> None:
        self._closes = contextlib.ExitStack()
        self._comment = c_text(comment, "comment")
        self._start = None if start is None else _seconds(start, "start")
        # The next interval of a tag begins here by default.
        self._opened = time.time() if start is None else self._start
        self._ends: dict[str, float] = {}
        self._lock = Lock()
        self._has_header = False
        self._closed = False
        #: Lines written so far, without the header.
        self.intervals = 0
        self._is_text = False
        if hasattr(target, "write"):
            self._file: Any = target
            try:
                target.write(b"")
            except TypeError:
                self._is_text = True
        else:
            path = os.fspath(target)
            if isinstance(path, bytes):
                path = os.fsdecode(path)
            opened: Any = gzip.open(path, "wb") if path.endswith(".gz") else open(path, "wb")
            self._file = self._closes.enter_context(opened)

    def write(
        self,
        counts: Union[Snapshot, Histogram],
        start: Optional[float] = None,
        end: Optional[float] = None,
        tag: Optional[str] = None,
    ) -> None:
        """Writes the recorded values of an interval.

        ::

            snapshot = latency.snapshot()
            with picollo.write_log("latency.hlog") as log:
                while serving:
                    time.sleep(1)
                    log.write(snapshot.update(deltas=True))

        The format supports only HdrHistogram's buckets. Other snapshots are written with the number of digits that is
        as fine (:meth:`Snapshot.with_digits`); underflow, overflow and lost counts are left out.

        :param start: seconds since 1970 (default: :attr:`Snapshot.start`, if it has one; else the end of the previous
            interval of the same tag; else when the log was opened).
        :param end: (default: :attr:`Snapshot.end`, if it has one; else when the counts were taken).
        :param tag: distinguishes intervals of the same time; without comma, space, line end and control character
            except the tab (default: :attr:`Snapshot.tag`).
        :raises ValueError: for other tags; nothing is written then.
        :raises IncompatibleError: for values and counts from 2**63 on.
        """
        snapshot = snapshot_of(counts, "a log holds snapshots and histograms")
        tag = snapshot.tag if tag is None else tag
        start = snapshot.start if start is None and not math.isnan(snapshot.start) else start
        end = snapshot.end if end is None and not math.isnan(snapshot.end) else end
        try:
            encoded_tag = c_text(tag, "tag")
        except UnicodeEncodeError:
            raise ValueError(f"a tag must not contain halves of characters: {tag!r}") from None
        with self._lock:
            self._check_open()
            begin = self._ends.get(tag, self._opened) if start is None else _seconds(start, "start")
            assert begin is not None
            finish = snapshot.summary().timestamp_unix_nanos / 1e9 if end is None else _seconds(end, "end")
            if start is None and begin > finish:
                begin = finish
            if begin > finish:
                raise ValueError(f"an interval must not end before it begins: {begin!r} and {finish!r}")
            digits = digits_for(snapshot)
            fitting = snapshot if digits is None else snapshot.with_digits(digits)
            line = _interval_text(fitting, begin, finish - begin, encoded_tag, tag)
            self._write_header(begin)
            self._write_text(line)
            self._ends[tag] = finish
            self.intervals += 1

    def _write_header(self, start: Optional[float]) -> None:
        if self._has_header:
            return
        start = start if self._start is None else self._start
        seconds = math.nan if start is None else start
        text = read_text(lambda *buffer: held.log_format_header(seconds, self._comment, *buffer), "header of a log")
        self._write_text(text)
        self._has_header = True

    def _write_text(self, text: str) -> None:
        self._file.write(text if self._is_text else text.encode("utf-8"))
        # So that others can read the log; in a compressed file a flush would only add bytes.
        if not isinstance(self._file, gzip.GzipFile) and hasattr(self._file, "flush"):
            self._file.flush()

    def close(self) -> None:
        """Closes the log, and the file if it was given as a path. An empty log gets its header. May be called again."""
        with self._lock:
            if not self._closed:
                self._closed = True
                with self._closes:
                    self._write_header(self._opened)

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the log is closed")

    def __enter__(self) -> LogWriter:
        self._check_open()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


def _interval_text(snapshot: Snapshot, start: float, length: float, encoded_tag: bytes, tag: str) -> str:
    function = snapshot._functions.log_format_interval
    try:
        with snapshot._lock:
            handle = snapshot._handle()
            text = read_bytes(
                lambda *buffer: function(handle, start, length, encoded_tag, *buffer), "interval of a log", MOST_FIT
            )
            return text.decode("utf-8")
    except IncompatibleError as error:
        raise IncompatibleError(error.status, NO_ROOM) from None
    except InvalidArgumentError as error:
        why = f"a tag must not contain commas, spaces, line ends, or control characters other than tabs: {tag!r}"
        raise InvalidArgumentError(error.status, why) from None


def _seconds(value: float, name: str) -> float:
    seconds = float(value)
    if not abs(seconds) < 1e15:
        raise ValueError(f"{name} must be a time in seconds, not {value!r}")
    return seconds


def read_log(
    source: Source,
    *,
    tag: Union[None, str, Collection[str]] = None,
    select: Optional[Callable[[str, float, float], bool]] = None,
    errors: Literal["strict", "skip"] = "strict",
    max_counters: int = 0,
) -> LogReader:
    """Reads a log of histograms from :func:`write_log` or from HdrHistogram in any language.

    ::

        for interval in picollo.read_log("latency.hlog", tag="GET"):
            print(interval.start, interval.end, interval.snapshot.percentile(99).value)

    Headers are optional, comments may be anywhere, lines end in any way; times become absolute as in Java. Logs need
    not be trusted: errors have the line; memory and time are bounded. A line has at most 128 MiB, decompressed.

    An unreadable last line without a line end counts as incomplete, as its writer may still run: the log ends there.

    :param source: a path, an open file (of bytes or text), bytes, or a str with line breaks, which is the log itself.
        The text is UTF-8, or UTF-16 with its mark; compressed with gzip or not.
    :param tag: read the intervals with this tag, or one of these; ``""`` selects intervals without one.
    :param select: called with tag, start and end of each interval; returns whether to read it. Others are not decoded,
        which saves most of the time.
    :param errors: ``"strict"``: unreadable lines raise, and the next call continues after them; ``"skip"``: they are
        counted in :attr:`LogReader.skipped`.
    :param max_counters: as for :meth:`Snapshot.decode`, for each interval.
    :raises LogError: while reading, for a line that is no interval, or whose histogram is damaged or too large;
        whatever ``errors`` is, for damaged or truncated compressed data, and for a line above the limit.
    :raises OSError: for files that cannot be read.
    """
    return LogReader(source, tag=tag, select=select, errors=errors, max_counters=max_counters)


def write_log(
    target: Union[str, "os.PathLike[str]", IO[bytes], IO[str], gzip.GzipFile],
    intervals: Optional[Iterable[LogInterval]] = None,
    *,
    start: Optional[float] = None,
    comment: str = "",
) -> LogWriter:
    """Writes a log of histograms, which HdrHistogram's tools in any language can read.

    ::

        picollo.write_log("get.hlog", picollo.read_log("all.hlog.gz", tag="GET"))

        with picollo.write_log("latency.hlog", comment="a test") as log:
            log.write(histogram, start, end, tag="GET")

    :param target: a path (compressed if it ends in ``.gz``), or an open file, of bytes or text, which stays open.
    :param intervals: written, and then the log is closed. Without them, use :meth:`LogWriter.write` and ``with``.
    :param start: when the log starts, in seconds since 1970 (default: the start of its first interval).
    :param comment: comes first in the file; of any number of lines.
    """
    writer = LogWriter(target, start=start, comment=comment)
    if intervals is not None:
        with writer:
            for interval in intervals:
                writer.write(interval.snapshot, interval.start, interval.end, interval.tag)
    return writer
