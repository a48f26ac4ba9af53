//! Settings of a namespace that reach the store: each is one of a few names, and a store may ignore them.

/// A setting that is one of a few names, the same in records, on the wire and on the command line.
pub trait Named: Copy + Default + PartialEq + 'static {
    /// All there are.
    const ALL: &'static [Self];

    /// What it is called; empty where the choice is the store's.
    fn name(self) -> &'static str;

    /// The one with this name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|one| one.name() == name)
    }

    /// The names, for whoever gave another one.
    fn names() -> String {
        let shown =
            |one: &Self| if one.name().is_empty() { "\"\" for the store's choice" } else { one.name() };
        let names: Vec<&str> = Self::ALL.iter().map(shown).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

/// How many replicas answer before a write is acknowledged or a read returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Consistency {
    /// One replica of the local data centre. Fast and weak: a read may miss what was acknowledged before.
    LocalOne,
    /// Most replicas of the local data centre: every read there sees every acknowledged write.
    #[default]
    LocalQuorum,
    /// Most replicas of every data centre for writes, of the local one for reads.
    EachQuorum,
}

impl Named for Consistency {
    const ALL: &'static [Self] = &[Self::LocalOne, Self::LocalQuorum, Self::EachQuorum];

    fn name(self) -> &'static str {
        match self {
            Self::LocalOne => "LOCAL_ONE",
            Self::LocalQuorum => "LOCAL_QUORUM",
            Self::EachQuorum => "EACH_QUORUM",
        }
    }
}

/// How a table's files are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compaction {
    /// As the store finds best.
    #[default]
    StoreChoice,
    /// By density, in shards that are merged side by side.
    Unified,
    /// Into levels without overlap: few files to read, most work to write.
    Leveled,
    /// Files of like size together: least work to write, more files to read.
    SizeTiered,
    /// Only with what was written in the same hour.
    TimeWindow,
}

impl Named for Compaction {
    const ALL: &'static [Self] =
        &[Self::Unified, Self::Leveled, Self::SizeTiered, Self::TimeWindow, Self::StoreChoice];

    fn name(self) -> &'static str {
        match self {
            Self::StoreChoice => "",
            Self::Unified => "unified",
            Self::Leveled => "leveled",
            Self::SizeTiered => "size_tiered",
            Self::TimeWindow => "time_window",
        }
    }
}

/// How a table's files are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compression {
    /// As the store finds best.
    #[default]
    StoreChoice,
    /// Fast.
    Lz4,
    /// Smaller, for more work.
    Zstd,
    /// Not at all, for values that are compressed already.
    None,
}

impl Named for Compression {
    const ALL: &'static [Self] = &[Self::Lz4, Self::Zstd, Self::None, Self::StoreChoice];

    fn name(self) -> &'static str {
        match self {
            Self::StoreChoice => "",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::None => "none",
        }
    }
}

/// How a table is kept; decided when it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Storage {
    /// How its files are merged.
    pub compaction: Compaction,
    /// How its files are compressed.
    pub compression: Compression,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Named + std::fmt::Debug>(default: &str, names: &str) {
        assert_eq!(T::default().name(), default);
        assert_eq!(T::names(), names);
        for one in T::ALL {
            assert_eq!(T::named(one.name()), Some(*one));
        }
        assert_eq!(T::named("Local_One"), None);
    }

    #[test]
    fn every_setting_is_found_by_its_name() {
        check::<Consistency>("LOCAL_QUORUM", "LOCAL_ONE, LOCAL_QUORUM or EACH_QUORUM");
        check::<Compaction>("", "unified, leveled, size_tiered, time_window or \"\" for the store's choice");
        check::<Compression>("", "lz4, zstd, none or \"\" for the store's choice");
    }
}
