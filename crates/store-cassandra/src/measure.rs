//! Sizes of partitions, by reading everything once; what the nodes know without that is in `histogram`.
//!
//! A measurement is not kept for the next one: another server may write the table the next moment and nobody would tell.

use model::{PartitionKey, SizeHistogram};
use scylla::response::query_result::QueryRowsResult;
use store::{Histogram, Result};

use crate::cluster::Cluster;
use crate::enumerate::partition_of;
use crate::failure::unreadable;
use crate::page_rows::{Read, RowBytes};
use crate::pages::Pages;
use crate::retry::Task;
use crate::statements::Table;
use crate::write::partition_values;

/// Fails where the table does not exist, as an estimate of nothing would not.
pub(crate) async fn assert_there(cluster: &Cluster, table: &Table) -> Result<()> {
    let task = Task { what: "look at a table", table: Some(&table.name), writes: false };
    let nowhere = PartitionKey { series: model::SeriesId::new("-")?, time_bucket: 0, event_bucket: 0 };
    cluster.small(task, &table.touch, &partition_values(&nowhere)).await.map(drop)
}

/// Measures every partition by reading the whole table, page by page.
pub(crate) async fn exact(cluster: &Cluster, table: &Table) -> Result<Histogram> {
    let task = Task { what: "measure partitions", table: Some(&table.name), writes: false };
    let mut answers = Pages::new(cluster, task, &table.everything, ()).await?;
    // Its own: these answers have other columns than a scan's.
    let (mut measured, row_bytes) = (Measured::default(), RowBytes::default());
    while let Some(answer) = answers.next(row_bytes.rows_for(usize::MAX, u64::MAX)).await? {
        row_bytes.learn(Read { rows: answer.rows_num(), bytes: answer.rows_bytes_size() as u64 });
        measured.take(&answer)?;
    }
    Ok(Histogram::exact(measured.finish()))
}

/// Rows come partition by partition, so one is open at a time.
#[derive(Default)]
struct Measured {
    sizes: SizeHistogram,
    open: Option<(PartitionKey, u64)>,
}

impl Measured {
    fn take(&mut self, answer: &QueryRowsResult) -> Result<()> {
        let rows = answer
            .rows::<(&str, i32, i32, &str, &str, &[u8], &[u8])>()
            .map_err(|error| unreadable("table of rows", error))?;
        for row in rows {
            let (series, time_bucket, event_bucket, event_id, item_key, value, metadata) =
                row.map_err(|error| unreadable("row", error))?;
            // As `Row::logical_bytes` counts: eight bytes of time and what the client sent.
            let lengths = [event_id.len(), item_key.len(), value.len(), metadata.len()];
            let bytes = (size_of::<i64>() + lengths.iter().sum::<usize>()) as u64;
            match &mut self.open {
                Some((open, sum)) if partition_values(open) == (series, time_bucket, event_bucket) => {
                    *sum += bytes
                }
                _ => {
                    let partition = partition_of((series, time_bucket, event_bucket))?;
                    self.close();
                    self.open = Some((partition, bytes));
                }
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        if let Some((_, bytes)) = self.open.take() {
            self.sizes.record(bytes);
        }
    }

    fn finish(mut self) -> SizeHistogram {
        self.close();
        self.sizes
    }
}
