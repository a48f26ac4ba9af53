//! Packed targets through the wire: reads, searches and counts over chunks give what was written, and the layout goes to rows and back.

use std::collections::BTreeMap;
use std::time::Duration;

use api::admin::v1 as admin;
use api::v1;
use api::v1::aggregation_query::Aggregation;
use api::v1::search_query::Query;
use env::Env;

use crate::fixture::{Fixture, NAMESPACE, at, reads};
use crate::search::PAGES_MAX;

const HOUR: i64 = 3_600;
/// Series whose partitions are wide, of so many events of a kilobyte: some sixty go into a chunk.
const WIDE: [&str; 2] = ["shark", "whale"];
const EVENTS: i64 = 700;
const SECONDS_BETWEEN: i64 = 5;
/// One event in so many is red.
const RED_EVERY: i64 = 97;
const MINUTE: i64 = 60;
/// Servers hear of what others did within seconds.
const LOOKS: u32 = 1_200;
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

fn item(key: &str, value: String) -> v1::EventItem {
    v1::EventItem {
        event_item_key: key.to_owned(),
        event_item_value: value.into(),
        ..v1::EventItem::default()
    }
}

/// An event with a color and a text of which no two are alike.
fn event(series: &str, start: i64, number: i64) -> v1::Event {
    let color = if number % RED_EVERY == 0 { "red" } else { "blue" };
    let text = (0..50).map(|part| format!("{:020}", (number + 7) * (part + 11) * 1_000_003)).collect();
    v1::Event {
        time_series_id: series.to_owned(),
        event_time: Some(at(start + SECONDS_BETWEEN * number)),
        event_id: format!("{number:08}"),
        event_items: vec![item("color", color.to_owned()), item("text", text)],
        continues: false,
    }
}

/// What was written of a series, newest first.
fn written(series: &str, start: i64) -> Vec<v1::Event> {
    let oldest: Vec<v1::Event> = (0..EVENTS).map(|number| event(series, start, number)).collect();
    backwards(&oldest)
}

/// The same in the other order, items too.
fn backwards(events: &[v1::Event]) -> Vec<v1::Event> {
    let mut events: Vec<v1::Event> = events.iter().rev().cloned().collect();
    events.iter_mut().for_each(|event| event.event_items.reverse());
    events
}

fn is_red(event: &v1::Event) -> bool {
    event.event_items.iter().any(|item| item.event_item_value == "red")
}

fn red() -> Option<v1::SearchQuery> {
    let equals = v1::EqualsQuery { event_item_key: "color".to_owned(), event_item_value: "red".into() };
    Some(v1::SearchQuery { query: Some(Query::Equals(equals)) })
}

/// A namespace with packed targets whose reads are on, and the splits of its wide partitions.
struct Packed {
    fixture: Fixture,
    start: i64,
    splits: Vec<String>,
}

impl Packed {
    async fn new() -> Self {
        let fixture = Fixture::start(&[]).await;
        let now = Env::system().clock.wall() / 1_000_000_000;
        let start = now - now % HOUR - 5 * HOUR;
        let namespace = admin::Namespace {
            name: NAMESPACE.to_owned(),
            shape: Some(admin::Shape { buckets_per_id: 1, ..admin::Shape::default() }),
            accept_limit: seconds(0),
            split: Some(admin::SplitSettings {
                policy: "manual".to_owned(),
                threshold_bytes: 64 << 10,
                target_bytes: 64 << 10,
                layout: "packed".to_owned(),
                ..admin::SplitSettings::default()
            }),
            read_mode_policy: "manual".to_owned(),
            read_gates: Some(admin::ReadGates { min_compared: Some(1), ..admin::ReadGates::default() }),
            ..admin::Namespace::default()
        };
        let request = admin::CreateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        fixture.client.create_namespace(request).await.unwrap();
        for series in WIDE {
            for some in written(series, start).chunks(250) {
                fixture.write(some.to_vec()).await;
            }
        }
        let closed = admin::Namespace {
            name: NAMESPACE.to_owned(),
            accept_limit: seconds(60),
            ..admin::Namespace::default()
        };
        let request = admin::UpdateNamespaceRequest { namespace: Some(closed), ..Default::default() };
        fixture.client.update_namespace(request).await.unwrap();
        let mut packed = Self { fixture, start, splits: Vec::new() };
        for series in WIDE {
            packed.split(series).await;
        }
        packed.switch_on().await;
        packed
    }

