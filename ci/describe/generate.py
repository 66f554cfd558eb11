"""Writes what other languages are told about the C interface, from ffi/picollo.abi.json.

    generate.py           writes the files
    generate.py --check   fails where a committed file is not what would be written

ci/describe.sh runs it behind the test that writes the description.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import csharp  # noqa: E402
import python  # noqa: E402
from description import ROOT, Description  # noqa: E402


def files(description: Description) -> dict[str, str]:
    return {
        "c-tests/exports.txt": "".join(f"{name}\n" for name in sorted(one.name for one in description.functions)),
        "python-demo/picollo/_structs.py": python.structs(description),
        "python-demo/picollo/_prototypes.py": python.prototypes(description),
        "dotnet/Picollo/Native/Constants.g.cs": csharp.constants(description),
        "dotnet/Picollo/Native/NativeStructs.g.cs": csharp.structs(description),
        "dotnet/Picollo/Native/NativeMethods.g.cs": csharp.methods(description),
    }


def main() -> None:
    stale = []
    for name, text in files(Description()).items():
        path = ROOT / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.exit(f"{', '.join(stale)}: not what ffi/picollo.abi.json says: run ci/describe.sh")


if __name__ == "__main__":
    main()
