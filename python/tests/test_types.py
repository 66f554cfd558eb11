"""Type hints are right."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest
from conftest import CACHE, PACKAGE, PROJECT

import picollo
from picollo import errors


def test_mypy() -> None:
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", f"--cache-dir={CACHE / 'mypy'}"], cwd=PROJECT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_is_marked_as_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_the_top_level_shows_what_programs_call() -> None:
    shown = [name for name in dir(picollo) if not name.startswith("__")]
    assert set(shown) == set(picollo.__all__) and len(shown) <= 45
    # Types that calls return and raise are available for annotations, and in completions of the submodules.
    for name in errors.__all__:
        assert getattr(picollo, name) is getattr(errors, name)
