//! Every committed file is as the schema says that an editor holds it against. The schemas are made
//! of types by tests of lab/families and lab/claims.

mod program;

use std::process::Command;

use lab_tidy::repository::Repository;
use serde_json::{Value, json};

const SCHEMAS: [&str; 4] = [
    "schemas/experiment.json",
    "schemas/variant.json",
    "schemas/claims.json",
    "schemas/configurations.json",
];

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

/// The schema of a file.
fn schema(path: &str) -> Value {
    let text = ours().read(path);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn of_toml(text: &str) -> Value {
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}"));
    serde_json::to_value(table).expect("a table has texts for keys")
}

/// What is wrong with a value, each with its place: `/analysis/alpha: …`.
fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let schema = jsonschema::validator_for(schema).expect("a schema of ours is one");
    let told =
        |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
    schema.iter_errors(value).map(told).collect()
}

/// Complaints about every file that `is_meant`, and how many there are.
fn check(schema_path: &str, is_meant: impl Fn(&str) -> bool) -> (Vec<String>, usize) {
    let (ours, schema) = (ours(), schema(schema_path));
    let files: Vec<String> = ours.files().into_iter().filter(|path| is_meant(path)).collect();
    let mut found = Vec::new();
    for file in &files {
        let text = ours.read(file);
        let value = match file.ends_with(".toml") {
            true => of_toml(&text),
            false => serde_json::from_str(&text).unwrap(),
        };
        let of_file = complaints(&schema, &value);
        found.extend(of_file.into_iter().map(|complaint| format!("{file}: {complaint}")));
    }
    (found, files.len())
}

#[track_caller]
fn content(schema: &str, at_least: usize, is_meant: impl Fn(&str) -> bool) {
    let (complaints, files) = check(schema, is_meant);
    assert!(complaints.is_empty(), "{}", complaints[..complaints.len().min(20)].join("\n"));
    assert!(files >= at_least, "{schema}: only {files} files");
}

fn is_in(path: &str, folder: &str, end: &str) -> bool {
    let name = path.strip_prefix(folder).and_then(|rest| rest.strip_suffix(end));
    name.is_some_and(|name| !name.contains('/'))
}

#[test]
fn committed_files_are_as_their_schema_says() {
    content("schemas/experiment.json", 10, |path| is_in(path, "experiments/", ".toml"));
    content("schemas/configurations.json", 2, |path| is_in(path, "experiments/tables/", ".toml"));
    content("schemas/claims.json", 5, |path| is_in(path, "claims/", ".toml"));
    content("schemas/variant.json", 30, |path| path.ends_with("/variant.toml"));
}

#[test]
fn committed_records_are_as_their_schema_says() {
    let is_record = |path: &str| path.starts_with("reports/");
    content("schemas/run.json", 5, |path| is_record(path) && path.ends_with("/run.json"));
    let (of_runs, mut lines) = (schema("schemas/runs.json"), 0);
    for file in ours().files().iter().filter(|path| path.ends_with("/rows.pack.zst")).take(3) {
        let record = ours().root().join(file);
        let mut lab = Command::new(program::lab());
        let output = lab.arg("export").arg(record.parent().unwrap()).arg("--jsonl").output();
        for line in String::from_utf8(output.unwrap().stdout).unwrap().lines() {
            let found = complaints(&of_runs, &serde_json::from_str(line).unwrap());
            assert!(found.is_empty(), "{file}: {}", found.join("\n"));
            lines += 1;
        }
    }
    assert!(lines > 1_000, "only {lines} lines");
}

/// One complaint about a committed file with one change.
fn broken(schema_path: &str, file: &str, from: &str, to: &str) -> String {
    let text = ours().read(file);
    assert!(text.contains(from), "{file} has no {from}");
    let found = complaints(&schema(schema_path), &of_toml(&text.replacen(from, to, 1)));
    assert!(!found.is_empty(), "{file} with {to} is called right");
    found.join("\n")
}

#[test]
fn slips_of_the_pen_are_found_with_their_place() {
    let variant = |from: &str, to: &str| {
        broken("schemas/variant.json", "runtimes/floor/variant.toml", from, to)
    };
    assert_eq!(variant("measures", "mesures").lines().count(), 2);
    assert!(
        variant("features = [", "features = [1, ")
            .contains("/features/0: 1 is not of type \"string\"")
    );
    let experiment = |from: &str, to: &str| {
        broken("schemas/experiment.json", "experiments/threads.toml", from, to)
    };
    assert!(experiment("\nseed = ", "\nseed = -").contains("/seed: -"));
    assert!(experiment("schema = 1\n", "").contains("\"schema\" is a required property"));
    assert!(
        experiment("pairing = \"paired\"", "pairing = \"pared\"").contains("/analysis/pairing")
    );
    assert!(
        experiment("[ledgers]", "[ledgers]\nbudget = 1")
            .contains("/ledgers: Additional properties are not allowed ('budget'")
    );
    let claims = |from: &str, to: &str| broken("schemas/claims.json", "claims/ccms.toml", from, to);
    assert!(claims("better = \"lower\"", "better = \"less\"").contains("metric/0/better"));
}

#[test]
fn editors_are_told_which_schema_is_whose() {
    let ours = ours();
    let rules = ours.table(".taplo.toml");
    let rules = rules["rule"].as_array().expect("rules");
    let told: Vec<Value> =
        rules.iter().map(|rule| json!([rule["include"], rule["schema"]["path"]])).collect();
    for rule in &told {
        let path = rule[1].as_str().expect("a path");
        assert!(SCHEMAS.contains(&path), "{path}");
        let globs = rule[0].as_array().expect("a list of globs");
        for glob in globs.iter().filter_map(Value::as_str) {
            let (folder, end) = glob.rsplit_once('*').expect("a glob");
            let folder = folder.trim_matches(['*', '/']);
            let has_files = ours
                .files()
                .iter()
                .any(|path| path.ends_with(end) && (folder.is_empty() || path.starts_with(folder)));
            assert!(has_files, "{glob} of .taplo.toml means no file");
        }
    }
    assert_eq!(told.len(), 4);
}
