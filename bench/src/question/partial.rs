//! How close to its time limit does a wide read answer while sixteen of them run?
//!
//! Sixteen clients search a wide partition for a value that no event has, each with a time limit and following its
//! tokens, from the start again at the end. Nothing fills a page, so time ends it: the answer says that it is partial, and
//! is to come when the limit is over, neither much later nor sooner. Answers that ended for another reason, because the
//! interval was over or the server had read as much as one page may, are counted and not timed.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use api::v1;
use env::{Clock, SystemClock};
use model::Order;
use rpc::client::Client;

use super::Question;
use crate::harness::{Answer, Goal, Latency, Sample, Setting, Side, Unit, interleave, measure_in};
use crate::remote::{Remote, Threads};
use crate::wide::Wide;
use crate::{crowd, progress, wire};

pub(crate) const QUESTION: Question = Question {
    name: "partial",
    asks: "partial answers of 16 wide reads at the same time, against the time limit that they were asked with",
    answer,
};

const READERS: u64 = 16;
const PAGE_EVENTS: i32 = 10_000;
/// Partial answers that each reader waits for.
const ANSWERS: u64 = 50;
const ANSWERS_QUICK: u64 = 20;
/// A reader that has asked so often for each of them does not measure what it should.
const ASKED_TIMES_MAX: u64 = 4;
/// What an answer may be away from its limit: the larger of the two.
const AWAY_PART_MAX: f64 = 0.2;
const AWAY_MAX: Duration = Duration::from_millis(20);

/// A side: one time limit.
struct Limit {
    side: &'static str,
    goal: &'static str,
    within: Duration,
}

/// One where a fifth is the larger, one where the 20 ms are.
const LIMITS: [Limit; 2] = [
    Limit { side: "200 ms", goal: "p99 away from 200 ms, ms", within: Duration::from_millis(200) },
    Limit { side: "50 ms", goal: "p99 away from 50 ms, ms", within: Duration::from_millis(50) },
];

fn answer(setting: &Setting) -> Result<Answer> {
    let (wide, answers) = (Wide::write(setting)?, setting.size(ANSWERS, ANSWERS_QUICK));
    let kept = LIMITS.each_ref().map(|_| RefCell::new(Kept::default()));
    let sides = LIMITS.iter().zip(&kept).map(|(limit, kept)| {
        let wide = &wide;
        Side::new(limit.side, move || {
            let (sample, seen) = read_all(wide, limit.within, answers)?;
            kept.borrow_mut().keep(&seen, limit.within)?;
            Ok(sample)
        })
    });
    let runs = interleave(setting.rounds, sides.collect(), progress::run(QUESTION.name, Unit::Bytes))?;
    let kept = kept.map(RefCell::into_inner);
    let calls = LIMITS.iter().map(|limit| Goal::Calls { side: limit.side });
    let wanted = LIMITS.iter().zip(&kept).map(|(limit, kept)| Goal::Figures {
        what: limit.goal,
        values: kept.away_p99_ms.clone(),
        at_most: millis(away_max(limit.within)),
    });
    let goals: Vec<Goal> = calls.chain(wanted).collect();
    let mut answer = Answer::new(QUESTION.name, Unit::Bytes, runs, &goals)?.note(wide.note()).note(format!(
        "{READERS} clients with a connection each on two threads of this process search for what no event has, pages of {PAGE_EVENTS}"
    ));
    for (limit, kept) in LIMITS.iter().zip(&kept) {
        answer = answer.note(format!(
            "{}: {} partial answers in all rounds, which are timed; {} others, which are not",
            limit.side, kept.partial, kept.others
        ));
    }
    Ok(answer
        .note("timed from the request to its answer as the client has it, who shares the server's cores")
        .note("bytes are what the server says that it read; CPU and memory are the server's"))
}

/// What is kept of the rounds of a side.
#[derive(Default)]
struct Kept {
    away_p99_ms: Vec<f64>,
    partial: usize,
    others: u64,
}

impl Kept {
    fn keep(&mut self, seen: &Seen, within: Duration) -> Result<()> {
        let away = seen.partial.iter().map(|took| took.abs_diff(within)).collect();
        self.away_p99_ms.push(millis(Latency::of(away).context("no answer was partial")?.p99));
        self.partial += seen.partial.len();
        self.others += seen.others;
        Ok(())
    }
}

