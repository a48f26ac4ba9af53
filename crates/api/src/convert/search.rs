//! Searches: one, several or all series, and a query. A query that is wrong is refused with the path of the node that is
//! wrong.

use engine::{
    Error, Limit, PAGE_RECORDS_DEFAULT, QUERY_DEPTH_MAX, QUERY_TERMS_MAX, ReadRequest, Result, SERIES_MAX,
    SearchQuery,
};
use model::SeriesId;

use super::namespace::namespace_name;
use super::read::{
    Read, going_on, item_key_from_wire, max_latency, order_from_wire, page_records, series_from_wire,
    total_limit,
};
use super::time::interval_from_wire;
use crate::token::TokenKeys;
use crate::v1;
use crate::v1::boolean_query::Operator;
use crate::v1::search_query::Query as Node;

/// The engine's request, going on where the page token says. `now` is the wall clock in nanoseconds since 1970.
pub fn search_request(wire: v1::SearchEventRecordsRequest, keys: &TokenKeys, now: i64) -> Result<Read> {
    let page_records = page_records("page_size", wire.page_size, PAGE_RECORDS_DEFAULT)?;
    let token = wire.page_token.clone();
    going_on(events_of(wire, page_records)?, &token, keys, now)
}

/// The events that a search finds, from the first one on; an aggregation asks for them in the same way.
pub(super) fn events_of(wire: v1::SearchEventRecordsRequest, page_records: usize) -> Result<ReadRequest> {
    Ok(ReadRequest {
        namespace: namespace_name("namespace", &wire.namespace)?,
        series: all_series(&wire.time_series_id, &wire.time_series_ids)?,
        interval: interval_from_wire(wire.time_interval)?,
        query: wire.search_query.map(query_from_wire).transpose()?,
        page_records,
        order: order_from_wire(wire.order)?,
        resume: None,
        total_limit: total_limit(wire.total_record_limit)?,
        max_latency: wire.max_latency.map(max_latency).transpose()?,
        deadline: None,
    })
}

/// Each series once, in the order of the ids: naming them in another order is the same search. None stands for all.
fn all_series(one: &str, several: &[String]) -> Result<Vec<SeriesId>> {
    let count = several.len() + usize::from(!one.is_empty());
    if count > SERIES_MAX {
        let problem = format!("names {count} series; name at most {SERIES_MAX}, or none for all of them");
        return Err(Error::field("time_series_ids", problem));
    }
    let mut series = Vec::with_capacity(count);
    if !one.is_empty() {
        series.push(series_from_wire("time_series_id", one)?);
    }
    for (index, id) in several.iter().enumerate() {
        series.push(series_from_wire(&format!("time_series_ids[{index}]"), id)?);
    }
    series.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    series.dedup();
    Ok(series)
}

fn query_from_wire(wire: v1::SearchQuery) -> Result<SearchQuery> {
    let mut reading = Reading { terms: 0 };
    reading.node("search_query", wire, 1)
}

/// Counts while it reads.
struct Reading {
    terms: usize,
}

impl Reading {
    fn node(&mut self, path: &str, wire: v1::SearchQuery, depth: usize) -> Result<SearchQuery> {
        if depth > QUERY_DEPTH_MAX {
            return Err(Error::field(path, format!("is more than {QUERY_DEPTH_MAX} deep; flatten it")));
        }
        let Some(node) = wire.query else {
            let problem = "is empty; send one of boolean_query, equals, range, prefix, exists";
            return Err(Error::field(path, problem));
        };
        if let Node::BooleanQuery(tree) = node {
            return self.tree(&format!("{path}.boolean_query"), tree, depth);
        }
        self.terms += 1;
        if self.terms > QUERY_TERMS_MAX {
            return Err(Error::field(path, format!("is one term over {QUERY_TERMS_MAX}; ask for fewer")));
        }
        term(path, node)
    }

    fn tree(&mut self, path: &str, wire: v1::BooleanQuery, depth: usize) -> Result<SearchQuery> {
        if wire.search_query.is_empty() {
            return Err(Error::field(&format!("{path}.search_query"), "is empty; send at least one query"));
        }
        let make = match Operator::try_from(wire.operator) {
            Ok(Operator::And) => SearchQuery::And,
            Ok(Operator::Or) => SearchQuery::Or,
            Ok(Operator::Not) => SearchQuery::Not,
            Ok(Operator::Unspecified) | Err(_) => {
                return Err(Error::field(&format!("{path}.operator"), "is not known; send AND, OR or NOT"));
            }
        };
        let part = |(index, part)| self.node(&format!("{path}.search_query[{index}]"), part, depth + 1);
        Ok(make(wire.search_query.into_iter().enumerate().map(part).collect::<Result<_>>()?))
    }
}

fn term(path: &str, node: Node) -> Result<SearchQuery> {
    let key = |kind: &str, key: String| item_key_from_wire(|| format!("{path}.{kind}.event_item_key"), key);
    Ok(match node {
        // Trees are read before.
        Node::BooleanQuery(_) => return Err(Error::field(path, "is a tree; send a term")),
        Node::Equals(wire) => {
            SearchQuery::Equals { key: key("equals", wire.event_item_key)?, value: wire.event_item_value }
        }
        Node::Prefix(wire) => {
            SearchQuery::Prefix { key: key("prefix", wire.event_item_key)?, value: wire.value }
        }
        Node::Exists(wire) => SearchQuery::Exists { key: key("exists", wire.event_item_key)? },
        Node::Range(wire) => {
            let key = key("range", wire.event_item_key)?;
            let limit = |bound: v1::Bound| Limit { value: bound.value, inclusive: bound.inclusive };
            let (lower, upper) = (wire.lower_bound.map(limit), wire.upper_bound.map(limit));
            if lower.is_none() && upper.is_none() {
                let problem = "has no bound; send lower_bound, upper_bound or both, or use exists";
                return Err(Error::field(&format!("{path}.range"), problem));
            }
            SearchQuery::Range { key, lower, upper }
        }
    })
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
