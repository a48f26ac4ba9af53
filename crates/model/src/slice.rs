//! Slices: half-open ranges of time, each one table, and the timeline of widths that cuts them.
//!
//! Widths form segments. The first is aligned to 1970; each later one starts where a slice of the one before ends
//! and counts from there. So slices abut without gaps or overlaps, whatever the widths were over the years.

use crate::time::NANOS_PER_SECOND;
use crate::{Error, Interval, Timestamp};

/// Narrowest slice.
pub const SLICE_SECONDS_MIN: u32 = 3_600;
/// Widest slice: 366 days. Small enough that the slice of the last time ends inside 64 bits.
pub const SLICE_SECONDS_MAX: u32 = 366 * 86_400;
/// Slices start at full minutes, because names have minutes.
pub const SLICE_SECONDS_STEP: u32 = 60;
/// Most changes of width that a namespace may have.
pub const SEGMENTS_MAX: usize = 1_000;

/// A half-open range of time that is one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    interval: Interval,
}

impl Slice {
    /// The slice of so many seconds that starts at `start`, as a record of it says.
    pub fn starting(start: i64, seconds: u32) -> Result<Self, Error> {
        let end = start.saturating_add(i64::from(seconds) * NANOS_PER_SECOND);
        Ok(Self { interval: Interval::new(start, end)? })
    }

    /// The range of time.
    pub const fn interval(self) -> Interval {
        self.interval
    }

    /// First nanosecond inside; identifies the slice in its namespace.
    pub const fn start(self) -> i64 {
        self.interval.start()
    }

    /// First nanosecond after.
    pub const fn end(self) -> i64 {
        self.interval.end()
    }

    /// `YYYYMMDD` of its start, with `_HHMM` where that is not midnight UTC.
    pub fn label(self) -> String {
        let (year, month, day) = civil_date(self.start());
        let minute = self.start() / NANOS_PER_SECOND % 86_400 / 60;
        let date = format!("{year:04}{month:02}{day:02}");
        if minute == 0 { date } else { format!("{date}_{:02}{:02}", minute / 60, minute % 60) }
    }
}

/// From `from` on, slices are `width_seconds` wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where its first slice starts, nanoseconds since 1970.
    pub from: i64,
    /// How wide its slices are.
    pub width_seconds: u32,
}

impl Segment {
    fn width(self) -> i64 {
        i64::from(self.width_seconds) * NANOS_PER_SECOND
    }
}

/// All segments of a namespace, oldest first; the first starts at 1970.
///
/// ```
/// # use model::{TableName, Timeline, Timestamp};
/// let days = Timeline::new(86_400)?;
/// let slice = days.slice_of(Timestamp::from_parts(1_774_656_000, 0)?);
/// assert_eq!(TableName::data(slice).as_str(), "data_20260328");
/// # Ok::<(), model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    segments: Vec<Segment>,
}

impl Timeline {
    /// A timeline with one width for all time.
    pub fn new(width_seconds: u32) -> Result<Self, Error> {
        check_width(width_seconds)?;
        Ok(Self { segments: vec![Segment { from: 0, width_seconds }] })
    }

