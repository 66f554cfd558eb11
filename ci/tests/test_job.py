"""The jobs of `make`: all go on after a failure, every failure is reported, limits and exclusions hold, and the status is
right. With made-up jobs. And the lists: every script is in a job, and every job in a list."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def lives(number):
    try:
        return not re.search(r"^State:\s+Z", pathlib.Path(f"/proc/{number}/status").read_text(), re.MULTILINE)
    except OSError:
        return False


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Limits as written here, even if these tests are part of a run with other limits.
        ours = {"PICOLLO_JOBS": self.folder / "ci", "PICOLLO_MAKE": f"-f {self.folder}/Makefile", "PICOLLO_LIMIT_FACTOR": "1", "PICOLLO_TRIES": "1", "PICOLLO_STAGE": f"mkdir {self.folder}/stage"}
        self.environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"} | {name: str(value) for name, value in ours.items()}

    def start(self, together, single="", **jobs):
        """Jobs by name: their command, or the pair of what they need and exclude, and the command."""
        with open(self.folder / "Makefile", "w") as file:
            for name, job in jobs.items():
                excluded, command = job if isinstance(job, tuple) else ("30", job)
                needed, _, excluded = excluded.rpartition(":")
                command = command.replace("HERE", str(self.folder)).replace("$", "$$").replace("'", "'\\''")
                file.write(f".PHONY: {name}\n{name}: {needed}\n\t@ci/job {name} {excluded} -- '{command}'\n")
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(["ci/job", "--all", together, single], cwd=ROOT, env=self.environment, text=True, **pipes)

    def run_jobs(self, *arguments, **jobs):
        """The verdicts by name, the output, and the status."""
        process = self.start(*arguments or [" ".join(jobs)], **jobs)
        printed = process.communicate(timeout=200)[0]
        table = printed[printed.rindex("\njob ") :]
        return dict(re.findall(r"^(\w+) +\d+ +\d+  (.{1,8}?)(?:  .*)?$", table, re.MULTILINE)), printed, process.returncode

    def test_faults_in_one_run_are_all_reported(self):
        verdicts, printed, status = self.run_jobs(
            first="echo '3 passed, 0 failed'",
            broken="echo '2 passed, 1 failed'; exit 1",
            wrong="false; echo never",
            cargo="echo 'test result: ok. 5 passed; 0 failed'; echo 'test result: ok. 6 passed; 0 failed'",
            filters="echo 'test result: ok. 0 passed; 0 failed; 7 filtered out'",
            elsewhere="echo 'SKIPPED: not on this machine'",
            partly="echo 'SKIPPED a part'; echo '1 passed, 0 failed'",
            needing=("wrong:30", "echo needless"),
        )
        self.assertEqual(verdicts, {"first": "passed", "broken": "FAILED", "wrong": "FAILED", "cargo": "passed", "filters": "NO TEST",
                                    "elsewhere": "skipped", "partly": "passed", "needing": "not run"})  # fmt: skip
        self.assertEqual((printed.splitlines()[-1], status), ("3 passed, 4 failed, 1 skipped", 1))
        self.assertIn("of the tests that are counted here: 17 passed, 1 failed", printed)
        self.assertRegex(printed, r"(?m)^cargo .* 11 passed, 0 failed, in 2 programs$")
        self.assertIn("Not checked here:\n  SKIPPED: not on this machine\n  SKIPPED a part\n", printed)
        self.assertEqual((self.folder / "ci/broken.log").read_text(), "2 passed, 1 failed\n")
        self.assertNotRegex(printed, "(?m)^(never|needless)")
        self.assertLess(printed.index("---- first begins\n"), printed.index("==== first: echo"))

    def test_the_library_is_staged_once_and_needed(self):
        verdicts, _, _ = self.run_jobs(a=("30 stage", "[ -d HERE/stage ]"), b=("30 stage", "[ -d HERE/stage ]"))
        self.assertEqual({*verdicts.values()}, {"passed"})
        # This time it fails: the folder is there.
        verdicts, _, status = self.run_jobs(a=("30 stage", "true"), b="true")
        self.assertEqual((verdicts, status), ({"a": "not run", "b": "passed"}, 1))

    def test_all_well_and_nothing_at_all(self):
        self.assertEqual(self.run_jobs(one="true", two="echo '1 passed in 0.01s'")[2], 0)
        self.assertEqual(self.run_jobs("")[2], 1)
        self.run_jobs(three="exit 1")
        done = subprocess.run(["ci/job", "--sum"], cwd=ROOT, env=self.environment, capture_output=True, text=True)
        self.assertEqual((done.stdout.splitlines()[-1], done.returncode), ("2 passed, 1 failed, 0 skipped", 1))

    def test_a_job_beyond_its_limit_is_killed_with_all_that_it_started(self):
        # A child, one that has left the group, and one that ignores requests to end.
        command = """echo begun; sleep 300 & echo $! >HERE/child; setsid sleep 300 & echo $! >HERE/strayed
            bash -c 'trap "" TERM; echo $$ >HERE/deaf; while :; do sleep 1; done' & wait"""
        verdicts, printed, _ = self.run_jobs(hangs=("8", command.replace("\n", ";")), leaves="sleep 300 & echo left")
        self.assertEqual(verdicts, {"hangs": "TOO LONG", "leaves": "passed"})
        self.assertIn("hangs: killed at its limit of 8 s", printed)
        for name in ("child", "strayed", "deaf"):
            self.assertFalse(lives(int((self.folder / name).read_text())), f"{name} lives on")

    def test_two_at_a_time_where_allowed_and_only_there(self):
        meet = "touch HERE/{0}; for _ in $(seq 250); do [ -e HERE/{1} ] && exit 0; sleep 0.1; done; exit 1"
        one = "mkdir HERE/alone && sleep 0.3 && rmdir HERE/alone"
        jobs = {"a": meet.format("a", "b"), "b": meet.format("b", "a"), "c": ("30 it", one), "d": ("30 more it", one), "e": ("30 alone", one), "f": ("30 alone", one)}
        self.assertEqual(self.run_jobs("a b c d e", "f", **jobs)[2], 0)

    def test_few_failed_jobs_run_again_if_asked_and_are_listed(self):
        self.environment["PICOLLO_TRIES"] = "2"
        once = "mkdir HERE/{0} && echo '2 passed, 1 failed' && exit 1; true"
        verdicts, printed, _ = self.run_jobs(a=once.format("a"), b="exit 1", c="true")
        self.assertEqual(verdicts, {"a": "passed", "b": "FAILED", "c": "passed"})
        self.assertIn("UNSTABLE a: failed, and passed when run again (2 passed, 1 failed)", printed)
        # Many failures are no accident: no job runs again.
        verdicts, _, _ = self.run_jobs(**{name: once.format(name) for name in "xyz"})
        self.assertEqual({*verdicts.values()}, {"FAILED"})

    def test_an_interrupted_run_ends_what_it_began(self):
        process = self.start("long", "after", long="sleep 300 & echo $! >HERE/child; wait", after="touch HERE/after")
        child = self.folder / "child"
        while not (child.exists() and child.read_text()):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        printed = process.communicate(timeout=120)[0]
        self.assertEqual((printed.splitlines()[-1], process.returncode), ("0 passed, 2 failed, 0 skipped", 1))
        self.assertFalse(lives(int(child.read_text())))
        self.assertFalse((self.folder / "after").exists())


class Lists(unittest.TestCase):
    jobs = (ROOT / "ci/jobs.mk").read_text()

    def test_every_job_is_in_a_list_and_has_a_limit(self):
        lists = re.findall(r"^(?:TEST|CHECK|ALONE|RELEASE|SDK) := ((?:.*\\\n)*.*)$", self.jobs, re.MULTILINE)
        listed = re.sub(r"\\\n", " ", " ".join(lists)).split()
        rules = dict(re.findall(r"^([\w-]+):(?: ; |.*\n\t)\$\(JOB\) (\d+) ", self.jobs, re.MULTILINE))
        self.assertEqual((len(lists), sorted(listed)), (5, sorted(rules)))
        rows = re.findall(r"^\| (`.*?`) \| ", (ROOT / "docs/quality.md").read_text(), re.MULTILINE)
        documented = [name for row in rows for name in re.findall(r"`([\w-]+)`", row)]
        self.assertEqual(sorted(listed), sorted(documented))
        for name, limit in rules.items():
            self.assertTrue(30 <= int(limit) <= 3600, name)

    def test_every_script_is_in_a_job(self):
        """A script that nothing runs checks nothing."""
        for script in (*(ROOT / "ci").glob("*.sh"), *(ROOT / "ci/targets").glob("*.sh")):
            name = str(script.relative_to(ROOT))
            if script.name not in ("setup.sh", "stage.sh", "describe.sh"):
                self.assertIn(name, self.jobs, f"{name} is run by no job")


if __name__ == "__main__":
    unittest.main()
