//! The tree that people see: slices, time buckets, event buckets. Buckets that gave nothing and follow each other share a
//! line, and where there are very many event buckets only the time buckets are shown.

use std::time::Duration;

use api::v1;

use super::super::list::Record;
use super::super::value;
use super::{ExplainedRecord, numbers};

/// More lines of event buckets than this are no help to anybody.
const EVENT_BUCKET_LINES_MAX: usize = 64;

/// A read as text.
#[derive(Debug)]
pub(crate) struct Tree {
    pub text: String,
    /// Event buckets with rows that were too many to be shown.
    pub left_out: u64,
}

/// What some partitions gave and took together.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    partitions: u64,
    rows: u64,
    bytes: u64,
    calls: u64,
    time: Duration,
}

/// A line and those under it.
struct Node {
    text: String,
    under: Vec<Node>,
}

impl Tree {
    /// All that was visited, in the order of the read, and what was not.
    pub(crate) fn of(answer: &v1::ExplainReadResponse) -> Self {
        let buckets = || answer.slices.iter().flat_map(|slice| &slice.time_buckets);
        let lines: usize = buckets().map(|bucket| event_buckets(bucket).len()).sum();
        let with_event_buckets = lines <= EVENT_BUCKET_LINES_MAX;
        let mut nodes: Vec<Node> = answer
            .slices
            .iter()
            .map(|slice| Node {
                text: ExplainedRecord(slice).row().join("  "),
                under: time_buckets(&slice.time_buckets, with_event_buckets),
            })
            .collect();
        if !answer.skipped.is_empty() {
            let under = answer.skipped.iter().map(skipped).collect();
            nodes.push(Node { text: "not visited".to_owned(), under });
        }
        let mut text = String::new();
        for node in &nodes {
            node.write("", "", &mut text);
        }
        if answer.read_ahead > 0 {
            let ahead = u64::try_from(answer.read_ahead).unwrap_or(0);
            text += &format!("{} opened ahead at most\n", value::count(ahead, "time bucket"));
        }
        let filled = buckets().flat_map(|bucket| &bucket.event_buckets).filter(|one| one.rows > 0).count();
        let left_out = if with_event_buckets { 0 } else { u64::try_from(filled).unwrap_or(u64::MAX) };
        Self { text, left_out }
    }
}

impl Node {
    fn leaf(text: String) -> Self {
        Self { text, under: Vec::new() }
    }

    /// `here` stands before this line, `below` before those under it.
    fn write(&self, here: &str, below: &str, text: &mut String) {
        *text += &format!("{here}{}\n", self.text);
        let last = self.under.len().saturating_sub(1);
        for (at, node) in self.under.iter().enumerate() {
            let (branch, trunk) = if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            node.write(&format!("{below}{branch}"), &format!("{below}{trunk}"), text);
        }
    }
}

fn time_buckets(buckets: &[v1::ExplainedTimeBucket], with_event_buckets: bool) -> Vec<Node> {
    let empty = |bucket: &v1::ExplainedTimeBucket| took(&bucket.event_buckets).rows == 0;
    let node = |run: &[v1::ExplainedTimeBucket]| {
        let (first, last) = (run.first()?, run.last()?);
        let took = took(run.iter().flat_map(|bucket| &bucket.event_buckets));
        let time = value::interval(Some(&spanned(run)));
        let name = numbered("time bucket", first.time_bucket, last.time_bucket);
        let text = match took.rows {
            0 => format!("{name}  {time}  empty: {}", took.effort()),
            _ => format!("{name}  {time}  {}", took.yielded()),
        };
        let under = if with_event_buckets && took.rows > 0 { event_buckets(first) } else { Vec::new() };
        Some(Node { text, under })
    };
    buckets.chunk_by(|one, next| empty(one) && empty(next)).filter_map(node).collect()
}

fn event_buckets(bucket: &v1::ExplainedTimeBucket) -> Vec<Node> {
    let node = |run: &[v1::ExplainedPartition]| {
        let (first, last) = (run.first()?, run.last()?);
        let (name, took) = (numbered("event bucket", first.event_bucket, last.event_bucket), took(run));
        Some(Node::leaf(match took.rows {
            0 => format!("{name}  empty: {}", took.effort()),
            _ => format!("{name}  {}  {}", took.yielded(), way(first)),
        }))
    };
    if took(&bucket.event_buckets).rows == 0 {
        return Vec::new();
    }
    bucket.event_buckets.chunk_by(|one, next| one.rows == 0 && next.rows == 0).filter_map(node).collect()
}

