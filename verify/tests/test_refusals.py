"""What is not fit to be verified is refused with exit 2 and a sentence that says what to do."""

import json

import pyarrow
import pyarrow.parquet
import pytest
from generate import described

PACKED = {"layout": "packed", "chunk_bytes": 1500, "codec": "lz4"}


@pytest.fixture
def refused(run):
    """Whether an export is refused, and how."""

    def call(export, *words):
        code, out, err = run(export)
        assert (code, out) == (2, ""), err
        for word in words:
            assert word in err

    return call


def change(export, edit):
    """Edits the manifest."""
    path = export / "manifest.json"
    manifest = json.loads(path.read_text())
    edit(manifest)
    path.write_text(json.dumps(manifest))


def change_split(export, split=(), **fields):
    """Edits the first split, and the manifest after it."""
    path = export / "splits.ndjson"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["check"].update(fields)
    lines[0]["split"].update(split)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    change(export, lambda manifest: manifest["splits"].update(described(path)))


def part(export):
    return next((export / "data/table=data_20260328").glob("*.parquet"))


def change_part(export, edit):
    """Edits a file, and the manifest after it."""
    path = part(export)
    pyarrow.parquet.write_table(edit(pyarrow.parquet.read_table(path, partitioning=None)), path)
    change(export, lambda manifest: manifest["tables"][0]["files"][0].update(described(path)))


def test_no_directory(tmp_path, refused):
    refused(tmp_path / "nowhere", "there is no directory", "braid export --with-splits")


def test_no_manifest(export, refused):
    (export / "manifest.json").unlink()
    refused(export, "has no manifest.json")


def test_a_manifest_that_is_not_json(export, refused):
    (export / "manifest.json").write_text("{")
    refused(export, "is not JSON")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("kind", "something", "of kind 'something'"),
        ("version", 2, "has version 2"),
        ("version", None, "has version None"),
        ("format", "csv", "--format parquet"),
        ("state", "open", "is not at its end"),
        ("splits", None, "--with-splits"),
        ("consistent", False, "without it"),
        ("tables", 5, "`tables` is missing or of another type"),
        ("end", 1774656000 * 10**9 + 1, "is not whole in the export"),
    ],
)
def test_a_manifest_that_does_not_fit(export, refused, field, value, words):
    change(export, lambda manifest: manifest.update({field: value}))
    refused(export, words)


def test_no_splits_file(export, refused):
    (export / "splits.ndjson").unlink()
    refused(export, "splits.ndjson is missing")


def test_no_data_file(export, refused):
    part(export).unlink()
    refused(export, "part-00000.parquet is missing")


def test_a_file_that_was_changed(export, refused):
    content = bytearray(part(export).read_bytes())
    content[100] ^= 1
    part(export).write_bytes(content)
    refused(export, "part-00000.parquet has another SHA-256")


def test_a_file_that_nobody_named(export, refused):
    part(export).with_name("part-00009.parquet").write_bytes(b"")
    refused(export, "part-00009.parquet is not in manifest.json")


def test_a_file_outside_of_the_export(export, refused):
    change(export, lambda manifest: manifest["tables"][0]["files"][0].update(path="../other.parquet"))
    refused(export, "lies outside of the export")


def test_a_file_that_is_no_parquet(export, refused):
    part(export).write_bytes(b"no")
    change(export, lambda manifest: manifest["tables"][0]["files"][0].update(described(part(export))))
    refused(export, "is not Parquet")


def test_a_column_of_another_type(export, refused):
    at = 3
    change_part(export, lambda table: table.set_column(at, "event_time", table["event_time"].cast(pyarrow.float64(), safe=False)))
    refused(export, "column `event_time` should be INT64 and is DOUBLE")


def test_a_column_that_is_not_there(export, refused):
    change_part(export, lambda table: table.drop_columns(["write_time"]))
    refused(export, "column `write_time` should be INT64 and is missing")


def test_a_null(export, refused):
    def edit(table):
        values = [None, *table["event_item_value"].to_pylist()[1:]]
        return table.set_column(6, "event_item_value", pyarrow.array(values, pyarrow.binary()))

    change_part(export, edit)
    refused(export, "column `event_item_value` has nulls")


def test_another_number_of_rows(export, refused):
    change(export, lambda manifest: manifest["tables"][0]["files"][0].update(rows=7))
    refused(export, "rows, and manifest.json says 7")


