"""The command line: ``picollo COMMAND ...`` and ``python -m picollo COMMAND ...`` run the native command, which the
package includes. ``picollo --help`` lists what it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn, Optional

#: Overrides every other place that is searched.
ENVIRONMENT_VARIABLE = "PICOLLO_COMMAND"

_NAME = "picollo.exe" if sys.platform == "win32" else "picollo"


def find(package: Path) -> Optional[Path]:
    """Returns the command from the environment variable, else from the package, else from the repository's build."""
    override = os.environ.get(ENVIRONMENT_VARIABLE)
    if override:
        return Path(override)
    places = [package / "bin"]
    places += [package.parent.parent.parent / "target" / part for part in ("stage/bin", "command", "release", "debug")]
    return next((place / _NAME for place in places if (place / _NAME).is_file()), None)


def command() -> NoReturn:
    """Runs the native command for ``picollo`` and ``python -m picollo``."""
    native = find(Path(__file__).resolve().parent)
    if native is None:
        sys.exit(
            "picollo: this package does not include the command: build it with `cargo install --path crates/cli` in the sources, "
            f"or set {ENVIRONMENT_VARIABLE} to its path"
        )
    try:
        if sys.platform == "win32":
            sys.exit(subprocess.run([native, *sys.argv[1:]]).returncode)
        # The command then handles signals and the exit status itself.
        os.execv(native, ["picollo", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"picollo: {native}: {error.strerror}")


if __name__ == "__main__":
    command()
