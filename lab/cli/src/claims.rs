//! `lab audit` without a document: the claims of this repository, their facts and their page.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use lab_audit::{
    claims::{Claims, RawInfo},
    facts::{self, Facts},
};

use crate::{Failure, audit::AuditArgs, paths::Paths};

/// The claim files with the facts that are stored beside them.
struct Corpus {
    claims: Vec<Claims>,
    facts: Vec<Facts>,
}

/// Audits the claims of the repository; with raw data, derives their facts again.
pub(crate) fn audit(args: &AuditArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    let dir = paths.root.join("claims");
    let corpus = load(&dir)?;
    if !args.raw.is_empty() {
        return derive(args, &corpus, &paths.workspace.join("claims"));
    }
    for claims in &corpus.claims {
        let evidence = lab_audit::claims::Evidence::new(claims, &corpus.facts);
        for finding in evidence.findings() {
            let line = finding.place.line.unwrap_or(0);
            println!(
                "{}:{line}: {:?}: {} [{}]",
                finding.place.document, finding.severity, finding.sentence, finding.check
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn load(dir: &Path) -> Result<Corpus, Failure> {
    let mut corpus = Corpus { claims: Vec::new(), facts: Vec::new() };
    for path in files(dir, "toml")? {
        corpus.claims.push(claim_file(&path)?);
    }
    let stored = dir.join("facts");
    if stored.is_dir() {
        for path in files(&stored, "toml")? {
            let facts = Facts::parse(&name(&path), &read(&path)?);
            corpus.facts.push(facts.map_err(|error| Failure::input(error.to_string()))?);
        }
    }
    Ok(corpus)
}

/// One claim file with its tables.
fn claim_file(path: &Path) -> Result<Claims, Failure> {
    let wrong = |error: lab_audit::claims::ClaimsError| Failure::input(error.to_string());
    let (file, text) = (path.display().to_string(), read(path)?);
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut tables = BTreeMap::new();
    for table in Claims::header(&file, &text).map_err(wrong)?.files() {
        let content = read(&beside.join(&table))?;
        tables.insert(table, content);
    }
    Claims::parse(&file, &text, &tables).map_err(wrong)
}

/// Derives the facts of every raw file that is found, and compares or stores them.
fn derive(args: &AuditArgs, corpus: &Corpus, dir: &Path) -> Result<ExitCode, Failure> {
    let mut equal = true;
    let mut found = 0;
    for claims in &corpus.claims {
        for info in &claims.raw {
            let Some(path) = find(&args.raw, info) else {
                println!("{}: not there; the stored facts stand", info.file);
                continue;
            };
            found += 1;
            equal &= derive_one(claims, info, &path, corpus, args.write.then_some(dir))?;
        }
    }
    if found == 0 {
        let names =
            corpus.claims.iter().flat_map(|claims| &claims.raw).map(|raw| raw.file.as_str());
        let names: Vec<_> = names.collect();
        return Err(Failure::input(format!(
            "none of the raw files is there; the claim files name {}",
            names.join(", ")
        )));
    }
    Ok(ExitCode::from(u8::from(!equal)))
}

fn derive_one(
    claims: &Claims,
    info: &RawInfo,
    path: &Path,
    corpus: &Corpus,
    store: Option<&Path>,
) -> Result<bool, Failure> {
    let text = read(path)?;
    let sha256 = lab_audit::sha256(text.as_bytes());
    if sha256 != info.sha256 {
        println!("{}: other bytes than the claim file names (sha256 {sha256})", info.file);
    }
    let raw = info.read(&text).map_err(|error| Failure::input(error.to_string()))?;
    let derived = facts::derive(claims, info, &sha256, &raw)
        .map_err(|error| Failure::input(format!("{}.toml: {error}", claims.document.id)))?;
    let count = derived.all().count();
    if let Some(dir) = store {
        let target = dir.join("facts").join(format!("{}.toml", info.name));
        write(&target, &derived.text())?;
        println!("{}: {count} facts stored", info.file);
        return Ok(true);
    }
    let Some(stored) = corpus.facts.iter().find(|facts| facts.raw == info.name) else {
        println!("{}: {count} facts derived, none stored; --write stores them", info.file);
        return Ok(false);
    };
    let differences = stored.differences(&derived);
    if differences.is_empty() {
        println!("{}: {count} facts derived, all as stored", info.file);
    } else {
        println!("{}: {} of {count} facts differ", info.file, differences.len());
        differences.iter().take(20).for_each(|difference| println!("  {difference}"));
    }
    Ok(differences.is_empty())
}

/// The raw file among the given files, or in the given folders.
fn find(given: &[PathBuf], info: &RawInfo) -> Option<PathBuf> {
    let candidate = |path: &PathBuf| {
        if path.is_dir() { path.join(&info.file) } else { path.clone() }
    };
    let named = |path: &PathBuf| {
        path.is_file() && path.file_name().is_some_and(|name| name == info.file.as_str())
    };
    given.iter().map(candidate).find(named)
}

/// Files of a folder with an ending, by name.
fn files(dir: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries =
        fs::read_dir(dir).map_err(|error| Failure::input(format!("{}: {error}", dir.display())))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| Failure { code: 4, sentence: format!("{}: {error}", path.display()) })
}
