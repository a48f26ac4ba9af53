//! The header of a CSV: which column is what.

use ::csv::ByteRecord;
use api::clip::clip;

/// What a message names of a header.
const SHOWN_CHARS_MAX: usize = 200;
const ITEM_KEY: &str = "event_item_key";
const ITEM_VALUE: &str = "event_item_value";

/// The columns of a CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The column `time_series_id`.
    pub(crate) series: usize,
    /// The column `event_time`.
    pub(crate) time: usize,
    /// The column `event_id`; without it, ids are derived.
    pub(crate) id: Option<usize>,
    /// Where the items are.
    pub(crate) items: Items,
    columns: usize,
}

/// Where the items of a record are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    /// Every other column is an item: the column, and its name as the key.
    Columns(Vec<(usize, String)>),
    /// The record is one item of an event, as `get -o csv` writes it.
    One {
        /// The column `event_item_key`.
        key: usize,
        /// The column `event_item_value`.
        value: usize,
    },
}

impl Header {
    /// The header in `record`, or what is wrong with it.
    pub(crate) fn read(record: &ByteRecord) -> Result<Self, String> {
        let names = record.iter().map(|name| std::str::from_utf8(name).map(|name| name.trim().to_owned()));
        let names: Vec<String> = names
            .collect::<Result<_, _>>()
            .map_err(|_| "the header is not UTF-8; write it as UTF-8".to_owned())?;
        let shown = || clip(&names.join(", "), SHOWN_CHARS_MAX);
        let find = |name: &str| names.iter().position(|known| known == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                let rule =
                    "columns time_series_id and event_time, may have event_id, and all others are items";
                format!("the header has no column {name}: a CSV has the {rule}; it has: {}", shown())
            })
        };
        let (series, time, id) = (need("time_series_id")?, need("event_time")?, find("event_id"));
        for (column, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(format!("column {} of the header has no name; it has: {}", column + 1, shown()));
            }
            if find(name) != Some(column) {
                let name = clip(name, SHOWN_CHARS_MAX);
                return Err(format!("the header has the column {name} twice; give each its own name"));
            }
        }
        let items = match (find(ITEM_KEY), find(ITEM_VALUE)) {
            (None, None) => {
                let known = [Some(series), Some(time), id];
                let others = names.iter().cloned().enumerate();
                Items::Columns(others.filter(|(column, _)| !known.contains(&Some(*column))).collect())
            }
            (Some(key), Some(value)) if id.is_some() && names.len() == 5 => Items::One { key, value },
            // Read as items under these names, the values would be lost in silence.
            _ => {
                let rule =
                    "time_series_id, event_time, event_id, event_item_key and event_item_value, no others";
                return Err(format!(
                    "a CSV with one item a record has the columns {rule}; it has: {}",
                    shown()
                ));
            }
        };
        Ok(Self { series, time, id, items, columns: names.len() })
    }

    /// How many cells a record has.
    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> Result<String, String> {
        let header = Header::read(&ByteRecord::from(names.to_vec()))?;
        let items = match header.items {
            Items::Columns(columns) => {
                columns.iter().map(|(column, key)| format!(" {column}={key}")).collect()
            }
            Items::One { key, value } => format!(" key {key} value {value}"),
        };
        Ok(format!("{} {} {:?}{items}", header.series, header.time, header.id))
    }

    #[test]
    fn columns_are_found_in_any_order() {
        assert_eq!(read(&["time_series_id", "event_time"]).unwrap(), "0 1 None");
        assert_eq!(
            read(&["a", " event_time ", "event_id", "b", "time_series_id"]).unwrap(),
            "4 1 Some(2) 0=a 3=b"
        );
    }

    #[test]
    fn one_item_a_record_is_told_from_one_event_a_record() {
        let written = ["time_series_id", "event_time", "event_id", "event_item_key", "event_item_value"];
        assert_eq!(read(&written).unwrap(), "0 1 Some(2) key 3 value 4");
        let refused = [
            &["time_series_id", "event_time", "event_item_key", "event_item_value"][..],
            &["time_series_id", "event_time", "event_id", "event_item_key"],
            &["time_series_id", "event_time", "event_id", "event_item_value", "x"],
            &["time_series_id", "event_time", "event_id", "event_item_key", "event_item_value", "x"],
        ];
        for names in refused {
            let problem = read(names).unwrap_err();
            assert!(problem.starts_with("a CSV with one item a record has the columns"), "{problem}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_understood_is_refused_with_what_it_has() {
        let missing = read(&["id", "event_time", "x"]).unwrap_err();
        assert!(missing.starts_with("the header has no column time_series_id"), "{missing}");
        assert!(missing.ends_with("it has: id, event_time, x"), "{missing}");
        assert!(read(&["time_series_id"]).unwrap_err().contains("no column event_time"));
        assert!(
            read(&["time_series_id", "event_time", ""]).unwrap_err().starts_with("column 3 of the header")
        );
        let twice = read(&["time_series_id", "event_time", "a", "a"]).unwrap_err();
        assert_eq!(twice, "the header has the column a twice; give each its own name");
        assert!(read(&["time_series_id", "event_time", "event_time"]).is_err());
        let wild = Header::read(&ByteRecord::from(vec![b"\xFF".to_vec()])).unwrap_err();
        assert_eq!(wild, "the header is not UTF-8; write it as UTF-8");
        let long = read(&["x"; 1_000]).unwrap_err();
        assert!(long.len() < 500, "{long}");
    }
}
