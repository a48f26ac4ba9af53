"""Where a row belongs: the published rules of `docs/formats/splits.md`, over columns of rows at a time."""

import numpy
import xxhash

from .check import NANOS


def hashes(event_ids):
    """XXH3-64, seed 0, of each event id."""
    digest = xxhash.xxh3_64_intdigest
    return numpy.array([digest(event_id) for event_id in event_ids], dtype=numpy.uint64)


def first_target(check):
    """The event bucket at which the targets of an attempt begin."""
    return ((check.attempt - 1) * check.buckets_per_id + check.event_bucket) * check.split_stride


def origins(check, times, hashed):
    """Time bucket and event bucket of each row in the table of the slice."""
    width = check.seconds_per_bucket * NANOS
    time_buckets = (times - numpy.int64(check.slice_start)) // numpy.int64(width)
    return time_buckets, (hashed % numpy.uint64(check.buckets_per_id)).astype(numpy.int64)


def targets(check, times, hashed):
    """Event bucket of each row among the targets."""
    if check.strategy == "event_bucket":
        quotient = hashed // numpy.uint64(check.buckets_per_id)
        ordinal = (quotient % numpy.uint64(check.targets)).astype(numpy.int64)
    else:
        boundaries = numpy.array(check.boundaries, dtype=numpy.int64)
        ordinal = numpy.searchsorted(boundaries, times, side="right")
    return check.start_event_bucket + ordinal
