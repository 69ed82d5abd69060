//! What was run, on what, and whether the lab itself was working: what every family's report says.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Unit::{self, Bytes};
use lab_record::{Comparison, Run, Status, VariantEntry, Verification};
use serde_json::Value;

use crate::aa::{AA_LEVEL, AaTest};
use crate::chapter::Column::{Code, Count, Levels, Number, Text, Words};
use crate::frame::Row;
use crate::frame::{cell_key, is_gated, name};
use crate::measure::Measured;
use crate::page::Page;
use crate::study::Study;
use crate::study::{is_unpaired, show_shift_on};
use crate::tables::show_p;
use crate::tables::{Table, from_to, several, show};
use crate::{carried, noise};

const FAILURES_SHOWN: usize = 20;

/// What was run, and what shows that the lab was working.
pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("How it was measured");
    what_was_run(study, page);
    page.markdown.push_str("### The lab itself\n\n");
    was_the_lab_working(study, page);
}

/// Commit, machine, size of the sweep, what is missing, and the programs.
fn what_was_run(study: &Study, page: &mut Page) {
    identity(study, page);
    page.item(&counted(study));
    page.items(study.family.run_facts(study));
    page.items(without_a_run(study));
    page.item(&inventory(study));
    unsupported(study, page);
    page.markdown.push('\n');
    let environment = environment(study);
    if !environment.is_empty() {
        page.data("environment", &environment);
    }
    page.data("variants", &programs(study));
    page.data("rows", &rows_per_cell(study));
}

/// Known answers, checked answers, failures and noise.
fn was_the_lab_working(study: &Study, page: &mut Page) {
    first_aa(study, page);
    page.items(study.family.lab_checks(study));
    if let Some(table) = carried::table(study) {
        page.beside("carry-over", carried::HOLDS, &table);
    }
    page.item(&verified(study));
    failures(study, page);
    noise::write(study, page);
}

/// Commit, machine, size of the sweep.
fn identity(study: &Study, page: &mut Page) {
    let file = &study.frame.run_file;
    let commit = file.git.as_ref().map_or("no git checkout".to_owned(), |git| {
        let state = if git.dirty { "with local changes" } else { "clean" };
        format!("commit `{}`, {state}", git.commit)
    });
    page.item(&format!("Code: {commit}."));
    let machine = &file.machine;
    page.item(&format!(
        "Machine: {}, {}{}, {}, {} {}.",
        machine.cpu_model,
        several(machine.cpus as usize, "CPU"),
        pinning(study),
        show(machine.memory_bytes as f64, Unit::Bytes),
        machine.kernel,
        machine.arch
    ));
    page.item(&format!(
        "Sweep: {}, {}, {} planned, seed {}, `lab {}`.",
        if is_unpaired(study.frame) { "unpaired" } else { "paired" },
        several(file.blocks as usize, "block"),
        several(file.runs_planned as usize, "run"),
        file.seed,
        file.arguments.join(" ")
    ));
    if let Some(head) = &study.frame.head {
        page.item(&format!("Record: head `{head}`."));
    }
}

/// Rows by what became of them.
fn counted(study: &Study) -> String {
    let rows = &study.rows;
    let count = |keep: &dyn Fn(&Run) -> bool| rows.iter().filter(|row| keep(&row.run)).count();
    let mut sizes: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for one in &study.all {
        *sizes.entry((one.variant(), cell_key(&one.row.run))).or_default() += 1;
    }
    let range: BTreeSet<usize> = sizes.values().copied().collect();
    let (least, most) = (range.first().unwrap_or(&0), range.last().unwrap_or(&0));
    let each = from_to(least, most);
    let further = [
        ("in rounds", study.in_rounds.len()),
        ("warm-up", count(&|run| run.warmup)),
        ("failed", count(&|run| !run.warmup && run.status == Status::Failed)),
        ("unsupported", count(&|run| !run.warmup && run.status == Status::Unsupported)),
        ("gated", count(&|run| is_gated(run))),
    ];
    let further = further.iter().filter(|(what, runs)| *runs > 0 || *what == "failed");
    let further: String = further.map(|(what, runs)| format!(", {what} {runs}")).collect();
    format!(
        "Rows: {}; analysed {} ({each} for each of {} variants in cells){further}.",
        rows.len(),
        study.all.len(),
        sizes.len(),
    )
}

