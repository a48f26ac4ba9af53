//! How far a split has come, from its checkpoint, and how it ends.

use api::admin::v1::{Split, SplitReason};

use super::super::list::Record;
use super::super::{Json, value};
use super::{count, size, targets, why};
use crate::failure::{CONFLICT, FINDINGS, Failure};

/// How far the present step has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// What is being done.
    pub step: String,
    pub bytes: u64,
    /// Of so many; none where nobody knows before the end.
    pub of_bytes: Option<u64>,
}

impl Progress {
    /// None where nothing is under way that has a checkpoint.
    pub(crate) fn of(split: &Split) -> Option<Self> {
        let checkpoint = split.checkpoint.as_ref().filter(|found| found.attempt == split.attempt)?;
        let unsigned = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let whole = split.pre_split_data.as_ref().and_then(|pre| pre.digest.as_ref());
        let whole = whole.map(|digest| unsigned(digest.bytes));
        let here = unsigned(checkpoint.bytes);
        let (step, done, of_bytes) = match checkpoint.phase.as_str() {
            "PLAN" => ("reading the origin".to_owned(), here, None),
            "COPY" => ("copying".to_owned(), here, whole),
            "VERIFY_TARGETS" => {
                let post = split.post_split_data.as_ref()?;
                let at = usize::try_from(checkpoint.target).unwrap_or(usize::MAX);
                let before: i64 = post.partitions.iter().take(at).map(|target| target.bytes).sum();
                let targets = count(post);
                let step = format!("reading target {} of {targets} back", at.saturating_add(1).min(targets));
                (step, unsigned(before) + here, whole)
            }
            "VERIFY_ORIGIN" => ("reading the origin again".to_owned(), here, whole),
            _ => return None,
        };
        Some(Self { step, bytes: of_bytes.map_or(done, |most| done.min(most)), of_bytes })
    }

    /// In hundredths of the step.
    pub(crate) fn percent(&self) -> Option<u64> {
        self.of_bytes
            .filter(|of| *of > 0)
            .map(|of| u64::try_from(u128::from(self.bytes) * 100 / u128::from(of)).unwrap_or(100))
    }
}

impl std::fmt::Display for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.step, value::size(self.bytes))?;
        match (self.of_bytes, self.percent()) {
            (Some(of), Some(percent)) => write!(f, " of {}, {percent}%", value::size(of)),
            _ => Ok(()),
        }
    }
}

/// What is to be said of a split that is being watched.
fn said(split: &Split) -> String {
    if let Some(progress) = Progress::of(split) {
        return progress.to_string();
    }
    match (&split.reason, split.state.as_str()) {
        (Some(reason), _) => why(reason),
        (None, "CANDIDATE") => "waits for closed time and a worker".to_owned(),
        (None, "PLANNING") => "reading the origin".to_owned(),
        (None, "COPYING") => "copying".to_owned(),
        (None, "VERIFYING") => "reading back".to_owned(),
        (None, "COMPLETED") => format!("{} into {}", size(split), targets(split)),
        (None, "PLANNED") => format!("{} into {} targets", size(split), targets(split)),
        _ => String::new(),
    }
}

/// What a watch of this split ends with, once it has: done, findings, or something in its way.
pub(crate) fn ended(split: &Split) -> Option<u8> {
    let differs = split.reason.as_ref().is_some_and(is_difference);
    match split.state.as_str() {
        "COMPLETED" => Some(0),
        // It is made anew: a worker looks at it again.
        "RETIRED" if split.next_look.is_some() => None,
        "RETIRED" if !differs => Some(0),
        "FAILED" | "REJECTED" | "RETIRED" => Some(if differs { FINDINGS } else { CONFLICT }),
        "EXPIRED" => Some(CONFLICT),
        _ => None,
    }
}

/// Whether copies were found not to be equal.
fn is_difference(reason: &SplitReason) -> bool {
    matches!(reason.code.as_str(), "MISMATCH" | "MISPLACED")
}

/// A change of a split that is being watched.
#[derive(Debug)]
pub(crate) struct ProgressRecord<'a> {
    pub split: &'a Split,
    /// When it was seen.
    pub time: prost_types::Timestamp,
}

impl Record for ProgressRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["TIME", "ID", "STATE", "PROGRESS"];
    const FIELDS: &'static [&'static str] =
        &["time", "id", "state", "attempt", "phase", "target", "rows", "bytes", "reason", "message"];

    fn row(&self) -> Vec<String> {
        let whole = prost_types::Timestamp { nanos: 0, ..self.time };
        vec![
            value::time(Some(whole)),
            value::printable(&self.split.id).into_owned(),
            value::printable(&self.split.state).into_owned(),
            said(self.split),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let checkpoint = self.split.checkpoint.clone().unwrap_or_default();
        let reason = self.split.reason.clone().unwrap_or_default();
        vec![vec![
            value::time(Some(self.time)),
            self.split.id.clone(),
            self.split.state.clone(),
            self.split.attempt.to_string(),
            checkpoint.phase,
            checkpoint.target.to_string(),
            checkpoint.rows.to_string(),
            checkpoint.bytes.to_string(),
            reason.code,
            reason.message,
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.split)
    }
}

/// What a difference says, for whoever compares by hand.
pub(super) fn difference(reason: &SplitReason) -> String {
    let mut text = format!("{}\n", why(reason));
    if let Some(key) = &reason.key {
        let key =
            format!("event {} at {}, item {}", key.event_id, value::time(key.event_time), key.event_item_key);
        text += &format!("first difference: {}\n", value::printable(&key));
    }
    text
}
