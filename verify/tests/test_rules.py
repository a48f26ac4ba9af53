"""The published rules, held to the vectors of `docs/formats/splits.md` and of the repository."""

from pathlib import Path

import numpy
import pyarrow
import pytest
from braid_verify import placement
from braid_verify.check import Check, Digest
from braid_verify.digest import digest, total

ROOT = Path(__file__).parent.parent.parent
T = 1774681200000000000
KEY = bytes(range(32))
# event time, event id, item key, value, metadata, hash, event bucket of the target, first 16 bytes of the row's hash
VECTOR = [
    (T + 3, "event-0", "b", "00ff", "010001610000000131", 0xBF631BB2C31EFA7A, 33, "83a0a2ef1a38cc52f214f83dc413d825"),
    (T + 3, "event-0", "a", "", "", 0xBF631BB2C31EFA7A, 33, "3c6c4c04757b7ed4cb558a26e4adf2dc"),
    (T + 2, "event-7", "a", b"value".hex(), "", 0x4893628AF7E7253A, 32, "c22da9a3d555557acbb1abb987b145b0"),
    (T, "event-10", "ü", b"xxxxxxxxxx".hex(), "", 0x96CD52C4F529D2BA, 34, "1113a739bf3ed93a2a150e3b6918449d"),
]


def check(**other):
    fields = {
        "id": "data_20260328/7/2/hot", "attempt": 1, "origin_table": "data_20260328",
        "target_table": "wide_data_20260328_0", "time_series_id": "hot", "time_bucket": 7, "event_bucket": 2,
        "start_event_bucket": 32, "targets": 3, "layout": "rows", "chunk_bytes": None, "codec": None,
        "strategy": "event_bucket", "boundaries": (),
        "slice_start": 1774656000 * 10**9, "seconds_per_bucket": 3600, "buckets_per_id": 4, "split_stride": 16,
        "covered_until": 1774684800 * 10**9, "digest_key": KEY, "digest": Digest(), "partitions": (), "stragglers": 0,
    }  # fmt: skip
    return Check(**fields | other)


def columns(rows):
    times = numpy.array([row[0] for row in rows])
    texts = [[row[at].encode() for row in rows] for at in (1, 2)]
    values = [[bytes.fromhex(row[at]) for row in rows] for at in (3, 4)]
    return times, [pyarrow.array(of, pyarrow.large_binary()) for of in texts + values]


def test_the_hash_is_the_golden_one():
    lines = (ROOT / "crates/model/golden/event_hash.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" ", 1) for line in lines if not line.startswith("#")]
    assert len(pairs) > 5
    assert placement.hashes([text.encode() for _, text in pairs]).tolist() == [int(hex, 16) for hex, _ in pairs]


@pytest.mark.parametrize("row", VECTOR, ids=[f"{row[1]}-{row[2]}" for row in VECTOR])
def test_a_row_of_the_vector(row):
    times, parts = columns([row])
    assert f"{digest(KEY, times, parts).checksum:032x}" == row[7]
    hashed = placement.hashes([row[1].encode()])
    assert hashed.tolist() == [row[5]]
    assert [of.tolist() for of in placement.origins(check(), times, hashed)] == [[7], [2]]
    assert placement.targets(check(), times, hashed).tolist() == [row[6]]


def test_the_whole_vector():
    times, parts = columns(VECTOR)
    assert digest(KEY, times, parts).shown() == {"rows": 4, "bytes": 92, "checksum": "934e3fd1244879dcb3313c59998b554e"}
    by_time = check(strategy="time_range", boundaries=(T + 1, T + 3))
    hashed = placement.hashes([row[1].encode() for row in VECTOR])
    assert placement.targets(by_time, times, hashed).tolist() == [34, 34, 33, 32]


def test_a_slice_of_a_column_is_digested_as_a_slice():
    times, parts = columns(VECTOR)
    halves = [digest(KEY, times[of], [part[of] for part in parts]) for of in (slice(0, 1), slice(1, 4))]
    assert halves[0].plus(halves[1]) == digest(KEY, times, parts)


def test_attempts_have_buckets_of_their_own():
    assert [placement.first_target(check(attempt=a)) for a in (1, 2, 3)] == [32, 96, 160]


def test_sums_wrap_at_128_bits():
    most = b"\xff" * 16
    assert total(most + most) == 2**128 - 2
    assert total(most + (1).to_bytes(16, "big")) == 0