    async fn split(&mut self, series: &str) {
        let client = &self.fixture.client;
        let request = admin::CreateSplitRequest {
            namespace: NAMESPACE.to_owned(),
            time_slice: client.list_slices(NAMESPACE).await.unwrap().slices.remove(0).table,
            time_series_id: series.to_owned(),
            time_bucket: u32::try_from(self.start.rem_euclid(24 * HOUR) / HOUR).unwrap(),
            ..Default::default()
        };
        self.splits.push(client.create_split(request).await.unwrap().id);
    }

    /// Waits until every split is there in this attempt and layout.
    async fn is_split(&self, attempt: u32, layout: &str) {
        for id in &self.splits {
            let split = loop {
                let split = self.fixture.client.get_split(NAMESPACE, id).await.unwrap();
                assert!(!matches!(split.state.as_str(), "FAILED" | "REJECTED"), "{:?}", split.reason);
                if split.state == "COMPLETED" && split.attempt == attempt {
                    break split;
                }
                tokio::task::yield_now().await;
            };
            let post = split.post_split_data.unwrap();
            assert_eq!(post.layout, layout, "{}", post.strategy_reason);
            assert_eq!(
                (post.chunk_bytes > 0, !post.codec.is_empty()),
                (layout == "packed", layout == "packed")
            );
        }
    }

    /// Compares all that was split and moves reads on, until they are.
    async fn switch_on(&self) {
        self.is_split(1, "packed").await;
        for mode in ["canary", "on"] {
            let request =
                admin::CompareReadModeRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
            let compared = self.fixture.client.compare_read_mode(request).await.unwrap();
            assert_eq!((compared.records, compared.differ), (2 * EVENTS, 0));
            let request =
                admin::AdvanceReadModeRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
            assert_eq!(self.fixture.client.advance_read_mode(request).await.unwrap().mode, mode);
        }
    }

    /// Waits until every wide partition is read from its targets.
    async fn is_served(&self) {
        let env = Env::system();
        for series in WIDE {
            for look in 0.. {
                let explained = self.fixture.client.explain(self.read(series, (0, HOUR))).await.unwrap();
                let route = &explained.slices[0].time_buckets[0].event_buckets[0].route;
                if route == "TARGET" {
                    break;
                }
                assert!(look < LOOKS, "{series} is read from {route}");
                env.clock.sleep(LOOK_EVERY).await;
            }
        }
    }

    async fn retry(&self, layout: &str) {
        for id in &self.splits {
            let request = admin::RetrySplitRequest {
                namespace: NAMESPACE.to_owned(),
                id: id.clone(),
                layout: layout.to_owned(),
                ..Default::default()
            };
            assert_eq!(self.fixture.client.retry_split(request).await.unwrap().state, "RETIRING");
        }
    }

    /// A read of seconds after the first event.
    fn read(&self, series: &str, (from, to): (i64, i64)) -> v1::ReadEventRecordsRequest {
        reads(series, self.start + from, self.start + to)
    }

    fn search(&self, query: Option<v1::SearchQuery>) -> v1::SearchEventRecordsRequest {
        let series: Vec<&str> = WIDE.to_vec();
        let within = self.read(series[0], (0, HOUR)).time_interval;
        v1::SearchEventRecordsRequest { time_interval: within, ..crate::search::search(&series, query) }
    }

