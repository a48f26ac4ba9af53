//! Golden bytes of every persisted record: what is on disks out there must decode for ever.

use bytes::Bytes;
use model::{EventId, ItemKey, PartitionKey, Row, RowKey, RowView, SeriesId, SizeHistogram, Timestamp};
use store::{MetaKey, MetaVersion};

use super::sync_mark::SyncMark;
use super::{body, counter, format, kept, meta, partition, row, sync_mark};

const GOLDEN: &str = include_str!("../../golden/records.txt");

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn rows() -> [Row; 2] {
    let row = |event_id: &str, metadata: &'static [u8]| Row {
        key: RowKey {
            event_time: Timestamp::from_nanos(1_774_656_000_000_000_007).unwrap(),
            event_id: EventId::new(event_id).unwrap(),
            item_key: ItemKey::new("payload").unwrap(),
        },
        write_time: 1_774_656_000_123_456,
        value: Bytes::from_static(b"hello"),
        metadata: Bytes::from_static(metadata),
    };
    [row("event-1", b""), row("nul\0id", b"meta")]
}

/// A row whose value lies apart.
fn packed() -> Row {
    let [_, row] = rows();
    let event_id = EventId::new("chunk").unwrap();
    Row { key: RowKey { event_id, item_key: ItemKey::from_stored(Bytes::new()), ..row.key }, ..row }
}

fn rendered() -> String {
    let mut lines =
        vec!["# name, key, value; hexadecimal. Made by the code of format 1 and never changed.".to_owned()];
    let mut line =
        |name: &str, key: &[u8], value: &[u8]| lines.push(format!("{name} {} {}", hex(key), hex(value)));
    let where_at =
        PartitionKey { series: SeriesId::new("device-7").unwrap(), time_bucket: 3, event_bucket: 258 };
    let prefix = partition::encode(&where_at);
    line("partition", &prefix, b"");
    for (name, (key, value)) in ["row-plain", "row-metadata"].iter().zip(row::encode_all(&prefix, &rows())) {
        line(name, &key, &value);
    }
    line("counter", &counter::key(&prefix), &counter::encode(131_072));
    line("slack", &counter::SLACK, &counter::encode(65_536));
    let mut sizes = SizeHistogram::default();
    [3, 40, 40, 5_000].iter().for_each(|bytes| sizes.record(*bytes));
    line("kept-histogram", &kept::KEY, &sizes.encode());
    let address = MetaKey::new("namespaces", "orders");
    line("meta", &meta::key(&address), &meta::encode(MetaVersion(5), b"record"));
    line("sync-mark", sync_mark::KEY, &SyncMark { group: 9, synced: 8 }.encode());
    line("format-file", format::FILE.as_bytes(), format::encode().as_bytes());
    for (name, (key, value)) in ["row-head", "row-body"].iter().zip(row::encode_all(&prefix, &[packed()])) {
        line(name, &key, &value);
    }
    lines.join("\n") + "\n"
}

#[test]
fn records_are_written_as_they_always_were() {
    assert_eq!(rendered(), GOLDEN);
}

#[test]
fn old_records_still_read() {
    let field = |name: &str, index: usize| {
        let line = GOLDEN.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
        let text = line.split(' ').nth(index).unwrap();
        let bytes: Vec<u8> = (0..text.len() / 2)
            .map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap())
            .collect();
        Bytes::from(bytes)
    };
    let prefix = field("partition", 1);
    assert_eq!(partition::decode(&prefix).unwrap().event_bucket, 258);
    for (name, expected) in ["row-plain", "row-metadata"].iter().zip(rows()) {
        let (key, value) = (field(name, 1), field(name, 2));
        let mut unescaped = row::Unescaped::default();
        assert_eq!(row::decode(prefix.len(), &key, &value, &mut unescaped).unwrap().row.to_row(), expected);
    }
    let (key, head, stored) = (field("row-head", 1), field("row-head", 2), field("row-body", 2));
    let mut unescaped = row::Unescaped::default();
    let version = row::decode(prefix.len(), &key, &head, &mut unescaped).unwrap();
    assert_eq!(body::row_key(&field("row-body", 1)), Some(key.as_ref()));
    let value = body::decode(&stored, version.body_bytes.unwrap()).unwrap();
    assert_eq!(RowView { value, ..version.row }.to_row(), packed());
    assert_eq!(counter::decode(&field("counter", 2)).unwrap(), 131_072);
    assert_eq!(SizeHistogram::decode(&field("kept-histogram", 2)).unwrap().count(), 4);
    assert_eq!(meta::decode(&field("meta", 1), &field("meta", 2)).unwrap().version, MetaVersion(5));
    assert_eq!(SyncMark::decode(&field("sync-mark", 2)), Some(SyncMark { group: 9, synced: 8 }));
}
