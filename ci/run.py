#!/usr/bin/env python3
"""Runs checks in three tiers. The lists are below; docs/quality.md describes each job.

    ci/run.py commit            required for every commit (`make test`)
    ci/run.py nightly           everything else that needs no release (`make check`)
    ci/run.py release           long checks whose results seldom change; the long forms (`make release-check`)
    ci/run.py NAME...           any of these, or single jobs, with what they need; `--list` names them

Continues after a failure. Ends with a table of all jobs and their test runners' sums, and with a line "N passed, N
failed, N skipped" that counts jobs; fails if a job failed. A job that exceeds its time limit is killed with everything
that it started, and has failed; PICOLLO_LIMIT_FACTOR=3 is for a slower machine. A job's output is in
target/ci/NAME.log.

With PICOLLO_TRIES=2 one or two failed jobs run a second time, alone. If a job passes then, it is not stable, which is a
defect: the end lists it as UNSTABLE.
"""

import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


STRESS = "cargo test --quiet --release -p picollo-core --test stress"
# Records of a stress test for each mode, if each costs more than usual.
RECORDS = "PICOLLO_STRESS_RECORDS=${PICOLLO_STRESS_RECORDS:-1000000}"


@dataclasses.dataclass
class Job:
    name: str
    # In seconds, on one of two cores, with nothing built or fetched before.
    limit: int
    # Bash runs it in the root of the tree.
    command: str
    # Two jobs run at a time, on two cores, as most spend most of their time in a compiler or in single-threaded tests.
    # But a job that measures times, or tries every interleaving of time, runs alone.
    alone: bool = False
    # Resources that two jobs must not use at once. "registers": debug registers, of which a virtual machine may lose
    # writes. "debug", "release": cargo's build directories, where the second job would wait while its time limit runs.
    takes: tuple = ()
    # Jobs that must pass before it; they run first even if they are not requested.
    needs: tuple = ("stage",)


COMMIT = [
    Job("lint", 360, "ci/lint.sh", takes=("debug",), needs=()),
    Job("stage", 270, "ci/stage.sh", takes=("release",), needs=()),
    Job("rust", 900, "cargo test --quiet --no-fail-fast", takes=("debug", "registers"), needs=()),
    Job("python", 450, "python/run-tests.sh -q -ra"),
    # It counts instructions, and measures no times.
    Job("cost", 360, "ci/cost.sh"),
    Job("c", 360, "make --no-print-directory -j2 -C c-tests test", takes=("registers",)),
    Job("cpp", 270, "ci/cpp.sh"),
    Job("abi", 270, "ci/describe.sh --check && ci/abi.sh"),
    # It took 317 s while something else read files: limits leave room for that.
    Job("loom", 1080, "ci/loom.sh", needs=()),
    Job("asan", 450, "ci/sanitizers.sh asan c", takes=("registers",), needs=()),
    Job("ci", 270, "python3 -m unittest discover -s ci/tests", needs=()),
    Job("docs", 90, "ci/docs.sh links readme projects"),
    Job("simulated-pmu", 180, "SIMULATED_PMU_READS=20000 ci/simulated-pmu.sh", alone=True),
]

