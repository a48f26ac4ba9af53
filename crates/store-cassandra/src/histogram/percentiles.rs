//! What `nodetool` prints about the partitions of a table, and how the words of several nodes become one. Pure.
//!
//! The tool has no form for programs. Columns are found by their header, since they have moved between releases, and
//! sizes are whole numbers, so that no decimal sign of any locale is in the way.

use model::{HistogramQuality, SizeHistogram, SizeSummary};

const COLUMN: &str = "Partition Size";
const PARTITIONS: &str = "Number of partitions (estimate):";

/// Reads the sizes in the output of `tablehistograms`; none where the table has no file. The number of partitions is not in
/// there.
pub(super) fn sizes(output: &str) -> Result<Option<SizeSummary>, String> {
    let mut lines = output.lines();
    let header = lines.find(|line| line.trim_start().starts_with("Percentile"));
    let columns = header.ok_or("there is no line of headers")?.split("  ").map(str::trim);
    let column = columns.filter(|name| !name.is_empty()).position(|name| name == COLUMN);
    let column = column.ok_or_else(|| format!("there is no column `{COLUMN}`"))?;
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let cell = |name: &str| {
        let row = rows.iter().find(|row| row.first().is_some_and(|first| *first == name));
        let cell = row.and_then(|row| row.get(column));
        cell.copied().ok_or_else(|| format!("there is no `{name}` under `{COLUMN}`"))
    };
    let names = ["50%", "75%", "95%", "98%", "99%", "Min", "Max"];
    let cells: Vec<&str> = names.into_iter().map(cell).collect::<Result<_, _>>()?;
    // Without a file there is no number at all.
    if cells.iter().all(|cell| cell.parse::<u64>().is_err()) {
        return Ok(None);
    }
    let numbers = cells.iter().map(|cell| cell.parse::<u64>()).collect::<Result<Vec<_>, _>>();
    match numbers.as_deref() {
        Ok([p50, p75, p95, p98, p99, min, max]) => Ok(Some(SizeSummary {
            p50: *p50,
            p75: *p75,
            p95: *p95,
            p98: *p98,
            p99: *p99,
            min: *min,
            max: *max,
            partitions: 0,
        })),
        _ => Err(format!("not all of {} are sizes", cells.join(", "))),
    }
}

/// Reads the number of partitions in the output of `tablestats`.
pub(super) fn partitions(output: &str) -> Result<u64, String> {
    let found = output.lines().find_map(|line| line.trim().strip_prefix(PARTITIONS));
    let found = found.ok_or_else(|| format!("there is no line `{PARTITIONS}`"))?.trim();
    found.parse().map_err(|_| format!("`{found}` is no number of partitions"))
}

/// What nodes say, as one. The summary of a single node with files stays as it is; several cannot be added up, so their
/// steps are, and the outcome is an estimate.
pub(super) fn together(nodes: &[SizeSummary]) -> (SizeHistogram, SizeSummary, HistogramQuality) {
    let mut sizes = SizeHistogram::default();
    nodes.iter().for_each(|node| sizes.merge(&steps(node)));
    if let [only] = nodes {
        return (sizes, *only, HistogramQuality::PerFile);
    }
    let quality = if nodes.is_empty() { HistogramQuality::PerFile } else { HistogramQuality::Estimated };
    let min = nodes.iter().map(|node| node.min).min().unwrap_or(0);
    let summary = SizeSummary { min, ..sizes.summary() };
    (sizes, summary, quality)
}

