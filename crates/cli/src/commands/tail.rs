//! `braid tail`: reads again and again, and shows each event once.

use std::collections::BTreeSet;
use std::time::Duration;

use api::v1;
use jiff::Timestamp;
use rpc::client::CallError;

use super::read::{horizon, open_end};
use crate::failure::{Failure, talk};
use crate::input::parse_duration;
use crate::output::{EventRecord, Format, Listing};
use crate::session::{Session, wire_time};

/// Events that are remembered as shown. Where a series has more within the time that events may come late, the oldest
/// are forgotten and what comes late among them is not shown.
const SHOWN_MAX: usize = 200_000;
const PAGE_SIZE: i32 = 1_000;

const EXAMPLES: &str = "\
Examples:
  braid tail -n plays user:7
  braid tail -n plays user:7 --since 1h --interval 5s
  braid tail -n plays user:7 --late 10m -o ndjson --text | jq .event_id

Events are shown oldest first, each once, when --interval has passed at most. One
that is written later than --late after its own time is not shown; `braid get`
shows it. Ends with Ctrl-C. JSON comes as one event a line.";

/// What `tail` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The series to follow
    id: String,
    /// Begin so long ago
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse_duration)]
    since: Duration,
    /// How often to look
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_duration)]
    interval: Duration,
    /// How late after its own time an event may arrive and still be shown
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse_duration)]
    late: Duration,
    /// Show values as text in JSON and CSV too; what is no text stays base64
    #[arg(long)]
    text: bool,
}

/// Follows the series until Ctrl-C, which is how it is meant to end.
pub(crate) async fn run(session: Session, args: Args) -> Result<(), Failure> {
    let follow = follow(session, &args);
    tokio::select! {
        ended = Box::pin(follow) => ended,
        _asked = tokio::signal::ctrl_c() => Ok(()),
    }
}

async fn follow(mut session: Session, args: &Args) -> Result<(), Failure> {
    let namespace = session.namespace()?;
    let horizon = horizon(&session, &namespace).await?;
    // An endless list has no closing bracket, so JSON comes in lines.
    let format = match session.stdout.format() {
        Format::Json => Format::Ndjson,
        other => other,
    };
    let mut listing = Listing::new(format, session.stdout.width())?;
    let mut shown = Shown::new(SHOWN_MAX);
    let mut from = before(session.now(), args.since);
    let mut failing = false;
    loop {
        let started = session.now();
        let request = request(&namespace, args, shown.start(from), open_end(started, horizon));
        match pass(&mut session, &mut listing, &mut shown, request, args.text).await {
            Ok(()) => {
                failing = false;
                from = before(started, args.late).max(from);
                shown.forget_before(from);
            }
            // What was missed is read as soon as the server is back.
            Err(Failure::Call(CallError { message, retry_after: Some(_), .. })) => {
                if !failing {
                    talk(&format!("braid: {message}\nbraid: trying again until it answers\n"));
                }
                failing = true;
            }
            Err(failure) => return Err(failure),
        }
        session.env.clock.sleep(args.interval).await;
    }
}

fn before(time: Timestamp, ago: Duration) -> Timestamp {
    time.saturating_sub(ago).unwrap_or(Timestamp::MIN)
}

fn request(namespace: &str, args: &Args, start: Timestamp, end: Timestamp) -> v1::ReadEventRecordsRequest {
    v1::ReadEventRecordsRequest {
        namespace: namespace.to_owned(),
        time_series_id: args.id.clone(),
        // A start beyond the end happens only when everything in between was shown.
        time_interval: Some(v1::TimeInterval {
            start: Some(wire_time(start.min(end))),
            end: Some(wire_time(end)),
        }),
        page_size: PAGE_SIZE,
        order: v1::Order::OldestFirst.into(),
        ..v1::ReadEventRecordsRequest::default()
    }
}

/// Reads once to the end and writes what was not shown before.
async fn pass(
    session: &mut Session,
    listing: &mut Listing,
    shown: &mut Shown,
    request: v1::ReadEventRecordsRequest,
    text: bool,
) -> Result<(), Failure> {
    let mut pages = session.client.stream(request).await?;
    while let Some(page) = pages.next().await? {
        let fresh: Vec<EventRecord<'_>> = page
            .records
            .iter()
            .filter(|event| shown.is_new(event))
            .map(|event| EventRecord { event, text })
            .collect();
        if !fresh.is_empty() {
            session.stdout.write(&listing.batch(&fresh)?)?;
            session.stdout.flush()?;
        }
    }
    Ok(())
}

/// An event as far as it differs from others of its series: nanoseconds since 1970, and its id.
type Identity = (i128, String);

