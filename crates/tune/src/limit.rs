//! Guardrails: what keeps a proposal from going further.

/// What limited a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The next wider bucket would make partitions larger than the density allows.
    Density,
    /// A bucket is never wider than its slice.
    WholeSlice,
    /// One change makes buckets, or event buckets, only so much narrower or more.
    StepCap,
    /// Buckets are not made narrower than this.
    NarrowestBucket,
    /// Event buckets have a limit.
    EventBuckets,
    /// What series hold is not known, so every bucket was taken to be full.
    Unsummed,
}

impl Limit {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Density,
        Self::WholeSlice,
        Self::StepCap,
        Self::NarrowestBucket,
        Self::EventBuckets,
        Self::Unsummed,
    ];

    /// Its name, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Density => "density",
            Self::WholeSlice => "whole_slice",
            Self::StepCap => "step_cap",
            Self::NarrowestBucket => "narrowest_bucket",
            Self::EventBuckets => "event_buckets",
            Self::Unsummed => "unsummed",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|limit| limit.as_str() == name)
    }

    /// The same, for people.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Density => "the next wider bucket would exceed the density",
            Self::WholeSlice => "a bucket is never wider than its slice",
            Self::StepCap => "one change is at most 8 times narrower and has at most twice the event buckets",
            Self::NarrowestBucket => "buckets are not made narrower than a minute",
            Self::EventBuckets => "there are at most 64 event buckets",
            Self::Unsummed => {
                "what series hold is not summed up, so sizes are upper bounds; `braid tune observe --measure` sums it up"
            }
        }
    }
}
