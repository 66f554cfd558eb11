"""The structs as the header has them: sizes and offsets, from a C program where there is a compiler."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Optional

import pytest
from conftest import REPOSITORY

from picollo import _structs as structs

#: On 64-bit targets.
SIZES = {
    "picollo_error": 512,
    "picollo_histogram_options": 56,
    "picollo_bucket": 48,
    "picollo_percentile": 72,
    "picollo_counts": 32,
    "picollo_summary": 88 + 16 * 72,
    "picollo_quantile_interval": 104,
    "picollo_compare_options": 56,
    "picollo_picture_options": 16,
    "picollo_comparison": 328,
    "picollo_block_comparison": 112,
    "picollo_layout": 48,
    "picollo_merged": 32,
    "picollo_log_interval": 256,
    "picollo_benchmark_options": 80,
    "picollo_benchmark_result": 192,
    "picollo_benchmark_counter": 24,
    "picollo_scope": 32,
    "picollo_event": 200,
    "picollo_perf_info": 504,
    "picollo_session_options": 32,
    "picollo_reading": 40,
    "picollo_event_info": 288,
    "picollo_double_options": 24,
    "picollo_double_statistics": 72,
    "picollo_double_bucket": 32,
    "picollo_double_percentile": 56,
    "picollo_double_summary": 72 + 16 * 56,
    "picollo_label": 16,
    "picollo_metric_options": 64,
}

CONSTANTS = {
    "PICOLLO_ABI_VERSION": structs.ABI_VERSION,
    "PICOLLO_SUMMARY_PERCENTILES": structs.SUMMARY_PERCENTILES,
    **{
        f"PICOLLO_{name}": value
        for name, value in vars(structs).items()
        if name.startswith(("CLOCK_", "UNIT_", "HISTOGRAM_", "SUMMARY_A", "TEXT_", "ENCODING_", "VERDICT_", "COMPARISON_", "BENCHMARK_", "SESSION_", "READ", "EVENT_INFO_", "DOUBLE_", "METRIC_", "SCALABLE_"))
    },
}


def test_every_struct_is_listed() -> None:
    declared = {
        struct
        for struct in vars(structs).values()
        if isinstance(struct, type) and issubclass(struct, ctypes.Structure)
    }
    assert declared - {ctypes.Structure} == set(structs.BY_C_NAME.values())
    assert set(SIZES) == set(structs.BY_C_NAME)


@pytest.mark.skipif(ctypes.sizeof(ctypes.c_void_p) != 8, reason="the sizes listed are those of 64-bit targets")
@pytest.mark.parametrize("name", SIZES)
def test_sizes(name: str) -> None:
    assert ctypes.sizeof(structs.BY_C_NAME[name]) == SIZES[name]


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
