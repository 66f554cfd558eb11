"""Saves runs of benchmarks and compares new runs with them. ``docs/is-it-faster.md`` describes the file format.

The library reads the logs and judges the runs (:func:`picollo.read_log`, :func:`picollo.compare_runs`). This module
selects the runs. The command does the same in Rust; both must agree on the files in ``crates/bench/tests/baselines``.
"""

from __future__ import annotations

import os
import platform
import re
import time
from pathlib import Path
from typing import Mapping, NamedTuple, Optional, Union

from .compare import RunComparison, Verdict, compare_runs
from .errors import EmptyError
from .histogram import Histogram, snapshot_of
from .log import LogError, read_log, write_log
from .snapshot import Snapshot

__all__ = ["Against", "Baseline", "Median", "SavedRun", "environment"]

#: Only this many of a baseline's newest runs are read.
MOST_RUNS = 100

#: If unchanged code may be called slower or faster more often than this, for any distribution of runs, a note says so.
_MUCH = 0.1

#: If one of these differs, it is another machine, and its times are not compared.
_OF_MACHINE = ("cpu", "cpus")
#: These may change times: a note reports each change.
_OF_SYSTEM = ("host", "kernel", "governor", "compiler")

_KEY = "picollo."
#: The comment that marks a log as a run: its values are picoseconds.
_UNIT = {"unit": "ps"}
#: The maximum number of characters of a value; a comment line has 117.
_VALUE = 80
_CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029]"
_NOTED = re.compile(rf"^#\[{re.escape(_KEY)}([^:]*):(.*)\]\s*$", re.MULTILINE)


class Median(NamedTuple):
    """The median of a benchmark in a run."""

    #: In picoseconds.
    value: float
    #: The width of the bucket that contains it.
    width: float


class SavedRun(NamedTuple):
    """A saved run."""

    #: Its file.
    path: Path
    #: The environment of the measurement.
    environment: dict[str, str]
    #: By the name of the benchmark.
    medians: dict[str, Median]


class Against(NamedTuple):
    """The verdict of a baseline on a new run of a benchmark."""

    #: The verdict; ``None`` if no earlier run on this machine has the benchmark.
    comparison: Optional[RunComparison]
    #: Notes: which runs were left out, and how the machine differs from the last run.
    notes: list[str]


