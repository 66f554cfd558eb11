"""packaging/get.sh, which users run as install.sh, installs all or nothing, and disturbs no program that runs."""

import hashlib
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAME = f"picollo-1.2.3-linux-{platform.machine()}"


class Get(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.releases, self.temporary, self.home = (self.folder / name for name in ("releases", "tmp", "a home"))
        for folder in (self.releases, self.temporary, self.home):
            folder.mkdir()
        tree = self.folder / NAME
        for name in ("bin/picollo", "lib/libpicollo.so.9", "share/man/man1/picollo.1", "README"):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("#!/bin/sh\necho the new one\n")
            (tree / name).chmod(0o755)
        with tarfile.open(self.releases / f"{NAME}.tar.gz", "w:gz") as archive:
            archive.add(tree, NAME)
        shutil.copy(tree / "bin/picollo", self.releases / f"{NAME}-static")
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in self.releases.iterdir()]
        (self.releases / "SHA256SUMS").write_text("".join(sums))

    def start(self, *arguments, **more):
        given = dict(os.environ, HOME=self.home, TMPDIR=self.temporary, PICOLLO_RELEASES=f"file://{self.releases}", **more)
        command = ["/bin/sh", ROOT / "packaging/get.sh", *arguments]
        return subprocess.Popen(command, cwd=self.home, env=given, text=True, stdout=-1, stderr=-2, start_new_session=True)

    def get(self, *arguments, **more):
        process = self.start(*arguments, **more)
        said = process.communicate()[0]
        self.assertEqual(list(self.temporary.iterdir()), [])
        return process.returncode, said

    def files(self):
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir())

    def test_installs(self):
        for arguments, prefix in ((), ".local"), (("--prefix", "a b"), "a b"), (("--static",), ".local"):
            code, said = self.get(*arguments)
            self.assertEqual((code, said.splitlines()[0]), (0, "the new one"), said)
            expected = ["bin/picollo", *(["lib/libpicollo.so.9", "share/man/man1/picollo.1"] if "--static" not in arguments else [])]
            self.assertEqual(self.files(), [f"{prefix}/{name}" for name in expected])
            shutil.rmtree(self.home / prefix)

    def test_what_is_in_use_stays(self):
        old = {name: self.home / ".local" / name for name in ("bin/picollo", "lib/libpicollo.so.9")}
        for path in old.values():
            path.parent.mkdir(parents=True)
            shutil.copy(shutil.which("sleep"), path)
        with open(old["lib/libpicollo.so.9"], "rb") as mapped, subprocess.Popen([old["bin/picollo"], "9"]) as running:
            before = mapped.read()
            code, said = self.get()
            self.assertEqual((code, said.splitlines()[0]), (0, "the new one"), said)
            mapped.seek(0)
            self.assertEqual(mapped.read(), before)
            running.kill()

    def test_refuses(self):
        (self.home / "file").touch()
        self.assertIn("Cannot write into", self.get("--prefix", "file/x")[1])
        without = self.folder / "path"
        without.mkdir()
        self.assertIn("There is no sha256sum", self.get(PATH=str(without))[1])
        with open(self.releases / f"{NAME}.tar.gz", "ab") as archive:
            archive.write(b"x")
        self.assertIn("has not the checksum", self.get()[1])
        (self.releases / f"{NAME}.tar.gz").unlink()
        self.assertIn("Cannot fetch", self.get()[1])
        (self.releases / "SHA256SUMS").write_text("<html>")
        code, said = self.get()
        self.assertEqual(code, 1)
        self.assertIn("names no file", said)
        self.assertEqual(self.files(), ["file"])

    def test_leaves_nothing_if_interrupted(self):
        archive = self.releases / f"{NAME}.tar.gz"
        archive.unlink()
        os.mkfifo(archive)
        process = self.start()
        # As soon as somebody reads, the download has begun.
        with open(archive, "wb"):
            time.sleep(0.1)
            os.killpg(process.pid, signal.SIGINT)
            process.communicate()
        self.assertEqual((process.returncode, list(self.temporary.iterdir()), self.files()), (1, [], []))


if __name__ == "__main__":
    unittest.main()
