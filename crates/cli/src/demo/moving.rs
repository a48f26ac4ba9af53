//! Reads move from origins to targets, step by step, through the gates of their namespace.

use api::admin::v1 as admin;
use rpc::client::Client;

use super::digest::Check;
use super::reader::Reader;
use super::readings::WHALE_PAGE;
use super::workload::{WHALE, name};
use crate::failure::Failure;
use crate::import::grouped;
use crate::output::value::size;

/// Reads that have to be compared before reads move on: small, so that the story is short.
pub(super) const MIN_COMPARED: i64 = 20;
const REASON: &str = "braid demo";

/// Comparisons while origins were served.
#[derive(Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Shadow {
    /// What all comparisons came to.
    pub(crate) seen: Seen,
    /// Of them, pages of all splits that were read both ways for the sake of it.
    pub(crate) swept_pages: i64,
    /// Events on them.
    pub(crate) swept_events: i64,
}

/// Comparisons while a share of reads was served from targets.
#[derive(Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Canary {
    /// What they came to.
    pub(crate) seen: Seen,
    /// Pages of the whale that were read.
    pub(crate) pages: usize,
    /// Those from targets.
    pub(crate) target_pages: u64,
}

/// What comparisons came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct Seen {
    /// Reads that were compared.
    pub(crate) compared: i64,
    /// Bytes that were the same.
    pub(crate) match_bytes: i64,
    /// Bytes that differed.
    pub(crate) differ_bytes: i64,
    /// Reads that were not compared: no room, or no budget.
    pub(crate) skipped: i64,
    /// How long targets took where the origin took 1.
    pub(crate) latency_ratio: Option<f64>,
}

impl Seen {
    fn of(mode: &admin::ReadMode) -> Self {
        let evidence = mode.evidence.unwrap_or_default();
        Self {
            compared: evidence.compared,
            match_bytes: evidence.match_bytes,
            differ_bytes: evidence.differ_bytes,
            skipped: evidence.skipped,
            latency_ratio: evidence.latency_ratio,
        }
    }

    fn text(&self) -> String {
        let [compared, skipped] = [self.compared, self.skipped].map(|number| grouped(whole(number)));
        let ratio = self
            .latency_ratio
            .map_or_else(String::new, |ratio| format!("; targets take {ratio:.2} of the origin's time"));
        format!(
            "{compared} reads compared ({skipped} skipped), {} the same, {} bytes differ{ratio}",
            size(whole(self.match_bytes)),
            grouped(whole(self.differ_bytes)),
        )
    }
}

impl Shadow {
    /// For people.
    pub(super) fn text(&self) -> String {
        let [pages, events] = [self.swept_pages, self.swept_events].map(|number| grouped(whole(number)));
        format!("{}; among them every split read both ways: {pages} pages, {events} events", self.seen.text())
    }
}

impl Canary {
    /// For people.
    pub(super) fn text(&self) -> String {
        let (pages, target) = (grouped(self.pages as u64), grouped(self.target_pages));
        format!("{target} of {pages} pages of the whale from targets; {}", self.seen.text())
    }
}

fn whole(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Who moves reads, and reads meanwhile.
pub(super) struct Moving<'a> {
    pub(super) client: &'a Client,
    pub(super) reader: Reader<'a>,
    pub(super) namespace: &'a str,
}

impl Moving<'_> {
    /// The next step; the gates decide. What the mode is called.
    pub(super) async fn advance(&self) -> Result<String, Failure> {
        let (namespace, reason) = (self.namespace.to_owned(), REASON.to_owned());
        let request = admin::AdvanceReadModeRequest { namespace, reason, validate_only: false };
        Ok(self.client.advance_read_mode(request).await?.mode)
    }

    /// Origins are served and every read is compared: the whale's, and then every split for the sake of it.
    pub(super) async fn shadow(&self, check: &mut Check) -> Result<Shadow, Failure> {
        let read = self.reader.pages(&name(WHALE), WHALE_PAGE).await?;
        check.compare(WHALE, read.digest, read.unordered);
        let (swept_pages, swept_events) = self.sweep().await?;
        let seen = Seen::of(&self.client.get_read_mode(self.namespace).await?);
        Ok(Shadow { seen, swept_pages, swept_events })
    }

    /// A share of reads is served from targets, and compared with origins.
    pub(super) async fn canary(&self, check: &mut Check) -> Result<Canary, Failure> {
        let read = self.reader.pages(&name(WHALE), WHALE_PAGE).await?;
        check.compare(WHALE, read.digest, read.unordered);
        let mut seen = Seen::of(&self.client.get_read_mode(self.namespace).await?);
        if seen.compared < MIN_COMPARED {
            self.sweep().await?;
            seen = Seen::of(&self.client.get_read_mode(self.namespace).await?);
        }
        Ok(Canary { seen, pages: read.pages.len(), target_pages: read.cost.target_pages })
    }

    /// Reads every split both ways; pages, and events on them.
    async fn sweep(&self) -> Result<(i64, i64), Failure> {
        let namespace = self.namespace.to_owned();
        let mut request = admin::CompareReadModeRequest { namespace, ..Default::default() };
        let (mut pages, mut events) = (0, 0);
        loop {
            let swept = self.client.compare_read_mode(request.clone()).await?;
            pages += swept.pages;
            events += swept.records;
            if swept.next_page_token.is_empty() {
                return Ok((pages, events));
            }
            request.page_token = swept.next_page_token;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_told_with_what_was_skipped() {
        let seen = Seen {
            compared: 1_200,
            match_bytes: 3 << 20,
            differ_bytes: 0,
            skipped: 7,
            latency_ratio: Some(0.987),
        };
        let told = "1,200 reads compared (7 skipped), 3.0 MiB the same, 0 bytes differ; targets take 0.99 of the origin's time";
        assert_eq!(seen.text(), told);
        let shadow =
            Shadow { seen: Seen { latency_ratio: None, ..seen }, swept_pages: 200, swept_events: 200_000 };
        assert!(
            shadow
                .text()
                .ends_with("differ; among them every split read both ways: 200 pages, 200,000 events")
        );
        let canary = Canary { seen, pages: 200, target_pages: 47 };
        assert!(canary.text().starts_with("47 of 200 pages of the whale from targets; 1,200 reads"));
    }
}
