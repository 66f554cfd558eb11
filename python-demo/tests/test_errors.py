"""Exceptions carry the explanation, and fit into Python's own families."""

from __future__ import annotations

import errno
import pickle

import pytest

import picollo
from picollo import errors
from picollo._structs import Error


def test_every_status_has_its_class() -> None:
    seen = set()
    for status in [*range(-1, -16, -1), -127]:
        error = errors.from_status(status)
        assert type(error) is not picollo.PicolloError
        assert error.status == status == type(error).STATUS
        assert str(error) == error.message == errors.status_text(status) != ""
        seen.add(type(error))
    assert len(seen) == 16
    assert seen == {getattr(picollo, name) for name in errors.__all__ if name.endswith("Error")} - {
        picollo.PicolloError,
        picollo.ClosedError,
        picollo.LibraryError,
    }


def test_unknown_statuses() -> None:
    error = errors.from_status(-9999)
    assert type(error) is picollo.PicolloError
    assert error.status == -9999
    assert str(error)


@pytest.mark.parametrize(
    ("error", "family"),
    [
        (picollo.InvalidArgumentError, ValueError),
        (picollo.OutOfMemoryError, MemoryError),
        (picollo.EmptyError, ValueError),
        (picollo.SystemCallError, OSError),
        (picollo.PermissionDeniedError, PermissionError),
        (picollo.NoSuchEventError, LookupError),
        (picollo.ClosedError, picollo.PicolloError),
        (picollo.ClosedError, ValueError),
        (picollo.LibraryError, ImportError),
    ],
)
def test_families(error: type[Exception], family: type[Exception]) -> None:
    assert issubclass(error, family)


def test_details() -> None:
    detail = Error(status=-11, os_errno=errno.EACCES, event_index=1, message="not \u00bbso\u00ab".encode())
    with pytest.raises(PermissionError) as caught:
        errors.check_detail(-11, detail, ("cycles", "branches"))
    error = caught.value
    assert isinstance(error, picollo.PermissionDeniedError)
    assert str(error) == error.message == "not »so«"
    assert (error.status, error.errno, error.event) == (-11, errno.EACCES, "branches")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (copy.message, copy.status, copy.errno, copy.event) == (
        error.message,
        error.status,
        error.errno,
        error.event,
    )
    with pytest.raises(picollo.PermissionDeniedError) as caught:
        errors.check_detail(-11, Error(status=-11, event_index=-1, message=b"no"), ("cycles",))
    assert (caught.value.errno, caught.value.event) == (None, None)
    # What an earlier call left there is not taken for this one's.
    with pytest.raises(picollo.BusyError) as caught_busy:
        errors.check_detail(-14, detail, ())
    assert str(caught_busy.value) == errors.status_text(-14)


def test_closed_objects_are_errors_of_the_package() -> None:
    histogram = picollo.Histogram()
    histogram.close()
    with pytest.raises(picollo.PicolloError, match="the histogram is closed") as caught:
        histogram.record(1)
    error = caught.value
    assert type(error) is picollo.ClosedError
    assert (error.status, error.errno, error.event) == (0, None, None)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) == error.message
    # No status stands for it: the library knows no closed objects.
    assert type(errors.from_status(0)) is picollo.PicolloError


def test_a_failing_call_says_what_and_why() -> None:
    with pytest.raises(picollo.EmptyError) as caught:
        picollo.Histogram().percentile(50)
    assert caught.value.status == -8
    assert "nothing was recorded" in str(caught.value)


def test_memory_runs_out() -> None:
    """A histogram that no machine has room for."""
    try:
        huge = [picollo.Histogram(1e-6) for _ in range(1)]
    except picollo.OutOfMemoryError as error:
        assert isinstance(error, MemoryError)
        return
    assert huge[0].footprint > 300 * 2**20
