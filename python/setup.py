"""Puts libpicollo into the wheel: ``pip install ./python``. pyproject.toml has everything else.

The library is

1. the file that the environment variable ``PICOLLO_LIBRARY`` names, or else
2. built by cargo, if it and the repository around this directory exist (``CARGO``, ``CARGO_TARGET_DIR`` apply), or else
3. an earlier build of the repository: ``target/stage/lib``, then ``target/release``.

The same holds for the command ``picollo``, on Linux, with ``PICOLLO_COMMAND`` and ``target/stage/bin``. If only the
library was named, the wheel includes the command of an earlier build, if any; without one, ``picollo`` reports that.

The wheel includes the extension module for fast single calls if there are a C compiler, Python's headers and a GIL.

An editable install includes neither: the package finds the repository's builds.

A source distribution includes the repository's crates, in ``rust``, so that it needs cargo and a C compiler only.

To build for another machine, name the library, and the machine in ``_PYTHON_HOST_PLATFORM``, as Python's own build does.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, Optional

from setuptools import Distribution, Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
#: The crates: those of a source distribution, or of the repository around this directory.
REPOSITORY = HERE / "rust" if (HERE / "rust").is_dir() else HERE.parent
NAMES = {"darwin": "libpicollo.dylib", "win32": "picollo.dll"}
NAME = NAMES.get(sys.platform, "libpicollo.so")


def target() -> Path:
    """Cargo's build directory. Absolute, as cargo runs in the repository."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target").resolve()


def build_with_cargo(package: str, folder: str, profile: str, name: str) -> Optional[Path]:
    """Cargo's build of a package of the repository; ``None`` without cargo or the repository."""
    cargo = shutil.which(os.environ.get("CARGO", "cargo"))
    if not cargo or not (REPOSITORY / folder / "Cargo.toml").is_file():
        return None
    command = [cargo, "build", "--profile", profile, "--package", package]
    if subprocess.run(command, cwd=REPOSITORY, env={**os.environ, "CARGO_TARGET_DIR": str(target())}).returncode != 0:
        raise SystemExit(f"`{' '.join(command)}` failed in {REPOSITORY}; what it said is above")
    return target() / profile / name


def named(variable: str) -> Optional[Path]:
    """The file that an environment variable names."""
    override = os.environ.get(variable)
    if override and not Path(override).is_file():
        raise SystemExit(f"{variable} is {override}, which is not a file")
    return Path(override) if override else None


@functools.lru_cache(maxsize=None)
def find_command() -> Optional[Path]:
    """The command to include, built first if possible."""
    found = named("PICOLLO_COMMAND")
    if found or not sys.platform.startswith("linux"):
        return found
    # Whoever names a library wants no build.
    built = None if os.environ.get("PICOLLO_LIBRARY") else build_with_cargo("picollo-cli", "crates/cli", "command", "picollo")
    places = [REPOSITORY / "target" / "stage" / "bin" / "picollo", target() / "command" / "picollo"]
    return built or next((place for place in places if place.is_file()), None)


@functools.lru_cache(maxsize=None)
def find_library() -> Path:
    """The library to include, built first if possible."""
    places = [REPOSITORY / "target" / "stage" / "lib" / NAME, target() / "release" / NAME]
    found = named("PICOLLO_LIBRARY") or build_with_cargo("picollo-ffi", "ffi", "release", NAME)
    found = found or next((place for place in places if place.is_file()), None)
    if found:
        return found
    has_sources = (REPOSITORY / "ffi" / "Cargo.toml").is_file()
    why = "cargo is not on the PATH" if has_sources else f"there are no sources in {REPOSITORY}"
    raise SystemExit(
        f"There is no {NAME} to install: {why}, nor a build at {' or '.join(map(str, places))}.\n"
        "Install Rust, or set PICOLLO_LIBRARY to the path of a library that was built elsewhere."
    )


