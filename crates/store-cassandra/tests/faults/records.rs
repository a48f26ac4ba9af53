//! Servers that change one record, again and again: each change adds a mark that is never used again.
//!
//! So the record tells what happened: a mark twice, or a version that is not the number of marks, is a change that was
//! applied twice; a mark that is missing was lost; and one whose change was refused may not be there.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use store::{CasOutcome, ErrorKind, MetaChange, MetaKey, MetaRecord, Store};

use crate::board::{Board, Client};

/// Bytes of a mark: who, and a number.
const MARK_BYTES: usize = 4;
type Mark = [u8; MARK_BYTES];

/// One server that changes the record.
pub(crate) struct Changer<'a> {
    board: &'a Board,
    number: u8,
    store: Arc<dyn Store>,
    key: &'a MetaKey,
    /// Marks whose change was applied, and those whose change was not and never will be.
    applied: RefCell<BTreeSet<Mark>>,
    refused: RefCell<BTreeSet<Mark>>,
}

impl<'a> Changer<'a> {
    pub(crate) fn new(board: &'a Board, number: u8, store: &Arc<dyn Store>, key: &'a MetaKey) -> Self {
        let (applied, refused) = (RefCell::default(), RefCell::default());
        Self { board, number, store: Arc::clone(store), key, applied, refused }
    }

    /// Reads the record, adds a mark, and so on.
    pub(crate) async fn run(&self, all: &[Self]) {
        let client = Client::Changer(usize::from(self.number));
        for number in 0_u32.. {
            if !self.board.is_open() {
                return;
            }
            let applied: Vec<Mark> =
                all.iter().flat_map(|changer| changer.applied.borrow().clone()).collect();
            let Ok(found) = self.board.call(client, self.store.meta_get(self.key)).await else { continue };
            let mut marks = marks(found.as_ref());
            let lost = applied.iter().find(|mark| !marks.contains(*mark));
            assert_eq!(lost, None, "a change was acknowledged and a later read does not see it");

            let [_, high, middle, low] = number.to_be_bytes();
            let mark = [self.number, high, middle, low];
            marks.push(mark);
            let (expected, value) =
                (found.map(|record| record.version), MetaChange::Put(marks.concat().into()));
            match self.board.call(client, self.store.meta_cas(self.key, expected, value)).await {
                Ok(CasOutcome::Applied(_)) => self.applied.borrow_mut().insert(mark),
                Ok(CasOutcome::Conflict(_)) => self.refused.borrow_mut().insert(mark),
                Err(error) if error.kind() == ErrorKind::Unavailable => {
                    self.refused.borrow_mut().insert(mark)
                }
                Err(_) => continue,
            };
        }
    }
}

fn marks(record: Option<&MetaRecord>) -> Vec<Mark> {
    let value = record.map(|record| record.value.as_ref()).unwrap_or_default();
    value.chunks(MARK_BYTES).map(|mark| mark.try_into().unwrap()).collect()
}

/// Compares the record with what every server was told.
pub(crate) async fn check_all(store: &Arc<dyn Store>, key: &MetaKey, changers: &[Changer<'_>]) {
    let record = store.meta_get(key).await.unwrap().expect("a record");
    let found = marks(Some(&record));
    assert_eq!(record.version.0, found.len() as u64, "every change adds one mark and one version");
    let once: BTreeSet<Mark> = found.iter().copied().collect();
    assert_eq!(once.len(), found.len(), "a change was applied twice");
    for changer in changers {
        let (applied, refused) = (changer.applied.borrow(), changer.refused.borrow());
        assert!(!applied.is_empty(), "server {} changed nothing", changer.number);
        assert_eq!(applied.difference(&once).next(), None, "a change was acknowledged and is lost");
        assert_eq!(refused.intersection(&once).next(), None, "a change was called not done and was made");
    }
}
