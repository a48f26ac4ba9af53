//! Aggregations against the same list, added up over answers of every size.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use engine::{AggregatePage, AggregateRequest, Aggregation, BucketKey, Engine, ReadRequest};
use model::Order;

use crate::world::{Found, World, any_request, world};

const KEY: &str = "k1";
const WIDTH: i64 = 700_000_000_000;

/// All answers added up.
#[derive(Debug, Default, PartialEq)]
struct Total {
    count: u64,
    values: BTreeMap<Bytes, u64>,
    stretches: BTreeMap<i64, u64>,
    numbers: u64,
    range: Option<(f64, f64)>,
    sum: f64,
}

impl Total {
    fn add(&mut self, page: &AggregatePage) {
        self.count += page.count;
        for bucket in &page.buckets {
            match &bucket.key {
                BucketKey::Value(value) => *self.values.entry(value.clone()).or_default() += bucket.count,
                BucketKey::Time(time) => {
                    assert_eq!((time.end() - time.start(), time.start() % WIDTH), (WIDTH, 0));
                    *self.stretches.entry(time.start()).or_default() += bucket.count;
                }
            }
        }
        let Some(stats) = page.stats else { return };
        assert_eq!(stats.count > 0, stats.min.is_some() && stats.max.is_some());
        self.numbers += stats.count;
        self.sum += stats.sum;
        if let (Some(min), Some(max)) = (stats.min, stats.max) {
            let (least, greatest) = self.range.unwrap_or((min, max));
            self.range = Some((least.min(min), greatest.max(max)));
        }
    }

    /// What the events of the list add up to.
    fn expected(events: &[Found], aggregation: &Aggregation) -> Self {
        let mut total = Self { count: events.len() as u64, ..Self::default() };
        for (time, _, _, items) in events {
            let value = items.get(KEY);
            match aggregation {
                Aggregation::Count => {}
                Aggregation::TimeHistogram { width } => {
                    *total.stretches.entry(time.div_euclid(*width) * width).or_default() += 1;
                }
                Aggregation::Distinct { .. } => {
                    if let Some(value) = value {
                        *total.values.entry(value.clone()).or_default() += 1;
                    }
                }
                Aggregation::Stats { .. } => {
                    let number = value.and_then(|value| str::from_utf8(value).ok()?.parse::<f64>().ok());
                    if let Some(number) = number {
                        total.numbers += 1;
                        total.sum += number;
                        let (least, greatest) = total.range.unwrap_or((number, number));
                        total.range = Some((least.min(number), greatest.max(number)));
                    }
                }
            }
        }
        total
    }

    /// The sums of answers are rounded once each; all else is exact.
    fn assert_is(&self, expected: &Self, context: &str) {
        assert!((self.sum - expected.sum).abs() < 1e-9, "{context}: {} {}", self.sum, expected.sum);
        assert_eq!(
            &Self { sum: 0.0, ..self.clone_without_sum() },
            &expected.clone_without_sum(),
            "{context}"
        );
    }

    fn clone_without_sum(&self) -> Self {
        let Self { count, values, stretches, numbers, range, .. } = self;
        let (values, stretches) = (values.clone(), stretches.clone());
        Self { count: *count, values, stretches, numbers: *numbers, range: *range, sum: 0.0 }
    }
}

fn aggregations() -> [Aggregation; 4] {
    let key = KEY.to_owned();
    [
        Aggregation::Count,
        Aggregation::Distinct { key: key.clone() },
        Aggregation::Stats { key },
        Aggregation::TimeHistogram { width: WIDTH },
    ]
}

fn any(world: &World, random: &mut fastrand::Rng) -> ReadRequest {
    let mut request = any_request(world, random);
    if random.u8(0..3) == 0 {
        // Without series the first so many are not those of the list.
        (request.series, request.total_limit) = (Vec::new(), None);
    }
    request.page_records = random.usize(1..20);
    request
}

#[tokio::test]
async fn answers_add_up_to_what_the_list_says() {
    let mut pages = 0;
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        for aggregation in aggregations().into_iter().cycle().take(24) {
            let mut request = AggregateRequest { read: any(&world, &mut random), aggregation };
            let expected = Total::expected(&world.expected(&request.read), &request.aggregation);
            let mut total = Total::default();
            loop {
                let page = world.engine.aggregate(request.clone()).await.unwrap();
                assert!(page.buckets.len() <= request.read.page_records);
                total.add(&page);
                pages += 1;
                request.read.resume = page.next;
                if request.read.resume.is_none() {
                    break;
                }
            }
            total.assert_is(&expected, &format!("seed {seed}: {request:?}"));
        }
    }
    assert!(pages > 900, "{pages}");
}

#[tokio::test]
async fn answers_cut_short_by_time_cover_what_they_say_and_add_up() {
    let mut cuts = 0;
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = world(&mut random).await;
        for _ in 0..8 {
            world.write(&mut random).await;
        }
        for aggregation in aggregations() {
            let read = ReadRequest { page_records: 500, ..any(&world, &mut random) };
            let mut request = AggregateRequest { read, aggregation };
            let events = world.expected(&request.read);
            let expected = Total::expected(&events, &request.aggregation);
            let (mut total, mut latency) = (Total::default(), random.u64(1..20));
            let mut covered = Vec::new();
            loop {
                request.read.max_latency = Some(Duration::from_millis(latency));
                let engine = Engine::open(Arc::clone(&world.store), world.env.clone()).await.unwrap();
                let page = engine.aggregate(request.clone()).await.unwrap();
                assert_eq!(page.partial.is_some(), page.partial.is_some() && page.next.is_some());
                cuts += usize::from(page.partial.is_some());
                total.add(&page);
                covered.push(page.complete);
                request.read.resume = page.next;
                if request.read.resume.is_none() {
                    break;
                }
                latency += 3;
            }
            if request.read.order == Order::NewestFirst {
                covered.reverse();
            }
            assert!(covered.is_sorted_by(|a, b| a.end() == b.start()), "seed {seed}: {covered:?}");
            let whole = request.read.interval;
            let ends = (covered.first().unwrap().start(), covered.last().unwrap().end());
            assert_eq!(ends, (whole.start(), whole.end()), "together they cover the interval");
            total.assert_is(&expected, &format!("seed {seed}: {request:?}"));
        }
    }
    assert!(cuts > 200, "{cuts}");
}

#[tokio::test]
async fn the_most_frequent_value_comes_first() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut world = world(&mut random).await;
    for _ in 0..20 {
        world.write(&mut random).await;
    }
    let read = ReadRequest {
        query: None,
        total_limit: None,
        page_records: 10_000,
        ..any_request(&world, &mut random)
    };
    let read = ReadRequest { series: Vec::new(), interval: model::Interval::ALL, ..read };
    let request = AggregateRequest { read, aggregation: Aggregation::Distinct { key: KEY.to_owned() } };
    let page = world.engine.aggregate(request).await.unwrap();
    assert!(page.next.is_none() && page.buckets.len() > 20, "{}", page.buckets.len());
    assert!(page.buckets.is_sorted_by(|a, b| a.count >= b.count));
}