# The longest jobs begin first, so that no long one is left at the end.
NIGHTLY = [
    Job("install", 720, "ci/install.sh", takes=("registers", "release")),
    # Library and command, recompiled for an older C library.
    Job("dist", 720, "packaging/dist.sh && ci/dist/test.sh", needs=()),
    Job("portable", 720, f"{RECORDS} ci/targets/portable.sh lacking", takes=("debug",), needs=()),
    # The first run compiles the recorders for comparison.
    Job("adapters", 720, "ci/adapters.sh"),
    # The first run fetches Dask and Spark.
    # The first run fetches the frameworks, and compiles axum.
    Job("services", 600, "packaging/command.sh && ci/docs/services.py", takes=("release",)),
    Job("engines", 720, "ci/engines.sh"),
    Job("dotnet", 450, "ci/dotnet.sh && packaging/nuget.sh"),
    Job("manual", 630, "ci/docs.sh commands pictures"),
    Job("fuzz", 630, "ci/fuzz.sh", needs=()),
    Job("tsan", 630, f"{RECORDS} ci/sanitizers.sh tsan", takes=("registers",), needs=()),
    Job("asan-rust", 630, f"{RECORDS} ci/sanitizers.sh asan rust python", takes=("registers",)),
    Job("bare-metal", 720, "ci/targets/bare-metal.sh", needs=()),
    Job("command", 270, "cargo test --quiet -p picollo-cli", takes=("debug",), needs=()),
    Job("stopping", 270, "PICOLLO_SIMULATED=4000 cargo test --quiet --release -p picollo-bench --lib simulation", takes=("release",), needs=()),
    Job("killed", 450, "PICOLLO_KILLS=1000 cargo test --quiet -p picollo-segment --test segments killed", takes=("debug",), needs=()),
    Job("windows", 630, "ci/targets/windows.sh", needs=()),
    Job("aarch64", 450, "ci/targets/aarch64.sh", needs=()),
    Job("valgrind", 450, "ci/sanitizers.sh valgrind"),
    Job("interop", 270, "ci/interop.sh"),
    Job("explorer", 180, "ci/explorer.sh", takes=("debug",), needs=()),
    Job("prometheus", 270, "ci/prometheus.sh"),
    Job("stress", 270, f"{RECORDS} {STRESS}", takes=("release",), needs=()),
    Job("abi-fuzz", 270, "ci/abi-fuzz.sh"),
    Job("observe", 270, "ci/observe.sh", needs=("stage", "dotnet")),
    Job("deny", 180, "ci/deny.sh", needs=()),
    Job("verdicts", 240, "ci/verdicts.sh", alone=True),
    Job("why-slow", 240, "ci/why-slow.sh", alone=True),
    Job("simulated-pmu-all", 240, "ci/simulated-pmu.sh", alone=True),
    Job("dotnet-pmu", 60, "ci/simulated-pmu.sh clr", alone=True, needs=("stage", "dotnet")),
]

# Each of these uses both cores.
RELEASE = [
    Job("coverage", 1800, "ci/coverage.sh", alone=True, needs=()),
    Job("dist-twice", 1500, "packaging/dist.sh && ci/dist/test.sh instructions && ci/dist/test.sh twice", alone=True, needs=()),
    Job("planted-bugs", 3600, "ci/loom.sh bugs", alone=True, needs=()),
    # The first run compiles cargo-c.
    Job("install-capi", 1200, "ci/install.sh capi", alone=True),
    # The first run compiles cargo-semver-checks.
    Job("semver", 1200, "ci/abi.sh semver", alone=True, needs=()),
    Job("32-bit", 900, "ci/targets/portable.sh i686", alone=True, needs=()),
    Job("big-endian", 1200, "ci/targets/portable.sh s390x", alone=True, needs=()),
    Job("asan-all", 1800, "ci/sanitizers.sh asan all", alone=True),
    # The long forms.
    Job("tsan-long", 3600, "PICOLLO_STRESS_RECORDS=10000000 ci/sanitizers.sh tsan all", alone=True, needs=()),
    Job("valgrind-long", 3600, "VALGRIND_FULL=1 ci/sanitizers.sh valgrind", alone=True),
    Job("stress-long", 1800, f"PICOLLO_STRESS_RECORDS=100000000 {STRESS}", alone=True, needs=()),
    Job("abi-fuzz-long", 3600, "ABI_SEQUENCES=1000000 ci/abi-fuzz.sh", alone=True),
    Job("why-slow-long", 1800, "WHY_SLOW_TIMES=100 ci/why-slow.sh", alone=True),
    Job("fuzz-long", 3600, "FUZZ_RUNS=1700000 ci/fuzz.sh", alone=True, needs=()),
]

TIERS = {"commit": COMMIT, "nightly": NIGHTLY, "release": RELEASE}

# Jobs need not stage the library again.
ENVIRONMENT = {"PICOLLO_STAGED": "1"}

# The summaries of test runners: ours, cargo's, pytest's, unittest's.
SUMMARY = re.compile(
    r"^(.*\b\d+ passed\b.*|test result: .*|Ran \d+ tests? in .*|.*\b\d+ checks? passed.*|memcheck: .*|\w+Sanitizer: .*)$"
)
FACTOR = float(os.environ.get("PICOLLO_LIMIT_FACTOR", "1"))
TRIES = int(os.environ.get("PICOLLO_TRIES", "1"))
# If more jobs fail, the change is at fault and not the load.
MOST_UNSTABLE = 2


@dataclasses.dataclass
class Result:
    job: Job
    verdict: str
    seconds: float
    summary: str = ""
    skipped: tuple = ()


def sum_up(lines):
    """The test runners' own sums in a log: the last summary, or the sum of cargo's, one for each program."""
    summaries = [line for line in lines if SUMMARY.match(line)]
    if not summaries:
        return ""
    cargo = [match for line in summaries if (match := re.match(r"test result: .*?(\d+) passed; (\d+) failed", line))]
    if summaries[-1].startswith("test result: ") and len(cargo) > 1:
        passed, failed = (sum(int(match[group]) for match in cargo) for group in (1, 2))
        return f"{passed} passed, {failed} failed, in {len(cargo)} programs"
    return summaries[-1].strip("= ")


