"""Chunks of the repository's golden vector, decoded with nothing but the published format."""

from pathlib import Path

import pytest
from braid_verify.chunk import Row, decode
from braid_verify.refusal import Refused

T = 1774681200000000000
UUID = b"0191a2b3-c4d5-76e7-8899-aabbccddeeff"
WRITTEN = 1774681200000000
ROWS = [
    Row(T + 300, UUID, b"b", b"\x00\xff", bytes.fromhex("010001610000000131"), WRITTEN + 10),
    Row(T + 300, UUID, b"a", b"", b"", WRITTEN + 10),
    Row(T + 2, b"event-7", b"a", b"value", b"", WRITTEN + 9),
    Row(T, "ü".encode(), b"a", b"abcdefgh" * 40, b"", WRITTEN + 200),
]


def vector():
    path = Path(__file__).parent.parent.parent / "crates/chunk/golden/vector.txt"
    lines = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {codec: (bytes.fromhex(header), bytes.fromhex(body)) for codec, header, body in lines}


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def test_the_golden_chunk(codec):
    assert decode(*vector()[codec]) == ROWS


@pytest.mark.parametrize("codec", ["none", "lz4", "zstd"])
def test_every_prefix_and_flipped_byte_is_refused(codec):
    good = vector()[codec]
    for part in (0, 1):
        for at in range(len(good[part])):
            flipped = bytearray(good[part])
            flipped[at] ^= 1 << at % 8
            for spoiled in (good[part][:at], bytes(flipped)):
                with pytest.raises(Refused):
                    decode(*(spoiled, good[1]) if part == 0 else (good[0], spoiled))
