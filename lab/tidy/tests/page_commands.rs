//! Every command that our pages show is run: docs/commands.tsv says by what.
//!
//! A row is a page, a command as it stands there, and what runs it: a test, `FILE::NAME`; a try of
//! `tools/proof stranger`, by its name; `tools/try/pages.py`, which runs the row itself; another
//! program of ours that runs it; or `unrun: ` and why it is not.

use std::collections::BTreeSet;

use lab_tidy::repository::Repository;

const TABLE: &str = "docs/commands.tsv";
const HEAD: &str = "page\tcommand\trun_by";
/// Its work is a try of `tools/proof stranger`.
const STRANGER: &str = "stranger: ";
const UNRUN: &str = "unrun: ";
/// How the lines of a block begin that are commands; in blocks without a language too.
const PROGRAMS: [&str; 17] = [
    "lab ",
    "cargo ",
    "./enter ",
    "tools/",
    "containers/",
    "nix ",
    "docker ",
    "podman ",
    "bazel ",
    "bazel-remote ",
    "go ",
    "export ",
    "eval ",
    "seq ",
    "target/release/lab ",
    ".ci/",
    "python3 -c",
];
/// How those begin that stand in the middle of a sentence. What the lab takes is held to its help
/// by `commands.rs`.
const INLINE: [&str; 7] =
    ["./enter ", "cargo ", "nix ", "docker ", "podman ", "bazel run", "bazel test"];

/// A line of a block without what is said about it, or `None` where it is no command.
fn command(line: &str) -> Option<String> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let line = line.split("  #").next().unwrap_or_default();
    // In a list of commands two spaces part the command from what it does.
    let line = line.split("   ").next().unwrap_or_default().trim();
    let is_command = PROGRAMS.iter().any(|start| line.starts_with(start));
    is_command.then(|| line.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The commands of a page, in its blocks of code and between its backticks.
fn commands(page: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (turn, part) in page.split("```").enumerate() {
        if turn % 2 == 1 {
            let (language, block) = part.split_once('\n').unwrap_or_default();
            if matches!(language, "" | "sh" | "console") {
                let lines: Vec<&str> =
                    block.split("\\\n").map(|line| line.trim_matches(' ')).collect();
                found.extend(lines.join(" ").lines().filter_map(command));
            }
        } else {
            let joined = part.split_whitespace().collect::<Vec<_>>().join(" ");
            let quoted = joined.split('`').skip(1).step_by(2);
            let is_command = |text: &&str| INLINE.iter().any(|start| text.starts_with(start));
            found.extend(quoted.filter(is_command).map(str::to_owned));
        }
    }
    found
}

fn is_page(path: &str) -> bool {
    let is_doc = path.starts_with("docs/") && path.ends_with(".md");
    is_doc || path == "README.md" || path == "CONTRIBUTING.md"
}

/// What is wrong with what a row says of who runs it.
fn complaint(ours: &Repository, files: &[String], tries: &str, by: &str) -> Option<String> {
    if let Some(why) = by.strip_prefix(UNRUN) {
        return why.is_empty().then(|| "says no reason".to_owned());
    }
    if let Some(name) = by.strip_prefix(STRANGER) {
        return (!tries.contains(&format!("    \"{name}\": (")))
            .then(|| format!("there is no try `{name}`"));
    }
    let (file, test) = by.split_once("::").unwrap_or((by, ""));
    if !files.iter().any(|path| path == file) {
        return Some(format!("there is no {file}"));
    }
    let has = test.is_empty() || ours.read(file).contains(&format!("fn {test}("));
    (!has).then(|| format!("there is no test {test} in {file}"))
}

#[test]
fn every_command_of_our_pages_is_run_by_something() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let files = ours.files();
    let mut shown = BTreeSet::new();
    for page in files.iter().filter(|path| is_page(path)) {
        let commands = commands(&ours.read(page));
        shown.extend(commands.into_iter().map(|command| (page.clone(), command)));
    }
    let tries: String = ["installing", "travelling", "growing"]
        .map(|name| ours.read(&format!("tools/try/{name}.py")))
        .concat();
    let table = ours.read(TABLE);
    let mut rows = table.lines();
    assert_eq!(rows.next(), Some(HEAD));
    let (mut listed, mut wrong) = (BTreeSet::new(), Vec::new());
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [page, command, by] = cells[..] else { panic!("three cells make a row: {row}") };
        let complaint = complaint(&ours, &files, &tries, by);
        wrong.extend(complaint.map(|what| format!("{row}: {what}")));
        listed.insert((page.to_owned(), command.to_owned()));
    }
    wrong.extend(shown.difference(&listed).map(|(page, line)| format!("no row: {page}\t{line}")));
    wrong
        .extend(listed.difference(&shown).map(|(page, line)| format!("not shown: {page}\t{line}")));
    assert!(wrong.is_empty(), "{TABLE}:\n{}", wrong.join("\n"));
    assert!(listed.len() > 50, "{}", listed.len());
}

#[test]
fn a_command_is_told_from_what_is_said_about_it() {
    let page = "Say `cargo fmt` or `lab plan`.\n```console\n$ lab compare './a  b' \\\n  -n x\n\
                at most 60 s\n./enter x        # why\nlab doctor      what it is\n```\n\
                ```toml\nlab = 1\n```\n";
    let found: Vec<String> = commands(page).into_iter().collect();
    assert_eq!(found, ["./enter x", "cargo fmt", "lab compare './a b' -n x", "lab doctor"]);
}
