//! Exports through the wire: what there is below closed time, its rows from any position, and what is refused.

use api::admin::v1 as admin;
use rpc::client::CallError;

use crate::fixture::{Fixture, NAMESPACE, at, event};
use crate::http::post_json;

const EVENTS: i64 = 3_000;
/// The slice that they lie in.
const TABLE: &str = "data_19700101";

impl Fixture {
    /// With events of 1970 that nothing can change any more.
    async fn closed() -> Self {
        let fixture = Self::recent_only().await;
        let begun = fixture.begin(0, 7_200, false).await.unwrap();
        for from in (0..EVENTS).step_by(1_000) {
            let events = (from..from + 1_000).map(|second| event("hot", second, &[7; 600]));
            assert_eq!(fixture.write(events.collect()).await.results, []);
        }
        fixture.write(vec![event("cold", 9, b""), event("s/ü", 10, b"v")]).await;
        fixture.end(begun.id, false).await.unwrap();
        fixture
    }

    async fn plan(&self, end: Option<i64>) -> Result<admin::PrepareExportResponse, CallError> {
        let request = admin::PrepareExportRequest {
            namespace: NAMESPACE.to_owned(),
            end: end.map(at),
            ..Default::default()
        };
        self.client.prepare_export(request).await
    }

    /// Splits a partition of `hot` by hand, and waits until that is done; its id.
    async fn split_hot(&self) -> String {
        let small = admin::SplitSettings {
            policy: "manual".to_owned(),
            threshold_bytes: 64 << 10,
            target_bytes: 64 << 10,
            ..Default::default()
        };
        let namespace =
            admin::Namespace { name: NAMESPACE.to_owned(), split: Some(small), ..Default::default() };
        let request = admin::UpdateNamespaceRequest { namespace: Some(namespace), ..Default::default() };
        self.client.update_namespace(request).await.unwrap();
        let request = admin::CreateSplitRequest {
            namespace: NAMESPACE.to_owned(),
            time_slice: TABLE.to_owned(),
            time_series_id: "hot".to_owned(),
            ..Default::default()
        };
        let id = self.client.create_split(request).await.unwrap().id;
        loop {
            let split = self.client.get_split(NAMESPACE, &id).await.unwrap();
            match split.state.as_str() {
                "COMPLETED" => return id,
                "FAILED" | "REJECTED" => panic!("{:?}", split.reason),
                _ => tokio::task::yield_now().await,
            }
        }
    }

    async fn export(
        &self,
        request: admin::ExportRowsRequest,
    ) -> Result<Vec<admin::ExportRowsResponse>, CallError> {
        let mut pages = self.client.export_rows(request).await?;
        let mut found = Vec::new();
        while let Some(page) = pages.next().await? {
            found.push(page);
        }
        Ok(found)
    }
}

fn all(plan: &admin::PrepareExportResponse) -> admin::ExportRowsRequest {
    admin::ExportRowsRequest {
        namespace: NAMESPACE.to_owned(),
        incarnation: plan.incarnation,
        table: plan.tables[0].name.clone(),
        start: plan.start,
        end: plan.end,
        ..Default::default()
    }
}

/// Series, time and parts of every row.
fn flat(pages: &[admin::ExportRowsResponse]) -> Vec<(String, i64, Vec<u8>)> {
    let mut found = Vec::new();
    for rows in pages.iter().flat_map(|page| &page.rows) {
        let mut at = 0;
        for (time, lengths) in rows.event_times.iter().zip(rows.lengths.chunks(4)) {
            let bytes = lengths.iter().map(|length| usize::try_from(*length).unwrap()).sum::<usize>();
            let series = rows.partition.as_ref().unwrap().time_series_id.clone();
            found.push((series, *time / 1_000_000_000, rows.parts[at..at + bytes].to_vec()));
            at += bytes;
        }
        assert_eq!((at, rows.write_times.len()), (rows.parts.len(), rows.event_times.len()));
    }
    found
}

#[tokio::test]
async fn all_rows_below_closed_time_arrive_and_any_stop_can_be_gone_on_from() {
    let fixture = Fixture::closed().await;
    let plan = fixture.plan(None).await.unwrap();
    assert_eq!(plan.left_out_reason, "events of this time may still be accepted");
    assert_eq!((plan.end, plan.start), (plan.closed_time, Some(at(0))));
    let table = &plan.tables[0];
    assert_eq!((plan.tables.len(), table.name.as_str(), table.targets), (1, TABLE, false));
    assert_eq!((table.seconds_per_bucket, table.buckets_per_id, table.hash_version), (3_600, 4, 1));

    let pages = fixture.export(all(&plan)).await.unwrap();
    let found = flat(&pages);
    assert_eq!(found.len(), usize::try_from(EVENTS).unwrap() + 2);
    assert!(found.contains(&("s/ü".to_owned(), 10, b"e10kv".to_vec())), "{:?}", found.last());
    assert!(found.contains(&("cold".to_owned(), 9, b"e9k".to_vec())));
    assert!(pages.len() > 1 && pages.last().unwrap().next.is_none());
    for (number, page) in pages.iter().enumerate().filter(|(_, page)| page.next.is_some()) {
        let request = admin::ExportRowsRequest { position: page.next.clone(), ..all(&plan) };
        let rest = flat(&fixture.export(request).await.unwrap());
        assert!(rest == flat(&pages[number + 1..]), "behind page {number}");
    }
    let early = admin::ExportRowsRequest { end: Some(at(100)), ..all(&plan) };
    assert_eq!(flat(&fixture.export(early).await.unwrap()).len(), 102);
    let series = admin::ExportRowsRequest { time_series_ids: vec!["cold".to_owned()], ..all(&plan) };
    assert_eq!(flat(&fixture.export(series).await.unwrap()).len(), 1);
    // A client that goes away ends it; the next one is answered.
    drop(fixture.client.export_rows(all(&plan)).await.unwrap());
    assert_eq!(fixture.export(all(&plan)).await.unwrap().len(), pages.len());
}

