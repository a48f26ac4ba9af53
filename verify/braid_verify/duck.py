"""DuckDB, for one machine: rows are scanned by a few processes, differences are computed by the engine, which spills to disk.

It cannot open chunks: the processes that scan them write their rows beside what it spills, for it to compare.
"""

import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import duckdb
import pyarrow

from .differences import QUERY, Differences
from .refusal import Unreachable
from .scan import COLUMNS, Scanner, join_all, join_batches
from .unpack import Unpacker
from .unpack import portions as packed_portions

NAME = "duckdb"
# Rows that are scanned at a time, and that one process takes before it asks for more.
BATCH_ROWS = 8192
TASK_ROWS = 1_000_000
MEBIBYTE = 1 << 20
# Rows of chunks, under where it spills.
UNPACKED = "unpacked"


def version():
    """What runs here."""
    return f"DuckDB {duckdb.__version__}"


def verify(source, options, say):
    """Runs of all partitions, and the differences of all splits."""
    try:
        with tempfile.TemporaryDirectory(prefix="braid-verify-", dir=options.spill) as spill:
            say("reading every row: order, placement, digests")
            runs = scan(source, options, spill)
            say("comparing origins and targets as multisets")
            return runs, differences(source, options, spill)
    except duckdb.Error as error:
        raise Unreachable(f"DuckDB failed: {error}; more --memory, or a --spill with more room, may help") from error


def connect(source, threads, mebibytes, spill):
    """A connection that knows which partitions are of which split, of those that are not packed."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"SET threads = {threads}")
    connection.execute(f"SET memory_limit = '{mebibytes}MiB'")
    connection.execute("SET temp_directory = " + quoted(spill))
    connection.execute("SET arrow_large_buffer_size = true")
    partitions = [place for *place, packed in source.partitions() if not packed]
    columns = zip(*partitions) if partitions else [[]] * 7
    names = ("place", "series", "bucket", "cut", "split", "side", "newest")
    kinds = (pyarrow.string(),) * 2 + (pyarrow.int32(),) * 4 + (pyarrow.int64(),)
    parts = pyarrow.table([pyarrow.array(of, kind) for of, kind in zip(columns, kinds)], names)
    connection.register("given", parts)
    connection.execute("CREATE TABLE parts AS SELECT * FROM given")
    return connection


def chosen(files):
    """The rows that count, of files: (path, table)."""
    tables = {}
    for path, table in files:
        tables.setdefault(table, []).append(quoted(path))
    reads = (
        f"SELECT {quoted(table)} AS place, * FROM read_parquet([{', '.join(paths)}], "
        "hive_partitioning = false, file_row_number = true)"
        for table, paths in tables.items()
    )
    return f"""
        SELECT split, side, file_row_number AS "row", event_bucket, event_time, event_id, event_item_key,
               event_item_value, value_metadata, write_time
        FROM ({" UNION ALL ".join(reads)}) JOIN parts USING (place)
        WHERE time_series_id = series AND time_bucket = bucket AND event_bucket = cut AND event_time <= newest
    """


def quoted(text):
    """A text in SQL."""
    return "'" + str(text).replace("'", "''") + "'"


def scan(source, options, spill):
    """All runs, joined."""
    os.mkdir(os.path.join(spill, UNPACKED))
    tasks = list(portions(source))
    tasks += [(unpack_task, at, portion) for at, portion in enumerate(packed_portions(source))]
    workers = max(1, min(options.threads, len(tasks)))
    setting = (source, options.keep, max(64, options.memory // MEBIBYTE // workers), spill)
    if workers == 1:
        start(*setting)
        return join_all(chain.from_iterable(map(do, tasks)), options.keep)
    # Not forked: threads of the engine would be lost in the copy.
    with ProcessPoolExecutor(workers, get_context("spawn"), start, setting) as pool:
        return join_all(chain.from_iterable(pool.map(do, tasks)), options.keep)


def portions(source):
    """Work for one process: number of the file in its table, path, table, first row, last row; cut at row groups."""
    for table in source.holding(False):
        for number, file in enumerate(table.files):
            first = row = 0
            for at, rows in enumerate(file.groups):
                row += rows
                if row - first >= TASK_ROWS or (at + 1 == len(file.groups) and row > first):
                    yield scan_task, number, file.path, table.name, first, row - 1
                    first = row


_worker = {}


def start(source, keep, mebibytes, spill):
    """What a process of its own knows."""
    _worker["connection"] = connect(source, 1, mebibytes, os.path.join(spill, str(os.getpid())))
    # Rows in the order of the file, also where there are fewer of them than partitions: then runs are long, and few.
    _worker["connection"].execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    _worker["scanner"] = Scanner(source.checks, keep)
    _worker["unpacker"] = Unpacker(source, keep)
    _worker["unpacked"] = os.path.join(spill, UNPACKED)


def do(task):
    """Whatever there is to do."""
    work, *portion = task
    return work(*portion)


def unpack_task(at, portion):
    """The runs of one portion of chunks, whose rows are left in a file."""
    runs = _worker["unpacker"].runs(portion, os.path.join(_worker["unpacked"], f"{at:08}.parquet"))
    return list(join_batches(runs, _worker["scanner"].keep))


def scan_task(number, path, table, first, last):
    """The runs of one portion."""
    rows = f"SELECT {', '.join(COLUMNS)} FROM ({chosen([(path, table)])}) WHERE \"row\" BETWEEN {first} AND {last}"
    batches = _worker["connection"].sql(rows).to_arrow_reader(BATCH_ROWS)
    scanner = _worker["scanner"]
    return list(join_batches((run for batch in batches for run in scanner.runs(batch, number)), scanner.keep))


def differences(source, options, spill):
    """What the engine finds, batch by batch."""
    connection = connect(source, options.threads, options.memory // MEBIBYTE, spill)
    connection.execute("SET preserve_insertion_order = false")
    files = [(file.path, table.name) for table in source.holding(False) for file in table.files]
    unpacked = sorted(Path(spill, UNPACKED).iterdir())
    columns = "split, side, event_bucket, event_time, event_id, event_item_key, event_item_value, value_metadata, write_time"
    rows = [f"SELECT {columns} FROM ({chosen(files)}) WHERE side <> 0"] if files else []
    rows += [f"SELECT {columns} FROM read_parquet([{', '.join(map(quoted, unpacked))}])"] if unpacked else []
    found = Differences(source.checks, options.keep)
    if rows:
        connection.execute(f"CREATE TEMP VIEW chosen AS {' UNION ALL '.join(rows)}")
        for batch in connection.sql(QUERY).to_arrow_reader(BATCH_ROWS):
            found.add(batch)
    return found
