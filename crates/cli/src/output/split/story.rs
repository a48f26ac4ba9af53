//! One split in full: the origin, the plan, both sides, how far it is, and how it came here.

use api::admin::v1::post_split_data::Strategy;
use api::admin::v1::{PostSplitData, Split, SplitDigest, SplitPartition};
use jiff::Timestamp;

use super::super::{Table, value};
use super::progress::{Progress, difference};
use super::{age, bytes, count, since};

/// Characters of the id of a server: enough to tell a few apart.
const SERVER_CHARS: usize = 8;

/// Everything about a split, in parts.
pub(crate) fn story(split: &Split, now: Timestamp, width: Option<usize>) -> String {
    let parts = [
        facts(split, now, width),
        sides(split, width),
        targets(split, width),
        timeline(split, now, width),
        rechecks(split, width),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn table(rows: &[Vec<String>], width: Option<usize>) -> String {
    let mut text = String::new();
    Table::new(width).rows(rows, &mut text);
    text
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(|cell| value::printable(cell).into_owned()).to_vec()
}

/// What it is and why it is so, a line each.
fn facts(split: &Split, now: Timestamp, width: Option<usize>) -> String {
    let pre = split.pre_split_data.clone().unwrap_or_default();
    let mut facts = vec![
        ("id", split.id.clone()),
        ("namespace", split.namespace.clone()),
        ("state", state(split, now)),
        (
            "origin",
            format!("{}, time bucket {}, event bucket {}", pre.time_slice, pre.time_bucket, pre.event_bucket),
        ),
        ("series", pre.time_series_id),
    ];
    let asked = split.by_hand.then(|| "by hand".to_owned());
    let read = (pre.bytes_read > 0).then(|| format!("a read had read {} of it", bytes(pre.bytes_read)));
    facts.extend(asked.or(read).map(|found| ("found", found)));
    if let Some(post) = &split.post_split_data {
        facts.push(("plan", plan(post, split.capped)));
        facts.extend(
            Some(&post.strategy_reason).filter(|why| !why.is_empty()).map(|why| ("because", why.clone())),
        );
        facts.push(("covers", format!("all events before {}", value::time(split.covered_until))));
    }
    if let Some(progress) = Progress::of(split) {
        let seen = split.checkpoint.as_ref().and_then(|checkpoint| checkpoint.time);
        let ago = seen.map(|seen| format!(", {} ago", value::duration(age(seen, now)))).unwrap_or_default();
        facts.push(("progress", format!("{progress}{ago}")));
    }
    if !split.owner.is_empty() {
        facts.push(("worker", split.owner.clone()));
    }
    if let Some(reason) = &split.reason {
        facts.extend(difference(reason).lines().map(|line| ("reason", line.to_owned())));
    }
    if split.failures > 0 {
        facts.push(("failures", format!("{} in a row", split.failures)));
    }
    if split.stragglers > 0 {
        facts.push((
            "stragglers",
            format!("{} came late, copied after it", value::count(split.stragglers.into(), "row")),
        ));
    }
    if split.next_look.is_some() {
        facts.push(("next look", shown(split.next_look)));
    }
    for garbage in &split.garbage {
        let (first, after) = (garbage.start_event_bucket, shown(garbage.delete_after));
        let targets = value::count(garbage.targets.into(), "target");
        facts.push(("to delete", format!("{targets} from event bucket {first} on, after {after}")));
    }
    facts.push(("etag", split.etag.clone()));
    let rows: Vec<Vec<String>> = facts.iter().map(|(name, fact)| row([name, fact])).collect();
    table(&rows, width)
}

fn state(split: &Split, now: Timestamp) -> String {
    let long =
        since(split).map(|since| format!(" for {}", value::duration(age(since, now)))).unwrap_or_default();
    let parked = split.state == "FAILED" && split.next_look.is_none();
    let parked = if parked { ", parked: `braid split retry` tries it again" } else { "" };
    format!("{}{long}, attempt {}{parked}", split.state, split.attempt)
}

fn plan(post: &PostSplitData, capped: bool) -> String {
    let (by, first) = match &post.strategy {
        Some(Strategy::EventBucketPartitionStrategy(by_hash)) => ("event_bucket", by_hash.start_event_bucket),
        Some(Strategy::TimeRangePartitionStrategy(by_time)) => ("time_range", by_time.start_event_bucket),
        None => ("unknown strategy", 0),
    };
    let capped = if capped { ", capped: more bytes than they should have" } else { "" };
    let (layout, into) = (&post.layout, &post.time_slice);
    let targets = value::count(count(post) as u64, "target");
    format!("{targets} by {by}, layout {layout}, in {into} from event bucket {first} on{capped}")
}

/// The digests of both sides.
fn sides(split: &Split, width: Option<usize>) -> String {
    let origin = split.pre_split_data.as_ref().and_then(|pre| pre.digest.as_ref());
    let targets = split.post_split_data.as_ref().and_then(|post| post.digest.as_ref());
    let mut rows = vec![row(["SIDE", "ROWS", "BYTES", "CHECKSUM"])];
    rows.extend(origin.map(|digest| side("origin", digest)));
    rows.extend(targets.map(|digest| side("targets", digest)));
    if rows.len() == 1 { String::new() } else { table(&rows, width) }
}

fn side(name: &str, digest: &SplitDigest) -> Vec<String> {
    row([name, &digest.rows.to_string(), &digest.bytes.to_string(), &digest.checksum])
}

/// The targets, one by one, with the time from which on each has events where they are cut by time.
fn targets(split: &Split, width: Option<usize>) -> String {
    let Some(post) = split.post_split_data.as_ref().filter(|post| !post.partitions.is_empty()) else {
        return String::new();
    };
    let from = |at: usize| match &post.strategy {
        Some(Strategy::TimeRangePartitionStrategy(by_time)) if at > 0 => {
            value::time(by_time.boundaries.get(at - 1).copied())
        }
        _ => String::new(),
    };
    let one = |(at, target): (usize, &SplitPartition)| {
        let stored = [target.stored_rows.to_string(), bytes(target.stored_bytes)];
        let [stored_rows, stored_bytes] = &stored;
        row([
            &target.event_bucket.to_string(),
            &target.rows.to_string(),
            &bytes(target.bytes),
            stored_rows,
            stored_bytes,
            &from(at),
        ])
    };
    let mut rows = vec![row(["TARGET", "ROWS", "BYTES", "STORED ROWS", "STORED BYTES", "FROM"])];
    rows.extend(post.partitions.iter().enumerate().map(one));
    table(&rows, width)
}

/// How it came here, and how long each state took.
fn timeline(split: &Split, now: Timestamp, width: Option<usize>) -> String {
    let mut rows = vec![row(["WHEN", "STATE", "TOOK", "ATTEMPT", "SERVER", "WHY"])];
    for (at, transition) in split.transitions.iter().enumerate() {
        let took = match (transition.time, split.transitions.get(at + 1).and_then(|next| next.time)) {
            (Some(began), Some(ended)) => value::took(between(began, ended)),
            (Some(began), None) => format!("{} so far", value::duration(age(began, now))),
            _ => String::new(),
        };
        let why = transition.reason.as_ref().map(super::why).unwrap_or_default();
        let (when, attempt) = (shown(transition.time), transition.attempt.to_string());
        let server: String = transition.server.chars().take(SERVER_CHARS).collect();
        rows.push(row([&when, &transition.state, &took, &attempt, &server, &why]));
    }
    if rows.len() == 1 { String::new() } else { table(&rows, width) }
}

/// A time to the millisecond.
fn shown(time: Option<prost_types::Timestamp>) -> String {
    value::time(time.map(|time| prost_types::Timestamp { nanos: time.nanos / 1_000_000 * 1_000_000, ..time }))
}

/// Zero where the clock of one server is behind that of another.
fn between(began: prost_types::Timestamp, ended: prost_types::Timestamp) -> std::time::Duration {
    let nanos =
        |time: prost_types::Timestamp| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
    let nanos = u64::try_from(nanos(ended) - nanos(began)).unwrap_or(0);
    std::time::Duration::from_nanos(nanos)
}

fn rechecks(split: &Split, width: Option<usize>) -> String {
    let mut rows = vec![row(["RECHECK", "RESULT", "ROWS", "BYTES", "CHECKSUM OF THE ORIGIN"])];
    for recheck in &split.rechecks {
        let origin = recheck.origin.clone().unwrap_or_default();
        let result = if recheck.equal { "equal" } else { "NOT EQUAL" };
        let (when, sums) = (shown(recheck.time), [origin.rows, origin.bytes].map(|sum| sum.to_string()));
        let [sum_rows, sum_bytes] = &sums;
        rows.push(row([&when, result, sum_rows, sum_bytes, &origin.checksum]));
    }
    if rows.len() == 1 { String::new() } else { table(&rows, width) }
}

/// The comparison that a split was just put to, and whether both sides were equal; none where there was none.
pub(crate) fn compared(split: &Split, width: Option<usize>) -> Option<(String, bool)> {
    let recheck = split.rechecks.last()?;
    let mut rows = vec![row(["SIDE", "ROWS", "BYTES", "CHECKSUM"])];
    rows.extend(recheck.origin.as_ref().map(|digest| side("origin", digest)));
    let targets = split.post_split_data.as_ref().and_then(|post| post.digest.as_ref());
    rows.extend(targets.filter(|_| recheck.equal).map(|digest| side("targets", digest)));
    let mut text = table(&rows, width);
    if recheck.equal {
        text += "equal\n";
    } else {
        text += "NOT EQUAL\n";
        text += &split.reason.as_ref().map(difference).unwrap_or_default();
    }
    Some((text, recheck.equal))
}
