//! Power loss: what was written after the last sync is dropped, torn or replaced by garbage. Acknowledged-as-synced
//! data survives; damage to it is refused, never passed over.

use std::fs;
use std::path::{Path, PathBuf};

use env::Env;
use model::PartitionKey;
use store::{Durability, ErrorKind, PartitionBatch, Storage, Store};
use store_embedded::{EmbeddedStore, Options};

use crate::support::{read_all, workload};

const SEED: u64 = 11;
const SYNCED: u64 = 12;
const BUFFERED: u64 = 10;
/// Length of a new journal.
const JOURNAL_BYTES: u64 = 64 << 20;
/// Bytes that a disk writes whole or not at all.
const SECTOR: usize = 512;

/// A directory as the disk could have it: some batches synced, then some written and never synced.
struct Image {
    scratch: tempfile::TempDir,
    /// What is written of the journal; the rest of the file is a preallocated hole.
    journal: Vec<u8>,
    /// The journal up to here was synced.
    synced_end: usize,
}

fn batch(number: u64) -> PartitionBatch {
    PartitionBatch {
        table: workload::table("power"),
        partition: place(),
        ..workload::batch(SEED, 0, 1, number)
    }
}

fn place() -> PartitionKey {
    workload::partition(0, 1)
}

pub(crate) fn journal_file(directory: &Path) -> PathBuf {
    directory.join("engine").join("0.jnl")
}

pub(crate) fn written(content: &[u8]) -> usize {
    // Block by block from the end: most of a journal is a preallocated hole.
    let zeros = [0; 4_096];
    let blocks = content.chunks(zeros.len());
    let holes =
        blocks.rev().take_while(|block| *block == &zeros[..block.len()]).map(<[u8]>::len).sum::<usize>();
    let filled = &content[..content.len() - holes];
    filled.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

impl Image {
    async fn make() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let live = scratch.path().join("live");
        // The clock of this store never moves, so nothing is synced behind the test's back.
        let env = Env { clock: std::sync::Arc::new(env::ManualClock::starting_at(0)), ..Env::system() };
        let store = EmbeddedStore::open(&live, Options::default(), env).await.unwrap();
        store.create_table(&workload::table("power"), &Storage::default()).await.unwrap();
        for number in 0..SYNCED {
            store.upsert(batch(number), Durability::Synced).await.unwrap();
        }
        let synced_end = written(&fs::read(journal_file(&live)).unwrap());
        for number in SYNCED..SYNCED + BUFFERED {
            store.upsert(batch(number), Durability::Buffered).await.unwrap();
        }
        let mut journal = fs::read(journal_file(&live)).unwrap();
        copy(&live, &scratch.path().join("image"));
        journal.truncate(written(&journal));
        assert!(synced_end > 0 && journal.len() > synced_end + 8 * SECTOR);
        Self { scratch, journal, synced_end }
    }

    /// A copy of the directory with this journal, as long as the engine makes it.
    fn with_journal(&self, name: &str, journal: &[u8]) -> PathBuf {
        let directory = self.scratch.path().join(name);
        copy(&self.scratch.path().join("image"), &directory);
        fs::write(journal_file(&directory), journal).unwrap();
        let file = fs::OpenOptions::new().write(true).open(journal_file(&directory)).unwrap();
        file.set_len(JOURNAL_BYTES).unwrap();
        directory
    }
}

