"""Spark finds what DuckDB finds, word for word: the program as it is shipped, once, on a small export with every kind of defect."""

import json
import subprocess
import sys
from pathlib import Path

import tamper_chunks
from braid_verify.verdict import COUNTS
from generate import write_export
from tamper import EVERY, uncovered

# What is wrong with a chunk, where that is all: rows and digests say nothing of it.
RECUT = {tamper_chunks.merge: "miscut", tamper_chunks.halve: "miscut", tamper_chunks.shift: "miscut", tamper_chunks.recode: "miscoded"}
SPOILS = [(spoil, side) for spoil in (*EVERY, uncovered) for side in ("origin", "target")]
CHUNK_SPOILS = tamper_chunks.EVERY
# Two sound splits of each layout at the end.
LAYOUTS = ["rows"] * len(SPOILS) + ["packed"] * len(CHUNK_SPOILS) + ["rows", "packed"] * 2


def verify(export, engine, *typed):
    """Runs the program: (exit code, what it printed)."""
    command = [sys.executable, "-m", "braid_verify", export, "--engine", engine, "-o", "json", "--threads", "2", *typed]
    home = Path(__file__).parent.parent
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 8), done.stderr
    return done.returncode, done.stdout


def test_both_engines_give_the_same_report(tmp_path):
    # Small files and groups: a task of Spark has parts of several, in an order of its own.
    def spoil(split):
        if split.number < len(SPOILS):
            way, side = SPOILS[split.number]
            way(split, side)

    def spoil_chunks(split, stored):
        way = split.number - len(SPOILS)
        if 0 <= way < len(CHUNK_SPOILS):
            CHUNK_SPOILS[way](split, stored)

    options = {"file_rows": 3_000, "group_rows": 500, "layouts": LAYOUTS, "chunk_bytes": 1500, "spoil": spoil_chunks}
    write_export(tmp_path, 600 * len(LAYOUTS), len(LAYOUTS), spoil, **options)
    by_spark, by_duckdb = verify(tmp_path, "spark"), verify(tmp_path, "duckdb")
    assert by_spark[0] == 8
    assert by_spark == by_duckdb
    report = json.loads(by_spark[1])
    assert [split["result"] for split in report["details"][-4:]] == ["equal"] * 4
    assert all(split["result"] == "different" for split in report["details"][len(SPOILS) : -4])
    for way, split in zip(CHUNK_SPOILS, report["details"][len(SPOILS) : -4]):
        if way in RECUT:
            assert {kind for kind in COUNTS[1:] if split[kind]} == {row["kind"] for row in split["rows"]} == {RECUT[way]}, way
