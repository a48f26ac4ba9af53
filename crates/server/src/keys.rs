//! The keys that seal page tokens, as a metadata record: every server over the same store opens every token.
//!
//! Group `tokens`, name `keys`, JSON with a version. Made by compare-and-set at the first start; whoever loses that race
//! takes what the winner made. `docs/formats/page-token.md` describes it.

use std::fmt::Write;

use api::token::{TokenKey, TokenKeys};
use engine::{Error, Reason, Result};
use env::Random;
use serde::{Deserialize, Serialize};
use store::{CasOutcome, MetaChange, MetaKey, Store};

const VERSION: u32 = 1;
const SECRET_BYTES: usize = 32;
/// The first key of a store has this id; each later one the next.
const FIRST_ID: u8 = 1;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeysRecord {
    version: u32,
    current: KeyRecord,
    previous: Option<KeyRecord>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyRecord {
    id: u8,
    /// In hexadecimal.
    secret: String,
}

/// The keys of this store, made if it has none.
pub(crate) async fn load_or_make(store: &dyn Store, random: &dyn Random) -> Result<TokenKeys> {
    let key = MetaKey::new("tokens", "keys");
    if let Some(found) = store.meta_get(&key).await? {
        return decode(&found.value);
    }
    let mut secret = [0; SECRET_BYTES];
    random.fill(&mut secret);
    let made = TokenKeys { current: TokenKey { id: FIRST_ID, secret }, previous: None };
    let outcome = store.meta_cas(&key, None, MetaChange::Put(encode(&made)?.into())).await;
    match outcome {
        Ok(CasOutcome::Applied(_)) => Ok(made),
        Ok(CasOutcome::Conflict(_)) => reread(store, &key).await,
        // It may have been written or not: what is there now counts.
        Err(error) if error.kind() == store::ErrorKind::Unknown => reread(store, &key).await,
        Err(error) => Err(error.into()),
    }
}

async fn reread(store: &dyn Store, key: &MetaKey) -> Result<TokenKeys> {
    match store.meta_get(key).await? {
        Some(found) => decode(&found.value),
        None => Err(Error::new(Reason::NotReady, "the token keys could not be written; start again")),
    }
}

fn encode(keys: &TokenKeys) -> Result<Vec<u8>> {
    let record = |key: &TokenKey| KeyRecord { id: key.id, secret: hex(&key.secret) };
    let record = KeysRecord {
        version: VERSION,
        current: record(&keys.current),
        previous: keys.previous.as_ref().map(record),
    };
    serde_json::to_vec(&record).map_err(|error| {
        Error::new(Reason::FieldInvalid, format!("the token keys cannot be written: {error}"))
    })
}

fn decode(stored: &[u8]) -> Result<TokenKeys> {
    let record: KeysRecord = serde_json::from_slice(stored).map_err(|error| damaged(&error))?;
    if record.version != VERSION {
        return Err(damaged(&format!("version {}", record.version)));
    }
    let previous = record.previous.map(key).transpose()?;
    Ok(TokenKeys { current: key(record.current)?, previous })
}

fn key(record: KeyRecord) -> Result<TokenKey> {
    let digits = record.secret.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> = digits
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok()))
        .collect();
    let secret = bytes.and_then(|bytes| <[u8; SECRET_BYTES]>::try_from(bytes).ok());
    let secret = secret.ok_or_else(|| damaged(&"a secret is not 32 bytes in hexadecimal"))?;
    Ok(TokenKey { id: record.id, secret })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

fn damaged(problem: &dyn std::fmt::Display) -> Error {
    let message = format!(
        "the record of the token keys does not decode ({problem}); a newer version may have written it"
    );
    Error::new(Reason::ChecksumMismatch, message)
}

#[cfg(test)]
mod tests {
    use env::SeededRandom;
    use store::MemoryStore;

    use super::*;

    const GOLDEN: &str = include_str!("../golden/token-keys.txt");

    fn keys() -> TokenKeys {
        let key = |id, byte| TokenKey { id, secret: [byte; SECRET_BYTES] };
        TokenKeys { current: key(2, 0xAB), previous: Some(key(1, 7)) }
    }

    #[test]
    fn the_record_is_written_and_read_as_it_always_was() {
        assert_eq!(String::from_utf8(encode(&keys()).unwrap()).unwrap(), GOLDEN.trim_end());
        assert_eq!(decode(GOLDEN.trim_end().as_bytes()).unwrap(), keys());
    }

    #[test]
    fn other_versions_and_damaged_secrets_are_refused() {
        for (from, to) in [("\"version\":1", "\"version\":2"), ("abab", "ab"), ("abab", "xyxy"), ("{", "[")] {
            let bytes = GOLDEN.replacen(from, to, 1);
            assert_eq!(decode(bytes.as_bytes()).unwrap_err().reason(), Reason::ChecksumMismatch, "{to}");
        }
    }

    #[tokio::test]
    async fn every_start_has_the_keys_of_the_first() {
        let store = MemoryStore::new();
        let first = load_or_make(&store, &SeededRandom::new(1)).await.unwrap();
        let second = load_or_make(&store, &SeededRandom::new(2)).await.unwrap();
        assert_eq!(first, second);
        assert_ne!(first.current.secret, [0; SECRET_BYTES]);
    }
}
