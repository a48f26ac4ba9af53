//! Every split of a namespace read both ways: evidence where nobody reads.

use std::sync::Arc;

use model::{NamespaceName, Order};
use split::{SplitId, State};

use super::compare::{Asked, Comparer, Side};
use super::evidence::Evidence;
use super::metrics::Compared;
use super::sides::{bytes_of, difference};
use crate::catalog::Dataset;
use crate::read::Only;
use crate::request::SplitFilter;
use crate::{ReadRequest, Result};

/// Events of a page that is compared.
const PAGE_RECORDS: usize = 1_000;

/// What comparing splits has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Splits that were read both ways.
    pub splits: u64,
    /// Pages.
    pub pages: u64,
    /// Events that were the same.
    pub records: u64,
    /// Their logical bytes.
    pub bytes: u64,
    /// Splits that differed, confirmed by a second look.
    pub differ: u64,
    /// Bytes in which they did.
    pub differ_bytes: u64,
    /// Behind which split to go on; none at the end.
    pub next: Option<String>,
}

impl Comparer {
    /// Reads completed splits both ways, behind `after`, so many at most.
    pub(crate) async fn sweep(
        &self,
        name: &NamespaceName,
        after: Option<&str>,
        splits_max: usize,
    ) -> Result<Swept> {
        let dataset = self.catalog.find_or_look(name).await?;
        let filter = SplitFilter { states: vec![State::Completed], ..SplitFilter::default() };
        let listed = self.splits.list(name, &filter, after, splits_max).await?;
        let mut swept = Swept { next: listed.next, ..Swept::default() };
        for split in listed.splits {
            if let Some(id) = split.record.id() {
                self.sweep_one(&dataset, &id, &mut swept).await?;
            }
        }
        Ok(swept)
    }

    async fn sweep_one(&self, dataset: &Arc<Dataset>, id: &SplitId, swept: &mut Swept) -> Result<()> {
        let layouts = dataset.layouts.iter();
        let layout = layouts.into_iter().find(|layout| dataset.table(layout).name.as_str() == id.time_slice);
        let Some(layout) = layout else { return Ok(()) };
        let request = ReadRequest {
            namespace: dataset.namespace.name.clone(),
            series: vec![id.partition.series.clone()],
            interval: layout.bucket_interval(id.partition.time_bucket),
            query: None,
            page_records: PAGE_RECORDS,
            order: Order::NewestFirst,
            resume: None,
            total_limit: None,
            max_latency: None,
            deadline: None,
        };
        let only = Only::new([(layout.slice.start(), id.partition.clone())]);
        let mut asked = Asked { dataset: Arc::clone(dataset), request, only, until: None };
        swept.splits += 1;
        loop {
            asked.until = None;
            let origin = self.look(&asked, Side::Origin).await?;
            let next = origin.page.next.clone();
            asked.until = next.as_ref().map(|next| next.after.clone());
            let targets = self.look(&asked, Side::Targets).await?;
            if !targets.holds {
                self.skip(dataset, Compared::Unread);
                return Ok(());
            }
            let nanos = |took: std::time::Duration| u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            let seen = Evidence {
                compared: 1,
                timed: 1,
                origin_nanos: nanos(origin.took),
                target_nanos: nanos(targets.took),
                ..Evidence::default()
            };
            swept.pages += 1;
            if let Some(found) = difference(&origin.events, &targets.events, asked.request.order) {
                let bytes = found.bytes;
                let compared = self.confirm(&asked, found, seen).await?;
                self.metrics.count(compared);
                if compared == Compared::Differ {
                    swept.differ += 1;
                    swept.differ_bytes += bytes;
                    return Ok(());
                }
            } else {
                let bytes = origin.events.iter().map(bytes_of).sum();
                self.metrics.bytes(bytes, 0);
                self.metrics.count(Compared::Match);
                self.notes.add(dataset, &Evidence { match_bytes: bytes, ..seen });
                swept.records += origin.events.len() as u64;
                swept.bytes += bytes;
            }
            match next {
                Some(next) => asked.request.resume = Some(next),
                None => return Ok(()),
            }
        }
    }
}
