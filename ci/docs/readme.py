"""Runs the C and Python examples of README.md, and the first program of docs/cpp.md, as a reader would, against the staged library:
C and C++ by the very commands printed below them, and all without LD_LIBRARY_PATH, which `make` sets and a reader does not.

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


def run_compiled(code, folder, commands, name, compiler, strict):
    """In a folder of its own, which has the `target` of the tree, and nothing else of it."""
    (folder / name).write_text(code)
    (folder / "target").symlink_to(ROOT / "target")
    # Not left to the reader: the compiler has nothing to say.
    assert commands.startswith(compiler + " "), commands
    run(["bash", "-euo", "pipefail", "-c", strict + commands[len(compiler) :]], cwd=folder, env=environment())
    return run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment())


def run_c(code, folder, commands):
    return run_compiled(code, folder, commands, "example.c", "cc", "cc -std=c11 -Wall -Wextra -Werror")


def run_cpp(code, folder, commands):
    return run_compiled(code, folder, commands, "example.cpp", "g++", "g++ -Wall -Wextra -Werror")


def run_python(code, folder):
    given = environment(PYTHONPATH=str(ROOT / "python-demo"), PYTHONDONTWRITEBYTECODE="1")
    return run([sys.executable, "-c", code], cwd=folder, env=given)


COMPILED = {"c": run_c, "c++": run_cpp}


def check(page, languages):
    """Runs the page's blocks in these languages. Returns how many went well, and how many did not."""
    blocks = re.findall(r"^```([a-z+]+)\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    passed = failed = 0
    for number, (language, code) in enumerate(blocks):
        if language not in languages:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                if language in COMPILED:
                    following, commands = blocks[number + 1]
                    assert following == "sh", f"no commands below the {language} example"
                    printed = COMPILED[language](code, pathlib.Path(folder), commands)
                else:
                    printed = run_python(code, pathlib.Path(folder))
                good = "| Percentile |" in printed and "1,000 |" in printed
            except subprocess.CalledProcessError as error:
                printed, good = f"{error}\n{error.stderr}", False
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"{page}, {language}:\n{code}\nprinted:\n{printed}")
    return passed, failed


def main():
    # The other blocks of docs/cpp.md are no whole programs: ci/cpp.sh.
    of_readme, of_cpp = check("README.md", ("c", "python")), check("docs/cpp.md", ("c++",))
    passed, failed = of_readme[0] + of_cpp[0], of_readme[1] + of_cpp[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or of_readme[0] < 2 or of_cpp[0] < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
