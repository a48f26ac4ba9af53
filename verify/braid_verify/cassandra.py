"""Straight from a Cassandra cluster, without Braid in between: a plain driver, and `docs/formats/cassandra.md`.

Rows of origins and targets go page by page into Parquet files, which the engines then read as they read an export. A record that changed
while its rows were read proves nothing either way: the split is left out, by name.
"""

import contextlib
import ssl
import tempfile
from pathlib import Path

import pyarrow
import pyarrow.parquet

from .export import open_file
from .records import check_of, decode, shards_of, table_of
from .refusal import Refused, Unreachable
from .source import Source, Table, partitions, refuse_overlaps

LAYOUT = 1
# Rows of a page; the largest value has 1 MiB. Chunks have some 64 KiB each, one of a large event up to what a node takes.
PAGE_ROWS = 500
PAGE_CHUNKS = 32
# Rows that wait to be written: the smaller of both.
GROUP_ROWS = 50_000
GROUP_BYTES = 32 << 20
TIMEOUT_SECONDS = 60
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


@contextlib.contextmanager
def read_cluster(options, say):
    """What there is to verify in a cluster, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="braid-verify-", dir=options.spill) as spool, connect(options) as session:
        cluster = Cluster(session, options)
        cluster.refuse_unknown_layout()
        found = cluster.completed(options.slice)
        say(f"reading the rows of {len(found):,} splits from {options.keyspace}")
        tables = cluster.spool([check for _, check, _ in found], Path(spool))
        still, left_out = cluster.unchanged(found)
        source = Source(
            name=f"{options.cassandra} {options.keyspace}",
            namespace=cluster.namespace,
            incarnation=cluster.incarnation,
            tables=tuple(tables),
            checks=tuple(still),
            left_out=tuple(left_out),
        )
        refuse_overlaps(source)
        yield source


@contextlib.contextmanager
def connect(options):
    """A session that is closed, whatever happens."""
    try:
        from cassandra import DriverException, OperationTimedOut, RequestExecutionException
        from cassandra.auth import PlainTextAuthProvider
        from cassandra.cluster import Cluster as Driver
        from cassandra.cluster import NoHostAvailable
    except ImportError:
        raise Unreachable("the driver is not installed: pip install -r verify/requirements-cassandra.txt") from None
    login = None
    if options.user:
        if not options.password_file:
            raise Refused("--user needs --password-file")
        login = PlainTextAuthProvider(options.user, Path(options.password_file).read_text(encoding="utf-8").strip())
    tls = ssl.create_default_context(cafile=options.tls_ca) if options.tls_ca else None
    driver = Driver(
        options.cassandra.split(","), options.port, auth_provider=login, ssl_context=tls, schema_metadata_enabled=False
    )
    try:
        yield driver.connect()
    except (NoHostAvailable, OperationTimedOut, RequestExecutionException, DriverException) as error:
        raise Unreachable(f"the cluster at {options.cassandra} did not answer: {error}") from error
    finally:
        driver.shutdown()


class Cluster:
    """A namespace in a cluster."""

    def __init__(self, session, options):
        from cassandra import ConsistencyLevel

        parts = options.keyspace.split("_")
        if len(parts) < 3 or not parts[-1].isdecimal():
            raise Refused(f"{options.keyspace!r} is no keyspace of a namespace: <prefix>_<namespace>_<incarnation>")
        self.session = session
        self.keyspace = options.keyspace
        self.meta = f"{parts[0]}_meta"
        self.namespace, self.incarnation = "_".join(parts[1:-1]), int(parts[-1])
        self.level = getattr(ConsistencyLevel, options.consistency)
        self.serial = ConsistencyLevel.SERIAL
        session.default_timeout = TIMEOUT_SECONDS
        session.default_fetch_size = PAGE_ROWS

    def prepared(self, statement, level):
        """A statement that is read at a level."""
        from cassandra import InvalidRequest

        try:
            ready = self.session.prepare(statement)
        except InvalidRequest as error:
            raise Refused(f"{error.args[0] if error.args else error}; is {self.keyspace} the right keyspace?") from None
        ready.consistency_level = level
        return ready

    def refuse_unknown_layout(self):
        """Tables of another layout would be misread."""
        rows = self.session.execute(self.prepared(f"SELECT version FROM {self.meta}.layout WHERE part = 'all'", self.serial))
        versions = [row.version for row in rows]
        if versions != [LAYOUT]:
            raise Refused(f"{self.meta} has the layout {versions}, and this program knows {LAYOUT}")

    def records(self, group):
        """The records of a group: (name, value). They are changed by transactions, so they are read serially."""
        statement = f"SELECT name, value, removed FROM {self.meta}.records WHERE record_group = ?"
        rows = self.session.execute(self.prepared(statement, self.serial), [group.encode()])
        return [(bytes(row.name).decode(), bytes(row.value)) for row in rows if not row.removed]

    def completed(self, wanted):
        """The completed splits: (group and name of the record, check, record)."""
        home = f"{self.namespace}.{self.incarnation}"
        slices = [decode(value, f"slice {name}") for name, value in self.records(f"slices/{home}")]
        by_table = {table_of(record): record for record in slices}
        unknown = sorted(set(wanted) - set(by_table))
        if unknown:
            raise Refused(f"{self.keyspace} has no slice {', '.join(unknown)}; it has {', '.join(sorted(by_table)) or 'none'}")
        found = []
        for table, value in self.records(f"splits/{home}"):
            if table not in by_table or (wanted and table not in wanted):
                continue
            for shard in shards_of(value, f"splits of {table}"):
                group = f"splits/{home}/{table}/{shard:02}"
                for name, record in self.records(group):
                    check = check_of(decode(record, f"split {table}/{name}"), by_table[table], f"split {table}/{name}")
                    if check:
                        found.append(((group, name), check, record))
        return sorted(found, key=lambda split: split[1].id)

    def unchanged(self, found):
        """The checks whose records are still the same, and the others by name."""
        now = {}
        for group in {place[0] for place, _, _ in found}:
            now.update({(group, name): value for name, value in self.records(group)})
        still, left_out = [], []
        for place, check, record in found:
            if now.get(place) == record:
                still.append(check)
            else:
                left_out.append({"what": "split", "name": check.id, "reason": "its record changed while its rows were read"})
        return still, left_out

    def spool(self, checks, directory):
        """Writes the rows of all splits, a table a file."""
        tables = []
        for kind in ("origin", "target"):
            for name in sorted({getattr(check, f"{kind}_table") for check in checks}):
                path = directory / f"{name}.parquet"
                rows = self.spool_table(name, checks, path)
                tables.append(Table(name, kind, (open_file(path, rows),) if rows else ()))
        return tables

    def spool_table(self, name, checks, path):
        """Writes the rows of one table; how many there were."""
        statement = self.prepared(
            "SELECT event_time, event_id, event_item_key, event_item_value, value_metadata, writetime(event_item_value) "
            f"FROM {self.keyspace}.{name} WHERE time_series_id = ? AND time_bucket = ? AND event_bucket = ?",
            self.level,
        )
        with Writer(path) as writer:
            for table, *place, _, _, _, packed in partitions(checks):
                if table != name:
                    continue
                statement.fetch_size = PAGE_CHUNKS if packed else PAGE_ROWS
                for row in self.session.execute(statement, place):
                    if None in row:
                        raise Refused(f"a row of {name} {tuple(place)} has a column without a value: {row[:3]}; Braid never writes one")
                    writer.add((*place, *row))
        return writer.rows


class Writer:
    """Rows into one file of Parquet, a group at a time."""

    def __init__(self, path):
        self.path = path
        self.rows = self.bytes = 0
        self.waiting = []

    def __enter__(self):
        self.file = pyarrow.parquet.ParquetWriter(self.path, SCHEMA, compression="snappy")
        return self

    def __exit__(self, *_):
        self.flush()
        self.file.close()

    def add(self, row):
        """Takes a row."""
        self.waiting.append(row)
        self.bytes += len(row[6]) + len(row[7])
        if len(self.waiting) >= GROUP_ROWS or self.bytes >= GROUP_BYTES:
            self.flush()

    def flush(self):
        """Writes what waits as a group of its own."""
        if self.waiting:
            columns = [pyarrow.array(column, kind) for column, kind in zip(zip(*self.waiting), SCHEMA.types)]
            self.file.write_table(pyarrow.Table.from_arrays(columns, schema=SCHEMA), row_group_size=len(self.waiting))
        self.rows += len(self.waiting)
        self.waiting, self.bytes = [], 0
