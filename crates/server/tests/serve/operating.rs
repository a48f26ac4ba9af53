//! What operators and their tools ask.

use crate::fixture::{Fixture, event, reads};
use crate::home::backend;
use crate::http::{get, grpc, post};

#[tokio::test]
async fn probes_and_server_info_answer() {
    let fixture = Fixture::with_namespace().await;
    let address = fixture.address();
    assert_eq!(
        (get(&address, "/healthz").await.status, get(&address, "/healthz").await.text()),
        (200, "ok\n".into())
    );
    assert_eq!(
        (get(&address, "/readyz").await.status, get(&address, "/readyz").await.text()),
        (200, "ready\n".into())
    );
    let info = fixture.client.server_info().await.unwrap();
    assert_eq!((info.store_backend.as_str(), info.ready, info.namespaces), (backend(), true, 1));
    assert_eq!(info.version, env!("CARGO_PKG_VERSION"));
    assert!(info.leased && info.epoch > 0 && !info.server_id.is_empty(), "{info:?}");
    let workers = fixture.client.list_workers().await.unwrap().workers;
    let worker = workers.iter().find(|worker| worker.here).unwrap();
    assert_eq!((&worker.server_id, &worker.version, worker.leased), (&info.server_id, &info.version, true));
    assert_eq!(
        (worker.roles.join(" "), &worker.address),
        ("api split_worker slice_keeper tuner".to_owned(), &address)
    );
    assert!(worker.started.unwrap().seconds > 0 && worker.silent.is_some(), "{worker:?}");
    // grpc.health.v1: the process, a service, and one that is not there.
    let health = async |service: &str| {
        let mut message = vec![10, u8::try_from(service.len()).unwrap()];
        message.extend_from_slice(service.as_bytes());
        grpc(&address, "/grpc.health.v1.Health/Check", &message).await
    };
    assert_eq!(health("").await.body[5..], [8, 1]);
    assert_eq!(health("braid.v1.TimeSeriesService").await.body[5..], [8, 1]);
    assert_eq!(health("nobody").await.grpc_status(), "5");
}

#[tokio::test]
async fn metrics_have_the_published_names() {
    let fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 1, b"v")]).await;
    fixture.client.read(reads("s", 0, 9)).await.unwrap();
    let answer = get(&fixture.address(), "/metrics").await;
    assert!(answer.headers["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text();
    for line in [
        "braid_build_info{version=",
        "braid_reads_total{namespace=\"plays\",route=\"origin\",outcome=\"ok\"} 1\n",
        "braid_read_duration_seconds_count{namespace=\"plays\",route=\"origin\"} 1\n",
        "braid_writes_total{",
        "braid_write_duration_seconds_count{",
        "braid_store_calls_total{op=\"scan\",outcome=\"ok\"}",
        "braid_view_leased 1\n",
        "braid_view_epoch ",
        "braid_view_age_seconds 0.",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let of_nodes = text.contains("braid_cassandra_warnings_total{kind=\"large_partition\"} 0\n");
    assert_eq!(of_nodes, backend() == "cassandra", "{text}");
}

#[tokio::test]
async fn reflection_answers_in_both_versions_unless_it_is_switched_off() {
    // list_services: field 7 of the request, a string.
    let list = [58, 1, b'*'];
    let fixture = Fixture::start(&[]).await;
    for version in ["v1", "v1alpha"] {
        let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
        let answer = grpc(&fixture.address(), &path, &list).await;
        assert_eq!(answer.grpc_status(), "0");
        let text = String::from_utf8_lossy(&answer.body);
        for service in
            ["braid.v1.TimeSeriesService", "braid.admin.v1.NamespaceService", "grpc.health.v1.Health"]
        {
            assert!(text.contains(service), "{service} is not in {text}");
        }
    }
    let quiet = Fixture::start(&[("BRAID__SERVER__REFLECTION", "false")]).await;
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    assert_eq!(grpc(&quiet.address(), path, &list).await.grpc_status(), "12");
}

#[tokio::test]
async fn grpc_web_is_served_over_http_1() {
    let fixture = Fixture::with_namespace().await;
    let path = "/braid.admin.v1.NamespaceService/ListNamespaces";
    let answer = post(&fixture.address(), path, "application/grpc-web+proto", vec![0, 0, 0, 0, 0]).await;
    assert_eq!(answer.status, 200);
    let text = String::from_utf8_lossy(&answer.body);
    assert!(text.contains("plays") && text.contains("grpc-status:0"), "{text}");
}
