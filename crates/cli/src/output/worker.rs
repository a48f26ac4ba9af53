//! Servers as rows, and the queue between them as a line.

use std::time::Duration;

use api::admin::v1::{Queue, Worker};

use super::list::Record;
use super::{Json, value};
use crate::failure::Failure;

/// A server in a list.
#[derive(Debug)]
pub(crate) struct WorkerRecord<'a>(pub &'a Worker);

impl Record for WorkerRecord<'_> {
    const COLUMNS: &'static [&'static str] =
        &["SERVER", "ADDRESS", "VERSION", "ROLES", "EPOCH", "LEASE", "SILENT", ""];
    const FIELDS: &'static [&'static str] =
        &["server_id", "address", "version", "roles", "started", "epoch", "silent", "leased", "here"];

    fn row(&self) -> Vec<String> {
        let whole = Duration::from_secs(value::from_wire(self.0.silent).as_secs());
        vec![
            value::printable(&self.0.server_id).into_owned(),
            value::printable(&self.0.address).into_owned(),
            value::printable(&self.0.version).into_owned(),
            value::printable(&self.0.roles.join(",")).into_owned(),
            self.0.epoch.to_string(),
            if self.0.leased { "yes" } else { "no" }.to_owned(),
            value::duration(whole),
            if self.0.here { "here" } else { "" }.to_owned(),
        ]
    }

    fn lines(&self) -> Vec<Vec<String>> {
        vec![vec![
            self.0.server_id.clone(),
            self.0.address.clone(),
            self.0.version.clone(),
            self.0.roles.join(" "),
            value::time(self.0.started),
            self.0.epoch.to_string(),
            value::duration(value::from_wire(self.0.silent)),
            self.0.leased.to_string(),
            self.0.here.to_string(),
        ]]
    }

    fn json(&self, json: &Json) -> Result<Vec<u8>, Failure> {
        json.message(self.0)
    }
}

/// How split workers hear of wide partitions.
pub(crate) fn queue_line(queue: &Queue) -> String {
    let dropped = match queue.dropped {
        0 => String::new(),
        dropped => format!("; the server that answered has dropped {dropped}, which later reads find again"),
    };
    if queue.topic.is_empty() {
        return format!("detections: by the store itself{dropped}\n");
    }
    let (topic, group) = (value::printable(&queue.topic), value::printable(&queue.group));
    let known = match (queue.lag, queue.dead_letters) {
        (Some(lag), Some(dead)) => format!("{lag} wait, {dead} dead letters"),
        _ => format!("not known how many wait: {}", value::printable(&queue.problem)),
    };
    format!("detections: by {} topic {topic}, group {group}; {known}{dropped}\n", queue.backend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_is_and_what_it_knows() {
        let worker = Worker {
            server_id: "s1".to_owned(),
            address: "10.0.0.5:7420".to_owned(),
            version: "0.1.0".to_owned(),
            roles: vec!["api".to_owned(), "slice_keeper".to_owned()],
            started: Some(prost_types::Timestamp { seconds: 1_778_457_600, nanos: 0 }),
            epoch: 7,
            silent: Some(prost_types::Duration { seconds: 62, nanos: 5 }),
            leased: true,
            here: true,
        };
        let record = WorkerRecord(&worker);
        assert_eq!(record.row().join(" "), "s1 10.0.0.5:7420 0.1.0 api,slice_keeper 7 yes 1m2s here");
        assert_eq!(
            record.lines().concat().join(","),
            "s1,10.0.0.5:7420,0.1.0,api slice_keeper,2026-05-11T00:00:00Z,7,1m2s5ns,true,true"
        );
        assert_eq!(record.lines().concat().len(), WorkerRecord::FIELDS.len());
        assert_eq!(record.row().len(), WorkerRecord::COLUMNS.len());
        let other = Worker { leased: false, here: false, ..worker };
        assert_eq!(WorkerRecord(&other).row()[5..], ["no", "1m2s", ""]);
    }

    #[test]
    fn the_queue_says_how_it_stands_or_why_nobody_knows() {
        let kafka = Queue {
            backend: "kafka".to_owned(),
            topic: "t".to_owned(),
            group: "g".to_owned(),
            lag: Some(3),
            dead_letters: Some(0),
            ..Queue::default()
        };
        let lost = Queue { lag: None, problem: "nobody answers".to_owned(), dropped: 7, ..kafka.clone() };
        let cases = [
            (
                Queue { backend: "embedded".to_owned(), ..Queue::default() },
                "detections: by the store itself\n",
            ),
            (kafka, "detections: by kafka topic t, group g; 3 wait, 0 dead letters\n"),
            (
                lost,
                "detections: by kafka topic t, group g; not known how many wait: nobody answers; the server that answered has \
                 dropped 7, which later reads find again\n",
            ),
        ];
        for (queue, line) in cases {
            assert_eq!(queue_line(&queue), line);
        }
    }
}
