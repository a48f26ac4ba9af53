//! The rows of one table, part by part. A connection that breaks is made again and goes on behind the last row that came.

use api::admin::v1 as admin;
use api::convert::timestamp_to_wire;
use env::Env;
use export::{Directory, Manifest, PartPath, Position};
use rpc::client::CallError;

use super::choice::Choice;
use super::order::failure;
use super::part::Part;
use super::progress::Progress;
use super::share::Share;
use super::source::{Source, next_page};
use super::wire::{kept, rows};
use crate::failure::Failure;
use crate::import::{TRIES_MAX, back_off};

/// What the export of a table has in its hands.
pub(super) struct Table<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) env: &'a Env,
    pub(super) directory: &'a Directory,
    pub(super) progress: &'a mut Progress,
    pub(super) manifest: &'a mut Manifest,
    /// Which of the manifest's.
    pub(super) number: usize,
    /// A part ends once its rows have so many bytes.
    pub(super) part_bytes: u64,
    /// About how many partitions it has; 0 where nobody knows.
    pub(super) partitions: u64,
    /// Items whose metadata has no place in the format.
    pub(super) without_metadata: u64,
    pub(super) open: Option<Open>,
}

/// A part that is being written.
pub(super) struct Open {
    part: Part,
    path: PartPath,
    bytes: u64,
}

/// How a call ended.
enum Ended {
    /// Its last page came.
    Done,
    /// There would have been more.
    Broken(CallError),
}

impl Table<'_> {
    /// Exports it from where it stands to its end. The manifest is kept after every part.
    pub(super) async fn export(&mut self, choice: &Choice) -> Result<(), Failure> {
        let Some(entry) = self.entry() else { return Err(no_table()) };
        let mut share = Share::of(choice, entry, (self.manifest.start, self.manifest.end), self.partitions);
        let base = self.base();
        let (mut position, mut tries) = (self.entry().and_then(|table| table.position.clone()), 0);
        while let Some((call, next_call)) = choice.call(&base, position.as_ref()) {
            let before = position.clone();
            match self.call(call, &mut position, &mut share).await? {
                Ended::Done if next_call.is_none() => break,
                Ended::Done => position = next_call,
                Ended::Broken(error) if error.reason.as_deref() == Some("SLICE_NOT_FOUND") => {
                    return self.dropped();
                }
                Ended::Broken(error) => {
                    tries = if position == before { tries + 1 } else { 1 };
                    let wait = error.retry_after.filter(|_| tries < TRIES_MAX);
                    let Some(wait) = wait else { return Err(error.into()) };
                    if tries == 1 {
                        self.progress.say(&format!("{}; going on as soon as that can be", error.message));
                    }
                    self.env.clock.sleep(wait.max(back_off(tries))).await;
                }
            }
        }
        self.finish(None)
    }

    fn entry(&self) -> Option<&export::TableEntry> {
        self.manifest.tables.get(self.number)
    }

    fn base(&self) -> admin::ExportRowsRequest {
        let manifest = &*self.manifest;
        admin::ExportRowsRequest {
            namespace: manifest.namespace.clone(),
            incarnation: manifest.incarnation,
            table: self.entry().map(|table| table.name.clone()).unwrap_or_default(),
            start: Some(timestamp_to_wire(manifest.start)),
            end: Some(timestamp_to_wire(manifest.end)),
            include_open: manifest.request.include_open,
            ..Default::default()
        }
    }

    /// Takes all that one call gives; `position` is behind the last row that was taken.
    async fn call(
        &mut self,
        call: admin::ExportRowsRequest,
        position: &mut Option<Position>,
        share: &mut Share<'_>,
    ) -> Result<Ended, Failure> {
        let mut pages = match self.source.rows(call).await {
            Ok(pages) => pages,
            Err(error) => return Ok(Ended::Broken(error)),
        };
        loop {
            let page = match next_page(&mut pages).await {
                Ok(page) => page,
                Err(error) => return Ok(Ended::Broken(error)),
            };
            self.take(&page)?;
            self.progress.inside(share.take(&page));
            let Some(next) = &page.next else { return Ok(Ended::Done) };
            *position = Some(kept(next));
            if self.open.as_ref().is_some_and(|open| open.bytes >= self.part_bytes) {
                self.finish(position.clone())?;
            }
        }
    }

    fn take(&mut self, page: &admin::ExportRowsResponse) -> Result<(), Failure> {
        for wire in &page.rows {
            let rows = rows(wire)?;
            let bytes = rows.iter().map(|row| row.bytes() as u64).sum();
            self.progress.add(rows.len() as u64, bytes);
            let mut open = match self.open.take() {
                Some(open) => open,
                None => self.begin()?,
            };
            open.bytes += bytes;
            for row in rows {
                open.part.push(row).map_err(|error| cannot_write(&error))?;
            }
            self.open = Some(open);
        }
        Ok(())
    }

    fn begin(&self) -> Result<Open, Failure> {
        let Some(entry) = self.entry() else { return Err(no_table()) };
        let format = self.manifest.format;
        let begun = self.directory.begin_part(&entry.name, entry.files.len(), format.extension());
        let (file, path) = begun.map_err(failure)?;
        let part = Part::new(format, file).map_err(|error| cannot_write(&error))?;
        Ok(Open { part, path, bytes: 0 })
    }

    /// Puts the part in place, if there is one; the table goes on at `position`, or is done.
    fn finish(&mut self, position: Option<Position>) -> Result<(), Failure> {
        let entry = match self.open.take() {
            None => None,
            Some(open) => {
                self.without_metadata += open.part.without_metadata();
                let (file, rows) = open.part.finish().map_err(|error| cannot_write(&error))?;
                Some(self.directory.finish_part(file, &open.path, rows).map_err(failure)?)
            }
        };
        self.manifest.add(self.number, entry, position);
        self.directory.keep(self.manifest).map_err(failure)
    }

    /// Retention has dropped it: what was exported of it is not all that there was.
    fn dropped(&mut self) -> Result<(), Failure> {
        if let Some(open) = self.open.take() {
            self.directory.abandon_part(&open.path).map_err(failure)?;
        }
        let files = self.manifest.drop_table(self.number);
        self.directory.keep(self.manifest).map_err(failure)?;
        self.directory.remove(&files).map_err(failure)
    }
}

fn no_table() -> Failure {
    Failure::Other("there is no such table".to_owned())
}

fn cannot_write(error: &std::io::Error) -> Failure {
    Failure::Other(format!("cannot write the export: {error}; make room and run the same command again"))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
