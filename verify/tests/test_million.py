"""One row among a million, in every way and on both sides: a split each, and the others stay equal."""

from generate import write_export
from tamper import alter, double, misplace, remove
from test_findings import expect

ROWS = 1_000_000
SPOILS = [(spoil, side) for spoil in (remove, double, alter, misplace) for side in ("origin", "target")]
SOUND = 2


def test_one_row_among_a_million(tmp_path, verified):
    spoiled = []

    def spoil(split):
        if split.number < len(SPOILS):
            way, side = SPOILS[split.number]
            spoiled.append(way(split, side))

    write_export(tmp_path, ROWS, len(SPOILS) + SOUND, spoil)
    code, report = verified(tmp_path)
    assert (code, report["different"], report["equal"]) == (8, len(SPOILS), SOUND)
    # A tenth of the rows is in the split that is covered in part, and a quarter of those is not covered.
    assert report["matching"] > ROWS * 0.95
    for split, (row, counts) in zip(report["details"], spoiled):
        expect(split, row, counts)
