//! Rows as Parquet.
//!
//! Columns are collected and written a group of rows at a time: memory is bounded by a group, whatever the file has.

use std::io;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::{HashedFile, Row};

/// Rows of a group: enough for readers to work on in one go.
const GROUP_ROWS_MAX: usize = 65_536;
/// A group ends once its rows have so many bytes.
const GROUP_BYTES_MAX: usize = 16 << 20;

/// No column has a logical type of time: Spark refuses nanoseconds, so they are plain numbers for everybody.
const SCHEMA: &str = "message braid_export {
    REQUIRED BYTE_ARRAY time_series_id (STRING);
    REQUIRED INT32 time_bucket;
    REQUIRED INT32 event_bucket;
    REQUIRED INT64 event_time;
    REQUIRED BYTE_ARRAY event_id (STRING);
    REQUIRED BYTE_ARRAY event_item_key (STRING);
    REQUIRED BYTE_ARRAY event_item_value;
    REQUIRED BYTE_ARRAY value_metadata;
    REQUIRED INT64 write_time;
}";
/// Columns whose values hardly ever repeat, and whose least and greatest nobody asks for.
const OPAQUE: [&str; 2] = ["event_item_value", "value_metadata"];

type Group<'a> = SerializedRowGroupWriter<'a, HashedFile>;

/// A Parquet file that rows are written to.
pub struct ParquetFile {
    file: SerializedFileWriter<HashedFile>,
    group: Columns,
    rows: u64,
}

/// The rows of a group, column by column.
#[derive(Default)]
struct Columns {
    series: Vec<ByteArray>,
    time_bucket: Vec<i32>,
    event_bucket: Vec<i32>,
    event_time: Vec<i64>,
    event_id: Vec<ByteArray>,
    item_key: Vec<ByteArray>,
    value: Vec<ByteArray>,
    metadata: Vec<ByteArray>,
    write_time: Vec<i64>,
    bytes: usize,
}

