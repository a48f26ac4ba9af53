"""From nothing to a verdict: a server, data, splits, an export, both engines, and one spoiled row that both must find.

    dev/verify --story BRAID [--scale s|m|l] [--backend embedded|cassandra] [--keep DIR]
BRAID is the program. It only makes the data and the export; the verification knows nothing of it. On Cassandra the cluster is also
verified as it is, without an export.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
from pathlib import Path

import pyarrow
import pyarrow.parquet

HOME = Path(__file__).parent
NAMESPACE = "demo"
HOST = "127.0.0.1"
DIFFERENT = 8
COUNTS = ("missing", "phantom", "misplaced", "unordered", "damaged", "miscut", "miscoded")


def arguments():
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("braid", metavar="BRAID")
    parser.add_argument("--scale", choices=("s", "m", "l"), default="s")
    parser.add_argument("--backend", choices=("embedded", "cassandra"), default="embedded")
    parser.add_argument("--keep", metavar="DIR", help="where everything goes and stays")
    return parser.parse_args()


def step(text):
    """Says what comes next."""
    print(f"\n== {text}", flush=True)


class Server:
    """A server of its own, for as long as it is needed."""

    def __init__(self, braid, work, backend, prefix):
        settings = {
            "BRAID__STORE__BACKEND": backend,
            "BRAID__STORE__CASSANDRA__CONTACT_POINTS": f"{HOST}:9042",
            "BRAID__STORE__CASSANDRA__KEYSPACE_PREFIX": prefix,
        }
        command = [braid, "serve", "--data", work / "data", "--listen", "127.0.0.1:0"]
        environment = os.environ | (settings if backend == "cassandra" else {})
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            ready = re.search(r"ready at (http://\S+?),", line)
            if ready:
                self.url = ready[1]
                # What it says later is of no use here, but has to go somewhere.
                self.reader = threading.Thread(target=self.process.stderr.read, daemon=True)
                self.reader.start()
                return
            print(line, end="", file=sys.stderr)
        sys.exit(f"the server ended with {self.process.wait()} before it was ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()


def run(*command):
    """Runs a command; what it ended with."""
    print("$", " ".join(str(word) for word in command), flush=True)
    return subprocess.run(command, check=False).returncode


def must(*command):
    """Runs a command that has to work."""
    code = run(*command)
    if code != 0:
        sys.exit(f"that ended with {code}")


def verify(*typed):
    """The command that verifies."""
    return [sys.executable, "-m", "braid_verify", *typed]


def report(export, engine, into):
    """The report of an engine as it is: (exit code, content)."""
    with into.open("wb") as file:
        done = subprocess.run(verify(export, "--engine", engine, "-o", "json"), stdout=file, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, DIFFERENT):
        sys.exit(done.stderr.decode())
    return done.returncode, into.read_bytes()


def spoil(export, copy):
    """A copy of an export with one byte more in one value of a target, and a manifest that knows nothing of it. Gives the event that has
    to be named, and what has to be counted: a row that was altered, or a chunk that cannot be decoded, whose rows are missing."""
    shutil.copytree(export, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    check = json.loads((copy / "splits.ndjson").read_text().splitlines()[0])["check"]
    table = next(table for table in manifest["tables"] if table["name"] == check["target_table"])
    for file in table["files"]:
        rows = pyarrow.parquet.read_table(copy / file["path"], partitioning=None)
        places = zip(*(rows[name].to_pylist() for name in ("time_series_id", "time_bucket", "event_bucket")))
        first = check["start_event_bucket"]
        ours = [
            at
            for at, (series, time_bucket, event_bucket) in enumerate(places)
            if (series, time_bucket) == (check["time_series_id"], check["time_bucket"])
            and first <= event_bucket < first + check["targets"]
        ]
        if ours:
            break
    at = ours[len(ours) // 2]
    values = rows["event_item_value"].to_pylist()
    values[at] = values[at] + b"!"
    column = rows.schema.get_field_index("event_item_value")
    rows = rows.set_column(column, rows.schema.field(column), pyarrow.array(values, rows.schema.field(column).type))
    pyarrow.parquet.write_table(rows, copy / file["path"])
    content = (copy / file["path"]).read_bytes()
    file.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
    (copy / "manifest.json").write_text(json.dumps(manifest))
    event_id = rows["event_id"][at].as_py()
    if check["layout"] == "rows":
        return event_id, {"missing": 1, "phantom": 1}
    rows_in_chunk = int.from_bytes(rows["value_metadata"][at].as_py()[4:8], "big")
    return event_id, {"missing": rows_in_chunk, "damaged": 1}


def both(export, work):
    """Both engines on one export: their exit code and report, which have to be the same."""
    found = {engine: report(export, engine, work / f"{engine}.json") for engine in ("duckdb", "spark")}
    if found["duckdb"] != found["spark"]:
        sys.exit(f"the reports of both engines differ: {work}/duckdb.json {work}/spark.json")
    code, content = found["duckdb"]
    return code, json.loads(content)


def drop(prefix):
    """Removes what the server made in a cluster that stays: metadata, the demo's namespace, and what its steps made beside."""
    from cassandra.cluster import Cluster

    with Cluster([HOST], schema_metadata_enabled=False) as driver:
        session = driver.connect()
        session.default_timeout = 60
        found = [row.keyspace_name for row in session.execute("SELECT keyspace_name FROM system_schema.keyspaces")]
        for keyspace in found:
            if keyspace.startswith(f"{prefix}_"):
                session.execute(f"DROP KEYSPACE {keyspace}")


