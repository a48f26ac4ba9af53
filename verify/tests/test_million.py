"""One row among a million, in every way and on both sides: a split each, and the others stay equal."""

import tamper_chunks
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


# A row that is twice in a chunk makes it one that cannot be decoded; a whole chunk is doubled instead.
IN_CHUNKS = [(spoil, side) for spoil, side in SPOILS if (spoil, side) != (double, "target")]


def test_one_row_among_a_million_in_chunks(tmp_path, verified):
    spoiled, chunks = [], []

    def spoil(split):
        if split.number < len(IN_CHUNKS):
            way, side = IN_CHUNKS[split.number]
            spoiled.append(way(split, side))

    def spoil_chunk(split, stored):
        if split.number == len(IN_CHUNKS):
            chunks.append(tamper_chunks.double(split, stored))

    write_export(tmp_path, ROWS, len(IN_CHUNKS) + 1 + SOUND, spoil, layouts=("packed",), spoil=spoil_chunk)
    code, report = verified(tmp_path)
    assert (code, report["different"], report["equal"]) == (8, len(IN_CHUNKS) + 1, SOUND)
    for split, (row, counts) in zip(report["details"], spoiled):
        expect(split, row, counts)
        assert split["damaged"] == 0
    found, counts = report["details"][len(IN_CHUNKS)], chunks[0][1]
    assert {kind: found[kind] for kind in counts} == counts
