//! Every family has a page, which ends with the experiments and the variants that there are.
//!
//! After a change of either `WRITE_FAMILIES=1 cargo test -p lab-tidy --test families` writes the
//! lists anew; what stands above them is written by hand.

use std::{collections::BTreeMap, env, fs};

use lab_tidy::repository::Repository;
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

#[test]
fn every_family_has_a_page_with_its_experiments_and_variants() {
    let ours = ours();
    let variants = variants(&ours);
    assert!(variants.len() >= 5, "{variants:?}");
    for (family, variants) in variants {
        let path = format!("docs/families/{family}.md");
        let page = ours.read(&path);
        let by_hand = page.split(LISTS).next().unwrap_or_default();
        let experiments = experiments(&ours, &family).join("\n");
        let lists = format!("{LISTS}\n{experiments}\n\n## Variants\n\n{}\n", variants.join("\n"));
        let expected = format!("{by_hand}{lists}");
        if env::var_os("WRITE_FAMILIES").is_some() {
            fs::write(ours.root().join(&path), &expected).expect("the page");
            continue;
        }
        assert!(by_hand.len() > 300, "{path} says too little by hand");
        assert_eq!(page, expected, "{path}: write it anew with WRITE_FAMILIES=1");
    }
}
