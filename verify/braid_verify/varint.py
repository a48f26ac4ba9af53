"""Numbers of seven bits a byte, lowest first (`docs/formats/chunk.md`): a whole column at a time."""

import numpy

from .damage import need

LONGEST = 10


def varints(column, count):
    """Exactly `count` numbers, which are all that the column holds."""
    ends = numpy.flatnonzero(column < 0x80)
    need(len(ends) == count and ends[-1] + 1 == len(column), "a column does not hold one number for each entry")
    if len(column) == count:
        return column.astype(numpy.uint64)
    starts = numpy.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    need(lengths.max() <= LONGEST, "a number has more than 64 bits")
    need((column[ends[lengths == LONGEST]] == 1).all(), "a number has more than 64 bits, or is not in its shortest form")
    need((column[ends[lengths > 1]] != 0).all(), "a number is not in its shortest form")
    places = numpy.arange(len(column)) - numpy.repeat(starts, lengths)
    bits = (column & 0x7F).astype(numpy.uint64) << (7 * places).astype(numpy.uint64)
    return numpy.bitwise_or.reduceat(bits, starts)


def lengths_of(column, count):
    """Numbers that are lengths or indices, so they have at most 32 bits: as signed ones, to count with."""
    numbers = varints(column, count)
    need(numbers.max() < 2**32, "a length does not fit in 32 bits")
    return numbers.astype(numpy.int64)


def entries(column):
    """Texts or bytes, each with its length before it, up to the end of the column."""
    stored, found, at = column.tobytes(), [], 0
    while at < len(stored):
        length, begin = stored[at], at + 1
        if length >= 0x80:
            while begin < len(stored) and stored[begin - 1] >= 0x80:
                begin += 1
            (length,) = lengths_of(column[at:begin], 1).tolist()
        at = begin + length
        need(at <= len(stored), "an entry of a dictionary ends too early")
        found.append(stored[begin:at])
    return found
