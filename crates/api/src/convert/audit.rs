//! The audit by pages. A token is the epoch of the last line of the page before.

use engine::{AuditLine, Error, Reason, Result};
use serde_json::Value;

use super::time::timestamp_to_wire;
use crate::admin::v1;

/// Entries on a page.
const PAGE_MAX: usize = 200;
/// Bytes of what was kept before and after on a page, so that any client takes it.
const PAGE_BYTES_MAX: usize = 2 << 20;
/// Lines that one change has at most: a proposal and its namespace.
const LINES_PER_CHANGE: usize = 2;
/// Digits of a token.
const TOKEN_BYTES_MAX: usize = 20;

/// A page of the audit that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditPage {
    /// Only lines of earlier epochs.
    pub before: Option<u64>,
    size: usize,
}

/// The page that a request asks for.
pub fn audit_request(wire: &v1::ListAuditRequest) -> Result<AuditPage> {
    let size = match usize::try_from(wire.page_size) {
        Ok(0) => PAGE_MAX,
        Ok(size) if size <= PAGE_MAX => size,
        _ => {
            let message =
                format!("page_size: is {}; send 1 to {PAGE_MAX}, or 0 for the default", wire.page_size);
            return Err(Error::new(Reason::RangeTooWide, message));
        }
    };
    let token = wire.page_token.as_str();
    let plain = token.len() <= TOKEN_BYTES_MAX && token.bytes().all(|byte| byte.is_ascii_digit());
    let before = match token.parse() {
        _ if token.is_empty() => None,
        Ok(epoch) if plain => Some(epoch),
        _ => {
            let message = "page_token: is not one of this call; send the one from the page before, or none";
            return Err(Error::new(Reason::PageTokenInvalid, message));
        }
    };
    Ok(AuditPage { before, size })
}

impl AuditPage {
    /// How many lines to look for: more than fit, to know whether there are more, and to end the last change.
    pub fn wanted(&self) -> usize {
        self.size + LINES_PER_CHANGE
    }

    /// The answer with the lines that were found.
    pub fn response(&self, lines: Vec<AuditLine>) -> v1::ListAuditResponse {
        let (found, mut bytes) = (lines.len(), 0);
        // The first line always fits: a page without one would lead nowhere.
        let mut fits = |line: &AuditLine| {
            let before = bytes;
            bytes += line.before.as_ref().map_or(0, String::len) + line.after.len();
            before == 0 || bytes <= PAGE_BYTES_MAX
        };
        let mut count = lines.iter().take(self.size).take_while(|line| fits(line)).count();
        // The next page begins behind a change, so none is cut in two.
        let epoch_of = |at: Option<usize>| lines.get(at?).map(|line| line.epoch);
        while count < found && epoch_of(count.checked_sub(1)) == epoch_of(Some(count)) {
            count += 1;
        }
        let entries: Vec<v1::AuditEntry> = lines.into_iter().take(count).map(entry).collect();
        let more = found > entries.len();
        let last = entries.last().filter(|_| more).map(|entry| entry.epoch.to_string());
        v1::ListAuditResponse { entries, next_page_token: last.unwrap_or_default() }
    }
}

fn entry(line: AuditLine) -> v1::AuditEntry {
    let (kind, name) = match line.kind.as_str() {
        "namespaces" => ("namespace", line.name),
        // With the incarnation behind it.
        "blocks" => ("blocks", line.name.split('.').next().unwrap_or_default().to_owned()),
        other => match other.strip_prefix("proposals/").and_then(|which| which.rsplit_once('.')) {
            Some((namespace, _)) => {
                ("proposal", format!("{namespace}/{}", line.name.trim_start_matches('0')))
            }
            None => (other, line.name),
        },
    };
    v1::AuditEntry {
        time: Some(timestamp_to_wire(line.time)),
        action: action(kind, line.before.as_deref(), &line.after).to_owned(),
        kind: kind.to_owned(),
        name,
        author: line.author,
        reason: line.reason,
        server_id: line.server,
        epoch: line.epoch,
        before: line.before.unwrap_or_default(),
        after: line.after,
    }
}

