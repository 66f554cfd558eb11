"""Finding the library."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest
from conftest import PACKAGE_ROOT

import picollo
from picollo import _library, _prototypes

Python = Callable[..., "subprocess.CompletedProcess[str]"]


def test_versions() -> None:
    assert picollo.library_version
    assert picollo.__version__
    assert os.path.isfile(picollo.library_path) or os.sep not in picollo.library_path


def test_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PICOLLO_LIBRARY", raising=False)
    places = [path for path, _ in _library.candidates(Path("/repo/python-demo/picollo"))]
    name = _library._file_name()
    assert places[:3] == [
        f"/repo/python-demo/picollo/{name}",
        f"/repo/target/stage/lib/{name}",
        f"/repo/target/release/{name}",
    ]
    assert places[3:]
    assert all(os.sep not in path for path in places[3:])
    monkeypatch.setenv("PICOLLO_LIBRARY", "/elsewhere/libpicollo.so")
    assert [path for path, _ in _library.candidates(Path("/repo"))] == ["/elsewhere/libpicollo.so"]


def test_the_environment_decides_alone(python: Python) -> None:
    result = python("import picollo", environment={"PICOLLO_LIBRARY": "/nowhere/libpicollo.so"})
    assert result.returncode != 0
    assert "libpicollo was not found" in result.stderr
    assert "/nowhere/libpicollo.so (the environment variable PICOLLO_LIBRARY): no such file" in result.stderr
    assert "target/release" not in result.stderr
    assert "cargo build" in result.stderr


def test_a_foreign_library(python: Python) -> None:
    result = python("import picollo", environment={"PICOLLO_LIBRARY": "libc.so.6"})
    assert result.returncode != 0
    assert "has no picollo_abi_version, so it is not libpicollo" in result.stderr


def test_what_is_no_library(python: Python, tmp_path: Path) -> None:
    text = tmp_path / "libpicollo.so"
    text.write_text("not a library")
    result = python("import picollo", environment={"PICOLLO_LIBRARY": str(text)})
    assert result.returncode != 0
    assert str(text) in result.stderr
    assert "LibraryError" in result.stderr


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("unsigned picollo_abi_version(void) { return 99; }", "its ABI version is 99, this package needs 2"),
        ("unsigned picollo_abi_version(void) { return 2; }", "older than this package, it lacks picollo_version"),
    ],
)
def test_unfit_libraries(python: Python, tmp_path: Path, body: str, complaint: str) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to make an unfit library with")
    source, library = tmp_path / "other.c", tmp_path / "libother.so"
    source.write_text(body)
    subprocess.run([compiler, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    result = python("import picollo", environment={"PICOLLO_LIBRARY": str(library)})
    assert result.returncode != 0
    assert complaint in result.stderr


def imported_from(folder: Path) -> subprocess.CompletedProcess[str]:
    """Imports the copy of the package there, which prints the path of the library that it found."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PICOLLO_LIBRARY", "LD_LIBRARY_PATH")}
    return subprocess.run(
        [sys.executable, "-c", "import picollo; print(picollo.library_path)"],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def test_all_places_are_listed(tmp_path: Path) -> None:
    """A package by itself, without a repository around it."""
    shutil.copytree(PACKAGE_ROOT / "picollo", tmp_path / "a" / "b" / "picollo")
    result = imported_from(tmp_path / "a" / "b")
    if result.returncode == 0:
        pytest.skip(f"a library is installed on this system: {result.stdout.strip()}")
    for place in (
        f"{tmp_path}/a/b/picollo/libpicollo.so (inside the package): no such file",
        f"{tmp_path}/a/target/stage/lib/libpicollo.so (the repository's build): no such file",
        f"{tmp_path}/a/target/release/libpicollo.so (the repository's build): no such file",
        "libpicollo.so (the system's loader)",
    ):
        assert place in result.stderr


def test_the_library_inside_the_package_comes_first(tmp_path: Path) -> None:
    package = tmp_path / "picollo"
    shutil.copytree(PACKAGE_ROOT / "picollo", package)
    (package / "libpicollo.so").symlink_to(os.path.realpath(picollo.library_path))
    told = imported_from(tmp_path)
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == str(package / "libpicollo.so")


def test_hot_values_have_64_bits() -> None:
    assert ctypes.sizeof(_prototypes.HOT_U64) == 8
