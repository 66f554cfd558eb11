"""Writes a C program that prints the size of every struct in the headers, the offset and size of every field, every
constant with its group, and the name of every function; and the functions that the binding calls.

usage: layout_probe.py > probe.c
The C# tests compare its output with their own structs, enums and calls.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ffi" / "describe"))
sys.dont_write_bytecode = True
from csharp import called, field_of, type_of  # noqa: E402
from description import Description  # noqa: E402


def main():
    description = Description()
    print("#include <picollo_all.h>\n#include <stdio.h>\n#include <stddef.h>\nint main(void)\n{")
    for struct in description.structs:
        name, own = struct.name, type_of(struct.name)
        print(f'    printf("struct {name} %zu {own}\\n", sizeof({name}));')
        for field in struct.fields:
            print(
                f'    printf("field {name} {field.name} %zu %zu {field_of(struct, field)}\\n", offsetof({name}, {field.name}), '
                f"sizeof((({name} *)0)->{field.name}));"
            )
    for constant in description.constants:
        print(f'    printf("constant {constant.group or "-"} {constant.name} %lld\\n", (long long){constant.name});')
    for function in description.functions:
        print(f'    puts("function {function.name}");')
    for name in sorted(called()):
        print(f'    puts("called {name}");')
    print("    return 0;\n}")


if __name__ == "__main__":
    main()
