"""Writes the description of the C interface, and the files for Rust and C#, from the headers in include.

    generate.py           writes the files
    generate.py --check   fails if a committed file is outdated

ci/describe.sh runs it after the test that writes the header.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import csharp  # noqa: E402
import header  # noqa: E402
import rust  # noqa: E402
from description import ROOT, Description  # noqa: E402


def files() -> dict[str, str]:
    described = header.Header().description()
    description = Description(described)
    return {
        "ffi/picollo.abi.json": header.written(described),
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
        sys.exit(f"{', '.join(stale)}: not what the headers say: run ci/describe.sh")


if __name__ == "__main__":
    main()