    /// A timeline as it was stored; every rule is checked again.
    pub fn from_segments(segments: &[Segment]) -> Result<Self, Error> {
        let first = segments.first().ok_or_else(|| Error::Segment("there is no first segment".to_owned()))?;
        if first.from != 0 {
            return Err(Error::Segment(format!("the first segment starts at {} instead of 0", first.from)));
        }
        let mut timeline = Self::new(first.width_seconds)?;
        for next in segments.iter().skip(1) {
            timeline.change_width(*next)?;
        }
        Ok(timeline)
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// From `next.from` on, slices have another width. `next.from` must be where a slice ends, after the start of
    /// the newest segment.
    pub fn change_width(&mut self, next: Segment) -> Result<(), Error> {
        check_width(next.width_seconds)?;
        if self.segments.len() >= SEGMENTS_MAX {
            return Err(Error::Segment(format!("there are {SEGMENTS_MAX} already; keep the present width")));
        }
        let newest = self.newest();
        let offset = next.from.checked_sub(newest.from).unwrap_or(-1);
        if offset <= 0 || offset % newest.width() != 0 || next.from > Timestamp::MAX.nanos() {
            let problem = format!("{} is not where a slice of the newest segment ends", next.from);
            return Err(Error::Segment(problem));
        }
        self.segments.push(next);
        Ok(())
    }

    /// The slice that `time` lies in. Every time lies in exactly one.
    pub fn slice_of(&self, time: Timestamp) -> Slice {
        let index = self.segments.partition_point(|segment| segment.from <= time.nanos());
        let segment = self.segments.get(index.wrapping_sub(1)).copied().unwrap_or_else(|| self.newest());
        let start = time.nanos() - (time.nanos() - segment.from) % segment.width();
        // A segment ends where a slice ends, so no slice is ever cut short.
        Slice { interval: Interval::new(start, start + segment.width()).unwrap_or(Interval::ALL) }
    }

    /// The slices that meet `interval`, oldest first.
    pub fn slices_in(&self, interval: Interval) -> impl Iterator<Item = Slice> + '_ {
        let interval = interval.intersect(Interval::ALL);
        let first = (!interval.is_empty()).then(|| Timestamp::from_nanos(interval.start()).ok()).flatten();
        std::iter::successors(first.map(|time| self.slice_of(time)), |slice| {
            let next = Timestamp::from_nanos(slice.end()).ok()?;
            Some(self.slice_of(next))
        })
        .take_while(move |slice| slice.start() < interval.end())
    }

    fn newest(&self) -> Segment {
        // A timeline is made with its first segment and only grows.
        self.segments.last().copied().unwrap_or(Segment { from: 0, width_seconds: SLICE_SECONDS_MAX })
    }
}

/// Checks a slice width by itself.
pub fn check_width(seconds: u32) -> Result<(), Error> {
    if !(SLICE_SECONDS_MIN..=SLICE_SECONDS_MAX).contains(&seconds) {
        return Err(Error::Shape(format!(
            "seconds_per_slice is {seconds}; choose {SLICE_SECONDS_MIN} (an hour) to {SLICE_SECONDS_MAX} (366 days)"
        )));
    }
    if !seconds.is_multiple_of(SLICE_SECONDS_STEP) {
        return Err(Error::Shape(format!("seconds_per_slice is {seconds}; choose a multiple of 60")));
    }
    Ok(())
}

