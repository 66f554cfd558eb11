"""Logs of histograms (``.hlog``), as HdrHistogram's tools write and read them: a line for each interval."""

from __future__ import annotations

import gzip
import math
import os
import re
import threading
import zlib
from ctypes import byref, c_double, c_uint64, c_void_p
from typing import IO, Any, Callable, Collection, Iterable, Iterator, Literal, NamedTuple, Optional, Union

from . import _structs as structs
from ._arguments import u64
from ._library import held, own, released
from ._lines import LineSource, TooLong
from ._log_writer import LogWriter
from ._text import read_text
from .errors import CorruptError, PicolloError, check
from .interchange import check_decoding, merged
from .snapshot import Snapshot

#: Tags from so many bytes on may have been cut.
_TAG_SIZE = structs.LogInterval.tag.size - 4

#: Another log begins with these, after an interval.
_HEADER = re.compile(rb"(?:^|[\r\n])[\s\xef\xbb\xbf]*#\[(?:Histogram log format version|StartTime:)", re.IGNORECASE)

_END_OF_LINE = re.compile(rb"[\r\n]")

#: What a log is read from.
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], IO[str], gzip.GzipFile]


class LogError(CorruptError):
    """A log cannot be read on from some line; ``str(error)`` is ``file:line: what is wrong with it``."""

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
    """A line of a log: what was recorded in an interval."""

    #: When it begins, in seconds since 1970, or since whatever the times of the log count from.
    start: float
    #: When it ends.
    end: float
    #: The counts, named like the tag, with the times and the tag. They stay when the log is closed.
    snapshot: Snapshot
    #: Tells intervals of the same time apart; ``""`` without one.
    tag: str = ""
    #: The largest value divided by a million, as the log says; NaN where that is no number. The counts know better.
    max: float = math.nan
    #: Number of the line, from 1 on.
    line: int = 0


class LogPosition(NamedTuple):
    """Where reading of a log ended, and what has to be known to go on there: see :attr:`LogReader.reached`."""

    #: Bytes before it, of the log in UTF-8: unpacked, if it is compressed, from where reading began.
    offset: int = 0
    #: Lines before it.
    line: int = 0
    #: When the log starts, in seconds since 1970; NaN where that is not known yet.
    start: float = math.nan
    #: What is added to its times; NaN where that is not known yet.
    base: float = math.nan
    #: Whether intervals came before, so that another header begins another log.
    has_intervals: bool = False
    #: Whether it is at the end of an interval whose line end was not written yet: what is left of the line is passed over.
    in_line: bool = False


