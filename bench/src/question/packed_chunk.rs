//! How fast are rows packed into chunks and unpacked again, and how much smaller do they get?
//!
//! Memory only, one thread: no store, no server. Beside it is what a scan does without chunks: rows are copied into one buffer, as
//! a page has them, and looked at there. Time to pack and unpack is CPU time, in nanoseconds for a logical byte, since this is
//! measured on machines that do other things too. What is wanted is what the prototype of packed targets had.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use chunk::{CHUNK_BYTES, Codec, Header, Packer, Unpacker};
use model::{Row, RowView, Rows, RowsBuilder};

use super::Question;
use crate::harness::{Answer, Goal, Runs, Setting, Side, Unit, interleave, measure};
use crate::kind::Kind;
use crate::progress;

pub(crate) const QUESTION: Question = Question {
    name: "packed-chunk",
    asks: "packing rows into chunks and unpacking them, by codec and kind of event, against copying the rows",
    answer,
};

const BYTES: u64 = 64_000_000;
const BYTES_QUICK: u64 = 8_000_000;
const KINDS: [Kind; 4] = [Kind::Small, Kind::Large, Kind::Huge, Kind::Noise];
const CODECS: [(Codec, &str); 3] = [(Codec::Zstd, "zstd"), (Codec::Lz4, "lz4"), (Codec::None, "none")];
const ROWS: &str = "rows";
const PACK: &str = "pack";
const UNPACK: &str = "unpack";

/// At most so many nanoseconds of CPU for a logical byte.
struct Wanted {
    kind: Kind,
    codec: &'static str,
    pack_ns: f64,
    unpack_ns: f64,
    /// Stored bytes for a logical byte.
    size: f64,
}

/// 450 MB/s and 1.1 GB/s with Zstandard, 3 GB/s out of LZ4.
const WANTED: [Wanted; 4] = [
    Wanted { kind: Kind::Small, codec: "zstd", pack_ns: 1.0 / 0.45, unpack_ns: 1.0 / 1.1, size: 0.20 },
    Wanted { kind: Kind::Small, codec: "lz4", pack_ns: 1.0 / 0.45, unpack_ns: 1.0 / 3.0, size: 0.30 },
    Wanted { kind: Kind::Large, codec: "zstd", pack_ns: 1.0 / 0.45, unpack_ns: 1.0 / 1.1, size: 0.45 },
    Wanted { kind: Kind::Large, codec: "lz4", pack_ns: 1.0 / 0.45, unpack_ns: 1.0 / 3.0, size: 0.60 },
];

fn side(what: &str, how: &str, kind: Kind) -> &'static str {
    format!("{what}, {how}, {}", kind.name()).leak()
}