/// Refusals, once each: they are no failures, and no number rests on them.
fn unsupported(study: &Study, page: &mut Page) {
    let mut refused: BTreeMap<(&str, &str), Vec<&Run>> = BTreeMap::new();
    for run in study.rows.iter().map(|row| &row.run) {
        if run.status == Status::Unsupported && !run.warmup {
            let reason = run.reason.as_deref().unwrap_or("no reason was recorded");
            refused.entry((&run.variant, reason)).or_default().push(run);
        }
    }
    if refused.is_empty() {
        return;
    }
    let refusers: BTreeSet<&str> = refused.keys().map(|(variant, _)| *variant).collect();
    let refusers: Vec<String> = refusers.iter().map(|name| format!("`{name}`")).collect();
    page.item(&format!("Refused cells, `unsupported.tsv`: {}.", refusers.join(", ")));
    let cells = |runs: &[&Run]| runs.iter().map(|run| &run.cell).collect::<BTreeSet<_>>().len();
    let table = Table::over(
        refused,
        &[
            Code("", "variant", &|((variant, _), _)| variant),
            Count("", "cells", &|(_, runs)| cells(runs)),
            Text("", "reason", &|((_, reason), _)| reason),
            Count("", "runs", &|(_, runs)| runs.len()),
        ],
    );
    page.data("unsupported", &table);
}

/// Runs and blocks of every variant in every cell.
fn rows_per_cell(study: &Study) -> Table {
    let factors: BTreeSet<&str> =
        study.all.iter().flat_map(|one| one.row.run.cell.keys().map(String::as_str)).collect();
    let known = study.family.factors().iter().map(|factor| factor.name);
    let known: Vec<&str> = known.filter(|name| factors.contains(name)).collect();
    let variants = study.measured_variants();
    let blocks = |runs: Vec<&Measured>| {
        runs.iter().map(|one| one.row.run.block).collect::<BTreeSet<u32>>().len()
    };
    Table::over(
        study.places(&variants),
        &[
            Text("", "variant", &|(variant, _)| variant),
            Levels(&known, &|(_, cell)| cell),
            Count("", "runs", &|(variant, cell)| study.runs(variant, cell).len()),
            Count("", "blocks", &|(variant, cell)| blocks(study.runs(variant, cell))),
        ],
    )
}

/// The measured programs of others by version.
fn inventory(study: &Study) -> String {
    let ours = format!("{}-", study.family.name());
    let others = study.frame.run_file.variants.iter();
    let others = others.filter(|one| !one.measures.starts_with(&ours));
    let mut programs: Vec<String> = Vec::new();
    for program in others.map(|one| format!("{} {}", one.measures, one.version)) {
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    if programs.is_empty() {
        programs.push("all of this repository".to_owned());
    }
    let mut sessions = study.frame.sessions.iter().rev();
    let by = sessions.find_map(|session| session.environment.get("built_by")?.as_str());
    let built = by.filter(|by| !by.is_empty()).map_or(String::new(), |by| format!(", {by}'s"));
    format!("Programs{built}: {}.", programs.join(", "))
}

/// Variants of the sweep that no number below speaks of.
fn without_a_run(study: &Study) -> Vec<String> {
    let measured = study.measured_variants();
    let missing = study.frame.variants().into_iter().filter(|name| !measured.contains(name));
    missing
        .map(|name| format!("**`{name}` has no analysed run**; nothing is said about it."))
        .collect()
}

fn first_aa(study: &Study, page: &mut Page) {
    if study.frame.twins().is_empty() {
        page.item(
            "A/A: this sweep has no twin, so nothing shows how far two equal programs differ here.",
        );
        return;
    }
    let mut passed: Vec<String> = Vec::new();
    for (on, twin, test) in controls(study) {
        let metric = study.noun(&on.metric);
        let p = match test.p {
            Some(p) => format!("p {}, {} pairs", show_p(p), test.n),
            None => format!("{} pairs", test.n),
        };
        // The first screen has the sizes, unless it compares nothing.
        let size = match study.has_only_reference() {
            true => format!(", {}", show_shift_on(on.scale, study.unit(&on.metric), test.shift)),
            false => String::new(),
        };
        if test.failed() {
            page.item(&format!(
                "A/A on {metric}, `{twin}`: **failed** at {AA_LEVEL} ({p}{size}): all that rests \
                 on this metric is withheld."
            ));
            continue;
        }
        let is_tested = test.p.is_some() || study.questions.comparison(on).is_some();
        let word = if is_tested { "passed" } else { "not tested" };
        let told = format!("{metric} {word}{size}");
        if !passed.contains(&told) {
            passed.push(told);
        }
    }
    if !passed.is_empty() {
        page.item(&format!("A/A at {AA_LEVEL}, `aa-N.tsv`: {}.", passed.join(", ")));
    }
}

/// The A/A tests of the declared comparisons, then those of what else questions rest on.
fn controls<'s>(study: &'s Study) -> impl Iterator<Item = (&'s Comparison, &'s str, &'s AaTest)> {
    let declared = study.compared.iter().map(|one| (one.comparison, &one.aa));
    let elsewhere = study.controls.iter().map(|one| (&one.on, &one.tests));
    declared
        .chain(elsewhere)
        .flat_map(|(on, tests)| tests.iter().map(move |(twin, test)| (on, *twin, test)))
}

