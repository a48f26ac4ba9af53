//! Text inside keys: bytes of any length that keep their order when something follows them.
//!
//! A zero byte becomes `00 FF`; the end is `00 01`. So no text is a prefix of another one's encoding, and comparing
//! encodings compares the texts.

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

/// Reads the text at the start of `key`; gives it back with what follows its end, none if it has no end. Without a zero
/// byte in it the text lies in the key as it is; otherwise it is put together in `unescaped`.
#[inline]
pub(crate) fn decode<'a>(key: &'a [u8], unescaped: &'a mut Vec<u8>) -> Option<(&'a [u8], &'a [u8])> {
    let (text, rest) = key.split_at_checked(first_zero(key)?)?;
    match rest.strip_prefix(&[ESCAPE, END]) {
        Some(behind) => Some((text, behind)),
        None => unescape(key, unescaped),
    }
}

fn unescape<'a>(key: &'a [u8], unescaped: &'a mut Vec<u8>) -> Option<(&'a [u8], &'a [u8])> {
    unescaped.clear();
    let mut bytes = key.iter().copied().enumerate();
    while let Some((_, byte)) = bytes.next() {
        if byte != ESCAPE {
            unescaped.push(byte);
            continue;
        }
        match bytes.next()? {
            (_, ESCAPED_ZERO) => unescaped.push(ESCAPE),
            (at, END) => return Some((unescaped, key.get(at + 1..)?)),
            _ => return None,
        }
    }
    None
}

/// Where the first zero byte is. Eight bytes at a time, because every row that is read asks twice and ids are short: a
/// call of a general search costs more than the search.
#[inline]
fn first_zero(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = ONES << 7;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        // The high bit of a byte is set here only if that byte, or one below it, is zero.
        let eight = u64::from_le_bytes(*chunk);
        let zeros = eight.wrapping_sub(ONES) & !eight & HIGH_BITS;
        if zeros != 0 {
            return Some(index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|byte| *byte == 0).map(|at| chunks.len() * 8 + at)
}

/// A record that does not decode.
pub(crate) fn cut_short() -> Error {
    Error::new(
        ErrorKind::Corrupt,
        "a stored record does not decode: it is cut short or of a newer format; restore the data directory",
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
        fn texts_read_back(text in proptest::collection::vec(0_u8..4, 0..9), behind in any::<[u8; 2]>()) {
            let mut key = encoded(&text);
            key.extend(behind);
            let mut unescaped = Vec::new();
            prop_assert_eq!(decode(&key, &mut unescaped).unwrap(), (text.as_slice(), &behind[..]));
        }

        #[test]
        fn the_first_zero_is_found(bytes in proptest::collection::vec(0_u8..3, 0..40), high in proptest::collection::vec(128_u8.., 0..20)) {
            let bytes = [high, bytes].concat();
            prop_assert_eq!(first_zero(&bytes), bytes.iter().position(|byte| *byte == 0));
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
        fn damaged_keys_are_errors(bytes in proptest::collection::vec(0_u8..3, 0..20)) {
            let _whatever = decode(&bytes, &mut Vec::new());
        }
    }
}