#[tokio::test]
async fn what_cannot_be_exported_is_refused_with_what_to_do() {
    let fixture = Fixture::closed().await;
    let plan = fixture.plan(Some(7_200)).await.unwrap();
    assert_eq!((plan.left_out_reason.as_str(), plan.end), ("", Some(at(7_200))));
    let refused = async |change: fn(&mut admin::ExportRowsRequest)| {
        let mut request = all(&plan);
        change(&mut request);
        let error = fixture.export(request).await.unwrap_err();
        (error.reason.unwrap_or_default(), error.code)
    };
    let reason = |name: &str, code: &'static str| (name.to_owned(), code);
    let not_found = "NOT_FOUND";
    assert_eq!(
        refused(|one| one.namespace = "nobody".to_owned()).await,
        reason("NAMESPACE_NOT_FOUND", not_found)
    );
    assert_eq!(refused(|one| one.incarnation = 9).await, reason("NAMESPACE_NOT_FOUND", not_found));
    assert_eq!(refused(|one| one.table = "records".to_owned()).await, reason("SLICE_NOT_FOUND", not_found));
    let future = refused(|one| one.end = Some(at(9_000_000_000))).await;
    assert_eq!(future, reason("TIME_NOT_CLOSED", "FAILED_PRECONDITION"));
    let many = refused(|one| one.partitions = vec![admin::ExportPartition::default(); 1_001]).await;
    assert_eq!(many, reason("RANGE_TOO_WIDE", "INVALID_ARGUMENT"));

    // While a backfill may change it, nothing of its time is exported.
    let begun = fixture.begin(60, 120, false).await.unwrap();
    assert_eq!(refused(|_| ()).await, reason("TIME_NOT_CLOSED", "FAILED_PRECONDITION"));
    let short = fixture.plan(Some(7_200)).await.unwrap();
    assert_eq!((short.end, short.left_out_reason.contains("backfill")), (Some(at(60)), true));
    fixture.end(begun.id, false).await.unwrap();
    assert_eq!(fixture.plan(Some(7_200)).await.unwrap(), plan);

    let path = "/braid.admin.v1.ExportService/ExportRows";
    let stream = post_json(&fixture.address(), path, r#"{"namespace":"plays"}"#).await;
    assert_eq!((stream.status, &stream.json()["code"]), (501, &"unimplemented".into()));
}

#[tokio::test]
async fn splits_come_with_the_key_of_their_digests() {
    let fixture = Fixture::closed().await;
    let request = admin::ExportSplitsRequest { namespace: NAMESPACE.to_owned(), ..Default::default() };
    let none = fixture.client.export_splits(request.clone()).await.unwrap();
    assert_eq!((none.splits.len(), none.next_page_token.as_str()), (0, ""));
    let named = |ids: Vec<String>| admin::ExportSplitsRequest { ids, ..request.clone() };
    let id = format!("{TABLE}/0/0/hot");
    let refused = async |ids| fixture.client.export_splits(named(ids)).await.unwrap_err().reason;
    assert_eq!(refused(vec![id.clone()]).await.as_deref(), Some("SPLIT_NOT_FOUND"));
    assert_eq!(refused(vec![id.clone(); 201]).await.as_deref(), Some("RANGE_TOO_WIDE"));

    assert_eq!(fixture.split_hot().await, id);
    let all = fixture.client.export_splits(request.clone()).await.unwrap();
    assert_eq!((all.splits.len(), all.next_page_token.as_str()), (1, ""));
    let exported = &all.splits[0];
    let split = exported.split.as_ref().unwrap();
    assert_eq!((&split.id, split.state.as_str()), (&id, "COMPLETED"));
    let (before, after) = (split.pre_split_data.as_ref().unwrap(), split.post_split_data.as_ref().unwrap());
    assert!(before.digest.as_ref().is_some_and(|digest| digest.rows > 0), "{before:?}");
    assert_eq!(before.digest, after.digest);
    let key = &exported.digest_key;
    assert!(key.len() == 64 && key.bytes().all(|digit| digit.is_ascii_hexdigit()), "{key}");
    assert_eq!(fixture.client.export_splits(named(vec![id.clone()])).await.unwrap().splits, all.splits);
    let other = admin::ExportSplitsRequest { time_series_id: "cold".to_owned(), ..request.clone() };
    assert_eq!(fixture.client.export_splits(other).await.unwrap().splits, []);
    // With one that is not there, none comes: whoever asked has to ask one by one.
    assert_eq!(refused(vec![id, format!("{TABLE}/0/1/hot")]).await.as_deref(), Some("SPLIT_NOT_FOUND"));
}
