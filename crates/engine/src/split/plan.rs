//! The first step: read all of the origin, once, and decide how to cut it.

use split::{CoverLayout, Digest, Digester, Phase, Profile, Reason, Usage, Why, plan};

use super::attempt::Attempt;
use super::detect::Seen;
use super::held::{Held, Stop};
use super::pack::Sampler;
use super::scan::{Pages, Part};

impl Attempt<'_> {
    /// All of the origin, from where `digest` stands.
    pub(super) fn origin(&self, held: &Held<'_>, digest: &Digest) -> Pages {
        let part = Part {
            table: self.dataset.table(&self.layout),
            partition: held.id.partition.clone(),
            interval: self.interval,
            consistency: self.dataset.namespace.spec.consistency,
            layout: CoverLayout::Rows,
        };
        Pages::behind(&self.splits.store, part, digest, self.splits.limits.page_bytes)
    }

    /// Reads the origin and plans.
    pub(super) async fn plan(&mut self, held: &mut Held<'_>) -> Result<(), Stop> {
        let resumed = held.record().resume(Phase::Plan).map(|found| found.digest.clone());
        let profile = held.record().profile.clone().filter(|_| resumed.is_some());
        // Without both it begins anew.
        let (digest, mut profile) = resumed.zip(profile).unwrap_or_default();
        let mut pages = self.origin(held, &digest);
        let mut digester = Digester::new(self.key, digest);
        let mut sampler = Sampler::new(self.splits.store.is_remote(), &profile);
        while let Some(page) = pages.next().await? {
            for row in page.rows.iter() {
                if !digester.add(&row) || !self.is_of_origin(&row, &held.id.partition) {
                    return Err(misplaced("the origin", &row));
                }
                profile.add(&row);
            }
            sampler.look(&page.rows, &mut profile);
            self.read(page.bytes).await?;
            self.checkpoint(held, (Phase::Plan, 0), || (digester.digest(), Some(profile.clone()))).await?;
        }
        self.decide(held, digester.digest(), &profile).await
    }

    /// As which reads know the origin.
    fn origin_key(&self, held: &Held<'_>) -> Seen {
        let namespace = &self.dataset.namespace;
        let start = self.layout.slice.start();
        (namespace.name.as_str().to_owned(), namespace.incarnation, held.id.partition.clone(), start)
    }

    async fn decide(&self, held: &mut Held<'_>, digest: Digest, profile: &Profile) -> Result<(), Stop> {
        let spec = &self.dataset.namespace.spec.split;
        let spreads = self.splits.store.spreads().await?;
        let is_remote = self.splits.store.is_remote();
        let usage = Usage { spreads, is_remote, ..self.splits.detector.usage(&self.origin_key(held)) };
        let refused = |reason| Stop::Rejected(refusal(reason, profile, spec));
        let wish = spec.wish(held.record().asked_layout);
        let cut = plan(profile, &wish, &usage).map_err(refused)?;
        let server = self.splits.catalog.me.id();
        let at = self.splits.moment(&server);
        held.write(held.record().planned(digest, &cut, &self.layout.shape, at)).await
    }
}

/// A row that is not where it belongs, or comes twice.
pub(super) fn misplaced(whose: &str, row: &model::RowView<'_>) -> Stop {
    let message =
        format!("{whose} holds a row that does not belong there, or out of order; the store is damaged");
    let key = Some(split::Key::of(row));
    Stop::Failed(Why { key, ..Why::new(Reason::Misplaced, message) })
}

fn refusal(reason: Reason, profile: &Profile, spec: &crate::namespace::SplitSpec) -> Why {
    let message = match reason {
        Reason::NotWide => format!(
            "it has {} bytes, not more than the threshold of {}; nothing to split",
            profile.bytes, spec.threshold_bytes
        ),
        _ => format!(
            "it has {} bytes in {} events, {} of them in one; events are never cut",
            profile.bytes, profile.events, profile.largest_event_bytes
        ),
    };
    Why::new(reason, message)
}
