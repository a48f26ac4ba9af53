//! The keys that seal tokens, and sealing and opening with them.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine::{Error, Reason, Result, Resume};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::format::Body;
use super::query::Query;
use super::{TOKEN_CHARS_MAX, TOKEN_LIFE_SECONDS};

/// Bytes of the seal.
const SEAL_BYTES: usize = 32;
/// Bytes of a block of SHA-256, the size of a key inside HMAC.
const BLOCK_BYTES: usize = 64;

/// One key.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenKey {
    /// Names the key in a token; different from that of the other live key.
    pub id: u8,
    /// What only the servers know.
    pub secret: [u8; 32],
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl TokenKey {
    fn mac(&self, body: &[u8]) -> Hmac<Sha256> {
        // HMAC fills a short key up with zeros; doing so here needs no length that could be wrong.
        let mut block = [0; BLOCK_BYTES];
        block.iter_mut().zip(self.secret).for_each(|(to, from)| *to = from);
        let mut mac = Hmac::new(&block.into());
        mac.update(body);
        mac
    }
}

/// The live keys: what is sealed with the previous one still opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenKeys {
    /// Seals and opens.
    pub current: TokenKey,
    /// Opens; none before the first rotation.
    pub previous: Option<TokenKey>,
}

impl TokenKeys {
    /// The token with which `query` goes on at `resume`. `now` is the wall clock in nanoseconds since 1970.
    pub fn seal(&self, resume: Resume, query: &Query, now: i64) -> String {
        let body = Body {
            key_id: self.current.id,
            query_hash: *query.hash(),
            expiry_seconds: seconds(now).saturating_add(TOKEN_LIFE_SECONDS),
            resume,
        };
        let mut bytes = body.encode();
        let seal = self.current.mac(&bytes).finalize().into_bytes();
        bytes.extend_from_slice(&seal);
        let token = URL_SAFE_NO_PAD.encode(bytes);
        debug_assert!(token.len() <= TOKEN_CHARS_MAX, "{} characters", token.len());
        token
    }

    /// Where `query` goes on. Refused unless a live key sealed the token, for this query, less than 24 hours before
    /// `now` (wall clock, nanoseconds since 1970).
    pub fn open(&self, token: &str, query: &Query, now: i64) -> Result<Resume> {
        if token.len() > TOKEN_CHARS_MAX {
            return Err(refusal("is longer than any token"));
        }
        let body = self.unseal(token).ok_or_else(|| refusal("is damaged or from another service"))?;
        if seconds(now) >= body.expiry_seconds {
            return Err(refusal("has expired, a token lives 24 hours"));
        }
        if body.query_hash != *query.hash() {
            return Err(refusal("belongs to another query, only page_size and max_latency may change"));
        }
        Ok(body.resume)
    }

    /// The fields of a token that a live key sealed.
    fn unseal(&self, token: &str) -> Option<Body> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (body, seal) = bytes.split_last_chunk::<SEAL_BYTES>()?;
        let key_id = *body.get(1)?;
        let live = [Some(&self.current), self.previous.as_ref()];
        let key = live.into_iter().flatten().find(|key| key.id == key_id)?;
        // Compares in constant time.
        key.mac(body).verify(seal.into()).ok()?;
        Body::decode(body)
    }
}

fn refusal(problem: &str) -> Error {
    let message = format!("page_token: it {problem}; read again from the first page, without a token");
    Error::new(Reason::PageTokenInvalid, message)
}

/// Whole seconds of the wall clock; a clock before 1970 counts as 1970.
fn seconds(now: i64) -> u64 {
    u64::try_from(now / 1_000_000_000).unwrap_or(0)
}
