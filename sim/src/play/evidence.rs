//! What servers write down of comparisons, as it is stored: how many there were, and differences that they have confirmed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use store::MetaKey;

use super::stage::Stage;

/// Where counts of comparisons lie, a group for each making of a namespace.
pub(super) const READ_MODES: &str = "readmode/";
/// The same for confirmed differences.
pub(super) const MISMATCHES: &str = "mismatches/";

/// Counts of comparisons, by record. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Seen {
    compared: Arc<Mutex<BTreeMap<(Bytes, Bytes), u64>>>,
}

impl Seen {
    /// A record was written or removed.
    pub(super) fn saw(&self, stage: &Stage, key: MetaKey, value: Option<&Bytes>) {
        let Some(value) = value else { return };
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(value) else {
            return stage.wrong(format!("what is stored at {key:?} does not decode"));
        };
        if key.group.starts_with(MISMATCHES.as_bytes()) {
            stage.ledger.count(|counts| counts.mismatches += 1);
            return;
        }
        let now = value.pointer("/evidence/compared").and_then(serde_json::Value::as_u64).unwrap_or(0);
        let before = {
            let mut compared = self.compared.lock().unwrap_or_else(PoisonError::into_inner);
            compared.insert((key.group, key.name), now).unwrap_or(0)
        };
        stage.ledger.count(|counts| counts.compared += now.saturating_sub(before));
    }
}
