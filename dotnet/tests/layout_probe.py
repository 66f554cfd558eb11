"""Writes a C program that prints the size of every struct in picollo.h, the offset and size of every field, every status, and the
name of every function.

usage: layout_probe.py picollo.h > probe.c
The C# tests compare what it prints with their own structs.
"""

import re
import sys

header = re.sub(r"/\*.*?\*/", "", open(sys.argv[1], encoding="utf-8").read(), flags=re.S)
print('#include <picollo.h>\n#include <stdio.h>\n#include <stddef.h>\nint main(void)\n{')
structs = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", header, flags=re.S)
if not structs:
    sys.exit("no struct found in the header")
for name, body in structs:
    print(f'    printf("struct {name} %zu\\n", sizeof({name}));')
    for declaration in body.split(";")[:-1]:
        for declarator in declaration.split(","):
            field = re.search(r"(\w+)\s*(\[\w+\])?\s*$", declarator).group(1)
            print(
                f'    printf("field {name} {field} %zu %zu\\n", offsetof({name}, {field}), '
                f"sizeof((({name} *)0)->{field}));"
            )
for status in re.findall(r"#define (PICOLLO_(?:OK|ERR_\w+))\b", header):
    print(f'    printf("status {status} %d\\n", {status});')
for function in re.findall(r"\b(picollo_\w+)\(", header):
    print(f'    puts("function {function}");')
print("    return 0;\n}")
