//! The declared comparisons, one table each.

use lab_family::Unit;
use lab_record::{Analysis, Rounds};

use crate::compare::{POWER, by_pair, scaled_margin};
use crate::study::{Compared, is_unpaired};
use crate::tables::show_p;
use crate::{Entry, Line, Page, Study, Table};

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Verdicts");
    let analysis = &study.frame.run_file.analysis;
    let unit =
        if is_unpaired(study.frame) { "runs of each variant" } else { "(cell × block) pairs" };
    if let Some(rounds) = analysis.rounds {
        page.paragraph(&in_rounds(analysis, rounds));
        for (position, judged) in study.compared.iter().enumerate() {
            one(study, judged, position + 1, page);
        }
        return;
    }
    page.paragraph(&format!(
        "Every variant against `{}` over all {unit}; declared in the experiment file before \
         anything ran. p by sign flips within pairs (permutation where unpaired), Holm over the \
         variants at {}; the estimate is Hodges-Lehmann's. \"Detectable\" is the true difference \
         that would have been found with a power of {} %. \
         Faster and slower stand for better and worse by the metric. Verdicts come from these \
         tables alone: rows per cell further down are exploratory. Every metric is a family of \
         its own: with three metrics a false alarm somewhere is about three times as likely as in \
         one.",
        analysis.reference,
        analysis.alpha,
        100.0 * POWER,
    ));
    for (position, judged) in study.compared.iter().enumerate() {
        one(study, judged, position + 1, page);
    }
    if study.compared.is_empty() {
        page.paragraph("This experiment declares no comparison.");
    }
}

fn in_rounds(analysis: &Analysis, rounds: Rounds) -> String {
    format!(
        "Every variant against `{}`, each comparison measured by itself: in a round everybody \
         runs once per cell, side by side, in an order that a coin decides; the rounds go on \
         until a variant has its answer, or the time is spent ({} s for all questions of this \
         sweep together). Estimate and interval are those of an anytime-valid confidence \
         sequence (`lab compare` uses the same one), at {} divided by the number of variants \
         compared: an answer may be taken at any look. *Equivalent* is also about the tail. The \
         reference's twin runs in every round, and an answer needs a twin that is known as well \
         as the answer claims to be. \"Detectable\" is the true difference that would have been \
         found by now with a power of {} %. Faster and slower stand for better and worse by the \
         metric. Tables per cell further down are a map: few runs a cell, and no verdicts.",
        analysis.reference,
        rounds.budget_s,
        analysis.alpha,
        100.0 * POWER,
    )
}

fn one(study: &Study, judged: &Compared, position: usize, page: &mut Page) {
    let role = if position == 1 { "primary" } else { "further" };
    let comparison = &judged.comparison;
    let cells: Vec<String> = comparison
        .cells
        .iter()
        .map(|(factor, levels)| format!("{factor} {}", levels.join(", ")))
        .collect();
    let place = if cells.is_empty() { "all cells".to_owned() } else { cells.join("; ") };
    page.markdown.push_str(&format!(
        "### {position}. `{}` ({role}), margin {}\n\nCells: {place}.\n\n",
        comparison.metric,
        judged.show_margin()
    ));
    if judged.lines.iter().all(|line| line.n == 0) {
        let only_reference = study.has_only_reference();
        page.paragraph(&match only_reference {
            true if study.contrasted.is_empty() => "Only the reference ran.".to_owned(),
            true => "Only the reference ran; see *Declared contrasts*.".to_owned(),
            false => format!("No run pair with `{}` has this metric.", study.reference()),
        });
        return;
    }
    let counted_in = if is_unpaired(study.frame) { "runs" } else { "pairs" };
    let number = |value: Option<f64>| Entry::optional(value.map(|value| judged.show(value)));
    let interval = |line: &Line| {
        line.interval().map(|i| format!("{} … {}", judged.show(i.low), judged.show(i.high)))
    };
    let clean = |line: &Line| line.clean.map(|(n, outcome)| format!("{outcome} ({n})"));
    let table = Table::of(
        judged.lines.iter().filter(|line| line.n > 0),
        &[
            ("variant", "variant", &|line| Entry::code(&line.variant)),
            (counted_in, "n", &|line| Entry::count(line.n)),
            ("estimate", "estimate", &|line| number(line.estimate())),
            ("interval", "interval", &|line| Entry::optional(interval(line))),
            ("p (Holm)", "p_holm", &|line| Entry::optional(line.p_adjusted.map(show_p))),
            ("detectable", "detectable", &|line| number(line.detectable)),
            ("outcome", "outcome", &|line| line.finding.word()),
            ("why", "why", &|line| line.finding.reason()),
            ("past the noise gate", "past_gate", &|line| Entry::optional(clean(line))),
        ],
    );
    page.table(&format!("verdicts-{position}"), &table);
    page.data(&format!("differences-{position}"), &numbers(judged));
    page.data(&format!("values-{position}"), &values(study, judged));
    notes(judged, page);
}

/// The same, unrounded and on the comparison's own scale (logarithms for ratios).
fn numbers(judged: &Compared) -> Table {
    let number = |value: Option<f64>| Entry::value(value, Unit::Count);
    let margin = scaled_margin(judged.comparison);
    Table::of(
        &judged.lines,
        &[
            ("variant", "variant", &|line| Entry::code(&line.variant)),
            ("n", "n", &|line| Entry::count(line.n)),
            ("estimate", "estimate", &|line| number(line.estimate())),
            ("low", "low", &|line| number(line.interval().map(|i| i.low))),
            ("high", "high", &|line| number(line.interval().map(|i| i.high))),
            ("confidence", "confidence", &|line| number(line.interval().map(|i| i.confidence))),
            ("p", "p_holm", &|line| number(line.p_adjusted)),
            ("p of equivalence", "p_equivalence", &|line| number(line.equivalence.map(|e| e.p))),
            ("margin", "margin", &|_| number(Some(margin))),
            ("detectable", "detectable", &|line| number(line.detectable)),
            ("outcome", "outcome", &|line| line.finding.word()),
            ("why", "why", &|line| line.finding.reason()),
        ],
    )
}

/// What the verdicts were computed from: a row per variant, cell and block, on the comparison's
/// scale (logarithms for ratios).
fn values(study: &Study, judged: &Compared) -> Table {
    let file = &study.frame.run_file;
    let question = study.questions.place(judged.comparison);
    let measured = if question.is_some() { &study.in_rounds } else { &study.all };
    let of = |variant| {
        let values = by_pair(measured, judged.comparison, variant).into_iter();
        let values = values.filter(move |((_, block), _)| file.question_of(*block) == question);
        values.map(move |((cell, block), value)| (variant, cell, block, value))
    };
    Table::of(
        study.frame.variants().into_iter().flat_map(of),
        &[
            ("variant", "variant", &|(variant, ..)| Entry::code(variant)),
            ("cell", "cell", &|(_, cell, ..)| Entry::text(cell)),
            ("block", "block", &|(.., block, _)| Entry::count(*block as usize)),
            ("value", "value", &|(.., value)| Entry::Value(*value, Unit::Count)),
        ],
    )
}

fn notes(judged: &Compared, page: &mut Page) {
    if let Some(note) = &judged.note {
        page.paragraph(note);
    }
    if judged.comparison.metric.ends_with("_max_ns") {
        page.paragraph(
            "A maximum grows with the length of a run; its rows are no basis for a choice.",
        );
    }
}
