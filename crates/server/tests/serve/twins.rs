//! Every unary call answers as JSON what it answers as gRPC.

use api::json::Codec;
use serde_json::Value;

use crate::fixture::{Fixture, event};
use crate::http::{grpc, post_json};

/// Calls that can be made twice with the same answer, for every unary method. A new method fails the test until it has one.
const CALLS: &[(&str, &[&str])] = &[
    (
        "braid.v1.TimeSeriesService.WriteEventRecordsSync",
        &[
            r#"{"namespace":"plays","events":[{"timeSeriesId":"a","eventTime":"2026-03-28T00:00:00.000000001Z","eventId":"1","eventItems":[{"eventItemKey":"k","eventItemValue":"dmFsdWU=","valueMetadata":{"a":"b"}}]},{}]}"#,
            r#"{"namespace":"nowhere","events":[]}"#,
        ],
    ),
    (
        "braid.v1.TimeSeriesService.WriteEventRecords",
        &[
            r#"{"namespace":"plays","events":[{"time_series_id":"q","event_time":"2026-03-28T00:00:00Z","event_id":"1","event_items":[{"event_item_key":"k"}]}]}"#,
        ],
    ),
    (
        "braid.v1.TimeSeriesService.ReadEventRecords",
        &[
            r#"{"namespace":"plays","timeSeriesId":"s","timeInterval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"}}"#,
            r#"{"namespace":"plays","time_series_id":"s","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"page_size":2,"order":"OLDEST_FIRST","total_record_limit":"2","event_filters":[{"match_event_item_key":"k","match_event_item_value":"AQ=="}]}"#,
            r#"{"namespace":"plays","time_series_id":"s","time_interval":{"start":"1970-01-02T00:00:00Z","end":"1970-01-01T00:00:00Z"}}"#,
            r#"{"namespace":"plays","time_series_id":"s","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"page_token":"forged"}"#,
        ],
    ),
    (
        "braid.v1.TimeSeriesService.SearchEventRecords",
        &[
            r#"{"namespace":"plays","time_series_ids":["s","a"],"time_interval":{"start":"1970-01-01T00:00:00Z","end":"2026-05-02T00:00:00Z"},"search_query":{"booleanQuery":{"operator":"AND","searchQuery":[{"equals":{"eventItemKey":"k","eventItemValue":"AQ=="}},{"boolean_query":{"operator":"NOT","search_query":[{"range":{"event_item_key":"k","lower_bound":{"value":"Ag==","inclusive":true}}}]}}]}}}"#,
            r#"{"namespace":"plays","time_series_id":"s","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"search_query":{"boolean_query":{"operator":"OR"}}}"#,
            r#"{"namespace":"plays","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"}}"#,
            r#"{"namespace":"plays","time_series_ids":[""],"time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"}}"#,
        ],
    ),
    (
        "braid.v1.TimeSeriesService.AggregateEventRecords",
        &[
            r#"{"namespace":"plays","timeSeriesIds":["s","a"],"timeInterval":{"start":"1970-01-01T00:00:00Z","end":"2026-05-02T00:00:00Z"},"aggregationQuery":{"count":{}}}"#,
            r#"{"namespace":"plays","time_series_id":"s","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"aggregation_query":{"distinct":{"event_item_key":"k","page_size":1}}}"#,
            r#"{"namespace":"plays","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"aggregation_query":{"stats":{"event_item_key":"k"}},"search_query":{"exists":{"event_item_key":"k"}}}"#,
            r#"{"namespace":"plays","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"aggregation_query":{"time_histogram":{"interval":"60s"}},"order":"OLDEST_FIRST"}"#,
            r#"{"namespace":"plays","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"}}"#,
            r#"{"namespace":"plays","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"aggregation_query":{"time_histogram":{"interval":"-1s"}}}"#,
        ],
    ),
    (
        "braid.v1.TimeSeriesService.ExplainRead",
        &[
            r#"{"namespace":"plays","timeSeriesId":"s","timeInterval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"},"pageSize":2}"#,
            r#"{"namespace":"plays","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-02T00:00:00Z"}}"#,
        ],
    ),
    (
        "braid.admin.v1.NamespaceService.CreateNamespace",
        &[
            r#"{"namespace":{"name":"new","accept_limit":"0s"},"validate_only":true}"#,
            r#"{"namespace":{"name":"plays"}}"#,
            r#"{"namespace":{"name":"Bad Name"}}"#,
        ],
    ),
    ("braid.admin.v1.NamespaceService.GetNamespace", &[r#"{"name":"plays"}"#, r#"{"name":"nowhere"}"#]),
    ("braid.admin.v1.NamespaceService.ListNamespaces", &["{}"]),
    (
        "braid.admin.v1.NamespaceService.UpdateNamespace",
        &[
            r#"{"namespace":{"name":"plays","slo":{"read_max":"5s"}},"validate_only":true}"#,
            r#"{"namespace":{"name":"plays","etag":"old"}}"#,
        ],
    ),
    (
        "braid.admin.v1.NamespaceService.DeleteNamespace",
        &[r#"{"name":"plays","validate_only":true}"#, r#"{"name":"nowhere"}"#],
    ),
    (
        "braid.admin.v1.NamespaceService.PlanNamespace",
        &[
            r#"{"events_per_second_per_id":{"low":0.1,"mid":1,"high":2},"ids":{"mid":1000},"event_bytes":{"mid":300},"readInterval":"3600s","retention":"86400s","worlds":2,"seed":"18446744073709551615"}"#,
            r#"{"ids":{"mid":"NaN"}}"#,
            r#"{}"#,
        ],
    ),
    ("braid.admin.v1.NamespaceService.ListSlices", &[r#"{"namespace":"plays"}"#]),
    (
        "braid.admin.v1.NamespaceService.GetPartitionHistogram",
        &[
            r#"{"namespace":"plays","measure":true}"#,
            r#"{"namespace":"plays","table":"data_19700101"}"#,
            r#"{"namespace":"plays","table":"nothing"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.NamespaceService.ListWidePartitions",
        &[
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"plays","time_slice":"data_19700101","measure":true,"page_size":1}"#,
            r#"{"namespace":"plays","measure":true}"#,
            r#"{"namespace":"plays","time_slice":"nothing"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.NamespaceService.BeginBackfill",
        &[
            r#"{"namespace":"plays","start":"2026-03-28T00:00:00Z","end":"2026-03-29T00:00:00Z","validate_only":true,"reason":"test"}"#,
            r#"{"namespace":"plays","start":"2026-03-28T00:00:00Z","end":"2026-03-28T00:00:00Z"}"#,
            r#"{"namespace":"plays","end":"2026-03-28T00:00:00Z"}"#,
            r#"{"namespace":"nowhere","start":"2026-03-28T00:00:00Z","end":"2026-03-29T00:00:00Z"}"#,
        ],
    ),
    (
        "braid.admin.v1.NamespaceService.EndBackfill",
        &[
            r#"{"namespace":"plays","id":"7"}"#,
            r#"{"namespace":"plays","id":7,"validateOnly":true}"#,
            r#"{"namespace":"nowhere","id":7}"#,
        ],
    ),
    (
        "braid.admin.v1.NamespaceService.ListBackfills",
        &[r#"{"namespace":"plays"}"#, r#"{"namespace":"nowhere"}"#],
    ),
    (
        "braid.admin.v1.BlockService.AddBlock",
        &[
            r#"{"namespace":"plays","blocks":[{"time_series_id":"hot","reads":true,"reason":"too hot","author":"ann","expire_time":"2200-01-01T00:00:00Z"}],"reason":"test"}"#,
            r#"{"namespace":"plays","blocks":[{"timeSeriesId":"hot"}],"validateOnly":true}"#,
            r#"{"namespace":"plays","blocks":[{"timeSeriesId":"hot","expireTime":"2001-01-01T00:00:00Z"}]}"#,
            r#"{"namespace":"nowhere","blocks":[{"timeSeriesId":"hot"}]}"#,
            r#"{"namespace":"plays","blocks":[{"timeSeriesId":"hot","etag":"another"}]}"#,
        ],
    ),
    ("braid.admin.v1.BlockService.ListBlocks", &[r#"{"namespace":"plays"}"#, r#"{"namespace":"nowhere"}"#]),
    (
        "braid.admin.v1.BlockService.RemoveBlock",
        &[
            r#"{"namespace":"plays","time_series_ids":["nobody"]}"#,
            r#"{"namespace":"plays","time_series_ids":["hot"],"validate_only":true}"#,
            r#"{"namespace":"plays"}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.ListSplits",
        &[
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"plays","states":["FAILED","COMPLETED"],"timeSeriesId":"s","time_slice":"data_19700101","pageSize":1}"#,
            r#"{"namespace":"plays","states":["failed"]}"#,
            r#"{"namespace":"plays","page_size":201}"#,
            r#"{"namespace":"plays","page_token":"forged"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.GetSplit",
        &[
            r#"{"namespace":"plays","id":"data_19700101/0/0/nobody"}"#,
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"nowhere","id":"data_19700101/0/0/s"}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.CreateSplit",
        &[
            r#"{"namespace":"plays","time_slice":"data_19700101","time_series_id":"s","validate_only":true,"reason":"test"}"#,
            r#"{"namespace":"plays","timeSlice":"data_19700101","timeBucket":1}"#,
            r#"{"namespace":"plays","time_series_id":"s"}"#,
            r#"{"namespace":"nowhere","time_slice":"data_19700101","time_series_id":"s"}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.RetrySplit",
        &[
            r#"{"namespace":"plays","id":"data_19700101/0/0/nobody","validateOnly":true}"#,
            r#"{"namespace":"plays","id":"data_19700101/0/0/nobody"}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.VerifySplit",
        &[
            r#"{"namespace":"plays","id":"data_19700101/0/0/nobody"}"#,
            r#"{"namespace":"plays","id":"data_19700101/0/0/nobody","validate_only":true}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.RetireSplit",
        &[r#"{"namespace":"plays","id":"data_19700101/0/0/nobody"}"#, r#"{"namespace":"plays","id":""}"#],
    ),
    (
        "braid.admin.v1.SplitService.PauseSplits",
        &[
            r#"{"namespace":"plays","validate_only":true,"reason":"test"}"#,
            r#"{"validateOnly":true}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.SplitService.ResumeSplits",
        &[r#"{"namespace":"plays","validate_only":true}"#, r#"{"namespace":"nowhere"}"#],
    ),
    (
        "braid.admin.v1.TuningService.ListProposals",
        &[
            r#"{}"#,
            r#"{"namespace":"plays","states":["OPEN","STALE"]}"#,
            r#"{"namespace":"plays","states":["open"]}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.TuningService.GetProposal",
        &[
            r#"{"namespace":"plays","id":"7"}"#,
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"nowhere","id":1}"#,
        ],
    ),
    (
        "braid.admin.v1.TuningService.SimulateProposal",
        &[
            r#"{"namespace":"plays","shape":{"seconds_per_bucket":86400}}"#,
            r#"{"namespace":"plays","shape":{"secondsPerBucket":7000}}"#,
            r#"{"namespace":"plays","shape":{"bucketsPerId":70000}}"#,
            r#"{"namespace":"plays","id":7}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.TuningService.AcceptProposal",
        &[
            r#"{"namespace":"plays","id":7,"validateOnly":true,"reason":"test"}"#,
            r#"{"namespace":"plays","reason":"no number"}"#,
        ],
    ),
    (
        "braid.admin.v1.TuningService.RejectProposal",
        &[r#"{"namespace":"plays","id":7,"validate_only":true}"#, r#"{"namespace":"nowhere","id":1}"#],
    ),
    (
        "braid.admin.v1.TuningService.Observe",
        &[
            r#"{"namespace":"plays","validate_only":true,"measure":true}"#,
            r#"{"namespace":"nowhere","reason":"test"}"#,
        ],
    ),
    (
        "braid.admin.v1.ReadModeService.GetReadMode",
        &[r#"{"namespace":"plays"}"#, r#"{"namespace":"nowhere"}"#, "{}"],
    ),
    (
        "braid.admin.v1.ReadModeService.AdvanceReadMode",
        &[
            r#"{"namespace":"plays","validate_only":true,"reason":"test"}"#,
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.ReadModeService.HoldReadMode",
        &[
            r#"{"namespace":"plays","validateOnly":true}"#,
            r#"{"namespace":"plays","release":true}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.ReadModeService.RollbackReadMode",
        &[
            r#"{"namespace":"plays","to":"off","validate_only":true}"#,
            r#"{"namespace":"plays","to":"on"}"#,
            r#"{"namespace":"plays","to":"half"}"#,
        ],
    ),
    (
        "braid.admin.v1.ReadModeService.CompareReadMode",
        &[
            r#"{"namespace":"plays","pageSize":1}"#,
            r#"{"namespace":"plays","page_size":101}"#,
            r#"{"namespace":"plays","page_token":"forged"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.ReadModeService.ListMismatches",
        &[r#"{"namespace":"plays"}"#, r#"{"namespace":"nowhere"}"#],
    ),
    (
        "braid.admin.v1.FilterService.ListFilters",
        &["{}", r#"{"namespace":"plays"}"#, r#"{"namespace":"nowhere"}"#],
    ),
    (
        "braid.admin.v1.FilterService.ReloadFilters",
        &["{}", r#"{"namespace":"plays","validateOnly":true}"#, r#"{"namespace":"nowhere"}"#],
    ),
    (
        "braid.admin.v1.FilterService.ProbeFilter",
        &[
            r#"{"namespace":"plays","time_series_id":"s","time_interval":{"start":"1970-01-01T00:00:00Z","end":"1970-01-01T01:00:00Z"}}"#,
            r#"{"namespace":"plays","timeSeriesId":"s"}"#,
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"nowhere","time_series_id":"s"}"#,
        ],
    ),
    (
        "braid.admin.v1.ExportService.PrepareExport",
        &[
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"plays","timeSlices":["data_19700101"],"includeOpen":true,"end":"1970-01-01T00:00:05Z"}"#,
            r#"{"namespace":"plays","time_slices":["data_20000101"]}"#,
            r#"{"namespace":"plays","start":"1970-01-02T00:00:00Z","end":"1970-01-01T00:00:00Z"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    (
        "braid.admin.v1.ExportService.ExportSplits",
        &[
            r#"{"namespace":"plays"}"#,
            r#"{"namespace":"plays","ids":["data_19700101/0/0/nobody"]}"#,
            r#"{"namespace":"plays","pageToken":"forged"}"#,
            r#"{"namespace":"nowhere"}"#,
        ],
    ),
    ("braid.admin.v1.OpsService.GetServerInfo", &["{}"]),
    ("braid.admin.v1.OpsService.ListWorkers", &["{}"]),
    (
        "braid.admin.v1.OpsService.ListAudit",
        &["{}", r#"{"page_size":1}"#, r#"{"pageSize":-1}"#, r#"{"page_token":"forged"}"#],
    ),
];

#[tokio::test]
async fn json_and_grpc_agree_for_every_unary_method() {
    let fixture = Fixture::with_namespace().await;
    let events = [[0], [1], [1], [1]].iter().zip(0..).map(|(value, at)| event("s", 100 + at, value));
    fixture.write(events.collect()).await;
    let codec = Codec::new(api::DESCRIPTORS).unwrap();
    let unary: Vec<_> =
        codec.methods().filter(|method| !method.streams).map(|method| method.full_name).collect();
    for method in unary {
        let (_, bodies) =
            CALLS.iter().find(|(name, _)| *name == method).unwrap_or_else(|| panic!("no call of {method}"));
        for body in *bodies {
            compare(&fixture.address(), &codec, method, body).await;
        }
    }
}

async fn compare(address: &str, codec: &Codec, method: &str, body: &str) {
    let (service, name) = method.rsplit_once('.').unwrap();
    let path = format!("/{service}/{name}");
    let json = post_json(address, &path, body).await;
    let raw = grpc(address, &path, &codec.request_from_json(method, body.as_bytes()).unwrap()).await;
    assert_eq!(json.headers["content-type"], "application/json");
    if raw.grpc_status() == "0" {
        assert_eq!(json.status, 200, "{method} {body}: {}", json.text());
        let shown = codec.response_to_json(method, raw.body.get(5..).unwrap()).unwrap();
        let mut shown: Value = serde_json::from_slice(&shown).unwrap();
        let mut answer = json.json();
        forget_times(&mut shown);
        forget_times(&mut answer);
        if answer != shown && method.ends_with(".GetPartitionHistogram") {
            // A cluster may write its tables out between two questions; then the second and a third agree.
            answer = post_json(address, &path, body).await.json();
            forget_times(&mut answer);
        }
        assert_eq!(answer, shown, "{method} {body}");
    } else {
        assert_ne!(json.status, 200, "{method} {body}: gRPC says {}", raw.grpc_status());
        let message = raw.headers["grpc-message"].to_str().unwrap().replace("%20", " ").replace("%60", "`");
        let refusal = json.json();
        let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        assert_eq!(
            plain(refusal["message"].as_str().unwrap()).len(),
            plain(&unescape(&message)).len(),
            "{refusal}"
        );
        assert!(refusal["details"][0]["debug"]["reason"].is_string(), "{refusal}");
    }
}

fn unescape(text: &str) -> String {
    let mut parts = text.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2);
        plain.push(char::from(u8::from_str_radix(code, 16).unwrap()));
        plain.push_str(rest);
    }
    plain
}

/// What differs between any two calls.
fn forget_times(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for key in [
                "time_taken",
                "created",
                "next_page_token",
                "observed",
                "silent",
                "epoch",
                "time",
                "next_look",
            ] {
                object.remove(key);
            }
            // For how long reads have been in their mode.
            if object.get("name").is_some_and(|name| name == "min_time") {
                object.remove("found");
            }
            // A block that is made anew is another one.
            if object.remove("create_time").is_some() {
                object.remove("etag");
            }
            object.values_mut().for_each(forget_times);
        }
        Value::Array(array) => array.iter_mut().for_each(forget_times),
        _ => {}
    }
}
