//! What servers agree on, and how soon.

use api::admin::v1 as admin;

use crate::processes::{HOUR, Home, NAMESPACE, SERIES, drain, event, namespace, now, read, soon, write};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_is_told_all_act_on_within_two_seconds() {
    let home = Home::new();
    let servers = [home.serve(), home.serve(), home.serve()];
    let [one, two, three] = &servers;
    one.client.create_namespace(namespace()).await.unwrap();
    for server in [two, three] {
        soon("the namespace", async || server.client.get_namespace(NAMESPACE).await.is_ok()).await;
    }
    // A slice that one makes is read by all as soon as the first event in it is acknowledged, again and again.
    let base = now() / HOUR * HOUR;
    for (at, server) in (0_i64..).zip(servers.iter().cycle().take(6)) {
        let time = base - at * HOUR;
        let answer = server.client.write_synced(write(vec![event(SERIES, time, 1)])).await.unwrap();
        assert_eq!(answer.accepted, 1);
        for reader in &servers {
            let page = reader.client.read(read(SERIES, time, time + 1)).await.unwrap();
            assert_eq!(page.records.len(), 1, "slice {at}");
        }
    }
    for server in [two, three] {
        soon("the slices", async || server.client.list_slices(NAMESPACE).await.unwrap().slices.len() == 6)
            .await;
    }
    // Pages that the servers give in turn are one read.
    let events = (0..500).map(|id| event("paged", base - i64::try_from(id * 30).unwrap(), 500 - id));
    let events: Vec<_> = events.collect();
    for some in events.chunks(100) {
        assert_eq!(two.client.write_synced(write(some.to_vec())).await.unwrap().accepted, 100);
    }
    let found = drain(&[one, two, three], "paged", base - 5 * HOUR, base + 1).await;
    assert_eq!(found, (1..=500).collect::<Vec<u64>>());
    // Blocked here, refused there.
    let block = admin::Block { time_series_id: SERIES.to_owned(), ..Default::default() };
    let blocks =
        admin::AddBlockRequest { namespace: NAMESPACE.to_owned(), blocks: vec![block], ..Default::default() };
    three.client.add_blocks(blocks).await.unwrap();
    for server in [one, two] {
        soon("the block", async || server.client.read(read(SERIES, base, base + 1)).await.is_err()).await;
    }
    // Deleted here, gone there; made again it is empty.
    let deleted = admin::DeleteNamespaceRequest { name: NAMESPACE.to_owned(), ..Default::default() };
    two.client.delete_namespace(deleted).await.unwrap();
    soon("the deletion", async || one.client.get_namespace(NAMESPACE).await.is_err()).await;
    one.client.create_namespace(namespace()).await.unwrap();
    soon("the new one", async || three.client.get_namespace(NAMESPACE).await.is_ok()).await;
    let page = three.client.read(read(SERIES, base, base + 1)).await.unwrap();
    assert_eq!(page.records.len(), 0);
}
