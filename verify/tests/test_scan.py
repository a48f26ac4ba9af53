"""Batches, portions and tasks end anywhere: what comes out does not depend on it."""

import random

import pyarrow
import pytest
from braid_verify import scan
from braid_verify.check import parse
from braid_verify.scan import Run, Scanner, join_all, join_batches
from generate import make_split, record_of

SPLIT = make_split(0, 300, 1)
CHECK = parse(record_of(SPLIT), "here")
KEEP = 5


def batches(rows, sizes):
    """The rows of the origin in batches of these sizes, as an engine hands them over."""
    start = 0
    for size in sizes:
        part = list(enumerate(rows))[start : start + size]
        start += size
        if not part:
            return
        columns = {
            "split": [0] * len(part),
            "side": [1] * len(part),
            "row": [at for at, _ in part],
            "event_bucket": [SPLIT.event_bucket] * len(part),
            "event_time": [row[0] for _, row in part],
            "event_id": [row[1] for _, row in part],
            "event_item_key": [row[2] for _, row in part],
            "event_item_value": [row[3] for _, row in part],
            "value_metadata": [row[4] for _, row in part],
        }
        yield pyarrow.RecordBatch.from_pydict(columns)


def runs(rows, sizes):
    scanner = Scanner((CHECK,), KEEP)
    return [run for batch in batches(rows, sizes) for run in scanner.runs(batch, 0)]


@pytest.mark.parametrize("sizes", [[300], [1] * 300, [7] * 43, [299, 1]], ids=["one", "each", "sevens", "last"])
def test_batches_join(sizes):
    (run,) = join_batches(runs(SPLIT.origin[:300], sizes), KEEP)
    assert (run.digest.rows, run.unordered, run.misplaced, run.row, run.end) == (300, 0, 0, 0, 300)
    assert run.newest[0] == SPLIT.origin[0][0] and run.oldest[0] == SPLIT.origin[299][0]


def test_a_whole_partition_has_the_recorded_digest():
    (run,) = join_all(runs(SPLIT.origin, [100] * 4), KEEP)
    assert run.digest == CHECK.digest


def test_order_is_checked_where_batches_meet():
    rows = SPLIT.origin[:100] + SPLIT.origin[99:200]
    (run,) = join_all(runs(rows, [100, 200]), KEEP)
    assert (run.unordered, [row["event_id"] for row in run.examples]) == (1, [SPLIT.origin[99][1]])


def test_tasks_may_come_in_any_order():
    apart = runs(SPLIT.origin, [20] * 20)
    random.Random(1).shuffle(apart)
    (run,) = join_all(apart, KEEP)
    assert (run.digest, run.unordered) == (CHECK.digest, 0)


def test_a_gap_is_not_joined_before_all_is_there():
    first, _, last = runs(SPLIT.origin[:300], [100] * 3)
    assert len(list(join_batches([first, last], KEEP))) == 2


def test_large_values_are_hashed_in_portions(monkeypatch):
    monkeypatch.setattr(scan, "PORTION_BYTES", 1000)
    pieces = runs(SPLIT.origin, [400])
    assert len(pieces) > 20
    (run,) = join_all(pieces, KEEP)
    assert (run.digest, run.unordered) == (CHECK.digest, 0)


def test_a_run_survives_as_text():
    rows = [*SPLIT.origin[:9], *SPLIT.origin[3:20]]
    (run,) = join_all(runs(rows, [30]), KEEP)
    assert run.examples and Run.loads(run.dumps()) == run


def test_no_more_examples_than_asked_for():
    (run,) = join_all(runs(SPLIT.origin[::-1], [50] * 7), KEEP)
    assert (run.unordered, len(run.examples)) == (len(SPLIT.origin) - 1, KEEP)


def test_rows_count_where_they_lie_and_not_as_they_come():
    scanner = Scanner((CHECK,), KEEP)
    (batch,) = batches(SPLIT.origin, [400])
    back = batch.take(pyarrow.array(range(batch.num_rows - 1, -1, -1)))
    (run,) = join_all(scanner.runs(back, 0), KEEP)
    assert (run.digest, run.unordered) == (CHECK.digest, 0)
