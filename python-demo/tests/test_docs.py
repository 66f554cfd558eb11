"""The examples of docs/python.md run, one after the other, and its pictures are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import REPOSITORY, run_python

import picollo

PAGE = REPOSITORY / "docs" / "python.md"


def test_the_examples_run(tmp_path: Path) -> None:
    for module in ("numpy", "pandas", "matplotlib"):
        pytest.importorskip(module)
    text = PAGE.read_text(encoding="utf-8")
    examples = list(re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    assert len(examples) >= 8
    # Lines keep their numbers, so that a failure says where in the page it is.
    lines = [""] * (text.count("\n") + 1)
    for example in examples:
        first = text.count("\n", 0, example.start(1))
        for place, line in enumerate(example[1].splitlines(), first):
            lines[place] = line
    program = tmp_path / "python.md.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    result = run_python(
        f"import os, runpy; os.chdir({str(tmp_path)!r}); runpy.run_path({str(program)!r})",
        environment={"MPLBACKEND": "Agg"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "##### Request (ns)" in result.stdout and "P99=" in result.stdout
    assert (tmp_path / "heatmap.png").stat().st_size > 1000


def test_pictures_are_there() -> None:
    pictures = re.findall(r"^!\[.+\]\((.+)\)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(pictures) == 4
    for picture in pictures:
        assert 5_000 < (PAGE.parent / picture).stat().st_size < 150_000


def test_names_in_the_page_exist() -> None:
    for name in re.findall(r"`@?picollo\.(\w+)", PAGE.read_text(encoding="utf-8")):
        assert hasattr(picollo, name), name
