//! What was found out of events, as rows.

use api::v1;

use super::json::{Json, base64};
use super::list::Record;
use super::value;
use crate::failure::Failure;

/// A number of events.
#[derive(Debug)]
pub(crate) struct CountRecord(pub i64);

impl Record for CountRecord {
    const COLUMNS: &'static [&'static str] = &["EVENTS"];
    const FIELDS: &'static [&'static str] = &["count"];

    fn row(&self) -> Vec<String> {
        vec![self.0.to_string()]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![self.row()]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        let count = self.0;
        json.message(&v1::AggregateEventRecordsResponse { count, ..Default::default() })
    }
}

/// A value and its events, and whether it is wanted as text where a program reads it.
#[derive(Debug)]
pub(crate) struct ValueRecord<'a> {
    pub bucket: &'a v1::AggregationBucket,
    pub text: bool,
}

/// As JSON with the value as text, under the names of the contract. One that is not UTF-8 keeps its base64, under another
/// name, so that the two can be told apart.
#[derive(serde::Serialize)]
struct TextBucket<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event_item_value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_item_value_base64: Option<String>,
    count: String,
}

impl ValueRecord<'_> {
    fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bucket.event_item_value).ok().filter(|_| self.text)
    }
}

impl Record for ValueRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["VALUE", "EVENTS"];
    const FIELDS: &'static [&'static str] = &["event_item_value", "count"];

    fn row(&self) -> Vec<String> {
        vec![value::value(&self.bucket.event_item_value), self.bucket.count.to_string()]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        let bytes = &self.bucket.event_item_value;
        let shown = self.as_text().map_or_else(|| base64(bytes), str::to_owned);
        vec![vec![shown, self.bucket.count.to_string()]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        if !self.text {
            return json.message(self.bucket);
        }
        let text = self.as_text();
        let bucket = TextBucket {
            event_item_value: text,
            event_item_value_base64: text.is_none().then(|| base64(&self.bucket.event_item_value)),
            // As the contract writes numbers of 64 bits.
            count: self.bucket.count.to_string(),
        };
        serde_json::to_vec(&bucket)
            .map_err(|error| Failure::Other(format!("a value cannot be shown: {error}")))
    }
}

/// A stretch of time and its events.
#[derive(Debug)]
pub(crate) struct StretchRecord<'a>(pub &'a v1::AggregationBucket);

impl Record for StretchRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["START", "END", "EVENTS"];
    const FIELDS: &'static [&'static str] = &["start", "end", "count"];

    fn row(&self) -> Vec<String> {
        let interval = self.0.time_interval.unwrap_or_default();
        vec![value::time(interval.start), value::time(interval.end), self.0.count.to_string()]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![self.row()]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// Numbers, summed up.
#[derive(Debug)]
pub(crate) struct StatsRecord<'a>(pub &'a v1::Stats);

impl Record for StatsRecord<'_> {
    const COLUMNS: &'static [&'static str] = &["NUMBERS", "MIN", "MAX", "SUM"];
    const FIELDS: &'static [&'static str] = &["count", "min", "max", "sum"];

    fn row(&self) -> Vec<String> {
        let v1::Stats { count, min, max, sum } = self.0;
        let shown = |number: &Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        vec![count.to_string(), shown(min), shown(max), sum.to_string()]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![self.row()]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<R: Record>(record: &R) -> String {
        assert_eq!(record.row().len(), R::COLUMNS.len());
        assert_eq!(record.lines().concat().len(), R::FIELDS.len());
        let json = record.json(&Json::new().unwrap()).unwrap();
        let json = String::from_utf8(json).unwrap();
        format!("{} | {} | {json}", record.row().join(" "), record.lines().concat().join(" "))
    }

    fn value(bytes: &'static [u8], text: bool) -> String {
        let event_item_value = bytes::Bytes::from_static(bytes);
        let bucket = v1::AggregationBucket { event_item_value, count: 7, ..Default::default() };
        line(&ValueRecord { bucket: &bucket, text })
    }

    #[test]
    fn values_are_bytes_for_programs_unless_text_is_wanted() {
        assert_eq!(value(b"ios", false), r#"ios 7 | aW9z 7 | {"event_item_value":"aW9z","count":"7"}"#);
        assert_eq!(value(b"ios", true), r#"ios 7 | ios 7 | {"event_item_value":"ios","count":"7"}"#);
        assert_eq!(
            value(b"\xff", true),
            r#"0xff 7 | /w== 7 | {"event_item_value_base64":"/w==","count":"7"}"#
        );
        assert_eq!(value(b"", true), r#" 7 |  7 | {"event_item_value":"","count":"7"}"#);
    }

    #[test]
    fn counts_stretches_and_numbers() {
        assert_eq!(line(&CountRecord(5)), r#"5 | 5 | {"count":"5"}"#);
        let at = |seconds| Some(prost_types::Timestamp { seconds, nanos: 0 });
        let time_interval = Some(v1::TimeInterval { start: at(0), end: at(60) });
        let bucket = v1::AggregationBucket { time_interval, count: 3, ..Default::default() };
        let shown = "1970-01-01T00:00:00Z 1970-01-01T00:01:00Z 3";
        assert!(
            line(&StretchRecord(&bucket)).starts_with(&format!("{shown} | {shown} | {{\"time_interval\""))
        );
        let stats = v1::Stats { count: 2, min: Some(-0.5), max: Some(3.0), sum: 2.5 };
        assert_eq!(
            line(&StatsRecord(&stats)),
            r#"2 -0.5 3 2.5 | 2 -0.5 3 2.5 | {"count":"2","min":-0.5,"max":3.0,"sum":2.5}"#
        );
        assert_eq!(line(&StatsRecord(&v1::Stats::default())), "0   0 | 0   0 | {}");
    }
}
