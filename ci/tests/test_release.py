"""Publishing can be repeated after a failure: with a made-up index, and a cargo that only records its arguments."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Crates(unittest.TestCase):
    def publish(self, *published):
        """The arguments of `cargo publish`, if the index has these crates in these versions."""
        with tempfile.TemporaryDirectory() as folder:
            index, cargo = pathlib.Path(folder, "index"), pathlib.Path(folder, "cargo")
            for name, version in published:
                entry = index / name[:2] / name[2:4] / name
                entry.parent.mkdir(parents=True, exist_ok=True)
                entry.write_text(f'{{"name":"{name}","vers":"{version}","deps":[]}}\n')
            cargo.write_text(f'#!/bin/sh\nif [ "$1" = metadata ]; then exec {shutil.which("cargo")} "$@"; fi\necho cargo "$@"\n')
            cargo.chmod(0o755)
            environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}", "PICOLLO_INDEX": f"file://{index}"}
            printed = subprocess.run(["packaging/crates.sh"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
        return [line.split() for line in printed.splitlines() if line.startswith("cargo ")]

    def test_what_is_published_is_left_out(self):
        command = ["cargo", "publish", "--workspace", "--locked"]
        names = [line.split()[0] for line in subprocess.check_output(["ci/tools/packages.sh", "all"], cwd=ROOT, text=True).splitlines()]
        self.assertLessEqual({"picollo", "picollo-cli", "picollo-ffi"}, {*names})
        version = next(line.split('"')[1] for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version = "))
        self.assertEqual(self.publish(("picollo-core", "0.0.1"), ("serde", version)), [command])
        self.assertEqual(self.publish(("picollo-core", version)), [[*command, "--exclude", "picollo-core"]])
        self.assertEqual(self.publish(*((name, version) for name in names)), [])


if __name__ == "__main__":
    unittest.main()
