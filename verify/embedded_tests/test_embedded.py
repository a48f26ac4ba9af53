"""Rows spoiled in the embedded store itself, while no server has it: the next export shows them, and each is found and named. What
Braid exported is also read by Spark and by pandas.

`make verify-embedded`. BRAID and SPOILER name the program and `store-spoiler`, BRAID_VERIFY_ROWS among how many rows one is spoiled.
"""

import datetime
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pandas
import pytest

sys.path[:0] = [str(Path(__file__).parent.parent)]

from braid_verify.__main__ import main  # noqa: E402
from story import Server  # noqa: E402

ROWS = int(os.environ.get("BRAID_VERIFY_ROWS", "16000"))
LAYOUTS = ("rows", "packed")
# Characters of a value: with the larger ones a target has several chunks.
VALUE_BYTES = {"rows": 40, "packed": 400}
# Eight bytes of time, the id, the key.
KEY_BYTES = 8 + 12 + 1
HOUR_NANOS = 3600 * 10**9
TIME_BUCKET = 7
# A key cannot be twice in a partition; in another time bucket of the origin's table nobody looks for it.
SPOILS = {
    ("remove", "target"): {"missing": 1},
    ("double", "target"): {"phantom": 1, "misplaced": 1},
    ("alter", "target"): {"missing": 1, "phantom": 1},
    ("misplace", "target"): {"misplaced": 1},
    ("remove", "origin"): {"phantom": 1},
    ("alter", "origin"): {"missing": 1, "phantom": 1},
    ("misplace", "origin"): {"phantom": 1},
}
# The same done to a chunk: as many as it has rows, so kinds are told and not numbers. By time no other target overlaps, so ways that
# need that are on even places: splits are by time and by hash in turn.
CHUNK_SPOILS = {
    ("remove", "target"): {"missing"},
    ("copy", "target"): {"phantom", "unordered", "damaged"},
    ("double", "target"): {"phantom", "misplaced"},
    ("alter", "target"): {"missing", "damaged"},
    ("misplace", "target"): {"misplaced"},
    ("remove", "origin"): {"phantom"},
    ("alter", "origin"): {"missing", "phantom"},
    ("misplace", "origin"): {"phantom"},
}
KINDS = ("missing", "phantom", "misplaced", "unordered", "damaged", "miscut", "miscoded")


