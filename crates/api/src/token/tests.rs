//! Page tokens: the golden, and what must be refused.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use engine::{Aggregation, ReadRequest, Reason, Resume, SearchQuery};
use model::{EventId, Interval, ItemKey, NamespaceName, Order, Position, SeriesId, Timestamp};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::format::{Body, SCANNED_BYTES_MAX};
use super::{Query, TOKEN_CHARS_MAX, TokenKey, TokenKeys};

const SECOND: i64 = 1_000_000_000;
const NOW: i64 = 1_774_700_000 * SECOND;
const DAY: i64 = 86_400 * SECOND;

fn keys() -> TokenKeys {
    TokenKeys { current: TokenKey { id: 7, secret: [0x5a; 32] }, previous: None }
}

fn request() -> ReadRequest {
    ReadRequest {
        namespace: NamespaceName::new("orders").unwrap(),
        series: vec![SeriesId::new("profileId:123").unwrap()],
        interval: Interval::new(NOW - DAY, NOW).unwrap(),
        query: Some(SearchQuery::And(vec![filter("type", "play")])),
        page_records: 100,
        order: Order::NewestFirst,
        resume: None,
        total_limit: Some(1_000),
        max_latency: None,
        deadline: None,
    }
}

fn filter(key: &str, value: &'static str) -> SearchQuery {
    SearchQuery::Equals { key: key.to_owned(), value: Bytes::from_static(value.as_bytes()) }
}

fn query() -> Query {
    Query::of(&request(), None)
}

fn resume(nanos: i64, texts: [&str; 3], remaining: Option<u64>) -> Resume {
    let after = Position {
        event_time: Timestamp::from_nanos(nanos).unwrap(),
        event_id: EventId::new(texts[0]).unwrap(),
        series: SeriesId::new(texts[1]).unwrap(),
        item_key: ItemKey::new(texts[2]).unwrap(),
    };
    Resume { after, remaining, scanned_bytes: Vec::new(), event_bucket: None }
}

fn here() -> Resume {
    let here = resume(NOW - 5, ["event-1", "profileId:123", "type"], Some(900));
    Resume { scanned_bytes: vec![0, 127, 128, 20_000_000], ..here }
}

/// In a read of all series.
fn in_partition() -> Resume {
    Resume { event_bucket: Some(3), scanned_bytes: Vec::new(), ..here() }
}

#[track_caller]
fn refused(keys: &TokenKeys, token: &str, query: &Query, now: i64) -> String {
    let error = keys.open(token, query, now).unwrap_err();
    assert_eq!(error.reason(), Reason::PageTokenInvalid);
    let message = error.to_string();
    assert!(message.starts_with("page_token: ") && message.ends_with("without a token"), "{message}");
    message
}

#[test]
fn the_format_is_the_documented_one() {
    let every = ReadRequest { series: Vec::new(), ..request() };
    let count = Query::of(&every, Some(&Aggregation::Count));
    let expect = [(query(), here()), (Query::of(&every, None), in_partition()), (count, in_partition())];
    assert_eq!(GOLDEN.lines().count(), expect.len());
    for (token, (query, resume)) in GOLDEN.lines().zip(expect) {
        assert_eq!(keys().seal(resume.clone(), &query, NOW), token);
        assert_eq!(keys().open(token, &query, NOW).unwrap(), resume);
    }
}

/// Made from the documented format by another program: a read of one series, a search of all, and a count of all.
const GOLDEN: &str = include_str!("../../golden/page-token-v1.txt");

#[test]
fn the_longest_token_fits() {
    let long = resume(NOW, [&"e".repeat(128), &"s".repeat(512), &"k".repeat(256)], Some(u64::MAX));
    let long = Resume { scanned_bytes: vec![u64::MAX; 64], event_bucket: Some(u32::MAX), ..long };
    let token = keys().seal(long.clone(), &query(), NOW);
    assert!(token.len() <= TOKEN_CHARS_MAX, "{}", token.len());
    let counted = Resume { scanned_bytes: vec![SCANNED_BYTES_MAX; 64], ..long };
    assert_eq!(keys().open(&token, &query(), NOW).unwrap(), counted);
}