/// Whether variants were pinned to CPUs. Why, `environment.tsv` says.
fn pinning(study: &Study) -> String {
    let sessions = study.frame.sessions.iter().rev();
    let mut said = sessions.flat_map(|session| &session.environment);
    let pinned = said.find(|(key, _)| key.contains("pin")).map(|(_, value)| plain(value));
    let pinned = pinned.as_deref().unwrap_or("nothing recorded about pinning");
    format!(" ({})", pinned.split(':').next().unwrap_or_default())
}

/// How far the answers of the analysed runs were held against what is known.
fn verified(study: &Study) -> String {
    let found: Vec<Verification> = study.all.iter().map(|one| verification(study, one)).collect();
    let count = |state| found.iter().filter(|found| **found == state).count();
    let states = [
        (Verification::Verified, "verified"),
        (Verification::Checked, "checked"),
        (Verification::Unchecked, "unchecked"),
    ];
    let counts = states.map(|(state, word)| (count(state), word)).into_iter();
    let counts = counts.filter(|(runs, _)| *runs > 0).map(|(runs, word)| format!("{runs} {word}"));
    format!("Answers: {}.", counts.collect::<Vec<_>>().join(", "))
}

fn verification(study: &Study, one: &Measured) -> Verification {
    let run = &one.row.run;
    let entry = study.entry(&run.variant);
    entry.map_or(run.verification, |entry| study.family.verification(entry, run))
}

/// The runs that failed.
fn failures(study: &Study, page: &mut Page) {
    let is_failure = |row: &&&Row| row.run.status == Status::Failed;
    let failed: Vec<&&Row> = study.rows.iter().filter(is_failure).collect();
    if failed.is_empty() {
        return;
    }
    page.item(&format!("Failed runs: {}.", failed.len()));
    page.markdown.push('\n');
    let reason = |run: &Run| run.reason.clone().unwrap_or("no reason was recorded".to_owned());
    let table = Table::over(
        failed.iter().take(FAILURES_SHOWN).map(|row| &row.run),
        &[
            Words("run", "run", &|run| name(run)),
            Words("status", "status", &|run| format!("{:?}", run.status).to_lowercase()),
            Words("reason", "reason", &|run| reason(run)),
        ],
    );
    page.table("failures", &table);
    if failed.len() > FAILURES_SHOWN {
        page.paragraph(&format!("and {} more in `runs.jsonl`.", failed.len() - FAILURES_SHOWN));
    }
}

fn environment(study: &Study) -> Table {
    let session = study.frame.sessions.iter().rev().find(|one| !one.environment.is_empty());
    Table::over(
        session.into_iter().flat_map(|session| &session.environment),
        &[Code("", "key", &|(key, _)| key), Words("", "value", &|(_, value)| plain(value))],
    )
}

/// A text without its quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The version of what is measured, and what reads the program.
fn version(entry: &VariantEntry) -> String {
    let by = entry.interpreter.iter().map(|interpreter| format!(" ({interpreter})"));
    std::iter::once(entry.version.clone()).chain(by).collect()
}

fn programs(study: &Study) -> Table {
    let hash = |one: &VariantEntry| one.binary_sha256.chars().take(12).collect::<String>();
    Table::over(
        &study.frame.run_file.variants,
        &[
            Code("", "variant", &|one| &one.variant),
            Text("", "measures", &|one| &one.measures),
            Words("", "version", &|one| version(one)),
            Words("", "features", &|one| one.features.join(" ")),
            Text("", "twin_of", &|one| one.twin_of.as_deref().unwrap_or("")),
            Number("", "binary_bytes", Bytes, &|one| Some(one.binary_bytes as f64)),
            Words("", "binary_sha256", &|one| hash(one)),
        ],
    )
}