def check_library(path: Path) -> None:
    """Rejects a library for another machine or of another version, which would otherwise only fail at import."""
    if "_PYTHON_HOST_PLATFORM" in os.environ:
        return
    try:
        version = ctypes.CDLL(str(path.resolve())).picollo_abi_version()
    except (OSError, AttributeError) as error:
        raise SystemExit(f"{path} is no libpicollo for this Python: {error}") from None
    described = (HERE / "src" / "picollo" / "abi.json").read_text(encoding="utf-8")
    wanted = re.search(r'"PICOLLO_ABI_VERSION": (\d+)', described)
    if wanted is None or version != int(wanted[1]):
        raise SystemExit(f"{path} has ABI version {version}, which is not the package's")


class BuildWithLibrary(build_py):
    """The modules, with the library."""

    editable_mode: bool

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        check_library(find_library())
        # Symbolic links are followed: the wheel contains the file itself.
        for file, name in self.files_of_others():
            (Path(self.build_lib) / "picollo" / name).parent.mkdir(exist_ok=True)
            self.copy_file(str(file), str(Path(self.build_lib) / "picollo" / name), preserve_mode=True)

    def files_of_others(self) -> list[tuple[Path, str]]:
        """The included files with their names in the package: the library, and the command if there is one."""
        command = find_command()
        return [(find_library(), NAME), *([(command, "bin/picollo")] if command else [])]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        names = [] if self.editable_mode else [name for _, name in self.files_of_others()]
        return [*super().get_outputs(include_bytecode), *(str(Path(self.build_lib) / "picollo" / name) for name in names)]


class BuildUnlessEditable(build_ext):
    """The extension module, but not in the tree."""

    def run(self) -> None:
        if not self.editable_mode:
            super().run()


class WithCrates(sdist):
    """The source distribution, with a workspace of the crates for the library and the command."""

    def make_release_tree(self, base_dir: str, files: Any) -> None:
        super().make_release_tree(base_dir, [name for name in files if not name.startswith("tests/")])
        rust, described = Path(base_dir) / "rust", Path(base_dir) / "src" / "picollo" / "abi.json"
        described.unlink()
        shutil.copy(HERE / "src" / "picollo" / "abi.json", described)
        for folder in ("core", "crates", "ffi", "native"):
            # Links are followed: some lead out of the folder.
            shutil.copytree(REPOSITORY / folder, rust / folder)
        shutil.copy(REPOSITORY / "Cargo.lock", rust)
        manifest = (REPOSITORY / "Cargo.toml").read_text(encoding="utf-8")
        members = 'members = ["core", "crates/*", "ffi", "native"]'
        manifest = re.sub(r"^members = .*$", members, manifest, flags=re.MULTILINE)
        manifest = re.sub(r"^(#.*\n)*default-members = .*\n", "", manifest, flags=re.MULTILINE)
        (rust / "Cargo.toml").write_text(manifest, encoding="utf-8")


class PlatformWheel(bdist_wheel):
    """For one platform and every Python: ctypes does not depend on Python's ABI. The extension module is for
    versions from 3.9 on with the stable ABI; others ignore it."""

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", super().get_tag()[2])


class WithLibrary(Distribution):
    """Belongs with the platform-specific files."""

    def has_ext_modules(self) -> bool:
        return True


def options() -> dict[str, Any]:
    """Builds in a separate directory: nothing is left in the tree, and no old file gets into a new wheel."""
    scratch = tempfile.mkdtemp(prefix="picollo-build-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return {"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}}


def extensions() -> list[Extension]:
    """None without the GIL, as the module does not compile there."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    flags = ["-std=c11", "-fvisibility=hidden"] if os.name == "posix" else []
    return [
        Extension("picollo._speed", ["src/picollo/_speed.c"], extra_compile_args=flags, py_limited_api=True, optional=True)
    ]


setup(
    cmdclass={
        "build_ext": BuildUnlessEditable,
        "build_py": BuildWithLibrary,
        "bdist_wheel": PlatformWheel,
        "sdist": WithCrates,
    },
    ext_modules=extensions(),
    distclass=WithLibrary,
    options=options(),
)