/// How a partition came to be read where it was.
fn way(partition: &v1::ExplainedPartition) -> String {
    let v1::ExplainedPartition { filter, cache, route, targets, fallback, .. } = partition;
    let mut text = format!("filter {filter}, cache {cache}, route {route}");
    if !targets.is_empty() {
        text += &format!(" {}", numbers(targets));
    }
    if !fallback.is_empty() {
        text += &format!(", fallback {fallback}");
    }
    value::printable(&text).into_owned()
}

fn skipped(skip: &v1::ExplainedSkip) -> Node {
    let why = match skip.reason.as_str() {
        "NO_SLICE" => "nothing was ever written there",
        "DROPPED" => "retention has dropped it",
        "PAGE_FULL" => "the page was full before",
        "SCAN_LIMIT" => "the page had read as much as a page may",
        "TIME_OVER" => "the time of the page was over",
        _ => "",
    };
    let number = |number: i64, what: &str| value::count(u64::try_from(number).unwrap_or(0), what);
    let left = match skip.partitions {
        0 => String::new(),
        _ => {
            let (buckets, partitions) =
                (number(skip.time_buckets, "time bucket"), number(skip.partitions, "partition"));
            format!(": {buckets}, {partitions}")
        }
    };
    let (reason, time) = (value::printable(&skip.reason), value::interval(skip.time_interval.as_ref()));
    Node::leaf(format!("{reason}  {time}  {why}{left}"))
}

/// From the earliest start to the latest end: a read goes forwards or backwards.
fn spanned(run: &[v1::ExplainedTimeBucket]) -> v1::TimeInterval {
    let intervals = || run.iter().filter_map(|bucket| bucket.time_interval);
    let key = |time: &prost_types::Timestamp| (time.seconds, time.nanos);
    v1::TimeInterval {
        start: intervals().filter_map(|interval| interval.start).min_by_key(key),
        end: intervals().filter_map(|interval| interval.end).max_by_key(key),
    }
}

fn numbered(what: &str, first: i32, last: i32) -> String {
    if first == last { format!("{what} {first}") } else { format!("{what}s {first} to {last}") }
}

fn took<'a>(partitions: impl IntoIterator<Item = &'a v1::ExplainedPartition>) -> Took {
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    partitions.into_iter().fold(Took::default(), |sum, one| Took {
        partitions: sum.partitions + 1,
        rows: sum.rows.saturating_add(number(one.rows)),
        bytes: sum.bytes.saturating_add(number(one.bytes)),
        calls: sum.calls.saturating_add(number(one.store_calls)),
        time: sum.time.saturating_add(value::from_wire(one.time_taken)),
    })
}

impl Took {
    /// What was given, and what it took.
    fn yielded(&self) -> String {
        let Self { rows, bytes, calls, time, .. } = *self;
        let (rows, calls) = (value::count(rows, "row"), value::count(calls, "call"));
        format!("{rows}, {}, {calls}, {}", value::size(bytes), value::took(time))
    }

