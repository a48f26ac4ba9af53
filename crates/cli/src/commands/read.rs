//! What the reading verbs share: how far a read reaches, what its pages cost together, and the pages of a stream as one
//! message.

use std::time::Duration;

use api::v1;
use jiff::Timestamp;

use super::cost::CostSum;
use crate::failure::{Failure, talk};
use crate::input::{Moment, parse_duration, parse_moment};
use crate::output::{EventRecord, Format, FoundRecord, Listing, Stdout, value};
use crate::session::Session;

/// Clocks of two machines differ by less than this, or nothing here is true anyway.
const CLOCK_SKEW: Duration = Duration::from_secs(60);

/// How far back a read goes where nothing is said.
const SINCE: Duration = Duration::from_secs(24 * 3_600);

/// The time that a read is about, as it was typed.
#[derive(Debug, clap::Args)]
pub(crate) struct Span {
    /// From so long ago, such as 1h or 7d [default: 24h]
    #[arg(long, value_name = "DURATION", conflicts_with = "from", value_parser = parse_duration)]
    since: Option<Duration>,
    /// From this time on
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Moment>,
    /// Up to this time, without it [default: as far ahead as events can lie]
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Moment>,
}

impl Span {
    /// From when, and up to when.
    pub(crate) async fn resolve(
        &self,
        session: &Session,
        namespace: &str,
    ) -> Result<(Timestamp, Timestamp), Failure> {
        let now = session.now();
        let end = match self.to {
            Some(to) => to.resolve(now),
            None => open_end(now, horizon(session, namespace).await?),
        };
        let start = self.from.unwrap_or_else(|| Moment::Before(self.since.unwrap_or(SINCE))).resolve(now);
        Ok((start, end))
    }
}

/// How far ahead of the present events of the namespace can lie; none where they can lie anywhere.
pub(crate) async fn horizon(session: &Session, namespace: &str) -> Result<Option<Duration>, Failure> {
    let found = session.client.get_namespace(namespace).await?;
    let limit = value::from_wire(found.future_limit);
    Ok((limit > Duration::ZERO).then(|| limit.saturating_add(CLOCK_SKEW)))
}

/// The end of an interval that is to hold everything up to the present and beyond.
pub(crate) fn open_end(now: Timestamp, horizon: Option<Duration>) -> Timestamp {
    horizon.map_or(Timestamp::MAX, |ahead| now.saturating_add(ahead).unwrap_or(Timestamp::MAX))
}

/// The pages of a read, summed up.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub events: u64,
    cost: CostSum,
    rest: v1::ReadEventRecordsResponse,
}

impl Tally {
    /// Counts a page. An event that goes on in the next page counts there.
    pub(crate) fn add(&mut self, page: &v1::ReadEventRecordsResponse) {
        let whole = page.records.iter().filter(|event| !event.continues).count();
        self.events = self.events.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
        self.cost.add(&page.response_context);
        let rest = &mut self.rest;
        rest.next_page_token.clone_from(&page.next_page_token);
        rest.record_order = page.record_order;
        rest.retention_truncated |= page.retention_truncated;
        if page.partial.is_some() {
            rest.partial.clone_from(&page.partial);
        }
    }

    /// The message that all pages make together, without its events.
    fn message(&self) -> v1::ReadEventRecordsResponse {
        v1::ReadEventRecordsResponse { response_context: self.cost.contexts(), ..self.rest.clone() }
    }

    /// What is missing from the answer, for people.
    fn gaps(&self) -> String {
        self.cost.gaps(self.rest.partial.as_ref(), self.rest.retention_truncated)
    }
}

/// Pages on their way to stdout.
#[derive(Debug)]
pub(crate) struct PageWriter {
    listing: Listing,
    format: Format,
    text: bool,
    several_series: bool,
    tally: Tally,
    /// Whether the array of events has begun, in JSON.
    opened: bool,
}

impl PageWriter {
    /// A writer; with `text`, values are text also where programs read them.
    pub(crate) fn new(format: Format, width: Option<usize>, text: bool) -> Result<Self, Failure> {
        let listing = Listing::new(format, width)?;
        Ok(Self { listing, format, text, several_series: false, tally: Tally::default(), opened: false })
    }

    /// Tables also say whose each event is.
    pub(crate) fn of_several_series(self) -> Self {
        Self { several_series: true, ..self }
    }

    /// The bytes of a further page.
    pub(crate) fn page(&mut self, page: &v1::ReadEventRecordsResponse) -> Result<Vec<u8>, Failure> {
        self.tally.add(page);
        let records = page.records.iter().map(|event| EventRecord { event, text: self.text });
        let text = match self.several_series {
            true => self.listing.batch(&records.map(FoundRecord).collect::<Vec<_>>())?,
            false => self.listing.batch(&records.collect::<Vec<_>>())?,
        };
        if self.format != Format::Json || self.opened || page.records.is_empty() {
            return Ok(text);
        }
        self.opened = true;
        Ok([b"{\"records\":[".as_slice(), &text].concat())
    }

    /// The bytes after the last page.
    pub(crate) fn end(&self) -> Result<Vec<u8>, Failure> {
        let Some(json) = self.listing.json().filter(|_| self.format == Format::Json) else {
            return Ok(Vec::new());
        };
        let rest = json.message(&self.tally.message())?;
        let rest = match rest.strip_prefix(b"{") {
            Some(b"}") if self.opened => b"]}".to_vec(),
            Some(fields) if self.opened => [b"],", fields].concat(),
            _ => rest,
        };
        Ok([rest, b"\n".to_vec()].concat())
    }

    /// Tells people what the answer cost, after a table, and what is missing from it.
    pub(crate) fn talk(&self, took: Duration) {
        if self.format == Format::Table {
            talk(&self.tally.cost.summary(self.tally.events, took));
        }
        talk(&self.tally.gaps());
    }

    /// What leads to the next page; empty at the end.
    pub(crate) fn next_page_token(&self) -> &str {
        &self.tally.rest.next_page_token
    }

    /// Writes a page to `stdout`.
    pub(crate) fn write(
        &mut self,
        stdout: &mut Stdout,
        page: &v1::ReadEventRecordsResponse,
    ) -> Result<(), Failure> {
        let bytes = self.page(page)?;
        stdout.write(&bytes)?;
        stdout.flush()
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
