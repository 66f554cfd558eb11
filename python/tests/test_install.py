"""``pip install ./python``: the wheel includes the library and works alone, from any directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import PROJECT, REPOSITORY, SOURCES, native_command

import picollo

LIBRARY = os.path.realpath(picollo.library_path)
BUILD = "import sys; from setuptools.build_meta import build_{0} as build; print(build(sys.argv[1]))"
OTHERS = ("PICOLLO_LIBRARY", "PICOLLO_COMMAND", "PICOLLO_EXTENSION", "PYTHONPATH", "CARGO_TARGET_DIR")
#: Without variables that lead to this package or its library.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in OTHERS}


def run(*program: "str | Path", cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**ENVIRONMENT, **variables}
    return subprocess.run(program, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)


def build(source: Path, out: Path, kind: str = "wheel", **variables: str) -> "list[str]":
    """Builds like pip in a given directory, without the isolation that would download setuptools; returns the names in
    the wheel. The tree stays unchanged."""
    before = tree(source)
    built = run(sys.executable, "-c", BUILD.format(kind), str(out), cwd=source, **variables)
    assert built.returncode == 0, built.stdout + built.stderr
    assert tree(source) == before
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def tree(source: Path) -> "set[Path]":
    return {path for path in source.rglob("*") if "__pycache__" not in path.parts}


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
    to.mkdir(parents=True)
    for name in ("src", "setup.py", "pyproject.toml", "README.md", "LICENSE"):
        path = PROJECT / name
        shutil.copytree(path, to / name) if path.is_dir() else shutil.copy(path, to / name)
    return to


def test_install_and_run_from_another_directory(tmp_path: Path) -> None:
    if find_spec("venv") is None or find_spec("ensurepip") is None:
        pytest.skip("this Python has no venv to install into")
    names = build(PROJECT, tmp_path, PICOLLO_LIBRARY=LIBRARY, PICOLLO_COMMAND=native_command())
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.startswith(f"picollo-{picollo.__version__}-py3-none-") and wheel.stem.split("-", 4)[4] != "any"
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(f"picollo/{Path(picollo._library._file_name()).name}") == Path(LIBRARY).read_bytes()
        assert archive.read("picollo/bin/picollo") == Path(native_command()).read_bytes()
        assert "Root-Is-Purelib: false" in archive.read(f"picollo-{picollo.__version__}.dist-info/WHEEL").decode()
    assert {f"picollo/{path.name}" for path in (SOURCES / "picollo").iterdir() if path.suffix in (".py", ".typed")} <= set(names)
    assert not [name for name in names if name.startswith(("tests", "demos", "build")) or name.endswith((".c", ".o"))]
    assert ("picollo/_speed.abi3.so" in names) == can_compile()

    # The tests' installer, but a fresh environment.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python, elsewhere = tmp_path / "venv" / "bin" / "python", tmp_path / "elsewhere"
    pip: "list[str | Path]" = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(pip, check=True, env=ENVIRONMENT)
    elsewhere.mkdir()
    code = "import picollo; h = picollo.Histogram(); h.record(5); print(picollo.library_path, h.summary().p50, picollo.extension_path)"
    told = run(python, "-W", "error", "-c", code, cwd=elsewhere)
    assert told.returncode == 0, told.stderr
    path, median, extension = told.stdout.split()
    assert Path(path).is_relative_to(tmp_path / "venv") and median == "5"
    assert extension == (str(Path(path).parent / "_speed.abi3.so") if can_compile() else "None")
    # The wheel includes the command line.
    script = run(python.parent / "picollo", "hlog", "--help", cwd=elsewhere)
    assert (script.returncode, script.stderr) == (0, "") and "--by-tag" in script.stdout
    module = run(python, "-m", "picollo", "--version", cwd=elsewhere)
    assert (module.returncode, module.stdout) == (0, f"picollo {picollo.__version__}\n")


def test_without_a_compiler_and_editable(tmp_path: Path) -> None:
    assert not [name for name in build(PROJECT, tmp_path, PICOLLO_LIBRARY=LIBRARY, CC="no-such-compiler") if "_speed" in name]
    source = copy_of_the_package(tmp_path / "repository" / "python")
    out = tmp_path / "out"
    out.mkdir()
    assert not [name for name in build(source, out, "editable") if name.endswith(".so")]


def test_cargo_builds_the_library_in_a_repository(tmp_path: Path) -> None:
    """With a fake cargo that only records its calls and provides the library of this test."""
    source, repository = copy_of_the_package(tmp_path / "repository" / "python"), str(tmp_path / "repository")
    for crate in ("ffi", "crates/cli"):
        assert (REPOSITORY / crate / "Cargo.toml").is_file(), "where setup looks"
        (tmp_path / "repository" / crate).mkdir(parents=True)
        (tmp_path / "repository" / crate / "Cargo.toml").touch()
    cargo = tmp_path / "cargo"
    cargo.write_text(
        f'#!/bin/sh\npwd >> "{tmp_path}/called"\necho "$@" >> "{tmp_path}/called"\n'
        f'mkdir -p "$CARGO_TARGET_DIR/release"\n[ "$5" = picollo-cli ] || cp "{LIBRARY}" "$CARGO_TARGET_DIR/release/{Path(LIBRARY).name.split(".so")[0]}.so"\n'
        'mkdir -p "$CARGO_TARGET_DIR/command"\necho a command >"$CARGO_TARGET_DIR/command/picollo"\n'
        'chmod +x "$CARGO_TARGET_DIR/command/picollo"\n'
    )
    cargo.chmod(0o755)
    variables = {"CARGO": str(cargo), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    assert any("libpicollo" in name for name in build(source, tmp_path, **variables))
    # One after the other: together, each would be built with the other's features.
    assert (tmp_path / "called").read_text().splitlines() == [
        repository, "build --profile release --package picollo-ffi", repository, "build --profile command --package picollo-cli"
    ]  # fmt: skip
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        assert archive.read("picollo/bin/picollo") == b"a command\n"
        assert archive.getinfo("picollo/bin/picollo").external_attr >> 16 & 0o111, "it can be executed"
    # When it fails, so does the installation.
    cargo.write_text("#!/bin/sh\necho no such crate >&2\nexit 101\n")
    failed = run(sys.executable, "-c", BUILD.format("wheel"), str(tmp_path), cwd=source, **variables)
    assert failed.returncode != 0 and "no such crate" in failed.stderr and "picollo-ffi` failed" in failed.stderr


def test_nothing_is_installed_without_a_library(tmp_path: Path) -> None:
    source, text = copy_of_the_package(tmp_path / "a" / "b"), tmp_path / "libpicollo.so"
    text.write_text("not a library")
    cases: "list[tuple[dict[str, str], tuple[str, ...]]]" = [
        ({"CARGO": "no-such-cargo"}, ("There is no libpicollo", "set PICOLLO_LIBRARY")),
        ({"PICOLLO_LIBRARY": "/nowhere/libpicollo.so"}, ("PICOLLO_LIBRARY is /nowhere/libpicollo.so, which is not a file",)),
        ({"PICOLLO_LIBRARY": str(text)}, (f"{text} is no libpicollo for this Python",)),
        ({"PICOLLO_LIBRARY": LIBRARY, "PICOLLO_COMMAND": "/nowhere/picollo"}, ("PICOLLO_COMMAND is /nowhere/picollo, which is not a file",)),
    ]
    for variables, complaints in cases:
        failed = run(sys.executable, "-c", BUILD.format("wheel"), str(tmp_path), cwd=source, **variables)
        assert failed.returncode != 0 and all(complaint in failed.stderr for complaint in complaints)
    # Without cargo, an earlier build is used.
    stage = tmp_path / "a" / "target" / "stage"
    for place, file, name in (("lib", LIBRARY, picollo._library._file_name()), ("bin", native_command(), "picollo")):
        (stage / place).mkdir(parents=True)
        shutil.copy(file, stage / place / name)
        assert ("picollo/bin/picollo" in build(source, tmp_path, CARGO="no-such-cargo")) == (place == "bin")
