//! From computed figures back to whole numbers. Nothing wraps: what does not fit is the nearest that does.

/// The nearest whole number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cast to the nearest number that fits, and nothing else turns one into an integer"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// The same in 32 bits.
pub(crate) fn whole_u32(value: f64) -> u32 {
    u32::try_from(whole(value)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_and_never_wrap() {
        assert_eq!([0.0, 0.4, 0.5, 7.0, 1e6].map(whole), [0, 0, 1, 7, 1_000_000]);
        assert_eq!([-3.0, f64::NAN, 1e300, f64::INFINITY].map(whole), [0, 0, u64::MAX, u64::MAX]);
        assert_eq!([-1.0, 7.5, 1e12].map(whole_u32), [0, 8, u32::MAX]);
    }
}
