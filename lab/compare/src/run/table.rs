//! Tables as wide as they have to be, and the values in them: of one candidate the metrics that
//! tell something.

use lab_stats::describe::median;
use unicode_width::UnicodeWidthStr;

use super::{export::column, metric::Metric, record::Round, so_far::SoFar, text::interval};
use crate::{CandidateState, Estimate};

/// The cells of a terminal that a name takes at most, in the head of a column.
const HEAD_CELLS: usize = 24;
/// In a row of its own.
pub(super) const NAME_CELLS: usize = 44;
/// Below this many a count is told as it is: 9 against 1 is no +800 %.
const FEW: f64 = 10.0;

/// A metric of the reference and of one candidate.
pub(crate) struct MetricRow {
    pub(crate) metric: &'static str,
    /// The medians, with their unit.
    pub(crate) medians: [String; 2],
    pub(crate) difference: String,
}

/// The rows of a candidate, the primary metric first.
pub(crate) fn rows(
    candidate: &CandidateState,
    number: usize,
    metrics: &[Metric],
    rounds: &[Round],
) -> Vec<MetricRow> {
    let row = |(place, metric): (usize, Metric)| {
        let estimate = candidate.metrics[place].estimate.as_ref();
        let values = [0, number + 1].map(|command| column(metrics, rounds, command, metric));
        if place > 0 && !estimate.is_some_and(|found| tells(metric, found, &values)) {
            return None;
        }
        let medians = [median(&values[0])?, median(&values[1])?];
        let difference = match estimate {
            _ if candidate.endings.is_some() => "-".to_owned(),
            _ if is_near_nothing(metric, medians) => counts(medians),
            Some(found) if found.interval.is_some() => interval(found),
            _ => format!("{} so far", SoFar::of_values(&values)?.ratio(metric)),
        };
        let medians = medians.map(|value| shown(metric, value));
        Some(MetricRow { metric: metric.label(), medians, difference })
    };
    metrics.iter().copied().enumerate().filter_map(row).collect()
}

/// Whether counts are so small that their ratio says nothing.
pub(super) fn is_near_nothing(metric: Metric, medians: [f64; 2]) -> bool {
    metric.is_count() && medians.into_iter().fold(f64::INFINITY, f64::min) < FEW
}

/// "8 more", "0.5 fewer".
pub(super) fn counts([old, new]: [f64; 2]) -> String {
    match new - old {
        more if more > 0.0 => format!("{more} more"),
        fewer if fewer < 0.0 => format!("{} fewer", -fewer),
        _ => "as many".to_owned(),
    }
}

/// Times always, memory where it exceeds the lab's own, in which every command starts, and else
/// what differs.
fn tells(metric: Metric, estimate: &Estimate, values: &[Vec<f64>; 2]) -> bool {
    let least = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    match metric {
        Metric::Wall | Metric::Cpu | Metric::Instructions => true,
        Metric::Rss => least > lab_process::own_peak_rss_bytes() as f64,
        _ => estimate.interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0),
    }
}

/// The table with columns that are as wide as they have to be.
pub(crate) fn lines(rows: &[MetricRow], names: [&str; 2], level: &str) -> Vec<String> {
    let [reference, candidate] = names.map(head);
    let head = MetricRow {
        metric: "median",
        medians: [reference, candidate],
        difference: format!("typical difference ({level})"),
    };
    let cells = |row: &MetricRow| {
        let MetricRow { metric, medians: [a, b], difference } = row;
        vec![(*metric).to_owned(), a.clone(), b.clone(), difference.clone()]
    };
    aligned(&[&head].into_iter().chain(rows).map(cells).collect::<Vec<_>>())
}

fn head(name: &str) -> String {
    short(name, HEAD_CELLS)
}

/// Rows with columns that are as wide as they have to be on a terminal: the first and the last to
/// the left, the others to the right.
pub(super) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width - cell.width());
            let is_left = column == 0 || column + 1 == columns;
            if is_left { format!("{cell}{space}") } else { format!("{space}{cell}") }
        });
        cells.collect::<Vec<String>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A name in at most so many cells: names mostly differ at an end, so the middle is left out.
pub(super) fn short(name: &str, cells: usize) -> String {
    if name.width() <= cells {
        return name.to_owned();
    }
    let part = |letters: &mut dyn Iterator<Item = char>, cells: usize| {
        let mut taken = Vec::new();
        let mut width = 0;
        for letter in letters {
            width += letter.to_string().width();
            if width > cells {
                break;
            }
            taken.push(letter);
        }
        taken
    };
    let end: String = part(&mut name.chars().rev(), (cells - 1) / 2).into_iter().rev().collect();
    let begin: String = part(&mut name.chars(), cells - 1 - end.width()).into_iter().collect();
    format!("{begin}…{end}")
}

