//! Which read a token belongs to: a hash over everything that must not change between its pages.

use engine::ReadRequest;
use model::Order;
use sha2::{Digest, Sha256};

/// Bytes of the hash that a token carries. The seal keeps tokens from being forged; this only tells reads apart.
pub(super) const HASH_BYTES: usize = 16;

/// A read, as far as its pages must agree: namespace, series, interval, order, total limit, filters.
///
/// The hash goes over, in this order: the version of this list (1), namespace and series (each with its length first),
/// start and end, order (0 newest first, 1 oldest first), total limit (0, or 1 and the number), the number of filters, and
/// each filter's key and value (with their lengths first). Lengths and numbers have eight bytes, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    hash: [u8; HASH_BYTES],
}

const VERSION: u8 = 1;

impl Query {
    /// The query of `request`; its page size and where it resumes make no difference.
    pub fn of(request: &ReadRequest) -> Self {
        let mut sha = Sha256::new();
        sha.update([VERSION]);
        text(&mut sha, request.namespace.as_str().as_bytes());
        text(&mut sha, request.series.as_str().as_bytes());
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
        sha.update(length(request.filters.len()));
        for filter in &request.filters {
            text(&mut sha, &filter.key);
            text(&mut sha, &filter.value);
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

fn text(sha: &mut Sha256, bytes: &[u8]) {
    sha.update(length(bytes.len()));
    sha.update(bytes);
}

fn length(length: usize) -> [u8; 8] {
    u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes()
}
