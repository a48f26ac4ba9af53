//! Why a choice lost, in words: the one difference that cost it most.

use crate::cost::Trouble;
use crate::forecast::{Forecast, Spread};
use crate::plan::Choice;

/// What a choice costs, part by part, as a mean over the worlds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Parts {
    pub(crate) price: f64,
    pub(crate) shortage: f64,
    pub(crate) trouble: Trouble,
}

/// A way to lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Price,
    Shortage,
    Slow,
    Wide,
    Hot,
    TooLarge,
    TooSmall,
    Asked,
    Tables,
    Late,
}

impl Parts {
    fn faults(&self) -> [(Fault, f64); 10] {
        let Self { price, shortage, trouble } = *self;
        [
            (Fault::Price, price),
            (Fault::Shortage, shortage),
            (Fault::Slow, trouble.slow),
            (Fault::Wide, trouble.wide),
            (Fault::Hot, trouble.hot),
            (Fault::TooLarge, trouble.too_large),
            (Fault::TooSmall, trouble.too_small),
            (Fault::Asked, trouble.asked),
            (Fault::Tables, trouble.tables),
            (Fault::Late, trouble.late),
        ]
    }

    /// What it costs beyond another one, at the part where that is most.
    fn worst_beside(&self, other: &Self) -> Fault {
        let pairs = self.faults().into_iter().zip(other.faults());
        let beyond = pairs.map(|((fault, here), (_, there))| (fault, here - there));
        beyond.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Fault::Price, |(fault, _)| fault)
    }
}

/// Why `loser` lost against `winner`.
pub(crate) fn why(loser: (&Choice, &Parts), winner: (&Choice, &Parts), worlds: usize) -> String {
    let ((lost, costs), (won, than)) = (loser, winner);
    let (here, there) = (&lost.forecast, &won.forecast);
    match costs.worst_beside(than) {
        Fault::Price if lost.shape == won.shape => {
            let more = percent((costs.price - than.price).exp_m1());
            let enough = worlds.saturating_sub(usize::try_from(there.worlds_short).unwrap_or(0));
            format!("it costs {more} more, and the choice is large enough in {enough} of {worlds} worlds")
        }
        Fault::Shortage if lost.shape == won.shape => {
            format!(
                "it is too small in {} of {worlds} worlds instead of {}",
                here.worlds_short, there.worlds_short
            )
        }
        Fault::Price | Fault::Shortage => hardware(here, there),
        Fault::Slow => {
            let (slow, than) = worst(&here.slow_reads_share, &there.slow_reads_share);
            format!(
                "at worst {} of the first pages are later than the SLO allows, instead of {}",
                percent(slow),
                percent(than)
            )
        }
        Fault::Wide => {
            let (wide, than) = worst(&here.split_ids_share, &there.split_ids_share);
            format!(
                "at worst {} of the ids would need splitting, instead of {}",
                percent(wide),
                percent(than)
            )
        }
        Fault::Hot => "single partitions take more events at a time than their replicas can".to_owned(),
        Fault::TooLarge => format!("partitions become larger than they should be: {}", sizes(here, there)),
        Fault::TooSmall => format!("partitions become smaller than they need to be: {}", sizes(here, there)),
        Fault::Asked => format!("a read asks {} partitions", instead(here, there, asked)),
        Fault::Tables => format!("it keeps {} tables instead of {}", here.tables, there.tables),
        Fault::Late => {
            "its wide slices make a wrong shape last longer: a change reaches only slices to come".to_owned()
        }
    }
}

/// A shape that needs more hardware, and of which kind it does so most: in the middle, or where nothing shows there in the
/// worst worlds.
fn hardware(here: &Forecast, there: &Forecast) -> String {
    let middle: [(&str, &str, Kind); 2] = [
        ("more cores", "", |forecast| forecast.cores.p50),
        ("more disk", " GiB", |forecast| forecast.disk_gib.p50),
    ];
    let worst: [(&str, &str, Kind); 2] = [
        ("more cores in the worst worlds", "", |forecast| forecast.cores.p95),
        ("more disk in the worst worlds", " GiB", |forecast| forecast.disk_gib.p95),
    ];
    let times = |kind: Kind| kind(here) / kind(there);
    let shows =
        |(_, _, kind): &(&str, &str, Kind)| times(*kind) > 1.0 && figure(kind(here)) != figure(kind(there));
    let most = |kinds: [(&'static str, &'static str, Kind); 2]| {
        kinds.into_iter().filter(shows).max_by(|a, b| times(a.2).total_cmp(&times(b.2)))
    };
    match most(middle).or_else(|| most(worst)) {
        Some((what, unit, kind)) => format!("it needs {what}: {}{unit}", instead(here, there, kind)),
        None => "it is hardly worse, and only in a few worlds".to_owned(),
    }
}

/// A figure of a forecast.
type Kind = fn(&Forecast) -> f64;

fn asked(forecast: &Forecast) -> f64 {
    forecast.partitions_per_read.p50
}

fn instead(here: &Forecast, there: &Forecast, kind: Kind) -> String {
    format!("{} instead of {}", figure(kind(here)), figure(kind(there)))
}

fn sizes(here: &Forecast, there: &Forecast) -> String {
    let of = |forecast: &Forecast| bytes(forecast.partition_p99_bytes.p50);
    format!("99 in 100 have at most {} instead of {}", of(here), of(there))
}

/// Both in the worlds that are bad for them.
fn worst(here: &Spread, there: &Spread) -> (f64, f64) {
    (here.p95, there.p95)
}

/// A share as people say it.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent >= 10.0 || percent == 0.0 => format!("{percent:.0} %"),
        percent if percent >= 0.1 => format!("{percent:.1} %"),
        percent if percent >= 0.01 => format!("{percent:.2} %"),
        _ => "less than 0.01 %".to_owned(),
    }
}

fn figure(value: f64) -> String {
    if value >= 10.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn bytes(value: f64) -> String {
    let units = [(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    match units.into_iter().find(|(unit, _)| value >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", value / unit),
        None => format!("{value:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_costs_most_beyond_the_other_is_the_fault() {
        let than = Parts { price: 50.0, ..Parts::default() };
        let parts = |price, shortage, slow| Parts {
            price,
            shortage,
            trouble: Trouble { slow, ..Trouble::default() },
        };
        assert_eq!(parts(60.0, 5.0, 1.0).worst_beside(&than), Fault::Price);
        assert_eq!(parts(51.0, 5.0, 1.0).worst_beside(&than), Fault::Shortage);
        assert_eq!(parts(40.0, 0.5, 1.0).worst_beside(&than), Fault::Slow);
    }

    #[test]
    fn figures_are_short() {
        let shares = [0.0, 0.000_04, 0.0004, 0.0123, 0.5].map(percent);
        assert_eq!(shares, ["0 %", "less than 0.01 %", "0.04 %", "1.2 %", "50 %"]);
        assert_eq!([1.04, 61.3].map(figure), ["1.0", "61"]);
        assert_eq!([17.0, 2_048.0, 3e6, 5e9].map(bytes), ["17 B", "2.0 KiB", "2.9 MiB", "4.7 GiB"]);
    }
}
