//! Places between the rows of a partition, in words that Cassandra takes. Pure.
//!
//! A scan may begin at any bytes: a key that says "behind all items of this event" is no text, and Cassandra takes only
//! text where ids are. Every row has text for ids, so the least text that is not below those bytes is the same place.
//! Behind a key lies the same key with a zero byte at the end of its last part: nothing fits between the two.

use model::RowKey;

/// A place between rows: those at it and above, or those below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) time: i64,
    pub(crate) event_id: String,
    pub(crate) item_key: String,
}

impl Edge {
    /// Before every row of a time: no real id is empty.
    pub(crate) const fn at(time: i64) -> Self {
        Self { time, event_id: String::new(), item_key: String::new() }
    }

    /// Before the row with this key, whether there is one or not.
    pub(crate) fn before(key: &RowKey) -> Self {
        Self::new(key.event_time.nanos(), key.event_id.as_bytes(), key.item_key.as_bytes())
    }

    /// Behind the row with this key, whether there is one or not.
    pub(crate) fn behind(key: &RowKey) -> Self {
        let behind = [key.item_key.as_bytes(), &[0]].concat();
        Self::new(key.event_time.nanos(), key.event_id.as_bytes(), &behind)
    }

    fn new(time: i64, event_id: &[u8], item_key: &[u8]) -> Self {
        let Some(id) = least_text(event_id) else {
            return Self::at(time.saturating_add(1));
        };
        // No event has the id that was given; those from the next one on count, with all their items.
        if id.as_bytes() != event_id {
            return Self { time, event_id: id, item_key: String::new() };
        }
        match least_text(item_key) {
            Some(item_key) => Self { time, event_id: id, item_key },
            None => Self { time, event_id: id + "\0", item_key: String::new() },
        }
    }
}

/// The least text that is not below these bytes; none where every text is below.
fn least_text(bytes: &[u8]) -> Option<String> {
    let mut chunks = bytes.utf8_chunks();
    let first = chunks.next();
    let mut text = first.as_ref().map_or(String::new(), |chunk| chunk.valid().to_owned());
    let rest = bytes.get(text.len()..).unwrap_or_default();
    if rest.is_empty() {
        return Some(text);
    }
    // A sign behind what is text; else a greater last sign of that.
    let mut next = least_char(|sign| sign.encode_utf8(&mut [0; 4]).as_bytes() >= rest);
    while next.is_none() {
        let last = text.pop()?;
        next = least_char(|sign| sign > last);
    }
    text.extend(next);
    Some(text)
}

/// The least sign that passes, where all above one that passes do too.
fn least_char(passes: impl Fn(char) -> bool) -> Option<char> {
    // Numbers between the two halves of signs are no sign; they stand for the first behind them.
    let sign = |number| char::from_u32(number).unwrap_or('\u{E000}');
    let (mut low, mut high) = (0, u32::from(char::MAX) + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if passes(sign(middle)) { high = middle } else { low = middle + 1 }
    }
    (low <= u32::from(char::MAX)).then(|| sign(low))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::{EventId, ItemKey, Timestamp};

    use super::*;

    /// Texts around every border of the encoding, and bytes that are none.
    fn samples() -> (Vec<String>, Vec<Vec<u8>>) {
        let signs = [
            '\0',
            'a',
            '\u{7F}',
            '\u{80}',
            '\u{7FF}',
            '\u{800}',
            '\u{D7FF}',
            '\u{E000}',
            '\u{FFFF}',
            '\u{10000}',
            '\u{10FFFF}',
        ];
        let mut texts = vec![String::new()];
        texts.extend(signs.iter().map(char::to_string));
        texts.extend(signs.iter().flat_map(|a| signs.iter().map(move |b| format!("{a}{b}"))));
        let mut bytes: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        let ends = [
            &[0xFF][..],
            &[0x80],
            &[0xC0],
            &[0xC2],
            &[0xED, 0xA0],
            &[0xF4, 0x90],
            &[0xF0, 0x80],
            &[0xE1, 0x80],
        ];
        bytes.extend(texts.iter().flat_map(|text| ends.iter().map(|end| [text.as_bytes(), end].concat())));
        (texts, bytes)
    }

    #[test]
    fn no_text_lies_between_bytes_and_the_least_text_above_them() {
        let (texts, bytes) = samples();
        for bytes in bytes {
            let least = least_text(&bytes);
            assert!(least.as_ref().is_none_or(|least| least.as_bytes() >= &*bytes), "{bytes:?} {least:?}");
            for text in &texts {
                let above = least.as_ref().is_some_and(|least| text >= least);
                assert_eq!(text.as_bytes() >= &*bytes, above, "{text:?} {bytes:?} {least:?}");
            }
        }
    }

    #[test]
    fn behind_all_items_of_an_event_the_next_event_begins() {
        let key = |id: &'static [u8], item: &'static [u8]| RowKey {
            event_time: Timestamp::from_nanos(7).unwrap(),
            event_id: EventId::from_stored(Bytes::from_static(id)),
            item_key: ItemKey::from_stored(Bytes::from_static(item)),
        };
        let check = |edge: Edge, time: i64, event_id: &str, item_key: &str| {
            let expect = Edge { time, event_id: event_id.to_owned(), item_key: item_key.to_owned() };
            assert_eq!(edge, expect);
        };
        check(Edge::before(&key(b"e", b"i")), 7, "e", "i");
        check(Edge::behind(&key(b"e", b"i")), 7, "e", "i\0");
        check(Edge::before(&key(b"e", b"\xFF")), 7, "e\0", "");
        check(Edge::behind(&key(b"e", b"\xFF")), 7, "e\0", "");
        check(Edge::before(&key(b"e", b"i\xFF")), 7, "e", "j");
        check(Edge::before(&key(b"e\xFF", b"i")), 7, "f", "");
        check(Edge::before(&key(b"\xFF", b"i")), 8, "", "");
    }
}
