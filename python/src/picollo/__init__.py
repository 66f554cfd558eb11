"""Measures code with cycle-level precision: histograms with a bounded relative error, clocks, and performance counters.

::

    import picollo

    latency = picollo.Histogram(relative_error=0.01, name="latency")
    with latency.nano_scope():
        work()
    latency.record_many(array_of_uint64)
    print(latency.summary())

    with picollo.Session(["cycles", "branch-misses"], skip_unavailable=True) as session:
        with session.measure():
            work()
    print(session)

The package calls the shared library ``libpicollo`` through ctypes. It searches, in this order: the path in the
environment variable ``PICOLLO_LIBRARY``, the package, the build of the repository that contains the package, and the
system loader's directories. ``picollo.library_path`` is the library in use. If the optional extension module was built,
it makes single calls in C; ``picollo.extension_path`` is its path.
"""

from __future__ import annotations

from . import clock, errors, work
from ._extension import path as extension_path
from ._library import held as _held
from ._library import path as library_path
from .arrays import CountsAndEdges as CountsAndEdges, to_frame
from .baseline import Against as Against, Baseline, Median as Median, SavedRun as SavedRun
from .benchmark import (
    Benchmark,
    BenchmarkCounter as BenchmarkCounter,
    BenchmarkNoise as BenchmarkNoise,
    BenchmarkResult as BenchmarkResult,
    Step as Step,
    benchmark,
)
from .causes import *
from .compare import (
    BlockComparison as BlockComparison,
    Comparison as Comparison,
    QuantileInterval as QuantileInterval,
    RunComparison as RunComparison,
    Verdict,
    compare,
    compare_blocks,
    compare_runs,
    quantile_interval,
)
from .counter import Counter
from .doubles import *
from .errors import *
from .event import Event, EventInfo as EventInfo, PerfInfo as PerfInfo, Reading as Reading, perf_probe
from .exemplars import Exemplars, ExemplarScope as ExemplarScope
from .figure import Figure as Figure, figure
from .histogram import Histogram
from .interchange import Layout
from .log import LogError as LogError, LogInterval as LogInterval, LogReader, LogWriter, read_log, write_log
from .percentile import Bucket as Bucket, BucketPercentile as BucketPercentile, Percentile as Percentile
from .picture import Report as Report, Svg as Svg, report, svg
from .registry import *
from .scope import Scope as Scope
from .segment import Segment
from .session import Measurement as Measurement, Session
from .snapshot import Counts as Counts, CountStep as CountStep, Merged as Merged, Snapshot
from .summary import Summary, SummaryDiff as SummaryDiff
from .timing import timed

__version__ = "0.1.0"

#: Version of the library in use.
library_version: str = _held.version().decode("ascii")

#: The names that programs call. All other types that calls return or raise are here too, for annotations:
#: ``picollo.Percentile``, ``picollo.NotCountedError``. :mod:`picollo.errors` has all errors.
__all__ = [
    "Baseline",
    "Benchmark",
    "Counter",
    "DoubleHistogram",
    "Event",
    "Exemplars",
    "Histogram",
    "Layout",
    "LogReader",
    "LogWriter",
    "PicolloError",
    "Registry",
    "Segment",
    "Session",
    "Snapshot",
    "Summary",
    "Verdict",
    "benchmark",
    "clock",
    "compare",
    "compare_blocks",
    "compare_runs",
    "errors",
    "extension_path",
    "figure",
    "library_path",
    "library_version",
    "perf_probe",
    "quantile_interval",
    "read_log",
    "report",
    "svg",
    "timed",
    "to_frame",
    "work",
    "write_log",
]


def __dir__() -> "list[str]":
    return [*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"]
