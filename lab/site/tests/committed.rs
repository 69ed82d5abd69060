//! The pages of the committed reports, with a made-up run: those of records are for lab/cli.

mod markup;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use lab_site::{OneRun, Quantity, Runs, Source, index, page};
use markup::Markup;

/// The files of a folder whose names end so, by name without the end.
fn texts(folder: &Path, end: &str) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let text = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str()?.strip_suffix(end)?.to_owned();
        Some((name, fs::read_to_string(&path).unwrap()))
    };
    files.filter_map(text).collect()
}

fn with_end(texts: BTreeMap<String, String>, end: &str) -> BTreeMap<String, String> {
    texts.into_iter().map(|(name, text)| (format!("{name}{end}"), text)).collect()
}

fn source(folder: &Path) -> Source {
    let run = OneRun { values: vec![Some(1.0)], ..OneRun::default() };
    let quantities = vec![Quantity { unit: "ns", ..Quantity::default() }];
    Source {
        name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        kind: String::new(),
        first: fs::read_to_string(folder.join("report.md")).unwrap(),
        chapters: texts(&folder.join("details"), ".md"),
        pictures: with_end(texts(folder, ".svg"), ".svg"),
        tables: with_end(texts(folder, ".tsv"), ".tsv"),
        runs: Some(Runs { quantities, runs: vec![run], ..Runs::default() }),
    }
}

fn sources() -> Vec<Source> {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let folders = fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<Source> =
        folders.filter(|folder| folder.join("report.md").is_file()).map(|it| source(&it)).collect();
    assert!(sources.len() >= 10, "only {} reports were found", sources.len());
    sources
}

#[test]
fn every_page_is_sound_and_small() {
    let sources = sources();
    let names: BTreeSet<String> =
        sources.iter().map(|source| format!("{}.html", source.name)).collect();
    let mut pages: Vec<(String, String)> =
        sources.iter().map(|source| (source.name.clone(), page(source))).collect();
    pages.push(("index".to_owned(), index(&sources)));
    for (name, html) in pages {
        let markup = Markup::of(&html);
        assert!(markup.faults.is_empty(), "{name}: {:#?}", markup.faults);
        // Runs take up to 700 kB more.
        assert!(html.len() <= 1_300_000, "{name}: {} bytes", html.len());
        for link in markup.links.iter().filter(|link| !link.starts_with('#')) {
            let page = link.split('#').next().unwrap_or_default();
            let is_there = names.contains(page) || page == "index.html";
            assert!(is_there || link.starts_with("https://"), "{name}: {link}");
        }
    }
}

#[test]
fn the_index_has_every_answer_and_says_where_each_sweep_ran() {
    let sources = sources();
    let html = index(&sources);
    for source in sources {
        let entry = html.split(&format!("<h3><a href=\"{}.html\">", source.name)).nth(1);
        let entry = entry.and_then(|entry| entry.split("</article>").next()).unwrap_or_default();
        let question = entry.split("</a>").next().unwrap_or_default();
        assert!(question.len() > 15, "{}: {entry}", source.name);
        let is_sweep = source.tables.contains_key("rows.tsv");
        let answers = entry.contains("<p>") || entry.contains("<li>");
        assert!(answers, "{}: {entry}", source.name);
        let facts = entry.split("<p class=\"facts\">").nth(1).unwrap_or_default();
        assert!(!is_sweep || facts.contains("commit "), "{}: {entry}", source.name);
    }
}
