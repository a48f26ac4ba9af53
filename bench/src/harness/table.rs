//! Columns of text: the first to the left, the others to the right. Pure.

/// Renders rows under a header, every line indented by two and ended.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = header.iter().map(|title| (*title).to_owned()).collect();
    let lines = || std::iter::once(&head).chain(rows);
    let width = |column: usize| {
        lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    lines().map(|line| render(line, &widths)).collect()
}

fn render(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let padded = if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        line.push_str("  ");
        line.push_str(&padded);
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["store", "1.0", "ok"], ["a longer name", "1000.0", ""]];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(|s| (*s).to_owned()).collect()).collect();
        let expect =
            "  side             rate  word\n  store             1.0    ok\n  a longer name  1000.0\n";
        assert_eq!(table(&["side", "rate", "word"], &rows), expect);
    }
}