#[test]
fn no_more_numbers_than_event_buckets_are_read() {
    let resume = Resume { scanned_bytes: Vec::new(), ..here() };
    let body = Body { key_id: 7, query_hash: [3; 16], expiry_seconds: 9, resume };
    for (count, is_read) in [(1, true), (64, true), (65, false)] {
        let mut bytes = body.encode();
        assert_eq!(bytes.pop(), Some(0));
        bytes.push(count);
        bytes.extend(vec![5; count.into()]);
        let read = Body::decode(&bytes).map(|body| body.resume.scanned_bytes);
        assert_eq!(read, is_read.then(|| vec![5; count.into()]));
    }
}

/// As the engine makes them: the edge of a group, and behind an event in either direction.
#[test]
fn positions_between_events_are_kept() {
    for (event_id, item_key) in [("", &b""[..]), ("e", b""), ("e", b"\xFF")] {
        let mut resume = here();
        resume.after.event_id = EventId::from_stored(Bytes::from_static(event_id.as_bytes()));
        resume.after.item_key = ItemKey::from_stored(Bytes::from_static(item_key));
        let token = keys().seal(resume.clone(), &query(), NOW);
        assert_eq!(keys().open(&token, &query(), NOW).unwrap(), resume);
    }
}

#[test]
fn a_token_lives_24_hours() {
    let token = keys().seal(here(), &query(), NOW);
    assert!(keys().open(&token, &query(), NOW + DAY - SECOND).is_ok());
    assert!(refused(&keys(), &token, &query(), NOW + DAY).contains("has expired"));
    assert!(refused(&keys(), &token, &query(), i64::MAX).contains("has expired"));
    // A server whose clock is behind takes it.
    assert!(keys().open(&token, &query(), i64::MIN).is_ok());
}

type Change = fn(&mut ReadRequest);

#[test]
fn a_token_belongs_to_one_query() {
    let token = keys().seal(here(), &query(), NOW);
    let changes: [(&str, Change); 9] = [
        ("namespace", |request| request.namespace = NamespaceName::new("order").unwrap()),
        ("series", |request| request.series = vec![SeriesId::new("profileId:124").unwrap()]),
        ("start", |request| request.interval = Interval::new(NOW - DAY + 1, NOW).unwrap()),
        ("end", |request| request.interval = Interval::new(NOW - DAY, NOW + 1).unwrap()),
        ("order", |request| request.order = Order::OldestFirst),
        ("no total limit", |request| request.total_limit = None),
        ("total limit", |request| request.total_limit = Some(999)),
        ("no query", |request| request.query = None),
        ("filters cut elsewhere", |request| {
            request.query = Some(SearchQuery::And(vec![filter("typep", "lay")]));
        }),
    ];
    for (what, change) in changes {
        let mut other = request();
        change(&mut other);
        let message = refused(&keys(), &token, &Query::of(&other, None), NOW);
        assert!(message.contains("belongs to another query"), "{what}: {message}");
    }
    let same = ReadRequest { page_records: 7, resume: Some(here()), ..request() };
    assert!(keys().open(&token, &Query::of(&same, None), NOW).is_ok());
}

#[test]
fn a_token_belongs_to_one_aggregation_or_to_none() {
    let key = |text: &str| text.to_owned();
    let kinds = [
        None,
        Some(Aggregation::Count),
        Some(Aggregation::Distinct { key: key("k") }),
        Some(Aggregation::Distinct { key: key("l") }),
        Some(Aggregation::Stats { key: key("k") }),
        Some(Aggregation::TimeHistogram { width: 1 }),
        Some(Aggregation::TimeHistogram { width: 2 }),
    ];
    for one in &kinds {
        let token = keys().seal(here(), &Query::of(&request(), one.as_ref()), NOW);
        for other in &kinds {
            let opened = keys().open(&token, &Query::of(&request(), other.as_ref()), NOW);
            assert_eq!(opened.is_ok(), one == other, "{one:?} {other:?}");
        }
    }
}

#[test]
fn an_event_bucket_is_there_or_not_and_nothing_else() {
    for (event_bucket, tail) in [(None, &[0, 0][..]), (Some(3), &[1, 0, 0, 0, 3, 0])] {
        let resume = Resume { event_bucket, scanned_bytes: Vec::new(), ..here() };
        let bytes = Body { key_id: 7, query_hash: [3; 16], expiry_seconds: 9, resume }.encode();
        assert!(bytes.ends_with(tail), "{bytes:?}");
        for odd in [2, 255] {
            let mut bytes = bytes.clone();
            let flag = bytes.len() - tail.len();
            bytes[flag] = odd;
            assert_eq!(Body::decode(&bytes), None);
        }
    }
}

