//! One table a candidate: the metrics that tell something.

use lab_stats::describe::median;

use super::{export::column, metric::Metric, record::Round, text::interval};
use crate::{CandidateState, Estimate};

/// The longest name that a column's head shows.
const HEAD_CHARS: usize = 24;

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
        let estimate = candidate.metrics[place].estimate.as_ref()?;
        let values = [0, number + 1].map(|command| column(metrics, rounds, command, metric));
        if place > 0 && !tells(metric, estimate, &values) {
            return None;
        }
        let medians = values
            .map(|values| median(&values).map_or_else(String::new, |value| shown(metric, value)));
        Some(MetricRow { metric: metric.label(), medians, difference: interval(estimate) })
    };
    metrics.iter().copied().enumerate().filter_map(row).collect()
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
    let all = || [&head].into_iter().chain(rows);
    let width =
        |of: fn(&MetricRow) -> &str| all().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let widths =
        [width(|row| row.metric), width(|row| &row.medians[0]), width(|row| &row.medians[1])];
    let [metric, first, second] = widths;
    let line = |row: &MetricRow| {
        let MetricRow { metric: name, medians: [a, b], difference } = row;
        format!("{name:metric$}  {a:>first$}  {b:>second$}  {difference}")
    };
    all().map(line).collect()
}

fn head(name: &str) -> String {
    let short: String = name.chars().take(HEAD_CHARS - 1).collect();
    if name.chars().count() < HEAD_CHARS { name.to_owned() } else { short + "…" }
}

/// A value that is in microseconds, bytes or a count, with three digits and a unit.
fn shown(metric: Metric, value: f64) -> String {
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
        let head = format!("median         old  {}…  typical difference (99 %)", &long[..23]);
        assert_eq!(lines[0], head);
        assert_eq!(lines[1], format!("wall time  24.9 ms  {:>24}  +1.00 %", "25.2 ms"));
        assert_eq!(lines[2], format!("peak RSS    1.2 MB  {:>24}  +1.00 %", "1.2 MB"));
    }
}
