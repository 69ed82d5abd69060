//! The schemas that editors read are made of the types that the lab reads files into, and every
//! committed file is as they say.
//!
//! After a change of such a type `WRITE_SCHEMAS=1 cargo test -p lab-tidy --test schemas` writes
//! them anew.

mod valid;

use std::{env, fs};

use lab_tidy::{
    repository::Repository,
    schema::{Manner, Sources},
};
use serde_json::{Value, json};
use valid::complaints;

const EXPERIMENT: [&str; 14] = [
    "lab/plan/src/experiment.rs",
    "lab/record/src/schema.rs",
    "lab/record/src/rounds.rs",
    "lab/record/src/expectation.rs",
    "lab/family/src/cell.rs",
    "lab/family/src/work.rs",
    "lab/families/runtimes/src/section.rs",
    "lab/families/runtimes/src/prompts.rs",
    "lab/families/engines/src/section.rs",
    "lab/families/ledgers/src/section.rs",
    "lab/families/schedulers/src/section.rs",
    "lab/families/workflows/src/section.rs",
    "lab/families/workflows/src/shape.rs",
    "lab/protocol/src/workflows.rs",
];
/// Where `Load` is; its other types have names that the sections have too.
const LOADS: &str = "lab/protocol/src/schedulers.rs";
const CLAIMS: [&str; 6] = [
    "lab/claims/src/format.rs",
    "lab/claims/src/derivation.rs",
    "lab/claims/src/test.rs",
    "lab/claims/src/declared.rs",
    "lab/claims/src/declared/select.rs",
    "lab/audit/src/finding.rs",
];
const RECORD: [&str; 3] =
    ["lab/record/src/schema.rs", "lab/record/src/rounds.rs", "lab/record/src/expectation.rs"];

/// Family, and the type of its section.
const SECTIONS: [(&str, &str); 5] = [
    ("runtimes", "RuntimesSection"),
    ("engines", "EnginesSection"),
    ("ledgers", "LedgersSection"),
    ("schedulers", "SchedulersSection"),
    ("workflows", "WorkflowsSection"),
];

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

fn sources(paths: &[&'static str]) -> Sources {
    let ours = ours();
    Sources::of(paths.iter().map(|path| (*path, ours.read(path))))
}

fn experiment() -> Value {
    let paths: Vec<&str> = EXPERIMENT.into_iter().chain([LOADS]).collect();
    let mut sources = sources(&paths);
    let extends = "The file of this folder that this one changes.";
    sources.add("Written", "extends", "String", extends);
    sources.add("Written", "without", "Vec<String>", "Ids of that file that are left out.");
    for (family, section) in SECTIONS {
        sources.add("Written", family, section, "The family's section.");
    }
    let shared = "Keys that contrasts share.";
    sources.add("Analysis", "contrast_defaults", "Contrast", shared);
    let manner = Manner { unless: Some("extends"), shared: &["Contrast"], has_null: false };
    sources.schema("An experiment of the lab", "Written", manner)
}

fn record(title: &str, root: &str) -> Value {
    let manner = Manner { has_null: true, ..Manner::default() };
    let mut sources = sources(&RECORD);
    let chain = "What follows from all before it; records from before chains have none.";
    sources.add(root, "chain", "Option<String>", chain);
    sources.schema(title, root, manner)
}

/// Every schema by its file.
fn schemas() -> Vec<(&'static str, Value)> {
    let plain = Manner::default();
    let variant = sources(&["lab/plan/src/manifest.rs"]);
    let table = sources(&["lab/families/runtimes/src/section.rs"]);
    vec![
        ("schemas/experiment.json", experiment()),
        ("schemas/variant.json", variant.schema("A variant of the lab", "Manifest", plain)),
        ("schemas/claims.json", sources(&CLAIMS).schema("What a report claims", "Claims", plain)),
        ("schemas/configurations.json", table.schema("Servers' configurations", "Table", plain)),
        ("schemas/run.json", record("run.json of a results folder", "RunFile")),
        ("schemas/runs.json", record("A line of runs.jsonl", "Run")),
    ]
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

#[test]
fn every_schema_is_that_of_its_type() {
    let ours = ours();
    for (path, made) in schemas() {
        if env::var_os("WRITE_SCHEMAS").is_some() {
            let text = serde_json::to_string_pretty(&made).expect("a schema is JSON");
            fs::create_dir_all(ours.root().join("schemas")).unwrap();
            fs::write(ours.root().join(path), text + "\n").unwrap();
        }
        assert!(
            schema(path) == made,
            "{path} is not what the types say: WRITE_SCHEMAS=1 cargo test -p lab-tidy --test \
             schemas writes it"
        );
    }
}

/// Complaints about every file that `is_meant`, and how many there are.
fn check(schema_path: &str, is_meant: impl Fn(&str) -> bool) -> (Vec<String>, usize) {
    let (ours, schema) = (ours(), schema(schema_path));
    let files: Vec<String> = ours.files().into_iter().filter(|path| is_meant(path)).collect();
    let mut found = Vec::new();
    for file in &files {
        let text = ours.read(file);
        let values: Vec<Value> = match file.rsplit('.').next() {
            Some("toml") => vec![of_toml(&text)],
            Some("json") => vec![serde_json::from_str(&text).unwrap()],
            _ => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        };
        for value in values {
            let of_file = complaints(&schema, &value);
            found.extend(of_file.into_iter().map(|complaint| format!("{file}: {complaint}")));
        }
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
    content("schemas/runs.json", 3, |path| is_record(path) && path.ends_with("/runs.jsonl"));
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
    assert!(variant("features = [", "features = [1, ").contains("features/0: is no string"));
    let experiment = |from: &str, to: &str| {
        broken("schemas/experiment.json", "experiments/threads.toml", from, to)
    };
    assert!(experiment("\nseed = ", "\nseed = -").contains("seed: is less than 0"));
    assert!(experiment("schema = 1\n", "").contains("lacks the key `schema`"));
    assert!(experiment("pairing = \"paired\"", "pairing = \"pared\"").contains("analysis/pairing"));
    assert!(
        experiment("[ledgers]", "[ledgers]\nbudget = 1").contains("ledgers: has no key `budget`")
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
        assert!(schemas().iter().any(|(known, _)| *known == path), "{path}");
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
