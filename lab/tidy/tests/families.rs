//! Every family has a page, which ends with what its programs read and write, and with the
//! experiments and the variants that there are.
//!
//! After a change of any of them `WRITE_FAMILIES=1 cargo test -p lab-tidy --test families` writes
//! them anew; what stands above is written by hand.

use std::{collections::BTreeMap, env, fs};

use lab_tidy::{protocol, repository::Repository};
use serde_json::Value as Json;
use toml::{Table, Value};

/// Where the lists begin.
const LISTS: &str = "## Experiments\n";

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

fn text<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Variants by family: name and sentence, in the order of names.
fn variants(ours: &Repository) -> BTreeMap<String, Vec<String>> {
    let mut families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ours.variants() {
        let manifest = ours.table(&format!("{folder}/variant.toml"));
        let line = format!(
            "* [`{}`](../../{folder}): {}",
            text(&manifest, "name"),
            text(&manifest, "sentence")
        );
        families.entry(text(&manifest, "family").to_owned()).or_default().push(line);
    }
    families
}

/// The family of an experiment, which may be that of the file that it extends.
fn family_of(ours: &Repository, experiment: &Table) -> String {
    match text(experiment, "extends") {
        "" => text(experiment, "family").to_owned(),
        extended => family_of(ours, &ours.table(&format!("experiments/{extended}"))),
    }
}

/// Links to the reports of the experiment, whose first line is its name.
fn reports(ours: &Repository, experiment: &str) -> String {
    let is_its = |path: &String| ours.read(path).starts_with(&format!("# {experiment}\n"));
    let pages = ours.files().into_iter().filter(|path| path.ends_with("/report.md"));
    let links: Vec<String> = pages
        .filter(|path| path.starts_with("reports/") && is_its(path))
        .map(|path| {
            let folder = path.split('/').nth(1).unwrap_or_default();
            let name = if folder == experiment { "report" } else { folder };
            format!("[{name}](../../{path})")
        })
        .collect();
    if links.is_empty() { String::new() } else { format!(" ({})", links.join(", ")) }
}

/// A line an experiment of the family: its question, and its reports where there are some.
fn experiments(ours: &Repository, family: &str) -> Vec<String> {
    let files = ours.files().into_iter();
    let files = files.filter(|path| path.starts_with("experiments/") && path.ends_with(".toml"));
    files
        .filter(|path| !path.starts_with("experiments/tables/"))
        .filter_map(|path| {
            let experiment = ours.table(&path);
            if family_of(ours, &experiment) != family {
                return None;
            }
            let name = text(&experiment, "name");
            let (question, reports) = (text(&experiment, "question"), reports(ours, name));
            Some(format!("* [`{name}`](../../{path}): {question}{reports}"))
        })
        .collect()
}

/// What a family's programs read and write; nothing of a family that has no protocol of its own.
fn protocol(ours: &Repository, family: &str) -> String {
    let source = format!("lab/protocol/src/{family}.rs");
    if !ours.has(&source) {
        return String::new();
    }
    let source = ours.read(&source);
    let example = |of: &str| ours.read(&format!("lab/protocol/src/examples/{family}.{of}.json"));
    let (spec, outcome) = (example("spec"), example("outcome"));
    let page = protocol::section(&source, &spec, &outcome);
    let outcome: Json = serde_json::from_str(&outcome).expect("JSON");
    let of = |table: &str| outcome[table].as_object().expect("a table").keys().cloned();
    let known: Vec<String> =
        protocol::names(&source).into_iter().map(str::to_owned).chain(of("samples")).collect();
    for name in known.into_iter().chain(of("counters")) {
        assert!(page.contains(&format!("`{name}`")), "{family}: nothing says what `{name}` is");
    }
    page + "\n"
}

#[test]
fn every_family_has_a_page_with_its_protocol_experiments_and_variants() {
    let ours = ours();
    let variants = variants(&ours);
    assert!(variants.len() >= 5, "{variants:?}");
    for (family, variants) in variants {
        let path = format!("docs/families/{family}.md");
        let page = ours.read(&path);
        let by_hand = page.split(LISTS).next().unwrap_or_default();
        let by_hand = by_hand.split(protocol::HEADING).next().unwrap_or_default();
        let protocol = protocol(&ours, &family);
        let experiments = experiments(&ours, &family).join("\n");
        let lists = format!("{LISTS}\n{experiments}\n\n## Variants\n\n{}\n", variants.join("\n"));
        let expected = format!("{by_hand}{protocol}{lists}");
        if env::var_os("WRITE_FAMILIES").is_some() {
            fs::write(ours.root().join(&path), &expected).expect("the page");
            continue;
        }
        assert!(by_hand.len() > 300, "{path} says too little by hand");
        assert_eq!(page, expected, "{path}: write it anew with WRITE_FAMILIES=1");
    }
}
