//! Read modes and filters through the wire: defaults, gates, steps and their way back, and what nothing was split of.

use api::admin::v1 as admin;
use rpc::client::CallError;
use serde_json::json;

use crate::fixture::{Fixture, NAMESPACE, at, event};
use crate::http::{get, post_json};

impl Fixture {
    async fn mode(&self) -> admin::ReadMode {
        self.client.get_read_mode(NAMESPACE).await.unwrap()
    }

    async fn advance(&self, validate_only: bool) -> Result<admin::ReadMode, CallError> {
        let (namespace, reason) = (NAMESPACE.to_owned(), "test".to_owned());
        self.client
            .advance_read_mode(admin::AdvanceReadModeRequest { namespace, validate_only, reason })
            .await
    }

    async fn roll_back(&self, to: &str) -> Result<admin::ReadMode, CallError> {
        let request = admin::RollbackReadModeRequest {
            namespace: NAMESPACE.to_owned(),
            to: to.to_owned(),
            reason: "why not".to_owned(),
            ..Default::default()
        };
        self.client.rollback_read_mode(request).await
    }

    async fn hold(&self, release: bool, validate_only: bool) -> admin::ReadMode {
        let (namespace, reason) = (NAMESPACE.to_owned(), String::new());
        let request = admin::HoldReadModeRequest { namespace, release, validate_only, reason };
        self.client.hold_read_mode(request).await.unwrap()
    }

    async fn set(&self, namespace: admin::Namespace, paths: &[&str]) -> Result<admin::Namespace, CallError> {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let request = admin::UpdateNamespaceRequest {
            namespace: Some(admin::Namespace { name: NAMESPACE.to_owned(), ..namespace }),
            update_mask: Some(prost_types::FieldMask { paths }),
            ..Default::default()
        };
        self.client.update_namespace(request).await
    }
}

fn in_mode(mode: &str) -> admin::Namespace {
    admin::Namespace { read_mode: mode.to_owned(), ..admin::Namespace::default() }
}

#[tokio::test]
async fn reads_begin_in_shadow_and_do_not_move_on_before_enough_was_compared() {
    let fixture = Fixture::with_namespace().await;
    let mode = fixture.mode().await;
    let names = [mode.namespace.as_str(), &mode.mode, &mode.policy, &mode.next_mode];
    assert_eq!((names, mode.held), ([NAMESPACE, "shadow", "auto", "canary"], false));
    assert_eq!(mode.since, fixture.client.get_namespace(NAMESPACE).await.unwrap().created);
    let gates: Vec<_> =
        mode.gates.iter().map(|gate| (gate.name.as_str(), gate.passed, gate.automatic_only)).collect();
    let expect = [
        ("min_compared", false, false),
        ("max_differ_bytes", true, false),
        ("max_latency_ratio", true, false),
        ("min_time", false, true),
    ];
    assert_eq!(gates, expect);
    assert_eq!(mode.evidence, Some(admin::ReadModeEvidence::default()));

    for validate_only in [true, false] {
        let refused = fixture.advance(validate_only).await.unwrap_err();
        let named = (refused.code, refused.reason.as_deref(), refused.exit_code());
        assert_eq!(named, ("FAILED_PRECONDITION", Some("READ_MODE_GATE_FAILED"), 5));
        assert!(refused.message.contains("min_compared is 0, wanted at least 50"), "{refused}");
    }
    let path = "/braid.admin.v1.ReadModeService/AdvanceReadMode";
    let refused = post_json(&fixture.address(), path, r#"{"namespace":"plays"}"#).await;
    assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("failed_precondition")));
    assert_eq!(refused.json()["details"][0]["debug"]["reason"], "READ_MODE_GATE_FAILED");
    assert_eq!(fixture.mode().await.mode, "shadow");
    let nobody = fixture.client.get_read_mode("nobody").await.unwrap_err();
    assert_eq!(nobody.reason.as_deref(), Some("NAMESPACE_NOT_FOUND"));
}

