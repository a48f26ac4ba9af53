//! What a server tells about its store calls on `/metrics`. Pure.

use anyhow::{Context, Result};

const BUCKET: &str = "braid_store_call_duration_seconds_bucket{";
const SCAN: &str = "op=\"scan\"";

/// No scan took longer than this: the upper edge of the highest bucket that has one. Infinite above the last edge.
pub(crate) fn slowest_scan_seconds(metrics: &str) -> Result<f64> {
    let mut edges: Vec<(f64, u64)> = metrics.lines().filter_map(scans_within).collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all = edges.last().map(|(_, count)| *count).filter(|count| *count > 0);
    let all = all.context("/metrics counts no scan")?;
    let (edge, _) = edges.iter().find(|(_, count)| *count == all).context("/metrics has no buckets")?;
    Ok(*edge)
}

/// An edge, and how many scans took no longer.
fn scans_within(line: &str) -> Option<(f64, u64)> {
    let (labels, count) = line.strip_prefix(BUCKET)?.split_once("} ")?;
    let edge = labels.split(',').find_map(|label| label.strip_prefix("le=\"")?.strip_suffix('"'))?;
    let edge = if edge == "+Inf" { f64::INFINITY } else { edge.parse().ok()? };
    labels.split(',').any(|label| label == SCAN).then_some((edge, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expect: Option<f64>) {
        let text: String = lines
            .iter()
            .map(|line| format!("braid_store_call_duration_seconds_bucket{{{line}\n"))
            .chain(["braid_store_call_duration_seconds_count{op=\"scan\"} 9\n".to_owned()])
            .collect();
        assert_eq!(slowest_scan_seconds(&text).ok(), expect);
    }

    #[test]
    fn the_slowest_scan_is_in_the_highest_bucket_that_counts_one_more() {
        let others = ["le=\"0.1\",op=\"upsert\"} 0", "le=\"+Inf\",op=\"upsert\"} 7"];
        let scans = |last| {
            let scans =
                ["le=\"0.1\",op=\"scan\"} 3", "le=\"0.2\",op=\"scan\"} 5", "op=\"scan\",le=\"0.4\"} 5", last];
            [others.as_slice(), &scans].concat()
        };
        check(&scans("le=\"+Inf\",op=\"scan\"} 5"), Some(0.2));
        check(&scans("le=\"+Inf\",op=\"scan\"} 6"), Some(f64::INFINITY));
        check(&others, None);
        check(&["le=\"0.1\",op=\"scan\"} 0", "le=\"+Inf\",op=\"scan\"} 0"], None);
    }
}