/// What a change did, from what it left.
fn action(kind: &str, before: Option<&str>, after: &str) -> &'static str {
    let read = |json: &str| serde_json::from_str(json).unwrap_or(Value::Null);
    let (before, after) = (before.map_or(Value::Null, read), read(after));
    let deleted = |record: &Value| record.get("deleted").and_then(Value::as_bool).unwrap_or(false);
    let length = |record: &Value, field| record.get(field).and_then(Value::as_array).map_or(0, Vec::len);
    let (here, there) = if kind == "blocks" {
        (length(&before, "blocks") > 0, length(&after, "blocks") > 0)
    } else {
        (!before.is_null() && !deleted(&before), !deleted(&after))
    };
    let backfills = |record| length(record, "reopened");
    if kind == "proposal" {
        let state = after.get("state").and_then(Value::as_str);
        return if state == Some("accepted") { "ACCEPTED" } else { "REJECTED" };
    }
    match (here, there) {
        (false, _) => "CREATED",
        (_, false) => "DELETED",
        _ if backfills(&after) > backfills(&before) => "BACKFILL_BEGUN",
        _ if backfills(&after) < backfills(&before) => "BACKFILL_ENDED",
        _ => "CHANGED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(epoch: u64) -> AuditLine {
        AuditLine {
            epoch,
            time: 7_000_000_000,
            server: "s1".to_owned(),
            author: "ann".to_owned(),
            reason: "why".to_owned(),
            kind: "namespaces".to_owned(),
            name: "plays".to_owned(),
            before: None,
            after: "{}".to_owned(),
        }
    }

    fn asked(page_size: i32, page_token: &str) -> std::result::Result<AuditPage, &'static str> {
        let request = v1::ListAuditRequest { page_size, page_token: page_token.to_owned() };
        audit_request(&request).map_err(|error| error.reason().as_str())
    }

    #[test]
    fn pages_go_on_where_the_last_one_ended() {
        assert_eq!(asked(0, ""), Ok(AuditPage { before: None, size: 200 }));
        let page = asked(2, "9").unwrap();
        assert_eq!((page.before, page.wanted()), (Some(9), 4));
        let answer = page.response(vec![line(8), line(7), line(5)]);
        assert_eq!((answer.entries.len(), answer.next_page_token.as_str()), (2, "7"));
        let last = page.response(vec![line(8), line(7)]);
        assert_eq!((last.entries.len(), last.next_page_token.as_str()), (2, ""));
        let large = |epoch| AuditLine { after: "x".repeat(PAGE_BYTES_MAX), ..line(epoch) };
        let cut = page.response(vec![large(8), line(7)]);
        assert_eq!((cut.entries.len(), cut.next_page_token.as_str()), (1, "8"));
        // Two lines of one change stay together.
        let both = page.response(vec![line(8), line(7), line(7), line(5)]);
        assert_eq!((both.entries.len(), both.next_page_token.as_str()), (3, "7"));
        let end = page.response(vec![line(8), line(7), line(7)]);
        assert_eq!((end.entries.len(), end.next_page_token.as_str()), (3, ""));
        assert_eq!(page.response(Vec::new()), v1::ListAuditResponse::default());
        assert_eq!((asked(-1, ""), asked(201, "")), (Err("RANGE_TOO_WIDE"), Err("RANGE_TOO_WIDE")));
        for bad in ["x", "+1", "-1", "18446744073709551616", "000000000000000000001", "1 "] {
            assert_eq!(asked(1, bad), Err("PAGE_TOKEN_INVALID"), "{bad}");
        }
    }

    #[test]
    fn an_entry_says_what_was_done_to_what() {
        let shown = |kind: &str, name: &str, before: Option<&str>, after: &str| {
            let (kind, name) = (kind.to_owned(), name.to_owned());
            let entry = entry(AuditLine {
                kind,
                name,
                before: before.map(str::to_owned),
                after: after.to_owned(),
                ..line(3)
            });
            assert_eq!((entry.before.as_str(), entry.after.as_str()), (before.unwrap_or(""), after));
            assert_eq!((entry.author.as_str(), entry.reason.as_str(), entry.epoch), ("ann", "why", 3));
            format!("{} {} {}", entry.action, entry.kind, entry.name)
        };
        let namespace = |before, after| shown("namespaces", "plays", before, after);
        assert_eq!(namespace(None, "{}"), "CREATED namespace plays");
        assert_eq!(namespace(Some("{}"), "{}"), "CHANGED namespace plays");
        assert_eq!(namespace(Some("{}"), r#"{"deleted":true}"#), "DELETED namespace plays");
        assert_eq!(namespace(Some(r#"{"deleted":true}"#), "{}"), "CREATED namespace plays");
        let (one, two) = (r#"{"reopened":[{}]}"#, r#"{"reopened":[{},{}]}"#);
        assert_eq!(namespace(Some("{}"), one), "BACKFILL_BEGUN namespace plays");
        assert_eq!(namespace(Some(two), one), "BACKFILL_ENDED namespace plays");
        let blocks = |before, after| shown("blocks", "plays.12", Some(before), after);
        let (none, some) = (r#"{"blocks":[]}"#, r#"{"blocks":[{}]}"#);
        assert_eq!(blocks(none, some), "CREATED blocks plays");
        assert_eq!(blocks(some, some), "CHANGED blocks plays");
        assert_eq!(blocks(some, none), "DELETED blocks plays");
        let proposal = |after| shown("proposals/plays.12", "00000000000000000070", Some("{}"), after);
        assert_eq!(proposal(r#"{"state":"accepted"}"#), "ACCEPTED proposal plays/70");
        assert_eq!(proposal(r#"{"state":"rejected"}"#), "REJECTED proposal plays/70");
    }
}
