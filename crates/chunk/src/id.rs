//! Event ids that look like UUIDs, as 16 bytes: only the one spelling that comes back exactly.

const HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// Length of the text.
pub(crate) const TEXT_BYTES: usize = 36;
/// Length of what is stored instead.
pub(crate) const PACKED_BYTES: usize = 16;

/// The 16 bytes of an id of 36 characters, hexadecimal in lower case, hyphens where a UUID has them; none for any other.
pub(crate) fn pack(id: &[u8]) -> Option<[u8; PACKED_BYTES]> {
    let id: &[u8; TEXT_BYTES] = id.try_into().ok()?;
    let mut packed = 0_u128;
    for (at, byte) in id.iter().enumerate() {
        if HYPHENS.contains(&at) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        packed = packed << 4 | u128::from(digit);
    }
    Some(packed.to_be_bytes())
}

/// Appends the text again.
pub(crate) fn unpack(packed: [u8; PACKED_BYTES], to: &mut Vec<u8>) {
    let mut text = [b'-'; TEXT_BYTES];
    let mut at = 0;
    for byte in packed {
        if HYPHENS.contains(&at) {
            at += 1;
        }
        for digit in [byte >> 4, byte & 15] {
            if let Some(place) = text.get_mut(at) {
                *place = if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
            }
            at += 1;
        }
    }
    to.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn uuids_come_back(packed in any::<[u8; PACKED_BYTES]>()) {
            let mut text = Vec::new();
            unpack(packed, &mut text);
            prop_assert_eq!(pack(&text), Some(packed));
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
