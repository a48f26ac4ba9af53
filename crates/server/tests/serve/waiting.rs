//! A server whose cluster is not there: it listens, says so in every way, and goes on trying. One that is there and will never
//! do ends it at once.

use std::time::Duration;

use env::Env;
use rpc::client::Client;
use server::Starting;
use server::config::Backend;

use crate::fixture::reads;
use crate::home::{Home, backend, cql};
use crate::http::{get, grpc, post_json};

/// Nobody listens there.
const NOWHERE: &str = "127.0.0.1:1";
/// So often is it asked whether it says what it should; 50 ms apart.
const LOOKS: u32 = 600;
/// Longer than everything that is done before it is known that it will not do.
const GIVES_UP_WITHIN: Duration = Duration::from_secs(60);

/// A server over a cluster that is not there, on a free port.
async fn starting() -> Starting {
    let mut config = Home::embedded().config(&[]);
    config.store.backend = Backend::Cassandra;
    config.store.cassandra.contact_points = vec![NOWHERE.to_owned()];
    Starting::listen(config, Env::system()).await.unwrap()
}

#[tokio::test]
async fn a_cluster_that_is_not_there_is_waited_for_and_named() {
    let starting = starting().await;
    let address = starting.address().to_string();
    let asking = async {
        // The first attempt has to fail before there is something to say.
        for _ in 0..LOOKS {
            let ready = get(&address, "/readyz").await;
            assert_eq!(ready.status, 503);
            if ready.text().contains(NOWHERE) {
                return ready.text();
            }
            Env::system().clock.sleep(Duration::from_millis(50)).await;
        }
        panic!("/readyz never named the contact point");
    };
    let told = tokio::select! {
        told = asking => told,
        ended = starting.open_when_there() => panic!("it gave up: {:?}", ended.err().map(|error| error.to_string())),
    };
    assert!(
        told.starts_with("not ready: cannot use Cassandra: ") && told.contains("contact points"),
        "{told}"
    );
}

#[tokio::test]
async fn while_it_starts_every_call_is_refused_and_probes_answer() {
    let starting = starting().await;
    let address = starting.address().to_string();
    assert_eq!(get(&address, "/healthz").await.status, 200);
    let ready = get(&address, "/readyz").await;
    assert_eq!((ready.status, &*ready.text()), (503, "not ready: starting; try again soon\n"));
    assert_eq!(get(&address, "/metrics").await.status, 503);
    let json = post_json(&address, "/braid.v1.TimeSeriesService/ReadEventRecords", "{}").await;
    assert_eq!((json.status, json.json()["code"].as_str()), (503, Some("unavailable")));
    let refused = Client::new(&address).unwrap().read(reads("s", 0, 1)).await.unwrap_err();
    assert_eq!((refused.code, refused.reason.as_deref()), ("UNAVAILABLE", Some("NOT_READY")));
    assert!(refused.retry_after.is_some(), "{refused:?}");
    // The process and a service of it: not serving.
    for service in ["", "braid.v1.TimeSeriesService"] {
        let mut message = vec![10, u8::try_from(service.len()).unwrap()];
        message.extend(service.as_bytes());
        assert_eq!(grpc(&address, "/grpc.health.v1.Health/Check", &message).await.body[5..], [8, 2]);
    }
}

#[tokio::test]
async fn who_does_not_want_to_wait_is_told_at_once() {
    let told = starting().await.open().await.err().unwrap().to_string();
    assert!(told.starts_with("cannot use Cassandra: ") && told.contains(NOWHERE), "{told}");
}

/// How `serve` ends at this home; it must, and without having been asked to.
async fn ended(home: &Home, settings: &[(&str, &str)]) -> String {
    let starting = Starting::listen(home.config(settings), Env::system()).await.unwrap();
    tokio::select! {
        ended = starting.open_when_there() => match ended {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it serves"),
        },
        () = Env::system().clock.sleep(GIVES_UP_WITHIN) => panic!("it waits for what never comes"),
    }
}

/// A store that only somebody who changes something can make usable: the node of the suite with these settings after these
/// statements, or a directory.
async fn is_not_waited_for(settings: &[(&str, &str)], statements: &[&str], says: &[&str]) {
    let home = Home::new();
    let told = if backend() == "cassandra" {
        // Its address: by now the node runs.
        home.config(&[]);
        statements.iter().for_each(|statement| cql(&statement.replace("PREFIX", home.prefix())));
        let told = ended(&home, settings).await;
        assert!(told.starts_with("cannot use Cassandra: "), "{told}");
        told
    } else {
        // What is no directory never becomes one.
        std::fs::write(home.config(&[]).store.data, "somebody's").unwrap();
        let told = ended(&home, &[]).await;
        assert!(told.starts_with("cannot open the data directory "), "{told}");
        return;
    };
    for part in says {
        assert!(told.contains(&part.replace("PREFIX", home.prefix())), "no `{part}` in: {told}");
    }
}

#[tokio::test]
async fn a_data_centre_that_is_not_there_ends_it() {
    let nowhere = [("BRAID__STORE__CASSANDRA__LOCAL_DATACENTER", "nowhere")];
    is_not_waited_for(&nowhere, &[], &["`nowhere`", "set local_datacenter to one of: datacenter1"]).await;
}

#[tokio::test]
async fn a_keyspace_of_another_layout_ends_it() {
    let statements = [
        "CREATE KEYSPACE PREFIX_meta WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
        "CREATE TABLE PREFIX_meta.layout (part text PRIMARY KEY, version int)",
        "INSERT INTO PREFIX_meta.layout (part, version) VALUES ('all', 99)",
    ];
    let says = ["keyspace PREFIX_meta has layout version 99", "run the version that wrote it"];
    is_not_waited_for(&[], &statements, &says).await;
}