impl ParquetFile {
    /// Writes to `file`.
    pub fn new(file: HashedFile) -> io::Result<Self> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("braid ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_statistics_enabled(EnabledStatistics::Chunk);
        for column in OPAQUE {
            properties = properties
                .set_column_statistics_enabled(ColumnPath::from(column), EnabledStatistics::None)
                .set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        properties = properties.set_column_dictionary_enabled(ColumnPath::from("event_id"), false);
        let file = SerializedFileWriter::new(file, schema, Arc::new(properties.build())).map_err(failed)?;
        Ok(Self { file, group: Columns::default(), rows: 0 })
    }

    /// Adds a row.
    pub fn push(&mut self, row: Row) -> io::Result<()> {
        self.group.push(row);
        self.rows += 1;
        if self.group.event_time.len() >= GROUP_ROWS_MAX || self.group.bytes >= GROUP_BYTES_MAX {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes the rest; gives back the file and how many rows it has.
    pub fn finish(mut self) -> io::Result<(HashedFile, u64)> {
        self.write_group()?;
        Ok((self.file.into_inner().map_err(failed)?, self.rows))
    }

    fn write_group(&mut self) -> io::Result<()> {
        let group = std::mem::take(&mut self.group);
        if group.event_time.is_empty() {
            return Ok(());
        }
        let mut writer = self.file.next_row_group().map_err(failed)?;
        group.write(&mut writer).map_err(failed)?;
        writer.close().map(drop).map_err(failed)
    }
}

impl Columns {
    fn push(&mut self, row: Row) {
        self.bytes += row.bytes();
        self.series.push(row.time_series_id.into());
        self.time_bucket.push(row.time_bucket.cast_signed());
        self.event_bucket.push(row.event_bucket.cast_signed());
        self.event_time.push(row.event_time);
        self.event_id.push(row.event_id.into());
        self.item_key.push(row.event_item_key.into());
        self.value.push(row.event_item_value.into());
        self.metadata.push(row.value_metadata.into());
        self.write_time.push(row.write_time);
    }

    /// Writes all columns, in the order of the schema.
    fn write(&self, group: &mut Group<'_>) -> Result<(), ParquetError> {
        write::<ByteArrayType>(group, &self.series)?;
        write::<Int32Type>(group, &self.time_bucket)?;
        write::<Int32Type>(group, &self.event_bucket)?;
        write::<Int64Type>(group, &self.event_time)?;
        write::<ByteArrayType>(group, &self.event_id)?;
        write::<ByteArrayType>(group, &self.item_key)?;
        write::<ByteArrayType>(group, &self.value)?;
        write::<ByteArrayType>(group, &self.metadata)?;
        write::<Int64Type>(group, &self.write_time)
    }
}

fn write<T: DataType>(group: &mut Group<'_>, values: &[T::T]) -> Result<(), ParquetError> {
    let next = group.next_column()?;
    let mut column = next.ok_or_else(|| ParquetError::General("the schema has no such column".to_owned()))?;
    column.typed::<T>().write_batch(values, None, None)?;
    column.close()
}

/// The library's errors are those of the file, or bugs.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;

    fn row(number: i64) -> Row {
        let bytes = |text: String| Bytes::from(text);
        Row {
            time_series_id: bytes("sü".to_owned()),
            time_bucket: 7,
            event_bucket: u32::MAX,
            event_time: 1_774_681_200_000_000_003 - number,
            event_id: bytes(format!("e{number}")),
            event_item_key: bytes("k".to_owned()),
            event_item_value: bytes("\0v".repeat(usize::try_from(number % 5).unwrap())),
            value_metadata: if number % 2 == 0 { Bytes::new() } else { bytes("m".to_owned()) },
            write_time: number,
        }
    }

    fn written(rows: i64) -> (tempfile::TempDir, SerializedFileReader<File>) {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("file");
        let mut file = ParquetFile::new(HashedFile::new(File::create(&path).unwrap())).unwrap();
        (0..rows).for_each(|number| file.push(row(number)).unwrap());
        let (file, count) = file.finish().unwrap();
        let (bytes, _) = file.finish().unwrap();
        assert_eq!((count, bytes), (rows.try_into().unwrap(), path.metadata().unwrap().len()));
        (scratch, SerializedFileReader::new(File::open(&path).unwrap()).unwrap())
    }

    #[test]
    fn rows_read_back_in_their_order_and_groups_are_bounded() {
        let rows = 70_000;
        let (_scratch, reader) = written(rows);
        assert_eq!(reader.num_row_groups(), 2);
        let mut expected = 0;
        for read in reader.get_row_iter(None).unwrap() {
            let (read, row) = (read.unwrap(), row(expected));
            let bytes = |column: usize| read.get_bytes(column).unwrap().data().to_vec();
            assert_eq!(read.get_string(0).unwrap().as_bytes(), row.time_series_id);
            assert_eq!((read.get_int(1).unwrap(), read.get_int(2).unwrap()), (7, -1));
            assert_eq!(
                (read.get_long(3).unwrap(), read.get_long(8).unwrap()),
                (row.event_time, row.write_time)
            );
            assert_eq!(read.get_string(4).unwrap().as_bytes(), row.event_id);
            assert_eq!(read.get_string(5).unwrap().as_bytes(), row.event_item_key);
            assert_eq!((bytes(6), bytes(7)), (row.event_item_value.to_vec(), row.value_metadata.to_vec()));
            expected += 1;
        }
        assert_eq!(expected, rows);
    }

    #[test]
    fn the_schema_is_the_published_one() {
        let (_scratch, reader) = written(1);
        let metadata = reader.metadata().file_metadata();
        let shown = metadata.schema_descr().columns().iter().map(|column| {
            let kind = column.logical_type_ref().map(|kind| format!(" {kind:?}")).unwrap_or_default();
            assert_eq!((column.max_def_level(), column.max_rep_level()), (0, 0), "no column is ever null");
            format!("{} {}{kind}", column.name(), column.physical_type())
        });
        let expect = [
            "time_series_id BYTE_ARRAY String",
            "time_bucket INT32",
            "event_bucket INT32",
            "event_time INT64",
            "event_id BYTE_ARRAY String",
            "event_item_key BYTE_ARRAY String",
            "event_item_value BYTE_ARRAY",
            "value_metadata BYTE_ARRAY",
            "write_time INT64",
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expect);
    }
}
