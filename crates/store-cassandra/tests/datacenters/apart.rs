//! Two servers, each in a data centre of its own, change one record at the same moment, again and again: one of them wins.

use own_cluster::OwnCluster;
use store::conformance::Fixture;
use store::{CasOutcome, ErrorKind, MetaChange, Result};

/// Changes of the record by each of the two.
const ROUNDS: u32 = 40;

pub(crate) async fn check(cluster: &OwnCluster, one: &Fixture, other: &Fixture) {
    let key = one.meta_key("both", "record");
    let (mut won, mut version) = ([0, 0], None);
    for round in 0..ROUNDS {
        let value = |whose: &str| MetaChange::Put(format!("{whose} {round}").into());
        let (first, second) = futures::join!(
            one.store.meta_cas(&key, version, value("one")),
            other.store.meta_cas(&key, version, value("other")),
        );
        let applied = [applied(first), applied(second)];
        assert_ne!(applied, [true, true], "both won round {round}");
        let seen = [one.store.meta_get(&key).await.unwrap(), other.store.meta_get(&key).await.unwrap()];
        assert_eq!(seen[0], seen[1], "they do not see the same record after round {round}");
        let record = seen.into_iter().flatten().next();
        for ((won, whose), applied) in won.iter_mut().zip(["one", "other"]).zip(applied) {
            if applied {
                let expect = format!("{whose} {round}");
                assert_eq!(record.as_ref().map(|record| &*record.value), Some(expect.as_bytes()));
                *won += 1;
            }
        }
        version = record.map(|record| record.version);
    }
    let [one, other] = won;
    assert!(one + other > ROUNDS / 2, "most rounds have a winner: {one} and {other}");
    cluster.say(&format!("two servers competed for a record {ROUNDS} times and won {one} and {other}"));
}

/// Whether it is known that a change was made. Servers that compete may be told to look again.
fn applied(outcome: Result<CasOutcome>) -> bool {
    match outcome {
        Ok(CasOutcome::Applied(_)) => true,
        Ok(CasOutcome::Conflict(_)) => false,
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Unknown), "{error}");
            false
        }
    }
}
