//! kill -9 of one of three under load.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use env::{Clock, SystemClock};

use rpc::client::Client;

use crate::processes::{HOUR, Home, NAMESPACE, Serving, drain, event, namespace, now, soon, write};

const WRITERS: usize = 3;
const EVENTS: u64 = 600;

fn series(writer: usize) -> String {
    format!("writer{writer}")
}

/// Writes one event after the other, at another server where one does not answer; in the middle the events move on to the
/// next slice, and to the one behind.
async fn writer(clients: &[Client], writer: usize, base: i64, acknowledged: &AtomicU64) {
    for id in 0..EVENTS {
        let slice = i64::try_from(id / (EVENTS / 3)).unwrap();
        let event = event(&series(writer), base + slice * HOUR + i64::try_from(id).unwrap(), id);
        let request = write(vec![event]);
        // The same event again until somebody has it: an attempt that nobody answered may have been stored.
        for client in clients.iter().cycle().skip(writer) {
            match client.write_synced(request.clone()).await {
                Ok(answer) => {
                    assert_eq!(answer.accepted, 1, "{answer:?}");
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                Err(error) => {
                    assert_eq!(error.exit_code(), 6, "only what may pass is refused: {error:?}");
                    SystemClock.sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_three_is_killed_and_nothing_is_lost() {
    let home = Home::new();
    let mut servers = [home.serve(), home.serve(), home.serve()];
    let clients = servers.each_ref().map(|server| server.client.clone());
    let [client, others @ ..] = &clients;
    client.create_namespace(namespace()).await.unwrap();
    for other in others {
        soon("the namespace", async || other.get_namespace(NAMESPACE).await.is_ok()).await;
    }
    let (base, acknowledged) = (now() / HOUR * HOUR, AtomicU64::new(0));
    let [one, victim, three] = &mut servers;
    let killed = async {
        while acknowledged.load(Ordering::Relaxed) < EVENTS / 2 {
            SystemClock.sleep(Duration::from_millis(5)).await;
        }
        victim.kill();
    };
    let writers = (0..WRITERS).map(|at| writer(&clients, at, base, &acknowledged));
    tokio::join!(futures::future::join_all(writers), killed);
    // The slices behind were made without it. Everything is there, on those that are left and on one that starts.
    let back = home.serve();
    let readers: [&Serving; 3] = [one, three, &back];
    let all: Vec<u64> = (0..EVENTS).collect();
    for at in 0..WRITERS {
        assert_eq!(drain(&readers, &series(at), base, base + 3 * HOUR).await, all, "writer {at}");
    }
}
