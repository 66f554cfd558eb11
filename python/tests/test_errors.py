"""Exceptions have the explanation, and fit into Python's own class hierarchy."""

from __future__ import annotations

import errno
import pickle

import pytest

import picollo
from picollo import errors
from picollo._structs import Error

FAMILIES: dict[type[Exception], type[Exception]] = {
    picollo.InvalidArgumentError: ValueError,
    picollo.OutOfMemoryError: MemoryError,
    picollo.EmptyError: ValueError,
    picollo.SystemCallError: OSError,
    picollo.PermissionDeniedError: PermissionError,
    picollo.NoSuchEventError: LookupError,
    picollo.ClosedError: ValueError,
    picollo.LibraryError: ImportError,
}


def test_every_status_has_its_class() -> None:
    seen = set()
    for status in [*range(-1, -16, -1), -127]:
        error = errors.from_status(status)
        assert error.status == status == type(error).STATUS
        assert str(error) == error.message == errors.status_text(status) != ""
        seen.add(type(error))
    others = {picollo.PicolloError, picollo.ClosedError, picollo.LibraryError}
    assert len(seen) == 16 and seen == {getattr(picollo, name) for name in errors.__all__ if name.endswith("Error")} - others
    for error_class, family in FAMILIES.items():
        assert issubclass(error_class, family) and issubclass(error_class, picollo.PicolloError) or error_class is picollo.LibraryError
    unknown = errors.from_status(-9999)
    assert type(unknown) is picollo.PicolloError and unknown.status == -9999 and str(unknown)


def test_details() -> None:
    detail = Error(status=-11, os_errno=errno.EACCES, event_index=1, message="not \u00bbso\u00ab".encode())
    with pytest.raises(PermissionError) as caught:
        errors.check_detail(-11, detail, ("cycles", "branches"))
    error = caught.value
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert isinstance(one, picollo.PermissionDeniedError) and str(one) == one.message == "not »so«"
        assert (one.status, one.errno, one.event) == (-11, errno.EACCES, "branches")
    with pytest.raises(picollo.PermissionDeniedError) as caught:
        errors.check_detail(-11, Error(status=-11, event_index=-1, message=b"no"), ("cycles",))
    assert (caught.value.errno, caught.value.event) == (None, None)
    # Remains of an earlier call are not mistaken for this one's.
    with pytest.raises(picollo.BusyError) as caught_busy:
        errors.check_detail(-14, detail, ())
    assert str(caught_busy.value) == errors.status_text(-14)


def test_closed_objects_are_errors_of_the_package() -> None:
    histogram = picollo.Histogram()
    histogram.close()
    with pytest.raises(picollo.PicolloError, match="the histogram is closed") as caught:
        histogram.record(1)
    error = caught.value
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) is picollo.ClosedError and str(copy) == str(error) == error.message
    # It has no status: the library knows no closed objects.
    assert (error.status, error.errno, error.event) == (0, None, None) and type(errors.from_status(0)) is picollo.PicolloError
