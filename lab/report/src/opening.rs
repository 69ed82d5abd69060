//! The first lines: the question, and what may be said of it.

use std::collections::BTreeMap;

use lab_record::{Comparison, Contrast, ExpectationKind, RunFile};
use lab_stats::{describe::median, outcome::Outcome};

use crate::aa::{self, Controls};
use crate::answer::answer;
use crate::carried;
use crate::chapter::Column::{Any, Code};
use crate::contrast::Contrasted;
use crate::frame::is_gated;
use crate::page::Page;
use crate::study::{Compared, Study};
use crate::tables::{Entry, Table, several};

/// Further comparisons stand in the chapter of verdicts alone.
const COMPARISONS_SHOWN: usize = 4;
/// Further contrasts in theirs.
const CONTRASTS_SHOWN: usize = 12;

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.paragraph(&format!("**{}**", question(&study.frame.run_file)));
    if let Some(answers) = answers(study) {
        page.answer(answers);
    }
    if let Some(profile) = &study.frame.run_file.profile {
        page.item(&format!("**Profile `{profile}`**: not the whole experiment."));
    }
    page.items(study.family.premise(study));
    if study.has_only_reference() {
        page.item(&only_reference(study));
        page.items(study.contrasted.iter().map(|one| of_levels(study, one)));
    } else {
        page.items(study.compared.iter().map(|compared| sentence(study, compared)));
    }
    if study.compared.is_empty() && !study.contrasted.is_empty() {
        page.items(of_contrasts_controls(study));
    }
    page.items(expected(study));
    page.items(carried::sentence(study));
    if study.compared.is_empty() && study.contrasted.is_empty() {
        let ran: Vec<String> = study.variants().iter().map(|name| format!("`{name}`")).collect();
        page.item(&format!(
            "This run declares no comparison: it is a smoke test, and no verdict is given. It ran \
             {}.",
            ran.join(", ")
        ));
    }
    page.markdown.push('\n');
    match study.compared.iter().any(|compared| compared.lines.iter().any(|line| line.n > 0)) {
        true => page.markdown_table(&estimates(study)),
        false if !study.contrasted.is_empty() => page.markdown_table(&of_contrasts(study)),
        false => {}
    }
    page.paragraph(&provenance(study));
}

