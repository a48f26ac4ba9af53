"""Where chunks end and how they are compressed: the rule by itself, and packed targets that keep to it or do not."""

import json
import random

import pytest
import tamper_chunks
from braid_verify import cut
from braid_verify.chunk import decode
from braid_verify.verdict import CHUNK_COUNTS
from generate import write_export
from pack import body_of, chunk_of, columns_of, compressed, logical_bytes, pack
from test_refusals import change_split
from test_rules import check

# An event of one row has 8 bytes, 3 of its id, 1 of its key and those of its value.
ROW_BYTES = 12


def rows(*sizes, items=1):
    """Events of so many bytes in each of their rows, newest first."""
    keys = [(at, f"{items - item}") for at in range(len(sizes)) for item in range(items)]
    return [[1000 - at, f"e{at:02}", key, bytes(sizes[at] - ROW_BYTES), b"", 1] for at, key in keys]


def found(pieces, chunk_bytes):
    """Which of these chunks are cut elsewhere: as early, as late, or none."""
    by_record = check(layout="packed", chunk_bytes=chunk_bytes, codec="none")
    chunks = [decode(of[4], of[3]) for of in (chunk_of(piece, "none") for piece in pieces)]
    late = [bool(cut.cut_late(by_record, chunk.header)) for chunk in chunks]
    early = [bool(cut.cut_early(cut.room(by_record, a.header), b.first_event)) for a, b in zip(chunks, chunks[1:])]
    return ["late" if late else "early" if early else "" for late, early in zip(late, [*early, False])]


@pytest.mark.parametrize(
    ("sizes", "chunks"),
    [
        ((50, 50), [2]),
        ((50, 51), [1, 1]),
        ((100, 12), [1, 1]),
        ((500, 12, 12, 12), [1, 3]),
        ((12, 500, 12), [1, 1, 1]),
        ((12, 500), [1, 1]),
        ((500,), [1]),
        ((30, 30, 30, 30, 30, 30, 30), [3, 3, 1]),
        ((88, 12, 12), [2, 1]),
    ],
    ids=str,
)  # fmt: skip
def test_every_cut_but_one_is_wrong(sizes, chunks):
    """All ways to cut some events: only the one that was written down by hand is found to be right."""
    events, right = rows(*sizes), []
    for ways in range(1 << len(sizes) - 1):
        ends = [at for at in range(1, len(sizes)) if ways >> at - 1 & 1]
        pieces = [events[start:end] for start, end in zip([0, *ends], [*ends, len(sizes)])]
        if not any(found(pieces, 100)):
            right.append([len(piece) for piece in pieces])
    assert right == [chunks]


def test_an_event_counts_with_all_of_its_items():
    events = rows(25, 25, 25, items=2)
    assert found([events[:4], events[4:]], 100) == ["", ""]
    assert found([events[:2], events[2:]], 100) == ["early", ""]
    assert found([events], 100) == ["late"]
    # As a first event of three rows, and of one: the room is the same.
    assert found([events[:4], events[4:]], 149) == ["", ""]
    assert found([events[:4], events[4:]], 150) == ["early", ""]


def test_without_room_every_event_is_a_chunk():
    events = rows(30, 40)
    assert found([events[:1], events[1:]], 0) == ["", ""]
    assert found([events], 0) == ["late"]


def judged(made, codec, recorded):
    """What is said of a chunk of one codec where the record has another."""
    chunk = chunk_of(made, codec)
    return cut.coded_otherwise(check(layout="packed", chunk_bytes=100, codec=recorded), decode(chunk[4], chunk[3]).header, chunk[3])


