"""Steps: ways through the counts of a snapshot, as HdrHistogram's iterators have them. See :class:`Snapshot`, whose methods these
are."""

from __future__ import annotations

from ctypes import byref, c_size_t
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _structs as structs
from .errors import BufferTooSmallError, InvalidArgumentError, check

if TYPE_CHECKING:
    from .snapshot import Snapshot


class CountStep(NamedTuple):
    """A step of an iteration. It has the counts of all buckets up to and including the one that it ends in, as far as no step
    before it has: a bucket is never divided."""

    #: Where the step before ended; 0 for the first. (HdrHistogram's ``value_iterated_from``.)
    from_: int
    #: Where this one ends; steps of percentiles end with a bucket. (``value_iterated_to``.)
    to: int
    #: Observations that came with this step. (``count_added_in_this_iter_step``.)
    added_count: int
    #: Observations of this and all steps before. (``total_count_to_this_value``.)
    cumulative_count: int
    #: The percentage of all observations that is. (``percentile``.)
    rank: float
    #: The percentage at which a step of percentiles was due; ``rank`` for the others. (``percentile_level_iterated_to``.)
    rank_level: float
    #: Observations in the bucket that it ends in. (``count_at_value_iterated_to``.)
    bucket_count: int
    #: Sum of this and all steps before, each observation as its bucket's midpoint. (``total_value_to_this_value``.)
    cumulative_value: int


def steps(snapshot: Snapshot, function: Any, what: str, *arguments: Any) -> list[CountStep]:
    """The steps that the library's function lists."""
    length = c_size_t()
    with snapshot._lock:
        handle = snapshot._handle()
        status = function(handle, *arguments, None, 0, byref(length))
        if status == InvalidArgumentError.STATUS:
            raise InvalidArgumentError(status, f"{what}, and must make at most {structs.MAX_STEPS:,} steps")
        if status != BufferTooSmallError.STATUS:
            check(status, "steps")
        found = (structs.Step * length.value)()
        check(function(handle, *arguments, found, length.value, byref(length)), "steps")
        buckets = snapshot._raw_buckets(non_empty=True)
    listed = []
    place, value, upper, count = 0, 0, -1, 0
    for raw in found:
        while place < len(buckets) and buckets[place].lower <= raw.to:
            bucket = buckets[place]
            upper, count = bucket.upper, bucket.count
            value += (bucket.lower + bucket.step // 2) * count
            place += 1
        listed.append(
            CountStep(
                getattr(raw, "from"),
                raw.to,
                raw.added_count,
                raw.cumulative_count,
                raw.rank,
                raw.rank_level,
                count if upper >= raw.to else 0,
                value,
            )
        )
    return listed
