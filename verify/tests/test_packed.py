"""Packed targets: one row among many, or one chunk, is spoiled; it is found, counted and named, and nothing else is."""

import pytest
import tamper
import tamper_chunks
from braid_verify.verdict import CHUNK_COUNTS
from generate import write_export
from test_findings import COUNTS, expect

PACKED = {"layouts": ("packed",), "chunk_bytes": 1500}
# Rows that a chunk can hold: in order, each once.
IN_ORDER = [way for way in tamper.EVERY if way not in (tamper.double, tamper.swap)]
NUMBERS = pytest.mark.parametrize("number", [0, 1, 3], ids=["by_hash", "by_time", "in_part"])


def reasons(split, chunk):
    """What is said of a chunk."""
    kinds = [row for row in split["rows"] if row["kind"] in CHUNK_COUNTS and (row["event_time"], row["event_id"]) == (chunk[0], chunk[1])]
    return "; ".join(row["reason"] for row in kinds)


def counts(split):
    return {kind: split[kind] for kind in (*COUNTS, *CHUNK_COUNTS) if split[kind]}


@pytest.mark.parametrize("codec", ["each split another", "one for all"])
def test_sound_chunks_are_equal(tmp_path, verified, codec):
    write_export(tmp_path, 1200, 4 if codec == "each split another" else 1, **PACKED)
    code, report = verified(tmp_path)
    assert (code, report["result"], [report[kind] for kind in CHUNK_COUNTS]) == (0, "equal", [0, 0, 0])
    for split in report["details"]:
        assert split["layout"] == "packed"
        assert split["digests"]["origin"] == split["digests"]["targets"] == split["digests"]["recorded"]


@pytest.mark.parametrize("side", ["origin", "target"])
@pytest.mark.parametrize("way", IN_ORDER, ids=lambda way: way.__name__)
@NUMBERS
def test_one_spoiled_row_in_a_chunk(tmp_path, verified, way, side, number):
    spoiled = []
    write_export(tmp_path, 1600, 4, lambda split: split.number == number and spoiled.append(way(split, side)), **PACKED)
    code, report = verified(tmp_path)
    assert (code, report["different"], [report[kind] for kind in CHUNK_COUNTS]) == (8, 1, [0, 0, 0])
    expect(report["details"][number], *spoiled[0])


@pytest.mark.parametrize("way", [tamper.double, tamper.swap], ids=lambda way: way.__name__)
@NUMBERS
def test_a_chunk_whose_rows_are_not_in_order_is_damaged(tmp_path, verified, way, number):
    write_export(tmp_path, 1600, 4, lambda split: split.number == number and way(split, "target"), **PACKED)
    code, report = verified(tmp_path)
    found = report["details"][number]
    assert (code, report["different"], found["damaged"], found["phantom"]) == (8, 1, 1, 0)
    assert 1 < found["missing"] < 50, "what else is in that chunk"
    # Two events in the wrong order have a difference of times below 0, which cannot be written.
    reason = next(row["reason"] for row in found["rows"] if row["kind"] == "damaged")
    assert "not in order" in reason or "times of its events do not add up" in reason


@pytest.mark.parametrize("way", tamper_chunks.EVERY, ids=lambda way: way.__name__)
@NUMBERS
def test_one_spoiled_chunk(tmp_path, verified, way, number):
    expected = []
    spoil = lambda split, stored: split.number == number and expected.append(way(split, stored))  # noqa: E731
    write_export(tmp_path, 1600, 4, spoil=spoil, **PACKED)
    code, report = verified(tmp_path, "--examples", 1000)
    assert (code, report["different"]) == (8, 1)
    (chunk, expected_counts, words), found = expected[0], report["details"][number]
    if way is tamper_chunks.misplace and number == 0:
        # By hash the chunks of all targets are of the same time, so it also overlaps.
        assert found["misplaced"] == expected_counts["misplaced"] and found["damaged"] > 0
        return
    assert counts(found) == expected_counts
    if chunk:
        assert words in reasons(found, chunk)
    if way in (tamper_chunks.remove, tamper_chunks.misplace):
        assert any("chunks of" in note for note in found["notes"])


def test_packed_and_plain_targets_in_one_table(tmp_path, verified):
    """Small files and groups, several processes: partitions of both kinds are cut anywhere."""
    options = {"layouts": ("rows", "packed", "packed", "rows"), "chunk_bytes": 1500, "file_rows": 23, "group_rows": 5}
    write_export(tmp_path, 1600, 8, **options)
    code, report = verified(tmp_path, "--threads", 2)
    assert (code, report["equal"]) == (0, 8)
    assert [split["layout"] for split in report["details"]] == ["rows", "packed", "packed", "rows"] * 2
    # Second attempts left five rows of the first behind.
    assert report["rows_of_no_split"] == 10


@pytest.mark.parametrize("layouts", [("packed", "rows"), ("rows", "packed")], ids=["packed", "plain"])
def test_a_record_of_the_other_layout(tmp_path, verified, layouts):
    """Chunks read as rows, or rows as chunks: nothing of it is taken for granted."""

    def spoil(split, stored):
        if split.number == 0:
            split.layout = layouts[1]
            stored.update({bucket: split.stored(bucket) for bucket in stored})

    write_export(tmp_path, 800, 4, layouts=layouts[:1], chunk_bytes=1500, spoil=spoil)
    code, report = verified(tmp_path)
    found = report["details"][0]
    assert (code, report["different"], found["matching"]) == (8, 1, 0)
    assert found["damaged" if layouts[0] == "packed" else "phantom"] > 0


def test_events_that_are_larger_than_a_chunk(tmp_path, verified):
    write_export(tmp_path, 60, 2, value_bytes=(0, 300_000), layouts=("packed",))
    code, report = verified(tmp_path)
    assert (code, report["equal"]) == (0, 2)


def test_what_people_read_of_a_damaged_chunk(tmp_path, run):
    spoiled = []
    write_export(tmp_path, 1600, 1, spoil=lambda split, stored: spoiled.append(tamper_chunks.alter(split, stored)), **PACKED)
    code, out, _ = run(tmp_path, "--threads", 1, "--examples", 1)
    (time, event_id, *_), missing = spoiled[0][0], spoiled[0][1]["missing"]
    assert code == 8
    assert f"damaged    chunk of event {event_id!r} at 2026-03-28T03:" in out
    assert f"({time} ns) in event bucket " in out and ": the checksum of its body does not match\n" in out
    assert f"and {missing - 1:,} more rows that are missing\n" in out
    assert "0 unordered, chunks: 1 damaged" in out
