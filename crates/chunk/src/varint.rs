//! Numbers of one to ten bytes, seven bits each, lowest first, and a cursor that never reads past its end.

use crate::Error;

const SHORT: Error = Error::Malformed("a column ends too early");

/// Appends `number`.
#[inline]
pub(crate) fn put(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    to.push(number.to_le_bytes()[0]);
}

/// Small differences of either sign as small numbers.
pub(crate) const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

pub(crate) const fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// What is left of some bytes.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        self.array().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_be_bytes)
    }

    /// A number as [`put`] writes it; any other way to write it is refused, so that equal rows are equal bytes.
    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Error> {
        match self.0 {
            [first, rest @ ..] if *first < 0x80 => {
                self.0 = rest;
                Ok(u64::from(*first))
            }
            [first, second @ 1..0x80, rest @ ..] => {
                self.0 = rest;
                Ok(u64::from(first & 0x7f) | u64::from(*second) << 7)
            }
            _ => self.long_varint(),
        }
    }

    #[cold]
    fn long_varint(&mut self) -> Result<u64, Error> {
        const LONG: Error = Error::Malformed("a number is not written in the shortest way");
        let mut number = 0_u64;
        for at in 0..10 {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if at == 9 && byte > 1 {
                return Err(LONG);
            }
            number |= bits << (7 * at);
            if byte < 0x80 {
                return if byte == 0 { Err(LONG) } else { Ok(number) };
            }
        }
        Err(LONG)
    }

    /// A number that has to be a length or an index.
    #[inline]
    pub(crate) fn length(&mut self) -> Result<u32, Error> {
        let number = self.varint()?;
        u32::try_from(number).map_err(|_| Error::Malformed("a length does not fit in 32 bits"))
    }

    /// Refuses bytes that nobody asked for.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::Malformed("a column goes on behind its end")) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(number in any::<u64>(), shift in 0_u32..64, signed in any::<i64>()) {
            let number = number >> shift;
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            let mut cursor = Cursor(&bytes);
            prop_assert_eq!(cursor.varint(), Ok(number));
            prop_assert_eq!(cursor.end(), Ok(()));
            prop_assert_eq!(unzigzag(zigzag(signed)), signed);
        }
    }

    #[test]
    fn other_ways_to_write_a_number_are_refused() {
        for bad in [&[0x80, 0x00][..], &[0x80], &[], &[0xff; 10], &[0xff; 11]] {
            assert!(Cursor(bad).varint().is_err(), "{bad:?}");
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Cursor(&most).varint(), Ok(u64::MAX));
    }
}
