//! What a play has done: that it was no play without faults, and about enough.

/// Counts one play, or several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that were acknowledged.
    pub acknowledged: u64,
    /// Reads that were complete, and checked.
    pub reads: u64,
    /// Partial pages whose claim was checked.
    pub partial: u64,
    /// Of those, pages of servers without a lease.
    pub stale: u64,
    /// Crashes of servers.
    pub crashes: u64,
    /// Leases that ran out on a server that ran on.
    pub leases_lost: u64,
    /// Requests that waited as long as a lease lasts.
    pub waited_for_a_lease: u64,
    /// Tables that were made.
    pub tables_made: u64,
    /// Tables that were dropped.
    pub tables_dropped: u64,
    /// Requests whose outcome the client never learned.
    pub unknown: u64,
    /// Events acknowledged by a server without a lease.
    pub unleased_writes: u64,
    /// Backfills that were opened.
    pub backfills: u64,
    /// Events acknowledged that only a backfill could take.
    pub backfilled: u64,
    /// Namespaces made again.
    pub made_again: u64,
    /// Times that were closed and told so.
    pub closed: u64,
    /// Requests refused because an id was blocked.
    pub blocked: u64,
    /// Events that were refused because they were too old.
    pub too_old: u64,
    /// Bursts of large events.
    pub bursts: u64,
    /// Partitions that were found wide, or asked to be split.
    pub candidates: u64,
    /// Splits that were completed.
    pub completed: u64,
    /// Of those, such whose targets are packed.
    pub completed_packed: u64,
    /// Attempts to split that failed.
    pub failed: u64,
    /// Partitions that were not worth it.
    pub rejected: u64,
    /// Splits that were taken out of use.
    pub retired: u64,
    /// Attempts that another worker took over.
    pub taken_over: u64,
    /// Of those, from a checkpoint in the middle of a step.
    pub resumed: u64,
    /// Comparisons of completed splits.
    pub rechecked: u64,
    /// Rows of targets that were damaged before they were read back.
    pub damaged: u64,
    /// The same after it.
    pub damaged_late: u64,
    /// Of those splits, such that were taken out of use.
    pub damage_found: u64,
    /// Pages that came from targets.
    pub target_pages: u64,
    /// Pages that should have come from targets, and came from the origin.
    pub fallback_pages: u64,
    /// Reads in which events of one partition came both ways.
    pub switched: u64,
    /// Reads of several series, among the complete ones.
    pub searches: u64,
    /// Counts that were complete, and checked.
    pub counted: u64,
    /// Of those, such of split time that is packed, answered by targets alone.
    pub counted_packed: u64,
    /// Pages that were read both ways, and compared.
    pub compared: u64,
    /// Read modes that went on.
    pub advanced: u64,
    /// Read modes that went back from one in which targets are served.
    pub rolled_back: u64,
    /// Differences that were confirmed.
    pub mismatches: u64,
    /// Reads that may have met damage, and were not judged.
    pub excused: u64,
    /// Crashes of servers that were splitting something.
    pub crashed_at_work: u64,
    /// Tables of targets that could not be read for a while.
    pub troubles: u64,
    /// Filters that were let to get old.
    pub late_filters: u64,
}

impl Counts {
    /// Adds those of another play.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.all_mut().into_iter().zip(other.all()) {
            *sum.1 += more.1;
        }
    }

    /// What never happened, by name. Over many plays that is a fault of the play.
    pub fn missing(&self) -> Vec<&'static str> {
        self.all().into_iter().filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
    }

    /// All of them, by name.
    pub fn all(&self) -> [(&'static str, u64); 44] {
        let mut copy = *self;
        copy.all_mut().map(|(name, count)| (name, *count))
    }

    fn all_mut(&mut self) -> [(&'static str, &mut u64); 44] {
        [
            ("acknowledged", &mut self.acknowledged),
            ("reads", &mut self.reads),
            ("partial", &mut self.partial),
            ("stale", &mut self.stale),
            ("crashes", &mut self.crashes),
            ("leases_lost", &mut self.leases_lost),
            ("waited_for_a_lease", &mut self.waited_for_a_lease),
            ("tables_made", &mut self.tables_made),
            ("tables_dropped", &mut self.tables_dropped),
            ("unknown", &mut self.unknown),
            ("unleased_writes", &mut self.unleased_writes),
            ("backfills", &mut self.backfills),
            ("backfilled", &mut self.backfilled),
            ("made_again", &mut self.made_again),
            ("closed", &mut self.closed),
            ("blocked", &mut self.blocked),
            ("too_old", &mut self.too_old),
            ("bursts", &mut self.bursts),
            ("candidates", &mut self.candidates),
            ("completed", &mut self.completed),
            ("completed_packed", &mut self.completed_packed),
            ("failed", &mut self.failed),
            ("rejected", &mut self.rejected),
            ("retired", &mut self.retired),
            ("taken_over", &mut self.taken_over),
            ("resumed", &mut self.resumed),
            ("rechecked", &mut self.rechecked),
            ("damaged", &mut self.damaged),
            ("damaged_late", &mut self.damaged_late),
            ("damage_found", &mut self.damage_found),
            ("target_pages", &mut self.target_pages),
            ("fallback_pages", &mut self.fallback_pages),
            ("switched", &mut self.switched),
            ("searches", &mut self.searches),
            ("counted", &mut self.counted),
            ("counted_packed", &mut self.counted_packed),
            ("compared", &mut self.compared),
            ("advanced", &mut self.advanced),
            ("rolled_back", &mut self.rolled_back),
            ("mismatches", &mut self.mismatches),
            ("excused", &mut self.excused),
            ("crashed_at_work", &mut self.crashed_at_work),
            ("troubles", &mut self.troubles),
            ("late_filters", &mut self.late_filters),
        ]
    }
}
