"""Writes C that defines every function of picollo.h, so that a compiler says what the interface is, and nothing else.

    python3 witness.py               C on the standard output
    python3 witness.py --alone       the same without picollo.h: all that it declares is written too
    python3 witness.py --constants   the constants, one "NAME value" on a line

From ffi/picollo.abi.json, or the description that is named last. The library's own debug information would do, but it describes
all its insides too, in Rust's words.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "describe"))
sys.dont_write_bytecode = True
from description import PATH, Description  # noqa: E402


def declarations(description):
    """What picollo.h declares but for functions and constants."""
    print("#include <stddef.h>\n#include <stdint.h>")
    for name, type in description.aliases.items():
        print(f"typedef {type} {name};")
    for name in description.handles:
        print(f"typedef struct {name} {name};")
    for struct in description.structs:
        print(f"typedef struct {struct.name} {{")
        for field in struct.fields:
            print(f"    {field.declared};")
        print(f"}} {struct.name};")


def main():
    options = [one for one in sys.argv[1:] if one.startswith("--")]
    files = [one for one in sys.argv[1:] if not one.startswith("--")]
    description = Description(Path(files[0]) if files else PATH)
    if options == ["--constants"]:
        for constant in sorted(description.constants, key=lambda one: one.name):
            # Those of the release change with each.
            if not constant.name.startswith("PICOLLO_VERSION_"):
                print(constant.name, constant.expression)
        return
    if options == ["--alone"]:
        declarations(description)
    else:
        print('#include "picollo.h"')
    print('#pragma GCC diagnostic ignored "-Wunused-parameter"')
    for function in description.functions:
        body = "" if function.returns == "void" else "return 0; "
        print(f"{function.declared} {{ {body}}}")


if __name__ == "__main__":
    main()
