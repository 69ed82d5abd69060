//! `lab data` on a committed report.

use std::{collections::BTreeSet, path::Path};

use assert_cmd::Command;

fn data(format: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.arg("--root").arg(&root).arg("data").arg(root.join("reports/offload-wake"));
    let output = lab.args(["--format", format]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_analysed_run_is_a_row_with_its_metrics() {
    let text = data("csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (order, variant, p99) = (place("order"), place("variant"), place("tick_p99_ns"));
    let rows: Vec<Vec<&str>> = lines.collect();
    let orders: BTreeSet<&str> = rows.iter().map(|row| row[order]).collect();
    assert!(rows.len() > 50 && orders.len() == rows.len(), "{} rows", rows.len());
    assert!(rows.iter().all(|row| row[p99].parse::<f64>().unwrap() > 0.0));
    assert!(rows.iter().any(|row| row[variant] == "thompson"));
}

#[test]
fn percentiles_are_json_with_their_intervals() {
    let whole: serde_json::Value = serde_json::from_str(&data("json")).unwrap();
    assert_eq!(whole["experiment"], "offload-wake");
    let cells = whole["cells"].as_array().unwrap();
    let is_one = |cell: &&serde_json::Value| {
        cell["variant"] == "thompson" && cell["cell"]["tokio_workers"] == "1"
    };
    let p99 = &cells.iter().find(is_one).unwrap()["metrics"]["tick_p99_ns"];
    let number = |key: &str| p99[key].as_f64().unwrap();
    assert!(0.0 < number("low") && number("low") <= number("median"), "{p99}");
    assert!(number("median") <= number("high") && number("n") >= 6.0, "{p99}");
}

#[test]
fn medians_are_gauges() {
    let text = data("openmetrics");
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    assert!(text.contains("# TYPE lab_schedulers_tick_p99_ns gauge\n"), "{text}");
    let gauges = text.lines().filter(|line| !line.starts_with('#'));
    for line in gauges {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("lab_schedulers_") && name.contains("variant=\""), "{line}");
        value.parse::<f64>().unwrap();
    }
}