    /// What it took to find nothing.
    fn effort(&self) -> String {
        let (partitions, calls) =
            (value::count(self.partitions, "partition"), value::count(self.calls, "call"));
        format!("{partitions}, {calls}, {}", value::took(self.time))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn hours(start: i64, end: i64) -> Option<v1::TimeInterval> {
        let at = |hour| Some(prost_types::Timestamp { seconds: hour * 3_600, nanos: 0 });
        Some(v1::TimeInterval { start: at(start), end: at(end) })
    }

    /// An hour whose partitions gave so many rows, of 100 bytes each.
    pub(in super::super) fn bucket(time_bucket: i32, rows: &[i64]) -> v1::ExplainedTimeBucket {
        let partition = |(event_bucket, rows): (i32, &i64)| v1::ExplainedPartition {
            event_bucket,
            filter: "NONE".to_owned(),
            cache: "NOT_ASKED".to_owned(),
            route: "ORIGIN".to_owned(),
            rows: *rows,
            bytes: rows * 100,
            store_calls: 1,
            time_taken: Some(prost_types::Duration { seconds: 0, nanos: 1_000_000 }),
            targets: Vec::new(),
            fallback: String::new(),
        };
        let start = i64::from(time_bucket);
        let event_buckets = (0..).zip(rows).map(partition).collect();
        v1::ExplainedTimeBucket { time_bucket, time_interval: hours(start, start + 1), event_buckets }
    }

    pub(in super::super) fn slice(
        table: &str,
        time_buckets: Vec<v1::ExplainedTimeBucket>,
    ) -> v1::ExplainedSlice {
        v1::ExplainedSlice {
            table: table.to_owned(),
            time_interval: hours(0, 24),
            seconds_per_bucket: 3_600,
            buckets_per_id: 2,
            time_buckets,
        }
    }

    #[test]
    fn a_read_is_a_tree_in_which_empty_buckets_share_a_line() {
        let buckets =
            vec![bucket(9, &[3, 0, 0, 1]), bucket(8, &[0, 0]), bucket(7, &[0, 0]), bucket(6, &[0, 5])];
        let skip = |reason: &str, time_buckets, partitions| v1::ExplainedSkip {
            reason: reason.to_owned(),
            time_interval: hours(0, 5),
            time_buckets,
            partitions,
        };
        let answer = v1::ExplainReadResponse {
            slices: vec![slice("data_2", buckets), slice("data_1", vec![bucket(1, &[0, 0])])],
            skipped: vec![skip("PAGE_FULL", 5, 10), skip("NO_SLICE", 0, 0)],
            read_ahead: 4,
            ..v1::ExplainReadResponse::default()
        };
        let tree = Tree::of(&answer);
        let expect = "\
data_2  1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z  time buckets of 1h, 2 event buckets each
├─ time bucket 9  1970-01-01T09:00:00Z to 1970-01-01T10:00:00Z  4 rows, 400 B, 4 calls, 4.0 ms
│  ├─ event bucket 0  3 rows, 300 B, 1 call, 1.0 ms  filter NONE, cache NOT_ASKED, route ORIGIN
│  ├─ event buckets 1 to 2  empty: 2 partitions, 2 calls, 2.0 ms
│  └─ event bucket 3  1 row, 100 B, 1 call, 1.0 ms  filter NONE, cache NOT_ASKED, route ORIGIN
├─ time buckets 8 to 7  1970-01-01T07:00:00Z to 1970-01-01T09:00:00Z  empty: 4 partitions, 4 calls, 4.0 ms
└─ time bucket 6  1970-01-01T06:00:00Z to 1970-01-01T07:00:00Z  5 rows, 500 B, 2 calls, 2.0 ms
   ├─ event bucket 0  empty: 1 partition, 1 call, 1.0 ms
   └─ event bucket 1  5 rows, 500 B, 1 call, 1.0 ms  filter NONE, cache NOT_ASKED, route ORIGIN
data_1  1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z  time buckets of 1h, 2 event buckets each
└─ time bucket 1  1970-01-01T01:00:00Z to 1970-01-01T02:00:00Z  empty: 2 partitions, 2 calls, 2.0 ms
not visited
├─ PAGE_FULL  1970-01-01T00:00:00Z to 1970-01-01T05:00:00Z  the page was full before: 5 time buckets, 10 partitions
└─ NO_SLICE  1970-01-01T00:00:00Z to 1970-01-01T05:00:00Z  nothing was ever written there
4 time buckets opened ahead at most
";
        assert_eq!((tree.text.as_str(), tree.left_out), (expect, 0));
        assert_eq!(Tree::of(&v1::ExplainReadResponse::default()).text, "");
    }

    #[test]
    fn a_partition_that_was_split_says_which_way_it_was_read() {
        let mut bucket = bucket(1, &[1, 1]);
        let partitions = &mut bucket.event_buckets;
        (partitions[0].filter, partitions[0].cache) = ("YES".to_owned(), "HIT".to_owned());
        (partitions[0].route, partitions[0].targets) = ("TARGET".to_owned(), vec![16, 18]);
        partitions[1].fallback = "TARGET_ERROR".to_owned();
        assert_eq!(way(&partitions[0]), "filter YES, cache HIT, route TARGET 16 18");
        assert_eq!(way(&partitions[1]), "filter NONE, cache NOT_ASKED, route ORIGIN, fallback TARGET_ERROR");
    }

    #[test]
    fn very_many_event_buckets_are_left_out_and_counted() {
        let of = |buckets: Vec<v1::ExplainedTimeBucket>| {
            let slices = vec![slice("data_1", buckets)];
            Tree::of(&v1::ExplainReadResponse { slices, ..v1::ExplainReadResponse::default() })
        };
        let shown = of(vec![bucket(1, &[1; 64])]);
        assert_eq!((shown.text.lines().count(), shown.left_out), (66, 0));
        let shown = of(vec![bucket(1, &[1; 64]), bucket(0, &[0, 2])]);
        assert_eq!((shown.text.lines().count(), shown.left_out), (3, 65));
    }
}
