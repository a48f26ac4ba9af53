"""Makes an export from `docs/formats/export.md` and `splits.md` alone: origins, targets, split records, manifest.

Row by row and as plainly as the pages put it, on purpose: what it computes is compared with what the package computes over columns.
    python tests/generate.py OUT [--rows 1000000] [--splits 8]
"""

import argparse
import hashlib
import json
import random
import struct
from dataclasses import dataclass
from pathlib import Path

import blake3
import pyarrow
import pyarrow.parquet
import xxhash
from pack import CODECS, pack

ORIGIN, TARGET = "data_20260328", "wide_data_20260328_0"
SLICE_START = 1774656000 * 10**9
SECONDS_PER_BUCKET = 3600
BUCKETS_PER_ID = 4
STRIDE = 16
HOUR = SECONDS_PER_BUCKET * 10**9
# Of 64 KiB each: a group has 16 MiB, as those of an export.
GROUP_CHUNKS = 256
SCHEMA = pyarrow.schema(
    [
        ("time_series_id", pyarrow.string()),
        ("time_bucket", pyarrow.int32()),
        ("event_bucket", pyarrow.int32()),
        ("event_time", pyarrow.int64()),
        ("event_id", pyarrow.string()),
        ("event_item_key", pyarrow.string()),
        ("event_item_value", pyarrow.binary()),
        ("value_metadata", pyarrow.binary()),
        ("write_time", pyarrow.int64()),
    ]
)


@dataclass
class Split:
    """One split: what it is, the rows of its origin newest first, and its targets by event bucket, not packed yet.

    A row is a list: event time, event id, item key, value, metadata, write time.
    """

    number: int
    series: str
    time_bucket: int
    event_bucket: int
    attempt: int
    strategy: str
    targets: int
    boundaries: list
    covered_until: int
    origin: list
    held: dict
    neighbour: list
    layout: str = "rows"
    chunk_bytes: int = 0

    @property
    def start(self):
        return ((self.attempt - 1) * BUCKETS_PER_ID + self.event_bucket) * STRIDE

    @property
    def id(self):
        return f"{ORIGIN}/{self.time_bucket}/{self.event_bucket}/{self.series}"

    @property
    def codec(self):
        return CODECS[self.number % len(CODECS)]

    def stored(self, bucket):
        """What the store has of a target."""
        if self.layout == "rows":
            return self.held[bucket]
        return pack(self.held[bucket], self.chunk_bytes, self.codec)

    def target_of(self, row):
        if self.strategy == "event_bucket":
            ordinal = hashed(row[1]) // BUCKETS_PER_ID % self.targets
        else:
            ordinal = sum(1 for boundary in self.boundaries if boundary <= row[0])
        return self.start + ordinal


def hashed(event_id):
    return xxhash.xxh3_64_intdigest(event_id.encode())


def key(row):
    return row[0], row[1].encode(), row[2].encode()


