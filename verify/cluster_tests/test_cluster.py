"""Splits of a real cluster, without Braid in between: equal as they are, and one row spoiled in the store is found and named."""

import json
from types import SimpleNamespace

from braid_verify.cassandra import Cluster
from generate import BUCKETS_PER_ID, ORIGIN, TARGET, record_of
from stored import stored_record

COUNTS = ("missing", "phantom", "misplaced", "unordered")


def in_target(split):
    """A row in the middle of a target: (its event bucket, another one, the row)."""
    bucket = max(split.held, key=lambda bucket: len(split.held[bucket]))
    rows = split.held[bucket]
    return bucket, next(other for other in split.held if other != bucket), rows[len(rows) // 2]


def in_origin(split):
    """A row in the middle of an origin, which its targets cover."""
    return split.origin[len(split.origin) // 2]


def spoiled(row):
    """The row with another value, written later, as by somebody else."""
    return [*row[:3], b"spoiled", row[4], row[5] + 1]


def found(split):
    counts = {kind: split[kind] for kind in COUNTS if split[kind]}
    named = {(row["kind"], row["event_time"], row["event_id"], row["event_item_key"]) for row in split["rows"]}
    return counts, named


def test_a_sound_namespace_is_equal(either, verify):
    code, report = verify(either)
    assert (code, report["result"], report["splits"]) == (0, "equal", len(either.splits))
    recorded = sum(record_of(split)["check"]["digest"]["rows"] for split in either.splits)
    assert report["matching"] == recorded
    assert (report["namespace"], report["incarnation"]) == ("plays", 1)


def test_one_row_spoiled_in_the_store(large, verify):
    """Removed, doubled, altered and misplaced in a target; removed, altered and misplaced in the origin: a split each, one stays equal."""
    removed, doubled, altered, moved, origin_removed, origin_altered, origin_moved, _ = large.splits
    expected = {}

    bucket, _, row = in_target(removed)
    large.delete(removed, TARGET, bucket, row)
    expected[removed.id] = row, {"missing": 1}

    # A key cannot be twice in a partition, but it can be in two of them.
    _, other, row = in_target(doubled)
    large.put(doubled, TARGET, other, row)
    expected[doubled.id] = row, {"phantom": 1, "misplaced": 1}

    bucket, _, row = in_target(altered)
    large.put(altered, TARGET, bucket, spoiled(row))
    expected[altered.id] = row, {"missing": 1, "phantom": 1}

    bucket, other, row = in_target(moved)
    large.delete(moved, TARGET, bucket, row)
    large.put(moved, TARGET, other, row)
    expected[moved.id] = row, {"misplaced": 1}

    row = in_origin(origin_removed)
    large.delete(origin_removed, ORIGIN, origin_removed.event_bucket, row)
    expected[origin_removed.id] = row, {"phantom": 1}

    row = in_origin(origin_altered)
    large.put(origin_altered, ORIGIN, origin_altered.event_bucket, spoiled(row))
    expected[origin_altered.id] = row, {"missing": 1, "phantom": 1}

    # Into the partition beside it, which is not split: there it does not belong, and here the targets have it alone.
    row = in_origin(origin_moved)
    large.delete(origin_moved, ORIGIN, origin_moved.event_bucket, row)
    large.put(origin_moved, ORIGIN, (origin_moved.event_bucket + 1) % BUCKETS_PER_ID, row)
    expected[origin_moved.id] = row, {"phantom": 1, "misplaced": 1}

    code, report = verify(large)
    assert (code, report["different"], report["equal"]) == (8, len(expected), 1)
    for split in report["details"]:
        row, counts = expected.get(split["id"], (None, {}))
        told, named = found(split)
        assert told == counts
        assert named == {(kind, *row[:3]) for kind in counts}


def test_a_record_that_changes_meanwhile_proves_nothing(store):
    options = SimpleNamespace(keyspace=store.keyspace, consistency="ONE")
    cluster = Cluster(store.session, options)
    splits = cluster.completed([])
    changed = store.splits[0]
    record = json.loads(stored_record(changed, record_of(changed)["check"]))
    store.change_record(changed, json.dumps(record | {"state": "RETIRING"}).encode())
    still, left_out = cluster.unchanged(splits)
    assert len(still) == len(store.splits) - 1
    assert [left["name"] for left in left_out] == [changed.id]
    assert len(cluster.completed([])) == len(still)


def test_what_does_not_fit_is_refused(store, verify):
    code, said = verify(store, "--slice", "data_20200101")
    assert code == 2 and "has no slice data_20200101; it has data_20260328" in said
    code, said = verify(SimpleNamespace(keyspace="nobody_plays_1"))
    assert code == 2 and "is nobody_plays_1 the right keyspace" in said
    code, said = verify(SimpleNamespace(keyspace="plays"))
    assert code == 2 and "<prefix>_<namespace>_<incarnation>" in said
    store.session.execute(f"UPDATE {store.meta}.layout SET version = 2 WHERE part = 'all'")
    code, said = verify(store)
    assert code == 2 and "has the layout [2], and this program knows 1" in said


def test_a_cluster_that_does_not_answer(store, verify):
    code, said = verify(store, "--port", "1")
    assert code == 6 and "did not answer" in said
