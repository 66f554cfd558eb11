"""`make version V=X.Y.Z` changes all files that have the version, whatever else has the same numbers, and lint notices others."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Version(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", ":!docs/images"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["xargs", "-0", "cp", "--parents", "-Pt", self.folder], cwd=ROOT, input=names, check=True)
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True)

    def version(self, *new):
        done = subprocess.run(["packaging/version.py", *new], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_the_next_versions(self):
        # Prometheus' formats have a version 1.0.0.
        for new in ("0.2.0", "1.0.0"):
            code, said = self.version(new)
            self.assertEqual((code, said.split()[-1]), (0, new), said)
            described = subprocess.run(["ci/describe.sh", "--check"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(described.returncode, 0, described.stderr)
            self.assertIn(f"find_package(picollo {new[:3]} ", (self.folder / "docs/platforms.md").read_text())
            # A second time nothing changes.
            subprocess.run(["git", "add", "-A"], cwd=self.folder, check=True)
            self.assertEqual(self.version(new), (code, said))
            self.assertEqual(subprocess.run(["git", "diff", "--stat"], cwd=self.folder, capture_output=True).stdout, b"")

    def test_no_version(self):
        for new in ("0.2", "v0.2.0", "0.2.0-rc.1", "0.02.0"):
            self.assertEqual(self.version(new), (1, f"A version has three numbers, such as 0.2.0; got {new}\n"))

    def test_a_file_that_is_forgotten(self):
        self.version("0.2.0")
        for text in ("pip install picollo=={}", '[project]\nversion = "{}"', "This is Picollo {}."):
            (self.folder / "README.md").write_text(text.format("0.2.0"))
            self.assertEqual(self.version(), (1, "README.md has 0.2.0, and packaging/version.py does not change it\n"))
        path = self.folder / "CITATION.cff"
        path.write_text(path.read_text().replace("0.2.0", "0.2.1"))
        self.assertIn("CITATION.cff has 0.2.1, Cargo.toml has 0.2.0\n", self.version()[1])


if __name__ == "__main__":
    unittest.main()
