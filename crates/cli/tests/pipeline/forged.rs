//! Detections that no read has made: of what is not there, of what is not wide, twice, and in the wrong order. A detection is a
//! hint: the planner looks for itself.

use std::io::{Read, Write};
use std::net::TcpStream;

use queue_kafka::{Detection, Options, QueueMetrics, Sender};

use crate::fleet::{Fleet, SEEN_WITHIN};
use crate::live::NAMESPACE;
use crate::wide::{SMALL, Wide, series};

const UNKNOWN: &str = "braid_queue_received_total{outcome=\"unknown\"} ";

/// Nobody has read the partition `unread`.
pub(crate) async fn play(fleet: &Fleet, wide: &Wide, unread: usize) {
    fleet.say("forged detections");
    let before = unknown(fleet);
    let real = forged(wide, &series(unread));
    let absent = [
        Detection { namespace: "nobody".to_owned(), ..real.clone() },
        Detection { time_slice: "data_19700101".to_owned(), ..real.clone() },
        Detection { event_bucket: 7, ..real.clone() },
    ];
    let open = Detection { immutable: false, bytes_read: real.bytes_read / 2, ..real.clone() };
    let completed = forged(wide, &series(0));
    let real = [real.clone(), real, open, completed.clone(), completed, forged(wide, SMALL)];
    tell(fleet, absent.iter().chain(&real)).await;
    let counted = async || (unknown(fleet) >= before + absent.len()).then_some(());
    fleet.until("what is not there is counted", counted).await;
    wide.reaches(fleet, SMALL, &["REJECTED"]).await;
    wide.reaches(fleet, &series(unread), &["COMPLETED"]).await;
    wide.equal(fleet, &series(unread)).await;
    wide.equal(fleet, &series(0)).await;
}

/// Sends detections as a server does that has read.
pub(crate) async fn tell(fleet: &Fleet, detections: impl IntoIterator<Item = &Detection>) {
    let options = Options { bootstrap_servers: vec![fleet.brokers()], ..Options::default() };
    let sender = Sender::new(&options, &QueueMetrics::default(), || panic!("the broker is there")).unwrap();
    for detection in detections {
        sender.send(detection);
    }
    sender.flush(&fleet.env, SEEN_WITHIN).await;
}

pub(crate) fn forged(wide: &Wide, series: &str) -> Detection {
    let (time_slice, time_bucket) = wide.bucket.clone();
    Detection {
        namespace: NAMESPACE.to_owned(),
        time_slice,
        time_series_id: series.to_owned(),
        time_bucket: u32::try_from(time_bucket).unwrap(),
        event_bucket: 0,
        immutable: true,
        version: "0".to_owned(),
        bytes_read: 1 << 30,
    }
}

/// Detections that workers have called unknown.
fn unknown(fleet: &Fleet) -> usize {
    fleet.worker_addresses().iter().map(|address| unknown_at(address)).sum()
}

/// The same of one worker.
pub(crate) fn unknown_at(address: &str) -> usize {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: braid\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(UNKNOWN));
    line.unwrap_or_else(|| panic!("{UNKNOWN} is not in {text}")).parse().unwrap()
}
