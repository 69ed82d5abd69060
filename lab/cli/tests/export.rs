//! The numbers of `lab export`, of a committed report.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process, thread,
};

use assert_cmd::Command;
use parquet::{
    basic::{LogicalType, Type},
    file::reader::{FileReader, SerializedFileReader},
    record::Field,
};
use predicates::str::contains;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `lab export` of a committed report.
fn lab() -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.arg("--root").arg(root()).arg("export").arg(root().join("reports/offload-wake"));
    lab
}

fn data(format: &str) -> String {
    let output = lab().arg(format!("--{format}")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_copy_shows_no_picture_of_the_record_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = ["stalls.svg", "stalls.narrow.svg"].map(|name| folder.path().join(name));
    pictures.iter().for_each(|picture| fs::write(picture, "of other runs").unwrap());
    let without_gnuplot = lab().arg(folder.path()).env("PATH", folder.path()).assert().success();
    without_gnuplot.stderr(contains("no picture"));
    assert!(folder.path().join("report.md").exists());
    assert!(pictures.iter().all(|picture| !picture.exists()));
}

#[test]
fn a_copy_has_no_table_of_the_record_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let lab = |command: &str, path: &Path| {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        lab.arg("--root").arg(root()).arg(command).arg(path);
        lab
    };
    let own = folder.path().join("notes.txt");
    fs::write(&own, "of a person").unwrap();
    for report in ["offload-published", "offload-wake"] {
        let from = root().join("reports").join(report);
        lab("export", &from).arg(folder.path()).assert().success();
        // Fails where a table or a chapter is of no report on the record.
        lab("report", folder.path()).arg("--check").assert().success();
    }
    assert!(own.exists() && !folder.path().join("regret.tsv").exists());
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

/// The cells of CSV by row, with the names of the columns.
fn cells() -> (Vec<String>, Vec<Vec<String>>) {
    let text = data("csv");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    (lines.next().unwrap(), lines.collect())
}

#[test]
fn a_parquet_file_has_the_rows_of_csv_in_columns_with_types() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.parquet");
    lab().arg("--parquet").arg(&path).assert().success().stdout("");
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let types: Vec<(&str, Type)> =
        schema.columns().iter().map(|column| (column.name(), column.physical_type())).collect();
    let (header, rows) = cells();
    // A factor of this family has the name of the place of a run.
    let again = header.iter().rposition(|name| name == "order").unwrap();
    let mut names: Vec<&str> = header.iter().map(String::as_str).collect();
    names[again] = "order_2";
    assert_eq!(types.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    let type_of = |name: &str| types.iter().find(|(column, _)| *column == name).unwrap().1;
    assert_eq!(type_of("order"), Type::INT64);
    assert_eq!(type_of("gated"), Type::BOOLEAN);
    assert_eq!(type_of("tokio_workers"), Type::INT64);
    assert_eq!(type_of("tick_p99_ns"), Type::DOUBLE);
    assert_eq!(type_of("variant"), Type::BYTE_ARRAY);
    let variant = schema.columns().iter().find(|column| column.name() == "variant").unwrap();
    assert_eq!(variant.logical_type_ref(), Some(&LogicalType::String));
    let read: Vec<Vec<String>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(_, field)| text(field)).collect())
        .collect();
    assert_eq!(read, rows);
    assert!(rows.iter().flatten().any(String::is_empty), "no value is absent in this report");
}

/// As CSV has it.
fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Bool(flag) => flag.to_string(),
        Field::Long(integer) => integer.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Str(text) => text.clone(),
        other => panic!("{other:?} is no value of ours"),
    }
}

#[test]
fn a_parquet_file_that_cannot_be_written_is_one_sentence() {
    let refused = lab().args(["--parquet", "/no/such/runs.parquet"]).assert().code(4);
    refused.stderr(contains("lab: cannot write /no/such/runs.parquet: "));
    let both = lab().args(["--parquet", "a", "--json"]).assert().code(2);
    both.stderr(contains("cannot be used with"));
}

