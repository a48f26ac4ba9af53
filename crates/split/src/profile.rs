//! What a full scan of a partition found, in bounded memory whatever the partition's size.

use model::RowView;
use serde::{Deserialize, Serialize};

/// Stretches of time that are told apart at most; then neighbours are joined.
const BINS_MAX: usize = 512;
/// Bytes of a stretch in the beginning.
const BIN_BYTES: u64 = 16 << 10;

/// Sizes along the time of a partition, and its largest parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Logical bytes of all rows.
    pub bytes: u64,
    /// How many events.
    pub events: u64,
    /// Bytes of the largest event.
    pub largest_event_bytes: u64,
    /// Bytes of the timestamp with the most of them.
    pub largest_time_bytes: u64,
    /// Stretches of time, newest first, by their oldest timestamp, with their bytes. None cuts a timestamp in two.
    bins: Vec<(i64, u64)>,
    /// A stretch of so many bytes is followed by another.
    bin_bytes: u64,
    /// The event whose rows are coming, and what there is of it and of its timestamp.
    open: Option<(i64, String)>,
    open_event_bytes: u64,
    open_time_bytes: u64,
    /// Logical bytes of rows that were packed to see what becomes of them, and what became of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    sampled_bytes: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    sampled_packed_bytes: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Profile {
    /// So many bytes of it were packed into so many.
    pub fn sampled(&mut self, bytes: u64, packed_bytes: u64) {
        self.sampled_bytes += bytes;
        self.sampled_packed_bytes += packed_bytes;
    }

    /// Forgets what became of all that was packed.
    pub fn forget_samples(&mut self) {
        (self.sampled_bytes, self.sampled_packed_bytes) = (0, 0);
    }

    /// Bytes of an event, on average.
    pub fn event_bytes(&self) -> u64 {
        self.bytes / self.events.max(1)
    }

    /// What so many bytes of it are when packed, by what was sampled; as many where nothing was.
    pub fn packed_bytes(&self, bytes: u64) -> u64 {
        if self.sampled_bytes == 0 {
            return bytes;
        }
        let packed =
            u128::from(bytes) * u128::from(self.sampled_packed_bytes) / u128::from(self.sampled_bytes);
        u64::try_from(packed).unwrap_or(u64::MAX)
    }

    /// Takes the next row, newest first.
    pub fn add(&mut self, row: &RowView<'_>) {
        let (time, bytes) = (row.event_time.nanos(), row.logical_bytes());
        let is_same_time = self.open.as_ref().is_some_and(|(open, _)| *open == time);
        let is_same = is_same_time && self.open.as_ref().is_some_and(|(_, id)| id.as_bytes() == row.event_id);
        if !is_same {
            self.events += 1;
            self.open_event_bytes = 0;
            self.open = Some((time, String::from_utf8_lossy(row.event_id).into_owned()));
        }
        if !is_same_time {
            self.open_time_bytes = 0;
            self.begin_bin(time);
        }
        self.bytes += bytes;
        self.open_event_bytes += bytes;
        self.open_time_bytes += bytes;
        self.largest_event_bytes = self.largest_event_bytes.max(self.open_event_bytes);
        self.largest_time_bytes = self.largest_time_bytes.max(self.open_time_bytes);
        if let Some((_, bin)) = self.bins.last_mut() {
            *bin += bytes;
        }
    }

    /// A timestamp begins: in the present stretch if that has room.
    fn begin_bin(&mut self, time: i64) {
        self.bin_bytes = self.bin_bytes.max(BIN_BYTES);
        if let Some((oldest, _)) = self.bins.last_mut().filter(|(_, bytes)| *bytes < self.bin_bytes) {
            *oldest = time;
            return;
        }
        if self.bins.len() >= BINS_MAX {
            self.bin_bytes *= 2;
            let join = |pair: &[(i64, u64)]| {
                pair.last().map(|(oldest, _)| (*oldest, pair.iter().map(|(_, bytes)| bytes).sum()))
            };
            self.bins = self.bins.chunks(2).filter_map(join).collect();
        }
        self.bins.push((time, 0));
    }

    /// Times that cut it into up to `parts` ranges of about equal bytes; each is later than the one before.
    pub fn boundaries(&self, parts: u64) -> Vec<i64> {
        let (mut boundaries, mut before, mut next) = (Vec::new(), 0_u64, 1_u64);
        for (start, bytes) in self.bins.iter().rev() {
            // The cut comes where it is nearest to the share.
            let due = |next: u64| {
                let share = u128::from(self.bytes) * u128::from(next) / u128::from(parts.max(1));
                next < parts && u128::from(before) + u128::from(*bytes) / 2 >= share
            };
            if before > 0 && due(next) {
                boundaries.push(*start);
                while due(next) {
                    next += 1;
                }
            }
            before += bytes;
        }
        boundaries
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::{EventId, ItemKey, Row, RowKey, Timestamp};

    use super::*;

    fn add(profile: &mut Profile, time: i64, event: &str, bytes: usize) {
        let key = RowKey {
            event_time: Timestamp::from_nanos(time).unwrap(),
            event_id: EventId::new(event).unwrap(),
            item_key: ItemKey::new("k").unwrap(),
        };
        let row = Row { key, write_time: 0, value: Bytes::from(vec![0; bytes]), metadata: Bytes::new() };
        profile.add(&row.view());
    }

    #[test]
    fn it_stays_small_and_cuts_evenly() {
        let mut profile = Profile::default();
        (0..20_000).rev().for_each(|time| add(&mut profile, time, "e", 1_000));
        assert!(profile.bins.len() <= BINS_MAX, "{}", profile.bins.len());
        assert_eq!(profile.events, 20_000);
        for parts in [2, 3, 5, 16] {
            let boundaries = profile.boundaries(parts);
            assert_eq!(boundaries.len() as u64, parts - 1);
            for (at, boundary) in (1..).zip(boundaries) {
                let wanted = 20_000 * at / i64::try_from(parts).unwrap();
                assert!((boundary - wanted).abs() <= 60, "{boundary} of {wanted}");
            }
        }
    }

    #[test]
    fn it_knows_the_largest_event_and_the_largest_timestamp() {
        let mut profile = Profile::default();
        add(&mut profile, 2, "b", 60);
        add(&mut profile, 2, "a", 40);
        add(&mut profile, 1, "a", 90);
        let fixed = 8 + 1 + 1;
        assert_eq!(profile.largest_event_bytes, 90 + fixed);
        assert_eq!(profile.largest_time_bytes, 100 + 2 * fixed);
    }

    #[test]
    fn one_timestamp_has_no_boundaries_and_a_burst_takes_several_shares() {
        let mut profile = Profile::default();
        (0..100).for_each(|event| add(&mut profile, 5, &format!("e{event}"), 10_000));
        assert_eq!(profile.boundaries(4), Vec::<i64>::new());
        let mut burst = Profile::default();
        (101..200).rev().for_each(|time| add(&mut burst, time, "e", 20_000));
        (0..400).for_each(|event| add(&mut burst, 100, &format!("e{event}"), 20_000));
        (0..100).rev().for_each(|time| add(&mut burst, time, "e", 20_000));
        let boundaries = burst.boundaries(6);
        assert!(boundaries.windows(2).all(|pair| pair[0] < pair[1]), "{boundaries:?}");
        assert!(boundaries.contains(&100) && boundaries.contains(&101), "{boundaries:?}");
    }

    #[test]
    fn a_stop_in_the_middle_changes_nothing() {
        let (mut whole, mut first) = (Profile::default(), Profile::default());
        for time in 0..3_000 {
            add(&mut whole, 1_000 - time / 3, &format!("e{:02}", 3 - time % 3), 500);
            if time < 1_501 {
                add(&mut first, 1_000 - time / 3, &format!("e{:02}", 3 - time % 3), 500);
            }
        }
        let stored = serde_json::to_string(&first).unwrap();
        let mut resumed: Profile = serde_json::from_str(&stored).unwrap();
        (1_501..3_000)
            .for_each(|time| add(&mut resumed, 1_000 - time / 3, &format!("e{:02}", 3 - time % 3), 500));
        assert_eq!(resumed, whole);
    }
}
