//! Bytes that somebody spoiled: refused, whatever they say; never a panic, never more memory than allowed.

use bytes::Bytes;
use chunk::{Codec, Error, Header, Limits};
use model::Row;
use xxhash_rust::xxh3::xxh3_64;

use crate::made::{pack, read, series};

const CODECS: [Codec; 3] = [Codec::None, Codec::Lz4, Codec::Zstd];
const MUTATIONS: usize = 20_000;
const LIMITS: Limits = Limits { raw_bytes: 16 << 10, rows: 200 };

fn stored(codec: Codec) -> Row {
    pack(&series(30), codec, u64::MAX)[0].to_row()
}

/// Puts the checksums right again, as somebody does who means harm.
fn sealed(mut header: Vec<u8>, body: &[u8]) -> Bytes {
    if let Some(at) = header.len().checked_sub(16) {
        header[at..at + 8].copy_from_slice(&xxh3_64(body).to_be_bytes());
        let sum = xxh3_64(&header[..at + 8]);
        header[at + 8..].copy_from_slice(&sum.to_be_bytes());
    }
    header.into()
}

#[test]
fn every_prefix_and_every_flipped_byte_is_refused() {
    for codec in CODECS {
        let good = stored(codec);
        assert!(read(&good, LIMITS).is_ok());
        for of_header in [true, false] {
            let part = if of_header { &good.metadata } else { &good.value };
            let spoil = |bytes: Vec<u8>| {
                let bytes = Bytes::from(bytes);
                let spoiled = if of_header {
                    Row { metadata: bytes, ..good.clone() }
                } else {
                    Row { value: bytes, ..good.clone() }
                };
                assert!(read(&spoiled, LIMITS).is_err(), "{codec:?} {of_header}");
            };
            for at in 0..part.len() {
                spoil(part[..at].to_vec());
                let mut flipped = part.to_vec();
                flipped[at] ^= 1 << (at % 8);
                spoil(flipped);
            }
            spoil([part, &b"x"[..]].concat());
        }
    }
}

#[test]
fn what_is_unknown_is_named() {
    let good = stored(Codec::Lz4);
    for (at, what) in [(0, "mark"), (1, "version"), (2, "codec"), (3, "flags")] {
        let mut header = good.metadata.to_vec();
        header[at] = 9;
        let found = Header::decode(&sealed(header, &good.value));
        assert_eq!(found, Err(Error::Unknown { what, found: 9 }));
    }
}

#[test]
fn a_header_that_promises_much_is_refused_before_there_is_room() {
    for codec in CODECS {
        let good = stored(codec);
        // rows, events, raw and stored bytes, all at most
        for (at, bytes) in [(4, 4), (8, 4), (20, 4), (24, 4)] {
            let mut header = good.metadata.to_vec();
            header[at..at + bytes].fill(0xff);
            let spoiled = Row { metadata: sealed(header, &good.value), ..good.clone() };
            assert!(read(&spoiled, Limits::default()).is_err(), "{codec:?} {at}");
        }
        let header = Header { raw_bytes: LIMITS.raw_bytes + 1, ..Header::decode(&good.metadata).unwrap() };
        let spoiled = Row { metadata: header.encode(), ..good.clone() };
        let expect = matches!(codec, Codec::None);
        let error = read(&spoiled, LIMITS).unwrap_err();
        assert_eq!(matches!(error, Error::TooLarge { what: "bytes", .. }), !expect, "{error}");
        let header = Header { rows: LIMITS.rows + 1, ..Header::decode(&good.metadata).unwrap() };
        let spoiled = Row { metadata: header.encode(), ..good };
        assert!(matches!(read(&spoiled, LIMITS), Err(Error::TooLarge { what: "rows", .. })));
    }
}

/// Two frames, or a frame and something behind it, decompress to the right bytes and are still not what was written.
#[test]
fn one_frame_is_the_whole_body() {
    let (good, plain) = (stored(Codec::Zstd), stored(Codec::None).value);
    let frame = |raw: &[u8]| zstd::bulk::compress(raw, 1).unwrap();
    let skippable = b"\x50\x2a\x4d\x18\x01\x00\x00\x00x".to_vec();
    let reads = |body: Vec<u8>| {
        let length = u32::try_from(body.len()).unwrap();
        let header = Header { stored_bytes: length, ..Header::decode(&good.metadata).unwrap() };
        let metadata = sealed(header.encode().to_vec(), &body);
        read(&Row { metadata, value: body.into(), ..good.clone() }, LIMITS).map(drop)
    };
    assert_eq!(reads(frame(&plain)), Ok(()));
    let (front, back) = plain.split_at(100);
    let bodies = [
        [frame(front), frame(back)].concat(),
        [frame(&plain), frame(&[])].concat(),
        [frame(&plain), skippable.clone()].concat(),
        [skippable, frame(&plain)].concat(),
        [frame(&plain), vec![0]].concat(),
    ];
    for (at, body) in bodies.into_iter().enumerate() {
        assert!(matches!(reads(body), Err(Error::Malformed(_))), "{at}");
    }
}

#[test]
fn spoiled_chunks_with_right_checksums_stay_within_limits() {
    let mut random = fastrand::Rng::with_seed(13);
    let goods = CODECS.map(stored);
    let mut passed = 0;
    for round in 0..MUTATIONS {
        let good = &goods[round % goods.len()];
        let (mut header, mut body) = (good.metadata.to_vec(), good.value.to_vec());
        for _ in 0..random.usize(1..4) {
            let part = if random.u8(..) < 64 { &mut header } else { &mut body };
            // Lengths and counts lie in the front, so that is where most is to be found.
            let most = if random.bool() { part.len() } else { part.len().min(64) };
            let at = random.usize(0..most.max(1)).min(part.len().saturating_sub(1));
            match random.u8(0..4) {
                0 => part[at] = random.u8(..),
                1 => part[at] ^= 1 << random.u8(0..8),
                2 => drop(part.remove(at)),
                _ => part.insert(at, random.choice([0, 1, 0x7f, 0x80, 0xff]).unwrap_or_default()),
            }
        }
        // The stored length is put right in half of the cases, so that more comes past it.
        if random.bool() && header.len() > 44 {
            let length = u32::try_from(body.len()).unwrap().to_be_bytes();
            header[24..28].copy_from_slice(&length);
            if header[2] == 0 {
                header[20..24].copy_from_slice(&length);
            }
        }
        let spoiled = Row { metadata: sealed(header, &body), value: body.into(), ..good.clone() };
        if let Ok((chunk, rows)) = read(&spoiled, LIMITS) {
            passed += 1;
            assert!(rows.len() <= LIMITS.rows as usize && chunk.header().raw_bytes <= LIMITS.raw_bytes);
            let bytes: u64 = rows.iter().map(Row::logical_bytes).sum();
            assert_eq!(bytes, chunk.header().logical_bytes);
            assert!(rows.windows(2).all(|pair| pair[0].key > pair[1].key));
        }
    }
    // Other values and write times are well formed; most of the rest is not.
    assert!(passed > MUTATIONS / 100 && passed < MUTATIONS, "{passed}");
}
