//! `claims`: what published documents say, held against their own numbers and their raw data.

#![forbid(unsafe_code)]

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use lab_audit::Severity;
use lab_claims::{
    Claims, Evidence, RawInfo,
    facts::{self, Facts},
    page::Page,
};

/// Audits claim files, by default all of claims/, and writes or checks reports/claims.
///
/// Exit code: 0 nothing is impossible, 1 something is or a page or fact differs, 2 a file cannot be
/// read or written.
#[derive(Parser)]
#[command(name = "claims")]
struct Arguments {
    /// One claim file (TOML), with its tables and facts/ beside it [default: those in claims/]
    file: Option<PathBuf>,
    /// Raw data that claim files name, or folders of them: facts are derived from them
    #[arg(long, value_name = "PATH")]
    raw: Vec<PathBuf>,
    /// Store the facts of --raw, or rewrite reports/claims
    #[arg(long, conflicts_with = "file")]
    write: bool,
    /// Fail if reports/claims differs from what claims/ and reports/ give
    #[arg(long, conflicts_with_all = ["write", "raw", "file"])]
    check: bool,
    /// Print findings as JSON
    #[arg(long)]
    json: bool,
    /// Number of findings to print of each document
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Folder that holds claims/ and reports/
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("claims: {error:#}"));
            ExitCode::from(2)
        }
    }
}

fn run(args: &Arguments) -> Result<ExitCode> {
    if let Some(file) = &args.file {
        return one(file, args);
    }
    // `bazel run` starts a program among links, and names the checkout.
    let checkout = env::var_os("BUILD_WORKSPACE_DIRECTORY").map(PathBuf::from);
    let workspace = checkout.unwrap_or_else(|| args.root.clone());
    let corpus = load(&args.root.join("claims"))?;
    if !args.raw.is_empty() {
        return derive(args, &corpus, &workspace.join("claims"));
    }
    let page = page(&corpus, &args.root)?;
    if args.check {
        return check(&page, &args.root.join("reports/claims"));
    }
    if args.write {
        let dir = workspace.join("reports/claims");
        page.files.iter().try_for_each(|(name, text)| write(&dir.join(name), text))?;
        say(&format!("{}", dir.join("report.md").display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut fails = false;
    for claims in &corpus.claims {
        fails |= print(claims, &corpus.facts, args)?;
    }
    Ok(ExitCode::from(u8::from(fails)))
}

/// Prints a line. A reader that closes its end has seen enough.
fn say(line: &str) -> Result<()> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output")
        }
        _ => Ok(()),
    }
}

/// A line to the standard error; what becomes of it changes nothing.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// The claim files with the facts that are stored beside them.
struct Corpus {
    claims: Vec<Claims>,
    facts: Vec<Facts>,
}

/// Audits one claim file; facts are looked for beside it.
fn one(path: &Path, args: &Arguments) -> Result<ExitCode> {
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

/// Prints one document's findings; whether one is impossible.
fn print(claims: &Claims, facts: &[Facts], args: &Arguments) -> Result<bool> {
    let findings = Evidence::new(claims, facts).findings()?;
    if args.json {
        say(&serde_json::to_string_pretty(&findings)?)?;
    } else {
        say(&format!("{}: {} findings", claims.document.title, findings.len()))?;
        say(lab_audit::output::listed(&findings, args.top).trim_end())?;
    }
    Ok(findings.iter().any(|finding| finding.severity == Severity::Impossible))
}

fn page(corpus: &Corpus, root: &Path) -> Result<Page> {
    let mut tables = BTreeMap::new();
    for path in files(&root.join("reports"), "")? {
        for table in files(&path, "tsv")? {
            let stem = table.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            // The page's own tables are no evidence.
            if name(&path) != "claims" {
                tables.insert(format!("{}/{stem}", name(&path)), read(&table)?);
            }
        }
    }
    Ok(lab_claims::page::page(&corpus.claims, &corpus.facts, &tables)?)
}

fn check(page: &Page, dir: &Path) -> Result<ExitCode> {
    let differs = |(name, text): &&(String, String)| {
        fs::read_to_string(dir.join(name)).ok().as_ref() != Some(text)
    };
    let different: Vec<_> =
        page.files.iter().filter(differs).map(|(name, _)| name.as_str()).collect();
    if different.is_empty() {
        say("reports/claims: every file follows from claims/ and reports/")?;
        return Ok(ExitCode::SUCCESS);
    }
    tell(&format!(
        "reports/claims differs from what claims/ and reports/ give: {}; rewrite it with \
         `claims --write`",
        different.join(", ")
    ));
    Ok(ExitCode::from(1))
}

fn load(dir: &Path) -> Result<Corpus> {
    let mut corpus = Corpus { claims: Vec::new(), facts: Vec::new() };
    for path in files(dir, "toml")? {
        corpus.claims.push(claim_file(&path)?);
    }
    corpus.facts = stored(&dir.join("facts"))?;
    Ok(corpus)
}

/// The facts of a folder; none where it is not there.
fn stored(dir: &Path) -> Result<Vec<Facts>> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let parse = |path: PathBuf| Ok(Facts::parse(&name(&path), &read(&path)?)?);
    files(dir, "toml")?.into_iter().map(parse).collect()
}

