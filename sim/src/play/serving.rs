//! How reads end: without faults every server serves each completed split from its targets, soon, and gives what the origin has.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{ReadMode, Reason};
use model::{Layout, NamespaceName, Order};
use split::SplitId;

use super::admin::Admin;
use super::ask::Heard;
use super::judge::Reading;
use super::reader::request;
use super::routes::{is_of, layout_of};
use super::server::Server;
use super::space::Key;
use super::specs::{SERIES, SPACES};
use super::stage::{Mood, Stage};
use super::steering::shown;
use super::targets::table_of;

/// From when reads are on, targets are served within this.
const WITHIN: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(120);
/// Steps, and comparisons before each.
const TRIES: u32 = 24;
/// Events of a page: few, so that there are many.
const PAGE_RECORDS: usize = 20;
/// Splits that are compared at once.
const SPLITS_MAX: usize = 100;

/// Moves reads of all namespaces on to the end, and looks where they come from.
pub(super) async fn serve(stage: &Stage, admin: &Admin) {
    stage.set_mood(Mood::Over);
    for space in SPACES {
        let of_space = |(id, _): &(SplitId, i64)| id.namespace.as_str() == space;
        stage.records.look(stage);
        let splits: Vec<_> = stage.records.completed().into_iter().filter(of_space).collect();
        let Ok(name) = NamespaceName::new(space) else { continue };
        if splits.is_empty() || !switch_on(stage, admin, space, &name).await {
            continue;
        }
        let until = stage.world.now() + WITHIN;
        for (number, (id, _)) in splits.iter().enumerate() {
            let order = if number % 2 == 0 { Order::NewestFirst } else { Order::OldestFirst };
            for server in stage.servers.iter() {
                is_served(stage, (space, id), server, order, until).await;
            }
        }
    }
}

/// Moves reads of a namespace on until they are; whether they are.
async fn switch_on(stage: &Stage, admin: &Admin, space: &'static str, name: &NamespaceName) -> bool {
    let mut last = String::new();
    for _ in 0..TRIES {
        let Some(server) = stage.any_server(&admin.dice) else { return false };
        let of = name.clone();
        let heard = stage
            .ask(server, PATIENCE, |engine| async move {
                let info = engine.read_mode(&of).await?;
                if info.mode == ReadMode::On {
                    return Ok(info);
                }
                if info.mode != ReadMode::Off {
                    engine.compare_splits(&of, None, SPLITS_MAX).await?;
                }
                engine.advance_read_mode(&of, false).await
            })
            .await;
        last = shown(&heard);
        stage.note(format_args!("last step of reads of {space}: {last}"));
        match heard {
            Heard::Answer(info) if info.mode == ReadMode::On => return true,
            // Too little was compared so far, or a server was faster.
            Heard::Refused(Reason::ReadModeGateFailed, why) if !why.contains("min_compared") => {
                begin_anew(stage, admin, (space, name), &why).await;
            }
            Heard::Answer(_) | Heard::Refused(Reason::ReadModeGateFailed | Reason::EtagMismatch, _) => {}
            other => stage.wrong(format!("reads of {space} cannot move on: {other:?}")),
        }
        stage.sleep(LOOK_EVERY).await;
    }
    stage.wrong(format!("reads of {space} do not move on: {last}"));
    false
}

/// What was seen while there were faults keeps reads back: the same mode begins anew.
async fn begin_anew(stage: &Stage, admin: &Admin, (space, name): (&'static str, &NamespaceName), why: &str) {
    if why.contains("max_differ_bytes") && !stage.plot.damage {
        stage.wrong(format!("reads of {space} differ, and nobody has damaged anything: {why}"));
    }
    let Some(server) = stage.any_server(&admin.dice) else { return };
    let of = name.clone();
    let heard = stage
        .ask(server, PATIENCE, |engine| async move {
            let mode = engine.read_mode(&of).await?.mode;
            engine.roll_back_read_mode(&of, Some(mode), false).await
        })
        .await;
    stage.note(format_args!("reads of {space} begin anew: {}", shown(&heard)));
}

/// Reads a split through a server until it comes from targets.
async fn is_served(
    stage: &Stage,
    (space, id): (&'static str, &SplitId),
    server: &Server,
    order: Order,
    until: Duration,
) {
    let Some(layout) = layout_of(stage, id) else { return };
    loop {
        let read = read(stage, (space, id), server, order, &layout).await;
        let is_late = stage.world.now() > until;
        match read {
            Ok(None) => return,
            Ok(Some(problem)) if is_late => {
                let who = server.machine.name();
                return stage.wrong(format!("{} is not served from targets by {who}: {problem}", id.full()));
            }
            Err(problem) => {
                return stage.wrong(format!(
                    "{} is not served by {}: {problem}",
                    id.full(),
                    server.machine.name()
                ));
            }
            Ok(Some(_)) => stage.sleep(LOOK_EVERY).await,
        }
    }
}

/// Reads the time of a split; why not all of it came from targets, or an error where it is not what the origin has.
async fn read(
    stage: &Stage,
    (space, id): (&'static str, &SplitId),
    server: &Server,
    order: Order,
    layout: &Layout,
) -> Result<Option<String>, String> {
    let series = SERIES.into_iter().filter(|series| *series == id.partition.series.as_str()).collect();
    let interval = layout.bucket_interval(id.partition.time_bucket);
    let mut reading = Reading::begin(stage, (space, series), interval, order);
    let mut asked = request(&reading, PAGE_RECORDS).map_err(|error| error.to_string())?;
    let (mut found, mut problem): (BTreeSet<Key>, _) = (BTreeSet::new(), None);
    loop {
        let page = asked.clone();
        let heard = stage.ask(server, PATIENCE, |engine| async move { engine.read(page).await }).await;
        let Heard::Answer(page) = heard else { return Err(format!("{heard:?}")) };
        reading.take(stage, &page);
        let of_split = page.events.iter().filter(|event| {
            let place = layout.place(&event.series, event.time, &event.to_event_id());
            place.is_some_and(|place| place.key == id.partition)
        });
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        found.extend(of_split.map(|event| (event.time.nanos(), text(event.event_id()))));
        if page.cost.fallbacks > 0 {
            problem = problem.or_else(|| Some(format!("{} partitions fell back", page.cost.fallbacks)));
        } else if page.partitions.iter().any(|read| is_of(read, id, layout)) {
            problem = problem.or_else(|| Some("its origin was read".to_owned()));
        }
        asked.resume = page.next;
        if asked.resume.is_none() {
            break;
        }
    }
    reading.is_complete_in(stage, interval, server.machine.name());
    let table = table_of(id, &id.time_slice).ok_or("it has no table")?;
    let rows = stage.cluster.all_rows(&table, &id.partition).ok_or("its table is gone")?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let origin: BTreeSet<Key> =
        rows.iter().map(|row| (row.key.event_time.nanos(), text(row.key.event_id.as_bytes()))).collect();
    if found != origin {
        let first = found.symmetric_difference(&origin).next();
        return Err(format!(
            "{} events, {} in the origin, they part at {first:?}",
            found.len(),
            origin.len()
        ));
    }
    Ok(problem)
}
