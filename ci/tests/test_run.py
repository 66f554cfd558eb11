"""The runner continues after a failure, reports all failures, enforces limits, and sets its status: tests with made-up
jobs."""

import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

CI = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CI))
import run  # noqa: E402
from run import Job  # noqa: E402


# Limits as written here, even if these tests are part of a run with other limits.
run.FACTOR = 1
run.TRIES = 1


def job(name, command, limit=30, **options):
    return Job(name, limit, command, **{"needs": (), **options})


class Run(unittest.TestCase):
    def run_jobs(self, *jobs):
        """The runner's results by name, and its output."""
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as logs:
            runner = run.Runner(logs, out)
            runner.run_all(jobs)
            self.good = runner.table(1)
        return {result.job.name: result for result in runner.results}, out.getvalue()

    def test_two_faults_in_one_run_are_both_reported(self):
        results, printed = self.run_jobs(
            job("first", "echo '3 passed, 0 failed'"),
            job("broken", "echo 'FAILED: a fault'; echo '2 passed, 1 failed'; exit 1"),
            job("between", "echo '1 passed, 0 failed'"),
            job("wrong", "false; echo never"),
            job("last", "echo 'test result: ok. 5 passed; 0 failed; 0 ignored'; echo 'test result: ok. 6 passed; 0 failed; 0 ignored'"),
        )
        verdicts = {name: result.verdict for name, result in results.items()}
        self.assertEqual(verdicts, {"first": "passed", "broken": "FAILED", "between": "passed", "wrong": "FAILED", "last": "passed"})
        self.assertFalse(self.good)
        self.assertEqual(printed.splitlines()[-1], "3 passed, 2 failed, 0 skipped")
        table = printed[printed.index("job ") :]
        self.assertRegex(table, r"(?m)^broken +\d+ +30 +FAILED +2 passed, 1 failed$")
        self.assertRegex(table, r"(?m)^wrong +\d+ +30 +FAILED +$")
        self.assertRegex(table, r"(?m)^last +\d+ +30 +passed +11 passed, 0 failed, in 2 programs$")
        self.assertIn("of the tests that are counted here: 17 passed, 1 failed", table)
        self.assertIn("FAILED: a fault", printed)
        self.assertNotIn("never", printed.replace("echo never", ""))

    def test_all_well(self):
        _, printed = self.run_jobs(job("one", "true"), job("two", "echo '1 passed in 0.01s'"))
        self.assertTrue(self.good)
        self.assertEqual(printed.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_nothing_at_all_is_not_well(self):
        self.run_jobs()
        self.assertFalse(self.good)

    def test_a_job_that_runs_no_test_has_failed(self):
        results, printed = self.run_jobs(
            job("filter", "echo 'test result: ok. 0 passed; 0 failed; 7 filtered out'"),
            job("all filters", "echo 'test result: ok. 0 passed; 0 failed'; echo 'test result: ok. 0 passed; 0 failed'"),
            job("one of them", "echo 'test result: ok. 0 passed; 0 failed'; echo 'test result: ok. 10 passed; 0 failed'"),
            job("unittest", "echo 'Ran 0 tests in 0.000s'"),
        )
        self.assertEqual([result.verdict for result in results.values()], ["NO TEST", "NO TEST", "passed", "NO TEST"])
        self.assertFalse(self.good)
        self.assertIn("filter: FAILED: it ran no test", printed)

    def test_what_is_skipped_is_said_and_not_counted_as_passed(self):
        results, printed = self.run_jobs(
            job("elsewhere", "echo 'SKIPPED: not on this machine'"),
            job("in part", "echo 'SKIPPED a part of it'; echo '1 passed, 0 failed'"),
            job("no excuse", "echo 'SKIPPED: says so'; exit 3"),
        )
        self.assertEqual([result.verdict for result in results.values()], ["skipped", "passed", "FAILED"])
        self.assertEqual(printed.splitlines()[-1], "1 passed, 1 failed, 1 skipped")
        self.assertRegex(printed, r"Not checked here:\n  SKIPPED: not on this machine\n  SKIPPED a part of it\n")

    def test_a_job_beyond_its_limit_is_killed_with_all_that_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            # A child, one that has left the group, and one that ignores termination requests.
            command = f"""
                echo begun
                sleep 300 & echo $! >{folder}/child
                setsid sleep 300 & echo $! >{folder}/strayed
                bash -c 'trap "" TERM; echo $$ >{folder}/deaf; while :; do sleep 1; done' &
                wait
            """
            began = time.monotonic()
            results, printed = self.run_jobs(job("hangs", command, limit=8), job("next", "true"))
            self.assertLess(time.monotonic() - began, 120)
            self.assertEqual([result.verdict for result in results.values()], ["TOO LONG", "passed"])
            self.assertIn("begun", printed)
            self.assertIn("hangs: killed at its limit of 8 s", printed)
            self.assertEqual(printed.splitlines()[-1], "1 passed, 1 failed, 0 skipped")
            self.assertFalse(self.good)
            for name in ("child", "strayed", "deaf"):
                number = int(pathlib.Path(folder, name).read_text())
                self.assertFalse(self.lives(number), f"{name} lives on")

    @staticmethod
    def lives(number):
        try:
            return not re.search(r"^State:\s+Z", pathlib.Path(f"/proc/{number}/status").read_text(), re.MULTILINE)
        except OSError:
            return False

    def test_a_job_that_leaves_something_behind_does_not_hold_up_the_run(self):
        began = time.monotonic()
        results, _ = self.run_jobs(job("leaves", "sleep 300 & echo left"))
        self.assertEqual(results["leaves"].verdict, "passed")
        self.assertLess(time.monotonic() - began, 120)

    def test_two_at_a_time_where_allowed_and_only_there(self):
        with tempfile.TemporaryDirectory() as folder:
            # Each waits for the other, and reports how many there are.
            meet = "touch {0}/{1}; for _ in $(seq 250); do [ -e {0}/{2} ] && exit 0; sleep 0.1; done; exit 1"
            count = "mkdir {0}/alone && sleep 0.3 && rmdir {0}/alone"
            self.run_jobs(
                job("a", meet.format(folder, "a", "b")),
                job("b", meet.format(folder, "b", "a")),
                job("c", count.format(folder), takes=("it",)),
                job("d", count.format(folder), takes=("it", "more")),
                job("e", count.format(folder), alone=True),
                job("f", count.format(folder), alone=True),
                job("g", count.format(folder), takes=("it",)),
                job("h", count.format(folder), needs=("g",)),
            )
            self.assertTrue(self.good)
            several = "mkdir {0}/{1} && [ $(ls -d {0}/n* | wc -l) -le 2 ] && sleep 0.3 && rmdir {0}/{1}"
            self.run_jobs(*[job(f"n{n}", several.format(folder, f"n{n}")) for n in range(5)])
            self.assertTrue(self.good)

    def test_what_waits_is_overtaken_by_what_need_not_wait(self):
        with tempfile.TemporaryDirectory() as folder:
            later = f"for _ in $(seq 250); do [ -e {folder}/overtook ] && exit 0; sleep 0.1; done; exit 1"
            self.run_jobs(
                job("first", later, takes=("it",)),
                job("second", "true", takes=("it",)),
                job("third", f"touch {folder}/overtook"),
            )
            self.assertTrue(self.good)

    def test_what_needs_a_failed_job_is_not_run(self):
        results, printed = self.run_jobs(job("stage", "exit 1"), job("tests", "echo never again", needs=("stage",)), job("other", "true"))
        self.assertEqual({name: result.verdict for name, result in results.items()}, {"stage": "FAILED", "tests": "not run", "other": "passed"})
        self.assertEqual(printed.splitlines()[-1], "1 passed, 2 failed, 0 skipped")

    def test_few_failed_jobs_run_again_if_asked_and_are_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            once = "mkdir {0}/{1} && echo '2 passed, 1 failed' && exit 1; true"
            again = [job("a", once.format(folder, "a")), job("b", "exit 1"), job("c", "true")]
            try:
                run.TRIES = 2
                results, printed = self.run_jobs(*again)
                self.assertEqual([results[name].verdict for name in "abc"], ["passed", "FAILED", "passed"])
                self.assertIn("UNSTABLE a: failed, and passed when run again (2 passed, 1 failed)", printed)
                self.assertEqual(printed.splitlines()[-1], "2 passed, 1 failed, 0 skipped")
                # Many failures are no accident: no job runs again.
                results, _ = self.run_jobs(*[job(name, once.format(folder, name)) for name in "xyz"])
                self.assertEqual([result.verdict for result in results.values()], ["FAILED"] * 3)
            finally:
                run.TRIES = 1
            results, _ = self.run_jobs(job("d", once.format(folder, "d")))
            self.assertEqual(results["d"].verdict, "FAILED")

    def test_tiers_and_names(self):
        stage = job("stage", "true")
        tiers = {"commit": [stage, job("c", "true", needs=("stage",))], "nightly": [job("n", "true", needs=("stage",)), job("m", "true")]}
        names = lambda *wanted: [picked.name for picked in run.pick(wanted, tiers)]  # noqa: E731
        self.assertEqual(names("commit", "nightly"), ["stage", "c", "n", "m"])
        self.assertEqual(names("nightly"), ["stage", "n", "m"])
        self.assertEqual(names("m", "n"), ["m", "stage", "n"])
        with self.assertRaises(SystemExit):
            names("unheard-of")

    def test_the_status(self):
        program = textwrap.dedent("""
            import sys
            sys.path.insert(0, sys.argv[1])
            import run
            bad = [run.Job("x", 99, "exit 1", needs=()), run.Job("y", 99, "exit 2", needs=())]
            sys.exit(run.main(sys.argv[3:], {"good": [run.Job("g", 99, "true", needs=())], "bad": bad}, sys.argv[2]))
        """)
        with tempfile.TemporaryDirectory() as logs:
            for names, status, last in (["good"], 0, "1 passed, 0 failed, 0 skipped"), (["bad", "good"], 1, "1 passed, 2 failed, 0 skipped"):
                done = subprocess.run([sys.executable, "-c", program, str(CI), logs, *names], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (status, last), done.stderr)

    def test_an_interrupted_run_ends_what_it_began(self):
        program = textwrap.dedent("""
            import sys
            sys.path.insert(0, sys.argv[1])
            import run
            jobs = [run.Job("long", 99, f"sleep 300 & echo $! >{sys.argv[2]}/child; wait", needs=()), run.Job("after", 99, "true", alone=True)]
            sys.exit(run.main(["tier"], {"tier": jobs}, sys.argv[2]))
        """)
        with tempfile.TemporaryDirectory() as logs:
            process = subprocess.Popen([sys.executable, "-c", program, str(CI), logs], stdout=subprocess.PIPE, text=True)
            child = pathlib.Path(logs, "child")
            while not (child.exists() and child.read_text()):
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGTERM)
            printed = process.communicate(timeout=120)[0]
            self.assertNotEqual(process.returncode, 0)
            self.assertFalse(self.lives(int(child.read_text())))
            self.assertNotIn("==== after", printed)
            self.assertEqual(printed.splitlines()[-1], "0 passed, 2 failed, 0 skipped")


class Lists(unittest.TestCase):
    def test_names_are_unique_and_what_is_needed_exists(self):
        jobs = [listed for tier in run.TIERS.values() for listed in tier]
        names = [listed.name for listed in jobs]
        self.assertEqual(len(names), len(set(names)))
        for listed in jobs:
            self.assertLessEqual(set(listed.needs), set(names), listed.name)
            self.assertTrue(30 <= listed.limit <= 3600, listed.name)

    def test_every_script_is_in_a_tier(self):
        """A script that nothing runs checks nothing."""
        commands = " ".join(listed.command for tier in run.TIERS.values() for listed in tier)
        scripts = [path.relative_to(CI.parent) for folder in ("", "targets") for path in (CI / folder).glob("*.sh")]
        for script in scripts:
            if script.name != "setup.sh":
                self.assertIn(str(script), commands, f"{script} is run by no job")


if __name__ == "__main__":
    unittest.main()
