"""The package and its tests have the types that they say."""

import subprocess
import sys
from pathlib import Path


def test_types(tmp_path: Path) -> None:
    mypy = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)]
    done = subprocess.run(mypy, cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
