//! CSV as files have it: quotes, ends of lines, blank lines, cells that are missing or too long.

use super::*;

/// Everything found, a line each.
fn read_with(text: &[u8], record_bytes_max: usize) -> Vec<String> {
    // A buffer of 5 bytes makes lines cross its end.
    let reader = io::BufReader::with_capacity(5, text);
    let mut source = Csv::with_limit(reader, 2, record_bytes_max);
    let mut found = Vec::new();
    while let Some((place, what)) = source.next() {
        assert_eq!(place.input, 2);
        let shown = match what {
            Found::Event(event) => show(&event),
            Found::Bad(problem) => format!("bad: {problem}"),
        };
        found.push(format!("{}: {shown}", place.line));
    }
    assert!(source.next().is_none());
    found
}

fn show(event: &v1::Event) -> String {
    let time = event.event_time.unwrap();
    let id = if event.event_id.len() == 32 { "derived" } else { &event.event_id };
    let items = event.event_items.iter();
    let items =
        items.map(|item| format!(" {}={}", item.event_item_key, item.event_item_value.escape_ascii()));
    format!("{}@{}.{} {id}{}", event.time_series_id, time.seconds, time.nanos, items.collect::<String>())
}

fn read(text: &str) -> Vec<String> {
    read_with(text.as_bytes(), LINE_BYTES_MAX)
}

#[test]
fn every_other_column_is_an_item_and_an_empty_cell_is_none() {
    let text = "event_id,time_series_id,device,event_time,kind\n\
                e1,s1,ios,1970-01-01T00:00:01.5Z,play\n\
                e2,s2,,1970-01-01T00:00:02Z,\"a, \"\"b\"\"\"\n";
    assert_eq!(read(text), ["2: s1@1.500000000 e1 device=ios kind=play", "3: s2@2.0 e2 kind=a, \\\"b\\\""]);
}

#[test]
fn records_are_named_by_the_line_on_which_they_start() {
    let head = "time_series_id,event_time,x";
    let record = |id: &str, x: &str| format!("{id},1970-01-01T00:00:01Z,{x}");
    let (one, two) = (record("a", "1"), record("b", "\"2\n\n2\""));
    let (three, four) = (record("c", "3"), record("d", "4"));
    let found = [
        "3: a@1.0 derived x=1",
        "5: b@1.0 derived x=2\\n\\n2",
        "8: c@1.0 derived x=3",
        "11: d@1.0 derived x=4",
    ];
    let text = format!("\n{head}\n{one}\n\n{two}\n{three}\n\n\n{four}");
    assert_eq!(read(&text), found);
    assert_eq!(read(&format!("{text}\n")), found);
    let crlf = text.replace('\n', "\r\n");
    let found_crlf: Vec<String> = found.iter().map(|line| line.replace("\\n", "\\r\\n")).collect();
    assert_eq!(read(&crlf), found_crlf);
    assert_eq!(read(&format!("{crlf}\r\n\r\n")), found_crlf);
}

#[test]
fn bad_records_are_named_and_the_rest_is_read() {
    let text = "time_series_id,event_time,x\n\
                a,now-1h,1\n\
                b,1970-01-01T00:00:01Z\n\
                c,1970-01-01T00:00:01Z,1,\"2\n\"\n\
                d,1970-01-01T01:00:00+01:00,1\n\
                e, 5.25 ,1\n";
    assert_eq!(
        read(text),
        [
            "2: bad: event_time is `now-1h`; write it as 2026-03-28T14:00:00.5Z or 1774706400.5",
            "3: bad: the record has 2 cells and the header 3; quote cells with commas",
            "4: bad: the record has 4 cells and the header 3; quote cells with commas",
            "6: d@0.0 derived x=1",
            "7: e@5.250000000 derived x=1",
        ]
    );
    let wild = b"time_series_id,event_time,x\n\xFF,1970-01-01T00:00:01Z,1\na,1970-01-01T00:00:01Z,\xFF\n";
    let found = read_with(wild, LINE_BYTES_MAX);
    assert_eq!(found, ["2: bad: time_series_id is not UTF-8; write it as UTF-8", "3: a@1.0 derived x=\\xff"]);
}

#[test]
fn times_before_1970_keep_their_fraction() {
    let text = "time_series_id,event_time\na,1969-12-31T23:59:59.25Z\n";
    assert_eq!(read(text), ["2: a@-1.250000000 derived"]);
}

#[test]
fn a_header_that_lacks_a_column_is_one_error() {
    let found = read("time,id\n1,2\n3,4\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("1: bad: the header has no column time_series_id"), "{}", found[0]);
    assert!(found[0].ends_with("it has: time, id"), "{}", found[0]);
    assert_eq!(read(""), [""; 0]);
    assert_eq!(read("time_series_id,event_time\n"), [""; 0]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_header() {
    assert_eq!(read("\u{feff}time_series_id,event_time\na,1970-01-01T00:00:01Z\n"), ["2: a@1.0 derived"]);
}

#[test]
fn a_record_without_end_stops_the_reading() {
    let text = format!("time_series_id,event_time,x\na,1970-01-01T00:00:01Z,\"{}", "open\n".repeat(40));
    let found = read_with(text.as_bytes(), 100);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("is the end of a quoted cell missing?"), "{found:?}");
    // A whole record under the limit passes, and the limit is for each record.
    let fine = format!("time_series_id,event_time,x\n{}", "a,1970-01-01T00:00:01Z,1\n".repeat(40));
    assert_eq!(read_with(fine.as_bytes(), 100).len(), 40);
}

#[test]
fn derived_ids_are_the_same_in_every_run_and_follow_the_content() {
    let ids = |text: &str| {
        let mut source = Csv::new(text.as_bytes(), 0, false);
        let mut ids = Vec::new();
        while let Some((_, Found::Event(event))) = source.next() {
            ids.push(event.event_id);
        }
        ids
    };
    let text = "time_series_id,event_time,x\na,1970-01-01T00:00:01Z,1\na,1970-01-01T00:00:01Z,2\n";
    let found = ids(text);
    assert_eq!(found, ids(text));
    assert_ne!(found[0], found[1]);
    // The same event, written in another way.
    let other = "event_time,time_series_id,x\n1970-01-01T01:00:01+01:00,a,\"1\"\n";
    assert_eq!(found[0], ids(other)[0]);
}

#[test]
fn one_item_a_record_as_get_writes_it() {
    let read = |text: &str, plain: bool| {
        let mut source = Csv::new(text.as_bytes(), 0, plain);
        let mut found = Vec::new();
        while let Some((place, what)) = source.next() {
            found.push(match what {
                Found::Event(event) => format!("{}: {}", place.line, show(&event)),
                Found::Bad(problem) => format!("{}: bad: {problem}", place.line),
            });
        }
        found
    };
    let text = "time_series_id,event_time,event_id,event_item_key,event_item_value\n\
                s,1,e,device,aW9z\n\
                s,1,e,empty,\n\
                s,1,e,title,The Crown\n";
    let found = read(text, false);
    assert_eq!(found[..2], ["2: s@1.0 e device=ios", "3: s@1.0 e empty="]);
    assert!(found[2].starts_with("4: bad: event_item_value is not base64 ("), "{}", found[2]);
    assert!(found[2].ends_with("; where values are plain text, add --text"), "{}", found[2]);
    assert_eq!(read(text, true)[2], "4: s@1.0 e title=The Crown");
}
