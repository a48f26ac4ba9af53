//! Searches on the wire: what a query means, and which node of a wrong one is named.

use bytes::Bytes;

use super::*;
use crate::token::TokenKey;

const NOW: i64 = 1_774_700_000_000_000_000;

fn search(change: impl FnOnce(&mut v1::SearchEventRecordsRequest)) -> Result<Read> {
    let time = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
    let mut wire = v1::SearchEventRecordsRequest {
        namespace: "orders".to_owned(),
        time_series_id: "b".to_owned(),
        time_interval: Some(v1::TimeInterval { start: time(10), end: time(20) }),
        ..v1::SearchEventRecordsRequest::default()
    };
    change(&mut wire);
    let keys = TokenKeys { current: TokenKey { id: 1, secret: [9; 32] }, previous: None };
    search_request(wire, &keys, NOW)
}

fn equals(key: &str) -> v1::SearchQuery {
    let term = v1::EqualsQuery { event_item_key: key.to_owned(), event_item_value: Bytes::from_static(b"v") };
    v1::SearchQuery { query: Some(Node::Equals(term)) }
}

fn tree(operator: Operator, parts: Vec<v1::SearchQuery>) -> v1::SearchQuery {
    let tree = v1::BooleanQuery { operator: operator.into(), search_query: parts };
    v1::SearchQuery { query: Some(Node::BooleanQuery(tree)) }
}

fn range(lower: Option<v1::Bound>, upper: Option<v1::Bound>) -> v1::SearchQuery {
    let range = v1::RangeQuery { event_item_key: "n".to_owned(), lower_bound: lower, upper_bound: upper };
    v1::SearchQuery { query: Some(Node::Range(range)) }
}

fn refusal(query: v1::SearchQuery) -> String {
    search(|wire| wire.search_query = Some(query)).unwrap_err().to_string()
}

#[test]
fn series_are_named_once_in_either_field() {
    let series = |one: &str, several: &[&str]| {
        let read = search(|wire| {
            wire.time_series_id = one.to_owned();
            wire.time_series_ids = several.iter().map(|id| (*id).to_owned()).collect();
        });
        read.map(|read| {
            read.request.series.iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        })
        .map_err(|error| error.to_string())
    };
    assert_eq!(series("b", &["c", "a", "b"]).unwrap(), "a b c");
    assert_eq!(series("", &["a"]).unwrap(), "a");
    assert_eq!(series("", &[]).unwrap(), "", "all of them");
    assert_eq!(
        series("a", &["x"; 100]).unwrap_err(),
        "time_series_ids: names 101 series; name at most 100, or none for all of them"
    );
    // An id that is there and empty is a mistake, not all series.
    assert!(series("", &[""]).unwrap_err().starts_with("time_series_ids[0]: "));
    assert!(series("a", &["b", ""]).unwrap_err().starts_with("time_series_ids[1]: "));
}

#[test]
fn a_query_keeps_its_meaning() {
    let bound = |value: &'static str, inclusive| v1::Bound { value: value.into(), inclusive };
    let wire = tree(
        Operator::And,
        vec![
            equals("k"),
            tree(Operator::Not, vec![range(Some(bound("1", true)), Some(bound("9", false)))]),
            tree(Operator::Or, vec![equals("a"), equals("b")]),
        ],
    );
    let query = search(|request| request.search_query = Some(wire)).unwrap().request.query.unwrap();
    let equals = |key: &str| SearchQuery::Equals { key: key.to_owned(), value: Bytes::from_static(b"v") };
    let limit = |value: &'static str, inclusive| Some(Limit { value: value.into(), inclusive });
    let range = SearchQuery::Range { key: "n".to_owned(), lower: limit("1", true), upper: limit("9", false) };
    let expect = SearchQuery::And(vec![
        equals("k"),
        SearchQuery::Not(vec![range]),
        SearchQuery::Or(vec![equals("a"), equals("b")]),
    ]);
    assert_eq!(query, expect);
    assert_eq!(search(|_| ()).unwrap().request.query, None);
}

#[test]
fn a_wrong_node_is_named_by_its_path() {
    let nested = |part| tree(Operator::And, vec![equals("k"), tree(Operator::Or, vec![part])]);
    let path = "search_query.boolean_query.search_query[1].boolean_query.search_query[0]";
    for (part, expect) in [
        (v1::SearchQuery::default(), ": is empty; send one of boolean_query, equals, range, prefix, exists"),
        (equals(""), ".equals.event_item_key: has 0 bytes, no item has such a key; send 1 to 256"),
        (tree(Operator::And, vec![]), ".boolean_query.search_query: is empty; send at least one query"),
        (
            tree(Operator::Unspecified, vec![equals("k")]),
            ".boolean_query.operator: is not known; send AND, OR or NOT",
        ),
        (range(None, None), ".range: has no bound; send lower_bound, upper_bound or both, or use exists"),
    ] {
        assert_eq!(refusal(nested(part)), format!("{path}{expect}"));
    }
}

#[test]
fn trees_are_limited() {
    let wide = |terms| tree(Operator::Or, vec![equals("k"); terms]);
    assert!(search(|wire| wire.search_query = Some(wide(64))).is_ok());
    assert_eq!(
        refusal(wide(65)),
        "search_query.boolean_query.search_query[64]: is one term over 64; ask for fewer"
    );
    let deep = |depth| (1..depth).fold(equals("k"), |query, _| tree(Operator::Not, vec![query]));
    assert!(search(|wire| wire.search_query = Some(deep(8))).is_ok());
    assert!(refusal(deep(9)).ends_with("is more than 8 deep; flatten it"));
}

#[test]
fn a_token_belongs_to_its_series_and_its_query() {
    let query = |change: fn(&mut v1::SearchEventRecordsRequest)| search(change).unwrap().query;
    let plain = query(|_| ());
    assert_eq!(plain, query(|wire| wire.page_size = 7));
    let changes: [fn(&mut v1::SearchEventRecordsRequest); 6] = [
        |wire| wire.time_series_id.clear(),
        |wire| wire.time_series_ids = vec!["c".to_owned()],
        |wire| wire.search_query = Some(equals("k")),
        |wire| wire.search_query = Some(equals("l")),
        |wire| wire.search_query = Some(tree(Operator::Not, vec![equals("k")])),
        |wire| wire.search_query = Some(tree(Operator::Or, vec![equals("k")])),
    ];
    let mut all: Vec<_> = changes.into_iter().map(query).chain([plain]).collect();
    while let Some(one) = all.pop() {
        assert!(!all.contains(&one));
    }
}
