//! The liveness phase: faults stop, and within five minutes everything is in its place again.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::Engine;
use model::{Interval, NamespaceName, Order, TableName, TableRef};
use store::Store;

use super::admin::Admin;
use super::ask::Heard;
use super::client::Client;
use super::dice::Dice;
use super::judge::Reading;
use super::reader::request;
use super::resting::rest;
use super::specs::{SERIES, SPACES};
use super::stage::Stage;
use crate::cluster::Cut;

/// Everything ends within this.
const WITHIN: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends all faults and waits until all is well.
pub(super) async fn end(stage: &Stage, dice: &Dice) {
    stage.cluster.calm();
    for server in stage.servers.iter() {
        server.link.cut(Cut::Nothing);
        server.machine.resume();
        server.machine.spare();
        server.keep_filters(Duration::ZERO);
    }
    let until = stage.world.now() + WITHIN;
    let admin = Admin { stage: stage.clone(), dice: Dice::new(&stage.world, "last admin") };
    loop {
        for space in SPACES {
            let ready = stage.ledger.with(space, |known| known.is_ready);
            if let Ok(name) = NamespaceName::new(space)
                && !ready
            {
                admin.make_ready(space, &name).await;
            }
        }
        let Some(amiss) = amiss(stage).await else { break };
        if stage.world.now() > until {
            return stage.wrong(format!("five minutes after the last fault {amiss}"));
        }
        stage.sleep(LOOK_EVERY).await;
    }
    if stage.plot.splits {
        rest(stage, &admin).await;
    }
    write_everywhere(stage, dice).await;
    for space in SPACES {
        for series in SERIES {
            for order in [Order::OldestFirst, Order::NewestFirst] {
                read_everywhere(stage, (space, vec![series]), order).await;
            }
        }
    }
}

/// What is not well yet; none where all is.
async fn amiss(stage: &Stage) -> Option<String> {
    let mut engines = Vec::new();
    for server in stage.servers.iter() {
        let name = server.machine.name();
        let Some(engine) = server.engine() else { return Some(format!("{name} does not run")) };
        if !engine.is_leased() {
            return Some(format!("{name} has no lease"));
        }
        engines.push(engine);
    }
    let first = engines.first()?.clone();
    let shown = shown(&first);
    for engine in &engines {
        if engine.epoch() != first.epoch() {
            return Some(format!("epochs differ: {} and {}", first.epoch(), engine.epoch()));
        }
        let other = self::shown(engine);
        if other != shown {
            return Some(format!("servers do not agree: {shown:?} and {other:?}"));
        }
    }
    if let Some(unfinished) = unfinished(stage).await {
        return Some(unfinished);
    }
    let server = stage.servers.first()?;
    if !matches!(
        stage.ask(server, PATIENCE, |engine| async move { engine.sweep_tables().await }).await,
        Heard::Answer(_)
    ) {
        return Some("tables cannot be swept".to_owned());
    }
    let (tables, named): (BTreeSet<TableRef>, _) =
        (stage.cluster.tables().into_iter().collect(), named(&first));
    let of_splits = wide(&first);
    let leaked: Vec<_> =
        tables.difference(&named).filter(|table| !of_splits.contains(table)).map(table_name).collect();
    let lost: Vec<_> = named.difference(&tables).map(table_name).collect();
    (!leaked.is_empty() || !lost.is_empty()).then(|| format!("tables are leaked: {leaked:?}, lost: {lost:?}"))
}

fn table_name(table: &TableRef) -> String {
    format!("{}.{}/{}", table.namespace.as_str(), table.incarnation, table.name.as_str())
}

/// All that a server shows, as text.
fn shown(engine: &Engine) -> String {
    let spaces = engine.list_namespaces();
    let of = |space: &engine::Namespace| {
        let slices: Vec<String> = engine
            .list_slices(&space.name)
            .unwrap_or_default()
            .iter()
            .map(|slice| format!("{}..{}", slice.table, slice.slice.end()))
            .collect();
        format!("{space:?} {slices:?} {:?}", engine.list_backfills(&space.name))
    };
    spaces.iter().map(of).collect()
}

/// The tables that slices of namespaces name.
fn named(engine: &Engine) -> BTreeSet<TableRef> {
    tables_by(engine, TableName::data)
}

/// The tables that they may have besides, for targets of splits.
fn wide(engine: &Engine) -> BTreeSet<TableRef> {
    tables_by(engine, TableName::wide)
}

fn tables_by(engine: &Engine, name: impl Fn(model::Slice) -> TableName) -> BTreeSet<TableRef> {
    let mut tables = BTreeSet::new();
    for space in engine.list_namespaces() {
        for info in engine.list_slices(&space.name).unwrap_or_default() {
            let (namespace, incarnation) = (space.name.clone(), space.incarnation);
            tables.insert(TableRef { namespace, incarnation, name: name(info.slice) });
        }
    }
    tables
}

/// A record of something that was begun and not ended.
async fn unfinished(stage: &Stage) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let namespaces = stage.cluster.meta_range(b"namespaces", None, 1_000).await.ok()?;
    for stored in namespaces.records {
        let (name, value) = (text(&stored.name), text(&stored.value));
        if value.contains("\"leaving\":") {
            return Some(format!("{name} still leaves: {value}"));
        }
        for incarnation in 1..100 {
            let group = format!("slices/{name}.{incarnation}");
            let slices = stage.cluster.meta_range(group.as_bytes(), None, 1_000).await.ok()?;
            if slices.records.is_empty() && incarnation > 20 {
                break;
            }
            let is_current = value.contains(&format!("\"incarnation\":{incarnation},"));
            for slice in slices.records.iter().map(|slice| text(&slice.value)) {
                let begun = slice.contains("\"making\"") || slice.contains("\"dropping\"");
                if is_current && begun && !value.contains("\"deleted\":true") {
                    return Some(format!("a slice of {name} is not done: {slice}"));
                }
            }
        }
    }
    None
}

/// A fresh event can be written through every server.
async fn write_everywhere(stage: &Stage, dice: &Dice) {
    let mut client = Client { stage: stage.clone(), dice: dice.clone(), number: 99, sent: 0 };
    for server in stage.servers.iter() {
        for space in SPACES {
            if let Err(why) = client.write_fresh(server, space).await {
                stage.wrong(format!("{} takes no event in {space}: {why}", server.machine.name()));
            }
        }
    }
}

/// Every server gives all of a series.
async fn read_everywhere(stage: &Stage, what: (&'static str, Vec<&'static str>), order: Order) {
    for server in stage.servers.iter() {
        let who = server.machine.name();
        let mut reading = Reading::begin(stage, what.clone(), Interval::ALL, order);
        let Ok(mut asked) = request(&reading, 100) else { return };
        loop {
            let page = asked.clone();
            let heard = stage.ask(server, PATIENCE, |engine| async move { engine.read(page).await }).await;
            let page = match heard {
                Heard::Answer(page) => page,
                Heard::Refused(engine::Reason::IdBlocked, _) => return,
                other => return stage.wrong(format!("{who} does not read {what:?}: {other:?}")),
            };
            reading.take(stage, &page);
            if let Some(partial) = &page.partial {
                stage.wrong(format!("{who} reads only a part of {what:?}: {partial:?}"));
            }
            asked.resume = page.next;
            if asked.resume.is_none() {
                reading.is_complete_in(stage, reading.interval, who);
                break;
            }
        }
    }
}