def make_split(number, rows, seed, value_bytes=(0, 200)):
    """A split of about so many rows; every third one is a second attempt, every second one by time."""
    chance = random.Random(f"{seed}/{number}")
    time_bucket, event_bucket = 3 + number % 20, number % BUCKETS_PER_ID
    begin = SLICE_START + time_bucket * HOUR
    origin, made = [], 0
    while len(origin) < rows:
        made += 1
        event_id = f"event-{number}-{made}" if made % 10 else f"événement-{number}-{made}"
        if hashed(event_id) % BUCKETS_PER_ID != event_bucket:
            continue
        # Some events share their nanosecond, so that ids decide their order.
        time = begin + chance.randrange(HOUR // 64) * 64
        for item in ("a", "b")[: 1 + made % 2]:
            value = chance.randbytes(chance.randint(*value_bytes))
            metadata = b"\x01\x00\x01a\x00\x00\x00\x01" + bytes([48 + made % 10]) if made % 5 == 0 else b""
            origin.append([time, event_id, item, value, metadata, time // 1000 + chance.randrange(10**6)])
    origin.sort(key=key, reverse=True)
    by_time = number % 2 == 1
    targets = 2 + number * 5 % 15
    cuts = [origin[len(origin) * at // targets][0] for at in range(1, targets)]
    boundaries = sorted(set(cuts)) if by_time else []
    split = Split(
        number=number,
        series=f"profile:{number}" if number else "große Reihe's",
        time_bucket=time_bucket,
        event_bucket=event_bucket,
        attempt=2 if number % 3 == 2 else 1,
        strategy="time_range" if by_time else "event_bucket",
        targets=len(boundaries) + 1 if by_time else targets,
        boundaries=boundaries,
        # One of them is covered in part: what is newer stays in the origin alone.
        covered_until=begin + (HOUR * 3 // 4 if number % 7 == 3 else HOUR),
        origin=origin,
        held={},
        # Rows of a partition beside it, which is not split.
        neighbour=[],
    )
    split.held = {split.start + at: [] for at in range(split.targets)}
    for row in origin:
        if row[0] < split.covered_until:
            split.held[split.target_of(row)].append(list(row))
    return split


def digest_of(rows, digest_key):
    total = 0
    for event_time, event_id, item_key, value, metadata, _ in rows:
        message = struct.pack(">q", event_time)
        for part in (event_id.encode(), item_key.encode(), value, metadata):
            message += struct.pack(">Q", len(part)) + part
        total += int.from_bytes(blake3.blake3(message, key=digest_key).digest()[:16], "big")
    return {"rows": len(rows), "bytes": size_of(rows), "checksum": f"{total % 2**128:032x}"}


def size_of(rows):
    return sum(8 + len(row[1].encode()) + len(row[2].encode()) + len(row[3]) + len(row[4]) for row in rows)


def partition_of(split, bucket):
    """A target as it was read back."""
    rows, stored = split.held[bucket], split.stored(bucket)
    sizes = {"rows": len(rows), "bytes": size_of(rows), "stored_rows": len(stored), "stored_bytes": size_of(stored)}
    return {"event_bucket": bucket, **sizes}


def record_of(split):
    """A line of `splits.ndjson`, before anybody tampers with the rows."""
    digest_key = hashlib.sha256(split.id.encode()).digest()
    covered = [row for row in split.origin if row[0] < split.covered_until]
    check = {
        "id": split.id,
        "attempt": split.attempt,
        "origin_table": ORIGIN,
        "target_table": TARGET,
        "time_series_id": split.series,
        "time_bucket": split.time_bucket,
        "event_bucket": split.event_bucket,
        "start_event_bucket": split.start,
        "targets": split.targets,
        "layout": split.layout,
        **({"chunk_bytes": split.chunk_bytes, "codec": split.codec} if split.layout == "packed" else {}),
        "strategy": split.strategy,
        "boundaries": split.boundaries,
        "slice_start": SLICE_START,
        "seconds_per_bucket": SECONDS_PER_BUCKET,
        "buckets_per_id": BUCKETS_PER_ID,
        "split_stride": STRIDE,
        "hash_version": 1,
        "covered_until": split.covered_until,
        "digest_key": digest_key.hex(),
        "digest": digest_of(covered, digest_key),
        "partitions": [partition_of(split, bucket) for bucket in split.held],
    }
    return {"split": {"id": split.id, "state": "COMPLETED", "attempt": split.attempt}, "check": check}


class Files:
    """Writes rows of one table, a new file every so many."""

    def __init__(self, root, table, kind, file_rows, group_rows):
        self.root, self.table, self.kind = root, table, kind
        self.file_rows, self.group_rows = file_rows, group_rows
        self.waiting, self.files = [], []

    def add(self, series, time_bucket, event_bucket, rows):
        self.waiting += [(series, time_bucket, event_bucket, *row) for row in rows]
        while len(self.waiting) >= self.file_rows:
            self.write(self.waiting[: self.file_rows])
            self.waiting = self.waiting[self.file_rows :]

    def write(self, rows):
        name = f"data/table={self.table}/part-{len(self.files):05}.parquet"
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = [pyarrow.array(column, kind) for column, kind in zip(zip(*rows), SCHEMA.types)]
        written = pyarrow.Table.from_arrays(columns, schema=SCHEMA)
        pyarrow.parquet.write_table(written, path, compression="snappy", row_group_size=self.group_rows)
        self.files.append({"path": name, "rows": len(rows), **described(path)})

    def finish(self):
        if self.waiting:
            self.write(self.waiting)
        return {
            "name": self.table,
            "kind": self.kind,
            "time_slice": ORIGIN,
            "slice_start": SLICE_START,
            "slice_end": SLICE_START + 24 * HOUR,
            "seconds_per_bucket": SECONDS_PER_BUCKET,
            "buckets_per_id": BUCKETS_PER_ID,
            "hash_version": 1,
            "split_stride": STRIDE,
            "state": "done",
            "rows": sum(file["rows"] for file in self.files),
            "files": self.files,
            "position": None,
        }


def described(path):
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def write_export(
    root, rows, splits, tamper=None, seed=1, file_rows=400_000, group_rows=50_000, value_bytes=(0, 200), layouts=("rows",),
    chunk_bytes=1 << 16, spoil=None,
):  # fmt: skip
    """Writes an export. `tamper` gets each split behind its record and before its rows are written, `spoil` also what is stored of its
    targets. Splits have the layouts in turn."""
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    origins = Files(root, ORIGIN, "origin", file_rows, group_rows)
    targets = Files(root, TARGET, "target", file_rows, min(group_rows, GROUP_CHUNKS) if "packed" in layouts else group_rows)
    records = []
    for number in range(splits):
        split = make_split(number, rows // splits, seed, value_bytes)
        split.layout, split.chunk_bytes = layouts[number % len(layouts)], chunk_bytes
        records.append(record_of(split))
        if tamper:
            tamper(split)
        bucket = split.time_bucket
        origins.add(split.series, bucket, (split.event_bucket + 1) % BUCKETS_PER_ID, split.neighbour)
        origins.add(split.series, bucket, split.event_bucket, split.origin)
        if split.attempt > 1:
            # What an attempt before it left behind.
            targets.add(split.series, bucket, split.event_bucket * STRIDE, split.origin[:5])
        stored = {event_bucket: split.stored(event_bucket) for event_bucket in split.held}
        if spoil:
            spoil(split, stored)
        for event_bucket, rows_stored in stored.items():
            targets.add(split.series, bucket, event_bucket, rows_stored)
    tables = [origins.finish(), targets.finish()]
    write_manifest(root, tables, records)
    return records


def write_manifest(root, tables, records):
    path = root / "splits.ndjson"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    manifest = {
        "kind": "braid export",
        "version": 1,
        "braid": "0.0.0",
        "format": "parquet",
        "namespace": "plays",
        "incarnation": 1,
        "request": {"slices": [], "series": [], "splits": [], "since": None, "until": None, "with_splits": True},
        "state": "complete",
        "closed_time": SLICE_START + 30 * HOUR,
        "start": SLICE_START,
        "end": SLICE_START + 24 * HOUR,
        "began": SLICE_START + 31 * HOUR,
        "ended": SLICE_START + 32 * HOUR,
        "rows": sum(table["rows"] for table in tables),
        "bytes": sum(file["bytes"] for table in tables for file in table["files"]),
        "tables": tables,
        "splits": {"path": path.name, "count": len(records), **described(path)},
        "left_out": [],
    }
    (root / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--splits", type=int, default=8)
    typed = parser.parse_args()
    write_export(typed.out, typed.rows, typed.splits)
