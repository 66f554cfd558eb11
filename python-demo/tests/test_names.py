"""Events by their makers' names, through libpfm4, which reads the environment once: each test is a process of its own."""

from __future__ import annotations

from typing import Optional

import pytest
from conftest import run_python

FORCED: dict[str, Optional[str]] = {"LIBPFM_FORCE_PMU": "skx"}


@pytest.fixture(scope="module", autouse=True)
def libpfm4() -> None:
    """Skips, saying why, where the library is not installed."""
    try:
        __import__("ctypes").CDLL("libpfm.so.4")
    except OSError as error:
        pytest.skip(f"needs libpfm4, which ci/setup.sh tests installs: {error}")


def test_a_makers_name() -> None:
    done = run_python(
        """
        import picollo
        event = picollo.Event("MEM_LOAD_RETIRED.L1_MISS")
        assert (event.type, event.config) == (4, 0x8D1), event.config
        assert event.name == "skx::MEM_LOAD_RETIRED.L1_MISS" and event.spec == "MEM_LOAD_RETIRED.L1_MISS"
        again = picollo.Event(event.name)
        assert again == event
        assert picollo.Event("INST_RETIRED.ANY_P:c=2").config == 0x20000C0
        for name, kind, said in [
            ("MEM_LOAD_RETIRED.L1_MIS", picollo.InvalidArgumentError, "Did you mean MEM_LOAD_RETIRED.L1_MISS"),
            ("MEM_LAOD_RETIRED.L1_MISS", picollo.NoSuchEventError, "Did you mean MEM_LOAD_RETIRED.L1_MISS"),
            ("cylces", picollo.NoSuchEventError, "Did you mean cycles?"),
        ]:
            try:
                picollo.Event(name)
            except kind as error:
                assert said in str(error), error
            else:
                raise AssertionError(name)
        """,
        environment=FORCED,
    )
    assert done.returncode == 0, done.stderr


def test_another_processors_name() -> None:
    done = run_python(
        """
        import picollo
        refused = 0
        for name in ("skx::MEM_LOAD_RETIRED.L1_MISS", "hsw_ep::INST_RETIRED.ANY_P"):
            try:
                picollo.Event(name)
            except picollo.NoSuchEventError as error:
                assert "not known to be an event of this processor" in str(error), error
                refused += 1
        # No machine is both.
        assert refused > 0
        """,
        environment={"LIBPFM_FORCE_PMU": None, "LIBPFM_ENCODE_INACTIVE": "1"},
    )
    assert done.returncode == 0, done.stderr
