"""Runs the C, C++ and Python examples of README.md, the C example of docs/why-slow.md, and the first program of
docs/languages/cpp.md on the staged library, like a reader. C and C++ use the commands printed below them. LD_LIBRARY_PATH is
unset: `make` sets it, but a reader does not.

Also runs the C and Python rows of docs/coming-from.md, and checks that the Rust test of its rows is current. Runs
the C snippets of docs/llms.txt and three other pages, each as the body of a function. (ci/cpp.sh and ci/dotnet.sh run the
rows and snippets in C++ and
C#, python/tests/test_docs.py those in Python, and documentation tests those in Rust.)

The Rust example is a documentation test of picollo. Ends with "N passed, N failed".
"""

import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120, **options).stdout


def environment(**more):
    """A reader's environment: nothing in it points to the library."""
    ours = ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "PICOLLO_LIBRARY", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if name not in ours} | more


def run_compiled(code, folder, commands, name, compiler, strict):
    """Runs in a separate folder, which has only the `target` of the tree."""
    (folder / name).write_text(code)
    (folder / "target").symlink_to(ROOT / "target")
    # Stricter than for readers: the compiler must print nothing.
    assert commands.startswith(compiler + " "), commands
    run(["bash", "-euo", "pipefail", "-c", strict + commands[len(compiler) :]], cwd=folder, env=environment())
    return run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment())


def run_c(code, folder, commands):
    return run_compiled(code, folder, commands, "example.c", "cc", "cc -std=c11 -Wall -Wextra -Werror")


def run_cpp(code, folder, commands):
    return run_compiled(code, folder, commands, "example.cpp", "g++", "g++ -Wall -Wextra -Werror")


def run_python(code, folder):
    given = environment(PYTHONPATH=str(ROOT / "python" / "src"), PYTHONDONTWRITEBYTECODE="1")
    return run([sys.executable, "-c", code], cwd=folder, env=given)


SNIPPETS = ("docs/llms.txt", "docs/measure-latency.md", "docs/languages/c.md", "docs/export.md")
COMPILED = {"c": (run_c, "cc"), "c++": (run_cpp, "g++")}


def ways_to_compile(blocks, compiler):
    """The commands below an example, or below others that follow it: each call of its compiler begins one way."""
    below = itertools.takewhile(lambda block: block[0] in COMPILED or block[0] == "sh" and block[1].startswith(("cc ", "g++ ")), blocks)
    shell = "".join(commands for language, commands in below if language == "sh")
    return [way for way in re.split(r"^(?=cc |g\+\+ )", shell, flags=re.MULTILINE) if way.startswith(compiler + " ")]


def check(page, languages, expected=r"1,000 values|^\| Percentile \|.*1,000 \|"):
    """Runs the page's blocks in these languages. Returns how many passed, with the expected output, and how many
    failed."""
    blocks = re.findall(r"^```([a-z+]+)\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    passed = failed = 0
    for number, (language, code) in enumerate(blocks):
        if language not in languages or (page in SNIPPETS and "int main(" not in code):
            continue
        if language in COMPILED:
            runner, compiler = COMPILED[language]
            ways = [functools.partial(runner, commands=way) for way in ways_to_compile(blocks[number + 1 :], compiler)]
            assert ways, f"no commands below the {language} example"
        else:
            ways = [run_python]
        for way in ways:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    printed = way(code, pathlib.Path(folder))
                    good = bool(re.search(expected, printed, re.DOTALL | re.MULTILINE))
                except subprocess.CalledProcessError as error:
                    printed, good = f"{error}\n{error.stderr}", False
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"{page}, {language}:\n{code}\nprinted:\n{printed}")
    return passed, failed


def run_bodies_in_c(bodies, folder, prelude=""):
    functions = "".join(f"static void block_{number}(void)\n{{\n{body}}}\n\n" for number, body in enumerate(bodies))
    calls = "".join(f"    RUN(block_{number});\n" for number in range(len(bodies)))
    (folder / "rows.c").write_text(f'#include "test.h"\n\n{prelude}{functions}int main(void)\n{{\n{calls}    return report();\n}}\n')
    stage = ROOT / "target/stage"
    search = ["-I", ROOT / "c-tests", "-I", stage / "include", "-L", stage / "lib", f"-Wl,-rpath,{stage}/lib"]
    run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *search, "rows.c", "-o", "rows", "-lpicollo"], cwd=folder)
    run(["./rows"], cwd=folder, env=environment())


def run_rows_in_c(code, folder):
    run_bodies_in_c([code], folder)


def check_snippets():
    """Runs the C blocks of these pages that are no whole programs, and limits the length of the page for language models.
    Returns counts like `check`."""
    passed = failed = 0
    for page in SNIPPETS:
        text = (ROOT / page).read_text()
        bodies = [body for body in re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if "int main(" not in body]
        assert bodies, f"{page} has no snippets in C"
        with tempfile.TemporaryDirectory() as folder:
            try:
                run_bodies_in_c(bodies, pathlib.Path(folder), "#define work() picollo_work_add_chain_256(100)\n\n")
                passed += len(bodies)
            except subprocess.CalledProcessError as error:
                failed += len(bodies)
                print(f"{page}: {error}\n{error.stdout}{error.stderr}")
    words = len((ROOT / "docs/llms.txt").read_text().split())
    if words > 3000:
        failed += 1
        print(f"docs/llms.txt has {words} words. The limit is 3,000.")
    return passed, failed


def check_rows():
    """Checks the rows of the page for users of HdrHistogram, like `check`."""
    page = (ROOT / rows.PAGE).read_text()
    passed = failed = 0
    for language, runner in (("c", run_rows_in_c), ("python", run_python)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                runner(rows.body(page, language), pathlib.Path(folder))
                passed += 1
            except subprocess.CalledProcessError as error:
                failed += 1
                print(f"{rows.PAGE}, rows in {language}: {error}\n{error.stdout}{error.stderr}")
    if (ROOT / rows.RUST_TEST).read_text() == rows.rust_test(page):
        passed += 1
    else:
        failed += 1
        print(f"{rows.RUST_TEST} is not what the page says: ci/docs/rows.py {rows.PAGE} --rust >{rows.RUST_TEST}")
    return passed, failed


def main():
    # The other blocks of docs/languages/cpp.md are not whole programs: see ci/cpp.sh.
    of_readme, of_cpp = check("README.md", ("c", "c++", "python")), check("docs/languages/cpp.md", ("c++",))
    of_slow = check("docs/why-slow.md", ("c",), r"^own waiting +\d+% +\d+ ")
    of_first = check("docs/measure-latency.md", ("c",), r"^p50 \d+ ns, p99 \d+ ns, p99.9 \d+ ns$")
    of_rows, of_snippets = check_rows(), check_snippets()
    passed, failed = (sum(counts) for counts in zip(of_readme, of_cpp, of_slow, of_first, of_rows, of_snippets))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or of_readme[0] < 4 or of_cpp[0] < 1 or of_slow[0] < 1 or of_first[0] < 1 or of_snippets[0] < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
