//! Event ids that look like UUIDs, as 16 bytes: only the one spelling that comes back exactly.

const HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// Length of the text.
pub(crate) const TEXT_BYTES: usize = 36;
/// Length of what is stored instead.
pub(crate) const PACKED_BYTES: usize = 16;

/// This byte eight times. Digits are looked at eight at a time, the first one in the lowest byte.
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// For each of eight numbers below 26 whether it is 10 or more: 1 or 0.
const fn letters(numbers: u64) -> u64 {
    (numbers + eight(6)) >> 4 & eight(1)
}

/// Numbers below 16 as text.
const fn spelled(numbers: u64) -> u64 {
    numbers + eight(b'0') + letters(numbers) * (b'a' - 10 - b'0') as u64
}

/// Eight hexadecimal digits as four bytes; none where they would not be spelled so.
const fn read(digits: u64) -> Option<[u8; 4]> {
    let numbers = (digits & eight(15)) + (digits >> 6 & eight(1)) * 9;
    if numbers & eight(16) != 0 || spelled(numbers) != digits {
        return None;
    }
    let pairs = (numbers << 4 | numbers >> 8) & 0x00ff_00ff_00ff_00ff;
    let [a, _, b, _, c, _, d, _] = pairs.to_le_bytes();
    Some([a, b, c, d])
}

/// Four bytes as eight hexadecimal digits.
const fn write([a, b, c, d]: [u8; 4]) -> [u8; 8] {
    let pairs = u64::from_le_bytes([a, 0, b, 0, c, 0, d, 0]);
    let low = 0x000f_000f_000f_000f;
    spelled(pairs >> 4 & low | (pairs & low) << 8).to_le_bytes()
}

/// The 16 bytes of an id of 36 characters, hexadecimal in lower case, hyphens where a UUID has them; none for any other.
pub(crate) fn pack(id: &[u8]) -> Option<[u8; PACKED_BYTES]> {
    let id: &[u8; TEXT_BYTES] = id.try_into().ok()?;
    if HYPHENS.iter().any(|at| id.get(*at) != Some(&b'-')) {
        return None;
    }
    let four = |at: usize| Some(u64::from(u32::from_le_bytes(*id.get(at..)?.first_chunk()?)));
    let words = [
        four(0)? | four(4)? << 32,
        four(9)? | four(14)? << 32,
        four(19)? | four(24)? << 32,
        four(28)? | four(32)? << 32,
    ];
    let mut packed = [0; PACKED_BYTES];
    for (to, word) in packed.as_chunks_mut().0.iter_mut().zip(words) {
        *to = read(word)?;
    }
    Some(packed)
}

/// Writes the text again.
#[inline]
pub(crate) fn unpack(packed: &[u8; PACKED_BYTES], text: &mut [u8; TEXT_BYTES]) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *packed;
    let (first, second) = (write([a, b, c, d]), write([e, f, g, h]));
    let (third, fourth) = (write([i, j, k, l]), write([m, n, o, p]));
    text[..8].copy_from_slice(&first);
    text[8] = b'-';
    text[9..13].copy_from_slice(&second[..4]);
    text[13] = b'-';
    text[14..18].copy_from_slice(&second[4..]);
    text[18] = b'-';
    text[19..23].copy_from_slice(&third[..4]);
    text[23] = b'-';
    text[24..28].copy_from_slice(&third[4..]);
    text[28..].copy_from_slice(&fourth);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn uuids_come_back(packed in any::<[u8; PACKED_BYTES]>()) {
            let mut text = [0; TEXT_BYTES];
            unpack(&packed, &mut text);
            let hex: String = packed.iter().map(|byte| format!("{byte:02x}")).collect();
            let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
            let expect = parts.join("-");
            prop_assert_eq!(&text[..], expect.as_bytes());
            prop_assert_eq!(pack(&text), Some(packed));
        }
    }

    #[test]
    fn every_other_byte_is_refused_wherever_it_is() {
        let good: [u8; TEXT_BYTES] = *b"0191a2b3-c4d5-76e7-8899-aabbccddeeff";
        for at in 0..TEXT_BYTES {
            for byte in 0..=u8::MAX {
                let mut text = good;
                text[at] = byte;
                let digit = matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                let right = if HYPHENS.contains(&at) { byte == b'-' } else { digit };
                assert_eq!(pack(&text).is_some(), right, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn only_the_exact_spelling_is_packed() {
        let good = "0191a2b3-c4d5-76e7-8899-aabbccddeeff";
        assert!(pack(good.as_bytes()).is_some());
        let hyphen = good.replacen('-', "0", 1);
        for bad in
            [&good[1..], &good.to_uppercase(), &hyphen, &good.replace('a', "g"), "", &format!("{good} ")]
        {
            assert_eq!(pack(bad.as_bytes()), None, "{bad}");
        }
    }
}
