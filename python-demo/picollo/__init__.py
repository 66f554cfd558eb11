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

The package calls the shared library ``libpicollo`` through ctypes. It looks for it at the path in the environment variable
``PICOLLO_LIBRARY``, else inside the package, in the build of the repository that the package lies in, and where the system's
loader looks. ``picollo.library_path`` tells which one it took. Single calls are made in C where the package's extension module was
built: ``picollo.extension_path`` tells.
"""

from __future__ import annotations

from . import clock, errors, work
from ._extension import path as extension_path
from ._library import held as _held
from ._library import path as library_path
from ._log_writer import LogWriter
from .arrays import CountsAndEdges as CountsAndEdges, to_frame
from .baseline import Against as Against, Baseline, Median as Median, SavedRun as SavedRun
from .benchmark import (
    Benchmark,
    BenchmarkCounter as BenchmarkCounter,
    BenchmarkResult as BenchmarkResult,
    Step as Step,
    benchmark,
)
from .causes import (
    Cause as Cause,
    CauseShare as CauseShare,
    ExemplarInterval as ExemplarInterval,
    KeptExemplar as KeptExemplar,
    TraceContext as TraceContext,
)
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
from .counter import Counter, StripedCounter
from .doubles import (
    DoubleBucket as DoubleBucket,
    DoubleHistogram,
    DoublePercentile as DoublePercentile,
    DoubleSnapshot as DoubleSnapshot,
    DoubleStatistics as DoubleStatistics,
    DoubleSummary as DoubleSummary,
)
from .errors import (
    BufferTooSmallError as BufferTooSmallError,
    BusyError as BusyError,
    ClosedError as ClosedError,
    CorruptError as CorruptError,
    EmptyError as EmptyError,
    ForkedError as ForkedError,
    IncompatibleError as IncompatibleError,
    InternalError as InternalError,
    InvalidArgumentError as InvalidArgumentError,
    LibraryError as LibraryError,
    NoSuchEventError as NoSuchEventError,
    NotCountedError as NotCountedError,
    NullPointerError as NullPointerError,
    OutOfMemoryError as OutOfMemoryError,
    PermissionDeniedError as PermissionDeniedError,
    PicolloError,
    SystemCallError as SystemCallError,
    UnsupportedError as UnsupportedError,
    WrongThreadError as WrongThreadError,
)
from .event import Event, EventInfo as EventInfo, PerfInfo as PerfInfo, perf_probe
from .exemplars import Exemplars, ExemplarScope as ExemplarScope
from .figure import Figure as Figure, FigureTail as FigureTail, figure, figure_tail, figures
from .histogram import Histogram
from .histogram_array import HistogramArray
from .interchange import Layout
from .log import LogError as LogError, LogInterval as LogInterval, LogPosition as LogPosition, LogReader, read_log, write_log
from .noise import BenchmarkNoise as BenchmarkNoise
from .otlp import OtlpExport
from .percentile import Bucket as Bucket, BucketPercentile as BucketPercentile, Percentile as Percentile
from .picture import Report as Report, Svg as Svg, report, svg
from .reading import Reading as Reading
from .registry import (
    Exemplar as Exemplar,
    Exposition as Exposition,
    MetricCounter as MetricCounter,
    MetricGauge as MetricGauge,
    Registry,
)
from .scope import Scope as Scope
from .segment import Segment
from .session import Measurement as Measurement, Session
from .snapshot import Counts as Counts, Merged as Merged, Snapshot
from .steps import CountStep as CountStep
from .summary import Summary, SummaryDiff as SummaryDiff
from .timeline import Timeline
from .timing import timed
from .viewer import SegmentEntry as SegmentEntry, SegmentInfo as SegmentInfo, Viewer, segments

__version__ = "0.1.0"

#: Version of the library in use.
library_version: str = _held.version().decode("ascii")

#: What a program calls. Everything else that calls return or raise is here too, for annotations: ``picollo.Percentile``,
#: ``picollo.NotCountedError``; :mod:`picollo.errors` has all errors.
__all__ = [
    "Baseline",
    "Benchmark",
    "Counter",
    "DoubleHistogram",
    "Event",
    "Exemplars",
    "Histogram",
    "HistogramArray",
    "Layout",
    "LogReader",
    "LogWriter",
    "OtlpExport",
    "PicolloError",
    "Registry",
    "Segment",
    "Session",
    "Snapshot",
    "StripedCounter",
    "Summary",
    "Timeline",
    "Verdict",
    "Viewer",
    "benchmark",
    "clock",
    "compare",
    "compare_blocks",
    "compare_runs",
    "errors",
    "extension_path",
    "figure",
    "figure_tail",
    "figures",
    "library_path",
    "library_version",
    "perf_probe",
    "quantile_interval",
    "read_log",
    "report",
    "segments",
    "svg",
    "timed",
    "to_frame",
    "work",
    "write_log",
]


def __dir__() -> "list[str]":
    return [*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"]
