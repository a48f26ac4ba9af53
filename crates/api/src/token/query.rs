//! Which read a token belongs to: a hash over everything that must not change between its pages.

use engine::{Aggregation, ReadRequest, SearchQuery};
use model::Order;
use sha2::{Digest, Sha256};

/// Bytes of the hash that a token carries. The seal keeps tokens from being forged; this only tells reads apart.
pub(super) const HASH_BYTES: usize = 16;

/// A read, as far as its pages must agree: namespace, series, interval, order, total limit, query, and what is found out of
/// the events instead of reading them.
///
/// The hash goes over, in this order: the version of this list (1), namespace (its length first), the number of series and each
/// (its length first), start and end, order (0 newest first, 1 oldest first), total limit (0, or 1 and the number), the
/// query: 0 for none, or its tree from the top, each node with a byte for its kind (1 and, 2 or, 3 not: then the number of
/// parts and each part; 4 equals, 5 prefix: key and value; 6 exists: key; 7 range: key, then lower and upper, each 0 for
/// none, or 1 or 2 (inclusive) and the value), and the aggregation: 0 for none, 1 count, 2 distinct: key, 3 stats: key, 4 time
/// histogram: its width in nanoseconds. Lengths and numbers have eight bytes, big-endian; keys and values have their lengths
/// first. So a token of a search is refused by an aggregation over the same events, and the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    hash: [u8; HASH_BYTES],
}

const VERSION: u8 = 1;

impl Query {
    /// The query of `request`, and of an aggregation over its events where there is one; the page size and where it resumes
    /// make no difference.
    pub fn of(request: &ReadRequest, aggregation: Option<&Aggregation>) -> Self {
        let mut sha = Sha256::new();
        sha.update([VERSION]);
        text(&mut sha, request.namespace.as_str().as_bytes());
        sha.update(length(request.series.len()));
        for series in &request.series {
            text(&mut sha, series.as_str().as_bytes());
        }
        sha.update(request.interval.start().to_be_bytes());
        sha.update(request.interval.end().to_be_bytes());
        sha.update([match request.order {
            Order::NewestFirst => 0,
            Order::OldestFirst => 1,
        }]);
        match request.total_limit {
            None => sha.update([0]),
            Some(limit) => {
                sha.update([1]);
                sha.update(limit.to_be_bytes());
            }
        }
        match &request.query {
            None => sha.update([0]),
            Some(query) => node(&mut sha, query),
        }
        match aggregation {
            None => sha.update([0]),
            Some(Aggregation::Count) => sha.update([1]),
            Some(Aggregation::Distinct { key }) => term(&mut sha, 2, key, None),
            Some(Aggregation::Stats { key }) => term(&mut sha, 3, key, None),
            Some(Aggregation::TimeHistogram { width }) => {
                sha.update([4]);
                sha.update(width.to_be_bytes());
            }
        }
        let mut hash = [0; HASH_BYTES];
        for (to, from) in hash.iter_mut().zip(sha.finalize()) {
            *to = from;
        }
        Self { hash }
    }

    pub(super) const fn hash(&self) -> &[u8; HASH_BYTES] {
        &self.hash
    }
}

fn node(sha: &mut Sha256, query: &SearchQuery) {
    match query {
        SearchQuery::And(parts) => tree(sha, 1, parts),
        SearchQuery::Or(parts) => tree(sha, 2, parts),
        SearchQuery::Not(parts) => tree(sha, 3, parts),
        SearchQuery::Equals { key, value } => term(sha, 4, key, Some(value)),
        SearchQuery::Prefix { key, value } => term(sha, 5, key, Some(value)),
        SearchQuery::Exists { key } => term(sha, 6, key, None),
        SearchQuery::Range { key, lower, upper } => {
            term(sha, 7, key, None);
            for limit in [lower, upper] {
                match limit {
                    None => sha.update([0]),
                    Some(limit) => {
                        sha.update([if limit.inclusive { 2 } else { 1 }]);
                        text(sha, &limit.value);
                    }
                }
            }
        }
    }
}

fn tree(sha: &mut Sha256, kind: u8, parts: &[SearchQuery]) {
    sha.update([kind]);
    sha.update(length(parts.len()));
    parts.iter().for_each(|part| node(sha, part));
}

fn term(sha: &mut Sha256, kind: u8, key: &str, value: Option<&[u8]>) {
    sha.update([kind]);
    text(sha, key.as_bytes());
    if let Some(value) = value {
        text(sha, value);
    }
}

fn text(sha: &mut Sha256, bytes: &[u8]) {
    sha.update(length(bytes.len()));
    sha.update(bytes);
}

fn length(length: usize) -> [u8; 8] {
    u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes()
}