class Baseline:
    """Runs saved under a name: a directory with a file for each run. Each file is a log of histograms of picoseconds
    with a line for each benchmark, tagged with its name. ``picollo compare --save`` writes the same::

        baseline = picollo.Baseline("main")
        result = picollo.benchmark(function, function, precision=0.002)
        print(baseline.judge("function", result.a))
        baseline.save({"function": result.a})

    :param directory: the parent directory of baselines.
    """

    def __init__(self, name: str, directory: Union[str, "os.PathLike[str]"] = ".picollo") -> None:
        if not name or name.startswith(".") or len(name) > 200 or re.search(r"[/\\\x00-\x1f\x7f-\x9f]", name):
            raise ValueError(f"the name of a baseline must be that of a directory, without a dot at its start, such as main; got {name!r}")
        self.name = name
        self.directory = Path(directory) / name

    def save(
        self, histograms: Mapping[str, Union[Histogram, Snapshot]], environment: Optional[Mapping[str, str]] = None
    ) -> Path:
        """Adds a run, in a new file that appears at once or not at all, and returns its path.

        Histograms are written with three significant digits, in steps of a thousandth.

        :param environment: the environment of the measurement (default: :func:`environment`).
        :raises ValueError: for no benchmark, or a benchmark without a name or without observations.
        """
        if not histograms:
            raise ValueError("a run to save has no benchmark in it")
        noted = {**_UNIT, **(_here() if environment is None else environment), **_UNIT}
        comment = "\n".join(f"{_KEY}{_clean(key).replace(':', '?')}: {_clean(value)}" for key, value in noted.items())
        fitting = {}
        for name, histogram in histograms.items():
            snapshot = snapshot_of(histogram, "a baseline holds snapshots and histograms")
            if not name or not snapshot.total_count:
                raise ValueError(f"a run to save has a benchmark without a name or without observations: {name!r}")
            fitting[name] = snapshot.with_digits(3)
        self.directory.mkdir(parents=True, exist_ok=True)
        now = time.time_ns()
        stem = f"{now:020}-{os.getpid()}"
        # Readers ignore files that do not end with .hlog.
        begun, path = self.directory / f"{stem}.begun", self.directory / f"{stem}.hlog"
        try:
            with open(begun, "xb") as file:
                with write_log(file, start=now / 1e9, comment=comment) as log:
                    for name, snapshot in fitting.items():
                        log.write(snapshot, now / 1e9, now / 1e9, _tag(name))
            os.replace(begun, path)
        except BaseException:
            begun.unlink(missing_ok=True)
            raise
        return path

    def runs(self) -> list[SavedRun]:
        """Returns the newest 100 runs, oldest first. The list is empty if there is no such baseline.

        :raises LogError: for a file that is no such log, or has another unit.
        :raises OSError: for a file that cannot be read.
        """
        if not self.directory.exists():
            return []
        # Names begin with the time.
        paths = sorted(path for path in self.directory.iterdir() if path.suffix == ".hlog")
        return [_read(path) for path in paths[-MOST_RUNS:]]

    def judge(
        self,
        name: str,
        histogram: Union[Histogram, Snapshot],
        *,
        earlier: Optional[list[SavedRun]] = None,
        environment: Optional[Mapping[str, str]] = None,
        confidence: float = 0.99,
        relative_threshold: float = 0.01,
        resolution: float = 0.0,
    ) -> Against:
        """Judges a run of a benchmark by earlier ones (see :func:`compare_runs`), only those on the same processor
        model.

        :param earlier: :meth:`runs`, if you judge several benchmarks.
        :param resolution: differences up to this many seconds cannot be distinguished.
        :raises EmptyError: if nothing was recorded.
        """
        now = _here() if environment is None else environment
        value, width = _median(snapshot_of(histogram, "a baseline judges snapshots and histograms"))
        values, others, counted = [], 0, []
        runs = self.runs() if earlier is None else earlier
        for run in runs:
            median = run.medians.get(name)
            if median is None:
                continue
            if any(_value_of(run.environment, key) != _value_of(now, key) for key in _OF_MACHINE):
                others += 1
                continue
            values.append(median.value)
            width = max(width, median.width)
            counted.append(run.environment)
        notes = [] if values or others else [_unknown(runs)]
        if others:
            were = "runs were" if others > 1 else "run was"
            notes.append(f"{others} earlier {were} left out, because the machine had another processor")
        for key in _OF_SYSTEM:
            # From all runs, not only the last: each of them takes part in the judgment.
            after = _value_of(now, key)
            unlike = [before for before in (_value_of(environment, key) for environment in counted) if before != after]
            if unlike:
                before = unlike[-1] or "unknown" if len(set(unlike)) == 1 else "another"
                notes.append(f"{key} was {before} in {len(unlike)} of {len(counted)} earlier runs and is {after or 'unknown'}")
        if not values:
            return Against(None, notes)
        compared = compare_runs(
            values,
            value,
            confidence=confidence,
            relative_threshold=relative_threshold,
            resolution=max(resolution * 1e12, width),
        )
        if compared.verdict is not Verdict.NO_EVIDENCE and compared.alarm_bound > _MUCH:
            notes.append(
                f"after {compared.run_count} runs, up to {compared.alarm_bound:.0%} of the runs of unchanged code may be called slower or "
                "faster: save more of them"
            )
        return Against(compared, notes)

    def __repr__(self) -> str:
        return f"<picollo.Baseline {self.name!r} in {str(self.directory.parent)!r}>"


