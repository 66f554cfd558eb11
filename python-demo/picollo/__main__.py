"""The command line: ``python -m picollo COMMAND ...``. It runs the native command where the package has it; elsewhere each module of
:mod:`picollo.commands` is a command."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Optional, Sequence

from . import __version__, commands
from .commands import CommandError
from .errors import PicolloError


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs a command. Returns the exit status: 0 if all is well, 1 for an error that was told, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="picollo", description="Histograms from the command line.")
    parser.add_argument("--version", action="version", version=f"picollo {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, module in commands.found().items():
        description = (module.__doc__ or "").strip()
        subparser = subparsers.add_parser(
            name,
            help=description.splitlines()[0].rstrip("."),
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(subparser)
        subparser.set_defaults(run=module.run)
    parsed = parser.parse_args(arguments)

    # What a terminal cannot show is no reason to fail.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = int(parsed.run(parsed) or 0)
        sys.stdout.flush()
        return status
    except (CommandError, PicolloError) as error:
        message = str(error)
    except BrokenPipeError:
        # Whoever read the output has seen enough. What is left in the buffer goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    except KeyboardInterrupt:
        return 130
    print(f"picollo {parsed.command}: {message}", file=sys.stderr)
    return 1


def command() -> int:
    """What ``picollo`` and ``python -m picollo`` run."""
    native = Path(__file__).with_name("bin") / "picollo"
    if native.is_file():
        # Signals and the exit status are its own then.
        os.execv(native, ["picollo", *sys.argv[1:]])
    return main()


if __name__ == "__main__":
    sys.exit(command())