#[test]
fn files_lie_where_the_person_stands() {
    let stands = tempfile::tempdir().unwrap();
    let record = root().join("reports/offload-wake");
    let record = record.to_str().unwrap();
    for (arguments, file) in [
        (&["export", record, "--parquet", "runs.parquet"][..], "runs.parquet"),
        (&["man", "--out", "pages"], "pages/lab.1"),
        (&["report", record, "--no-plots", "--out", "again"], "again/report.md"),
    ] {
        let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
        // `bazel run` starts programs elsewhere, and says so.
        lab.env("BUILD_WORKING_DIRECTORY", stands.path()).arg("--root").arg(root());
        lab.args(arguments).assert().success();
        assert!(stands.path().join(file).is_file(), "{file}");
    }
}

/// Prints the number of rows, the sum of a metric, and the nulls of all columns.
const READERS: [(&str, &str); 2] = [
    (
        "duckdb",
        "import duckdb, sys
rows = duckdb.sql(f\"select * from '{sys.argv[1]}'\")
table = rows.fetchall()
at = rows.columns.index('tick_p99_ns')
print(len(table), repr(sum(row[at] for row in table)), sum(x is None for r in table for x in r))",
    ),
    (
        "polars",
        "import polars, sys
frame = polars.read_parquet(sys.argv[1])
values = frame['tick_p99_ns'].to_list()
print(len(frame), repr(sum(values)), sum(frame.null_count().row(0)))",
    ),
];

#[test]
fn duckdb_and_polars_read_a_parquet_file_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.parquet");
    lab().arg("--parquet").arg(&path).assert().success();
    let (header, rows) = cells();
    let at = header.iter().position(|name| name == "tick_p99_ns").unwrap();
    let sum: f64 = rows.iter().map(|row| row[at].parse::<f64>().unwrap()).sum();
    let nulls = rows.iter().flatten().filter(|cell| cell.is_empty()).count();
    let mut missing = Vec::new();
    for (package, script) in READERS {
        let python = |code: &str| process::Command::new("python3").args(["-c", code]).output();
        if !python(&format!("import {package}")).is_ok_and(|output| output.status.success()) {
            missing.push(package);
            continue;
        }
        let mut reader = process::Command::new("python3");
        let output = reader.args(["-c", script]).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = said.split_whitespace().collect();
        assert_eq!((words[0], words[2]), (&*rows.len().to_string(), &*nulls.to_string()), "{said}");
        assert!((words[1].parse::<f64>().unwrap() / sum - 1.0).abs() < 1e-12, "{said} {sum}");
    }
    if !missing.is_empty() {
        skipped(&format!("Python has no {}", missing.join(" and no ")));
    }
}

/// As `.ci/count-tests` counts it; the harness would swallow what is printed.
fn skipped(reason: &str) {
    let test = thread::current().name().unwrap_or("main").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

#[test]
fn the_tutorials_readers_read_what_the_lab_wrote() {
    let page = fs::read_to_string(root().join("docs/TUTORIAL.md")).unwrap();
    let lines: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("$ ")).filter(reads).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let folder = tempfile::tempdir().unwrap();
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.arg("--root").arg(root()).arg("export").arg(root().join("reports/threads"));
    lab.arg("--parquet").arg(folder.path().join("runs.parquet")).assert().success();
    for (line, package) in lines.iter().zip(["duckdb", "polars"]) {
        let python = format!("import {package}");
        let there = process::Command::new("python3").args(["-c", &python]).output();
        if !there.is_ok_and(|output| output.status.success()) {
            skipped(&format!("Python has no {package}"));
            continue;
        }
        let output =
            process::Command::new("sh").args(["-c", line]).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("owned"), "{line}: {said}");
    }
}

fn reads(line: &&str) -> bool {
    line.starts_with("python3 -c ")
}