/// Partitions as large as the summary allows: one at the smallest size, the others each at the next step.
fn steps(summary: &SizeSummary) -> SizeHistogram {
    let SizeSummary { p50, p75, p95, p98, p99, min, max, partitions } = *summary;
    let mut sizes = SizeHistogram::default();
    let mut seen = u64::from(partitions > 1);
    sizes.record_many(min, seen);
    for (percent, size) in [(50, p50), (75, p75), (95, p95), (98, p98), (99, p99), (100, max)] {
        let rank = (u128::from(partitions) * percent).div_ceil(100);
        let upto = u64::try_from(rank).unwrap_or(u64::MAX);
        sizes.record_many(size, upto.saturating_sub(seen));
        seen = seen.max(upto);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Cassandra 5.0.8 printed it.
    const PRINTED: &str = "\
suite_orders_1/data_20260328 histograms
Percentile      Read Latency     Write Latency          SSTables    Partition Size        Cell Count
                    (micros)          (micros)                             (bytes)                  
50%                     0.00             20.50              0.00              3311                 1
75%                     0.00             24.60              0.00              3973                 2
95%                     0.00             42.51              0.00             10090                 3
98%                     0.00             61.21              0.00             20924                 5
99%                     0.00             73.46              0.00             25109                 6
Min                     0.00             14.24              0.00              2760                 0
Max                     0.00           4055.27              0.00           5839588             1109

";

    fn summary() -> SizeSummary {
        SizeSummary {
            p50: 3_311,
            p75: 3_973,
            p95: 10_090,
            p98: 20_924,
            p99: 25_109,
            min: 2_760,
            max: 5_839_588,
            partitions: 0,
        }
    }

    #[test]
    fn sizes_are_read_by_the_header() {
        assert_eq!(sizes(PRINTED), Ok(Some(summary())));
        // Of another release, with the columns in another order and decimal commas.
        let swap = |line: &str| {
            let (name, rest) = line.split_at(10);
            let columns: Vec<&str> =
                rest.as_bytes().chunks(18).map(|c| std::str::from_utf8(c).unwrap()).collect();
            match columns.as_slice() {
                [read, write, sstables, size, cells] => format!("{name}{sstables}{size}{read}{write}{cells}"),
                _ => line.to_owned(),
            }
        };
        let swapped: Vec<String> =
            PRINTED.lines().map(|line| if line.len() > 90 { swap(line) } else { line.into() }).collect();
        assert_eq!(sizes(&swapped.join("\n").replace('.', ",")), Ok(Some(summary())));
    }

    #[test]
    fn a_table_without_files_has_no_sizes() {
        let mut text =
            "No SSTables exists, unable to calculate 'Partition Size' and 'Cell Count' percentiles\n\n"
                .to_owned();
        for line in PRINTED.lines() {
            let cut = if line.contains("0.00") { line.get(..64).unwrap() } else { line };
            let nan = if line.contains("0.00") { "               NaN               NaN" } else { "" };
            text.push_str(&format!("{cut}{nan}\n"));
        }
        assert_eq!(sizes(&text), Ok(None));
    }

    #[test]
    fn what_is_not_there_is_named() {
        assert_eq!(sizes(""), Err("there is no line of headers".to_owned()));
        assert_eq!(
            sizes(&PRINTED.replace(COLUMN, "Row Size")),
            Err("there is no column `Partition Size`".to_owned())
        );
        assert_eq!(
            sizes(&PRINTED.replace("98%", "97%")),
            Err("there is no `98%` under `Partition Size`".to_owned())
        );
        // Partitions beyond what Cassandra counts: it says the smallest and the largest only.
        let beyond = sizes(&PRINTED.replace("3311", " NaN")).unwrap_err();
        assert!(beyond.starts_with("not all of NaN, 3973"), "{beyond}");
    }

    #[test]
    fn the_number_of_partitions_is_read_by_its_name() {
        let stats = "\t\tTable: data_20260328\n\t\tNumber of partitions (estimate): 601\n\t\tMemtable cell count: 7\n";
        assert_eq!(partitions(stats), Ok(601));
        assert!(partitions("Number of partitions (estimate): NaN").is_err());
        assert!(partitions("").is_err());
    }

    #[test]
    fn one_node_is_told_as_it_is_and_several_are_estimated() {
        let one = SizeSummary { partitions: 1_000, ..summary() };
        let (sizes, shown, quality) = together(&[one]);
        assert_eq!((shown, quality), (one, HistogramQuality::PerFile));
        assert_eq!((sizes.count(), sizes.max()), (1_000, 5_839_588));
        let smaller = SizeSummary {
            p50: 100,
            p75: 100,
            p95: 100,
            p98: 100,
            p99: 100,
            min: 90,
            max: 100,
            partitions: 3_000,
        };
        let (sizes, shown, quality) = together(&[one, smaller]);
        assert_eq!((sizes.count(), quality), (4_000, HistogramQuality::Estimated));
        assert_eq!((shown.min, shown.p50, shown.max, shown.partitions), (90, 103, 5_839_588, 4_000));
        assert_eq!(
            together(&[]),
            (SizeHistogram::default(), SizeSummary::default(), HistogramQuality::PerFile)
        );
    }

    #[test]
    fn steps_have_as_many_partitions_as_there_are() {
        for partitions in [0, 1, 2, 3, 7, 100, 12_345] {
            let sizes = steps(&SizeSummary { partitions, ..summary() });
            assert_eq!(sizes.count(), partitions);
        }
    }
}
