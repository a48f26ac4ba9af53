//! Aligned columns, written as rows come: a column is as wide as its widest cell so far, so that a stream of pages needs
//! no memory. Pure text; whoever prints decides whether there is a terminal to fit.

/// What stands between two columns.
const GAP: &str = "  ";
/// No column is padded further than this: one long id must not push the rest off the screen.
const PAD_CHARS_MAX: usize = 48;

/// A table that has been written up to some row.
#[derive(Debug)]
pub(crate) struct Table {
    widths: Vec<usize>,
    /// Lines are cut to this many characters, where there is a terminal.
    width: Option<usize>,
}

impl Table {
    /// A table for lines of at most `width` characters.
    pub(crate) fn new(width: Option<usize>) -> Self {
        Self { widths: Vec::new(), width }
    }

    /// Appends `rows` to `text`; all have the same number of cells. A header is a row like any other.
    pub(crate) fn rows(&mut self, rows: &[Vec<String>], text: &mut String) {
        for row in rows {
            self.widths.resize(self.widths.len().max(row.len()), 0);
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = cell.chars().count().min(PAD_CHARS_MAX).max(*width);
            }
        }
        for row in rows {
            self.row(row, text);
        }
    }

    fn row(&self, row: &[String], text: &mut String) {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&self.widths).enumerate() {
            if at > 0 {
                line.push_str(GAP);
            }
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
        let line = line.trim_end();
        match self.width.filter(|width| line.chars().count() > *width) {
            Some(width) => {
                text.extend(line.chars().take(width.saturating_sub(1)));
                text.push('…');
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn columns_line_up_and_grow_with_later_rows() {
        let mut table = Table::new(None);
        let mut text = String::new();
        table.rows(&[row(["NAME", "KEEP", "NOTE"]), row(["é", "31d", "x"])], &mut text);
        table.rows(&[row(["longer", "", "y"]), row(["a", "b", ""])], &mut text);
        let expect = "\
NAME  KEEP  NOTE
é     31d   x
longer        y
a       b
";
        assert_eq!(text, expect);
    }

    #[test]
    fn lines_are_cut_to_the_terminal_and_one_long_cell_pads_nothing() {
        let mut table = Table::new(Some(12));
        let mut text = String::new();
        table.rows(&[row(["ab", "cdefgh", "ij"]), row(["ab", "cdefgh", "ijé"])], &mut text);
        assert_eq!(text, "ab  cdefgh  \u{2026}\n".replace("  \u{2026}", " \u{2026}").repeat(2));
        let mut table = Table::new(None);
        let mut text = String::new();
        let long = "x".repeat(60);
        table.rows(&[row([&long, "y", ""]), row(["a", "b", ""])], &mut text);
        assert_eq!(text, format!("{long}  y\na{}b\n", " ".repeat(49)));
    }
}