class Store:
    """A namespace in a data directory, and the programs."""

    def __init__(self, work, layout):
        self.layout, self.spoils = layout, SPOILS if layout == "rows" else CHUNK_SPOILS
        # One more split, which stays sound.
        self.series = [*("-".join(spoil) for spoil in self.spoils), "sound"]
        self.work, self.braid, self.spoiler = work, os.environ["BRAID"], os.environ["SPOILER"]
        # Closed, whatever the accept limit.
        self.day = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=2)
        self.table = f"data_{self.day:%Y%m%d}"

    def serving(self):
        return Server(self.braid, self.work, "embedded", "")

    def run(self, server, *typed):
        subprocess.run([self.braid, *typed[:1], "-s", server.url, *typed[1:]], check=True)

    def write_events(self, path):
        """As many rows in each series, spread over the hour."""
        each, chance = ROWS // len(self.series), random.Random(1)
        with path.open("w") as file:
            file.write("time_series_id,event_time,event_id,k\n")
            for at in range(each):
                second, nanos = divmod(at * HOUR_NANOS // each, 10**9)
                time = f"{self.day}T{TIME_BUCKET:02}:{second // 60:02}:{second % 60:02}.{nanos:09}Z"
                value = chance.randbytes(VALUE_BYTES[self.layout] // 2).hex()
                file.writelines(f"{series},{time},e{at:011},{value}\n" for series in self.series)

    def make(self):
        """Rows, and a split of every series: half of them by time, half by hash."""
        events = self.work / "events.csv"
        self.write_events(events)
        row_bytes = KEY_BYTES + VALUE_BYTES[self.layout]
        target = f"{max(64, ROWS // len(self.series) * row_bytes // 4 >> 10)}KiB"
        sizes = ("--split-threshold", target, "--split-target", target, "--split-layout", self.layout)
        with self.serving() as server:
            self.run(server, "ns", "create", "plays", "--buckets-per-id", "1", "--split-policy", "manual", *sizes)
            self.run(server, "import", "-n", "plays", "--backfill", events)
            for strategy, series in (("time_range", self.series[::2]), ("event_bucket", self.series[1::2])):
                self.run(server, "ns", "set", "plays", "--split-strategy", strategy)
                for split in map(self.split_id, series):
                    self.run(server, "split", "create", "-n", "plays", split)
                    self.run(server, "split", "watch", "-n", "plays", split)

    def split_id(self, series):
        return f"{self.table}/{TIME_BUCKET}/0/{series}"

    def spoil(self):
        """Spoils one row of each split but the last; which ones."""
        orders = []
        for (way, side), series in zip(self.spoils, self.series):
            # The first attempt of event bucket 0 has its targets from event bucket 0 on.
            target = (f"wide_{self.table}_0", series, TIME_BUCKET, 1, TIME_BUCKET, 0)
            origin = (self.table, series, TIME_BUCKET, 0, TIME_BUCKET + 1, 0)
            orders.append("\t".join(map(str, (way, *(target if side == "target" else origin)))))
        command = [self.spoiler, self.work / "data"]
        done = subprocess.run(command, input="\n".join(orders), text=True, stdout=subprocess.PIPE, check=True)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        return [(int(time), event_id, item_key) for time, event_id, item_key in rows]

    def export(self):
        out = self.work / "export"
        with self.serving() as server:
            self.run(server, "export", "-n", "plays", "--with-splits", "--out", out)
        return out


@pytest.fixture(params=LAYOUTS)
def store(request, tmp_path):
    made = Store(tmp_path, request.param)
    made.make()
    return made


def expect_row(split, counts, row):
    """One row: counted once under each kind, and named."""
    named = {(found["kind"], found["event_time"], found["event_id"], found["event_item_key"]) for found in split["rows"]}
    assert {kind: split[kind] for kind in KINDS if split[kind]} == counts
    assert named == {(kind, *row) for kind in counts}


def expect_chunk(split, kinds, row):
    """A chunk, or a row of the origin: these kinds and no others, each with the oldest event of the chunk."""
    assert {kind for kind in KINDS if split[kind]} == kinds
    named = {(found["kind"], found["event_id"]) for found in split["rows"]}
    # Out of order is the first row of a chunk that comes again, which is its newest.
    assert {(kind, row[1]) for kind in kinds - {"unordered"}} <= named


def by_spark(export, *typed):
    """What Spark says of an export: (exit code, report). As a program of its own, which takes its Java machine with it."""
    command = [sys.executable, "-m", "braid_verify", export, "--engine", "spark", *typed]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 8), done.stderr
    return done.returncode, done.stdout


def expect_pandas(export):
    """What `docs/formats/export.md` says of columns, and as many rows of each table as the manifest."""
    manifest = json.loads((export / "manifest.json").read_text())
    frame = pandas.read_parquet(export / "data")
    types = {name: str(kind) for name, kind in frame.dtypes.items()}
    numbers = {"event_time": "int64", "write_time": "int64", "time_bucket": "int32", "event_bucket": "int32", "table": "category"}
    assert {name: types[name] for name in numbers} == numbers
    assert len(frame) == manifest["rows"]
    rows = {table["name"]: table["rows"] for table in manifest["tables"]}
    assert frame["table"].value_counts().to_dict() == rows and len(rows) == 2
    bounds = (manifest["start"], manifest["end"] - 1)
    assert frame["event_time"].between(*bounds).all() and frame["event_time"].nunique() > 1000


def test_one_row_spoiled_in_the_store(store, capsys):
    spoiled = store.spoil()
    assert len(spoiled) == len(store.spoils)
    expected = dict(zip(map(store.split_id, store.series), zip(store.spoils.values(), spoiled)))
    export = store.export()
    capsys.readouterr()
    typed = ("-o", "json", "--examples", "10000")
    code = main([str(export), *typed])
    printed = capsys.readouterr().out
    report = json.loads(printed)
    assert (code, report["different"], report["equal"]) == (8, len(store.spoils), 1)
    assert {split["strategy"] for split in report["details"]} == {"time_range", "event_bucket"}
    assert {split["layout"] for split in report["details"]} == {store.layout}
    for split in report["details"]:
        if split["id"] in expected:
            check = expect_row if store.layout == "rows" else expect_chunk
            check(split, *expected[split["id"]])
        else:
            assert split["result"] == "equal"
    expect_pandas(export)
    # It takes some ten seconds to start. Origins are rows, so both kinds are read.
    if store.layout == "packed":
        assert by_spark(export, *typed) == (code, printed)
