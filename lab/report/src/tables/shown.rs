//! What of a table people see: few rows, the columns that tell something, and said once what all
//! rows share. The TSV has everything.

use super::{Entry, Table};

/// A table of no more rows and cells is shown whole.
const ROWS: usize = 12;
const CELLS: usize = 72;
/// Of others people see so many rows, or fewer where they are wide.
const ROWS_OF_LONG: usize = 5;
const CELLS_OF_LONG: usize = 30;
const FEWEST_ROWS: usize = 4;
/// What so many rows share is said once, below them.
const FEWEST_TO_SHARE: usize = 4;
/// By key: a column that stays although all of its rows say the same.
const NEVER_SHARED: [&str; 1] = ["outcome"];

/// A table for people.
pub(crate) struct Shown {
    markdown: String,
    /// "pairs 12": what every row shown has.
    shared: Vec<String>,
    /// Rows that stand in the TSV alone.
    pub(crate) left_out: usize,
}

impl Shown {
    /// The table, with what its rows share and one sentence more below it.
    pub(crate) fn with_note(self, note: Option<String>) -> String {
        let shared = self.shared.join(", ");
        let shared = (!shared.is_empty()).then(|| format!("In every row above: {shared}."));
        let notes: Vec<String> = shared.into_iter().chain(note).collect();
        match notes.is_empty() {
            true => self.markdown,
            false => format!("{}\n{}\n", self.markdown, notes.join(" ")),
        }
    }
}

impl Table {
    /// For people, with every row.
    pub fn markdown(&self) -> String {
        self.shown(self.rows.len()).with_note(None)
    }

    /// For people, with as many rows as they will read.
    pub(crate) fn short(&self) -> Shown {
        let width = self.columns.iter().filter(|(title, _)| !title.is_empty()).count().max(1);
        let all = self.rows.len();
        let is_short = all <= ROWS && all * width <= CELLS;
        self.shown(match is_short {
            true => all,
            false => (CELLS_OF_LONG / width).clamp(FEWEST_ROWS, ROWS_OF_LONG),
        })
    }

    fn shown(&self, most: usize) -> Shown {
        let rows = self.chosen(most);
        let (columns, shared) = self.columns_for(&rows);
        let titles = columns.iter().map(|column| self.columns[*column].0.clone());
        let mut markdown = line(titles);
        let is_text = |column: &usize| {
            rows.iter().any(|row| matches!(row.get(*column), Some(Entry::Text(_))))
        };
        // Numbers to the right.
        let rules = columns.iter().map(|c| if is_text(c) { "---|" } else { "---:|" });
        markdown.push_str(&format!("|{}\n", rules.collect::<String>()));
        for row in &rows {
            markdown.push_str(&line(columns.iter().map(|column| row[*column].markdown())));
        }
        Shown { markdown, shared, left_out: self.rows.len() - rows.len() }
    }

    /// Where not all rows are shown, those of declared questions, and only without any the first.
    fn chosen(&self, most: usize) -> Vec<&Vec<Entry>> {
        let is_cut = self.rows.len() > most && !self.asked.is_empty();
        let places = (0..self.rows.len()).filter(|place| !is_cut || self.asked.contains(place));
        places.take(most).map(|place| &self.rows[place]).collect()
    }

    /// The columns that are shown, and what the others say in every row.
    fn columns_for(&self, rows: &[&Vec<Entry>]) -> (Vec<usize>, Vec<String>) {
        let (mut shown, mut shared) = (Vec::new(), Vec::new());
        for (place, (title, key)) in self.columns.iter().enumerate() {
            if title.is_empty() {
                continue;
            }
            let mut texts: Vec<String> = rows.iter().map(|row| row[place].markdown()).collect();
            texts.dedup();
            let can_share = rows.len() >= FEWEST_TO_SHARE && !NEVER_SHARED.contains(&key.as_str());
            match texts.as_slice() {
                [one] if !shown.is_empty() && ["", "–"].contains(&one.as_str()) => {}
                [one] if !shown.is_empty() && can_share => shared.push(format!("{title} {one}")),
                _ => shown.push(place),
            }
        }
        (shown, shared)
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapter::Column::{Count, Text, Words};

    fn table(rows: usize) -> Table {
        Table::over(
            0..rows,
            &[
                Count("row", "row", &|row| *row),
                Count("blocks", "n", &|_| 10),
                Text("note", "note", &|_| ""),
                Text("outcome", "outcome", &|_| "faster"),
                Count("", "unrounded", &|row| *row),
                Words("short", "", &|row| format!("about {row}")),
            ],
        )
    }

    #[test]
    fn what_all_rows_share_is_said_once() {
        let expected = "| row | outcome | short |\n|---:|---|---|\n| 0 | faster | about 0 |\n\
                        | 1 | faster | about 1 |\n| 2 | faster | about 2 |\n\
                        | 3 | faster | about 3 |\n\nIn every row above: blocks 10.\n";
        assert_eq!(table(4).markdown(), expected);
        assert!(table(2).markdown().contains("| 1 | 10 | faster | about 1 |"));
    }

    #[test]
    fn the_tsv_has_every_row_and_every_key() {
        let text = table(40).tsv();
        assert!(text.starts_with("row\tn\tnote\toutcome\tunrounded\n0\t10\t\tfaster\t0\n"));
        assert_eq!(text.lines().count(), 41);
    }

    #[test]
    fn a_long_table_shows_what_was_asked_and_counts_the_rest() {
        let mut table = table(40);
        assert_eq!(table.short().left_out, 35);
        table.asked.extend([20, 39]);
        let shown = table.short();
        assert_eq!(shown.left_out, 38);
        let rows: Vec<&str> = shown.markdown.lines().skip(2).collect();
        assert!(rows[0].starts_with("| 20 ") && rows[1].starts_with("| 39 "), "{rows:?}");
    }

    #[test]
    fn a_wide_table_shows_fewer_rows() {
        let titles: Vec<String> = (0..20).map(|column| format!("c{column}")).collect();
        let columns: Vec<(&str, &str)> =
            titles.iter().map(|title| (title.as_str(), title.as_str())).collect();
        let mut wide = Table::new(&columns);
        (0..20).for_each(|row| wide.row((0..20).map(|c| Entry::count(row + c)).collect()));
        assert_eq!(wide.short().left_out, 16);
    }
}
