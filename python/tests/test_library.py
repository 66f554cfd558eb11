"""Finding the library, and comparing its structs and functions with C."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, SOURCES, run_python

import picollo
from picollo import _library
from picollo import _structs as structs

sys.path.insert(0, str(REPOSITORY / "ffi" / "describe"))
from description import Description, camel  # noqa: E402

DESCRIPTION = Description()


def test_versions_and_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert picollo.library_version and picollo.__version__
    assert os.path.isfile(picollo.library_path) or os.sep not in picollo.library_path
    monkeypatch.delenv("PICOLLO_LIBRARY", raising=False)
    places = [path for path, _ in _library.candidates(Path("/repo/python/src/picollo"))]
    name = _library._file_name()
    assert places[:3] == [f"/repo/{place}/{name}" for place in ("python/src/picollo", "target/stage/lib", "target/release")]
    assert places[3:] and all(os.sep not in path for path in places[3:])
    monkeypatch.setenv("PICOLLO_LIBRARY", "/elsewhere/libpicollo.so")
    assert [path for path, _ in _library.candidates(Path("/repo"))] == ["/elsewhere/libpicollo.so"]


def test_a_named_library_must_work(tmp_path: Path) -> None:
    text = tmp_path / "libpicollo.so"
    text.write_text("not a library")
    unfit = {
        "/nowhere/libpicollo.so": "/nowhere/libpicollo.so (the environment variable PICOLLO_LIBRARY): no such file",
        "libc.so.6": "has no picollo_abi_version, so it is not libpicollo",
        str(text): str(text),
    }
    compiler = shutil.which("cc") or shutil.which("gcc")
    own = structs.ABI_VERSION
    for version, complaint in ((99, f"its ABI version is 99, this package needs {own}"), (own, "older than this package, it lacks picollo_")):
        if compiler is None:
            print("SKIPPED libraries of other versions: there is no C compiler to make them with")
            continue
        source, library = tmp_path / "other.c", tmp_path / f"libother{version}.so"
        source.write_text(f"unsigned picollo_abi_version(void) {{ return {version}; }}")
        subprocess.run([compiler, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        unfit[str(library)] = complaint
    for path, complaint in unfit.items():
        result = run_python("import picollo", environment={"PICOLLO_LIBRARY": path})
        assert result.returncode != 0 and "LibraryError: libpicollo was not found" in result.stderr
        assert complaint in result.stderr and "target/release" not in result.stderr and "cargo build" in result.stderr


def test_all_places_are_listed_and_the_package_comes_first(tmp_path: Path) -> None:
    """A package alone, without a repository around it."""
    folder = tmp_path / "a" / "b" / "c"
    shutil.copytree(SOURCES / "picollo", folder / "picollo")
    environment = {"PICOLLO_LIBRARY": None, "LD_LIBRARY_PATH": None, "PYTHONPATH": str(folder)}
    code = "import picollo; print(picollo.library_path)"
    result = run_python(code, environment=environment, cwd=folder)
    if result.returncode == 0:
        print(f"SKIPPED the list of places: a library is installed on this system: {result.stdout.strip()}")
    else:
        for place in (
            f"{folder}/picollo/libpicollo.so (inside the package): no such file",
            f"{tmp_path}/a/target/stage/lib/libpicollo.so (the repository's build): no such file",
            f"{tmp_path}/a/target/release/libpicollo.so (the repository's build): no such file",
            "libpicollo.so (the system's loader)",
        ):
            assert place in result.stderr
    inside = folder / "picollo" / "libpicollo.so"
    inside.symlink_to(os.path.realpath(picollo.library_path))
    result = run_python(code, environment=environment, cwd=folder)
    assert (result.returncode, result.stdout.strip()) == (0, str(inside)), result.stderr


def test_a_package_in_a_zip_inside_another(tmp_path: Path) -> None:
    shutil.copytree(SOURCES / "picollo", tmp_path / "root" / "other" / "picollo")
    archive = shutil.make_archive(str(tmp_path / "package"), "zip", tmp_path / "root")
    code = "from other import picollo; picollo.Histogram().record(1); print(picollo.__file__)"
    result = run_python(code, environment={"PYTHONPATH": archive}, cwd=tmp_path)
    assert result.returncode == 0 and result.stdout.startswith(archive), result.stderr


# ── as in C: sizes and offsets of the description, which a C program checks (``c-tests/layout_generated.py``) ──


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the first sizes described are those of 64-bit targets")
def test_structs() -> None:
    ours = {name: own for name, own in vars(structs).items() if isinstance(own, type) and issubclass(own, ctypes.Structure)}
    expected = {camel(struct.name[len("picollo_") :]): struct for struct in DESCRIPTION.structs}
    assert len(ours) > 20
    for name, own in ours.items():
        fields = [(field.name, field.offset, field.size) for field in expected[name].fields]
        assert [(field, getattr(own, field).offset, getattr(own, field).size) for field, *_ in own._fields_] == fields, name
        assert ctypes.sizeof(own) == expected[name].size == sum(size for _, _, size in fields), "no padding"
