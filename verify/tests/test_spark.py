"""Spark finds what DuckDB finds, word for word: the program as it is shipped, once, on a small export with every kind of defect."""

import subprocess
import sys
from pathlib import Path

from generate import write_export
from tamper import EVERY, uncovered

SPOILS = [(spoil, side) for spoil in (*EVERY, uncovered) for side in ("origin", "target")]


def verify(export, engine):
    """Runs the program: (exit code, what it printed)."""
    command = [sys.executable, "-m", "braid_verify", export, "--engine", engine, "-o", "json", "--threads", "2"]
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

    write_export(tmp_path, 20_000, len(SPOILS) + 2, spoil, file_rows=3_000, group_rows=500)
    by_spark, by_duckdb = verify(tmp_path, "spark"), verify(tmp_path, "duckdb")
    assert by_spark[0] == 8
    assert by_spark == by_duckdb
