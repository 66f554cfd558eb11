"""Nothing changes the machine without PICOLLO_MAY_CHANGE_THIS_MACHINE=1: no package is installed, no kernel setting
written. Each guard is tested both ways, on stand-ins: the machine itself stays unchanged."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ALLOWED = "PICOLLO_MAY_CHANGE_THIS_MACHINE"
LEVEL = "/proc/sys/kernel/perf_event_paranoid"


def environment(allowed, **more):
    """This environment, with only the requested permission."""
    return {name: value for name, value in os.environ.items() if name != ALLOWED} | ({ALLOWED: allowed} if allowed else {}) | more


class Setup(unittest.TestCase):
    """ci/setup.sh with only a shell installed, and an apt-get that records its arguments."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.asked = self.folder / "asked"
        self.command("apt-get", f'echo "$@" >>{self.asked}')
        self.command("id", "echo 0")
        self.command("cargo", "exit 0")
        (self.folder / "env").symlink_to(shutil.which("env"))

    def command(self, name, body):
        file = self.folder / name
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)

    def setup(self, allowed, *sets):
        bash = shutil.which("bash")
        given = environment(allowed, PATH=str(self.folder))
        done = subprocess.run([bash, "ci/setup.sh", *sets], cwd=ROOT, env=given, capture_output=True, text=True)
        return done.returncode, done.stderr, self.asked.read_text() if self.asked.exists() else ""

    def test_without_permission_it_names_what_is_missing_and_the_command(self):
        for allowed in (None, "0", "", "yes"):
            for sets, package in ((), "gcc"), (("build", "tests"), "valgrind"), (("browser",), "chromium"):
                code, said, asked = self.setup(allowed, *sets)
                self.assertEqual((code, asked), (1, ""))
                self.assertRegex(said, f"missing: .*{package}")
                self.assertIn(" ".join([f"{ALLOWED}=1 ci/setup.sh", *(sets or ["build"])]), said)

    def test_with_permission_it_installs_what_is_missing(self):
        for sets, pattern in (((), r"install (?!.*valgrind).*\bgcc\b"), (("build", "tests"), r"gcc\b.*\bvalgrind\b"), (("browser",), "chromium")):
            code, _, asked = self.setup("1", *sets)
            self.assertEqual(code, 0)
            self.assertRegex(asked.splitlines()[-1], pattern)

    def test_an_ordinary_user_needs_sudo(self):
        self.command("id", "echo 1000")
        code, said, asked = self.setup("1")
        self.assertEqual((code, asked, "root" in said), (1, "", True))
        self.command("sudo", f'echo sudo >>{self.asked}; exec "$@"')
        code, _, asked = self.setup("1")
        self.assertEqual(code, 0)
        self.assertRegex(asked, r"^sudo\n.*install .*\bgcc\b")

    def test_nothing_is_installed_without_need_or_without_rust(self):
        self.command("chromium-browser", "exit 0")
        self.assertEqual(self.setup(None, "browser"), (0, "", ""))
        (self.folder / "cargo").unlink()
        code, said, asked = self.setup("1")
        self.assertEqual((code, asked, "rustup" in said), (1, "", True))


class Kernel(unittest.TestCase):
    """The Rust test that writes kernel.perf_event_paranoid, with our file in its place."""

    def run_test(self, allowed):
        """Whether it wrote, and its output."""
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("2\n")
            file.flush()
            os.utime(file.name, (0, 0))
            script = f"mount --make-rprivate / && mount --bind {file.name} {LEVEL} && exec {self.program} paranoia"
            command = ["unshare", "--mount", "sh", "-c", script]
            done = subprocess.run(command, env=environment(allowed), capture_output=True, text=True, timeout=300)
            return os.stat(file.name).st_mtime != 0, done.stdout + done.stderr

    def test_the_guard_both_ways(self):
        if os.geteuid() != 0:
            print("SKIPPED test_the_guard_both_ways: only root can put a file in the place of a setting")
            return
        trial = subprocess.run(["unshare", "--mount", "mount", "--make-rprivate", "/"], capture_output=True)
        if trial.returncode != 0 or not os.path.exists(LEVEL):
            print(f"SKIPPED test_the_guard_both_ways: no mount namespaces here, or no {LEVEL}")
            return
        build = ["cargo", "test", "--quiet", "--no-run", "-p", "picollo-perf", "--test", "forks", "--message-format=json"]
        built = subprocess.run(build, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        messages = (json.loads(line) for line in built.splitlines() if line.startswith("{"))
        (self.program,) = [message["executable"] for message in messages if message.get("executable")]
        for allowed in (None, "0", "yes"):
            wrote, said = self.run_test(allowed)
            self.assertFalse(wrote, said)
            self.assertRegex(said, f"SKIPPED: .*{ALLOWED}=1")
        wrote, said = self.run_test("1")
        self.assertTrue(wrote, said)
        self.assertNotIn(ALLOWED, said)


class Scripts(unittest.TestCase):
    def test_only_these_files_change_the_machine(self):
        """Other scripts that install packages or write settings must check the variable like these, and be added
        here."""
        changes = re.compile(
            r"apt-get\b.*\binstall\b|rustup target add|^get install|dpkg (-i|-r|--purge)|sysctl -w|fs::write\(LEVEL|"
            r"write\w*\(\"/proc/sys|>\s*/proc/sys|open\(.*/proc/sys.*(O_WRONLY|O_RDWR|[\"']w[\"'])"
        )
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        found = set()
        for name in listed.split("\0"):
            file = ROOT / name
            if file.suffix in (".sh", ".py", ".rs", ".c", ".cs", "") and file.is_file() and file != pathlib.Path(__file__):
                text = file.read_text(encoding="utf-8", errors="replace")
                if any(changes.search(line) for line in text.splitlines()):
                    found.add(name)
                    guard = "may_change_this_machine" if name.endswith(".rs") else ALLOWED
                    self.assertIn(guard, text, f"{name} changes the machine without asking")
        # The last two change systems that are thrown away.
        ours = {"ci/setup.sh", "ci/tools/cross.sh", "ci/install.sh", "crates/perf/tests/forks.rs"}
        self.assertEqual(found, ours | {"ci/targets/aarch64/init.c", "ci/dist/test.sh"})


if __name__ == "__main__":
    unittest.main()