class LogReader(Iterator[LogInterval]):
    """The intervals of a log, one by one: see :func:`read_log`.

    Memory in use does not depend on the length of the log. After a :class:`LogError` the next call goes on with the line after
    it. Threads that share a reader get different intervals.
    """

    def __init__(
        self,
        source: Source,
        *,
        tag: Union[None, str, Collection[str]] = None,
        select: Optional[Callable[[str, float, float], bool]] = None,
        errors: Literal["strict", "skip"] = "strict",
        max_counters: int = 0,
        after: LogPosition = LogPosition(),
    ) -> None:
        if errors not in ("strict", "skip"):
            raise ValueError(f"errors must be strict or skip, not {errors!r}")
        self._tags = {tag} if isinstance(tag, str) else None if tag is None else frozenset(tag)
        self._select = select
        self._skips = errors == "skip"
        self._max_counters = u64(max_counters, "max_counters")
        #: How many lines were skipped as they could not be read.
        self.skipped = 0
        self._file: Optional[LineSource] = None
        self._chunk: Optional[_Chunk] = None
        #: Where the chunk begins.
        self._before = after
        self._last_line = after.line
        self._lock = threading.RLock()
        self._file = LineSource(source, u64(after.offset, "after.offset"))

    @property
    def name(self) -> str:
        """Path of the log, or what else it is called in messages."""
        return "<closed>" if self._file is None else self._file.name

    @property
    def position(self) -> int:
        """Bytes read so far of the file, compressed or not; of :attr:`size`."""
        return 0 if self._file is None else self._file.position

    @property
    def size(self) -> Optional[int]:
        """Bytes of the file, where that is known."""
        return None if self._file is None else self._file.size

    @property
    def line(self) -> int:
        """Number of the line that was read last, from 1 on."""
        return self._last_line if self._chunk is None else self._before.line + self._chunk.line

    @property
    def reached(self) -> LogPosition:
        """Where reading is now. ``read_log(log, after=reader.reached)`` goes on there, at any time and in any process: at the
        end of a log whose writer still runs, with the line that was not whole and those that came since.
        """
        with self._lock:
            return self._before if self._chunk is None else self._chunk.reached()

    def __iter__(self) -> LogReader:
        return self

    def __next__(self) -> LogInterval:
        # The library's reader takes one call at a time, and decoding lets other threads run.
        with self._lock:
            while True:
                if self._chunk is None and not self._next_chunk():
                    self.close()
                    raise StopIteration
                chunk = self._chunk
                if chunk is None:  # closed by another thread
                    raise StopIteration
                try:
                    interval = self._read(chunk)
                except LogError:
                    self.skipped += 1
                    if not self._skips:
                        raise
                else:
                    if interval is not None:
                        return interval

    def _read(self, chunk: _Chunk) -> Optional[LogInterval]:
        raw = structs.LogInterval()
        status = held.log_reader_next(chunk.pointer, byref(raw))
        if status == structs.END:
            self._finish()
            return None
        if status == CorruptError.STATUS:
            raise self._error(status, f"this is no interval of a log: {chunk.excerpt()}")
        check(status, "log")
        chunk.is_interval()
        tag = raw.tag.decode("utf-8")
        if len(raw.tag) >= _TAG_SIZE:
            tag = read_text(lambda *buffer: held.log_reader_tag(chunk.pointer, *buffer), "tag")
        start, end = raw.start_seconds, raw.end_seconds
        if self._tags is not None and tag not in self._tags:
            return None
        if self._select is not None and not self._select(tag, start, end):
            return None
        pointer = c_void_p()
        status = released.log_reader_decode(chunk.pointer, byref(pointer))
        if status:
            try:
                check_decoding(status, "the histogram")
            except Exception as error:
                raise self._error(status, f"{error}: {chunk.excerpt()}") from None
        snapshot = Snapshot._adopt(pointer, tag)
        snapshot.start, snapshot.end, snapshot.tag = start, end, tag
        return LogInterval(start, end, snapshot, tag, raw.max, self.line)

    def _error(self, status: int, message: str, line: Optional[int] = None) -> LogError:
        return LogError(status, message, self.name, self.line if line is None else line)

    def _finish(self) -> None:
        """Done with these lines."""
        with self._lock:
            self._last_line, self._before, self._chunk = self.line, self.reached, None

    def _next_chunk(self) -> bool:
        """Goes on to the next lines; false at the end."""
        if self._file is None:
            return False
        try:
            text = self._file.lines()
        except (EOFError, zlib.error, gzip.BadGzipFile, TooLong) as error:
            self._file.end()
            raise self._error(CorruptError.STATUS, str(error), self._before.line + 1) from None
        if self._file.is_done:
            text = _without_half_a_comment(text)
        if self._before.in_line:
            rest = _END_OF_LINE.search(text)
            passed = len(text) if rest is None else rest.start()
            text = text[passed:]
            self._before = self._before._replace(offset=self._before.offset + passed, in_line=not text)
        if not text:
            return False
        self._chunk = _Chunk(text, self._before, self._max_counters, self._file.is_done)
        return True

    def sum(self, name: str = "") -> Snapshot:
        """The counts of all intervals from here on, in one snapshot, as HdrHistogram's tools add up a log: in the digits and the
        unit of the first, over the ranges of all; counts of wider buckets go to the bucket at their low end.

        :raises ValueError: when there are none.
        :raises IncompatibleError: for those of doubles with different ratios (:attr:`Snapshot.value_ratio`).
        """
        try:
            return merged((interval.snapshot for interval in self), name, as_logs=True)
        except ValueError as error:
            if isinstance(error, PicolloError):
                raise
            raise ValueError(f"{self.name}: there are no intervals to add up") from None

    def close(self) -> None:
        """Closes the log, and the file if it was given as a path. May be called again; there is nothing more to read then."""
        self._finish()
        if self._file is not None:
            self._file.end()
            self._file.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<picollo.LogReader {self.name!r}, line {self.line}>"


def _without_half_a_comment(text: bytes) -> bytes:
    """The end of a log without its last line, where that has no line end and is no interval: there may be more of it later."""
    begin = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    line = text[begin:].lstrip(b"\xef\xbb\xbf \t")
    return text[:begin] if not line or line.startswith((b"#", b'"', b"StartTimestamp")) else text


