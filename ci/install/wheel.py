"""Checks the wheel in an environment with nothing else, far from the sources: run by ci/dist/test.sh."""

import pathlib
import subprocess
import sys

import picollo

package = pathlib.Path(picollo.__file__).resolve().parent
assert package.is_relative_to(pathlib.Path(sys.prefix).resolve()), f"{package} is not the installed one"
histogram = picollo.Histogram(relative_error=0.01)
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libpicollo" in line}
assert loaded == {str(package / "libpicollo.so")}, f"another library is loaded: {loaded}"
for value in range(1, 1001):
    histogram.record(value)
text = str(histogram.summary())
assert "1,000" in text, text
with picollo.Session(["cycles", "task-clock"], skip_unavailable=True) as session:
    with session.measure():
        sum(range(1000))
# The wheel includes the command, as a program and as a module.
version = picollo.__version__
script = pathlib.Path(sys.executable).with_name("picollo")
for command in ([script], [sys.executable, "-m", "picollo"]):
    told = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, f"picollo {version}\n"), told
print(f"the wheel works on Python {sys.version.split()[0]}")
