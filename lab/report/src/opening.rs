//! The first lines: the question, and what may be said of it.

use std::collections::BTreeMap;

use lab_record::{Contrast, ExpectationKind};

use crate::{Page, Study, contrast::Contrasted, study::Compared};

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.paragraph(&format!("**{}**", question(study)));
    if let Some(profile) = &study.frame.run_file.profile {
        page.item(&format!("**Profile `{profile}`**: not the whole experiment."));
    }
    if study.has_only_reference() {
        page.item("Only the reference ran.");
        page.items(study.contrasted.iter().map(of_levels));
    } else {
        page.items(study.compared.iter().map(|compared| sentence(study, compared)));
    }
    page.items(expected(study));
    if study.compared.is_empty() && study.contrasted.is_empty() {
        page.item("This run declares no comparison: it is a smoke test, and no verdict is given.");
    }
    page.markdown.push('\n');
}

/// The experiment's own words.
fn question(study: &Study) -> String {
    let text = study.frame.run_file.experiment_toml.parse::<toml::Table>().unwrap_or_default();
    let question = text.get("question").and_then(toml::Value::as_str);
    question.unwrap_or("The experiment states no question.").to_owned()
}

/// "`elapsed_ns` against `fast`: slower: `slow`; cannot tell: `other`."
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
    let cells = &compared.comparison.cells;
    let place: Vec<String> =
        cells.iter().map(|(factor, levels)| format!("{factor} {}", levels.join(", "))).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join("; ")) };
    let metric = &compared.comparison.metric;
    let aa: Vec<String> = compared
        .aa
        .iter()
        .map(|(twin, test)| format!(" A/A (`{twin}`): {}.", compared.show_shift(test.shift)))
        .collect();
    format!("`{metric}` against `{}`{place}: {listed}.{}", study.reference(), aa.concat())
}

/// "`wall_ns` with servers 2 against 1: -40 %, faster (`a_server_each`)."
fn of_levels(one: &Contrasted) -> String {
    let Contrast { id, metric, factor, level, reference, .. } = one.contrast;
    let estimate = one.line.shift.map(|shift| format!("{}, ", one.show(shift.estimate)));
    let (estimate, outcome) = (estimate.unwrap_or_default(), one.line.finding.outcome);
    format!("`{metric}` with {factor} {level} against {reference}: {estimate}{outcome} (`{id}`).")
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
            counts.into_iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        (!listed.is_empty()).then(|| format!("{name}: {}.", listed.join(", ")))
    };
    kinds.into_iter().filter_map(counted).collect()
}
