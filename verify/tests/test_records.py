"""Records as a store keeps them, without a cluster: `docs/formats/splits.md` and `catalog.md`."""

import json

import pytest
from braid_verify.check import parse
from braid_verify.records import check_of, decode, shards_of, table_of
from braid_verify.refusal import Refused
from generate import make_split, record_of
from stored import slice_record, stored_record


@pytest.mark.parametrize("layout", ["rows", "packed"])
@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_record_says_what_an_export_says(number, layout):
    split = make_split(number, 50, 1)
    split.layout, split.chunk_bytes = layout, 1000
    stored = decode(stored_record(split, record_of(split)["check"]), "here")
    assert check_of(stored, slice_record(), "here") == parse(record_of(split), "here")


def test_only_completed_splits_claim_anything():
    split = make_split(0, 50, 1)
    stored = decode(stored_record(split, record_of(split)["check"]), "here")
    assert check_of(stored | {"state": "RETIRING"}, slice_record(), "here") is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda stored: stored["post_split_data"].update(layout="columns"), "the layout 'columns'"),
        (lambda stored: stored["post_split_data"].pop("event_bucket_partition_strategy"), "unknown strategy None"),
        (lambda stored: stored.pop("digest_key"), "`digest_key` is missing"),
        (lambda stored: stored["post_split_data"].pop("digest"), "`digest` is missing"),
    ],
)
def test_a_record_that_does_not_fit(change, words):
    split = make_split(0, 50, 1)
    stored = json.loads(stored_record(split, record_of(split)["check"]))
    change(stored)
    with pytest.raises(Refused, match=words):
        check_of(stored, slice_record(), "here")


@pytest.mark.parametrize("value", [b"{", b"[]", b'{"version":2}', b"{}"])
def test_another_version_is_refused(value):
    with pytest.raises(Refused):
        decode(value, "here")


def test_names_of_tables():
    assert table_of({"start": 1774656000 * 10**9}) == "data_20260328"
    assert table_of({"start": 1774656000 * 10**9 + 90 * 60 * 10**9}) == "data_20260328_0130"


def test_shards_are_bits():
    assert shards_of(json.dumps({"shards": 2**63 + 5}), "here") == [0, 2, 63]
    with pytest.raises(Refused):
        shards_of(b"{}", "here")
