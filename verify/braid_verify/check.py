"""What a completed split claims: one line of `splits.ndjson`, or one record of a cluster, as plain checked data."""

from dataclasses import dataclass
from typing import NamedTuple

from .refusal import Refused

HASH_VERSION = 1
PACKED = "packed"
LAYOUTS = ("rows", PACKED)
# In the order of their numbers in a header.
CODECS = ("none", "lz4", "zstd")
STRATEGIES = ("event_bucket", "time_range")
NANOS = 1_000_000_000
INT64_MAX = 2**63 - 1


@dataclass(frozen=True)
class Digest:
    """What a set of rows adds up to."""

    rows: int = 0
    bytes: int = 0
    checksum: int = 0

    def plus(self, other):
        """The digest of both sets together."""
        checksum = (self.checksum + other.checksum) % 2**128
        return Digest(self.rows + other.rows, self.bytes + other.bytes, checksum)

    def shown(self):
        """As the formats write it."""
        return {"rows": self.rows, "bytes": self.bytes, "checksum": f"{self.checksum:032x}"}


class Target(NamedTuple):
    """A target as it was read back. What is stored may be unknown where every row is stored by itself."""

    event_bucket: int
    rows: int
    bytes: int
    stored_rows: int | None
    stored_bytes: int | None


@dataclass(frozen=True)
class Check:
    """All that a comparison needs to know of a split."""

    id: str
    attempt: int
    origin_table: str
    target_table: str
    time_series_id: str
    time_bucket: int
    event_bucket: int
    start_event_bucket: int
    targets: int
    layout: str
    # How chunks are cut and compressed; none where targets are not packed.
    chunk_bytes: int | None
    codec: str | None
    strategy: str
    boundaries: tuple
    slice_start: int
    seconds_per_bucket: int
    buckets_per_id: int
    split_stride: int
    covered_until: int
    digest_key: bytes
    digest: Digest
    partitions: tuple
    stragglers: int

    @property
    def is_packed(self):
        """Whether targets hold chunks."""
        return self.layout == PACKED

    @property
    def bucket_start(self):
        """Where the time of the partition begins."""
        return self.slice_start + self.time_bucket * self.seconds_per_bucket * NANOS

    @property
    def bucket_end(self):
        """Where it ends."""
        return self.bucket_start + self.seconds_per_bucket * NANOS


def parse(line, where):
    """Reads one line of `splits.ndjson`, already decoded from JSON."""
    read = Reader(member(line, "check", dict, where), where)
    split = member(line, "split", dict, where)
    read.where = f"{where} ({read.text('id')})"
    refuse_unknown(read.text("layout"), read.text("strategy"), read.number("hash_version"), read.where)
    check = Check(
        id=read.text("id"),
        attempt=read.number("attempt", 1),
        origin_table=read.text("origin_table"),
        target_table=read.text("target_table"),
        time_series_id=read.text("time_series_id"),
        time_bucket=read.number("time_bucket", 0),
        event_bucket=read.number("event_bucket", 0),
        start_event_bucket=read.number("start_event_bucket", 0),
        targets=read.number("targets", 1),
        layout=read.text("layout"),
        **packing(read.fields, read.where),
        strategy=read.text("strategy"),
        boundaries=tuple(read.numbers("boundaries")),
        slice_start=read.number("slice_start"),
        seconds_per_bucket=read.number("seconds_per_bucket", 1),
        buckets_per_id=read.number("buckets_per_id", 1),
        split_stride=read.number("split_stride", 1),
        covered_until=read.number("covered_until"),
        digest_key=key_bytes(read.text("digest_key"), read.where),
        digest=parse_digest(member(read.fields, "digest", dict, read.where), read.where),
        partitions=parse_partitions(member(read.fields, "partitions", list, read.where), read.where),
        stragglers=int(split.get("stragglers") or 0),
    )
    refuse_impossible(check, read.where)
    return check


