//! Bytes that somebody spoiled: refused, whatever they say; never a panic, never more memory than allowed.
//!
//! What is spoiled by chance follows a seed: `CHUNK_SEEDS=n` or `CHUNK_SEEDS=from..to` takes others, `CHUNK_ROUNDS=n` more of each.

use std::ops::Range;

use bytes::Bytes;
use chunk::{Chunk, Codec, Error, Header, Limits};
use model::Row;
use xxhash_rust::xxh3::xxh3_64;

use crate::crafted::{CODECS, COLUMNS, Crafted, stored_as};
use crate::made::{pack, read, series};

/// What is played where nobody says otherwise.
const SEEDS: Range<u64> = 13..14;
const ROUNDS: usize = 20_000;
const LIMITS: Limits = Limits { raw_bytes: 16 << 10, rows: 200 };

fn stored(codec: Codec) -> Row {
    pack(&series(30), codec, u64::MAX)[0].to_row()
}

/// Puts the checksums right again, as somebody does who means harm.
pub(crate) fn sealed(mut header: Vec<u8>, body: &[u8]) -> Bytes {
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

fn number(name: &str, text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"))
}

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("CHUNK_SEEDS") else { return SEEDS };
    match text.split_once("..") {
        Some((from, to)) => number("CHUNK_SEEDS", from)..number("CHUNK_SEEDS", to),
        None => 0..number("CHUNK_SEEDS", &text),
    }
}

/// Says how to play a round again when that panics.
struct Playing {
    seed: u64,
    round: usize,
}

impl Drop for Playing {
    #[expect(clippy::print_stderr, reason = "a failure in the decoder has no other way to say its seed")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, round } = *self;
            eprintln!(
                "seed {seed}, round {round}; again: CHUNK_SEEDS={seed}..{} CHUNK_ROUNDS={}",
                seed + 1,
                round + 1
            );
        }
    }
}

/// Plays all rounds of all seeds; how many there are.
fn play(mut round_of: impl FnMut(&mut fastrand::Rng, usize)) -> usize {
    let rounds = std::env::var("CHUNK_ROUNDS")
        .map_or(ROUNDS, |text| usize::try_from(number("CHUNK_ROUNDS", &text)).unwrap());
    let mut played = 0;
    for seed in seeds() {
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..rounds {
            let _playing = Playing { seed, round };
            round_of(&mut random, round);
            played += 1;
        }
    }
    played
}

/// Changes one or a few bytes of a part, or its length.
fn spoil(random: &mut fastrand::Rng, part: &mut Vec<u8>, most: usize) {
    let at = random.usize(0..most.max(1)).min(part.len().saturating_sub(1));
    let byte = random.choice([0, 1, 0x7f, 0x80, 0xff]).unwrap_or_default();
    match (random.u8(0..4), part.get_mut(at)) {
        (0, Some(spoiled)) => *spoiled = random.u8(..),
        (1, Some(spoiled)) => *spoiled ^= 1 << random.u8(0..8),
        (2, Some(_)) => drop(part.remove(at)),
        _ => part.insert(at, byte),
    }
}

/// What is read of a spoiled chunk holds together: within limits, in order, as its header says.
fn holds_together(chunk: &Chunk, rows: &[Row]) {
    assert!(rows.len() <= LIMITS.rows as usize && chunk.header().raw_bytes <= LIMITS.raw_bytes);
    let bytes: u64 = rows.iter().map(Row::logical_bytes).sum();
    assert_eq!(bytes, chunk.header().logical_bytes);
    assert!(rows.windows(2).all(|pair| pair[0].key > pair[1].key));
}

#[test]
fn spoiled_chunks_with_right_checksums_stay_within_limits() {
    let goods = CODECS.map(stored);
    let mut passed = 0;
    let played = play(|random, round| {
        let good = &goods[round % goods.len()];
        let (mut header, mut body) = (good.metadata.to_vec(), good.value.to_vec());
        for _ in 0..random.usize(1..4) {
            let part = if random.u8(..) < 64 { &mut header } else { &mut body };
            // Lengths and counts lie in the front, so that is where most is to be found.
            let most = if random.bool() { part.len() } else { part.len().min(64) };
            spoil(random, part, most);
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
            holds_together(&chunk, &rows);
        }
    });
    // Other values and write times are well formed; most of the rest is not.
    assert!(played < ROUNDS || passed > played / 100 && passed < played, "{passed} of {played}");
}

/// One column is spoiled, and everything around it is put right: only what reads the column can see it. What it still reads is
/// the one way to write these rows.
#[test]
fn a_spoiled_column_is_refused_or_is_what_its_rows_are_written_as() {
    let good = Crafted::of(&series(30));
    let (mut refused, mut passed) = ([0; COLUMNS], 0);
    let played = play(|random, round| {
        let (column, mut spoiled) = (random.usize(0..COLUMNS), good.clone());
        for _ in 0..random.usize(1..3) {
            let most = spoiled.columns[column].len();
            spoil(random, &mut spoiled.columns[column], most);
        }
        match read(&spoiled.stored(CODECS[round % CODECS.len()]), LIMITS) {
            Ok((chunk, rows)) => {
                passed += 1;
                holds_together(&chunk, &rows);
                assert!(Crafted::of(&rows).raw() == spoiled.raw(), "column {column} of {rows:?}");
            }
            Err(_) => refused[column] += 1,
        }
    });
    assert!(played < ROUNDS || refused.iter().all(|refused| *refused > played / 100), "{refused:?}");
    assert!(played < ROUNDS || passed > played / 100, "{passed} of {played}");
}

/// As above, and a length of the body is not that of its column.
#[test]
fn columns_that_take_from_each_other_are_refused() {
    let good = Crafted::of(&series(30));
    let raw = good.raw();
    play(|random, round| {
        let (from, to) = (random.usize(0..COLUMNS), random.usize(0..COLUMNS));
        let most = good.columns[from].len();
        let moved = u32::try_from(random.usize(1..=most.min(9))).unwrap();
        let mut spoiled = raw.clone();
        let mut change = |column: usize, by: fn(u32, u32) -> u32| {
            let length = &mut spoiled[4 * column..4 * column + 4];
            let told = u32::from_be_bytes(<[u8; 4]>::try_from(&*length).unwrap());
            length.copy_from_slice(&by(told, moved).to_be_bytes());
        };
        change(from, u32::wrapping_sub);
        if random.bool() {
            change(to, u32::wrapping_add);
        }
        let found = read(&stored_as(&good.header, CODECS[round % CODECS.len()], &spoiled), LIMITS);
        assert_eq!(found.is_ok(), spoiled == raw, "{moved} bytes of column {from} to {to}");
    });
}
