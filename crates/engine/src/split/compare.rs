//! The origin and its targets side by side, row by row: where digests differ, this says in what.

use std::cmp::Ordering;

use model::{Row, RowKey};
use split::{Digest, Key};

use super::attempt::{Attempt, Targets};
use super::held::{Held, Stop};
use super::scan::{Page, Pages};
use super::verify::unreadable;

/// Differences that are looked for at most.
pub(super) const DIFFERENCES_MAX: usize = 16;

/// Rows that are not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// Only the origin has it.
    OnlyOrigin(Row),
    /// Only a target has it.
    OnlyTarget(RowKey),
    /// Both have it, with other contents.
    Contents(RowKey),
}

impl Difference {
    /// Which row it is about.
    pub(super) fn to_key(&self) -> Key {
        let (Self::OnlyOrigin(Row { key, .. }) | Self::OnlyTarget(key) | Self::Contents(key)) = self;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Key {
            event_time: key.event_time.nanos(),
            event_id: text(key.event_id.as_bytes()),
            item_key: text(key.item_key.as_bytes()),
        }
    }
}

/// A partition whose next row can be looked at.
struct Side {
    pages: Pages,
    page: Page,
    at: usize,
}

impl Side {
    async fn open(pages: Pages) -> Result<Self, Stop> {
        let mut side = Self { pages, page: Page::default(), at: 0 };
        side.turn().await?;
        Ok(side)
    }

    fn head(&self) -> Option<Row> {
        self.page.rows.get(self.at)
    }

    /// Goes on behind the row; gives back the bytes that were read for it.
    async fn pass(&mut self) -> Result<u64, Stop> {
        self.at += 1;
        if self.at < self.page.rows.len() { Ok(0) } else { self.turn().await }
    }

    async fn turn(&mut self) -> Result<u64, Stop> {
        self.page = self.pages.next().await.map_err(unreadable)?.unwrap_or_default();
        self.at = 0;
        Ok(self.page.bytes)
    }
}

/// Compares the origin with the targets, newest first; the first differences.
pub(super) async fn differences(
    attempt: &mut Attempt<'_>,
    held: &Held<'_>,
    targets: &Targets,
) -> Result<Vec<Difference>, Stop> {
    let nothing = Digest::default();
    let mut origin = Side::open(attempt.origin(held, &nothing)).await?;
    let mut copies = Vec::new();
    for target in 0..targets.strategy.targets() {
        copies.push(Side::open(attempt.target(held, targets, target, &nothing)).await?);
    }
    let mut found = Vec::new();
    while found.len() < DIFFERENCES_MAX {
        let heads = copies.iter().enumerate().filter_map(|(at, copy)| Some((copy.head()?, at)));
        let newest = heads.max_by(|(a, _), (b, _)| a.key.cmp(&b.key));
        let (mine, theirs) = (origin.head(), newest);
        let order = match (&mine, &theirs) {
            (None, None) => break,
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (Some(mine), Some((theirs, _))) => mine.key.cmp(&theirs.key),
        };
        let mut bytes = 0;
        if let Some(mine) = mine.as_ref().filter(|_| order != Ordering::Less) {
            if order == Ordering::Greater {
                found.push(Difference::OnlyOrigin(mine.clone()));
            }
            bytes += origin.pass().await?;
        }
        if let Some((theirs, at)) = theirs.filter(|_| order != Ordering::Greater) {
            let same = |mine: &Row| mine.value == theirs.value && mine.metadata == theirs.metadata;
            match &mine {
                Some(mine) if order == Ordering::Equal && same(mine) => {}
                Some(_) if order == Ordering::Equal => found.push(Difference::Contents(theirs.key)),
                _ => found.push(Difference::OnlyTarget(theirs.key)),
            }
            if let Some(copy) = copies.get_mut(at) {
                bytes += copy.pass().await?;
            }
        }
        if bytes > 0 {
            attempt.read(bytes).await?;
        }
    }
    Ok(found)
}

/// The first key in which the targets differ from the origin; none where they do not any more.
pub(super) async fn first_difference(
    attempt: &mut Attempt<'_>,
    held: &Held<'_>,
    targets: &Targets,
) -> Result<Option<Key>, Stop> {
    Ok(differences(attempt, held, targets).await?.first().map(Difference::to_key))
}
