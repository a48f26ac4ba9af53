//! Kinds of events that packing is measured with: what a value holds decides how much it gains.
//!
//! All have ids that are random UUIDs and values made from their number, newest and oldest alike, and lie at the times of
//! [`workload`], a little beside them. Sizes are means: values of one kind differ in length, as in life.

use std::fmt::Write;

use anyhow::Result;
use bytes::{BufMut, Bytes, BytesMut};
use model::{EventId, ItemKey, Row, RowKey, Timestamp};

use crate::workload::{self, ITEM_KEY, mix};

/// Characters of a telemetry value that nobody can guess, per kind.
const LARGE_RANDOM: usize = 530;
const HUGE_RANDOM: usize = 1_900;
/// And of a text that comes again and again.
const LARGE_TEXT: usize = 372;
const HUGE_TEXT: usize = 1_900;
const NOISE_BYTES: usize = 1_024;
/// Six bits a character.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const STATES: [&str; 4] = ["driving", "idle", "loading", "parked"];
const DEVICES: u64 = 400;
/// Events that one request wrote, so that they have one write time.
const EVENTS_PER_WRITE: u64 = 50;
/// What a log line repeats.
const TEXTS: [&str; 2] = [
    "connection to the gateway was lost and is being opened again; readings are kept on the device until then, ",
    "the reading lies outside of the range that is set for this sensor and is passed on with a mark all the same, ",
];

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Those of [`workload::marked_rows`], which other questions have.
    Marked,
    /// Telemetry as JSON, 220 B.
    Small,
    /// The same with 900 B more, half of which nobody can guess: 1.1 KB.
    Large,
    /// The same with 3.8 KB more: 4 KB.
    Huge,
    /// 1 KiB of random bytes, which nothing makes smaller.
    Noise,
}

impl Kind {
    /// What a report calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Marked => "200 B",
            Self::Small => "220 B",
            Self::Large => "1.1 KB",
            Self::Huge => "4 KB",
            Self::Noise => "noise",
        }
    }

    /// Logical bytes of a row: time, id, item key, value; the mean.
    pub(crate) const fn mean_bytes(self) -> u64 {
        match self {
            Self::Marked => workload::ROW_LOGICAL_BYTES,
            Self::Small => 221,
            Self::Large => 1_141,
            Self::Huge => 4_039,
            Self::Noise => 1_075,
        }
    }

    /// The rows of events `first` and following, oldest first.
    pub(crate) fn rows(self, first: u64, count: u64) -> Result<Vec<Row>> {
        if self == Self::Marked {
            return workload::marked_rows(first, count);
        }
        let item_key = ItemKey::new(ITEM_KEY)?;
        let mut buffer = BytesMut::with_capacity(usize::try_from(count * self.mean_bytes())?);
        let row = |event: u64| -> Result<Row> {
            put_id(event, &mut buffer);
            let event_id = EventId::from_stored(buffer.split().freeze());
            self.put_value(event, &mut buffer)?;
            let event_time = Timestamp::from_nanos(time(event)?)?;
            let key = RowKey { event_time, event_id, item_key: item_key.clone() };
            let write_time = time(event / EVENTS_PER_WRITE * EVENTS_PER_WRITE)? / 1_000;
            Ok(Row { key, write_time, value: buffer.split().freeze(), metadata: Bytes::new() })
        };
        (first..first + count).map(row).collect()
    }

    fn put_value(self, event: u64, to: &mut BytesMut) -> Result<()> {
        match self {
            Self::Marked | Self::Small => put_telemetry(event, to)?,
            Self::Large => put_log(event, (LARGE_RANDOM, LARGE_TEXT), to)?,
            Self::Huge => put_log(event, (HUGE_RANDOM, HUGE_TEXT), to)?,
            Self::Noise => put_random(event, NOISE_BYTES, to, |byte| byte),
        }
        Ok(())
    }
}

/// Less than a microsecond behind the time that the workload has for it, so that no two come in another order.
fn time(event: u64) -> Result<i64> {
    Ok(workload::time(event)?.nanos() + i64::try_from(mix(event ^ 1) % 1_000)?)
}

