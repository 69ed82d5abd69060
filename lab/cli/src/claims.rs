//! `lab audit` without a document: the claims of this repository, their facts and their page.

use std::{
    collections::BTreeMap,
    fmt::Display,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use lab_audit::{
    claims::{Claims, Evidence, RawInfo},
    facts::{self, Facts},
    page::Page,
};

use crate::{
    Failure,
    audit::AuditArgs,
    paths::Paths,
    streams::{self, tell},
};

/// The claim files with the facts that are stored beside them.
struct Corpus {
    claims: Vec<Claims>,
    facts: Vec<Facts>,
}

/// Audits the claims of the repository: prints what it finds, or writes or checks their page; with
/// raw data, derives their facts again.
pub(crate) fn audit(args: &AuditArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    refuse(args)?;
    let corpus = load(&paths.root.join("claims"))?;
    if !args.raw.is_empty() {
        return derive(args, &corpus, &paths.workspace.join("claims"));
    }
    let page = page(&corpus, paths)?;
    if args.check {
        return check(&page, &paths.root.join("reports").join("claims"));
    }
    if args.write {
        let dir = paths.workspace.join("reports").join("claims");
        let details = dir.join("details");
        fs::create_dir_all(&details)
            .map_err(|error| Failure::input(format!("{}: {error}", details.display())))?;
        for (name, text) in &page.files {
            write(&dir.join(name), text)?;
        }
        say(paths.shown(&dir.join("report.md")))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut fails = false;
    for claims in &corpus.claims {
        fails |= print(claims, &corpus.facts, args)?;
    }
    Ok(ExitCode::from(u8::from(fails)))
}

/// Audits one claim file; facts are looked for beside it.
pub(crate) fn one(path: &Path, args: &AuditArgs) -> Result<ExitCode, Failure> {
    refuse(args)?;
    let claims = claim_file(path)?;
    let beside = path.parent().unwrap_or(Path::new(".")).join("facts");
    let mut facts = stored(&beside)?;
    for info in &claims.raw {
        // Raw data at hand stand before what is stored.
        let Some(raw) = find(&args.raw, info) else { continue };
        facts.retain(|facts| facts.raw != info.name);
        facts.push(derived(&claims, info, &raw)?);
    }
    Ok(ExitCode::from(u8::from(print(&claims, &facts, args)?)))
}

/// Refuses what means nothing for claims, and would be left out silently.
fn refuse(args: &AuditArgs) -> Result<(), Failure> {
    args.for_reports_alone().map_or(Ok(()), |flag| {
        let sentence = format!("{flag} is for Markdown reports; leave it out for claims");
        Err(Failure::input(sentence))
    })
}

/// Prints a line for people.
fn say(line: impl Display) -> Result<(), Failure> {
    streams::print(format!("{line}\n").as_bytes())
}

/// Prints one document's findings; whether one has the grade that makes the exit code 1.
fn print(claims: &Claims, facts: &[Facts], args: &AuditArgs) -> Result<bool, Failure> {
    let findings = Evidence::new(claims, facts).findings();
    let findings = findings.map_err(|error| Failure::input(error.to_string()))?;
    if args.json {
        let text = serde_json::to_string_pretty(&findings);
        say(text.map_err(|error| Failure::lab(error.to_string()))?)?;
    } else {
        say(format_args!("{}: {} findings", claims.document.title, findings.len()))?;
        streams::print(lab_audit::output::listed(&findings, args.top).as_bytes())?;
    }
    Ok(findings.iter().any(|finding| args.fail_on.fails(finding.severity)))
}

fn page(corpus: &Corpus, paths: &Paths) -> Result<Page, Failure> {
    let mut tables = BTreeMap::new();
    for path in files(&paths.root.join("reports"), "")? {
        for table in files(&path, "tsv")? {
            let stem = table.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            // The page's own tables are no evidence.
            if name(&path) != "claims" {
                tables.insert(format!("{}/{stem}", name(&path)), read(&table)?);
            }
        }
    }
    lab_audit::page::page(&corpus.claims, &corpus.facts, &tables)
        .map_err(|error| Failure::input(error.to_string()))
}

fn check(page: &Page, dir: &Path) -> Result<ExitCode, Failure> {
    let differs = |(name, text): &&(String, String)| {
        fs::read_to_string(dir.join(name)).ok().as_ref() != Some(text)
    };
    let different: Vec<_> =
        page.files.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if different.is_empty() {
        say("reports/claims: every file follows from claims/ and reports/")?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(format_args!(
        "reports/claims differs from what claims/ and reports/ give: {}; rewrite it with \
         `lab audit --write`",
        different.join(", ")
    ));
    Ok(ExitCode::from(1))
}

fn load(dir: &Path) -> Result<Corpus, Failure> {
    let mut corpus = Corpus { claims: Vec::new(), facts: Vec::new() };
    for path in files(dir, "toml")? {
        corpus.claims.push(claim_file(&path)?);
    }
    corpus.facts = stored(&dir.join("facts"))?;
    Ok(corpus)
}

/// The facts of a folder; none where it is not there.
fn stored(dir: &Path) -> Result<Vec<Facts>, Failure> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let parse = |path: PathBuf| {
        Facts::parse(&name(&path), &read(&path)?).map_err(|e| Failure::input(e.to_string()))
    };
    files(dir, "toml")?.into_iter().map(parse).collect()
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
                say(format_args!("{}: not found; the stored facts are kept", info.file))?;
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
            "no raw file was found; the claim files name {}",
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
    let derived = derived(claims, info, path)?;
    let count = derived.all().count();
    if let Some(dir) = store {
        let target = dir.join("facts").join(format!("{}.toml", info.name));
        write(&target, &derived.text())?;
        say(format_args!("{}: {count} facts stored", info.file))?;
        return Ok(true);
    }
    let Some(stored) = corpus.facts.iter().find(|facts| facts.raw == info.name) else {
        let what = "facts derived, none stored; --write stores them";
        say(format_args!("{}: {count} {what}", info.file))?;
        return Ok(false);
    };
    let differences = stored.differences(&derived);
    if differences.is_empty() {
        say(format_args!("{}: {count} facts derived, all as stored", info.file))?;
    } else {
        say(format_args!("{}: {} of {count} facts differ", info.file, differences.len()))?;
        for difference in differences.iter().take(20) {
            say(format_args!("  {difference}"))?;
        }
    }
    Ok(differences.is_empty())
}

/// The facts of a raw file, derived from it.
fn derived(claims: &Claims, info: &RawInfo, path: &Path) -> Result<Facts, Failure> {
    let text = read(path)?;
    let sha256 = lab_audit::sha256(text.as_bytes());
    if sha256 != info.sha256 {
        tell(format_args!("{}: sha256 {sha256} differs from the claim file's", info.file));
    }
    let raw = info.read(&text).map_err(|error| Failure::input(error.to_string()))?;
    facts::derive(claims, info, &sha256, &raw)
        .map_err(|error| Failure::input(format!("{}.toml: {error}", claims.document.id)))
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

/// Files of a folder with an ending, by name; with an empty one, its folders.
fn files(dir: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let entries =
        fs::read_dir(dir).map_err(|error| Failure::input(format!("{}: {error}", dir.display())))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> = paths
        .filter(|path| {
            let found = path.extension().unwrap_or_default();
            found == ending && path.is_dir() == ending.is_empty()
        })
        .collect();
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
