//! The pinned hash that spreads events over buckets.
//!
//! Stored data depends on it for ever: it may gain versions, never change one. The golden vectors below come from
//! the reference implementation, not from this code.

use xxhash_rust::xxh3::xxh3_64;

/// The only hash version there is: XXH3, 64 bits, seed 0, over the bytes of the event id.
pub const HASH_VERSION: u8 = 1;

/// Version 1 of the hash of an event id.
pub fn event_hash(event_id: &[u8]) -> u64 {
    xxh3_64(event_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with the C reference library (xxHash 0.8 through the Python package `xxhash`): `xxh3_64_intdigest`.
    const GOLDEN: &str = include_str!("../golden/event_hash.txt");

    #[test]
    fn the_hash_never_changes() {
        let mut checked = 0;
        for line in GOLDEN.lines().filter(|line| !line.starts_with('#')) {
            let (digest, id) = line.split_once(' ').unwrap();
            assert_eq!(format!("{:016x}", event_hash(id.as_bytes())), digest, "of `{id}`");
            checked += 1;
        }
        assert!(checked >= 12);
    }
}
