"""Writes all that follows from the functions, structs and constants in ffi/src: the headers in include, their description, and files for
Rust and C#.

    generate.py           writes the files
    generate.py --check   fails if a committed file is outdated
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import abi  # noqa: E402
import csharp  # noqa: E402
import header  # noqa: E402
import rust  # noqa: E402
from description import ROOT, Description  # noqa: E402


def files() -> dict[str, str]:
    interface = abi.Interface()
    described = interface.description()
    description = Description(described, interface.documentation())
    return {
        **header.files(),
        "ffi/picollo.abi.json": abi.written(described),
        "ffi/src/layout.rs": rust.layout(description),
        "dotnet/src/Picollo/Native/Constants.g.cs": csharp.constants(description),
        "dotnet/src/Picollo/Native/NativeStructs.g.cs": csharp.structs(description),
        "dotnet/src/Picollo/Native/NativeMethods.g.cs": csharp.methods(description),
        "dotnet/src/Picollo/Metrics/Percentiles.g.cs": csharp.percentiles(description),
        "dotnet/src/Picollo/Results.g.cs": csharp.results(description, ""),
        "dotnet/src/Picollo/Metrics/Results.g.cs": csharp.results(description, "Metrics"),
        "dotnet/src/Picollo/PerfEvent/Results.g.cs": csharp.results(description, "PerfEvent"),
    }


def main() -> None:
    stale = []
    for name, text in files().items():
        path = ROOT / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)}: not what ffi/src says: run ci/describe.sh")


if __name__ == "__main__":
    main()
