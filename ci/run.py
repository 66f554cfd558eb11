#!/usr/bin/env python3
"""What is checked, in three tiers: the lists are right below, and docs/quality.md says what each job asks.

    ci/run.py commit            what every commit has to pass (`make test`)
    ci/run.py nightly           everything else that needs no release (`make check`)
    ci/run.py release           what takes long, and seldom changes; the long forms (`make release-check`)
    ci/run.py NAME...           any of these, or single jobs, with what they need; `--list` names them

Goes on after a fault. Ends with a table of all jobs, with what their test runners summed up, and with a line "N passed, N failed,
N skipped" that counts jobs; fails when one failed. A job that takes longer than its limit is killed, with all that it started,
and has failed; PICOLLO_LIMIT_FACTOR=3 is for a slower machine. What a job prints is in target/ci/NAME.log.
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
# Records of a stress test for each mode, where each costs more than usual.
RECORDS = "PICOLLO_STRESS_RECORDS=${PICOLLO_STRESS_RECORDS:-1000000}"


@dataclasses.dataclass
class Job:
    name: str
    # In seconds, for two cores and nothing built or fetched before.
    limit: int
    # Run by bash in the root of the tree.
    command: str
    # May run while another such job does: it takes no times, does not compile for long, and does not use debug registers, which
    # two must not at once.
    beside: bool = False
    # Jobs that have to pass before, and are run before where they are not asked for.
    needs: tuple = ("stage",)


COMMIT = [
    Job("lint", 240, "ci/lint.sh", needs=()),
    Job("rooms", 30, "ci/rooms.py --planted", needs=()),
    Job("stage", 180, "ci/stage.sh", needs=()),
    Job("rust", 600, "cargo test --quiet --no-fail-fast", needs=()),
    Job("c", 240, "make --no-print-directory -j2 -C c-tests test"),
    Job("cpp", 180, "ci/cpp.sh"),
    Job("abi", 180, "ci/describe.sh --check && ci/abi.sh"),
    Job("python", 300, "python-demo/run-tests.sh -q -ra", beside=True),
    # Counts instructions, and takes no times.
    Job("cost", 240, "ci/cost.sh", beside=True),
    Job("docs", 60, "ci/docs.sh links readme projects", beside=True),
    Job("ci", 180, "python3 -m unittest discover -s ci/tests", beside=True, needs=()),
    Job("simulated-pmu", 180, "SIMULATED_PMU_READS=20000 ci/simulated-pmu.sh"),
    Job("loom", 240, "ci/loom.sh", needs=()),
    Job("asan", 300, "ci/sanitizers.sh asan c", needs=()),
]

NIGHTLY = [
    Job("verdicts", 240, "ci/verdicts.sh"),
    Job("simulated-pmu-all", 240, "ci/simulated-pmu.sh"),
    Job("manual", 420, "ci/docs.sh commands pictures"),
    Job("dotnet", 300, "ci/dotnet.sh && ci/nuget.sh"),
    Job("dotnet-pmu", 60, "ci/simulated-pmu.sh clr", needs=("stage", "dotnet")),
    Job("command", 180, "cargo test --quiet -p picollo-cli", needs=()),
    Job("observe", 180, "ci/observe.sh", needs=("stage", "dotnet")),
    Job("explorer", 240, "ci/explorer.sh", needs=()),
    Job("stress", 180, f"{RECORDS} {STRESS}", needs=()),
    Job("killed", 300, "PICOLLO_KILLS=1000 cargo test --quiet -p picollo-native --test segments killed", needs=()),
    Job("abi-fuzz", 180, "ci/abi-fuzz.sh"),
    Job("fuzz", 420, "ci/fuzz.sh", needs=()),
    Job("tsan", 420, f"{RECORDS} ci/sanitizers.sh tsan", needs=()),
    Job("asan-rust", 420, f"{RECORDS} ci/sanitizers.sh asan rust python", needs=()),
    Job("valgrind", 300, "ci/sanitizers.sh valgrind"),
    Job("portable", 480, f"{RECORDS} ci/targets/portable.sh lacking", needs=()),
    Job("bare-metal", 480, "ci/targets/bare-metal.sh", needs=()),
    Job("aarch64", 300, "ci/targets/aarch64.sh", needs=()),
    Job("windows", 420, "ci/targets/windows.sh", needs=()),
    # The first time it compiles cargo-c.
    Job("install", 900, "ci/install.sh"),
    # Library and command, compiled again for an older C library.
    Job("dist", 480, "ci/dist.sh && ci/dist/test.sh", needs=()),
    Job("prometheus", 180, "ci/prometheus.sh"),
    Job("interop", 180, "ci/interop.sh", beside=True),
    # The first time it fetches Dask and Spark.
    Job("engines", 480, "ci/engines.sh"),
    # The first time it compiles the recorders that it compares with.
    Job("adapters", 480, "ci/adapters.sh"),
    Job("deny", 120, "ci/deny.sh", beside=True, needs=()),
]

RELEASE = [
    Job("coverage", 1800, "ci/coverage.sh", needs=()),
    Job("reproducible", 600, "ci/reproducible.sh", needs=()),
    Job("dist-twice", 900, "ci/dist/test.sh twice", needs=()),
    Job("planted-bugs", 3600, "ci/loom.sh bugs", needs=()),
    # The first time it compiles cargo-semver-checks.
    Job("semver", 1200, "ci/abi.sh semver", needs=()),
    Job("32-bit", 900, "ci/targets/portable.sh i686", needs=()),
    Job("big-endian", 1200, "ci/targets/portable.sh s390x", needs=()),
    Job("asan-all", 1800, "ci/sanitizers.sh asan all", needs=()),
    # The long forms.
    Job("tsan-long", 3600, "PICOLLO_STRESS_RECORDS=10000000 ci/sanitizers.sh tsan all", needs=()),
    Job("valgrind-long", 3600, "VALGRIND_FULL=1 ci/sanitizers.sh valgrind"),
    Job("stress-long", 1800, f"PICOLLO_STRESS_RECORDS=100000000 {STRESS}", needs=()),
    Job("abi-fuzz-long", 3600, "ABI_SEQUENCES=1000000 ci/abi-fuzz.sh"),
    Job("fuzz-long", 3600, "FUZZ_RUNS=1700000 ci/fuzz.sh", needs=()),
]

TIERS = {"commit": COMMIT, "nightly": NIGHTLY, "release": RELEASE}

# What is staged once need not be staged by each.
ENVIRONMENT = {"PICOLLO_STAGED": "1"}

# How test runners sum up: ours, cargo's, pytest's, unittest's.
SUMMARY = re.compile(
    r"^(.*\b\d+ passed\b.*|test result: .*|Ran \d+ tests? in .*|.*\b\d+ checks? passed.*|memcheck: .*|\w+Sanitizer: .*)$"
)
FACTOR = float(os.environ.get("PICOLLO_LIMIT_FACTOR", "1"))


@dataclasses.dataclass
class Result:
    job: Job
    verdict: str
    seconds: float
    summary: str = ""
    skipped: tuple = ()


def sum_up(lines):
    """What the test runners in a log say of themselves: the last summary, or the sum of cargo's, one for each program."""
    summaries = [line for line in lines if SUMMARY.match(line)]
    if not summaries:
        return ""
    cargo = [match for line in summaries if (match := re.match(r"test result: .*?(\d+) passed; (\d+) failed", line))]
    if summaries[-1].startswith("test result: ") and len(cargo) > 1:
        passed, failed = (sum(int(match[group]) for match in cargo) for group in (1, 2))
        return f"{passed} passed, {failed} failed, in {len(cargo)} programs"
    return summaries[-1].strip("= ")