    /// Every page of a read, all of them from targets.
    async fn pages(&self, mut request: v1::ReadEventRecordsRequest) -> Vec<v1::Event> {
        let mut found = Vec::new();
        for _ in 0..PAGES_MAX {
            let page = self.fixture.client.read(request.clone()).await.unwrap();
            is_of_targets(&page.response_context, page.records.is_empty());
            found.extend(page.records);
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return found;
            }
        }
        panic!("{PAGES_MAX} pages and no end");
    }

    /// Both orders, by pages that end inside of chunks, and narrow.
    async fn reads_are_right(&self) {
        for series in WIDE {
            let newest = written(series, self.start);
            let oldest = backwards(&newest);
            for (order, expect) in [(v1::Order::NewestFirst, &newest), (v1::Order::OldestFirst, &oldest)] {
                for page_size in [23, 250, 1_000] {
                    let request = v1::ReadEventRecordsRequest {
                        page_size,
                        order: order.into(),
                        ..self.read(series, (0, HOUR))
                    };
                    assert!(&self.pages(request).await == expect, "{series} {order:?} by {page_size}");
                }
            }
            for (from, to) in [(0, 1), (501, 506), (1_000, 1_330), (3_490, 3_600)] {
                let inside = |event: &&v1::Event| {
                    (from..to).contains(&(event.event_time.unwrap().seconds - self.start))
                };
                let expect: Vec<v1::Event> = newest.iter().filter(inside).cloned().collect();
                assert!(
                    !expect.is_empty() && self.pages(self.read(series, (from, to))).await == expect,
                    "{from}"
                );
            }
        }
    }

    /// A filter that matches few events.
    async fn searches_are_right(&self) {
        let mut expect: Vec<v1::Event> =
            WIDE.iter().flat_map(|series| written(series, self.start)).filter(is_red).collect();
        expect.sort_by_key(|event| {
            std::cmp::Reverse((event.event_time.unwrap().seconds, event.time_series_id.clone()))
        });
        for page_size in [3, 1_000] {
            let (mut found, mut ended) = (Vec::new(), false);
            let mut request = v1::SearchEventRecordsRequest { page_size, ..self.search(red()) };
            for _ in 0..PAGES_MAX {
                let page = self.fixture.client.search(request.clone()).await.unwrap();
                is_of_targets(&page.response_context, page.records.is_empty());
                found.extend(page.records);
                request.page_token = page.next_page_token;
                ended = request.page_token.is_empty();
                if ended {
                    break;
                }
            }
            found.sort_by_key(|event| {
                std::cmp::Reverse((event.event_time.unwrap().seconds, event.time_series_id.clone()))
            });
            assert!(ended && found == expect, "{} by {page_size}", found.len());
        }
    }

    /// All of it, and a part that begins and ends inside of chunks.
    async fn counts_are_right(&self) {
        for (from, to) in [(0, HOUR), (703, 2_998)] {
            let times: Vec<i64> = (0..EVENTS)
                .map(|number| SECONDS_BETWEEN * number)
                .filter(|at| (from..to).contains(at))
                .collect();
            let mut stretches = BTreeMap::<i64, i64>::new();
            for time in &times {
                *stretches.entry(self.start + time - time % MINUTE).or_default() += 2;
            }
            let count = Aggregation::Count(v1::CountAggregation {});
            let histogram =
                Aggregation::TimeHistogram(v1::TimeHistogramAggregation { interval: seconds(MINUTE) });
            for (aggregation, expect) in [(count, BTreeMap::new()), (histogram, stretches)] {
                let (counted, found) = self.aggregated((from, to), aggregation).await;
                assert_eq!((counted, found), (2 * i64::try_from(times.len()).unwrap(), expect));
            }
        }
    }

    /// What all answers add up to, and their stretches of time.
    async fn aggregated(
        &self,
        (from, to): (i64, i64),
        aggregation: Aggregation,
    ) -> (i64, BTreeMap<i64, i64>) {
        let mut request = v1::AggregateEventRecordsRequest {
            namespace: NAMESPACE.to_owned(),
            time_series_ids: WIDE.map(str::to_owned).to_vec(),
            time_interval: self.read(WIDE[0], (from, to)).time_interval,
            aggregation_query: Some(v1::AggregationQuery { aggregation: Some(aggregation) }),
            ..v1::AggregateEventRecordsRequest::default()
        };
        let (mut count, mut stretches) = (0, BTreeMap::new());
        for _ in 0..PAGES_MAX {
            let answer = self.fixture.client.aggregate(request.clone()).await.unwrap();
            is_of_targets(&answer.response_context, answer.count == 0);
            count += answer.count;
            for bucket in &answer.buckets {
                *stretches.entry(bucket.time_interval.unwrap().start.unwrap().seconds).or_default() +=
                    bucket.count;
            }
            request.page_token = answer.next_page_token;
            if request.page_token.is_empty() {
                return (count, stretches);
            }
        }
        panic!("{PAGES_MAX} answers and no end");
    }

    async fn everything_is_right(&self) {
        self.reads_are_right().await;
        self.searches_are_right().await;
        self.counts_are_right().await;
    }
}

/// An answer came from targets alone; the last one may have found nothing left.
fn is_of_targets(context: &[v1::ResponseContext], is_empty: bool) {
    let context = &context[0];
    let routes = context.routes.unwrap();
    assert_eq!((routes.origin, context.fallbacks), (0, 0), "{context:?}");
    assert!(routes.target > 0 || is_empty, "{context:?}");
}

#[tokio::test]
async fn packed_targets_give_what_was_written_and_go_to_rows_and_back() {
    let packed = Packed::new().await;
    packed.is_served().await;
    packed.everything_is_right().await;
    for (attempt, layout) in [(2, "rows"), (3, "packed")] {
        packed.retry(layout).await;
        packed.is_split(attempt, layout).await;
        packed.is_served().await;
        packed.everything_is_right().await;
    }
}
