//! The parts of the story together, on a real server in this process.

use api::v1;
use tempfile::tempdir;

use super::*;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const END: i64 = 1_774_656_000 * NANOS_PER_SECOND;

async fn start(data: &std::path::Path, env: &Env) -> (server::Server, Client) {
    let config = server::config::Config {
        server: server::config::Server {
            listen: (std::net::Ipv4Addr::LOCALHOST, 0).into(),
            ..server::config::Server::default()
        },
        store: server::config::Store { data: data.to_owned(), ..server::config::Store::default() },
        ..server::config::Config::default()
    };
    let server = Box::pin(server::Server::start(config, env.clone())).await.unwrap();
    let client = Client::new(&server.address().to_string()).unwrap();
    (server, client)
}

async fn namespace(client: &Client) -> admin::Namespace {
    let forever = prost_types::Duration::default();
    let namespace = admin::Namespace {
        name: NAMESPACE.to_owned(),
        retention: Some(admin::Retention { close_after: Some(forever), delete_after: Some(forever) }),
        ..admin::Namespace::default()
    };
    let request = admin::CreateNamespaceRequest {
        namespace: Some(namespace),
        validate_only: false,
        reason: String::new(),
    };
    client.create_namespace(request).await.unwrap()
}

async fn import_all(client: &Client, env: &Env, workload: &Workload) -> u64 {
    let settings = Settings {
        namespace: NAMESPACE.to_owned(),
        batch: BATCH_DEFAULT,
        parallel: PARALLEL_DEFAULT,
        queued: false,
        backfill: true,
    };
    let progress = Progress::of_events(&env.clock, Arc::default(), workload.events());
    let feed = Feed { source: workload.source(Arc::default()), names: Vec::new(), progress };
    let (_, mut never) = mpsc::channel(1);
    let finished = import::import(client, env, &settings, feed, &mut never).await.unwrap();
    let accepted = finished.summary.counts.accepted;
    finished.end().unwrap();
    accepted
}

/// What is imported is read back whole, in order, in both ways; importing it again changes nothing; and one event more
/// is found at once.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_imported_is_what_is_read() {
    let (home, env) = (tempdir().unwrap(), Env::system());
    let (server, client) = start(home.path(), &env).await;
    namespace(&client).await;
    let workload = Workload::sized(3_000, 30, END);
    let reader =
        Reader { client: &client, clock: &*env.clock, namespace: NAMESPACE, interval: workload.interval() };
    for _ in 0..2 {
        assert_eq!(import_all(&client, &env, &workload).await, 3_000);
        let mut check = Check::new(written(&workload));
        for series in 0..workload.series() {
            for read in [reader.pages(&name(series), 7).await, reader.stream(&name(series), 100).await] {
                let read = read.unwrap();
                check.compare(series, read.digest, read.unordered);
            }
        }
        assert_eq!((check.reads, check.events, check.wrong), (60, 6_000, 0), "{:?}", check.problems);
    }
    // The backfill is over.
    assert!(client.list_backfills(NAMESPACE).await.unwrap().backfills.is_empty());

    let again = admin::BeginBackfillRequest {
        namespace: NAMESPACE.to_owned(),
        start: Some(prost_types::Timestamp::default()),
        end: Some(prost_types::Timestamp { seconds: END / NANOS_PER_SECOND, nanos: 0 }),
        ..admin::BeginBackfillRequest::default()
    };
    client.begin_backfill(again).await.unwrap();
    let (_, first) = workload.iter().next().unwrap();
    let more = v1::Event { event_id: "more".to_owned(), ..first };
    let series = workload.iter().next().unwrap().0;
    let request = v1::WriteEventRecordsRequest { namespace: NAMESPACE.to_owned(), events: vec![more] };
    assert_eq!(client.write_synced(request).await.unwrap().accepted, 1);
    let mut check = Check::new(written(&workload));
    let read = reader.stream(&name(series), 100).await.unwrap();
    check.compare(series, read.digest, read.unordered);
    assert_eq!(check.wrong, 1);
    Box::pin(server.stop()).await;
}
