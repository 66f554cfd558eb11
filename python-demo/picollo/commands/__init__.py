"""The commands of ``python -m picollo``, a module each: its docstring is the help, ``add_arguments(parser)`` declares what it
takes, and ``run(arguments)`` does it and returns the exit status (or ``None`` for 0). Modules that begin with ``_`` are shared."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


class CommandError(Exception):
    """Ends a command; the message is told on standard error."""


def found() -> dict[str, Any]:
    """The commands by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}") for name in names}
