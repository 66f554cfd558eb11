"""Writes logs: see :func:`picollo.write_log`."""

from __future__ import annotations

import contextlib
import gzip
import math
import os
import threading
import time
from typing import Any, Optional, Union

from ._library import held
from ._text import c_text, read_bytes, read_text
from .errors import ClosedError, IncompatibleError, InvalidArgumentError
from .histogram import Histogram, snapshot_of
from .interchange import MOST_FIT, NO_ROOM, digits_for
from .snapshot import Snapshot


class LogWriter:
    """Writes a log of histograms: see :func:`write_log`. Any thread may write."""

    def __init__(self, target: Any, *, start: Optional[float] = None, comment: str = "") -> None:
        self._closes = contextlib.ExitStack()
        self._comment = c_text(comment, "comment")
        self._start = None if start is None else _seconds(start, "start")
        # Where the next interval of a tag begins, unless it is said.
        self._opened = time.time() if start is None else self._start
        self._ends: dict[str, float] = {}
        self._lock = threading.Lock()
        self._has_header = False
        self._closed = False
        #: Lines written so far, the header not counted.
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
        """Writes what was recorded in an interval.

        ::

            snapshot = latency.snapshot()
            with picollo.write_log("latency.hlog") as log:
                while serving:
                    time.sleep(1)
                    log.write(snapshot.update(deltas=True))

        The format has room for HdrHistogram's buckets alone. Others are written in those of the digits that are as fine
        (:meth:`Snapshot.with_digits`); underflow, overflow and lost counts are left out.

        :param start: seconds since 1970 (default: :attr:`Snapshot.start`, if it has one; else where the interval before it, of the
            same tag, ended; else when the log was opened).
        :param end: (default: :attr:`Snapshot.end`, if it has one; else when the counts were taken).
        :param tag: tells intervals of the same time apart; without comma, space, line end and control character but the tab (default:
            :attr:`Snapshot.tag`).
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
            self._put(line)
            self._ends[tag] = finish
            self.intervals += 1

    def _write_header(self, start: Optional[float]) -> None:
        if self._has_header:
            return
        start = start if self._start is None else self._start
        seconds = math.nan if start is None else start
        text = read_text(lambda *buffer: held.log_format_header(seconds, self._comment, *buffer), "header of a log")
        self._put(text)
        self._has_header = True

    def _put(self, text: str) -> None:
        self._file.write(text if self._is_text else text.encode("utf-8"))
        # So that others can read on; what is compressed would only grow.
        if not isinstance(self._file, gzip.GzipFile) and hasattr(self._file, "flush"):
            self._file.flush()

    def close(self) -> None:
        """Closes the log, and the file if it was given as a path. A log of no intervals gets its header. May be called again."""
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