def make(typed, work, export, prefix):
    """Data, splits and an export of them; in a cluster they are also verified as they are."""
    with Server(typed.braid, work, typed.backend, prefix) as server:
        at = ("-s", server.url)
        step("data and splits")
        must(typed.braid, "demo", *at, "--use-server", "--keep", "--scale", typed.scale)
        step("export")
        must(typed.braid, "export", *at, "-n", NAMESPACE, "--with-splits", "--out", export)
        if typed.backend == "cassandra":
            step("straight from the cluster")
            must(*verify("--cassandra", HOST, "--keyspace", f"{prefix}_{NAMESPACE}_1"))


def story(typed, work):
    """The whole of it."""
    export, prefix = work / "export", f"verify{uuid.uuid4().hex[:4]}"
    try:
        make(typed, work, export, prefix)
    finally:
        if typed.backend == "cassandra":
            drop(prefix)
    step("DuckDB")
    must(*verify(export, "--engine", "duckdb"))
    step("Spark")
    must(*verify(export, "--engine", "spark"))
    step("one byte of one row changed")
    event_id, expected = spoil(export, work / "spoiled")
    code, told = both(work / "spoiled", work)
    named = {row["kind"] for split in told["details"] for row in split["rows"] if row["event_id"] == event_id}
    counts = {kind: told[kind] for kind in COUNTS if told[kind]}
    # A chunk that is damaged is named itself; of the rows that are missing with it, only some are.
    if code != DIFFERENT or counts != expected or not named & {"phantom", "damaged"}:
        sys.exit(f"it was not found: {told}")
    words = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    print(f"both engines found it, in the same words, at event {event_id}: {words}")
    print(f"\nverified: {told['splits']} splits, {told['matching'] + told['missing']:,} rows, proven twice")


def main():
    """Runs the story in a directory that goes, unless it is to be kept."""
    typed = arguments()
    typed.braid = shutil.which(typed.braid) or sys.exit(f"there is no program {typed.braid}")
    if typed.keep:
        Path(typed.keep).mkdir(parents=True)
        story(typed, Path(typed.keep).resolve())
        return
    with tempfile.TemporaryDirectory(prefix="braid-verify-") as work:
        story(typed, Path(work))


if __name__ == "__main__":
    main()
