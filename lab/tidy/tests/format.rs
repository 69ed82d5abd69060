//! The pages of formats name every key that the lab takes, and no other one.

use std::collections::{BTreeMap, BTreeSet};

use lab_tidy::repository::Repository;
use serde_json::Value;

const PAGE: &str = "docs/FORMAT.md";

/// Where the types are, but those of variants and tables.
const EXPERIMENT: &str = "experiment";

/// Chapters of the page, and the schema and type whose keys each of them lists.
const CHAPTERS: [(&str, &str, &str); 17] = [
    ("A variant", "variant", ""),
    ("An experiment", EXPERIMENT, "Written"),
    ("Who takes part", EXPERIMENT, "Selection"),
    ("A profile", EXPERIMENT, "Profile"),
    ("What is compared", EXPERIMENT, "Analysis"),
    ("A comparison", EXPERIMENT, "Comparison"),
    ("A contrast", EXPERIMENT, "Contrast"),
    ("Rounds", EXPERIMENT, "Rounds"),
    ("Sessions", EXPERIMENT, "Sessions"),
    ("An expectation", EXPERIMENT, "Expectation"),
    ("A side of an expectation", EXPERIMENT, "Quantity"),
    ("`[runtimes]`", EXPERIMENT, "RuntimesSection"),
    ("A configuration", "configurations", "Row"),
    ("`[engines]`", EXPERIMENT, "EnginesSection"),
    ("`[ledgers]`", EXPERIMENT, "LedgersSection"),
    ("`[schedulers]`", EXPERIMENT, "SchedulersSection"),
    ("`[workflows]`", EXPERIMENT, "WorkflowsSection"),
];

/// Types that are explained in the line of one key: chapter, key, schema, type.
const INNER: [(&str, &str, &str, &str); 10] = [
    ("A configuration", "ttft_ms", "configurations", "LogNormal"),
    ("A configuration", "reply_tokens", "configurations", "Quantiles"),
    ("`[engines]`", "corpus", EXPERIMENT, "Corpus"),
    ("`[engines]`", "query", EXPERIMENT, "Asked"),
    ("`[schedulers]`", "decide", EXPERIMENT, "DecideSection"),
    ("`[schedulers]`", "stream", EXPERIMENT, "StreamSection"),
    ("`[schedulers]`", "wake", EXPERIMENT, "WakeSection"),
    ("`[workflows]`", "shape", EXPERIMENT, "ShapeSection"),
    ("`[workflows]`", "shape", EXPERIMENT, "Named"),
    ("`[workflows]`", "shape", EXPERIMENT, "NamedWhen"),
];

/// A claim file with every key.
const EXAMPLE: &str = "claims/example/tea.toml";
/// Keys that chapters of their own explain.
const ELSEWHERE: [&str; 6] =
    ["contrast_defaults", "engines", "ledgers", "runtimes", "schedulers", "workflows"];

type Keys = BTreeSet<String>;

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

/// The keys of each struct of a schema, that of the file itself under no name.
fn types(schema: &str) -> BTreeMap<String, Keys> {
    let path = format!("schemas/{schema}.json");
    let schema: Value = serde_json::from_str(&ours().read(&path)).expect("a schema is JSON");
    let inner = schema["definitions"].as_object().into_iter().flatten();
    let inner = inner.filter(|(name, _)| !name.starts_with("PartOf"));
    let all = inner.map(|(name, one)| (name.clone(), one)).chain([(String::new(), &schema)]);
    let keys = |one: &Value| {
        let keys = one["properties"].as_object()?.keys();
        Some(keys.filter(|key| !ELSEWHERE.contains(&key.as_str())).cloned().collect())
    };
    all.filter_map(|(name, one)| Some((name, keys(one)?))).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The items of each chapter of the page: `- KEYS: what they mean`.
fn chapters(page: &str) -> BTreeMap<String, Vec<String>> {
    let mut chapters = BTreeMap::<String, Vec<String>>::new();
    let mut chapter = String::new();
    for line in page.lines() {
        if line.starts_with('#') {
            chapter = line.trim_start_matches('#').trim().to_owned();
        } else if let Some(item) = line.strip_prefix("- ") {
            chapters.entry(chapter.clone()).or_default().push(item.to_owned());
        } else if let Some(rest) = line.strip_prefix("  ") {
            let last = chapters.get_mut(&chapter).and_then(|items| items.last_mut());
            last.unwrap_or_else(|| panic!("{line} continues no item")).push_str(rest);
        }
    }
    chapters
}

fn names(item: &str) -> impl Iterator<Item = &str> {
    let (names, _) = item.split_once(": ").unwrap_or_else(|| panic!("{item} has no `: `"));
    quoted(names)
}

#[test]
fn every_chapter_lists_the_keys_of_its_type_and_no_others() {
    let page = ours().read(PAGE);
    let chapters = chapters(&page);
    for (chapter, file, name) in CHAPTERS {
        let keys = &types(file)[name];
        assert!(!keys.is_empty(), "{name} of {file} has no keys");
        let items = chapters.get(chapter).unwrap_or_else(|| panic!("{PAGE} lacks {chapter}"));
        let listed: Vec<&str> = items.iter().flat_map(|item| names(item)).collect();
        let told: Keys = listed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(told.len(), listed.len(), "{PAGE}, {chapter}: a key is listed twice");
        let missing: Vec<_> = keys.difference(&told).collect();
        let unknown: Vec<_> = told.difference(keys).collect();
        assert!(missing.is_empty(), "{PAGE}, {chapter}: lacks {missing:?} of {name} in {file}");
        assert!(unknown.is_empty(), "{PAGE}, {chapter}: {name} in {file} has no {unknown:?}");
    }
    let known: BTreeSet<&str> = CHAPTERS.iter().map(|(chapter, ..)| *chapter).collect();
    let strange: Vec<_> = chapters.keys().filter(|name| !known.contains(name.as_str())).collect();
    assert!(strange.is_empty(), "{PAGE}: {strange:?} list keys of no type that is known here");
}

#[test]
fn the_line_of_a_key_names_the_keys_inside() {
    let page = ours().read(PAGE);
    let chapters = chapters(&page);
    for (chapter, key, file, name) in INNER {
        let item = chapters[chapter].iter().find(|item| names(item).any(|name| name == key));
        let item = item.unwrap_or_else(|| panic!("{PAGE}, {chapter}: lacks {key}"));
        let words: BTreeSet<&str> = quoted(item).collect();
        for inner in &types(file)[name] {
            let line = format!("{PAGE}, {chapter}, {key}");
            assert!(words.contains(inner.as_str()), "{line}: lacks `{inner}` of {name} in {file}");
        }
    }
}

#[test]
fn no_type_of_an_experiment_is_forgotten() {
    let chapters = CHAPTERS.iter().map(|(_, _, name)| *name);
    let known: BTreeSet<&str> = chapters.chain(INNER.iter().map(|(.., name)| *name)).collect();
    for name in types(EXPERIMENT).keys() {
        assert!(known.contains(name.as_str()), "{PAGE} says nothing of {name}");
    }
}

#[test]
fn the_example_of_a_claim_file_names_every_key() {
    let page = ours().read(EXAMPLE);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = page.split(|c| !is_part(c)).collect();
    let types = types("claims");
    assert!(types.values().map(Keys::len).sum::<usize>() > 60);
    for (name, keys) in types {
        let missing: Vec<_> = keys.iter().filter(|key| !words.contains(key.as_str())).collect();
        assert!(missing.is_empty(), "{EXAMPLE} lacks {missing:?} of {name}");
    }
}