/// The text of a random UUID.
fn put_id(event: u64, to: &mut BytesMut) {
    let id = u128::from(mix(event)) << 64 | u128::from(mix(!event));
    for (at, byte) in id.to_be_bytes().into_iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            to.put_u8(b'-');
        }
        to.put_slice(&workload::hex_of(byte));
    }
}

/// Readings of one vehicle among some hundred.
fn put_telemetry(event: u64, to: &mut BytesMut) -> Result<()> {
    let mut random = mix(event.wrapping_mul(3));
    let mut below = |bound: u64| {
        let drawn = random % bound;
        random = mix(random);
        drawn
    };
    let (device, state) = (below(DEVICES), usize::try_from(below(4))?);
    let state = STATES.get(state).copied().unwrap_or_default();
    let (latitude, longitude) = (52_000 + device * 7 + below(100), 4_800 + device * 11 + below(100));
    write!(
        to,
        "{{\"site\":\"eu-north-1\",\"schema\":\"telemetry/3\",\"device\":\"truck-{device:04}\",\"lat\":{}.{:03},\"lon\":{}.{:03},\
         \"speed_kmh\":{}.{},\"fuel_pct\":{},\"state\":\"{state}\",\"firmware\":\"2.14.3\",\"ok\":true}}",
        latitude / 1_000,
        latitude % 1_000,
        longitude / 1_000,
        longitude % 1_000,
        below(100),
        below(10),
        below(101),
    )?;
    Ok(())
}

/// Telemetry, a trace that nobody can guess, and a message that comes again and again.
fn put_log(event: u64, (random, text): (usize, usize), to: &mut BytesMut) -> Result<()> {
    put_telemetry(event, to)?;
    to.put_slice(b",\"trace\":\"");
    put_random(event, random, to, |byte| ALPHABET.get(usize::from(byte & 63)).copied().unwrap_or_default());
    to.put_slice(b"\",\"message\":\"");
    let [first, second] = TEXTS.map(|text| text.bytes().cycle());
    let message: Vec<u8> =
        if event.is_multiple_of(3) { first.take(text).collect() } else { second.take(text).collect() };
    to.put_slice(&message);
    Ok(())
}

fn put_random(event: u64, bytes: usize, to: &mut BytesMut, as_byte: impl Fn(u8) -> u8) {
    let words = (0_u64..).map(|word| mix(event.wrapping_mul(1 << 12).wrapping_add(word)).to_be_bytes());
    words.flatten().take(bytes).for_each(|byte| to.put_u8(as_byte(byte)));
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 4] = [Kind::Small, Kind::Large, Kind::Huge, Kind::Noise];

    #[test]
    fn rows_are_as_large_as_they_say_and_in_order_whatever_they_are_asked_with() {
        for kind in KINDS {
            let rows = kind.rows(100, 400).unwrap();
            let bytes: u64 = rows.iter().map(Row::logical_bytes).sum();
            let (mean, said) = (bytes / 400, kind.mean_bytes());
            assert!(mean.abs_diff(said) * 100 <= said, "{kind:?} has {mean}");
            assert!(rows.windows(2).all(|pair| pair[0].key < pair[1].key), "{kind:?}");
            assert_eq!(rows[7..9], kind.rows(107, 2).unwrap());
        }
    }

    #[test]
    fn an_event_lies_between_two_times_of_the_workload() {
        for event in [0, 1, 7_654_321] {
            let at = time(event).unwrap();
            assert!(workload::time(event).unwrap().nanos() <= at);
            assert!(at < workload::time(event + 1).unwrap().nanos());
        }
    }

    #[test]
    fn ids_look_like_uuids_and_differ() {
        let ids: Vec<String> = Kind::Small
            .rows(0, 100)
            .unwrap()
            .into_iter()
            .map(|row| String::from_utf8(row.key.event_id.as_bytes().to_vec()).unwrap())
            .collect();
        for id in &ids {
            assert_eq!(
                (id.len(), id.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>()),
                (36, vec![8, 13, 18, 23])
            );
        }
        let different: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
    }
}
