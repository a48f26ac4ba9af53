//! Events as lines of JSON: one event a line, in the shape that the API answers with. Blank lines are nothing.

use std::io::BufRead;

use api::json::Codec;
use api::v1;
use prost::Message;
use serde_json::Value;

use super::lines::{LINE_BYTES_MAX, Line, Lines};
use super::source::{Found, Place, Source};

/// Some programs put this before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads one event from JSON.
#[derive(Clone, Debug)]
pub(crate) struct EventParser {
    codec: Codec,
    /// Values are plain text and not base64.
    text: bool,
}

impl EventParser {
    /// A parser; with `text`, values are taken as they are written instead of as base64.
    pub(crate) fn new(text: bool) -> Result<Self, String> {
        let codec = Codec::new(api::DESCRIPTORS).map_err(|error| error.to_string())?;
        Ok(Self { codec, text })
    }

    /// Whether values are taken as they are written.
    pub(crate) const fn text(&self) -> bool {
        self.text
    }

    /// The event that `json` says, or what is wrong with it.
    pub(crate) fn parse(&self, json: &[u8]) -> Result<v1::Event, String> {
        if !self.text {
            return self.decode(json).map_err(with_hint);
        }
        // Text cannot pass through base64, so it goes around: taken out before, put back after. What is no JSON is
        // left to the codec, which says so as it always does.
        let Ok(mut value) = serde_json::from_slice::<Value>(json) else {
            return self.decode(json);
        };
        let texts = take_texts(&mut value).unwrap_or_default();
        let mut event = self.decode(value.to_string().as_bytes())?;
        for (item, text) in event.event_items.iter_mut().zip(texts) {
            if let Some(text) = text {
                item.event_item_value = text.into();
            }
        }
        Ok(event)
    }

    fn decode(&self, json: &[u8]) -> Result<v1::Event, String> {
        let bytes =
            self.codec.message_from_json("braid.v1.Event", json).map_err(|error| error.to_string())?;
        v1::Event::decode(bytes.as_slice()).map_err(|error| error.to_string())
    }
}

/// Values that are not base64 are most often text.
fn with_hint(problem: String) -> String {
    let of_value = problem.contains("event_item_value: ") || problem.contains("eventItemValue: ");
    if of_value { format!("{problem}; where values are plain text, add --text") } else { problem }
}

/// Takes the values of the items, in their order, where they are text; whatever else is there stays, to be refused.
/// What `get --text` could not show as text it shows as base64 under another name, and that is taken back here.
fn take_texts(event: &mut Value) -> Option<Vec<Option<String>>> {
    let items = either(event, ["event_items", "eventItems"])?.as_array_mut()?;
    let take = |item: &mut Value| match either(item, ["event_item_value", "eventItemValue"]) {
        Some(Value::String(text)) => Some(std::mem::take(text)),
        Some(_) => None,
        None => {
            let object = item.as_object_mut()?;
            let bytes = object.remove("event_item_value_base64")?;
            object.insert("event_item_value".to_owned(), bytes);
            None
        }
    };
    Some(items.iter_mut().map(take).collect())
}

/// The member that has one of two names.
fn either<'a>(value: &'a mut Value, names: [&str; 2]) -> Option<&'a mut Value> {
    let object = value.as_object_mut()?;
    let name = names.into_iter().find(|name| object.contains_key(*name))?;
    object.get_mut(name)
}

/// The events of one input.
pub(crate) struct Ndjson<R> {
    lines: Lines<R>,
    parser: EventParser,
    input: usize,
    buffer: Vec<u8>,
    ended: bool,
}

impl<R: BufRead> Ndjson<R> {
    /// The events of `reader`, which is the input with the number `input`.
    pub(crate) const fn new(reader: R, input: usize, parser: EventParser) -> Self {
        let lines = Lines::new(reader, LINE_BYTES_MAX);
        Self { lines, parser, input, buffer: Vec::new(), ended: false }
    }