def refuse_unknown(layout, strategy, hash_version, where):
    """Rules that this program does not know: guessing would prove nothing."""
    if layout not in LAYOUTS:
        raise Refused(
            f"{where}: its targets have the layout {layout!r}, and this program knows {' and '.join(LAYOUTS)}; "
            "take a version of it that knows the layout"
        )
    if strategy not in STRATEGIES:
        raise Refused(f"{where}: unknown strategy {strategy!r}; known are {' and '.join(STRATEGIES)}")
    if hash_version != HASH_VERSION:
        raise Refused(f"{where}: unknown hash_version {hash_version}; known is {HASH_VERSION} (XXH3-64)")


def packing(fields, where):
    """How packed targets are cut and compressed. Without it nobody can tell whether they were copied as the record says."""
    if fields["layout"] != PACKED:
        return {"chunk_bytes": None, "codec": None}
    if fields.get("chunk_bytes") is None or fields.get("codec") is None:
        raise Refused(
            f"{where}: its targets are packed, and `chunk_bytes` or `codec` is missing; make a new export, with a Braid that writes them"
        )
    read = Reader(fields, where)
    chunk_bytes, codec = read.number("chunk_bytes", 0), read.text("codec")
    if codec not in CODECS:
        raise Refused(f"{where}: unknown codec {codec!r}; known are {', '.join(CODECS)}")
    return {"chunk_bytes": chunk_bytes, "codec": codec}


def refuse_impossible(check, where):
    """What contradicts itself was not written by an export."""
    ranges = check.targets - 1 if check.strategy == "time_range" else 0
    if len(check.boundaries) != ranges:
        raise Refused(
            f"{where}: {check.targets} targets by {check.strategy} have {ranges} boundaries, not {len(check.boundaries)}"
        )
    if any(later <= earlier for earlier, later in zip(check.boundaries, check.boundaries[1:])):
        raise Refused(f"{where}: its boundaries do not ascend")
    if not check.bucket_start < check.covered_until <= check.bucket_end:
        raise Refused(f"{where}: covered_until {check.covered_until} lies outside of its time bucket")
    if check.is_packed and any(target.stored_rows is None for target in check.partitions):
        raise Refused(f"{where}: its targets are packed, and `partitions` does not say how many chunks they have")
    if check.event_bucket >= check.buckets_per_id:
        raise Refused(f"{where}: event bucket {check.event_bucket} of {check.buckets_per_id} cannot be")


def member(fields, name, kind, where):
    """A field that has to be there."""
    value = fields.get(name)
    # A bool is an int to Python, and to nobody else.
    if not isinstance(value, kind) or isinstance(value, bool):
        raise Refused(f"{where}: `{name}` is missing or of another type; the export is damaged, make a new one")
    return value


class Reader:
    """Takes typed fields out of an object and says where one is missing."""

    def __init__(self, fields, where):
        self.fields = fields
        self.where = where

    def text(self, name):
        """A text."""
        return member(self.fields, name, str, self.where)

    def number(self, name, least=-INT64_MAX - 1):
        """A whole number of 64 bits, not below `least`."""
        value = member(self.fields, name, int, self.where)
        if not least <= value <= INT64_MAX:
            raise Refused(f"{self.where}: `{name}` cannot be {value}")
        return value

    def numbers(self, name):
        """A list of whole numbers."""
        values = member(self.fields, name, list, self.where)
        if not all(isinstance(value, int) and abs(value) <= INT64_MAX for value in values):
            raise Refused(f"{self.where}: `{name}` holds something that is no number of 64 bits")
        return values


def key_bytes(text, where):
    """The 32 bytes that key a digest."""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise Refused(f"{where}: `digest_key` is not 64 hexadecimal digits")
    return key


def parse_digest(fields, where):
    """A digest as the formats write it."""
    read = Reader(fields, where)
    checksum = read.text("checksum")
    try:
        return Digest(read.number("rows", 0), read.number("bytes", 0), int(checksum, 16))
    except ValueError:
        raise Refused(f"{where}: `checksum` {checksum!r} is not hexadecimal") from None


def parse_partitions(fields, where):
    """Targets as they were read back."""
    reads = [Reader(part, where) for part in fields if isinstance(part, dict)]
    return tuple(
        Target(
            *(read.number(name, 0) for name in ("event_bucket", "rows", "bytes")),
            *(read.number(name, 0) if name in read.fields else None for name in ("stored_rows", "stored_bytes")),
        )
        for read in reads
    )