/// One claim file with its tables.
fn claim_file(path: &Path) -> Result<Claims> {
    let (file, text) = (path.display().to_string(), read(path)?);
    let beside = path.parent().unwrap_or(Path::new("."));
    let mut tables = BTreeMap::new();
    for table in Claims::header(&file, &text)?.files() {
        let content = read(&beside.join(&table))?;
        tables.insert(table, content);
    }
    Ok(Claims::parse(&file, &text, &tables)?)
}

/// Derives the facts of every raw file that is found, and compares or stores them.
fn derive(args: &Arguments, corpus: &Corpus, dir: &Path) -> Result<ExitCode> {
    let mut equal = true;
    let mut found = 0;
    for claims in &corpus.claims {
        for info in &claims.raw {
            let Some(path) = find(&args.raw, info) else {
                say(&format!("{}: not found; the stored facts are kept", info.file))?;
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
        bail!("no raw file was found; the claim files name {}", names.join(", "));
    }
    Ok(ExitCode::from(u8::from(!equal)))
}

fn derive_one(
    claims: &Claims,
    info: &RawInfo,
    path: &Path,
    corpus: &Corpus,
    store: Option<&Path>,
) -> Result<bool> {
    let derived = derived(claims, info, path)?;
    let count = derived.all().count();
    if let Some(dir) = store {
        let target = dir.join("facts").join(format!("{}.toml", info.name));
        write(&target, &derived.text())?;
        say(&format!("{}: {count} facts stored", info.file))?;
        return Ok(true);
    }
    let Some(stored) = corpus.facts.iter().find(|facts| facts.raw == info.name) else {
        let what = "facts derived, none stored; --write stores them";
        say(&format!("{}: {count} {what}", info.file))?;
        return Ok(false);
    };
    let differences = stored.differences(&derived);
    if differences.is_empty() {
        say(&format!("{}: {count} facts derived, all as stored", info.file))?;
    } else {
        say(&format!("{}: {} of {count} facts differ", info.file, differences.len()))?;
        for difference in differences.iter().take(20) {
            say(&format!("  {difference}"))?;
        }
    }
    Ok(differences.is_empty())
}

/// The facts of a raw file, derived from it.
fn derived(claims: &Claims, info: &RawInfo, path: &Path) -> Result<Facts> {
    let text = read(path)?;
    let sha256 = lab_audit::sha256(text.as_bytes());
    if sha256 != info.sha256 {
        tell(&format!("{}: sha256 {sha256} differs from the claim file's", info.file));
    }
    let raw = info.read(&text)?;
    facts::derive(claims, info, &sha256, &raw)
        .map_err(|error| anyhow!("{}.toml: {error}", claims.document.id))
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
fn files(dir: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| dir.display().to_string())?;
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

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn write(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .with_context(|| path.display().to_string())
}
