"""The part that pytest loads in every run: options, and a fixture. A test that requests the fixture imports the
rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import pytest

if TYPE_CHECKING:
    from .benchmarks import Benchmarks, Picollo

_KEY: pytest.StashKey[Benchmarks] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the options."""
    group = parser.getgroup("picollo", "benchmarks that remember their earlier runs (picollo)")
    group.addoption("--picollo-save", metavar="NAME", help="add this run's benchmarks to the baseline of that name")
    group.addoption(
        "--picollo-against",
        metavar="NAME",
        help="judge benchmarks by the runs in the baseline of that name, five or more; what is slower fails",
    )
    group.addoption(
        "--picollo-baselines", metavar="DIRECTORY", help="where baselines are (default: .picollo in pytest's root directory)"
    )
    group.addoption(
        "--picollo-budget", metavar="S", type=float, default=1.0, help="seconds that a benchmark takes at most (default: 1)"
    )
    group.addoption(
        "--picollo-threshold", metavar="T", type=float, default=0.01, help="changes up to this share do not matter (default: 0.01)"
    )
    group.addoption(
        "--picollo-alarms",
        metavar="RATE",
        type=float,
        default=0.01,
        help="how often unchanged code may be called slower or faster, where runs are distributed normally (default: 0.01)",
    )
    group.addoption("--picollo-off", action="store_true", help="call each benchmark once, and measure nothing")


def pytest_configure(config: pytest.Config) -> None:
    """Rejects impossible options before any test runs."""
    budget, threshold, alarms = (config.getoption(f"picollo_{name}") for name in ("budget", "threshold", "alarms"))
    if not 0 < budget <= 1e6:
        raise pytest.UsageError(f"--picollo-budget must be more than 0 and at most 1000000 seconds, such as 0.5; got {budget}")
    if not 0 <= threshold < 1e6:
        raise pytest.UsageError(f"--picollo-threshold must be a share from 0 on, such as 0.02; got {threshold}")
    if not 0 < alarms < 1:
        raise pytest.UsageError(f"--picollo-alarms must be between 0 and 1, such as 0.01; got {alarms}")
    if config.getoption("picollo_save") is not None or config.getoption("picollo_against") is not None:
        from .benchmarks import Benchmarks

        config.stash[_KEY] = Benchmarks(config)


@pytest.fixture
def picollo(request: pytest.FixtureRequest) -> Picollo:
    """Measures: ``picollo(function)``. See :class:`pytest_picollo.benchmarks.Picollo`."""
    from .benchmarks import Benchmarks, Picollo

    config = request.config
    if _KEY not in config.stash:
        config.stash[_KEY] = Benchmarks(config)
    return Picollo(config.stash[_KEY], request.node)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Saves the run."""
    benchmarks = session.config.stash.get(_KEY, None)
    if benchmarks is not None:
        benchmarks.save()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the results."""
    benchmarks: Optional[Benchmarks] = config.stash.get(_KEY, None)
    if benchmarks is not None:
        benchmarks.report(terminalreporter)
