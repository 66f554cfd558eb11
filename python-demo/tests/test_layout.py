"""The structs as the header has them: sizes and offsets, from a C program where there is a compiler."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Optional

import pytest
from conftest import REPOSITORY

from picollo import _structs as structs
from picollo._prototypes import PROTOTYPES

DESCRIPTION = REPOSITORY / "ffi" / "picollo.abi.json"

CONSTANTS = {
    f"PICOLLO_{name}": value for name, value in vars(structs).items() if name.isupper() and isinstance(value, int)
}


def described() -> dict[str, Any]:
    description: dict[str, Any] = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    return description


def test_every_struct_is_listed() -> None:
    declared = {
        struct
        for struct in vars(structs).values()
        if isinstance(struct, type) and issubclass(struct, ctypes.Structure)
    }
    assert declared - {ctypes.Structure} == set(structs.BY_C_NAME.values())
    assert {struct["name"] for struct in described()["structs"]} == set(structs.BY_C_NAME)


def test_every_constant_is_listed() -> None:
    assert {constant["name"]: constant["value"] for constant in described()["constants"]} == CONSTANTS


def test_every_function_is_declared() -> None:
    """For ctypes as C passes it: how many arguments, and of which size."""
    description = described()
    functions = {function["name"]: function for function in description["functions"]}
    assert functions.keys() == {f"picollo_{name}" for name in PROTOTYPES}
    assert len(functions) > 100
    sizes = {"int32_t": 4, "uint32_t": 4, "uint64_t": 8, "double": 8, "size_t": ctypes.sizeof(ctypes.c_size_t)}
    sizes.update({alias["name"]: sizes[alias["base"]] for alias in description["aliases"]})
    for name, function in functions.items():
        result, arguments = PROTOTYPES[name[len("picollo_") :]]
        assert len(arguments) == len(function["parameters"]), name
        for argument, parameter in zip(arguments, function["parameters"]):
            is_pointer = parameter["pointers"] > 0
            expected = ctypes.sizeof(ctypes.c_void_p) if is_pointer else sizes[parameter["base"]]
            assert ctypes.sizeof(argument) == expected, (name, parameter["name"])
            assert (argument is ctypes.c_double) == (parameter["base"] == "double" and not is_pointer), (name, parameter["name"])
        assert (result is None) == (function["returns"] == "void"), name


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the first sizes described are those of 64-bit targets")
@pytest.mark.parametrize("name", structs.BY_C_NAME)
def test_sizes(name: str) -> None:
    own = structs.BY_C_NAME[name]
    struct = next(struct for struct in described()["structs"] if struct["name"] == name)
    assert ctypes.sizeof(own) == struct["size"]
    fields = [(field["name"], field["offset"], field["size"]) for field in struct["fields"]]
    assert [(field, getattr(own, field).offset, getattr(own, field).size) for field, *_ in own._fields_] == fields


def test_no_padding() -> None:
    for name, struct in structs.BY_C_NAME.items():
        end = 0
        for field, *_ in struct._fields_:
            descriptor = getattr(struct, field)
            assert descriptor.offset == end, (name, field)
            end += descriptor.size
        assert end == ctypes.sizeof(struct), name


def header() -> Optional[Path]:
    for folder in ("include", "target/stage/include"):
        candidate = REPOSITORY / folder / "picollo.h"
        if candidate.is_file():
            return candidate
    return None


def test_like_the_header(tmp_path: Path) -> None:
    path = header()
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if path is None:
        pytest.skip("there is no include/picollo.h to compare with")
    if compiler is None:
        pytest.skip("there is no C compiler to ask")
    lines = []
    expected = []
    for name, struct in structs.BY_C_NAME.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, *_ in struct._fields_:
            descriptor = getattr(struct, field)
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            )
            expected.append(f"{name}.{field} {descriptor.offset} {descriptor.size}")
    for name, value in CONSTANTS.items():
        lines.append(f'printf("{name} %lld\\n", (long long){name});')
        expected.append(f"{name} {value}")
    source = tmp_path / "probe.c"
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <picollo.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\nreturn 0;\n}\n"
    )
    program = tmp_path / "probe"
    subprocess.run(
        [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{path.parent}", str(source), "-o", str(program)],
        check=True,
    )
    told = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout.splitlines()
    assert told == expected