/// Year, month and day (UTC) of a time not before 1970.
pub(crate) fn civil_date(nanos: i64) -> (i64, i64, i64) {
    // Counted in years that begin in March, so that a leap day is the last day of its year, and in eras of 400
    // years (146,097 days), which all look alike.
    let day_number = nanos / (86_400 * NANOS_PER_SECOND) + 719_468;
    let (era, day_of_era) = (day_number / 146_097, day_number % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// A time not before 1970 as people write it: UTC, whole seconds.
pub fn utc(nanos: i64) -> String {
    let (year, month, day) = civil_date(nanos);
    let second = nanos / NANOS_PER_SECOND % 86_400;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    const DAY: i64 = 86_400 * NANOS_PER_SECOND;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(1_774_742_399_999_999_999), "2026-03-28T23:59:59Z");
    }

    fn at(nanos: i64) -> Timestamp {
        Timestamp::from_nanos(nanos).unwrap()
    }

    #[test]
    fn names_are_dates_and_minutes_where_needed() {
        let days = Timeline::new(86_400).unwrap();
        assert_eq!(days.slice_of(at(0)).label(), "19700101");
        assert_eq!(days.slice_of(at(1_774_656_000 * NANOS_PER_SECOND)).label(), "20260328");
        assert_eq!(days.slice_of(at(951_782_400 * NANOS_PER_SECOND)).label(), "20000229");
        let hours = Timeline::new(5_400).unwrap();
        assert_eq!(hours.slice_of(at(5_400 * NANOS_PER_SECOND)).label(), "19700101_0130");
    }

    #[test]
    fn dates_follow_the_calendar() {
        // One step per day over 300 years against a calendar that counts month lengths.
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for number in 0..106_000 {
            assert_eq!(civil_date(number * DAY + 7), (year, month, day));
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + i64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn widths_change_only_where_a_slice_ends() {
        let mut timeline = Timeline::new(86_400).unwrap();
        let hour = |from| Segment { from, width_seconds: 3_600 };
        assert!(timeline.change_width(hour(DAY + 1)).is_err());
        assert!(timeline.change_width(hour(0)).is_err());
        assert!(timeline.change_width(hour(-DAY)).is_err());
        assert!(timeline.change_width(hour(i64::MIN)).is_err());
        timeline.change_width(hour(2 * DAY)).unwrap();
        assert_eq!(timeline.slice_of(at(2 * DAY - 1)).interval(), Interval::new(DAY, 2 * DAY).unwrap());
        assert_eq!(timeline.slice_of(at(2 * DAY)).end(), 2 * DAY + DAY / 24);
        assert_eq!(Timeline::from_segments(timeline.segments()).unwrap(), timeline);
        assert!(Timeline::from_segments(&[]).is_err());
        assert!(Timeline::from_segments(&[hour(DAY)]).is_err());
    }

    #[test]
    fn widths_are_limited() {
        for bad in [0, 3_599, 3_601, SLICE_SECONDS_MAX + 60] {
            assert!(check_width(bad).is_err(), "{bad}");
        }
        assert!(
            Timeline::new(SLICE_SECONDS_MAX).unwrap().slice_of(Timestamp::MAX).end() > Timestamp::MAX.nanos()
        );
    }

    fn timelines() -> impl Strategy<Value = Timeline> {
        let steps = proptest::collection::vec((1_i64..5, 60_u32..2_000), 0..4);
        (60_u32..2_000, steps).prop_map(|(first, steps)| {
            let mut timeline = Timeline::new(first * 60).unwrap();
            for (slices, minutes) in steps {
                let newest = *timeline.segments().last().unwrap();
                let from = newest.from + slices * i64::from(newest.width_seconds) * NANOS_PER_SECOND;
                timeline.change_width(Segment { from, width_seconds: minutes * 60 }).unwrap();
            }
            timeline
        })
    }

    proptest! {
        #[test]
        fn every_time_lies_in_one_slice_and_slices_abut(timeline in timelines(), hours in 0_i64..20_000) {
            let time = at(hours * 1_800 * NANOS_PER_SECOND + 17);
            let slice = timeline.slice_of(time);
            prop_assert!(slice.interval().contains(time));
            prop_assert_eq!(timeline.slice_of(at(slice.start())), slice);
            prop_assert_eq!(timeline.slice_of(at(slice.end() - 1)), slice);
            prop_assert_eq!(timeline.slice_of(at(slice.end())).start(), slice.end());
        }

        #[test]
        fn slices_of_an_interval_cover_it(timeline in timelines(), start in 0_i64..9_000, hours in 0_i64..900) {
            let hour = 3_600 * NANOS_PER_SECOND;
            let interval = Interval::new(start * hour, (start + hours) * hour).unwrap();
            let slices: Vec<Slice> = timeline.slices_in(interval).collect();
            prop_assert_eq!(slices.is_empty(), interval.is_empty());
            if let (Some(first), Some(last)) = (slices.first(), slices.last()) {
                prop_assert!(first.start() <= interval.start() && last.end() >= interval.end());
                prop_assert!(last.start() < interval.end());
            }
            prop_assert!(slices.windows(2).all(|pair| pair[0].end() == pair[1].start()));
        }

        #[test]
        fn no_time_wraps(timeline in timelines(), nanos in any::<i64>()) {
            if let Ok(time) = Timestamp::from_nanos(nanos) {
                prop_assert!(timeline.slice_of(time).interval().contains(time));
            }
        }
    }
}
