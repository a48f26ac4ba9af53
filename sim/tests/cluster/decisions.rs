//! Records and tables: one decision each, and callers who do not hear of it.

use std::time::Duration;

use sim::cluster::{Chances, Cut, Faults, Options};
use store::{CasOutcome, Durability, ErrorKind, MetaVersion, Storage, Store};

use crate::fixture::{batch, key, make_table, put, run, scan, times};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn an_outage_of_metadata_leaves_rows_alone() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        cluster.meta_cas(&key("a"), None, put("1")).await.unwrap();
        cluster.meta_outage(true);
        let errors = [
            cluster.meta_get(&key("a")).await.unwrap_err(),
            cluster.meta_range(b"group", None, 5).await.unwrap_err(),
            cluster.meta_cas(&key("b"), None, put("1")).await.unwrap_err(),
            cluster.list_tables().await.unwrap_err(),
            cluster.drop_table(&table).await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| error.kind() == ErrorKind::Unavailable), "{errors:?}");
        cluster.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
        assert_eq!(times(&cluster.scan(scan(&table)).await.unwrap()), [5]);
        assert!(cluster.ready().await.is_ok());

        cluster.meta_outage(false);
        assert_eq!(cluster.meta_get(&key("a")).await.unwrap().unwrap().version, MetaVersion(1));
        assert_eq!(cluster.meta_get(&key("b")).await.unwrap(), None);
    });
}

#[test]
fn an_outage_after_the_decision_leaves_it_unknown() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let key = key("a");
        let cas = cluster.meta_cas(&key, None, put("1"));
        let outage = async {
            // The answer is on its way once nothing else is.
            while cluster.in_flight() == 0 {
                world.clock().sleep(Duration::from_micros(1)).await;
            }
            while cluster.in_flight() > 0 {
                world.clock().sleep(Duration::from_millis(1)).await;
            }
            cluster.meta_outage(true);
        };
        let (outcome, ()) = tokio::join!(biased; cas, outage);
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Unknown);
        cluster.meta_outage(false);
        assert_eq!(cluster.meta_get(&key).await.unwrap().unwrap().value, "1");
    });
}

#[test]
fn a_cut_link_stops_one_server_and_hides_answers() {
    run(3, |world| async move {
        let cluster = world.cluster(Options::default());
        let table = make_table(&cluster).await;
        let ((link, here), (_, there)) = (cluster.link("a"), cluster.link("b"));
        link.cut(Cut::Metadata);
        assert_eq!(here.meta_get(&key("a")).await.unwrap_err().kind(), ErrorKind::Unavailable);
        here.upsert(batch(&table, &[5]), Durability::Synced).await.unwrap();
        there.meta_cas(&key("a"), None, put("1")).await.unwrap();
        link.cut(Cut::Everything);
        let refused = here.upsert(batch(&table, &[6]), Durability::Synced).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unavailable);
        link.cut(Cut::Nothing);
        assert_eq!(here.meta_get(&key("a")).await.unwrap().unwrap().value, "1");

        let write = here.upsert(batch(&table, &[7]), Durability::Synced);
        let (unheard, ()) = tokio::join!(biased; write, async { link.cut(Cut::Everything) });
        assert_eq!(unheard.unwrap_err().kind(), ErrorKind::Unknown);
        world.clock().sleep(MINUTE).await;
        assert_eq!(times(&there.scan(scan(&table)).await.unwrap()), [5, 7]);
    });
}

/// How often a late compare-and-set was done, and changed something after a read that had not seen it.
fn late_cas(cas_outlives_read: u16) -> (usize, usize) {
    let (mut done, mut after_a_read) = (0, 0);
    for seed in 0..60 {
        let records = Chances { late: 1_000, ..Chances::default() };
        let faults = Faults { records, cas_outlives_read, ..Faults::none() };
        let (first, last) = run(seed, |world| async move {
            let cluster = world.cluster(Options { faults, ..Options::default() });
            let error = cluster.meta_cas(&key("a"), None, put("1")).await.expect_err("late");
            assert_eq!(error.kind(), ErrorKind::Unknown);
            let first = cluster.meta_get(&key("a")).await.expect("read");
            world.clock().sleep(MINUTE).await;
            (first, cluster.meta_get(&key("a")).await.expect("read"))
        });
        done += usize::from(last.is_some());
        after_a_read += usize::from(first != last);
    }
    (done, after_a_read)
}

#[test]
fn a_late_change_of_a_record_is_settled_by_a_read() {
    let (done, after_a_read) = late_cas(0);
    assert!((10..55).contains(&done), "{done} of 60 were done");
    assert_eq!(after_a_read, 0);
    let (done, after_a_read) = late_cas(1_000);
    assert_eq!(done, 60);
    assert!(after_a_read > 20, "{after_a_read} of 60 outlived a read");
}

#[test]
fn one_of_many_changes_of_a_record_is_applied() {
    for seed in 0..20 {
        run(seed, |world| async move {
            let cluster = world.cluster(Options { faults: Faults::stormy(), ..Options::default() });
            let changes = (0..10).map(|n| {
                let cluster = cluster.clone();
                async move { cluster.meta_cas(&key("a"), None, put(&n.to_string())).await }
            });
            let outcomes = futures::future::join_all(changes).await;
            let applied = outcomes.iter().filter(|outcome| matches!(outcome, Ok(CasOutcome::Applied(_))));
            assert!(applied.count() <= 1, "seed {seed}: {outcomes:?}");
            cluster.calm();
            world.clock().sleep(MINUTE).await;
            let record = cluster.meta_get(&key("a")).await.unwrap().unwrap();
            assert_eq!(record.version, MetaVersion(1), "seed {seed}");
        });
    }
}

#[test]
fn tables_are_made_and_dropped_late() {
    let (mut there, mut gone) = (0, 0);
    for seed in 0..20 {
        let made = run(seed, |world| async move {
            let tables = Chances { late: 1_000, ..Chances::default() };
            let cluster = world.cluster(Options::default());
            let table = make_table(&cluster).await;
            cluster.set_faults(Faults { tables, ..Faults::none() });
            assert_eq!(cluster.drop_table(&table).await.unwrap_err().kind(), ErrorKind::Unknown);
            let before = cluster.list_tables().await.unwrap().len();
            world.clock().sleep(MINUTE).await;
            assert_eq!(cluster.list_tables().await.unwrap(), []);
            let again = cluster.create_table(&table, &Storage::default()).await;
            assert_eq!(again.unwrap_err().kind(), ErrorKind::Unknown);
            world.clock().sleep(MINUTE).await;
            assert_eq!(cluster.tables(), [table]);
            before
        });
        there += made;
        gone += 1 - made;
    }
    assert!(there > 0 && gone > 0, "{there} drops were late, {gone} in time");
}
