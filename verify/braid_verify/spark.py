"""Spark, for data of any size: both passes run on its executors, and only what they found comes back.

Executors need this package's requirements (not the package, which is sent to them) and must see the files under the same path.
"""

import contextlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from .differences import QUERY, Differences
from .refusal import Unreachable
from .packed import Opener, as_rows, open_row, stored_rows
from .scan import COLUMNS, Run, Scanner, join_all, join_batches

NAME = "spark"
# A batch that is handed to Python: the smaller of both.
BATCH_ROWS = 8192
BATCH_BYTES = 32 << 20
# Up to so many series are named to the reader, which then leaves out row groups without them.
SERIES_NAMED_MAX = 1000
MEBIBYTE = 1 << 20
SUMMARY = "summary string"
# Rows that its reader of Parquet has in its hands: few, as each may be a chunk.
READ_ROWS = 512
COMPARED = (
    "split int, side int, event_bucket int, event_time long, event_id string, event_item_key string, "
    "event_item_value binary, value_metadata binary, write_time long"
)
# What Spark says of itself when all is well is of no use here.
QUIET = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""


def version():
    """What runs here."""
    import pyspark

    return f"Spark {pyspark.__version__}"


def verify(source, options, say):
    """Runs of all partitions, and the differences of all splits."""
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError:
        raise Unreachable("Spark is not installed: pip install -r verify/requirements-spark.txt") from None
    with tempfile.TemporaryDirectory(prefix="braid-verify-", dir=options.spill) as spill:
        try:
            return verify_within(spill, source, options, say)
        except (PySparkException, Py4JError) as error:
            raise Unreachable(f"Spark failed: {error}") from error


def verify_within(spill, source, options, say):
    """The same, with a directory for what is only needed meanwhile."""
    with session(options, spill) as spark:
        stored = chosen(spark, source)
        if stored is None:
            return [], Differences(source.checks, options.keep)
        rows, chunks = stored.where("not packed"), None
        if any(check.is_packed for check in source.checks):
            chunks = stored.where("packed")
        say("reading every row: order, placement, digests")
        runs = scan(rows, chunks, source, options.keep)
        say("comparing origins and targets as multisets")
        return runs, differences(spark, rows, chunks, source, options.keep)


@contextlib.contextmanager
def session(options, spill):
    """A session that is ended, whatever happens; its executors have this package."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    master = options.master or f"local[{options.threads}]"
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName("braid-verify").master(master)
    for name, value in settings(options, spill, master).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        spark.sparkContext.setLogLevel("ERROR")
        package = Path(__file__).parent
        archive = shutil.make_archive(os.path.join(spill, "package"), "zip", package.parent, package.name)
        spark.sparkContext.addPyFile(archive)
        yield spark
    finally:
        spark.stop()


def settings(options, spill, master):
    """What Spark is told. On a cluster its own settings say how much memory there is and where to spill."""
    common = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.parquet.columnarReaderBatchSize": str(READ_ROWS),
        "spark.ui.showConsoleProgress": "false",
    }
    if not master.startswith("local"):
        return common
    quiet = Path(spill, "log4j2.properties")
    quiet.write_text(QUIET)
    return common | {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{quiet}",
        "spark.driver.memory": f"{options.memory // MEBIBYTE}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": spill,
        "spark.sql.shuffle.partitions": str(4 * options.threads),
        "spark.ui.enabled": "false",
    }


def chosen(spark, source):
    """The stored rows that count; none where there are no files."""
    from pyspark.sql import functions as f

    tables = [table for table in source.used() if table.rows]
    if not tables:
        return None
    rows = None
    for table in tables:
        numbers = f.create_map(*[f.lit(x) for at, file in enumerate(table.files) for x in (os.path.basename(file.path), at)])
        read = spark.read.parquet(*[file.path for file in table.files])
        read = read.select("*", "_metadata.file_name", f.col("_metadata.row_index").alias("row"))
        read = read.withColumn("file", numbers[f.col("file_name")]).withColumn("place", f.lit(table.name))
        rows = read if rows is None else rows.unionByName(read)
    series = {check.time_series_id for check in source.checks}
    if len(series) <= SERIES_NAMED_MAX:
        rows = rows.where(f.col("time_series_id").isin(*series))
    names = "place string, series string, bucket int, cut int, split int, side int, newest long, packed boolean"
    parts = f.broadcast(spark.createDataFrame(list(source.partitions()), names))
    same = (
        (rows["place"] == parts["place"])
        & (rows["time_series_id"] == parts["series"])
        & (rows["time_bucket"] == parts["bucket"])
        & (rows["event_bucket"] == parts["cut"])
        & (rows["event_time"] <= parts["newest"])
    )
    return rows.join(parts, same).select(*COLUMNS, "file", "write_time", "packed")


def scan(rows, chunks, source, keep):
    """All runs, joined. A task reads its part of a file in order, so runs are sorted only here."""
    checks = source.checks

    def summaries(batches):
        import pyarrow

        scanner = Scanner(checks, keep)
        for run in join_batches((run for batch in batches for run in scanner.runs(batch)), keep):
            yield pyarrow.RecordBatch.from_pydict({"summary": [run.dumps()]})

    def chunk_summaries(batches):
        import pyarrow

        opener = Opener(checks, keep)
        stored = (row for batch in batches for row in stored_rows(batch))
        for run in join_batches((opener.run(row, *open_row(row)) for row in stored), keep):
            yield pyarrow.RecordBatch.from_pydict({"summary": [run.dumps()]})

    found = rows.select(*COLUMNS, "file").mapInArrow(summaries, SUMMARY).collect()
    if chunks is not None:
        found += chunks.mapInArrow(chunk_summaries, SUMMARY).collect()
    return join_all((Run.loads(row.summary) for row in found), keep)


def unpacked(batches):
    """The rows of chunks."""
    for batch in batches:
        for stored in stored_rows(batch):
            chunk, _ = open_row(stored)
            if chunk is not None:
                yield as_rows(stored, chunk)


def differences(spark, rows, chunks, source, keep):
    """What the engine finds, counted where it was found."""
    checks = source.checks

    def summaries(batches):
        import pyarrow

        found = Differences(checks, keep)
        for batch in batches:
            found.add(batch)
        yield pyarrow.RecordBatch.from_pydict({"summary": [json.dumps(found.plain())]})

    columns = [field.split()[0] for field in COMPARED.split(", ")]
    compared = rows.where("side <> 0").select(*columns)
    if chunks is not None:
        compared = compared.unionByName(chunks.mapInArrow(unpacked, COMPARED))
    compared.createOrReplaceTempView("chosen")
    found = Differences(checks, keep)
    for row in spark.sql(QUERY).mapInArrow(summaries, SUMMARY).collect():
        found.add_plain(json.loads(row.summary))
    return found
