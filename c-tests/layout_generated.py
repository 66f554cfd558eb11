#!/usr/bin/env python3
"""Writes a C program that compares the header, as a C compiler reads it, with its description (ffi/picollo.abi.json).

    layout_generated.py > layout_generated.c

It checks sizes, offsets and lengths of all fields on 64-bit and 32-bit targets, numbers of all constants, and that each
initializer selects the defaults. ffi/src/layout.rs compares Rust's structs with the same description; ci/abi.sh finds
numbers that change between releases.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "ffi" / "describe"))
sys.dont_write_bytecode = True
from description import Description  # noqa: E402

description = Description()
print('/* Generated from ffi/picollo.abi.json by layout_generated.py. */\n#include "test.h"\n')
print("#ifndef __cplusplus\n#include <assert.h>\n#endif\n")
print("#define IS(expression, wide, narrow) static_assert((expression) == (sizeof(void *) == 8 ? (wide) : (narrow)), #expression)\n")
for struct in description.structs:
    name = struct.name
    print(f"IS(sizeof({name}), {struct.size}, {struct.size_32});")
    for field in struct.fields:
        print(f"IS(offsetof({name}, {field.name}), {field.offset}, {field.offset_32});")
        print(f"IS(sizeof((({name} *)0)->{field.name}), {field.size}, {field.size_32});")
for alias, of in description.aliases.items():
    print(f"IS(sizeof({alias}), sizeof({of}), sizeof({of}));")
for constant in description.constants:
    print(f'static_assert({constant.name} == {constant.value}, "{constant.name}");')
initialisers = {one.initialiser: one.name for one in description.structs if one.initialiser}
for number, (macro, name) in enumerate(initialisers.items()):
    # They are constants, in static memory.
    print(f"static {name} options_{number} = {macro};")
print("\nstatic void initialisers_ask_for_the_defaults(void)\n{")
for number, name in enumerate(initialisers.values()):
    print(f"    {{\n        {name} zero;\n        memset(&zero, 0, sizeof zero);\n        zero.struct_size = sizeof zero;")
    print(f"        CHECK(memcmp(&zero, &options_{number}, sizeof zero) == 0);\n    }}")
print('''}

static void the_version_of_the_header_is_that_of_the_library(void)
{
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PICOLLO_VERSION_MAJOR, PICOLLO_VERSION_MINOR, PICOLLO_VERSION_PATCH);
    CHECK_TEXT(version, picollo_version());
    CHECK_U64(PICOLLO_ABI_VERSION, picollo_abi_version());
}

int main(void)
{
    RUN(initialisers_ask_for_the_defaults);
    RUN(the_version_of_the_header_is_that_of_the_library);
    return report();
}''')
if len(initialisers) != sum(one.fields[0].name == "struct_size" for one in description.structs):
    sys.exit("a struct of options has no initialiser")
