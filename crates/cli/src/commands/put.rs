//! `braid put`.

use api::v1;
use env::fresh_id;

use crate::failure::{Failure, INTERRUPTED, talk};
use crate::import::{self, BATCH_DEFAULT, Order, PARALLEL_DEFAULT, Settings};
use crate::input::{Item, Moment, parse_item, parse_moment};
use crate::output::{EventRecord, Format};
use crate::session::{Session, wire_time};

const EXAMPLES: &str = "\
Examples:
  braid put -n plays --id user:7 device=ios title='The Crown'
  braid put -n plays --id user:7 --time now-2m --event-id 550e8400 device=tv
  braid put -n plays --file events.ndjson
  echo '{...}' | braid put -n plays --file - --text

Values typed as key=value are stored as the bytes of that text. Writing an event
again (same id, time and event id) with the same items changes nothing, so a put
that failed can be sent again with --time and --event-id. --file is the short form
of `braid import`, which can do more.";

/// What `put` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The series to write to
    #[arg(long, value_name = "SERIES", required_unless_present = "file")]
    id: Option<String>,
    /// When it happened: 2026-05-11T23:42Z, now-90m, or seconds since 1970
    #[arg(long, value_name = "TIME", default_value = "now", value_parser = parse_moment)]
    time: Moment,
    /// Which event of the series at that time [default: a fresh random id]
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// Write the events of this file, NDJSON or CSV, instead; - for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "time", "event_id", "items"])]
    file: Option<String>,
    /// Answer as soon as it is queued, without waiting until it is durable
    #[arg(long)]
    queued: bool,
    /// In NDJSON, values are plain text and not base64, read or shown
    #[arg(long)]
    text: bool,
    /// The items of the event
    #[arg(value_name = "KEY=VALUE", required_unless_present = "file", value_parser = parse_item)]
    items: Vec<Item>,
}

/// Writes the event and shows what was written, or imports the file. Looks after Ctrl-C itself, as an import does.
pub(crate) async fn run(mut session: Session, args: Args) -> Result<(), Failure> {
    if let Some(file) = args.file {
        let settings = Settings {
            namespace: session.namespace()?,
            batch: BATCH_DEFAULT,
            parallel: PARALLEL_DEFAULT,
            queued: args.queued,
            backfill: false,
        };
        let order = Order { files: vec![file], format: None, text: args.text, settings };
        return import::run(&mut session, &order).await;
    }
    tokio::select! {
        written = Box::pin(one(session, args)) => written,
        _asked = tokio::signal::ctrl_c() => Err(Failure::Told(INTERRUPTED)),
    }
}

async fn one(mut session: Session, args: Args) -> Result<(), Failure> {
    let item = |item: Item| v1::EventItem {
        event_item_key: item.key,
        event_item_value: item.value.into(),
        ..v1::EventItem::default()
    };
    let event = v1::Event {
        time_series_id: args.id.unwrap_or_default(),
        event_time: Some(wire_time(args.time.resolve(session.now()))),
        event_id: args.event_id.unwrap_or_else(|| fresh_id(&*session.env.random)),
        event_items: args.items.into_iter().map(item).collect(),
        continues: false,
    };
    let request =
        v1::WriteEventRecordsRequest { namespace: session.namespace()?, events: vec![event.clone()] };
    let answer = if args.queued {
        session.client.write_queued(request).await?
    } else {
        session.client.write_synced(request).await?
    };
    if let Some(refused) = answer.results.first() {
        return Err(Failure::refused(&refused.reason, &refused.message));
    }
    if session.stdout.format() == Format::Table {
        talk(if args.queued { "queued 1 event\n" } else { "stored 1 event\n" });
    }
    session.stdout.list(&[EventRecord { event: &event, text: args.text }], &answer)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn one_event_or_a_file_and_not_both() {
        let typed = |words: &str| Typed::try_parse_from(std::iter::once("put").chain(words.split(' ')));
        let args = typed("--id s k=v --time 5").map(|typed| typed.args).unwrap();
        assert_eq!((args.id.as_deref(), args.items.len(), args.file), (Some("s"), 1, None));
        assert!(typed("--file - --text --queued").is_ok());
        for words in
            ["--id s", "k=v", "--file - --id s", "--file - k=v", "--file - --time now", "--id s novalue"]
        {
            assert!(typed(words).is_err(), "{words}");
        }
    }
}
