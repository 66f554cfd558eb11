"""Writes C that defines every function of picollo.h, so that a compiler says what the interface is, and nothing else.

    python3 witness.py HEADER              C on the standard output
    python3 witness.py --constants HEADER  the constants, one "NAME value" on a line
    python3 witness.py --functions HEADER  the names of the functions

The library's own debug information would do, but it describes all its insides too, in Rust's words.
"""

import re
import sys


def main():
    option = sys.argv[1] if sys.argv[1].startswith("--") else None
    with open(sys.argv[-1], encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    # A declaration begins a line and ends with a semicolon; those within structs are indented.
    functions = re.findall(r"^([a-z][\w \*]*?\b(picollo_\w+)\([^;{]*\));", text, re.MULTILINE)
    if option == "--constants":
        for name, value in sorted(re.findall(r"^#define (PICOLLO_\w+) +(.+?)\s*$", text, re.MULTILINE)):
            print(name, value)
    elif option == "--functions":
        print("\n".join(sorted(name for _, name in functions)))
    else:
        print('#include "picollo.h"\n#pragma GCC diagnostic ignored "-Wunused-parameter"')
        for declaration, _ in functions:
            returns_nothing = re.match(r"void\s+picollo_", declaration)
            print(f"{declaration} {{ {'' if returns_nothing else 'return 0; '}}}")


if __name__ == "__main__":
    main()