#[test]
fn two_keys_are_live() {
    let old = keys();
    let next = TokenKey { id: 8, secret: [0x11; 32] };
    let rotated = TokenKeys { current: next.clone(), previous: Some(old.current.clone()) };
    let token = old.seal(here(), &query(), NOW);
    assert_eq!(rotated.open(&token, &query(), NOW).unwrap(), here());
    assert_eq!(rotated.open(&rotated.seal(here(), &query(), NOW), &query(), NOW).unwrap(), here());
    let twice = TokenKeys { current: TokenKey { id: 9, secret: [0x22; 32] }, previous: Some(next) };
    refused(&twice, &token, &query(), NOW);
    let same_id = TokenKeys { current: TokenKey { id: 7, secret: [0x11; 32] }, previous: None };
    refused(&same_id, &token, &query(), NOW);
}

#[test]
fn odd_texts_are_refused() {
    let token = keys().seal(here(), &query(), NOW);
    let long = "A".repeat(TOKEN_CHARS_MAX + 1);
    assert!(refused(&keys(), &long, &query(), NOW).contains("longer than any token"));
    for odd in ["", "A", "-", "not a token", "ä", &"A".repeat(TOKEN_CHARS_MAX), &format!("{token}=")] {
        assert!(refused(&keys(), odd, &query(), NOW).contains("is damaged"), "{odd}");
    }
}

#[test]
fn keys_do_not_show_their_secret() {
    assert_eq!(format!("{:?}", keys().current), "TokenKey { id: 7, .. }");
}

fn resumes() -> impl Strategy<Value = Resume> {
    let time = prop_oneof![Just(0), Just(Timestamp::MAX.nanos()), 0..Timestamp::MAX.nanos()];
    let scanned = prop::collection::vec(prop_oneof![0..300_u64, 0..=SCANNED_BYTES_MAX], 0..=64);
    let numbers = (any::<Option<u64>>(), any::<Option<u32>>(), scanned);
    (time, "\\PC{1,32}", "\\PC{1,128}", "\\PC{1,64}", numbers).prop_map(
        |(time, event, series, item, (remaining, event_bucket, scanned_bytes))| {
            let here = resume(time, [&event, &series, &item], remaining);
            Resume { scanned_bytes, event_bucket, ..here }
        },
    )
}

/// Bytes to overwrite, and with what.
fn noise() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec(any::<(prop::sample::Index, u8)>(), 0..4)
}

proptest! {
    #[test]
    fn what_is_sealed_opens(resume in resumes(), now in 0..i64::MAX) {
        let token = keys().seal(resume.clone(), &query(), now);
        prop_assert_eq!(keys().open(&token, &query(), now).unwrap(), resume);
    }

    #[test]
    fn a_changed_byte_is_refused(resume in resumes(), at in any::<prop::sample::Index>(), change in 1_u8..) {
        let mut bytes = URL_SAFE_NO_PAD.decode(keys().seal(resume, &query(), NOW)).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        refused(&keys(), &URL_SAFE_NO_PAD.encode(bytes), &query(), NOW);
    }

    #[test]
    fn a_changed_character_is_refused(at in any::<prop::sample::Index>(), to in "[A-Za-z0-9_-]") {
        let token = keys().seal(here(), &query(), NOW);
        let at = at.index(token.len());
        let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
        prop_assert!(changed == token || keys().open(&changed, &query(), NOW).is_err());
    }

    #[test]
    fn a_cut_token_is_refused(resume in resumes(), at in any::<prop::sample::Index>()) {
        let token = keys().seal(resume, &query(), NOW);
        refused(&keys(), &token[..at.index(token.len())], &query(), NOW);
    }

    #[test]
    fn any_text_is_refused(text in "\\PC{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        refused(&keys(), &text, &query(), NOW);
        refused(&keys(), &URL_SAFE_NO_PAD.encode(bytes), &query(), NOW);
    }

    /// Behind the seal too, nothing panics and there is one encoding: what decodes is what was encoded.
    #[test]
    fn any_body_decodes_or_not(resume in resumes(), noise in noise(), cut in 0_usize..4, more in 0_usize..4) {
        let body = Body { key_id: 7, query_hash: [3; 16], expiry_seconds: 9, resume };
        let mut bytes = body.encode();
        prop_assert_eq!(Body::decode(&bytes), Some(body));
        for (at, value) in noise {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut);
        bytes.resize(bytes.len() + more, 0);
        if let Some(read) = Body::decode(&bytes) {
            prop_assert_eq!(read.encode(), bytes);
        }
    }
}