#[tokio::test]
async fn back_to_off_and_on_to_shadow_has_no_gate_and_survives_a_restart() {
    let mut fixture = Fixture::with_namespace().await;
    let off = fixture.roll_back("").await.unwrap();
    assert_eq!((off.mode.as_str(), off.next_mode.as_str(), off.gates.len()), ("off", "shadow", 0));
    fixture.restart().await;
    assert_eq!(fixture.mode().await.mode, "off");
    assert_eq!(fixture.client.get_namespace(NAMESPACE).await.unwrap().read_mode, "off");
    let would = fixture.advance(true).await.unwrap();
    assert_eq!((would.mode.as_str(), fixture.mode().await.mode.as_str()), ("off", "off"));
    let forward = fixture.roll_back("shadow").await.unwrap_err();
    assert_eq!((forward.reason.as_deref(), forward.exit_code()), (Some("FIELD_INVALID"), 2));
    assert!(forward.message.contains("`braid readmode advance`"), "{forward}");
    let unknown = fixture.roll_back("half").await.unwrap_err().message;
    assert_eq!(unknown, "to: is `half`; choose off, shadow, canary or on");
    assert_eq!(fixture.advance(false).await.unwrap().mode, "shadow");
    // Beginning the same mode anew is a step too.
    let before = fixture.mode().await.since;
    let anew = fixture.roll_back("shadow").await.unwrap();
    assert_eq!(anew.mode, "shadow");
    let nanos = |time: Option<prost_types::Timestamp>| time.map(|time| (time.seconds, time.nanos));
    assert!(nanos(anew.since) > nanos(before), "{anew:?} {before:?}");
    let audit = fixture.client.list_audit(admin::ListAuditRequest::default()).await.unwrap();
    let reasons: Vec<&str> = audit.entries.iter().map(|entry| entry.reason.as_str()).collect();
    assert_eq!(reasons[..3], ["why not", "test", "why not"]);
}

#[tokio::test]
async fn reads_are_held_until_they_are_released_or_moved_by_hand() {
    let fixture = Fixture::with_namespace().await;
    assert!(!fixture.hold(false, true).await.held, "checked only");
    let since = fixture.mode().await.since;
    assert!(fixture.hold(false, false).await.held);
    assert!(fixture.hold(false, false).await.held, "held already");
    let held = fixture.mode().await;
    assert_eq!((held.held, held.mode.as_str(), held.since), (true, "shadow", since), "the mode goes on");
    assert!(!fixture.hold(true, false).await.held);
    assert!(fixture.hold(false, false).await.held);
    assert!(!fixture.roll_back("off").await.unwrap().held);
}

#[tokio::test]
async fn an_update_takes_reads_back_and_never_on() {
    let fixture = Fixture::with_namespace().await;
    for mode in ["canary", "on"] {
        let refused = fixture.set(in_mode(mode), &["read_mode"]).await.unwrap_err();
        assert_eq!((refused.reason.as_deref(), refused.exit_code()), (Some("READ_MODE_GATE_FAILED"), 5));
        assert!(refused.message.contains("`braid readmode advance`"), "{refused}");
    }
    let unknown = fixture.set(in_mode("half"), &["read_mode"]).await.unwrap_err().message;
    assert_eq!(unknown, "read_mode: is `half`; choose off, shadow, canary or on");
    assert_eq!(fixture.set(in_mode("off"), &["read_mode"]).await.unwrap().read_mode, "off");
    assert_eq!(fixture.mode().await.mode, "off");
    assert_eq!(fixture.set(in_mode("shadow"), &["read_mode"]).await.unwrap().read_mode, "shadow");
}

#[tokio::test]
async fn a_namespace_says_when_reads_move_on() {
    let mut fixture = Fixture::with_namespace().await;
    let default = fixture.client.get_namespace(NAMESPACE).await.unwrap();
    assert_eq!((default.read_mode_policy.as_str(), default.canary_share), ("auto", Some(0.25)));
    let gates = default.read_gates.unwrap();
    assert_eq!((gates.min_compared, gates.max_differ_bytes), (Some(50), Some(0)));
    assert_eq!((gates.max_fallback_share, gates.max_latency_ratio), (Some(0.01), Some(0.0)));
    assert_eq!(gates.min_time, Some(prost_types::Duration { seconds: 600, nanos: 0 }));

    let wished = admin::ReadGates {
        min_compared: Some(0),
        max_differ_bytes: Some(7),
        max_fallback_share: Some(0.0),
        max_latency_ratio: Some(1.5),
        min_time: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
    };
    let asked = admin::Namespace {
        read_mode_policy: "manual".to_owned(),
        read_gates: Some(wished),
        canary_share: Some(0.0),
        compare_share: Some(0.5),
        ..admin::Namespace::default()
    };
    let paths = ["read_mode_policy", "read_gates", "canary_share", "compare_share"];
    fixture.set(asked, &paths).await.unwrap();
    fixture.restart().await;
    let kept = fixture.client.get_namespace(NAMESPACE).await.unwrap();
    assert_eq!((kept.read_gates, kept.read_mode_policy.as_str()), (Some(wished), "manual"));
    assert_eq!((kept.canary_share, kept.compare_share), (Some(0.0), Some(0.5)));
    let wanted = fixture.mode().await.gates.into_iter().map(|gate| gate.wanted).collect::<Vec<_>>();
    assert_eq!(wanted, ["at least 0", "at most 7", "at most 1.5", "at least 1 s"]);
    let wrong = admin::Namespace { canary_share: Some(2.0), ..admin::Namespace::default() };
    let refused = fixture.set(wrong, &["canary_share"]).await.unwrap_err().message;
    assert_eq!(refused, "canary_share: is 2; choose 0 to 1");
    let back = fixture.set(admin::Namespace::default(), &paths).await.unwrap();
    assert_eq!((back.read_gates, back.canary_share), (Some(gates), Some(0.25)));
}

