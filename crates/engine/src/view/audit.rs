//! The audit: who changed what, when and why, with what was there before. Append-only; JSON with a version, described in
//! `docs/formats/view.md`.

use model::slice::utc;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use store::{MetaKey, MetaRecord};

use super::head::{Cause, Entry, Put};
use crate::catalog::Catalog;
use crate::catalog::record::decode;
use crate::{Error, Reason, Result};

const VERSION: u32 = 1;
const GROUP: &str = "audit";
/// Audited changes of the first year that there can be any.
const FIRST_YEAR: u32 = 2026;
/// Lines that are given at once.
pub const AUDIT_LINES_MAX: usize = 1_000;

/// One change of configuration, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    version: u32,
    epoch: u64,
    time: i64,
    server: String,
    author: String,
    reason: String,
    /// Which record.
    group: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<RawValue>>,
    after: Box<RawValue>,
}

/// One change of configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLine {
    /// Where it stands in the order of all changes.
    pub epoch: u64,
    /// When, by the clock of the server that made it.
    pub time: i64,
    /// Which server.
    pub server: String,
    /// Who asked for it.
    pub author: String,
    /// Why.
    pub reason: String,
    /// What kind of thing changed: `namespaces`, `blocks`.
    pub kind: String,
    /// Which one.
    pub name: String,
    /// What it was, as JSON; none if it was not there.
    pub before: Option<String>,
    /// What it is, as JSON.
    pub after: String,
}

impl Line {
    pub(super) fn new(entry: &Entry, cause: &Cause, put: &Put, before: Option<&MetaRecord>) -> Self {
        let text = |found: &MetaRecord| String::from_utf8(found.value.to_vec()).ok();
        let stored = || before.and_then(text).and_then(|text| RawValue::from_string(text).ok());
        let (before, after) = match put.shown.clone() {
            Some(shown) => (Some(shown.before), shown.after),
            None => (stored(), put.value.clone()),
        };
        Self {
            version: VERSION,
            epoch: entry.epoch,
            time: entry.time,
            server: entry.server.clone(),
            author: cause.author.clone(),
            reason: cause.reason.clone(),
            group: put.group.clone(),
            name: put.name.clone(),
            before,
            after,
        }
    }

    /// Where it is kept: the lines of a year together, newest first.
    pub(super) fn key(&self, at: usize) -> MetaKey {
        let year = utc(self.time).get(..4).and_then(|year| year.parse().ok()).unwrap_or(FIRST_YEAR);
        MetaKey::new(group_of(year.max(FIRST_YEAR)), format!("{:020}-{at:04}", u64::MAX - self.epoch))
    }

    fn shown(self) -> AuditLine {
        AuditLine {
            epoch: self.epoch,
            time: self.time,
            server: self.server,
            author: self.author,
            reason: self.reason,
            kind: self.group,
            name: self.name,
            before: self.before.map(|json| json.get().to_owned()),
            after: self.after.get().to_owned(),
        }
    }
}

fn group_of(year: u32) -> String {
    format!("{GROUP}/{year:04}")
}

impl Catalog {
    /// The newest changes of configuration behind `before`, newest first.
    pub(crate) async fn audit(&self, before: Option<u64>, lines_max: usize) -> Result<Vec<AuditLine>> {
        self.settle_now().await?;
        let after = before.map(|epoch| format!("{:020}-~", u64::MAX - epoch));
        let this_year = utc(self.env.clock.wall()).get(..4).and_then(|year| year.parse().ok());
        let mut lines = Vec::new();
        // A clock that runs ahead at the turn of a year may be in the next one.
        for year in (FIRST_YEAR..=this_year.unwrap_or(FIRST_YEAR) + 1).rev() {
            let left = lines_max.min(AUDIT_LINES_MAX).saturating_sub(lines.len());
            if left == 0 {
                break;
            }
            let after = after.as_ref().map(String::as_bytes);
            let page = self.store.meta_range(group_of(year).as_bytes(), after, left).await?;
            for stored in page.records {
                let line: Line = decode(&stored.value)?;
                check_version(line.version)?;
                lines.push(line.shown());
            }
        }
        Ok(lines)
    }
}

fn check_version(version: u32) -> Result<()> {
    if version == VERSION {
        return Ok(());
    }
    let message =
        format!("the audit has lines of version {version}, this program knows {VERSION}; use a newer one");
    Err(Error::new(Reason::ChecksumMismatch, message))
}