/// "170 … 174 ms", in the unit of both where it is one.
pub(super) fn range(metric: Metric, values: &[f64]) -> String {
    let [low, high] = [f64::min, f64::max].map(|end| values.iter().copied().reduce(end));
    let [low, high] = [low, high].map(|end| end.map_or_else(String::new, |end| shown(metric, end)));
    if low == high {
        return low;
    }
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    match (low.split_once(' '), unit(&high)) {
        (Some((digits, of_low)), Some(of_high)) if of_low == of_high => {
            format!("{digits} … {high}")
        }
        _ => format!("{low} … {high}"),
    }
}

/// A value that is in microseconds, bytes or a count, with three digits and a unit.
pub(super) fn shown(metric: Metric, value: f64) -> String {
    let (units, step): (&[&str], f64) = match metric {
        Metric::Wall | Metric::Cpu | Metric::User | Metric::System => (&["µs", "ms", "s"], 1e3),
        Metric::Rss | Metric::Read | Metric::Written => (&["B", "kB", "MB", "GB", "TB"], 1e3),
        _ => (&["", "k", "M", "G", "T"], 1e3),
    };
    let (mut value, mut unit) = (value, 0);
    while value >= 999.5 && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    let digits = match value {
        _ if value.fract() == 0.0 && unit == 0 => 0,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {}", units[unit]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_digits_and_a_unit() {
        let shown_as = |metric, value, text| assert_eq!(shown(metric, value), text);
        shown_as(Metric::Wall, 24_912.0, "24.9 ms");
        shown_as(Metric::Wall, 999.6, "1.00 ms");
        shown_as(Metric::Cpu, 3_600_000_000.0, "3600 s");
        shown_as(Metric::Rss, 12_345_678.0, "12.3 MB");
        shown_as(Metric::Faults, 112.0, "112");
        shown_as(Metric::Faults, 0.0, "0");
        shown_as(Metric::Switches, 1.5, "1.50");
        shown_as(Metric::Instructions, 1_234_567_890.0, "1.23 G");
    }

    #[test]
    fn columns_are_as_wide_as_they_have_to_be() {
        let row = |metric, a: &str, b: &str| MetricRow {
            metric,
            medians: [a.to_owned(), b.to_owned()],
            difference: "+1.00 %".to_owned(),
        };
        let rows = [row("wall time", "24.9 ms", "25.2 ms"), row("peak RSS", "1.2 MB", "1.2 MB")];
        let long = "x".repeat(30);
        let lines = lines(&rows, ["old", &long], "99 %");
        let short = format!("{}…{}", &long[..12], &long[..11]);
        assert_eq!(lines[0], format!("median         old  {short}  typical difference (99 %)"));
        assert_eq!(lines[1], format!("wall time  24.9 ms  {:>24}  +1.00 %", "25.2 ms"));
        assert_eq!(lines[2], format!("peak RSS    1.2 MB  {:>24}  +1.00 %", "1.2 MB"));
    }
    #[test]
    fn wide_letters_take_two_cells_and_the_middle_of_a_long_name_goes() {
        let rows = [["größe 日本", "1", "a"], ["x", "23", "b"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), ["größe 日本   1  a", "x           23  b"]);
        assert_eq!(short("build --threads 16", 18), "build --threads 16");
        assert_eq!(short("build --threads 16", 9), "buil…s 16");
        // No half of a wide letter is shown.
        assert_eq!(short("日本日本日本", 8), "日本…本");
        assert_eq!(short("👩👩👩👩👩", 8), "👩👩…👩");
    }

    #[test]
    fn small_counts_are_told_as_counts() {
        assert!(is_near_nothing(Metric::Switches, [1.0, 900.0]));
        assert!(!is_near_nothing(Metric::Switches, [10.0, 900.0]));
        assert!(!is_near_nothing(Metric::Wall, [1.0, 9.0]));
        assert_eq!(counts([1.0, 9.0]), "8 more");
        assert_eq!(counts([1.5, 1.0]), "0.5 fewer");
        assert_eq!(counts([1.0, 1.0]), "as many");
    }

    #[test]
    fn a_range_has_its_unit_once() {
        assert_eq!(range(Metric::Wall, &[170e3, 174e3, 171e3]), "170 … 174 ms");
        assert_eq!(range(Metric::Wall, &[999e3, 1.2e6]), "999 ms … 1.20 s");
        assert_eq!(range(Metric::Wall, &[5e3]), "5.00 ms");
        assert_eq!(range(Metric::Faults, &[5.0, 7.0]), "5 … 7");
    }
}
