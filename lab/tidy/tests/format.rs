//! The pages of formats name every key that the lab takes, and no other one.

use std::collections::{BTreeMap, BTreeSet};

use lab_tidy::repository::Repository;

const PAGE: &str = "docs/FORMAT.md";

/// Chapters of the page, and the type whose keys each of them lists.
const CHAPTERS: [(&str, &str, &str); 16] = [
    ("A variant", "lab/plan/src/manifest.rs", "Manifest"),
    ("An experiment", "lab/plan/src/experiment.rs", "Written"),
    ("Who takes part", "lab/plan/src/experiment.rs", "Selection"),
    ("A profile", "lab/plan/src/experiment.rs", "Profile"),
    ("What is compared", "lab/record/src/schema.rs", "Analysis"),
    ("A comparison", "lab/record/src/schema.rs", "Comparison"),
    ("A contrast", "lab/record/src/schema.rs", "Contrast"),
    ("Rounds", "lab/record/src/rounds.rs", "Rounds"),
    ("An expectation", "lab/record/src/expectation.rs", "Expectation"),
    ("A side of an expectation", "lab/record/src/expectation.rs", "Quantity"),
    ("`[runtimes]`", "lab/families/runtimes/src/section.rs", "RuntimesSection"),
    ("A configuration", "lab/families/runtimes/src/section.rs", "Row"),
    ("`[engines]`", "lab/families/engines/src/section.rs", "EnginesSection"),
    ("`[ledgers]`", "lab/families/ledgers/src/section.rs", "LedgersSection"),
    ("`[schedulers]`", "lab/families/schedulers/src/section.rs", "SchedulersSection"),
    ("`[workflows]`", "lab/families/workflows/src/section.rs", "WorkflowsSection"),
];

/// Types that are explained in the line of one key: chapter, key, file, type.
const INNER: [(&str, &str, &str, &str); 10] = [
    ("A configuration", "ttft_ms", "lab/families/runtimes/src/section.rs", "LogNormal"),
    ("A configuration", "reply_tokens", "lab/families/runtimes/src/section.rs", "Quantiles"),
    ("`[engines]`", "corpus", "lab/family/src/work.rs", "Corpus"),
    ("`[engines]`", "query", "lab/families/engines/src/section.rs", "Asked"),
    ("`[schedulers]`", "decide", "lab/families/schedulers/src/section.rs", "DecideSection"),
    ("`[schedulers]`", "stream", "lab/families/schedulers/src/section.rs", "StreamSection"),
    ("`[schedulers]`", "wake", "lab/families/schedulers/src/section.rs", "WakeSection"),
    ("`[workflows]`", "shape", "lab/families/workflows/src/shape.rs", "ShapeSection"),
    ("`[workflows]`", "shape", "lab/families/workflows/src/shape.rs", "Named"),
    ("`[workflows]`", "shape", "lab/families/workflows/src/shape.rs", "NamedWhen"),
];

/// A claim file with every key.
const EXAMPLE: &str = "claims/example/tea.toml";

/// The sources of claim files' keys, all of which the example has.
const CLAIMS: [&str; 5] = [
    "lab/claims/src/format.rs",
    "lab/claims/src/derivation.rs",
    "lab/claims/src/test.rs",
    "lab/claims/src/declared.rs",
    "lab/claims/src/declared/select.rs",
];

type Keys = BTreeSet<String>;

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

/// The keys of each struct of a source that refuses unknown ones.
fn strict_types(source: &str) -> BTreeMap<String, Keys> {
    let mut types = BTreeMap::new();
    let mut is_strict = false;
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        is_strict |= line.contains("deny_unknown_fields");
        if line.contains("enum ") {
            is_strict = false;
        }
        let Some((_, name)) = line.split_once("struct ").filter(|_| is_strict) else { continue };
        let name = name.trim_end_matches(" {").to_owned();
        types.insert(name, keys(lines.by_ref().take_while(|line| *line != "}")));
        is_strict = false;
    }
    types
}

/// The names of a struct's fields in a file, by the attributes above each.
fn keys<'a>(body: impl Iterator<Item = &'a str>) -> Keys {
    let mut keys = Keys::new();
    let (mut renamed, mut is_skipped) = (None, false);
    for line in body.map(str::trim) {
        if line.starts_with("#[") {
            is_skipped |= line == "#[serde(skip)]";
            let rename = line.split_once("rename = \"").and_then(|(_, rest)| rest.split_once('"'));
            renamed = rename.map(|(name, _)| name.to_owned()).or(renamed);
            continue;
        }
        let field = ["pub(crate) ", "pub "].iter().find_map(|word| line.strip_prefix(word));
        let Some((name, _)) = field.unwrap_or(line).split_once(": ") else { continue };
        if name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            let key = renamed.take().unwrap_or_else(|| name.to_owned());
            if !std::mem::take(&mut is_skipped) {
                keys.insert(key);
            }
        }
    }
    keys
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
    let (ours, page) = (ours(), ours().read(PAGE));
    let chapters = chapters(&page);
    for (chapter, file, name) in CHAPTERS {
        let keys = &strict_types(&ours.read(file))[name];
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
    let (ours, page) = (ours(), ours().read(PAGE));
    let chapters = chapters(&page);
    for (chapter, key, file, name) in INNER {
        let item = chapters[chapter].iter().find(|item| names(item).any(|name| name == key));
        let item = item.unwrap_or_else(|| panic!("{PAGE}, {chapter}: lacks {key}"));
        let words: BTreeSet<&str> = quoted(item).collect();
        for inner in &strict_types(&ours.read(file))[name] {
            let line = format!("{PAGE}, {chapter}, {key}");
            assert!(words.contains(inner.as_str()), "{line}: lacks `{inner}` of {name} in {file}");
        }
    }
}

#[test]
fn no_type_of_an_experiment_is_forgotten() {
    let chapters = CHAPTERS.iter().map(|(_, file, name)| (*file, *name));
    let known: BTreeSet<_> =
        chapters.chain(INNER.iter().map(|(_, _, file, name)| (*file, *name))).collect();
    let files: BTreeSet<&str> = known.iter().map(|(file, _)| *file).collect();
    for file in files {
        for name in strict_types(&ours().read(file)).keys() {
            let is_known = known.contains(&(file, name.as_str()));
            assert!(is_known, "{PAGE} says nothing of {name} in {file}");
        }
    }
}

#[test]
fn the_example_of_a_claim_file_names_every_key() {
    let page = ours().read(EXAMPLE);
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = page.split(|c| !is_part(c)).collect();
    let mut seen = 0;
    for file in CLAIMS {
        for (name, keys) in strict_types(&ours().read(file)) {
            for key in keys {
                seen += 1;
                assert!(words.contains(key.as_str()), "{EXAMPLE} lacks `{key}` of {name}");
            }
        }
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn keys_are_read_with_their_attributes() {
    let source = "#[serde(deny_unknown_fields)]\npub struct A {\n    /// One: of them.\n    \
                  pub one: u32,\n    #[serde(default, rename = \"where\")]\n    pub(crate) place: \
                  u32,\n    #[serde(skip)]\n    rows: u32,\n    last: u32,\n}\nstruct B {\n    \
                  b: u32,\n}\n";
    let expected = ["last", "one", "where"].map(str::to_owned);
    assert_eq!(strict_types(source), BTreeMap::from([("A".to_owned(), expected.into())]));
}
