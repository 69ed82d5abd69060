//! The claim format: the example beside claims/README.md is read as it says, mistakes are named.

use std::{collections::BTreeMap, fs, path::Path};

use lab_audit::Severity;
use lab_claims::{Claims, Comparator, Evidence};

/// The claim file with every key, and its table.
fn example() -> (String, BTreeMap<String, String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../claims/example");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let table = "tea/by_kettle.csv";
    (read("tea.toml"), BTreeMap::from([(table.to_owned(), read(table))]))
}

fn error(from: &str, to: &str) -> String {
    let (text, files) = example();
    assert!(text.contains(from), "{from}");
    Claims::parse("tea.toml", &text.replace(from, to), &files).unwrap_err().to_string()
}

#[test]
fn the_example_is_read() {
    let (text, files) = example();
    let claims = Claims::parse("tea.toml", &text, &files).unwrap();
    let statements = claims.statements();
    assert_eq!(statements.iter().filter(|statement| statement.tabled).count(), 5);
    let cell = statements.iter().find(|statement| statement.key.metric == "rate").unwrap();
    assert_eq!(cell.key.to_string(), "mean rate of steel at volume 1 l");
    assert_eq!(cell.place.line, Some(42));
    assert_eq!(cell.value.number().unwrap().decimals, 4);
    let claim = statements.iter().find(|statement| statement.id == "steel_mean").unwrap();
    assert_eq!(claim.comparator, Comparator::Equal);
    assert_eq!(claim.value.number().unwrap().value, 121.5);
}

#[test]
fn an_unknown_key_is_refused_by_file_and_name() {
    let message = error("section = \"3 Results\"", "sectoin = \"3 Results\"");
    assert!(message.contains("tea.toml") && message.contains("`sectoin`"), "{message}");
}

#[test]
fn what_does_not_fit_together_is_named() {
    let message = error("metric = \"rate\"\nformula", "metric = \"rate\"\nstatistic = 1\nformula");
    assert!(message.contains("statistic"), "{message}");
    let message = error("value = \"121.5\"", "value = \"fast\"");
    assert!(message.contains("claim.steel_mean.value"), "{message}");
    let message = error("against = { subject = \"glass\" }  #", "#");
    assert!(message.contains("claim.steel_faster_percent.against"), "{message}");
    let message = error("\"Mean (s)\" =", "\"Mean (ms)\" =");
    assert!(message.contains("Mean (ms)"), "{message}");
    let message = error("id = \"steel_why\"", "id = \"steel_best\"");
    assert!(message.contains("steel_best"), "{message}");
}

/// The checks that call something impossible in the example after a replacement.
fn impossible(from: &str, to: &str) -> Vec<String> {
    let (text, files) = example();
    assert!(text.contains(from), "{from}");
    let claims = Claims::parse("tea.toml", &text.replace(from, to), &files).unwrap();
    let findings = Evidence::new(&claims, &[]).findings().unwrap();
    let impossible = findings.into_iter().filter(|one| one.severity == Severity::Impossible);
    impossible.map(|finding| finding.check).collect()
}

#[test]
fn what_agrees_within_its_rounding_is_not_accused() {
    assert_eq!(impossible("tea", "tea"), Vec::<String>::new());
    assert_eq!(impossible("value = \"121.5\"", "value = \"121.48\""), Vec::<String>::new());
}

#[test]
fn another_value_is_found_by_every_road_to_it() {
    let found = impossible("value = \"121.5\"", "value = \"111.5\"");
    assert!(found.contains(&"stated_twice".to_owned()), "{found:?}");
    let found = impossible("value = \"-12\"", "value = \"-21\"");
    assert_eq!(found, ["difference_of_parts"]);
    let found = impossible("comparator = \"best_of\"", "comparator = \"worst_of\"");
    assert_eq!(found, ["ranking_reversed"]);
}
