//! Event ids for inputs that have none: a fingerprint of what the event says.
//!
//! The same content has the same id in every run and every version, so that an import can be run again without writing
//! anything twice. Two lines that say the same thing are one event. The function must never change.

use api::v1;

/// The id of an event that has none, as 32 hexadecimal digits.
pub(crate) fn derived(event: &v1::Event) -> String {
    let mut print = Fingerprint::new();
    print.part(event.time_series_id.as_bytes());
    let time = event.event_time.unwrap_or_default();
    print.part(&time.seconds.to_be_bytes());
    print.part(&time.nanos.to_be_bytes());
    for item in &event.event_items {
        print.part(item.event_item_key.as_bytes());
        print.part(&item.event_item_value);
    }
    format!("{:032x}", print.state)
}

/// FNV-1a of 128 bits: short enough to stand here, so that no other crate's choice can change it.
struct Fingerprint {
    state: u128,
}

impl Fingerprint {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
    const START: u128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D;

    const fn new() -> Self {
        Self { state: Self::START }
    }

    /// Takes the length first, so that the ends of parts matter.
    fn part(&mut self, bytes: &[u8]) {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.bytes(&length.to_be_bytes());
        self.bytes(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = (self.state ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(series: &str, seconds: i64, items: &[(&str, &str)]) -> v1::Event {
        let item = |(key, value): &(&str, &str)| v1::EventItem {
            event_item_key: (*key).to_owned(),
            event_item_value: (*value).to_owned().into(),
            ..v1::EventItem::default()
        };
        v1::Event {
            time_series_id: series.to_owned(),
            event_time: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            event_items: items.iter().map(item).collect(),
            ..v1::Event::default()
        }
    }

    /// The published test vectors of the function.
    #[test]
    fn the_function_is_the_known_one() {
        let of = |text: &str| {
            let mut print = Fingerprint::new();
            print.bytes(text.as_bytes());
            format!("{:032x}", print.state)
        };
        assert_eq!(of(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(of("a"), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn every_part_and_every_border_counts() {
        let same = event("s", 1, &[("a", "bc")]);
        assert_eq!(derived(&same), derived(&same.clone()));
        assert_eq!(derived(&same), "9fc5d1c278d029308d4a3f00fe45270b");
        let others = [
            event("t", 1, &[("a", "bc")]),
            event("s", 2, &[("a", "bc")]),
            event("s", 1, &[("ab", "c")]),
            event("s", 1, &[("a", "bd")]),
            event("s", 1, &[("a", "bc"), ("d", "")]),
            event("s", 1, &[]),
        ];
        for other in others {
            assert_ne!(derived(&same), derived(&other), "{other:?}");
        }
    }
}
