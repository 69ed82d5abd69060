//! What load generators of language models say of themselves at their end.
//!
//! `generators.tsv` says where each keeps what: a row's `mean`, `p50` and `p99` are JSON pointers,
//! `unit` is that of a time, or 1 for a number, which stands in `mean` alone. The quantities are
//! those of `lab sim calibrate`; a generator's own word for one is in the pointer. A report is that
//! of a generator where the first of its rows is there.

use serde_json::Value;

use crate::units::time_ns;

const TABLE: &str = include_str!("generators.tsv");
const NOTHING: &str = "-";

/// A generator's report of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// The generator.
    pub tool: &'static str,
    /// What it says, in the table's order.
    pub quantities: Vec<Quantity>,
}

/// Something that a generator reports. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Such as `first_token`.
    pub name: &'static str,
    /// The mean, or the number itself.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
}

/// Reads a report; `None` where no row of the table fits.
pub fn reported(report: &Value) -> Option<Reported> {
    let rows = || TABLE.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let mut tools: Vec<&'static str> = rows().map(|row| row[0]).collect();
    tools.dedup();
    let first =
        |tool: &str| rows().find(|row| row[0] == tool).and_then(|row| number(report, row[3]));
    let tool = tools.into_iter().find(|tool| first(tool).is_some())?;
    let quantity = |row: Vec<&'static str>| {
        let factor = time_ns(row[2]).unwrap_or(1.0);
        let [mean, p50, p99] = [3, 4, 5].map(|at| number(report, row[at]).map(|it| it * factor));
        let is_there = mean.or(p50).or(p99).is_some();
        is_there.then_some(Quantity { name: row[1], mean, p50, p99 })
    };
    let quantities = rows().filter(|row| row[0] == tool).filter_map(quantity).collect();
    Some(Reported { tool, quantities })
}

fn number(report: &Value, pointer: &str) -> Option<f64> {
    if pointer == NOTHING { None } else { report.pointer(pointer)?.as_f64() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_read_where_its_tool_is_known() {
        let aiperf = json!({
            "request_count": {"avg": 4.0},
            "time_to_first_token": {"avg": 203.5, "p50": 200.25, "p99": 206.0},
        });
        let read = reported(&aiperf).unwrap();
        let first = |mean, p50, p99| Quantity { name: "first_token", mean, p50, p99 };
        assert_eq!((read.tool, read.quantities[0].mean), ("aiperf", Some(4.0)));
        assert_eq!(read.quantities[1], first(Some(203.5e6), Some(200.25e6), Some(206e6)));
        let vllm = json!({"completed": 7, "p99_ttft_ms": 2.0, "median_ttft_ms": null});
        let read = reported(&vllm).unwrap();
        assert_eq!(read.quantities[1..], [first(None, None, Some(2e6))]);
        assert_eq!(reported(&json!({"results": [1]})), None);
    }

    /// What a row lacks would be read as silence of the tool.
    #[test]
    fn every_row_of_the_table_can_be_read() {
        for line in TABLE.lines().skip(1) {
            let row: Vec<&str> = line.split('\t').collect();
            assert_eq!(row.len(), 6, "{line}");
            assert!(row[2] == "1" || time_ns(row[2]).is_some(), "{line}");
            assert!(row[3..].iter().all(|way| *way == NOTHING || way.starts_with('/')), "{line}");
        }
    }
}