class _Chunk:
    """Some lines of a log, read by the library."""

    def __init__(self, text: bytes, before: LogPosition, max_counters: int, is_last: bool) -> None:
        # What the lines before have said about the times.
        times = (("StartTime", before.start), ("BaseTime", before.base))
        known = ["#\n", *(f"#[{name}: {seconds!r}]\n" for name, seconds in times if not math.isnan(seconds))]
        if before.has_intervals:
            known.append("0,0,0,x\n")
        head = "".join(known).encode()
        self._before, self._is_last = before, is_last
        self._head_length, self._head_lines = len(head), len(known)
        # The library reads this memory: it stays as long as the reader.
        self._text = head + text
        pointer = c_void_p()
        check(held.log_reader_create(self._text, len(self._text), byref(pointer)), "log")
        self.pointer = own(pointer, held.log_reader_free)
        check(held.log_reader_set_max_counters(self.pointer, max_counters), "log")
        self._has_intervals = before.has_intervals
        if before.has_intervals:
            check(held.log_reader_next(self.pointer, byref(structs.LogInterval())), "log")
        #: Where the line after the last interval begins.
        self._after_interval = self._head_length

    def _position(self) -> tuple[int, int]:
        at, line = c_uint64(), c_uint64()
        check(held.log_reader_position(self.pointer, byref(at), byref(line)), "log")
        return at.value, line.value

    @property
    def line(self) -> int:
        """Number of the line that was read last, of the lines here."""
        return max(0, self._position()[1] - self._head_lines)

    def is_interval(self) -> None:
        """The line that was read last is one."""
        self._has_intervals, self._after_interval = True, self._position()[0]

    def reached(self) -> LogPosition:
        """Where the line after the one that was read last begins."""
        at = self._position()[0]
        if at <= self._head_length:
            return self._before
        start, base = c_double(), c_double()
        check(held.log_reader_times(self.pointer, byref(start), byref(base)), "log")
        has_intervals = (
            self._has_intervals
            and not math.isnan(base.value)
            and _HEADER.search(self._text[self._after_interval : at]) is None
        )
        # There may be more to come of the last line, if only of its line end.
        in_line = self._is_last and at == len(self._text) and not self._text.endswith(b"\n")
        offset = self._before.offset + at - self._head_length - (in_line and self._text.endswith(b"\r"))
        line = self._before.line + self.line - in_line
        return LogPosition(offset, line, start.value, base.value, has_intervals, in_line)

    def excerpt(self) -> str:
        """The beginning of the line that was read last, in characters that can be printed."""
        line = self._text[: self._position()[0]].rstrip(b"\r\n")
        line = line[max(line.rfind(b"\n"), line.rfind(b"\r")) + 1 :].strip()
        text = line[:60].decode("utf-8", "replace")
        return ascii(text + "..." if len(line) > 60 else text)


def read_log(
    source: Source,
    *,
    tag: Union[None, str, Collection[str]] = None,
    select: Optional[Callable[[str, float, float], bool]] = None,
    errors: Literal["strict", "skip"] = "strict",
    max_counters: int = 0,
    after: LogPosition = LogPosition(),
) -> LogReader:
    """Reads a log of histograms, as written by :func:`write_log` and by HdrHistogram in any language.

    ::

        for interval in picollo.read_log("latency.hlog", tag="GET"):
            print(interval.start, interval.end, interval.snapshot.percentile(99).value)

    Headers are optional, comments may be anywhere, lines end in any way; times are made absolute as Java does it. Logs need not
    be trusted: what is wrong with one is told, with the line, and memory and time are bounded: a line has at most 128 MiB,
    whatever it is unpacked from.

    A last line without a line end that cannot be read is not there yet, as its writer still runs: the log ends before it.

    :param source: a path, an open file (of bytes or text), bytes, or a str with line breaks, which is the log itself. In UTF-8,
        or in UTF-16 with its mark; compressed with gzip or not.
    :param tag: read the intervals with this tag, or one of these; ``""`` is that of intervals without one.
    :param select: called with tag, start and end of each interval: whether to read it. Others are not decoded, which saves most
        of the time.
    :param errors: ``"strict"``: lines that cannot be read raise, and the next call goes on after them; ``"skip"``: they are
        counted in :attr:`LogReader.skipped`.
    :param max_counters: as for :meth:`Snapshot.decode`, for each interval.
    :param after: where an earlier reader of the same log was: its :attr:`LogReader.reached`. Files given as paths are not read
        again up to there, unless they are compressed or in UTF-16.
    :raises LogError: while reading, for a line that is no interval, or whose histogram is damaged or too large; whatever
        ``errors`` says, for compressed data that is damaged or ends early, and for a line beyond all measure.
    :raises OSError: for files that cannot be read.
    """
    return LogReader(source, tag=tag, select=select, errors=errors, max_counters=max_counters, after=after)


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
    :param intervals: written, and the log closed. Without them, :meth:`LogWriter.write` writes, and ``with`` closes.
    :param start: when the log starts, in seconds since 1970 (default: when its first interval does).
    :param comment: comes first in the file; of any number of lines.
    """
    writer = LogWriter(target, start=start, comment=comment)
    if intervals is not None:
        with writer:
            for interval in intervals:
                writer.write(interval.snapshot, interval.start, interval.end, interval.tag)
    return writer
