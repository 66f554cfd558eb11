"""Runs the C and Python examples of README.md as a reader would, against the staged library: the C one by the very commands
printed below it, and both without LD_LIBRARY_PATH, which `make` sets and a reader does not.

The Rust example is a documentation test of picollo-native. Ends with "N passed, N failed".
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120, **options).stdout


def environment(**more):
    """A reader's: nothing in it says where the library is."""
    ours = ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "PICOLLO_LIBRARY", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in ours} | more


def run_c(code, folder, commands):
    """In a folder of its own, which has the `target` of the tree, and nothing else of it."""
    (folder / "example.c").write_text(code)
    (folder / "target").symlink_to(ROOT / "target")
    # Not left to the reader: the compiler has nothing to say.
    strict = commands.replace("cc ", "cc -std=c11 -Wall -Wextra -Werror ", 1)
    run(["bash", "-euo", "pipefail", "-c", strict], cwd=folder, env=environment())
    return run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment())


def run_python(code, folder):
    given = environment(PYTHONPATH=str(ROOT / "python-demo"), PYTHONDONTWRITEBYTECODE="1")
    return run([sys.executable, "-c", code], cwd=folder, env=given)


def main():
    blocks = re.findall(r"^```(c|python|sh)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    passed = failed = 0
    for number, (language, code) in enumerate(blocks):
        if language == "sh":
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                if language == "c":
                    following, commands = blocks[number + 1]
                    assert following == "sh", "no commands below the C example"
                    printed = run_c(code, pathlib.Path(folder), commands)
                else:
                    printed = run_python(code, pathlib.Path(folder))
                good = "| Percentile |" in printed and "1,000 |" in printed
            except subprocess.CalledProcessError as error:
                printed, good = f"{error}\n{error.stderr}", False
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"README.md, {language}:\n{code}\nprinted:\n{printed}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
