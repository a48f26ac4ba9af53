//! Bytes that were written once and stay readable: `golden/vector.txt`, spelled out in `docs/formats/chunk.md`.

use bytes::Bytes;
use chunk::{Codec, Limits};
use model::Row;

use crate::made::{pack, read, row};

pub(crate) const T: i64 = 1_774_681_200_000_000_000;

pub(crate) fn rows() -> Vec<Row> {
    let uuid = "0191a2b3-c4d5-76e7-8899-aabbccddeeff";
    let long = b"abcdefgh".repeat(40);
    vec![
        row(T + 300, uuid, "b", 1_774_681_200_000_010, (b"\x00\xff", b"\x01\x00\x01a\x00\x00\x00\x011")),
        row(T + 300, uuid, "a", 1_774_681_200_000_010, (b"", b"")),
        row(T + 2, "event-7", "a", 1_774_681_200_000_009, (b"value", b"")),
        row(T, "\u{fc}", "a", 1_774_681_200_000_200, (&long, b"")),
    ]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Bytes {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect()
}

#[test]
fn old_chunks_stay_readable() {
    let golden = include_str!("../../golden/vector.txt");
    let mut read_back = 0;
    for line in golden.lines().filter(|line| !line.starts_with('#')) {
        let [codec, header, body] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let stored = Row { metadata: bytes(header), value: bytes(body), ..rows()[0].clone() };
        let (chunk, found) = read(&stored, Limits::default()).unwrap();
        assert_eq!(found, rows(), "{codec}");
        assert_eq!(format!("{:?}", chunk.header().codec).to_lowercase(), codec);
        read_back += 1;
    }
    assert_eq!(read_back, 3);
}

/// What a codec makes of a body may change with its version; the body itself may not.
#[test]
fn chunks_are_written_as_they_were() {
    let golden = include_str!("../../golden/vector.txt");
    let stored = pack(&rows(), Codec::None, u64::MAX)[0].to_row();
    let line = format!("none {} {}", hex(&stored.metadata), hex(&stored.value));
    let written = golden.lines().find(|line| line.starts_with("none "));
    let fresh = [Codec::Lz4, Codec::Zstd].map(|codec| pack(&rows(), codec, u64::MAX)[0].to_row());
    let fresh = fresh.map(|row| format!("{} {}", hex(&row.metadata), hex(&row.value)));
    assert_eq!(written, Some(line.as_str()), "with lz4: {}\nwith zstd: {}", fresh[0], fresh[1]);
}