#[tokio::test]
async fn where_nothing_was_split_there_are_no_filters_and_nothing_to_compare() {
    let fixture = Fixture::with_namespace().await;
    fixture.write(vec![event("s", 5, b"v")]).await;
    for name in ["", NAMESPACE] {
        assert_eq!(fixture.client.list_filters(name).await.unwrap().filters, []);
        let request = admin::ReloadFiltersRequest { namespace: name.to_owned(), ..Default::default() };
        assert_eq!(fixture.client.reload_filters(request).await.unwrap().filters, []);
    }
    let probe = |series: &str, time_interval| admin::ProbeFilterRequest {
        namespace: NAMESPACE.to_owned(),
        time_series_id: series.to_owned(),
        time_interval,
    };
    let hour = api::v1::TimeInterval { start: Some(at(0)), end: Some(at(3_600)) };
    let found = fixture.client.probe_filter(probe("s", Some(hour))).await.unwrap().partitions;
    let expect = |event_bucket| admin::ProbedPartition {
        time_slice: "data_19700101".to_owned(),
        time_bucket: 0,
        event_bucket,
        filter: "NO".to_owned(),
        route: "ORIGIN".to_owned(),
        ..admin::ProbedPartition::default()
    };
    assert_eq!(found, [0, 1, 2, 3].map(expect));
    let day = fixture.client.probe_filter(probe("s", None)).await.unwrap().partitions;
    assert_eq!(day.len(), 24 * 4, "all that there are");
    let refused = fixture.client.probe_filter(probe("", None)).await.unwrap_err();
    assert!(refused.message.starts_with("time_series_id: "), "{refused}");
    let nobody = fixture.client.list_filters("nobody").await.unwrap_err();
    assert_eq!(nobody.reason.as_deref(), Some("NAMESPACE_NOT_FOUND"));

    let compare = |page_size, token: &str| admin::CompareReadModeRequest {
        namespace: NAMESPACE.to_owned(),
        page_size,
        page_token: token.to_owned(),
    };
    let nothing = fixture.client.compare_read_mode(compare(0, "")).await.unwrap();
    assert_eq!(nothing, admin::CompareReadModeResponse::default());
    let many = fixture.client.compare_read_mode(compare(101, "")).await.unwrap_err();
    assert_eq!(many.reason.as_deref(), Some("RANGE_TOO_WIDE"));
    let forged = fixture.client.compare_read_mode(compare(1, "forged")).await.unwrap_err();
    assert_eq!(forged.reason.as_deref(), Some("PAGE_TOKEN_INVALID"));
    assert_eq!(fixture.client.list_mismatches(NAMESPACE).await.unwrap().mismatches, []);
}

#[tokio::test]
async fn what_is_compared_and_routed_is_counted() {
    let fixture = Fixture::with_namespace().await;
    let text = get(&fixture.address(), "/metrics").await.text();
    for line in [
        "braid_compares_total{result=\"match\"} 0",
        "braid_compares_total{result=\"differ\"} 0",
        "braid_compare_bytes_total{result=\"differ\"} 0",
        "braid_metadata_cache_requests_total{result=\"hit\"} 0",
        "braid_metadata_read_duration_seconds_count 0",
        "braid_read_fallbacks_total{reason=\"NO_LEASE\"} 0",
        "braid_filter_check_duration_seconds_count 0",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}: {text}");
    }
}
