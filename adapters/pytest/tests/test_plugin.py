"""Tests the plugin as pytest finds it, by its entry point, in separate processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import picollo
import pytest
from picollo import Baseline, Histogram
from picollo.baseline import environment

PACKAGE = Path(__file__).parents[1]

#: Measurements are short, because the judged times differ by orders of magnitude.
QUICK = ("--picollo-budget", "0.02")

TESTS = """
def work():
    return sum(range(50))

def test_work(picollo):
    picollo(work)
"""
NAME = "test_it.py::test_work"


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The package looks installed to pytest."""
    pyproject = (PACKAGE / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r"^\[project\.entry-points\.pytest11\]\n((?:\w+ = .*\n)+)", pyproject, re.MULTILINE)
    assert found is not None
    installed = pytester.path / "installed" / "pytest_picollo-1.2.3.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-picollo\nVersion: 1.2.3\n")
    (installed / "entry_points.txt").write_text("[pytest11]\n" + found[1].replace('"', ""))
    paths = [str(installed.parent), str(PACKAGE), str(Path(picollo.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return project.runpytest_subprocess("-p", "no:cacheprovider", *QUICK, *arguments)


def remember(directory: Path, name: str, picos: int, count: int = 5, benchmark: str = NAME) -> None:
    histogram = Histogram()
    histogram.record(picos)
    for _ in range(count):
        Baseline(name, directory / ".picollo").save({benchmark: histogram}, environment())


def test_nothing_is_loaded_where_nobody_asks(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import json, sys

        def test_modules(request):
            assert request.config.pluginmanager.has_plugin("picollo")
            ours = sorted(name for name in sys.modules if "picollo" in name)
            assert ours == ["pytest_picollo", "pytest_picollo.plugin"]
            with open("/proc/self/maps") as maps:
                assert "libpicollo" not in maps.read()
        """
    )
    run(project).assert_outcomes(passed=1)
    # The plugin adds only its two modules to the imports of pytest itself.
    program = (
        "import json, sys, pytest; before = set(sys.modules); import pytest_picollo.plugin; "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    result = project.run(sys.executable, "-c", program)
    assert json.loads(result.stdout.lines[0]) == ["pytest_picollo", "pytest_picollo.plugin"]


def test_runs_are_saved_and_judged(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=TESTS)
    result = run(project, "--picollo-against", "main")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"{NAME} * no earlier run of this machine has it"])
    for count in range(1, 6):
        result = run(project, "--picollo-save", "main")
        assert result.ret == 0
        result.stdout.fnmatch_lines([f"saved as .picollo/main/*.hlog; main has {count} run*"])
    runs = Baseline("main", project.path / ".picollo").runs()
    assert len(runs) == 5
    for saved in runs:
        assert list(saved.medians) == [NAME] and saved.medians[NAME].value > 1000
        assert saved.environment["cpus"] and saved.environment["kernel"] and saved.environment["load"]
    result = run(project, "--picollo-against", "main")
    result.stdout.fnmatch_lines([f"{NAME} * before * against 5 earlier runs, which did not alternate with this one*"])


def test_what_is_slower_fails(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=TESTS)
    # No Python call adds up fifty numbers in 10 ns, and none of these takes an hour.
    remember(project.path, "short", 10_000)
    remember(project.path, "long", 3_600_000_000_000_000)
    result = run(project, "--picollo-against", "short", "--picollo-save", "short")
    assert result.ret == 1
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*slower: +* against 5 earlier runs*", "what is slower was not saved*"])
    assert len(Baseline("short", project.path / ".picollo").runs()) == 5
    result = run(project, "--picollo-against", "long")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"{NAME} * faster: -100.0%*"])
    # Four runs are too few for an alarm.
    remember(project.path, "few", 10_000, 4)
    run(project, "--picollo-against", "few").assert_outcomes(passed=1)
    # A threshold above the difference.
    run(project, "--picollo-against", "short", "--picollo-threshold", "999999").assert_outcomes(passed=1)


def test_a_disturbance_is_no_alarm(project: pytest.Pytester) -> None:
    # The first look takes at least five milliseconds, the second one its real time.
    project.makeconftest(
        """
        import time
        import pytest_picollo.benchmarks as ours

        measure, looks = ours._measure, []

        def disturbed(function, reference, settings):
            looks.append(1)
            return measure(function if len(looks) > 1 else lambda: time.sleep(0.005), reference, settings)

        ours._measure = disturbed
        """
    )
    project.makepyfile(test_it=TESTS)
    remember(project.path, "main", 2_000_000_000)
    result = run(project, "--picollo-against", "main")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([f"{NAME} * 2.00 ms before  faster: *"])


def test_a_reference_is_measured_in_turns(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_it="""
        def short():
            return sum(range(200))

        def long():
            return sum(range(5000))

        def test_faster(picollo):
            assert str(picollo(short, long, keep_disturbed=True).verdict) == "faster"

        def test_slower(picollo):
            assert str(picollo(long, short, keep_disturbed=True).verdict) == "slower"
        """
    )
    # A busy machine needs longer for a clear answer. Without a baseline nothing fails.
    run(project, "--picollo-budget", "4").assert_outcomes(passed=2)


def test_a_reference_decides_by_a_second_look(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        import os
        from types import SimpleNamespace
        import picollo
        import pytest_picollo.benchmarks as ours

        verdicts = [getattr(picollo.Verdict, name) for name in os.environ["VERDICTS"].split()]

        def record_times(function, reference, settings):
            histogram = picollo.Histogram()
            histogram.record(1_000_000)
            return SimpleNamespace(verdict=verdicts.pop(0), blocks="as planted"), histogram.snapshot()

        ours._measure = record_times

        def pytest_unconfigure():
            assert verdicts == [], "one look only"
        """
    )
    project.makepyfile(test_it="def test_work(picollo):\n    picollo(lambda: 1, lambda: 2)\n")
    remember(project.path, "long", 3_600_000_000_000_000)
    remember(project.path, "short", 10)
    for baseline, verdicts, fails in (
        ("long", "NO_EVIDENCE", False),
        ("long", "SLOWER NO_EVIDENCE", False),
        ("long", "SLOWER SLOWER", True),
        # If earlier runs find it slower, it is measured again, and the version beside it decides.
        ("short", "NO_EVIDENCE NO_EVIDENCE", False),
        ("short", "NO_EVIDENCE SLOWER", True),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("VERDICTS", verdicts)
            result = run(project, "--picollo-against", baseline)
        result.assert_outcomes(passed=not fails, failed=fails)
        result.stdout.no_fnmatch_line("*one look only*")
        if " " in verdicts and not fails:
            result.stdout.fnmatch_lines([f"{NAME} *(slower at a first look, not at a second one)"])


def test_what_is_lost_is_neither_judged_nor_saved(project: pytest.Pytester) -> None:
    project.makeconftest(
        """
        from types import SimpleNamespace
        import picollo
        import pytest_picollo.benchmarks as ours

        samples = [[], [0, 0], [0] * 19, [0, 1, 1], [0] * 20]

        def planted(a, b, **options):
            b = picollo.Histogram()
            for value in samples.pop(0):
                b.record(value)
            return SimpleNamespace(a=picollo.Histogram(), b=b, verdict=picollo.Verdict.NO_EVIDENCE)

        ours.benchmark = planted
        """
    )
    project.makepyfile(
        test_it="""
        def test_lost(picollo):
            picollo(lambda: 1)

        def test_few(picollo):
            picollo(lambda: 1)

        def test_nothing(picollo):
            picollo(lambda: 1)
        """
    )
    result = run(project, "--picollo-save", "main", "--picollo-against", "main")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["test_it.py::test_lost * not measured, as the machine is too busy: neither judged nor saved"])
    (saved,) = Baseline("main", project.path / ".picollo").runs()
    assert list(saved.medians) == ["test_it.py::test_few", "test_it.py::test_nothing"]


def test_other_machines(project: pytest.Pytester) -> None:
    project.makepyfile(test_it=TESTS)
    histogram = Histogram()
    histogram.record(1000)
    for change in (*({"cpu": "Another CPU"},) * 5, *({"host": "elsewhere"},) * 5):
        Baseline("main", project.path / ".picollo").save({NAME: histogram}, {**environment(), **change})
    result = run(project, "--picollo-against", "main")
    result.assert_outcomes(failed=1)
    here = environment()["host"]
    notes = [
        "5 earlier runs were left out, because the machine had another processor",
        f"host was elsewhere in 5 of 5 earlier runs and is {here}",
    ]
    # With the failure, and again at the end.
    result.stdout.fnmatch_lines(["twice slower: *", *notes, *notes])


def test_the_readme(project: pytest.Pytester) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    project.makepyfile(test_it=code)
    run(project, "--picollo-save", "main").assert_outcomes(passed=2)


def test_names(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.parametrize("name", ["a b", "c,d", "100%", "\\u00fc"])
        def test_odd(picollo, name):
            picollo(lambda: name)

        def test_two(picollo):
            picollo(lambda: 1, name="one")
            picollo(lambda: 2, name="two")

        def test_unnamed(picollo):
            picollo(lambda: 1)
            picollo(lambda: 2)
        """
    )
    result = run(project, "--picollo-save", "main")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["*a test with two benchmarks needs a name for each*"])
    (saved,) = Baseline("main", project.path / ".picollo").runs()
    assert {"test_it.py::test_odd[a b]", "test_it.py::test_odd[c,d]", "test_it.py::test_odd[100%]"} < saved.medians.keys()
    assert {"test_it.py::test_two one", "test_it.py::test_two two", "test_it.py::test_unnamed"} < saved.medians.keys()


def test_off(project: pytest.Pytester) -> None:
    project.makepyfile(
        test_it="""
        calls = []

        def test_work(picollo):
            assert picollo(lambda: calls.append(1)) is None
            assert calls == [1]
        """
    )
    result = run(project, "--picollo-off", "--picollo-save", "main", "--picollo-against", "main")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["picollo: benchmarks were called once*"])
    assert not (project.path / ".picollo").exists()


def test_what_a_benchmark_raises_is_the_tests(project: pytest.Pytester) -> None:
    project.makepyfile("def test_work(picollo):\n    picollo(lambda: 1 / 0)\n")
    result = run(project, "--picollo-save", "main")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ZeroDivisionError*"])
    assert not (project.path / ".picollo").exists()


@pytest.mark.parametrize(
    "arguments",
    [("--picollo-budget", "0"), ("--picollo-alarms", "1"), ("--picollo-threshold", "-1"), ("--picollo-save", "../x")],
)
def test_what_cannot_be_is_refused(project: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    project.makepyfile(test_it=TESTS)
    result = project.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
    assert result.ret == 4 and not (project.path / ".picollo").exists()
    result.stderr.fnmatch_lines(["*must be*"])


def test_the_ten(project: pytest.Pytester) -> None:
    shutil.copy(PACKAGE / "examples" / "test_ten.py", project.path)
    run(project, "--picollo-save", "main").assert_outcomes(passed=10)
    result = run(project, "--picollo-against", "main")
    assert len([line for line in result.stdout.lines if "1 earlier run of 5: too few for a verdict" in line]) == 10
