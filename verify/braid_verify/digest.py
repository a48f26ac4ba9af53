"""What rows add up to: keyed BLAKE3 of each row, summed modulo 2^128 (`docs/formats/splits.md`).

Rows are put into the form that is hashed a column at a time; only the hash itself is called row by row.
"""

import blake3
import numpy
import pyarrow
import pyarrow.compute

from .check import Digest

# What is hashed of a row, in this order, each with its length before it.
PARTS = ("event_id", "event_item_key", "event_item_value", "value_metadata")
TIME_BYTES = 8
HASH_BYTES = 16


def big_endian(numbers):
    """Numbers of 64 bits as a column of eight bytes each."""
    data = pyarrow.py_buffer(numpy.asarray(numbers).astype(">i8").tobytes())
    eight = pyarrow.Array.from_buffers(pyarrow.binary(8), len(numbers), [None, data])
    return eight.cast(pyarrow.large_binary())


def digest(key, times, parts):
    """The digest of rows: their times, and a `large_binary` column for each of `PARTS`."""
    lengths = [pyarrow.compute.binary_length(part).to_numpy() for part in parts]
    columns = [big_endian(times)]
    for length, part in zip(lengths, parts):
        columns += [big_endian(length), part]
    empty = pyarrow.scalar(b"", pyarrow.large_binary())
    hashed = pyarrow.compute.binary_join_element_wise(*columns, empty)
    # The separator stands between columns, and is empty.
    _, offsets, data = hashed.buffers()
    ends = numpy.frombuffer(offsets, dtype=numpy.int64)[hashed.offset : hashed.offset + len(hashed) + 1].tolist()
    encoded = memoryview(data)
    keyed = blake3.blake3
    sums = b"".join([keyed(encoded[start:end], key=key).digest(HASH_BYTES) for start, end in zip(ends, ends[1:])])
    size = TIME_BYTES * len(times) + sum(int(length.sum()) for length in lengths)
    return Digest(len(times), size, total(sums))


def total(sums):
    """The sum of numbers of 128 bits, written one behind the other, modulo 2^128."""
    words = numpy.frombuffer(sums, dtype=">u4").reshape(-1, 4).sum(axis=0, dtype=numpy.uint64)
    value = 0
    for word in words.tolist():
        value = (value << 32) + word
    return value % 2**128
