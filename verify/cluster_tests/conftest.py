"""A namespace in a real Cassandra, made from `docs/formats/cassandra.md` alone; `dev/with-cassandra dev/verify --test-cassandra`."""

import contextlib
import json
import os
import sys
import uuid
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent)]

from braid_verify.__main__ import main  # noqa: E402
from cassandra.cluster import Cluster  # noqa: E402
from cassandra.concurrent import execute_concurrent  # noqa: E402
from cassandra.query import BatchStatement, BatchType  # noqa: E402
from generate import BUCKETS_PER_ID, ORIGIN, SLICE_START, STRIDE, TARGET, hashed, make_split, record_of  # noqa: E402
from stored import slice_record, stored_record  # noqa: E402

HOST = "127.0.0.1"
ROWS, SPLITS = 8_000, 8
# Among how many rows one is spoiled: `make verify-million` asks for a million.
ROWS_SPOILED = int(os.environ.get("BRAID_VERIFY_ROWS", ROWS))
VALUE_BYTES = (0, 40)
# Rows of one partition that are sent together, and how often at a time: below what a node refuses as too large.
BATCH_ROWS, BATCHES_AT_ONCE = {"rows": 100, "packed": 8}, 16
LAYOUTS = ("rows", "packed")
# Small, so that every target has several.
CHUNK_BYTES = 2 << 10
TABLE = """(time_series_id text, time_bucket int, event_bucket int, event_time bigint, event_id text, event_item_key text,
    event_item_value blob, value_metadata blob, PRIMARY KEY ((time_series_id, time_bucket, event_bucket), event_time,
    event_id, event_item_key)) WITH CLUSTERING ORDER BY (event_time DESC, event_id DESC, event_item_key DESC)"""


INSERT = (
    "INSERT INTO {} (time_series_id, time_bucket, event_bucket, event_time, event_id, event_item_key, event_item_value, "
    "value_metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?"
)


def batch_of(put, partition, rows):
    """Rows of one partition, sent together."""
    batch = BatchStatement(BatchType.UNLOGGED)
    for row in rows:
        batch.add(put, (*partition, *row))
    return batch


class Store:
    """One namespace of an installation of its own."""

    def __init__(self, session, prefix, rows, layout):
        self.session, self.prefix = session, prefix
        self.meta, self.keyspace = f"{prefix}_meta", f"{prefix}_plays_1"
        self.splits = [make_split(number, rows // SPLITS, 1, VALUE_BYTES) for number in range(SPLITS)]
        for split in self.splits:
            split.layout, split.chunk_bytes = layout, CHUNK_BYTES

    def make(self):
        for keyspace in (self.meta, self.keyspace):
            replicas = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
            self.session.execute(f"CREATE KEYSPACE {keyspace} WITH replication = {replicas}")
        self.session.execute(f"CREATE TABLE {self.meta}.layout (part text PRIMARY KEY, version int)")
        self.session.execute(
            f"CREATE TABLE {self.meta}.records (record_group blob, name blob, version bigint, stamp bigint, "
            "removed boolean, value blob, PRIMARY KEY (record_group, name))"
        )
        for table in (ORIGIN, TARGET):
            self.session.execute(f"CREATE TABLE {self.keyspace}.{table} {TABLE}")
        self.session.execute(f"INSERT INTO {self.meta}.layout (part, version) VALUES ('all', 1)")
        self.record("slices/plays.1", f"{SLICE_START:020}", json.dumps(slice_record()).encode())
        shards = 0
        for split in self.splits:
            shard = hashed(split.series) % 64
            shards |= 1 << shard
            self.record(*self.place(split), stored_record(split, record_of(split)["check"]))
            self.fill(split)
        self.record("splits/plays.1", ORIGIN, json.dumps({"shards": shards}).encode())

    def place(self, split):
        """Where the record of a split lies."""
        shard = hashed(split.series) % 64
        return f"splits/plays.1/{ORIGIN}/{shard:02}", f"{split.time_bucket:010}/{split.event_bucket:010}/{split.series}"

    def record(self, group, name, value):
        statement = f"INSERT INTO {self.meta}.records (record_group, name, version, removed, value) VALUES (%s, %s, 1, false, %s)"
        self.session.execute(statement + " IF NOT EXISTS", (group.encode(), name.encode(), value))

    def change_record(self, split, value):
        group, name = self.place(split)
        statement = f"UPDATE {self.meta}.records SET value = %s WHERE record_group = %s AND name = %s IF removed = false"
        self.session.execute(statement, (value, group.encode(), name.encode()))

    def fill(self, split):
        partitions = [(ORIGIN, split.event_bucket, split.origin)]
        partitions += [(TARGET, bucket, split.stored(bucket)) for bucket in split.held]
        # What an attempt before it left behind is no part of any comparison.
        partitions.append((TARGET, 9 * BUCKETS_PER_ID * STRIDE, split.origin[:5]))
        puts = {table: self.session.prepare(INSERT.format(f"{self.keyspace}.{table}")) for table in (ORIGIN, TARGET)}
        step = BATCH_ROWS[split.layout]
        batches = (
            (batch_of(puts[table], (split.series, split.time_bucket, bucket), rows[at : at + step]), ())
            for table, bucket, rows in partitions
            for at in range(0, len(rows), step)
        )
        execute_concurrent(self.session, batches, concurrency=BATCHES_AT_ONCE)

    def put(self, split, table, bucket, row):
        """Writes one row, with the write time that it has."""
        put = self.session.prepare(INSERT.format(f"{self.keyspace}.{table}"))
        self.session.execute(put, (split.series, split.time_bucket, bucket, *row))

    def delete(self, split, table, bucket, row):
        self.session.execute(
            f"DELETE FROM {self.keyspace}.{table} USING TIMESTAMP {row[5] + 1} WHERE time_series_id = %s AND time_bucket = %s "
            "AND event_bucket = %s AND event_time = %s AND event_id = %s AND event_item_key = %s",
            (split.series, split.time_bucket, bucket, *row[:3]),
        )

    def drop(self):
        for keyspace in (self.meta, self.keyspace):
            self.session.execute(f"DROP KEYSPACE IF EXISTS {keyspace}")


@contextlib.contextmanager
def made(rows, layout):
    """A store with so many rows of origins, which is gone afterwards."""
    driver = Cluster([HOST])
    session = driver.connect()
    session.default_timeout = 60
    store = Store(session, f"v{uuid.uuid4().hex[:8]}", rows, layout)
    try:
        store.make()
        yield store
    finally:
        store.drop()
        driver.shutdown()


@pytest.fixture
def store():
    """A small one, made for each test."""
    with made(ROWS, "rows") as store:
        yield store


@pytest.fixture(params=LAYOUTS)
def either(request):
    """One of each layout."""
    with made(ROWS, request.param) as store:
        yield store


@pytest.fixture
def large():
    """One of as many rows as were asked for."""
    with made(ROWS_SPOILED, "rows") as store:
        yield store


@pytest.fixture
def packed():
    """As many rows, with packed targets."""
    with made(ROWS_SPOILED, "packed") as store:
        yield store


@pytest.fixture
def verify(capsys):
    """Verifies a namespace: (exit code, report or what was said)."""

    def call(store, *typed):
        words = ["--cassandra", HOST, "--keyspace", store.keyspace, "-o", "json", "--threads", "1", *typed]
        code = main(words)
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if printed.out else printed.err

    return call
