//! Overwriting: the later write time wins whatever the order of arrival, and a row counts once.

use bytes::Bytes;
use model::Row;

use super::Fixture;
use super::fixture::{partition, row, rows, scan};

fn written(write_time: i64, value: &str, metadata: &str) -> Row {
    Row { write_time, metadata: Bytes::from(metadata.to_owned()), ..row(5, "e", "i", value) }
}

/// Writes one row after the other and asserts what stays, for every order of arrival.
async fn assert_stays(fixture: &Fixture, writes: &[Row], stays: &Row) {
    let table = fixture.made(1).await;
    let (forward, backward, together) = (partition("forward"), partition("backward"), partition("together"));
    for row in writes {
        fixture.write(&table, &forward, std::slice::from_ref(row)).await;
    }
    for row in writes.iter().rev() {
        fixture.write(&table, &backward, std::slice::from_ref(row)).await;
    }
    fixture.write(&table, &together, writes).await;
    for at in [forward, backward, together] {
        assert_eq!(fixture.read(&table, &at).await, std::slice::from_ref(stays), "{}", at.series.as_str());
    }
}

/// The write with the later time stays.
pub async fn the_later_write_stays(fixture: Fixture) {
    let writes = [written(1, "z", "z"), written(2, "m", ""), written(3, "a", "b")];
    assert_stays(&fixture, &writes, &writes[2]).await;
}

/// A later write replaces the whole row: what it leaves empty is empty.
pub async fn a_later_write_replaces_every_column(fixture: Fixture) {
    let writes = [written(1, "value", "metadata"), written(2, "", "")];
    assert_stays(&fixture, &writes, &writes[1]).await;
}

/// The smallest and very large write times are compared as numbers.
pub async fn write_times_are_compared_as_numbers(fixture: Fixture) {
    let writes =
        [written(0, "d", ""), written(255, "c", ""), written(256, "b", ""), written(1 << 52, "a", "")];
    assert_stays(&fixture, &writes, &writes[3]).await;
}

/// At equal times the greater value stays.
pub async fn equal_times_keep_the_greater_value(fixture: Fixture) {
    assert_stays(
        &fixture,
        &[written(1, "b", ""), written(1, "a", ""), written(1, "ba", "")],
        &written(1, "ba", ""),
    )
    .await;
}

/// At equal times value and metadata are decided each by itself.
pub async fn equal_times_decide_each_column_by_itself(fixture: Fixture) {
    assert_stays(&fixture, &[written(1, "b", "a"), written(1, "a", "b")], &written(1, "b", "b")).await;
}

/// At equal times anything stays before nothing.
pub async fn equal_times_prefer_anything_to_nothing(fixture: Fixture) {
    assert_stays(&fixture, &[written(1, "", "m"), written(1, "\0", "")], &written(1, "\0", "m")).await;
}

/// Writing the same rows again changes nothing that can be seen.
pub async fn writing_the_same_again_changes_nothing(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    fixture.write(&table, &at, &rows(20)).await;
    let before = fixture.store.scan(scan(&table, &at)).await.expect("scan");
    let (partitions, sizes) = (fixture.partitions(&table, 10).await, fixture.measure(&table).await.sizes);
    for _ in 0..3 {
        fixture.write(&table, &at, &rows(20)).await;
    }
    assert_eq!(fixture.store.scan(scan(&table, &at)).await.expect("scan"), before);
    assert_eq!(fixture.partitions(&table, 10).await, partitions);
    assert_eq!(fixture.measure(&table).await.sizes, sizes);
}

/// A row that was overwritten counts once, with the size of what stays.
pub async fn an_overwritten_row_counts_once(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    fixture
        .write(&table, &at, &[written(1, "a long first value", "metadata"), row(6, "e", "i", "other")])
        .await;
    fixture.write(&table, &at, &[written(2, "short", "")]).await;
    fixture.write(&table, &at, &[written(1, "an older value that loses", "")]).await;
    let stays = [written(2, "short", ""), row(6, "e", "i", "other")];
    let bytes: u64 = stays.iter().map(Row::logical_bytes).sum();

    let page = fixture.store.scan(scan(&table, &at)).await.expect("scan");
    assert_eq!((page.rows.to_vec().as_slice(), page.bytes), (stays.as_slice(), bytes));
    let sizes = fixture.measure(&table).await.sizes;
    assert_eq!((sizes.count(), sizes.sum(), sizes.max()), (1, bytes, bytes));
}

/// Only the row with the same key is overwritten: its neighbours by time, event and item stay.
pub async fn neighbours_of_an_overwritten_row_stay(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let around = [
        row(4, "e", "i", "time"),
        row(5, "e", "h", "item"),
        row(5, "e", "j", "item"),
        row(5, "f", "i", "event"),
    ];
    fixture.write(&table, &at, &around).await;
    fixture.write(&table, &at, &[row(5, "e", "i", "old")]).await;
    fixture.write(&table, &at, &[written(2_000, "new", "")]).await;
    let [before, item_before, item_after, after] = around;
    let expected = [before, item_before, written(2_000, "new", ""), item_after, after];
    assert_eq!(fixture.read(&table, &at).await, expected);
}

/// A row overwritten many times is still one row, the last one.
pub async fn many_overwrites_leave_one_row(fixture: Fixture) {
    let (table, at) = (fixture.made(1).await, partition("s"));
    let mut times: Vec<i64> = (0..100).collect();
    fastrand::Rng::with_seed(3).shuffle(&mut times);
    for time in times {
        fixture.write(&table, &at, &[written(time, &time.to_string(), "")]).await;
    }
    assert_eq!(fixture.read(&table, &at).await, [written(99, "99", "")]);
}