def environment() -> dict[str, str]:
    """The machine and the interpreter: ``cpu``, ``cpus``, ``host``, ``kernel``, ``governor``, ``compiler``, ``load``
    (of the last minute) and ``pressure`` (the percentage of the last ten seconds in which something waited for a
    processor). Unknown values are empty.
    """
    pressure = re.search(r"avg10=(\S+)", _line("/proc/pressure/cpu"))
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "cpu": _clean(_cpu(_text("/proc/cpuinfo"))),
        "cpus": str(len(affinity(0)) if affinity else os.cpu_count() or ""),
        "host": _clean(_line("/proc/sys/kernel/hostname")),
        "kernel": _clean(_line("/proc/sys/kernel/osrelease")),
        "governor": _clean(_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "compiler": f"{platform.python_implementation()} {platform.python_version()}",
        "load": _line("/proc/loadavg").split(" ")[0],
        "pressure": pressure[1] if pressure else "",
    }


#: An alias for functions with a parameter of the same name.
_here = environment


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _line(path: str) -> str:
    return _text(path).split("\n", 1)[0].strip()


def _cpu(info: str) -> str:
    """The processor's name; if it has none, as on Arm, its numbers."""

    def value(key: str) -> str:
        found = re.search(rf"^{key}\s*:(.*)$", info, re.MULTILINE)
        return found[1].strip() if found else ""

    numbers = (value(f"CPU {key}") for key in ("implementer", "variant", "part", "revision"))
    return value("model name") or " ".join(numbers).strip()


def _unknown(runs: list[SavedRun]) -> str:
    """Explains why no run has a benchmark."""
    if not runs:
        return "the baseline has no run yet"
    names = list(runs[-1].medians)
    shown = ", ".join(f"'{re.sub(_CONTROL, '?', name)[:80]}'" for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"the baseline has other benchmarks, in {len(runs)} run{'s' * (len(runs) != 1)}: {shown}{more}"


def _value_of(environment: Mapping[str, str], key: str) -> str:
    """The value in the form that files have."""
    return _clean(environment.get(key, ""))


def _clean(text: str) -> str:
    """The text in the form that a comment holds."""
    return re.sub(r"[^ -~]", "?", text)[:_VALUE].strip()


def _tag(name: str) -> str:
    """Encodes a name as a tag. Tags cannot contain commas, spaces, line ends and control characters: for each byte of
    these, and for ``%``, the tag has ``%`` and two hexadecimal digits."""

    def escape(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))

    return re.sub(r"[%,\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", escape, name)


def _name(tag: str) -> str:
    """Decodes a tag; anything that is no such escape stays unchanged."""
    encoded = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), tag.encode("utf-8", "surrogatepass"))
    try:
        return encoded.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return encoded.decode("utf-8", "replace")


def _median(snapshot: Snapshot) -> Median:
    if not snapshot.total_count:
        raise EmptyError(message="nothing was recorded")
    found = snapshot.percentile(50)
    return Median(float(found.value), float(found.bucket.step))


def _read(path: Path) -> SavedRun:
    text = path.read_bytes()
    # Comments come first.
    noted = {key.strip(): value.strip() for key, value in _NOTED.findall(text.decode("utf-8", "replace"))}
    medians: dict[str, Median] = {}
    with read_log(path) as log:
        for interval in log:
            name = _name(interval.tag)
            if name in medians:
                raise LogError(message=f"{name!r} occurs twice in this run: each benchmark needs its own name", source=str(path), line=interval.line)
            try:
                medians[name] = _median(interval.snapshot)
            except EmptyError as error:
                raise LogError(message=str(error), source=str(path), line=interval.line) from None
    if any(noted.get(key) != value for key, value in _UNIT.items()):
        raise LogError(message=f"{path} is not a run of a baseline: the comment `#[picollo.unit: ps]` is missing")
    if not text.endswith(b"\n"):
        # Readers of growing logs would wait for the rest of such a line.
        raise LogError(message=f"{path} is incomplete: its last line has no end")
    return SavedRun(path, noted, medians)