@pytest.mark.parametrize("recorded", ["none", "lz4", "zstd"])
@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def test_a_codec_is_that_of_the_record(codec, recorded):
    said = judged(rows(4000), codec, recorded)
    if codec == recorded:
        assert said is None
    elif codec == "none":
        assert said == f"it is not compressed; the record says {recorded}, which makes it much smaller"
    else:
        assert said == f"it is compressed with {codec}; the record says {recorded}"


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_what_does_not_pay_is_not_compressed(codec):
    """Values that no codec shrinks, with more and more zeros behind them: both sides of 15/16, and how far none is let pass."""
    chance = random.Random(1).randbytes(60_000)
    said = {}
    for zeros in range(0, 12_000, 100):
        made = [[1, "e", "k", chance + bytes(zeros), b"", 1]]
        raw = body_of(columns_of(made))
        # What is left over of a sixteenth of the body does not count.
        share = len(compressed(raw, codec)) / (len(raw) // 16)
        said[share] = judged(made, codec, codec), judged(made, "none", codec)
    assert min(said) < 14 < 15 < max(said)
    for share, (if_compressed, if_not) in said.items():
        assert (if_compressed is not None) == (share > 15), (share, if_compressed)
        assert (if_not is not None) == (share <= 14), (share, if_not)


def test_the_last_sixteenth_is_cut_off():
    """A body of 31 bytes has one whole sixteenth of its own, so that 15 bytes are worth it and 16 are not."""
    assert [cut.most(raw, 15) for raw in (15, 16, 31, 32)] == [0, 15, 15, 30]


@pytest.mark.parametrize(
    "options",
    [
        {"chunk_bytes": 1},
        {"chunk_bytes": 250},
        {"chunk_bytes": 1 << 20},
        # Mostly nothing but ids, so that all codecs pay.
        {"chunk_bytes": 700, "value_bytes": (0, 0)},
        # Larger than a chunk, and smaller, in turn.
        {"chunk_bytes": 3000, "value_bytes": (0, 6000)},
        {"chunk_bytes": 1500, "file_rows": 17, "group_rows": 3},
    ],
    ids=str,
)
def test_what_is_cut_by_the_rule_is_equal(tmp_path, verified, options):
    write_export(tmp_path, 900, 6, layouts=("packed",), **options)
    code, report = verified(tmp_path)
    assert (code, [report[kind] for kind in CHUNK_COUNTS]) == (0, [0, 0, 0])
    assert {split["strategy"] for split in report["details"]} == {"event_bucket", "time_range"}


def test_the_sound_exports_have_what_is_special(tmp_path):
    """Else the test above would prove less than it says: events over a chunk, of several items, last chunks that are small, every codec."""
    seen = set()

    def look(split, stored):
        for bucket, chunks in stored.items():
            headers = [decode(chunk[4], chunk[3]).header for chunk in chunks]
            seen.update(("codec", header.codec) for header in headers)
            seen.update("large" for header in headers if header.logical_bytes > split.chunk_bytes)
            seen.update("items" for header in headers if header.rows > header.events)
            seen.update("small" for header in headers[-1:] if header.logical_bytes < split.chunk_bytes // 2)

    for at, values in enumerate([(0, 0), (0, 6000)]):
        write_export(tmp_path / str(at), 900, 6, layouts=("packed",), chunk_bytes=3000, value_bytes=values, spoil=look)
    assert seen == {("codec", 0), ("codec", 1), ("codec", 2), "large", "items", "small"}


@pytest.mark.parametrize("chunk_bytes", [1400, 1600])
def test_another_size_in_the_record(tmp_path, verified, chunk_bytes):
    """Nothing but the cut says so: rows, digests and numbers of chunks are those of the record."""
    write_export(tmp_path, 800, 1, layouts=("packed",), chunk_bytes=1500)
    change_split(tmp_path, chunk_bytes=chunk_bytes)
    code, report = verified(tmp_path)
    split = report["details"][0]
    assert code == 8 and split["miscut"] > 3 and split["notes"] == []
    assert {row["kind"] for row in split["rows"]} == {"miscut"}


@pytest.mark.parametrize("codec", ["zstd", "none"])
def test_another_codec_in_the_record(tmp_path, verified, codec):
    write_export(tmp_path, 1600, 2, layouts=("rows", "packed"), chunk_bytes=1500, value_bytes=(0, 0))
    lines = (tmp_path / "splits.ndjson").read_text().splitlines()
    packed = json.loads(lines[1])["check"]
    assert packed["codec"] == "lz4"
    # The first line is the one that is changed.
    (tmp_path / "splits.ndjson").write_text("\n".join(reversed(lines)) + "\n")
    change_split(tmp_path, codec=codec)
    code, report = verified(tmp_path)
    split = report["details"][0]
    chunks = sum(target["stored_rows"] for target in packed["partitions"])
    # What was too small to be worth it says nothing.
    assert code == 8 and chunks * 0.9 < split["miscoded"] <= chunks
    assert (split["miscut"], split["notes"], split["missing"]) == (0, [], 0)


def test_a_chunk_that_is_not_compressed(tmp_path, verified):
    spoiled = []

    def spoil(split, stored):
        if split.number != 1:
            return
        chunks, at = tamper_chunks.chunks_of(split, stored)
        chunks[at] = chunk_of(tamper_chunks.rows_of(split, chunks[at]), "none")
        spoiled.append(chunks[at])

    write_export(tmp_path, 3200, 2, layouts=("rows", "packed"), chunk_bytes=1500, value_bytes=(0, 0), spoil=spoil)
    code, report = verified(tmp_path)
    (row,) = report["details"][1]["rows"]
    assert (code, report["miscoded"], report["damaged"], report["miscut"]) == (8, 1, 0, 0)
    assert (row["kind"], row["event_time"], row["event_id"]) == ("miscoded", *spoiled[0][:2])
    assert row["reason"].startswith("it is not compressed; the record says lz4")


def test_a_chunk_that_cannot_be_decoded_says_nothing_of_its_neighbours(tmp_path, verified):
    """It might have been any size."""
    events = rows(*[60] * 9)
    assert sum(map(logical_bytes, events)) == 540 and len(pack(events, 100, "none")) == 9
    write_export(tmp_path, 800, 1, layouts=("packed",), chunk_bytes=300, spoil=tamper_chunks.alter)
    code, report = verified(tmp_path)
    assert (code, report["damaged"], report["miscut"]) == (8, 1, 0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("file_rows", [1, 5])
def test_chunks_that_meet_where_files_and_processes_do(tmp_path, verified, file_rows, threads):
    spoil = lambda split, stored: split.number == 1 and tamper_chunks.halve(split, stored)  # noqa: E731
    write_export(tmp_path, 800, 2, layouts=("packed",), chunk_bytes=1500, file_rows=file_rows, group_rows=2, spoil=spoil)
    code, report = verified(tmp_path, "--threads", threads)
    assert (code, report["miscut"], report["damaged"], report["details"][0]["result"]) == (8, 2, 0, "equal")


def test_what_people_read(tmp_path, run):
    made = []

    def spoil(split, stored):
        if split.number == 1:
            made.extend([tamper_chunks.merge(split, stored)[0], tamper_chunks.fullest(split)])

    write_export(tmp_path, 1600, 3, layouts=("rows", "packed"), chunk_bytes=1500, spoil=spoil)
    code, out, _ = run(tmp_path, "--threads", 1)
    (time, event_id, *_), bucket = made
    assert code == 8
    assert f"miscut     chunk of event {event_id!r} at 2026-03-28T04:" in out
    assert f"({time} ns) in event bucket {bucket}: it has " in out
    assert out.rstrip().endswith("chunks: 0 damaged, 1 miscut, 0 miscoded")
