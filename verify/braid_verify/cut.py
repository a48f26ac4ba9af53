"""What whoever copies a target again would make of it: where its chunks end and how they are compressed (`docs/formats/chunk.md`).

Pure. A chunk is judged from where it begins, by its header, its own body and the first event of the chunk behind it. Each chunk of a
target keeps to that if and only if all of them are cut where the rule says, so nobody has to see more than two neighbours.
"""

import lz4.block
import zstandard

from .check import CODECS
from .header import LZ4, NONE

# Of sixteen parts, how many a compressed body may have.
WORTH_SIXTEENTHS = 15
# How many the compressor of this program has to bring a body down to before another one is said to have been able to, too.
SURE_SIXTEENTHS = 14
# Making one costs more than a chunk; a process uses one thread for this.
ZSTANDARD = zstandard.ZstdCompressor(level=1)


def room(check, header):
    """Bytes that a chunk leaves for one more event. Of none and of fewer there is no event."""
    return max(0, check.chunk_bytes - header.logical_bytes)


def cut_late(check, header):
    """Why a chunk should have ended before, if so."""
    if header.events > 1 and header.logical_bytes > check.chunk_bytes:
        return f"it has {header.logical_bytes} bytes of {header.events} events; the record says {check.chunk_bytes} for more than one"
    return None


def cut_early(left, first_event):
    """Why a chunk should have gone on, if so: what it left room for, and the bytes of the event behind it."""
    if first_event <= left:
        return f"it ends too early: the event behind it has {first_event} bytes, and it has room for {left}"
    return None


def coded_otherwise(check, header, stored):
    """Why a body should have been compressed in another way, if so."""
    wanted = CODECS.index(check.codec)
    if header.codec not in (wanted, NONE):
        return f"it is compressed with {CODECS[header.codec]}; the record says {check.codec}"
    if header.codec != NONE and header.stored_bytes > most(header.raw_bytes, WORTH_SIXTEENTHS):
        return f"it keeps {header.stored_bytes} of {header.raw_bytes} bytes; it should not be compressed"
    if header.codec != wanted and compressed_bytes(wanted, stored) <= most(header.raw_bytes, SURE_SIXTEENTHS):
        return f"it is not compressed; the record says {check.codec}, which makes it much smaller"
    return None


def most(raw_bytes, sixteenths):
    """So many sixteenths of a body; what is left over of a sixteenth does not count."""
    return raw_bytes // 16 * sixteenths


def compressed_bytes(codec, body):
    """How small a body becomes here."""
    return len(lz4.block.compress(body, store_size=False) if codec == LZ4 else ZSTANDARD.compress(body))
