//! Text inside keys: bytes of any length that keep their order when something follows them.
//!
//! A zero byte becomes `00 FF`; the end is `00 01`. So no text is a prefix of another one's encoding, and comparing
//! encodings compares the texts.

use bytes::Bytes;
use store::{Error, ErrorKind};

const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xFF;
const END: u8 = 0x01;
/// What follows `ESCAPE` in the first key behind all keys that share an encoded text.
pub(crate) const BEHIND_END: u8 = 0x02;

/// Appends `text` and its end.
pub(crate) fn encode(text: &[u8], key: &mut Vec<u8>) {
    if text.contains(&ESCAPE) {
        for byte in text {
            key.push(*byte);
            if *byte == ESCAPE {
                key.push(ESCAPED_ZERO);
            }
        }
    } else {
        key.extend_from_slice(text);
    }
    key.extend([ESCAPE, END]);
}

/// Reads the text that starts at `at` in `key`; gives it back with the place behind its end. Without a zero byte in
/// it the text is a slice of the key: nothing is copied.
pub(crate) fn decode(key: &Bytes, at: usize) -> Result<(Bytes, usize), Error> {
    let rest = key.get(at..).ok_or_else(cut_short)?;
    let first = rest.iter().position(|byte| *byte == ESCAPE).ok_or_else(cut_short)?;
    if rest.get(first + 1) == Some(&END) {
        return Ok((key.slice(at..at + first), at + first + 2));
    }
    let mut text = Vec::with_capacity(rest.len());
    let mut bytes = rest.iter().copied().enumerate();
    while let Some((index, byte)) = bytes.next() {
        if byte != ESCAPE {
            text.push(byte);
            continue;
        }
        match bytes.next() {
            Some((_, ESCAPED_ZERO)) => text.push(ESCAPE),
            Some((_, END)) => return Ok((text.into(), at + index + 2)),
            _ => return Err(cut_short()),
        }
    }
    Err(cut_short())
}

/// A key that does not decode.
pub(crate) fn cut_short() -> Error {
    Error::new(
        ErrorKind::Corrupt,
        "a stored key does not decode: it is cut short or of a newer format; restore the data directory",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    fn encoded(text: &[u8]) -> Vec<u8> {
        let mut key = Vec::new();
        encode(text, &mut key);
        key
    }

    proptest! {
        #[test]
        fn texts_read_back(before in any::<[u8; 3]>(), text in proptest::collection::vec(0_u8..4, 0..9), behind in any::<[u8; 2]>()) {
            let mut key = before.to_vec();
            encode(&text, &mut key);
            let end = key.len();
            key.extend(behind);
            let (decoded, next) = decode(&Bytes::from(key), 3).unwrap();
            prop_assert_eq!((decoded.as_ref(), next), (text.as_slice(), end));
        }

        #[test]
        fn order_is_kept(a in proptest::collection::vec(0_u8..3, 0..6), b in proptest::collection::vec(0_u8..3, 0..6),
                         c in any::<u8>(), d in any::<u8>()) {
            let (mut left, mut right) = (encoded(&a), encoded(&b));
            left.push(c);
            right.push(d);
            prop_assert_eq!(left.cmp(&right), a.cmp(&b).then(c.cmp(&d)));
        }

        #[test]
        fn damaged_keys_are_errors(bytes in proptest::collection::vec(any::<u8>(), 0..20), at in 0_usize..25) {
            let _whatever = decode(&Bytes::from(bytes), at);
        }
    }
}
