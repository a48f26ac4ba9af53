//! A read in pages, each by any server: route, scan, check, answer. The token between two pages is a logical position.

use super::machine::Cover;
use super::state::{Entry, KEYS, Page, SERVERS, State};
use crate::cells::Cells;
use crate::{Guard, Mark};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReaderStep {
    /// A read begins; it has to find what is acknowledged by now.
    Begin,
    /// This server chooses the route of the next page.
    Route(u8),
    /// It scans.
    Scan,
    /// It checks, and answers or reads the page again from the origin.
    Answer,
}

type Rows = Cells<u8, 3>;

impl Cover {
    pub(super) fn reader_steps(&self, state: &State, mut offer: impl FnMut(ReaderStep)) {
        if !state.reader.reading {
            if state.left.reads > 0 && !state.dropped {
                offer(ReaderStep::Begin);
            }
            return;
        }
        match state.reader.page {
            Page::None => {
                let able = (0..SERVERS).filter(|at| state.servers[*at].holder.joined);
                able.for_each(|at| offer(ReaderStep::Route(at)));
            }
            Page::Routed { .. } => offer(ReaderStep::Scan),
            Page::Scanned { .. } => offer(ReaderStep::Answer),
        }
    }

    pub(super) fn reader_step(&self, state: &mut State, step: ReaderStep) {
        match (step, state.reader.page) {
            (ReaderStep::Begin, _) => {
                state.left.reads -= 1;
                let reader = &mut state.reader;
                reader.reading = true;
                reader.needs = state.acked;
                (reader.cursor, reader.passed, reader.before) = (0, 0, None);
            }
            (ReaderStep::Route(server), _) => {
                let route = self.route(state, server);
                state.reader.page = Page::Routed { server, route };
            }
            (ReaderStep::Scan, Page::Routed { server, route }) => {
                if state.dropped && route.is_none() {
                    // The table is gone: answered as truncated by retention, never as "no rows".
                    return end(state);
                }
                let (rows, doubled) = self.scan(state, route);
                state.reader.page = Page::Scanned { server, route, rows, doubled };
            }
            (ReaderStep::Answer, Page::Scanned { server, route, rows, doubled }) => {
                if self.in_force(state, server, route) {
                    self.answer_page(state, route, &rows, doubled);
                } else {
                    self.marks.hit(Mark::PageFellBack);
                    state.reader.page = Page::Routed { server, route: None };
                }
            }
            _ => {}
        }
    }

    /// What the route finds: targets below its `covered_until`, the origin above. Who does not clip there finds some rows
    /// twice.
    fn scan(&self, state: &State, route: Option<Entry>) -> (Rows, bool) {
        let mut rows = state.origin;
        let Some(entry) = route else { return (rows, false) };
        for key in 0..entry.covered_until {
            rows[key] = state.targets[entry.destination[key]][key];
        }
        let beyond = &state.targets[entry.destination[0]];
        let twice = |key: u8| key >= state.reader.cursor && beyond[key] > 0 && state.origin[key] > 0;
        let doubled = self.lacks(Guard::Clip) && (entry.covered_until..KEYS - 1).any(twice);
        (rows, doubled)
    }

    /// Whether the server would still route by this entry, or by one that covers more in the same places.
    fn in_force(&self, state: &State, server: u8, route: Option<Entry>) -> bool {
        let Some(used) = route else { return true };
        if self.lacks(Guard::CheckEntryAfterScan) {
            let holder = &state.servers[server].holder;
            let leased = holder.leased && !holder.view.retiring && !holder.view.closing;
            return leased || self.lacks(Guard::CheckLeaseAfterScan);
        }
        self.route(state, server).is_some_and(|now| {
            now.covered_until >= used.covered_until
                && (0..used.covered_until).all(|key| now.destination[key] == used.destination[key])
        })
    }

    fn answer_page(&self, state: &mut State, route: Option<Entry>, rows: &Rows, doubled: bool) {
        let covered = route.map_or(0, |entry| entry.covered_until);
        let reader = &mut state.reader;
        let mut from = reader.cursor;
        if self.lacks(Guard::LogicalToken) {
            from = by_rows_passed(rows, reader.passed);
            state.wrong_page |= (from..reader.cursor).any(|key| rows[key] > 0);
            state.wrong_page |= (reader.cursor..from).any(|key| reader.needs[key] > 0);
        }
        let (mut key, mut found) = (from, 0);
        while key < KEYS && found < self.bounds.page_rows {
            found += u8::from(rows[key] > 0);
            state.wrong_page |= rows[key] < reader.needs[key];
            key += 1;
        }
        state.wrong_page |= doubled && key > covered;
        self.marks.hit_if(from < covered, Mark::ServedFromTarget);
        self.marks.hit_if(from < covered && covered < key, Mark::PageCrossedSeam);
        self.marks.hit_if(reader.before.is_some_and(|before| before != covered), Mark::ReadCrossedRoutes);
        reader.before = Some(covered);
        reader.cursor = key;
        reader.passed += found;
        reader.page = Page::None;
        if key == KEYS {
            end(state);
        }
    }
}

/// Where a token leads that counts rows on whatever route this page takes.
fn by_rows_passed(rows: &Rows, mut passed: u8) -> u8 {
    let mut key = 0;
    while passed > 0 && key < KEYS {
        passed -= u8::from(rows[key] > 0);
        key += 1;
    }
    key
}

fn end(state: &mut State) {
    let reader = &mut state.reader;
    reader.reading = false;
    reader.page = Page::None;
    reader.needs = Cells::all(0);
    (reader.cursor, reader.passed, reader.before) = (0, 0, None);
}
