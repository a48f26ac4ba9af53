//! The mark that every group of writes carries: its number, and the last group known to be synced before it.
//!
//! Key: `sync` in the keyspace `_sys`. Value: format byte `1`, group u64, synced u64, big-endian. Only its copies
//! inside the journal matter: after a power loss they tell a torn tail (never synced, may be cut off) from damage
//! to acknowledged data (must not be opened). See `journal`.

/// The key of the mark.
pub(crate) const KEY: &[u8] = b"sync";
const FORMAT: u8 = 1;

/// What a group of writes says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncMark {
    /// Ordinal of the group, rising by one.
    pub(crate) group: u64,
    /// Every group up to this one was synced before this one was written.
    pub(crate) synced: u64,
}

impl SyncMark {
    /// The stored form.
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend(self.group.to_be_bytes());
        bytes.extend(self.synced.to_be_bytes());
        bytes
    }

    /// Reads it back; none if these bytes are no mark.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (format, numbers) = bytes.split_first()?;
        let (group, rest) = numbers.split_first_chunk::<8>()?;
        let synced: [u8; 8] = rest.try_into().ok()?;
        (*format == FORMAT)
            .then(|| Self { group: u64::from_be_bytes(*group), synced: u64::from_be_bytes(synced) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_read_back() {
        let mark = SyncMark { group: 7, synced: u64::MAX };
        assert_eq!(SyncMark::decode(&mark.encode()), Some(mark));
        assert_eq!(SyncMark::decode(b""), None);
        assert_eq!(SyncMark::decode(&[2; 17]), None);
        assert_eq!(SyncMark::decode(&[1; 18]), None);
    }
}