/// The family's answer, then that of the declared comparisons.
fn answers(study: &Study) -> Option<String> {
    let all: Vec<String> =
        [study.family.answer(study), answer(study)].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// One number a cell: what each declared comparison estimates for each variant.
fn estimates(study: &Study) -> Table {
    let shown: Vec<_> = study.compared.iter().take(COMPARISONS_SHOWN).collect();
    let heads: Vec<String> = shown.iter().map(|one| head(study, one.comparison, &shown)).collect();
    let first = format!("against `{}`", study.reference());
    let mut columns = vec![(first.as_str(), "variant")];
    columns.extend(heads.iter().map(|head| (head.as_str(), head.as_str())));
    let mut table = Table::new(&columns);
    let mut variants: Vec<&str> = Vec::new();
    for line in shown.iter().flat_map(|compared| &compared.lines).filter(|line| line.n > 0) {
        if !variants.contains(&line.variant.as_str()) {
            variants.push(&line.variant);
        }
    }
    for variant in variants {
        let role = study.no_choice(variant).map(|role| format!(" ({role})"));
        let mut row = vec![Entry::text(format!("`{variant}`{}", role.unwrap_or_default()))];
        row.extend(shown.iter().map(|compared| {
            let line = compared.lines.iter().find(|line| line.variant == variant);
            Entry::optional(line.and_then(|line| Some(compared.in_short(line.estimate()?))))
        }));
        table.row(row);
    }
    let mut row = vec![Entry::text("detectable, median")];
    row.extend(shown.iter().map(|compared| {
        let all: Vec<f64> = compared.lines.iter().filter_map(|line| line.detectable).collect();
        Entry::optional(
            median(&all).map(|value| format!("±{}", compared.show(value).trim_start_matches('+'))),
        )
    }));
    table.row(row);
    table
}

/// More of them would not be read in the head of a column.
const LEVELS_NAMED: usize = 3;

/// The metric in words, with the levels that tell it from other comparisons on it.
fn head(study: &Study, comparison: &Comparison, shown: &[&Compared]) -> String {
    format!("{}{}", study.noun(&comparison.metric), place(comparison, shown))
}

/// " (workers 2)", " (6 levels of config)".
fn place(comparison: &Comparison, shown: &[&Compared]) -> String {
    let others = || shown.iter().filter(|one| one.comparison.metric == comparison.metric);
    let differs = |factor: &&String| {
        others().any(|one| one.comparison.cells.get(*factor) != comparison.cells.get(*factor))
    };
    let told = comparison.cells.keys().filter(differs);
    let told = told.map(|factor| match &comparison.cells[factor][..] {
        many if many.len() > LEVELS_NAMED => format!("{} levels of {factor}", many.len()),
        few => format!("{factor} {}", few.join("/")),
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
}

fn of_contrasts(study: &Study) -> Table {
    let estimate = |one: &Contrasted| Some(one.show(one.line.estimate()?));
    Table::over(
        study.contrasted.iter().take(CONTRASTS_SHOWN),
        &[
            Code("contrast", "", &|one| &one.contrast.id),
            Any("estimate", "", &|one| Entry::optional(estimate(one))),
            Any("detectable", "", &|one| Entry::optional(one.detectable())),
            Any("outcome", "outcome", &|one| one.line.finding.word()),
        ],
    )
}

/// When, where and of what.
fn provenance(study: &Study) -> String {
    let file = &study.frame.run_file;
    let commit = file.git.as_ref().map_or("no commit known".to_owned(), |git| {
        let short: String = git.commit.chars().take(12).collect();
        format!("commit {short}{}", if git.dirty { " with changes" } else { "" })
    });
    let asked = match study.in_rounds.len() {
        0 => String::new(),
        runs => format!(" and {} in rounds", several(runs, "run")),
    };
    let analysed = study.all.iter().chain(&study.in_rounds);
    let disturbed = match analysed.filter(|one| is_gated(&one.row.run)).count() {
        0 => String::new(),
        runs => format!(" ({runs} disturbed from outside)"),
    };
    format!(
        "{} ({}), {}, one session, {}, {}{asked}{disturbed}, {commit}.",
        file.machine.cpu_model.trim(),
        several(file.machine.cpus as usize, "CPU"),
        day(file.started_unix_s),
        several(file.blocks as usize, "block"),
        several(study.all.len(), "analysed run"),
    )
}

/// The day of a time in seconds since 1970, by the civil calendar. Source: Howard Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms" (2021), `civil_from_days`.
pub fn day(unix_s: u64) -> String {
    let days = (unix_s / 86_400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

/// The question of a sweep, in the experiment's own words.
pub fn question(file: &RunFile) -> String {
    let text = file.experiment_toml.parse::<toml::Table>().unwrap_or_default();
    let question = text.get("question").and_then(toml::Value::as_str);
    question.unwrap_or("The experiment states no question.").to_owned()
}

/// "Elapsed time against `fast`: slower: `slow`; cannot tell: `other`."
fn sentence(study: &Study, compared: &Compared) -> String {
    let mut by_outcome: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for line in compared.lines.iter().filter(|line| line.n > 0) {
        by_outcome.entry(line.finding.outcome).or_default().push(format!("`{}`", line.variant));
    }
    let listed: Vec<String> = by_outcome
        .into_iter()
        .map(|(outcome, variants)| format!("{outcome}: {}", variants.join(", ")))
        .collect();
    let listed = if listed.is_empty() { "not measured".to_owned() } else { listed.join("; ") };
    let all: Vec<&Compared> = study.compared.iter().collect();
    let metric = study.heading(&compared.comparison.metric);
    let place = place(compared.comparison, &all);
    let aa = aa::in_words(study, compared.comparison, &compared.aa);
    let is_measured = compared.lines.iter().any(|line| line.n > 0);
    let aa = if aa.is_empty() && is_measured { " No A/A ran.".to_owned() } else { aa };
    format!("{metric}{place} against `{}`: {listed}.{aa}", study.reference())
}

/// The control of contrasts, on the metrics that they are on.
fn of_contrasts_controls(study: &Study) -> Vec<String> {
    let is_asked = |one: &&Controls| {
        study.contrasted.iter().any(|contrasted| contrasted.contrast.metric == one.on.metric)
    };
    let ran = study.controls.iter().filter(is_asked).filter(|one| !one.tests.is_empty());
    let said = ran.map(|one| {
        format!("On {}:{}", study.noun(&one.on.metric), aa::in_words(study, &one.on, &one.tests))
    });
    let said: Vec<String> = said.collect();
    if said.is_empty() { vec!["No A/A ran.".to_owned()] } else { said }
}

/// The control of contrasts is a twin of the reference, on the first metric that is declared.
fn only_reference(study: &Study) -> String {
    let first = study.compared.iter().find(|compared| !compared.aa.is_empty());
    // The metrics of contrasts have controls of their own.
    let none = if study.compared.is_empty() { "" } else { ", without an A/A" };
    first.map_or(format!("Only the reference ran{none}."), |compared| {
        let metric = study.noun(&compared.comparison.metric);
        let controls = aa::in_words(study, compared.comparison, &compared.aa);
        format!("Only the reference and its twin ran; on {metric}:{controls}")
    })
}

/// "Wall time with servers 2 against 1: -40 %, faster (`a_server_each`)."
fn of_levels(study: &Study, one: &Contrasted) -> String {
    let Contrast { id, metric, factor, level, reference, .. } = one.contrast;
    let estimate = one.line.shift.map(|shift| format!("{}, ", one.show(shift.estimate)));
    let (estimate, outcome) = (estimate.unwrap_or_default(), one.line.finding.outcome);
    let metric = study.heading(metric);
    format!("{metric} with {factor} {level} against {reference}: {estimate}{outcome} (`{id}`).")
}

/// How many expectations came out how, by kind.
fn expected(study: &Study) -> Vec<String> {
    let kinds = [
        (ExpectationKind::Published, "Published statements"),
        (ExpectationKind::Bar, "Bars"),
        (ExpectationKind::Check, "Checks"),
    ];
    let counted = |(kind, name): (ExpectationKind, &str)| {
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for judged in study.expected.iter().filter(|one| one.expectation.kind == kind) {
            *counts.entry(judged.finding.outcome).or_default() += 1;
        }
        let listed: Vec<String> =
            counts.into_iter().map(|(outcome, count)| of_several(count, outcome)).collect();
        (!listed.is_empty()).then(|| format!("{name}: {}.", listed.join(", ")))
    };
    kinds.into_iter().filter_map(counted).collect()
}

/// "1 holds", "2 hold", "2 cannot tell".
fn of_several(count: usize, outcome: Outcome) -> String {
    match outcome {
        Outcome::Holds if count > 1 => format!("{count} hold"),
        Outcome::Fails if count > 1 => format!("{count} fail"),
        _ => format!("{count} {outcome}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_civil_calendar() {
        let known = [(0, "1970-01-01"), (951_782_400, "2000-02-29"), (1_795_240_319, "2026-11-21")];
        for (unix_s, expected) in known {
            assert_eq!(day(unix_s), expected);
        }
    }
}
