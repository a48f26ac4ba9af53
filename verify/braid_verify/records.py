"""Records of splits and slices as a store keeps them (`docs/formats/splits.md`, `catalog.md`). Pure: JSON in, checks out."""

import json
from datetime import datetime, timedelta, timezone

from .check import NANOS, Check, Reader, key_bytes, member, packing, parse_digest, parse_partitions, refuse_impossible, refuse_unknown
from .refusal import Refused

VERSION = 1
SHARDS = 64
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def decode(value, where):
    """A record of the version that this program knows."""
    try:
        record = json.loads(value)
    except ValueError as error:
        raise Refused(f"{where} is not JSON ({error}); the records are damaged") from None
    if not isinstance(record, dict) or record.get("version") != VERSION:
        found = record.get("version") if isinstance(record, dict) else None
        raise Refused(f"{where} has version {found!r}, and this program knows {VERSION}; take one that knows it")
    return record


def table_of(slice_record):
    """The table of a slice: `data_YYYYMMDD`, with `_HHMM` where it does not start at midnight UTC."""
    start = EPOCH + timedelta(seconds=slice_record["start"] // NANOS)
    return f"{start:data_%Y%m%d}" if (start.hour, start.minute) == (0, 0) else f"{start:data_%Y%m%d_%H%M}"


def shards_of(value, where):
    """The shards that hold records: one bit each."""
    try:
        bits = int(json.loads(value)["shards"])
    except (ValueError, KeyError, TypeError):
        raise Refused(f"{where} does not say which shards hold records; the records are damaged") from None
    return [shard for shard in range(SHARDS) if bits >> shard & 1]


def check_of(record, slice_record, where):
    """What a completed split claims; none where it is in another state."""
    if record.get("state") != "COMPLETED":
        return None
    read, shape = Reader(record, where), Reader(slice_record, f"the slice of {where}")
    before = Reader(member(record, "pre_split_data", dict, where), where)
    after = member(record, "post_split_data", dict, where)
    by_hash, by_time = after.get("event_bucket_partition_strategy"), after.get("time_range_partition_strategy")
    strategy = "event_bucket" if by_hash else "time_range" if by_time else None
    refuse_unknown(after.get("layout"), strategy, shape.number("hash_version"), where)
    cut = Reader(by_hash or by_time, where)
    boundaries = () if by_hash else tuple(cut.numbers("boundaries"))
    series, slice_table = before.text("time_series_id"), before.text("time_slice")
    time_bucket, event_bucket = before.number("time_bucket", 0), before.number("event_bucket", 0)
    check = Check(
        id=f"{slice_table}/{time_bucket}/{event_bucket}/{series}",
        attempt=read.number("attempt", 1),
        origin_table=slice_table,
        target_table=member(after, "time_slice", str, where),
        time_series_id=series,
        time_bucket=time_bucket,
        event_bucket=event_bucket,
        start_event_bucket=cut.number("start_event_bucket", 0),
        targets=cut.number("target_event_buckets", 1) if by_hash else len(boundaries) + 1,
        layout=after["layout"],
        **packing(after, where),
        strategy=strategy,
        boundaries=boundaries,
        slice_start=shape.number("start"),
        seconds_per_bucket=shape.number("seconds_per_bucket", 1),
        buckets_per_id=shape.number("buckets_per_id", 1),
        split_stride=shape.number("split_stride", 1),
        covered_until=read.number("covered_until"),
        digest_key=key_bytes(read.text("digest_key"), where),
        digest=parse_digest(member(after, "digest", dict, where), where),
        partitions=parse_partitions(after.get("partitions") or [], where),
        stragglers=int(record.get("stragglers") or 0),
    )
    refuse_impossible(check, where)
    return check
