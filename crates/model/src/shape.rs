//! Shapes: how a slice is cut into partitions. Asked for per namespace, frozen per slice.

use crate::hash::HASH_VERSION;
use crate::slice::check_width;
use crate::time::NANOS_PER_SECOND;
use crate::{Error, Slice};

/// Most event buckets that a shape may ask for.
pub const BUCKETS_PER_ID_MAX: u16 = 64;
/// Event buckets set aside for each split of one origin bucket; also the most targets that one split may have.
pub const SPLIT_STRIDE: u16 = 16;

/// What a namespace asks for in future slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeSpec {
    /// Width of a slice.
    pub seconds_per_slice: u32,
    /// Width of a time bucket; divides the slice.
    pub seconds_per_bucket: u32,
    /// Event buckets per time bucket.
    pub buckets_per_id: u16,
}

impl Default for ShapeSpec {
    fn default() -> Self {
        Self { seconds_per_slice: 86_400, seconds_per_bucket: 3_600, buckets_per_id: 4 }
    }
}

impl ShapeSpec {
    /// Checks the whole request and freezes it, for slices of its own width.
    pub fn freeze(self) -> Result<Shape, Error> {
        check_width(self.seconds_per_slice)?;
        let bucket = self.seconds_per_bucket;
        if bucket == 0 || !self.seconds_per_slice.is_multiple_of(bucket) {
            return Err(Error::Shape(format!(
                "seconds_per_bucket is {bucket}; choose a number that divides the slice of {} s",
                self.seconds_per_slice
            )));
        }
        if !(1..=BUCKETS_PER_ID_MAX).contains(&self.buckets_per_id) {
            let asked = self.buckets_per_id;
            return Err(Error::Shape(format!("buckets_per_id is {asked}; choose 1 to {BUCKETS_PER_ID_MAX}")));
        }
        Ok(Shape {
            seconds_per_bucket: bucket,
            buckets_per_id: self.buckets_per_id,
            hash_version: HASH_VERSION,
            split_stride: SPLIT_STRIDE,
        })
    }
}

/// A slice's frozen partition strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of a time bucket.
    pub seconds_per_bucket: u32,
    /// Event buckets per time bucket.
    pub buckets_per_id: u16,
    /// Which version of the event hash places events.
    pub hash_version: u8,
    /// Event buckets set aside per split; see [`SPLIT_STRIDE`].
    pub split_stride: u16,
}

impl Shape {
    /// Width of a time bucket in nanoseconds.
    pub fn bucket_nanos(self) -> i64 {
        i64::from(self.seconds_per_bucket) * NANOS_PER_SECOND
    }

    /// How many time buckets `slice` has.
    pub fn time_buckets(self, slice: Slice) -> u32 {
        let width = slice.end() - slice.start();
        u32::try_from(width / self.bucket_nanos()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(spec: ShapeSpec) -> String {
        spec.freeze().unwrap_err().to_string()
    }

    #[test]
    fn bad_shapes_say_what_to_choose() {
        let good = ShapeSpec::default();
        assert!(good.freeze().is_ok());
        assert_eq!(
            refusal(ShapeSpec { seconds_per_bucket: 7_000, ..good }),
            "shape is not valid: seconds_per_bucket is 7000; choose a number that divides the slice of 86400 s"
        );
        assert!(refusal(ShapeSpec { seconds_per_bucket: 0, ..good }).contains("divides"));
        assert!(refusal(ShapeSpec { seconds_per_bucket: 172_800, ..good }).contains("divides"));
        assert!(refusal(ShapeSpec { buckets_per_id: 0, ..good }).contains("1 to 64"));
        assert!(refusal(ShapeSpec { buckets_per_id: 65, ..good }).contains("1 to 64"));
        assert!(refusal(ShapeSpec { seconds_per_slice: 60, ..good }).contains("an hour"));
    }
}