    /// What stands in the line that was just read; none where it is blank.
    fn judge(&self) -> Option<Found> {
        let mut text = self.buffer.as_slice();
        if self.lines.number() == 1 {
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        let text = text.trim_ascii();
        if text.is_empty() {
            return None;
        }
        Some(self.parser.parse(text).map_or_else(Found::Bad, Found::Event))
    }
}

impl<R: BufRead + Send> Source for Ndjson<R> {
    fn next(&mut self) -> Option<(Place, Found)> {
        while !self.ended {
            let line = self.lines.next_into(&mut self.buffer);
            let found = match line {
                Ok(Line::Whole) => self.judge(),
                Ok(Line::TooLong) => {
                    let mebibytes = LINE_BYTES_MAX >> 20;
                    Some(Found::Bad(format!("the line is over {mebibytes} MiB; an event must be shorter")))
                }
                Ok(Line::End) => {
                    self.ended = true;
                    None
                }
                Err(error) => {
                    self.ended = true;
                    Some(Found::Bad(format!("reading stopped after this line: {error}")))
                }
            };
            if let Some(found) = found {
                return Some((Place { input: self.input, line: self.lines.number() }, found));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    fn read(text: &str, as_text: bool) -> Vec<(u64, String)> {
        let parser = EventParser::new(as_text).unwrap();
        let mut source = Ndjson::new(text.as_bytes(), 3, parser);
        let mut found = Vec::new();
        while let Some((place, what)) = source.next() {
            assert_eq!(place.input, 3);
            let shown = match what {
                Found::Event(event) => {
                    let values = event.event_items.iter().map(|item| {
                        format!("{}={}", item.event_item_key, item.event_item_value.escape_ascii())
                    });
                    format!(
                        "{} {} {}",
                        event.time_series_id,
                        event.event_id,
                        values.collect::<Vec<_>>().join(" ")
                    )
                }
                Found::Bad(problem) => format!("bad: {problem}"),
            };
            found.push((place.line, shown));
        }
        assert!(source.next().is_none());
        found
    }

    fn line(id: &str) -> String {
        format!(r#"{{"time_series_id":"{id}","event_time":"2026-03-28T00:00:00Z","event_id":"e"}}"#)
    }

    #[test]
    fn lines_keep_their_numbers_over_blank_and_bad_ones() {
        let text = format!("\n{}\r\n  \r\n{{\n\n\n{}", line("a"), line("b"));
        let found = read(&text, false);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 4, 7]);
        assert_eq!((found[0].1.as_str(), found[2].1.as_str()), ("a e ", "b e "));
        assert!(found[1].1.starts_with("bad: Event: EOF"), "{}", found[1].1);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(read(&format!("\u{feff}{}\n", line("a")), false), [(1, "a e ".to_owned())]);
        assert!(read(&format!("\n\u{feff}{}\n", line("a")), false)[0].1.starts_with("bad: "));
    }

    #[test]
    fn values_are_base64_or_text_as_asked_in_both_spellings() {
        let snake = concat!(
            r#"{"time_series_id":"s","event_id":"e","event_items":["#,
            r#"{"event_item_key":"k","event_item_value":"aW9z"},{"event_item_key":"l"}]}"#
        );
        let camel = concat!(
            r#"{"timeSeriesId":"s","eventId":"e","eventItems":["#,
            r#"{"eventItemKey":"k","eventItemValue":"aW9z"},{"eventItemKey":"l"}]}"#
        );
        for json in [snake, camel] {
            assert_eq!(read(json, false), [(1, "s e k=ios l=".to_owned())]);
            assert_eq!(read(json, true), [(1, "s e k=aW9z l=".to_owned())]);
        }
        let bytes = concat!(
            r#"{"time_series_id":"s","event_id":"e","event_items":["#,
            r#"{"event_item_key":"k","event_item_value_base64":"/w=="},"#,
            r#"{"event_item_key":"l","event_item_value":"t"}]}"#
        );
        assert_eq!(read(bytes, true), [(1, "s e k=\\xff l=t".to_owned())]);
        assert!(read(bytes, false)[0].1.contains("event_item_value_base64"));
        let umlaut = concat!(
            r#"{"time_series_id":"s","event_items":["#,
            r#"{"event_item_key":"k","event_item_value":"größe \"1\"\n"}]}"#
        );
        assert_eq!(read(umlaut, true), [(1, "s  k=gr\\xc3\\xb6\\xc3\\x9fe \\\"1\\\"\\n".to_owned())]);
    }

    #[test]
    fn what_is_wrong_is_named_and_text_is_suggested_where_it_may_help() {
        let plain = r#"{"event_items":[{"event_item_value":"plain text!"}]}"#;
        let problem = &read(plain, false)[0].1;
        assert!(problem.starts_with("bad: event_items[0].event_item_value: "), "{problem}");
        assert!(problem.ends_with("where values are plain text, add --text"), "{problem}");
        for as_text in [false, true] {
            let problem = &read(r#"{"times_series_id":"s"}"#, as_text)[0].1;
            assert!(problem.contains("times_series_id") && !problem.contains("--text"), "{problem}");
        }
        assert!(
            read(r#"{"event_items":[{"event_item_value":5}]}"#, true)[0].1.starts_with("bad: event_items[0]")
        );
        assert!(read("nonsense", true)[0].1.starts_with("bad: "));
        assert!(read(r#"{} {}"#, true)[0].1.starts_with("bad: "));
    }

    #[test]
    fn a_line_over_the_limit_is_bad_and_the_next_is_read() {
        let long = format!("{}\n{}\n", "x".repeat(LINE_BYTES_MAX + 1), line("b"));
        let found = read(&long, false);
        assert_eq!(found[0], (1, "bad: the line is over 4 MiB; an event must be shorter".to_owned()));
        assert_eq!(found[1], (2, "b e ".to_owned()));
    }

    #[test]
    fn an_input_that_fails_ends_with_a_bad_line() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("the disk is gone"))
            }
        }
        let first = format!("{}\n", line("a"));
        let reader = BufReader::new(Read::chain(first.as_bytes(), Broken));
        let mut source = Ndjson::new(reader, 0, EventParser::new(false).unwrap());
        assert!(matches!(source.next(), Some((_, Found::Event(_)))));
        let problem = "reading stopped after this line: the disk is gone".to_owned();
        assert_eq!(source.next(), Some((Place { input: 0, line: 1 }, Found::Bad(problem))));
        assert_eq!(source.next(), None);
    }
}