/// What was shown and may be read again. A pass goes from old to new and reads nothing twice, so what it has shown so far
/// is everything up to the event at hand; the next pass starts no earlier than [`Shown::start`].
#[derive(Debug)]
struct Shown {
    events: BTreeSet<Identity>,
    max: usize,
    /// Nothing before this is read again, because it is not remembered any more.
    floor: i128,
    /// The event whose parts are being read, and whether they are shown.
    going_on: Option<(Identity, bool)>,
}

impl Shown {
    fn new(max: usize) -> Self {
        Self { events: BTreeSet::new(), max, floor: Timestamp::MIN.as_nanosecond(), going_on: None }
    }

    /// Where the next pass starts when it is meant to start at `wanted`.
    fn start(&self, wanted: Timestamp) -> Timestamp {
        wanted.max(Timestamp::from_nanosecond(self.floor).unwrap_or(Timestamp::MAX))
    }

    /// Forgets what no pass will read again.
    fn forget_before(&mut self, time: Timestamp) {
        self.events = self.events.split_off(&(time.as_nanosecond(), String::new()));
    }

    /// Whether the event is to be shown; from now on it is not.
    fn is_new(&mut self, event: &v1::Event) -> bool {
        let time = event.event_time.unwrap_or_default();
        let nanos = i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanos);
        let identity = (nanos, event.event_id.clone());
        let new = match &self.going_on {
            Some((going_on, shown)) if *going_on == identity => *shown,
            _ => !self.events.contains(&identity),
        };
        self.going_on = event.continues.then(|| (identity.clone(), new));
        self.events.insert(identity);
        if self.events.len() > self.max
            && let Some((oldest, _)) = self.events.pop_first()
        {
            self.floor = self.floor.max(oldest + 1);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::new(seconds, 0).unwrap()
    }

    /// One pass over events given as `second:id`, with `+` behind an event that goes on: what is shown of them.
    fn pass(shown: &mut Shown, events: &str) -> String {
        let event = |text: &str| {
            let (seconds, id) = text.trim_end_matches('+').split_once(':').unwrap();
            v1::Event {
                event_time: Some(prost_types::Timestamp { seconds: seconds.parse().unwrap(), nanos: 0 }),
                event_id: id.to_owned(),
                continues: text.ends_with('+'),
                ..v1::Event::default()
            }
        };
        let new: Vec<&str> = events.split(' ').filter(|text| shown.is_new(&event(text))).collect();
        new.join(" ")
    }

    #[test]
    fn each_event_is_shown_once_also_when_it_comes_late() {
        let mut shown = Shown::new(100);
        assert_eq!(pass(&mut shown, "1:a 3:a 3:b"), "1:a 3:a 3:b");
        assert_eq!(pass(&mut shown, "1:a 2:late 3:a 3:aa 3:b 4:c"), "2:late 3:aa 4:c");
        assert_eq!(pass(&mut shown, "1:a 2:late 3:a 3:aa 3:b 4:c"), "");
    }

    #[test]
    fn what_lies_before_the_next_pass_is_forgotten() {
        let mut shown = Shown::new(100);
        pass(&mut shown, "1:a 2:b 3:c");
        shown.forget_before(at(2));
        assert_eq!(shown.events.len(), 2);
        assert_eq!(pass(&mut shown, "2:b 3:c 3:d"), "3:d");
        assert_eq!(shown.start(at(7)), at(7));
    }

    #[test]
    fn a_full_memory_forgets_the_oldest_and_does_not_read_them_again() {
        let mut shown = Shown::new(2);
        assert_eq!(pass(&mut shown, "1:a 2:b 3:c 4:d"), "1:a 2:b 3:c 4:d");
        assert_eq!(shown.events.len(), 2);
        assert_eq!(shown.start(at(1)), Timestamp::new(2, 1).unwrap());
        assert_eq!(pass(&mut shown, "3:c 4:d 5:e"), "5:e");
        assert_eq!(shown.start(at(1)), Timestamp::new(3, 1).unwrap());
    }

    #[test]
    fn the_parts_of_an_event_are_shown_together_or_not_at_all() {
        let mut shown = Shown::new(100);
        assert_eq!(pass(&mut shown, "1:a+ 1:a+ 1:a 2:b"), "1:a+ 1:a+ 1:a 2:b");
        assert_eq!(pass(&mut shown, "1:a+ 1:a+ 1:a 2:b 2:c+ 2:c"), "2:c+ 2:c");
    }

    #[test]
    fn a_start_beyond_the_end_is_an_empty_interval() {
        let args = Args {
            id: "s".to_owned(),
            since: Duration::ZERO,
            interval: Duration::ZERO,
            late: Duration::ZERO,
            text: false,
        };
        let interval = request("plays", &args, at(9), at(5)).time_interval.unwrap();
        assert_eq!(interval.start, interval.end);
    }
}