/// Copies a directory without its journals: each test writes its own.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else if entry.path().extension().is_none_or(|extension| extension != "jnl") {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Opens a crashed directory: synced batches are all there, each other one is whole or absent, and it takes writes.
async fn recovers(directory: &Path, what: &str) -> u64 {
    let store = EmbeddedStore::open(directory, Options::default(), Env::system()).await;
    let store = store.unwrap_or_else(|error| panic!("{what}: {error}"));
    let table = workload::table("power");
    let mut rows = read_all(&store, &table, &place()).await.unwrap();
    let mut survived = 0;
    for number in 0..SYNCED + BUFFERED {
        let id = |row: &model::Row| String::from_utf8(row.key.event_id.as_bytes().to_vec()).unwrap();
        let (mine, others) = rows.into_iter().partition(|row| id(row).starts_with(&format!("0-1-{number}-")));
        rows = others;
        let mine: Vec<model::Row> = mine;
        let mut expected = batch(number).rows;
        expected.sort_by(|a, b| a.key.cmp(&b.key));
        if mine.is_empty() {
            assert!(number >= SYNCED, "{what}: synced batch {number} is gone");
        } else {
            assert_eq!(mine, expected, "{what}: batch {number} is torn");
            survived += 1;
        }
    }
    assert!(rows.is_empty(), "{what}: rows that nobody wrote");
    store.upsert(batch(500), Durability::Synced).await.unwrap();
    store.close().await;
    let again = EmbeddedStore::open(directory, Options::default(), Env::system()).await.unwrap();
    let reread = read_all(&again, &table, &place()).await.unwrap();
    assert!(reread.len() >= batch(500).rows.len(), "{what}: the write after recovery is gone");
    survived
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tail_that_was_not_synced_may_be_cut_anywhere() {
    let image = Image::make().await;
    let mut random = fastrand::Rng::with_seed(1);
    for case in 0..25 {
        let cut = random.usize(image.synced_end..=image.journal.len());
        let directory = image.with_journal(&format!("cut-{case}"), &image.journal[..cut]);
        if case % 2 == 0 {
            // The file's new length was lost too.
            fs::OpenOptions::new()
                .write(true)
                .open(journal_file(&directory))
                .unwrap()
                .set_len(cut as u64)
                .unwrap();
        }
        recovers(&directory, &format!("cut at {cut}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tail_that_was_not_synced_may_be_torn_into_sectors() {
    let image = Image::make().await;
    let mut random = fastrand::Rng::with_seed(2);
    let mut partly = 0;
    for case in 0..40 {
        let mut journal = image.journal.clone();
        let first = image.synced_end.next_multiple_of(SECTOR);
        // The sector that the sync ended in is whole up to there; its rest may be lost.
        if random.bool() {
            journal[image.synced_end..first].fill(0);
        }
        let mut sectors: Vec<&mut [u8]> = journal[first..].chunks_mut(SECTOR).collect();
        // From a single torn sector to most of them.
        for _ in 0..1 << random.u8(0..8) {
            let sector = random.usize(0..sectors.len());
            let garbage = random.bool();
            sectors[sector].fill_with(|| if garbage { random.u8(..) } else { 0 });
        }
        let what = format!("torn {case}");
        let survived = recovers(&image.with_journal(&what.replace(' ', "-"), &journal), &what).await;
        partly += u64::from(survived > SYNCED);
    }
    assert!(partly > 0, "no case kept an unsynced batch: the tears are too dense to test anything");
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_to_synced_data_is_refused_and_nothing_is_changed() {
    let image = Image::make().await;
    let mut random = fastrand::Rng::with_seed(3);
    for case in 0..40 {
        let at = random.usize(0..image.synced_end);
        let mut journal = image.journal.clone();
        journal[at] ^= 1 << random.u8(0..8);
        let directory = image.with_journal(&format!("rot-{case}"), &journal);
        let opened = EmbeddedStore::open(&directory, Options::default(), Env::system()).await;
        let Err(refusal) = opened else {
            panic!("a flipped bit at {at} of {} was passed over", image.synced_end)
        };
        assert_eq!(refusal.kind(), ErrorKind::Corrupt, "{refusal}");
        assert!(refusal.to_string().contains("restore the data directory"), "{refusal}");
        let kept = fs::read(journal_file(&directory)).unwrap();
        assert!(kept.len() as u64 == JOURNAL_BYTES && kept.starts_with(&journal), "the journal was changed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_quiet_moment_damage_to_the_last_synced_batch_is_refused_too() {
    let scratch = tempfile::tempdir().unwrap();
    let clock = env::ManualClock::starting_at(0);
    let env = Env { clock: std::sync::Arc::new(clock.clone()), ..Env::system() };
    let options = Options::default();
    let store = EmbeddedStore::open(&scratch.path().join("live"), options.clone(), env).await.unwrap();
    store.create_table(&workload::table("power"), &Storage::default()).await.unwrap();
    store.upsert(batch(0), Durability::Synced).await.unwrap();
    let end = written(&fs::read(journal_file(&scratch.path().join("live"))).unwrap());
    clock.sleepers(1).await;
    clock.advance(options.sync_interval);
    // Asleep again, it has sent its tick.
    clock.sleepers(1).await;
    // A compare-and-set goes through the same queue, so the tick before it is done when it answers; it fails.
    let key = workload::counter_key();
    store.meta_cas(&key, Some(store::MetaVersion(9)), store::MetaChange::Remove).await.unwrap();
    let mut journal = fs::read(journal_file(&scratch.path().join("live"))).unwrap();
    copy(&scratch.path().join("live"), &scratch.path().join("image"));
    journal[end - 40] ^= 1;
    fs::write(journal_file(&scratch.path().join("image")), &journal).unwrap();
    let opened = EmbeddedStore::open(&scratch.path().join("image"), options, Env::system()).await;
    assert_eq!(opened.err().map(|error| error.kind()), Some(ErrorKind::Corrupt));
}
