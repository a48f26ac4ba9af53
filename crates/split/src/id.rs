//! What names a split: its origin partition.

use model::hash::event_hash;
use model::{NamespaceName, PartitionKey, SeriesId};

/// Records of one slice lie in so many places.
const SHARDS: u64 = 64;

/// The origin partition of a split, which is what names it. Inside of a namespace people write it as
/// `data_20260328/7/2/profileId:123`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SplitId {
    /// The namespace.
    pub namespace: NamespaceName,
    /// Which making of it.
    pub incarnation: u32,
    /// The table of the slice.
    pub time_slice: String,
    /// The partition in it.
    pub partition: PartitionKey,
}

impl SplitId {
    /// Reads what people write.
    pub fn parse(namespace: &NamespaceName, incarnation: u32, text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '/');
        let (time_slice, time_bucket, event_bucket, series) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let number = |text: &str| text.parse().ok().filter(|number: &u32| number.to_string() == text);
        Some(Self {
            namespace: namespace.clone(),
            incarnation,
            time_slice: Some(time_slice).filter(|name| model::TableName::new(name).is_ok())?.to_owned(),
            partition: PartitionKey {
                series: SeriesId::new(series).ok()?,
                time_bucket: number(time_bucket)?,
                event_bucket: number(event_bucket)?,
            },
        })
    }

    /// The group of the records of one shard of a slice.
    pub fn group(&self) -> String {
        shard_group(&self.namespace, self.incarnation, &self.time_slice, self.shard())
    }

    /// The shard of this one.
    pub fn shard(&self) -> u8 {
        u8::try_from(event_hash(self.partition.series.as_str().as_bytes()) % SHARDS).unwrap_or(0)
    }

    /// The name of the record in its group.
    pub fn name(&self) -> String {
        let PartitionKey { series, time_bucket, event_bucket } = &self.partition;
        format!("{time_bucket:010}/{event_bucket:010}/{}", series.as_str())
    }

    /// The name under which all splits are told apart, also of different namespaces.
    pub fn full(&self) -> String {
        format!("{}.{}/{self}", self.namespace.as_str(), self.incarnation)
    }

    /// Reads [`SplitId::full`] back.
    pub fn parse_full(text: &str) -> Option<Self> {
        let (owner, rest) = text.split_once('/')?;
        let (namespace, incarnation) = owner.split_once('.')?;
        Self::parse(&NamespaceName::new(namespace).ok()?, incarnation.parse().ok()?, rest)
    }
}

impl std::fmt::Display for SplitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PartitionKey { series, time_bucket, event_bucket } = &self.partition;
        write!(f, "{}/{time_bucket}/{event_bucket}/{}", self.time_slice, series.as_str())
    }
}

/// The group of the records of one shard of a slice.
pub fn shard_group(namespace: &NamespaceName, incarnation: u32, time_slice: &str, shard: u8) -> String {
    format!("splits/{}.{incarnation}/{time_slice}/{shard:02}", namespace.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_whatever_the_series_is_called() {
        let namespace = NamespaceName::new("plays").unwrap();
        for series in ["a", "profileId:123", "a/b/c", "/", "ü %?"] {
            let text = format!("data_20260328/7/2/{series}");
            let id = SplitId::parse(&namespace, 3, &text).unwrap();
            assert_eq!((id.to_string(), id.partition.series.as_str()), (text, series));
            assert_eq!(SplitId::parse_full(&id.full()), Some(id.clone()));
            assert!(id.group().starts_with("splits/plays.3/data_20260328/"));
        }
        for bad in ["", "data_20260328", "data/7/2/", "data/7/x/a", "data/07/2/a", "Data/7/2/a", "data/7/2"] {
            assert_eq!(SplitId::parse(&namespace, 3, bad), None, "{bad}");
        }
    }
}
