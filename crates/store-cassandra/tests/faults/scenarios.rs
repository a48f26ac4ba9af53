//! What happens to the nodes, step by step, and what the clients must see meanwhile.

use model::{PartitionKey, SeriesId, TableRef};
use store::conformance::{Fixture, row};

use crate::board::{Board, Client, summary};
use crate::nodes::Nodes;

/// How often a slow node hangs while it is watched.
const STUMBLES: u32 = 12;

/// Plays all scenarios. `weak` asks one replica.
pub(crate) async fn play(nodes: &Nodes, board: &Board, weak: &Fixture, table: &TableRef) {
    calm(nodes, board, "with three nodes").await;

    nodes.order("kill", 1).await;
    calm(nodes, board, "with node 1 dead").await;
    nodes.restart(1).await;
    calm(nodes, board, "with node 1 back").await;

    nodes.order("pause", 2).await;
    bumpy(nodes, board, "with node 2 hanging").await;
    nodes.order("resume", 2).await;
    bumpy(nodes, board, "with node 2 awake").await;

    // A node that answers late is waited for, or another is asked; nothing fails.
    futures::join!(nodes.slow_down(3, STUMBLES), calm(nodes, board, "with node 3 slow"));
    calm(nodes, board, "with node 3 fast again").await;

    // One after the other: a crash of two at once may take the last 100 ms of both, which nobody promises to survive.
    nodes.order("kill", 2).await;
    bumpy(nodes, board, "with node 2 dead").await;
    nodes.order("kill", 3).await;
    outage(nodes, board, "without a quorum").await;
    one_replica_is_enough(nodes, weak, table).await;
    nodes.order("kill", 1).await;
    outage(nodes, board, "without any node").await;
    nodes.restart(2).await;
    nodes.restart(1).await;
    bumpy(nodes, board, "with two of three nodes again").await;
    nodes.restart(3).await;
    calm(nodes, board, "with three nodes again").await;
}

/// Everything goes on and nothing fails: each call finds a way around. Only of a change nobody may be able to tell how it
/// ended, where its answer was lost and the other server changed the record before it could be read back.
async fn calm(nodes: &Nodes, board: &Board, when: &str) {
    board.clear();
    let all = board.goes_on(when).await;
    nodes.say(&format!("{when}: {}", summary(&all)));
    let failed = all.iter().find(|(client, calls)| {
        calls.unavailable > 0 || calls.unknown > 0 && !matches!(client, Client::Changer(_))
    });
    assert_eq!(failed.map(|(client, _)| client), None, "nothing may fail {when}");
}

/// Everything goes on; calls may fail before, honestly and in their time.
async fn bumpy(nodes: &Nodes, board: &Board, when: &str) {
    board.clear();
    let all = board.goes_on(when).await;
    nodes.say(&format!("{when}: {}", summary(&all)));
}

/// Without a quorum every call fails; only the one that was under way may have succeeded.
async fn outage(nodes: &Nodes, board: &Board, when: &str) {
    board.clear();
    let all = board.until(when, |calls| calls.failed() >= 2).await;
    nodes.say(&format!("{when}: {}", summary(&all)));
    let lucky = all.iter().find(|(_, calls)| calls.done > 1);
    assert_eq!(lucky.map(|(client, _)| client), None, "a call succeeded though most replicas are dead");
}

/// Who asks one replica writes and reads while one is left.
async fn one_replica_is_enough(nodes: &Nodes, weak: &Fixture, table: &TableRef) {
    let at = PartitionKey { series: SeriesId::new("weak").unwrap(), time_bucket: 0, event_bucket: 0 };
    let rows = [row(5, "e", "i", "v")];
    weak.write(table, &at, &rows).await;
    assert_eq!(weak.read(table, &at).await, rows);
    nodes.say("without a quorum: who asks one replica wrote and read");
}
