"""Records of a store, from `docs/formats/splits.md` and `catalog.md` alone."""

import json

from generate import BUCKETS_PER_ID, ORIGIN, SECONDS_PER_BUCKET, SLICE_START, STRIDE, TARGET


def slice_record():
    """The slice that everything lies in."""
    return {
        "version": 1,
        "start": SLICE_START,
        "seconds_per_slice": 24 * 3600,
        "seconds_per_bucket": SECONDS_PER_BUCKET,
        "buckets_per_id": BUCKETS_PER_ID,
        "hash_version": 1,
        "split_stride": STRIDE,
    }


def stored_record(split, check):
    """A completed split."""
    digest = check["digest"]
    by_hash = {"target_event_buckets": split.targets, "start_event_bucket": split.start}
    by_time = {"boundaries": split.boundaries, "start_event_bucket": split.start}
    named = (
        {"event_bucket_partition_strategy": by_hash}
        if split.strategy == "event_bucket"
        else {"time_range_partition_strategy": by_time}
    )
    record = {
        "version": 1,
        "namespace": "plays",
        "incarnation": 1,
        "state": "COMPLETED",
        "attempt": split.attempt,
        "fence": 1,
        "covered_until": split.covered_until,
        "pre_split_data": {
            "time_slice": ORIGIN,
            "time_series_id": split.series,
            "time_bucket": split.time_bucket,
            "event_bucket": split.event_bucket,
            "digest": digest,
        },
        "post_split_data": {
            "time_slice": TARGET,
            "layout": split.layout,
            **({"chunk_bytes": split.chunk_bytes, "codec": split.codec} if split.layout == "packed" else {}),
            **named,
            "digest": digest,
            "partitions": check["partitions"],
        },
        "digest_key": check["digest_key"],
        "transitions": [],
    }
    return json.dumps(record, ensure_ascii=False).encode()