fn answer(setting: &Setting) -> Result<Answer> {
    let (mut runs, mut goals, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for kind in KINDS {
        let source = Source::new(kind, setting.size(BYTES, BYTES_QUICK))?;
        let sides = || source.sides();
        for mut side in sides() {
            (side.run)().with_context(|| format!("warming up, side `{}`", side.name))?;
        }
        let of_kind = interleave(setting.rounds, sides(), progress::run(QUESTION.name, Unit::Bytes))?;
        goals.extend(source.goals(&of_kind));
        notes.push(source.note());
        runs.extend(of_kind);
    }
    let answer = Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?;
    Ok(notes.into_iter().fold(answer, Answer::note).note(
        "rows: copied into one buffer, or looked at there; unpack: header and body checked, all columns, every row looked at",
    ))
}

/// Headers and bodies, as they are stored.
type Chunks = Vec<(Bytes, Bytes)>;

/// Rows of a kind, as they are and packed by each codec.
struct Source {
    kind: Kind,
    /// Newest first.
    rows: Vec<Row>,
    page: Rows,
    packed: Vec<(&'static str, Codec, Chunks)>,
    bytes: u64,
}

impl Source {
    fn new(kind: Kind, bytes: u64) -> Result<Self> {
        let mut rows = kind.rows(0, bytes / kind.mean_bytes())?;
        rows.reverse();
        let (page, bytes) = (rows.iter().collect(), rows.iter().map(Row::logical_bytes).sum());
        let packed = CODECS.map(|(codec, name)| Ok((name, codec, pack(&rows, codec)?)));
        Ok(Self { kind, rows, page, packed: packed.into_iter().collect::<Result<_>>()?, bytes })
    }

    fn sides(&self) -> Vec<Side<'_>> {
        let kind = self.kind;
        let mut sides = vec![
            Side::new(side(PACK, ROWS, kind), || measure(|| Ok(self.copied()))),
            Side::new(side(UNPACK, ROWS, kind), || measure(|| Ok(self.page.iter().map(look_at).sum()))),
        ];
        for (name, codec, packed) in &self.packed {
            sides.push(Side::new(side(PACK, name, kind), || {
                measure(|| {
                    black_box(pack(&self.rows, *codec)?);
                    Ok(self.bytes)
                })
            }));
            sides.push(Side::new(side(UNPACK, name, kind), || {
                measure(|| {
                    let found = unpack(packed)?;
                    ensure!(found == self.bytes, "{found} of {} bytes came back", self.bytes);
                    Ok(found)
                })
            }));
        }
        sides
    }

    fn copied(&self) -> u64 {
        let mut builder = RowsBuilder::default();
        self.rows.iter().for_each(|row| builder.push(row.view()));
        let bytes = builder.logical_bytes();
        black_box(builder.finish());
        bytes
    }

    /// Stored bytes for a logical byte.
    fn size(&self, name: &str) -> f64 {
        let packed = self.packed.iter().filter(|(codec, ..)| *codec == name).flat_map(|(.., packed)| packed);
        packed.map(|(header, body)| header.len() + body.len()).sum::<usize>() as f64 / self.bytes as f64
    }

    fn goals(&self, runs: &[Runs]) -> Vec<Goal> {
        let nanos = |side: &str| -> Vec<f64> {
            let of_side = runs.iter().filter(|runs| runs.side == side);
            of_side.flat_map(Runs::cpu_per_unit).map(|seconds| seconds * 1e9).collect()
        };
        let mut goals = Vec::new();
        for (name, ..) in &self.packed {
            let wanted = WANTED.iter().find(|wanted| (wanted.kind, wanted.codec) == (self.kind, *name));
            let times = [
                (PACK, wanted.map(|wanted| wanted.pack_ns)),
                (UNPACK, wanted.map(|wanted| wanted.unpack_ns)),
            ];
            for (what, at_most) in times {
                let side = side(what, name, self.kind);
                goals.push(judged(format!("{side}, CPU ns/B"), nanos(side), at_most));
            }
            let size = format!("stored / logical bytes, {name}, {}", self.kind.name());
            goals.push(judged(size, vec![self.size(name)], wanted.map(|wanted| wanted.size)));
        }
        goals
    }

    fn note(&self) -> String {
        let chunks = self.packed.first().map_or(0, |(.., packed)| packed.len());
        format!(
            "{}: {} events, {} MB, {chunks} chunks",
            self.kind.name(),
            self.rows.len(),
            self.bytes / 1_000_000
        )
    }
}

fn judged(what: String, values: Vec<f64>, at_most: Option<f64>) -> Goal {
    match at_most {
        Some(at_most) => Goal::Figures { what: what.leak(), values, at_most },
        None => Goal::Shown { what, values },
    }
}

/// Headers and bodies, as they are stored.
fn pack(rows: &[Row], codec: Codec) -> Result<Vec<(Bytes, Bytes)>> {
    let (mut packer, mut packed) = (Packer::new(codec, CHUNK_BYTES), Vec::new());
    for row in rows {
        packed.extend(packer.push(row.view())?);
    }
    packed.extend(packer.finish()?);
    Ok(packed.into_iter().map(|packed| (packed.header.encode(), packed.body)).collect())
}

fn unpack(stored: &[(Bytes, Bytes)]) -> Result<u64> {
    let unpacker = Unpacker::default();
    let mut bytes = 0;
    for (header, body) in stored {
        let chunk = unpacker.unpack(Header::decode(header)?, body)?;
        bytes += chunk.rows()?.iter(0..usize::MAX).map(look_at).sum::<u64>();
    }
    Ok(bytes)
}

/// Its size, so that every part is found.
fn look_at(row: RowView<'_>) -> u64 {
    black_box(row).logical_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_and_every_goal_has_its_side() {
        for kind in KINDS {
            let source = Source::new(kind, 200_000).unwrap();
            for (_, _, packed) in &source.packed {
                assert_eq!(unpack(packed).unwrap(), source.bytes);
            }
            assert_eq!(source.copied(), source.bytes);
            let runs = interleave(1, source.sides(), |_, _, _| {}).unwrap();
            assert_eq!(runs.len(), 2 + 2 * CODECS.len());
            Answer::new("packed-chunk", Unit::Bytes, runs.clone(), &source.goals(&runs)).unwrap();
        }
    }
}
