"""One row is spoiled in the origin or in a target: it is found, counted and named, and nothing else is."""

import pytest
from generate import BUCKETS_PER_ID, hashed, write_export
from tamper import EVERY, double_beside, put, uncovered
from test_refusals import change_split

COUNTS = ("missing", "phantom", "misplaced", "unordered")


def expect(split, row, counts):
    """Whether a split of a report has these counts, and names this row under each of them."""
    assert {kind: split[kind] for kind in COUNTS if split[kind]} == counts
    named = {
        (found["kind"], found["event_time"], found["event_id"], found["event_item_key"]) for found in split["rows"]
    }
    assert {(kind, *row[:3]) for kind in counts} <= named
    assert split["result"] == ("different" if counts else "equal")


def test_a_sound_export_is_equal(export, verified):
    code, report = verified(export)
    assert (code, report["result"], report["splits"], report["equal"]) == (0, "equal", 4, 4)
    # The third split is covered in part, and a second attempt left five rows of the first behind.
    assert report["matching"] < 1200
    assert report["rows_of_no_split"] == 5
    for split in report["details"]:
        assert split["digests"]["origin"] == split["digests"]["targets"] == split["digests"]["recorded"]
        assert split["digests"]["origin"]["rows"] == split["matching"]


@pytest.mark.parametrize("side", ["origin", "target"])
@pytest.mark.parametrize("spoil", EVERY, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("number", [0, 1, 3], ids=["by_hash", "by_time", "in_part"])
def test_one_spoiled_row(tmp_path, verified, spoil, side, number):
    spoiled = []
    write_export(tmp_path, 800, 4, lambda split: split.number == number and spoiled.append(spoil(split, side)))
    code, report = verified(tmp_path)
    assert (code, report["different"]) == (8, 1)
    expect(report["details"][number], *spoiled[0])


@pytest.mark.parametrize("layout", ["rows", "packed"])
def test_a_row_that_is_also_beside_its_origin(tmp_path, verified, layout):
    """Nothing is missing, and no digest differs. What belongs there is no finding, whoever else's it is."""
    spoiled = []

    def spoil(split):
        # A row that lies where it should, in the partition after that of the split.
        beside = (split.event_bucket + 1) % BUCKETS_PER_ID
        name = next(name for name in map("own-{}".format, range(99)) if hashed(name) % BUCKETS_PER_ID == beside)
        put(split.neighbour, [split.origin[-1][0], name, "a", b"", b"", 1])
        if split.number == 1:
            spoiled.append(double_beside(split))

    write_export(tmp_path, 800, 4, spoil, layouts=(layout,))
    code, report = verified(tmp_path)
    assert (code, report["different"]) == (8, 1)
    found = report["details"][1]
    expect(found, *spoiled[0])
    (row,) = found["rows"]
    assert (row["side"], row["event_bucket"], row["belongs"]) == ("origin", 2, "time bucket 4, event bucket 1 of the slice")
    assert found["digests"]["origin"] == found["digests"]["recorded"] and not found["notes"]


@pytest.mark.parametrize("side", ["origin", "target"])
def test_a_row_behind_what_is_covered(tmp_path, verified, side):
    spoiled = []
    write_export(tmp_path, 800, 4, lambda split: split.number == 3 and spoiled.append(uncovered(split, side)))
    _, report = verified(tmp_path)
    expect(report["details"][3], *spoiled[0])


def test_what_was_altered_is_told(tmp_path, run):
    columns = {0: "alter", 1: "alter_metadata", 2: "alter_write_time"}
    spoils = {spoil.__name__: spoil for spoil in EVERY}
    write_export(tmp_path, 800, 4, lambda split: split.number in columns and spoils[columns[split.number]](split, "target"))
    code, out, _ = run(tmp_path, "--threads", 1)
    assert code == 8
    for column in ("event_item_value", "value_metadata", "write_time"):
        assert out.count(f"altered: {column}\n") == 2, out


def test_both_sides_spoiled_alike_still_differ_from_the_record(tmp_path, verified):
    def spoil(split):
        if split.number == 0:
            row = split.origin[5]
            for held in split.held.values():
                held[:] = [other for other in held if other[:3] != row[:3]]
            split.origin.remove(row)

    write_export(tmp_path, 800, 4, spoil)
    code, report = verified(tmp_path)
    split = report["details"][0]
    assert (code, split["result"], split["missing"], split["phantom"]) == (8, "different", 0, 0)
    assert len(split["notes"]) == 3, "origin, targets, and the target it was in"


def test_all_rows_of_a_split_missing_are_counted_and_some_named(tmp_path, verified):
    write_export(tmp_path, 800, 4, lambda split: split.number == 0 and [held.clear() for held in split.held.values()])
    code, report = verified(tmp_path, "--examples", 3)
    split = report["details"][0]
    assert (code, split["matching"], split["missing"]) == (8, 0, split["digests"]["recorded"]["rows"])
    newest = [row["event_time"] for row in split["rows"]]
    assert len(newest) == 3 and newest == sorted(newest, reverse=True)


def test_files_and_row_groups_cut_partitions_anywhere(tmp_path, verified):
    """Several processes, each with another file: runs are joined where files end, and the order there is checked."""

    def last_first(split):
        if split.number == 2:
            split.origin.append(split.origin.pop(0))

    write_export(tmp_path, 800, 4, last_first, file_rows=70, group_rows=20)
    code, report = verified(tmp_path, "--threads", 2)
    assert (code, report["unordered"], report["missing"], report["phantom"]) == (8, 1, 0, 0)
    assert report["details"][2]["unordered"] == 1


def test_files_with_fewer_rows_than_there_are_partitions(tmp_path, verified):
    """An engine may then build its table from the rows and not from the partitions, and hand them over in another order."""
    write_export(tmp_path, 800, 4, file_rows=10)
    code, report = verified(tmp_path)
    assert (code, report["unordered"]) == (0, 0)


def test_targets_that_begin_where_no_attempt_does(export, verified):
    change_split(export, attempt=3)
    code, report = verified(export)
    assert (code, report["different"]) == (8, 1)
    assert report["details"][0]["notes"] == ["its targets begin at event bucket 0; attempt 3 of event bucket 0 begins at 128"]


@pytest.mark.parametrize(("stragglers", "expected"), [(0, 8), (1, 0)], ids=["none", "one"])
def test_rows_that_came_late_are_not_in_the_counts_of_targets(export, verified, stragglers, expected):
    change_split(export, {"stragglers": stragglers}, partitions=[{"event_bucket": 0, "rows": 1, "bytes": 1}])
    code, report = verified(export)
    assert code == expected
    assert len(report["details"][0]["notes"]) == (1 if expected else 0)
