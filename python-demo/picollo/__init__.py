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

from . import clock, work
from ._extension import path as extension_path
from ._library import held as _held
from ._library import path as library_path
from ._log_writer import LogWriter
from .arrays import CountsAndEdges, to_frame
from .baseline import Against, Baseline, Median, SavedRun
from .benchmark import Benchmark, BenchmarkCounter, BenchmarkResult, Step, benchmark
from .compare import (
    BlockComparison,
    Comparison,
    QuantileInterval,
    RunComparison,
    Verdict,
    compare,
    compare_blocks,
    compare_runs,
    quantile_interval,
)
from .counter import Counter, StripedCounter
from .doubles import (
    DoubleBucket,
    DoubleHistogram,
    DoublePercentile,
    DoubleSnapshot,
    DoubleStatistics,
    DoubleSummary,
)
from .errors import (
    BufferTooSmallError,
    BusyError,
    ClosedError,
    CorruptError,
    EmptyError,
    ForkedError,
    IncompatibleError,
    InternalError,
    InvalidArgumentError,
    LibraryError,
    NoSuchEventError,
    NotCountedError,
    NullPointerError,
    OutOfMemoryError,
    PermissionDeniedError,
    PicolloError,
    SystemCallError,
    UnsupportedError,
    WrongThreadError,
)
from .event import Event, EventInfo, PerfInfo, perf_probe
from .figure import Figure, figure, figures
from .histogram import Histogram
from .histogram_array import HistogramArray
from .interchange import Layout
from .log import LogError, LogInterval, LogPosition, LogReader, read_log, write_log
from .otlp import OtlpExport
from .percentile import Bucket, BucketPercentile, Percentile
from .picture import Report, Svg, report, svg
from .reading import Reading
from .registry import Exemplar, Exposition, MetricCounter, MetricGauge, Registry
from .scope import Scope
from .segment import Segment
from .session import Measurement, Session
from .snapshot import Counts, Merged, Snapshot
from .steps import CountStep
from .summary import Summary, SummaryDiff
from .timeline import Timeline
from .timing import timed
from .viewer import SegmentEntry, SegmentInfo, Viewer, segments

__version__ = "0.1.0"

#: Version of the library in use.
library_version: str = _held.version().decode("ascii")

__all__ = [
    "Against",
    "Baseline",
    "Benchmark",
    "BenchmarkCounter",
    "BenchmarkResult",
    "BlockComparison",
    "Bucket",
    "BucketPercentile",
    "BufferTooSmallError",
    "BusyError",
    "ClosedError",
    "Comparison",
    "CorruptError",
    "CountStep",
    "Counter",
    "Counts",
    "CountsAndEdges",
    "DoubleBucket",
    "DoubleHistogram",
    "DoublePercentile",
    "DoubleSnapshot",
    "DoubleStatistics",
    "DoubleSummary",
    "EmptyError",
    "Event",
    "EventInfo",
    "Exemplar",
    "Exposition",
    "Figure",
    "ForkedError",
    "Histogram",
    "HistogramArray",
    "IncompatibleError",
    "InternalError",
    "InvalidArgumentError",
    "Layout",
    "LibraryError",
    "LogError",
    "LogInterval",
    "LogPosition",
    "LogReader",
    "LogWriter",
    "Measurement",
    "Median",
    "Merged",
    "MetricCounter",
    "MetricGauge",
    "NoSuchEventError",
    "NotCountedError",
    "NullPointerError",
    "OutOfMemoryError",
    "OtlpExport",
    "Percentile",
    "PerfInfo",
    "PermissionDeniedError",
    "PicolloError",
    "QuantileInterval",
    "Reading",
    "Registry",
    "Report",
    "RunComparison",
    "SavedRun",
    "Scope",
    "Segment",
    "SegmentEntry",
    "SegmentInfo",
    "Session",
    "Snapshot",
    "Step",
    "StripedCounter",
    "Summary",
    "SummaryDiff",
    "Svg",
    "SystemCallError",
    "Timeline",
    "UnsupportedError",
    "Verdict",
    "Viewer",
    "WrongThreadError",
    "benchmark",
    "clock",
    "compare",
    "compare_blocks",
    "compare_runs",
    "extension_path",
    "figure",
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