def pick(names, tiers):
    """The jobs of tiers and names, each once, after the jobs that they need."""
    known = {job.name: job for tier in tiers.values() for job in tier}
    picked = []

    def add(job):
        for needed in job.needs:
            if needed in known:
                add(known[needed])
        if job not in picked:
            picked.append(job)

    for name in names:
        if name not in tiers and name not in known:
            sys.exit(f"ci/run.py: no such tier or job: {name}")
        for job in tiers.get(name) or [known[name]]:
            add(job)
    return picked


def strays(mark):
    """Processes with a job's mark in their environment, which children inherit, wherever they have moved."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)
            except OSError:
                continue


def kill(process, mark):
    """Kills everything that a job started: its process group, and processes that have left it."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(5)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    # Until nobody is left, twice: processes may have started others meanwhile, end slowly, and then show no mark.
    quiet = 0
    for _ in range(200):
        end_group(process)
        left = [*strays(mark)]
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                continue
        quiet = 0 if left else quiet + 1
        if quiet == 2:
            break
        time.sleep(0.1)
    process.wait()


def end_group(process):
    """Kills the rest of a job's process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


class Runner:
    def __init__(self, logs, out=sys.stdout):
        self.logs, self.out = pathlib.Path(logs), out
        self.logs.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.results, self.processes = [], {}
        self.waiting, self.running = [], []
        # Jobs that are being started, not yet in the list of processes; and whether the run is to stop.
        self.starting, self.stopped = 0, False

    def say(self, text):
        with self.lock:
            self.out.write(text)
            self.out.flush()

    def run(self, job):
        """Runs a job to its end or its limit. The output of an exclusive job is printed at once, that of others when
        they end."""
        lacking = [name for name in job.needs if any(r.job.name == name and r.verdict != "passed" for r in self.results)]
        if lacking:
            self.say(f"\n==== {job.name}: not run, as {', '.join(lacking)} did not pass\n")
            self.results.append(Result(job, "not run", 0))
            return
        self.say(f"\n==== {job.name}: {job.command}\n")
        mark = f"PICOLLO_CI_JOB={os.getpid()}-{job.name}"
        environment = {**os.environ, **ENVIRONMENT, **dict([mark.split("=", 1)])}
        began, limit = time.monotonic(), job.limit * FACTOR
        with self.lock:
            self.starting += 1
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", job.command],
            cwd=ROOT, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        with self.lock:
            self.processes[process] = mark.encode()
            self.starting -= 1
        if self.stopped:
            return
        log = self.logs / f"{job.name}.log"

        def copy():
            with open(log, "wb") as file:
                while data := process.stdout.read1():
                    file.write(data)
                    file.flush()
                    if job.alone:
                        self.say(data.decode(errors="replace"))

        reader = threading.Thread(target=copy, daemon=True)
        reader.start()
        try:
            process.wait(limit)
            verdict = "passed" if process.returncode == 0 else "FAILED"
        except subprocess.TimeoutExpired:
            verdict = "TOO LONG"
        # Kills the processes that it left behind, which could also hold the pipe open and block us.
        kill(process, mark.encode()) if verdict == "TOO LONG" else end_group(process)
        reader.join(5)
        if not reader.is_alive():
            process.stdout.close()
        del self.processes[process]
        seconds = time.monotonic() - began
        lines = [line.rstrip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
        skipped = tuple(line for line in lines if line.startswith("SKIPPED"))
        if verdict == "passed" and lines and lines[-1].startswith("SKIPPED"):
            verdict = "skipped"
        # A filter that finds no test passes in every test runner.
        ran_nothing = verdict == "passed" and not skipped and re.search(r"\b0 passed|^Ran 0 tests", sum_up(lines))
        if ran_nothing:
            verdict = "NO TEST"
        if not job.alone:
            self.say(f"\n==== what {job.name} printed\n{log.read_text(errors='replace')}")
        more = {"TOO LONG": f"killed at its limit of {limit:.0f} s", "NO TEST": "FAILED: it ran no test", "FAILED": f"FAILED with status {process.returncode}"}
        self.say(f"==== {job.name}: {more.get(verdict, verdict)}, {seconds:.0f} s\n")
        self.results.append(Result(job, verdict, seconds, sum_up(lines), skipped))

    def stop(self, *_):
        """For signals: ends the run, but not between a job's start and its registration."""
        self.stopped = True
        if not self.starting:
            sys.exit(143)

    def run_all(self, jobs):
        """In order, two at a time, except for exclusive jobs. A job waits for the jobs and resources that it needs."""
        self.waiting, self.running = list(jobs), []
        workers = [threading.Thread(target=self.work, daemon=True) for _ in range(2)]
        try:
            for worker in workers:
                worker.start()
            for worker in workers:
                # In short intervals: a signal during a job's start only leaves a note.
                while worker.is_alive():
                    worker.join(0.2)
                    if self.stopped and not self.starting:
                        sys.exit(143)
        except BaseException:
            self.stopped = True
            raise
        finally:
            # Interrupted: nothing continues without us.
            for process, mark in list(self.processes.items()):
                kill(process, mark)
            # They register the end of their jobs.
            for worker in workers:
                worker.join(10)
            order = [job.name for job in jobs]
            self.results.sort(key=lambda result: order.index(result.job.name))
        self.try_again()
        return self.results

    def try_again(self):
        """Runs the few failed jobs a second time, and notes those that pass then."""
        failed = [result for result in self.results if result.verdict == "FAILED"]
        if TRIES < 2 or self.stopped or len(failed) > MOST_UNSTABLE:
            return
        for first in failed:
            at = self.results.index(first)
            self.results.remove(first)
            self.run(first.job)
            second = self.results.pop()
            if second.verdict == "passed":
                second.skipped += (f"UNSTABLE {first.job.name}: failed, and passed when run again ({first.summary})",)
            self.results.insert(at, second)

    def work(self):
        while not self.stopped:
            with self.lock:
                if not self.waiting:
                    return
                if job := self.next():
                    self.waiting.remove(job)
                    self.running.append(job)
            if not job:
                time.sleep(0.05)
                continue
            try:
                self.run(job)
            finally:
                with self.lock:
                    self.running.remove(job)

    def next(self):
        """The first job that waits for nothing. Jobs before an exclusive one come first, and jobs after it do not
        overtake it."""
        if any(job.alone for job in self.running):
            return None
        taken = {thing for job in self.running for thing in job.takes}
        unfinished = {job.name for job in self.running + self.waiting}
        for job in self.waiting:
            if job.alone:
                return job if job == self.waiting[0] and not self.running else None
            if not taken & set(job.takes) and not unfinished & set(job.needs):
                return job
        return None

    def table(self, total):
        """Prints the final table; returns whether nothing failed."""
        width = max([len(result.job.name) for result in self.results], default=4)
        notes = [line for result in self.results for line in result.skipped]
        if notes:
            self.say("\nNot checked here:\n" + "".join(f"  {line}\n" for line in dict.fromkeys(notes)))
        self.say(f"\n{'job':<{width}}  seconds  limit  verdict   what its tests summed up\n")
        for result in self.results:
            times = f"{result.seconds:7.0f}  {result.job.limit * FACTOR:5.0f}"
            self.say(f"{result.job.name:<{width}}  {times}  {result.verdict:<8}  {result.summary[:120]}\n")
        passed, skipped = (sum(result.verdict == verdict for result in self.results) for verdict in ("passed", "skipped"))
        failed = len(self.results) - passed - skipped
        done, wrong = (
            sum(int(count) for result in self.results for count in re.findall(rf"(\d+) {word}", result.summary))
            for word in ("passed", "failed")
        )
        self.say(f"\nof the tests that are counted here: {done} passed, {wrong} failed; {total:.0f} s in all\n")
        self.say(f"{passed} passed, {failed} failed, {skipped} skipped\n")
        return failed == 0 and passed > 0


def main(arguments, tiers=None, logs=None):
    tiers = tiers or TIERS
    if not arguments or arguments[0].startswith("-"):
        if arguments == ["--list"]:
            for tier, jobs in tiers.items():
                print(f"{tier}:")
                for job in jobs:
                    print(f"  {job.name:<14} {job.limit:5} s  {'alone' if job.alone else '     '}  {job.command}")
            return 0
        print(__doc__)
        return 2
    jobs = pick(arguments, tiers)
    began = time.monotonic()
    runner = Runner(logs or ROOT / "target" / "ci")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, runner.stop)
    try:
        runner.run_all(jobs)
    finally:
        done = {result.job.name for result in runner.results}
        runner.results += [Result(job, "not run", 0) for job in jobs if job.name not in done]
        good = runner.table(time.monotonic() - began)
    return 143 if runner.stopped else 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
