"""How a distribution changes over time: what was recorded in each interval."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Iterable, NamedTuple, Optional

from . import arrays
from .errors import UnsupportedError
from .histogram import Histogram
from .log import LogInterval
from .snapshot import Snapshot
from .summary import Summary

if TYPE_CHECKING:
    import pandas


class Interval(NamedTuple):
    """What was recorded between two samples."""

    #: Seconds on the clock of :func:`time.monotonic`; of a log, those of the log.
    begin: float
    end: float
    summary: Summary
    #: The buckets that have counts; a structured array, see :meth:`Snapshot.bucket_array`.
    buckets: arrays.Array


class Timeline:
    """Collects a histogram's deltas, for :func:`picollo.plot.heatmap` and for frames.

    ::

        timeline = picollo.Timeline(latency)
        while serving:
            time.sleep(1)
            print(timeline.sample().summary.line())
        picollo.plot.heatmap(timeline)

    Each sample keeps the buckets that have counts, 48 bytes apiece. Writers are not disturbed, nor are resets or other readers
    noticed. One thread samples at a time. Needs numpy.

    :param keep: keep so many of the latest intervals (default: all of them).
    """

    def __init__(self, histogram: Histogram, keep: Optional[int] = None) -> None:
        arrays.need("numpy", "a timeline")
        if keep is not None and keep < 1:
            raise ValueError(f"keep must be at least 1, not {keep}")
        # The first update is the start of the first delta: what was recorded before belongs to none.
        self._snapshot: Optional[Snapshot] = histogram.snapshot()
        self._name = histogram.name
        self._last = time.monotonic()
        self._keep = keep
        #: The intervals so far, oldest first.
        self.intervals: list[Interval] = []

    @classmethod
    def of(cls, intervals: Iterable[LogInterval], name: str = "") -> Timeline:
        """The intervals of a log, to plot or to make a frame of: ``Timeline.of(picollo.read_log(path, tag="GET"))``.

        Their times are those of the log. There is nothing more to sample.

        :raises ValueError: for intervals that are not in the order of their ends, such as those of several logs.
        """
        timeline = cls.__new__(cls)
        timeline._snapshot = None
        timeline._name = name
        timeline._last, timeline._keep = 0.0, None
        timeline.intervals = []
        for item in intervals:
            if timeline.intervals and item.end < timeline.intervals[-1].end:
                raise ValueError(f"intervals must be in order, but one ends at {timeline.intervals[-1].end}, the next at {item.end}")
            timeline.intervals.append(
                Interval(item.start, item.end, item.snapshot.summary(), item.snapshot.bucket_array())
            )
        return timeline

    @property
    def name(self) -> str:
        """Name of the histogram, or ``""``."""
        return self._name

    def sample(self) -> Interval:
        """Ends an interval, which holds what was recorded since the previous sample, and begins the next."""
        if self._snapshot is None:
            raise UnsupportedError(message="a timeline of a log has no histogram to sample")
        self._snapshot.update(deltas=True)
        now = time.monotonic()
        interval = Interval(self._last, now, self._snapshot.summary(), self._snapshot.bucket_array())
        self._last = now
        self.intervals.append(interval)
        if self._keep is not None:
            del self.intervals[: -self._keep]
        return interval

    def to_frame(self) -> pandas.DataFrame:
        """A pandas data frame with a row for each interval, by the seconds at its end since the first began.

        :raises ImportError: without pandas.
        """
        begin = self.intervals[0].begin if self.intervals else 0.0
        index = [interval.end - begin for interval in self.intervals]
        return arrays.to_frame([interval.summary for interval in self.intervals], index)
