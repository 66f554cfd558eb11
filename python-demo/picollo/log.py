"""Logs of histograms (``.hlog``), as HdrHistogram's tools write and read them: a line for each interval."""

from __future__ import annotations

import gzip
import math
import os
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
from .errors import CorruptError, check
from .interchange import check_decoding
from .snapshot import Snapshot

#: Tags from so many bytes on may have been cut.
_TAG_SIZE = structs.LogInterval.tag.size - 4

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
    #: The counts, named like the tag. They stay when the log is closed.
    snapshot: Snapshot
    #: Tells intervals of the same time apart; ``""`` without one.
    tag: str = ""
    #: The largest value divided by a million, as the log says; NaN where that is no number. The counts know better.
    max: float = math.nan
    #: Number of the line, from 1 on.
    line: int = 0


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
        self._times = (math.nan, math.nan)
        self._lines_before = 0
        self._lock = threading.RLock()
        self._file = LineSource(source)

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
        return self._lines_before + (0 if self._chunk is None else self._chunk.line)

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
            self._lines_before += chunk.line
            self._times = chunk.times
            self._chunk = None
            return None
        if status == CorruptError.STATUS:
            raise self._error(status, f"this is no interval of a log: {chunk.excerpt()}")
        check(status, "log")
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
        return LogInterval(start, end, Snapshot._adopt(pointer, tag), tag, raw.max, self.line)

    def _error(self, status: int, message: str, line: Optional[int] = None) -> LogError:
        return LogError(status, message, self.name, self.line if line is None else line)

    def _next_chunk(self) -> bool:
        """Goes on to the next lines; false at the end."""
        if self._file is None:
            return False
        try:
            text = self._file.lines()
        except (EOFError, zlib.error, gzip.BadGzipFile, TooLong) as error:
            self._file.end()
            raise self._error(CorruptError.STATUS, str(error), self._lines_before + 1) from None
        if not text:
            return False
        self._chunk = _Chunk(text, self._times, self._max_counters)
        return True

    def close(self) -> None:
        """Closes the log, and the file if it was given as a path. May be called again; there is nothing more to read then."""
        self._chunk = None
        if self._file is not None:
            self._file.end()
            self._file.close()

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<picollo.LogReader {self.name!r}, line {self.line}>"


class _Chunk:
    """Some lines of a log, read by the library."""

    def __init__(self, text: bytes, times: tuple[float, float], max_counters: int) -> None:
        # What the lines before have said about the times.
        names = ("StartTime", "BaseTime")
        known = [f"#[{name}: {seconds!r}]\n" for name, seconds in zip(names, times) if not math.isnan(seconds)]
        self._before = len(known)
        head = "".join(known).encode()
        # The library reads this memory: it stays as long as the reader.
        self._text = head + text
        pointer = c_void_p()
        check(held.log_reader_create(self._text, len(self._text), byref(pointer)), "log")
        self.pointer = own(pointer, held.log_reader_free)
        check(held.log_reader_set_max_counters(self.pointer, max_counters), "log")

    def _position(self) -> tuple[int, int]:
        at, line = c_uint64(), c_uint64()
        check(held.log_reader_position(self.pointer, byref(at), byref(line)), "log")
        return at.value, line.value

    @property
    def line(self) -> int:
        """Number of the line that was read last, of the lines here."""
        return max(0, self._position()[1] - self._before)

    @property
    def times(self) -> tuple[float, float]:
        """What is known about the times: of the start, and of the base."""
        start, base = c_double(), c_double()
        check(held.log_reader_times(self.pointer, byref(start), byref(base)), "log")
        return start.value, base.value

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
) -> LogReader:
    """Reads a log of histograms, as written by :func:`write_log` and by HdrHistogram in any language.

    ::

        for interval in picollo.read_log("latency.hlog", tag="GET"):
            print(interval.start, interval.end, interval.snapshot.percentile(99).value)

    Headers are optional, comments may be anywhere, lines end in any way; times are made absolute as Java does it. Logs need not
    be trusted: what is wrong with one is told, with the line, and memory and time are bounded.

    :param source: a path, an open file (of bytes or text), bytes, or a str with line breaks, which is the log itself. Compressed
        with gzip or not.
    :param tag: read the intervals with this tag, or one of these; ``""`` is that of intervals without one.
    :param select: called with tag, start and end of each interval: whether to read it. Others are not decoded, which saves most
        of the time.
    :param errors: ``"strict"``: lines that cannot be read raise, and the next call goes on after them; ``"skip"``: they are
        counted in :attr:`LogReader.skipped`.
    :param max_counters: as for :meth:`Snapshot.decode`, for each interval.
    :raises LogError: while reading, for a line that is no interval, or whose histogram is damaged or too large; whatever
        ``errors`` says, for compressed data that is damaged or ends early, and for a line beyond all measure.
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
