"""Writes a C program that prints the size of every struct in picollo.h, the offset and size of every field, every constant
with its group, and the name of every function; and which functions the binding calls.

usage: layout_probe.py > probe.c
The C# tests compare what it prints with their own structs, enums and calls.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci" / "describe"))
sys.dont_write_bytecode = True
from description import Description  # noqa: E402

description = Description()
print("#include <picollo.h>\n#include <stdio.h>\n#include <stddef.h>\nint main(void)\n{")
for struct in description.structs:
    name = struct.name
    print(f'    printf("struct {name} %zu\\n", sizeof({name}));')
    for field in struct.fields:
        print(
            f'    printf("field {name} {field.name} %zu %zu\\n", offsetof({name}, {field.name}), '
            f"sizeof((({name} *)0)->{field.name}));"
        )
for constant in description.constants:
    print(f'    printf("constant {constant.group or "-"} {constant.name} %lld\\n", (long long){constant.name});')
for function in description.functions:
    print(f'    puts("function {function.name}");')
# All are declared, by a generator; what matters is what is called.
sources = [path for path in (ROOT / "dotnet" / "Picollo").rglob("*.cs") if not path.name.endswith(".g.cs")]
called = {name for path in sources for name in re.findall(r"NativeMethods\.(picollo_\w+)", path.read_text(encoding="utf-8"))}
for name in sorted(called):
    print(f'    puts("called {name}");')
print("    return 0;\n}")
