"""Runs the C and Python examples of README.md as a reader would, against the staged library.

The Rust example is a documentation test of picollo-native. Ends with "N passed, N failed".
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGE = ROOT / "target" / "stage"


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120, **options).stdout


def run_c(code, folder):
    (folder / "example.c").write_text(code)
    environment = {**os.environ, "PKG_CONFIG_PATH": str(STAGE / "lib" / "pkgconfig")}
    flags = run(["pkg-config", "--cflags", "--libs", "picollo"], env=environment).split()
    run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "example.c", "-o", "example", *flags], cwd=folder)
    return run(["./example"], cwd=folder, env={**os.environ, "LD_LIBRARY_PATH": str(STAGE / "lib")})


def run_python(code, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python-demo"), "PYTHONDONTWRITEBYTECODE": "1"}
    return run([sys.executable, "-c", code], cwd=folder, env=environment)


def main():
    blocks = re.findall(r"^```(c|python)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    passed = failed = 0
    for language, code in blocks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                printed = {"c": run_c, "python": run_python}[language](code, pathlib.Path(folder))
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