def pick(names, tiers):
    """The jobs of tiers and of names, each once, what they need before them."""
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
    """Processes that bear the mark of a job, wherever they have moved: its children's environment has it."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)
            except OSError:
                continue


def kill(process, mark):
    """All that a job started: its process group, and what has left that."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(5)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    # Until nobody is left, twice: they may have started others meanwhile, take a moment to go, and show no mark while they do so.
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
    """What is left of a job's process group."""
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
        # Jobs that are just being started, and are not in the list of processes yet; whether somebody wants an end.
        self.starting, self.stopped = 0, False

    def say(self, text):
        with self.lock:
            self.out.write(text)
            self.out.flush()

    def run(self, job, alone):
        """Runs a job to its end, or its limit. What one alone prints is printed at once, and of others when they are done."""
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
                    if alone:
                        self.say(data.decode(errors="replace"))

        reader = threading.Thread(target=copy, daemon=True)
        reader.start()
        try:
            process.wait(limit)
            verdict = "passed" if process.returncode == 0 else "FAILED"
        except subprocess.TimeoutExpired:
            verdict = "TOO LONG"
        # What it has left behind, too; or else what holds the pipe open would keep us here.
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
        if not alone:
            self.say(f"\n==== what {job.name} printed\n{log.read_text(errors='replace')}")
        more = {"TOO LONG": f"killed at its limit of {limit:.0f} s", "FAILED": f"FAILED with status {process.returncode}"}
        self.say(f"==== {job.name}: {more.get(verdict, verdict)}, {seconds:.0f} s\n")
        self.results.append(Result(job, verdict, seconds, sum_up(lines), skipped))

    def stop(self, *_):
        """For signals: ends the run, but not between a job's start and the note of it."""
        self.stopped = True
        if not self.starting:
            sys.exit(143)

    def run_all(self, jobs):
        """In their order; where jobs that may run beside others follow each other, two at a time."""
        jobs = list(jobs)
        try:
            while jobs and not self.stopped:
                together = [jobs.pop(0)]
                if together[0].beside:
                    while jobs and jobs[0].beside:
                        together.append(jobs.pop(0))
                if len(together) == 1:
                    self.run(together[0], alone=True)
                else:
                    self.run_two_at_a_time(together)
        except BaseException:
            self.stopped = True
            raise
        finally:
            # Interrupted: nothing goes on without us.
            for process, mark in list(self.processes.items()):
                kill(process, mark)
        return self.results

    def run_two_at_a_time(self, jobs):
        waiting = list(jobs)

        def work():
            while True:
                with self.lock:
                    if not waiting or self.stopped:
                        return
                    job = waiting.pop(0)
                self.run(job, alone=False)

        workers = [threading.Thread(target=work) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def table(self, total):
        """What there is to say at the end; whether nothing failed."""
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
                    print(f"  {job.name:<14} {job.limit:5} s  {'beside' if job.beside else '      '}  {job.command}")
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