def test_another_number_of_splits(export, refused):
    change(export, lambda manifest: manifest["splits"].update(count=7))
    refused(export, "has 4 lines, and manifest.json says 7")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"layout": "columns"}, "the layout 'columns'"),
        (PACKED | {"partitions": [{"event_bucket": 0, "rows": 1, "bytes": 9}]}, "does not say how many chunks"),
        ({"layout": "packed", "codec": "lz4"}, "`chunk_bytes` or `codec` is missing; make a new export"),
        ({"layout": "packed", "chunk_bytes": 9}, "`chunk_bytes` or `codec` is missing; make a new export"),
        (PACKED | {"chunk_bytes": -1}, "`chunk_bytes` cannot be -1"),
        (PACKED | {"codec": "brotli"}, "unknown codec 'brotli'; known are none, lz4, zstd"),
        ({"strategy": "round_robin"}, "unknown strategy 'round_robin'"),
        ({"hash_version": 2}, "unknown hash_version 2"),
        ({"digest_key": "00"}, "`digest_key` is not 64 hexadecimal digits"),
        ({"digest": {"rows": 1, "bytes": 1, "checksum": "xyz"}}, "is not hexadecimal"),
        ({"targets": 0}, "`targets` cannot be 0"),
        ({"targets": True}, "`targets` is missing or of another type"),
        ({"boundaries": [5]}, "have 0 boundaries, not 1"),
        ({"strategy": "time_range", "targets": 3, "boundaries": [5, 5]}, "do not ascend"),
        ({"covered_until": 0}, "lies outside of its time bucket"),
        ({"event_bucket": 4}, "event bucket 4 of 4 cannot be"),
        ({"origin_table": "data_20260401"}, "needs the origin table data_20260401"),
        ({"buckets_per_id": 8}, "differ in `buckets_per_id`"),
        ({"time_series_id": "profile:1", "time_bucket": 4, "event_bucket": 1}, "both have partition 4/1"),
    ],
)
def test_a_split_that_does_not_fit(export, refused, fields, words):
    if fields.get("covered_until") is None and "time_bucket" in fields:
        fields = fields | {"covered_until": 1774656000 * 10**9 + 5 * 3600 * 10**9}
    change_split(export, **fields)
    refused(export, words)


def test_no_split_at_all_proves_nothing(export, run):
    (export / "splits.ndjson").write_text("")
    change(export, lambda manifest: manifest["splits"].update(count=0, **described(export / "splits.ndjson")))
    code, _, err = run(export)
    assert code == 2 and "nothing would be proven" in err
    code, out, _ = run(export, "--allow-empty")
    assert code == 0 and "EQUAL: 0 splits" in out


def test_splits_that_are_left_out_are_told_and_refused_on_request(export, run):
    time = {"what": "time", "name": "from noon on", "reason": "it is open"}
    change(export, lambda manifest: manifest.update(left_out=[time]))
    # What is no split is no reason.
    assert run(export, "--complete", "--threads", 1)[0] == 0
    splits = [{"what": "split", "name": f"data_1/7/0/{at}", "reason": "it is RETIRED"} for at in range(23)]
    change(export, lambda manifest: manifest.update(left_out=[time, *splits]))
    code, out, _ = run(export, "--threads", 1)
    assert code == 0 and "not in the export: split data_1/7/0/22: it is RETIRED" in out
    code, out, err = run(export, "--complete", "--threads", 1)
    assert (code, out) == (2, "")
    assert "leaves out 23 splits (data_1/7/0/0: it is RETIRED; " in err
    assert "data_1/7/0/19: it is RETIRED; and 3 more)" in err and "leave --complete away" in err


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ([], "name an EXPORT"),
        (["there", "--cassandra", "127.0.0.1"], "name an EXPORT"),
        (["--cassandra", "127.0.0.1"], "needs --keyspace"),
        (["there", "--master", "local[1]"], "--master belongs to --engine spark"),
        (["there", "--memory", "lots"], "no size"),
        (["there", "--memory", "1m"], "too little"),
        (["there", "--threads", "0"], "no number from 1"),
        (["there", "--spill", "/nowhere"], "there is no such directory"),
    ],
)
def test_what_cannot_be_typed(run, typed, words):
    code, _, err = run(*typed)
    assert code == 2 and words in err