/// How far from its limit an answer may come.
fn away_max(within: Duration) -> Duration {
    within.mul_f64(AWAY_PART_MAX).max(AWAY_MAX)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What all readers of a run saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// How long each partial answer took.
    partial: Vec<Duration>,
    /// Answers that were not partial.
    others: u64,
}

impl Seen {
    /// Takes in an answer. Whether it was partial.
    fn add(&mut self, answer: &v1::ReadEventRecordsResponse, took: Duration) -> bool {
        let partial = answer.partial.is_some();
        if partial {
            self.partial.push(took);
        } else {
            self.others += 1;
        }
        partial
    }
}

fn read_all(wide: &Wide, within: Duration, answers: u64) -> Result<(Sample, Seen)> {
    let remote = Remote::serve(wide.path(), Threads::Two)?;
    let clients = (0..READERS).map(|_| remote.client()).collect::<Result<Arc<[Client]>>>()?;
    let mut request = wire::search_marked(&wide.series, Order::OldestFirst, PAGE_EVENTS)?;
    remote.run(warm_up(&clients, &request)).context("warming up")?;
    request.max_latency = Some(prost_types::Duration::try_from(within)?);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let reader = |number: u64| {
        let (clients, request, seen) = (Arc::clone(&clients), request.clone(), Arc::clone(&seen));
        async move {
            let client = clients.get(usize::try_from(number)?).context("no such client")?;
            read(client, request, answers, &seen).await
        }
    };
    let sample = measure_in(remote.process(), || remote.run(crowd::work(READERS, reader)))?;
    drop(clients);
    remote.stop()?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((Sample { latency: Latency::of(seen.partial.clone()), ..sample }, seen))
}

/// Connects all clients, and reads everything once.
async fn warm_up(clients: &[Client], request: &v1::SearchEventRecordsRequest) -> Result<()> {
    for client in clients {
        let page = v1::SearchEventRecordsRequest { total_record_limit: 1, ..request.clone() };
        client.search(page).await?;
    }
    let (client, mut request) = (clients.first().context("no client")?, request.clone());
    loop {
        request.page_token = client.search(request.clone()).await?.next_page_token;
        if request.page_token.is_empty() {
            return Ok(());
        }
    }
}

/// Asks until so many answers were partial; returns how many bytes the server read for all of them.
async fn read(
    client: &Client,
    mut request: v1::SearchEventRecordsRequest,
    answers: u64,
    seen: &Mutex<Seen>,
) -> Result<u64> {
    let (mut partial, mut asked, mut bytes) = (0, 0, 0);
    while partial < answers {
        ensure!(asked < answers * ASKED_TIMES_MAX, "only {partial} of {asked} answers were partial");
        let start = SystemClock.boot();
        let answer = client.search(request.clone()).await?;
        let took = SystemClock.boot().since(start);
        ensure!(answer.records.is_empty(), "something was found that was never written");
        asked += 1;
        partial += u64::from(seen.lock().unwrap_or_else(PoisonError::into_inner).add(&answer, took));
        for context in &answer.response_context {
            bytes += u64::try_from(context.bytes_read)?;
        }
        // Empty at the end, which is the start.
        request.page_token = answer.next_page_token;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn an_answer_may_be_away_by_a_fifth_or_by_20_ms() {
        assert_eq!(LIMITS.each_ref().map(|limit| away_max(limit.within)), [ms(40), ms(20)]);
    }

    #[test]
    fn only_partial_answers_are_timed() {
        let whole = v1::ReadEventRecordsResponse::default();
        let partial = v1::ReadEventRecordsResponse { partial: Some(v1::Partial::default()), ..whole.clone() };
        let mut seen = Seen::default();
        assert!(seen.add(&partial, ms(7)) && !seen.add(&whole, ms(1)));
        assert_eq!(seen, Seen { partial: vec![ms(7)], others: 1 });
    }

    #[test]
    fn too_soon_is_as_far_away_as_too_late() {
        let mut kept = Kept::default();
        kept.keep(&Seen { partial: vec![ms(170), ms(210)], others: 3 }, ms(200)).unwrap();
        kept.keep(&Seen { partial: vec![ms(200), ms(250)], others: 1 }, ms(200)).unwrap();
        assert_eq!((kept.away_p99_ms, kept.partial, kept.others), (vec![30.0, 50.0], 4, 4));
        assert!(Kept::default().keep(&Seen::default(), ms(200)).is_err());
    }
}
