"""``pip install ./python-demo``: the wheel carries the library and works by itself, from any directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Optional

import pytest
from conftest import PACKAGE_ROOT, REPOSITORY, native_command

import picollo

LIBRARY = os.path.realpath(picollo.library_path)

BUILD = "import sys; from setuptools.build_meta import build_wheel; print(build_wheel(sys.argv[1]))"


def environment(**changes: Optional[str]) -> dict[str, str]:
    """Without anything that would lead to this package or its library."""
    variables = {k: v for k, v in os.environ.items() if k not in ("PICOLLO_LIBRARY", "PICOLLO_COMMAND", "PICOLLO_EXTENSION", "PYTHONPATH", "CARGO_TARGET_DIR")}
    variables.update({name: value for name, value in changes.items() if value is not None})
    return variables


def build(source: Path, out: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What pip does in a directory that it was given, without the isolation that would download setuptools."""
    return subprocess.run(
        [sys.executable, "-c", BUILD, str(out)],
        cwd=source,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(autouse=True)
def has_setuptools() -> None:
    if find_spec("setuptools") is None:
        pytest.skip("setuptools is not installed, wheels cannot be built")


def can_compile() -> bool:
    """Whether the extension module can be built here."""
    return (
        shutil.which((sysconfig.get_config_var("CC") or "cc").split()[0]) is not None
        and Path(sysconfig.get_path("include"), "Python.h").is_file()
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
    )


def copy_of_the_package(to: Path) -> Path:
    names = ("picollo", "setup.py", "pyproject.toml", "README.md")
    to.mkdir(parents=True)
    for name in names:
        path = PACKAGE_ROOT / name
        shutil.copytree(path, to / name) if path.is_dir() else shutil.copy(path, to / name)
    return to


def test_install_and_run_from_another_directory(tmp_path: Path) -> None:
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        pytest.skip("this Python has no venv to install into")
    tree = {path for path in PACKAGE_ROOT.rglob("*") if "__pycache__" not in path.parts}
    built = build(PACKAGE_ROOT, tmp_path, PICOLLO_LIBRARY=LIBRARY, PICOLLO_COMMAND=native_command())
    assert built.returncode == 0, built.stdout + built.stderr
    assert {path for path in PACKAGE_ROOT.rglob("*") if "__pycache__" not in path.parts} == tree
    (wheel,) = tmp_path.glob("*.whl")
    platform = wheel.stem.split("-", 4)[4]
    assert wheel.name.startswith("picollo-0.1.0-py3-none-") and platform != "any"

    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert archive.read(f"picollo/{Path(picollo._library._file_name()).name}") == Path(LIBRARY).read_bytes()
        assert archive.read("picollo/bin/picollo") == Path(native_command()).read_bytes()
        assert "Root-Is-Purelib: false" in archive.read("picollo-0.1.0.dist-info/WHEEL").decode()
    modules = {f"picollo/{path.name}" for path in (PACKAGE_ROOT / "picollo").iterdir() if path.suffix in (".py", ".typed")}
    assert modules <= set(names)
    assert not [name for name in names if name.startswith(("tests", "demos", "build")) or name.endswith((".c", ".o"))]
    assert ("picollo/_speed.abi3.so" in names) == can_compile()

    # The installer is the one of the tests; what it installs into is fresh.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--disable-pip-version-check", wheel],
        check=True,
        env=environment(),
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = "import picollo; h = picollo.Histogram(); h.record(5); print(picollo.library_path, h.summary().p50, picollo.extension_path)"
    told = subprocess.run([python, "-W", "error", "-c", code], cwd=elsewhere, env=environment(), capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    # The command line comes along.
    script = subprocess.run([python.parent / "picollo", "hlog", "--help"], cwd=elsewhere, env=environment(), capture_output=True)
    assert (script.returncode, script.stderr) == (0, b"") and b"--by-tag" in script.stdout
    module = subprocess.run([python, "-m", "picollo", "--version"], cwd=elsewhere, env=environment(), capture_output=True, text=True)
    assert (module.returncode, module.stdout) == (0, f"picollo {picollo.__version__}\n")
    path, median, extension = told.stdout.split()
    assert Path(path).is_relative_to(tmp_path / "venv") and median == "5"
    assert extension == (str(Path(path).parent / "_speed.abi3.so") if can_compile() else "None")


def test_without_a_compiler_the_wheel_has_no_extension(tmp_path: Path) -> None:
    built = build(PACKAGE_ROOT, tmp_path, PICOLLO_LIBRARY=LIBRARY, CC="no-such-compiler")
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "_speed" in name]


def test_an_editable_install_leaves_the_tree_alone(tmp_path: Path) -> None:
    source = copy_of_the_package(tmp_path / "repository" / "python-demo")
    tree = {path for path in source.rglob("*") if "__pycache__" not in path.parts}
    code = "import sys; from setuptools.build_meta import build_editable; print(build_editable(sys.argv[1]))"
    built = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=source, env=environment(), capture_output=True, text=True, timeout=120
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert {path for path in source.rglob("*") if "__pycache__" not in path.parts} == tree


def test_cargo_builds_the_library_in_a_repository(tmp_path: Path) -> None:
    """With a cargo that does nothing but note how it was called and hand out the library of this test."""
    source = copy_of_the_package(tmp_path / "repository" / "python-demo")
    for crate in ("ffi", "cli"):
        (tmp_path / "repository" / crate).mkdir()
        (tmp_path / "repository" / crate / "Cargo.toml").touch()
    cargo = tmp_path / "cargo"
    cargo.write_text(
        f'#!/bin/sh\npwd >> "{tmp_path}/called"\necho "$@" >> "{tmp_path}/called"\n'
        f'mkdir -p "$CARGO_TARGET_DIR/release"\n[ "$5" = picollo-cli ] || cp "{LIBRARY}" "$CARGO_TARGET_DIR/release/{Path(LIBRARY).name.split(".so")[0]}.so"\n'
        'mkdir -p "$CARGO_TARGET_DIR/command"\necho a command >"$CARGO_TARGET_DIR/command/picollo"\n'
        'chmod +x "$CARGO_TARGET_DIR/command/picollo"\n'
    )
    cargo.chmod(0o755)
    built = build(source, tmp_path, CARGO=str(cargo), CARGO_TARGET_DIR=str(tmp_path / "target"))
    assert built.returncode == 0, built.stdout + built.stderr
    repository = str(tmp_path / "repository")
    # One after the other: together they would be built with each other's features.
    assert (tmp_path / "called").read_text().splitlines() == [
        repository, "build --profile release --package picollo-ffi", repository, "build --profile command --package picollo-cli"
    ]  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("picollo/bin/picollo") == b"a command\n"
        assert archive.getinfo("picollo/bin/picollo").external_attr >> 16 & 0o111, "it can be executed"
    assert any("libpicollo" in name for (wheel,) in [list(tmp_path.glob("*.whl"))] for name in zipfile.ZipFile(wheel).namelist())
    # When it fails, so does the installation.
    cargo.write_text("#!/bin/sh\necho no such crate >&2\nexit 101\n")
    failed = build(source, tmp_path, CARGO=str(cargo), CARGO_TARGET_DIR=str(tmp_path / "target"))
    assert failed.returncode != 0
    assert "no such crate" in failed.stderr and "picollo-ffi` failed" in failed.stderr


def test_nothing_is_installed_without_a_library(tmp_path: Path) -> None:
    source = copy_of_the_package(tmp_path / "a" / "b")
    failed = build(source, tmp_path, CARGO="no-such-cargo")
    assert failed.returncode != 0
    assert "There is no libpicollo" in failed.stderr and "set PICOLLO_LIBRARY" in failed.stderr
    failed = build(source, tmp_path, PICOLLO_LIBRARY="/nowhere/libpicollo.so")
    assert "PICOLLO_LIBRARY is /nowhere/libpicollo.so, which is not a file" in failed.stderr
    text = tmp_path / "libpicollo.so"
    text.write_text("not a library")
    failed = build(source, tmp_path, PICOLLO_LIBRARY=str(text))
    assert f"{text} is no libpicollo for this Python" in failed.stderr
    failed = build(source, tmp_path, PICOLLO_LIBRARY=LIBRARY, PICOLLO_COMMAND="/nowhere/picollo")
    assert "PICOLLO_COMMAND is /nowhere/picollo, which is not a file" in failed.stderr
    # What was built before will do where there is no cargo.
    stage = tmp_path / "a" / "target" / "stage" / "lib"
    stage.mkdir(parents=True)
    shutil.copy(LIBRARY, stage / picollo._library._file_name())
    for has_command in (False, True):
        if has_command:
            (stage.parent / "bin").mkdir()
            shutil.copy(native_command(), stage.parent / "bin" / "picollo")
        built = build(source, tmp_path, CARGO="no-such-cargo")
        assert built.returncode == 0, built.stdout + built.stderr
        with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
            assert ("picollo/bin/picollo" in archive.namelist()) == has_command


def test_the_repository_is_where_setup_looks() -> None:
    assert (REPOSITORY / "ffi" / "Cargo.toml").is_file()
