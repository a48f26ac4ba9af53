//! Which way a read takes: by the read mode of its namespace, the lease of its server, and chance. Pure.

use crate::namespace::{ReadMode, Share};

/// Why a partition was read from the origin though it has targets to read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// The server holds no lease, so it cannot know whether the targets still count.
    NoLease,
    /// The record of the split could not be read.
    Metadata,
    /// The targets could not be read.
    TargetError,
    /// They hold something that is damaged: they are compared with the origin after the answer.
    TargetDamaged,
    /// The split went out of use, or the lease was lost, while the page was read.
    RouteChanged,
}

impl Fallback {
    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::NoLease, Self::Metadata, Self::TargetError, Self::TargetDamaged, Self::RouteChanged];

    /// The name that programs see.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoLease => "NO_LEASE",
            Self::Metadata => "METADATA",
            Self::TargetError => "TARGET_ERROR",
            Self::TargetDamaged => "TARGET_DAMAGED",
            Self::RouteChanged => "ROUTE_CHANGED",
        }
    }
}

/// How the partitions of one read are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// All from the origin.
    Origin,
    /// All from the origin, and those that were split are remembered: they are compared afterwards.
    Notice,
    /// Those that were split from their targets; remembered too if they are to be compared.
    Targets,
    /// All from the origin because of this, though some should come from targets.
    Back(Fallback),
}

/// The way of a read; `draw` gives a number up to [`Share::WHOLE`] by chance.
pub(crate) fn way(mode: ReadMode, canary: Share, leased: bool, draw: impl FnOnce() -> u16) -> Way {
    let serves = match mode {
        ReadMode::Off => return Way::Origin,
        ReadMode::Shadow => false,
        ReadMode::Canary => canary.has(draw()),
        ReadMode::On => true,
    };
    match (serves, leased) {
        (true, true) => Way::Targets,
        (true, false) => Way::Back(Fallback::NoLease),
        (false, true) => Way::Notice,
        (false, false) => Way::Origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_go_step_by_step_and_never_without_a_lease() {
        let quarter = Share::parts(2_500);
        let of = |mode, leased, draw| way(mode, quarter, leased, || draw);
        assert_eq!(of(ReadMode::Off, true, 0), Way::Origin);
        assert_eq!(of(ReadMode::Shadow, true, 0), Way::Notice);
        assert_eq!(of(ReadMode::Shadow, false, 0), Way::Origin);
        assert_eq!(
            (of(ReadMode::Canary, true, 2_499), of(ReadMode::Canary, true, 2_500)),
            (Way::Targets, Way::Notice)
        );
        assert_eq!(of(ReadMode::On, true, 9_999), Way::Targets);
        for mode in [ReadMode::Canary, ReadMode::On] {
            assert_eq!(of(mode, false, 0), Way::Back(Fallback::NoLease));
        }
        let never = (0..Share::WHOLE).filter(|draw| Share::parts(0).has(*draw)).count();
        let always = (0..Share::WHOLE).filter(|draw| Share::parts(Share::WHOLE).has(*draw)).count();
        assert_eq!((never, always), (0, 10_000));
    }
}
