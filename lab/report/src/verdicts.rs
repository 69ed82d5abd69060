//! The declared comparisons, one table each.

use crate::compare::{Line, POWER, by_pair, scaled_margin};
use crate::judge::COLUMNS;
use crate::page::Page;
use crate::study::{Compared, Study, is_unpaired};
use crate::tables::{Entry, Table, show_p};
use lab_family::Unit;

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Verdicts");
    let analysis = &study.frame.run_file.analysis;
    let unit =
        if is_unpaired(study.frame) { "runs of each variant" } else { "(cell × block) pairs" };
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

fn one(study: &Study, judged: &Compared, number: usize, page: &mut Page) {
    let role = if number == 1 { "primary" } else { "further" };
    let comparison = &judged.comparison;
    let cells: Vec<String> = comparison
        .cells
        .iter()
        .map(|(factor, levels)| format!("{factor} {}", levels.join(", ")))
        .collect();
    let place = if cells.is_empty() { "all cells".to_owned() } else { cells.join("; ") };
    page.markdown.push_str(&format!(
        "### {number}. `{}` ({role}), margin {}\n\nCells: {place}.\n\n",
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
    let mut table = Table::new(&[
        ("variant", "variant"),
        (counted_in, "n"),
        ("estimate", "estimate"),
        ("interval", "interval"),
        ("p (Holm)", "p_holm"),
        ("detectable", "detectable"),
        COLUMNS[0],
        COLUMNS[1],
        ("past the noise gate", "past_gate"),
    ]);
    for line in judged.lines.iter().filter(|line| line.n > 0) {
        table.row(row(judged, line));
    }
    page.table(&format!("verdicts-{number}"), &table);
    page.data(&format!("differences-{number}"), &numbers(judged));
    page.data(&format!("values-{number}"), &values(study, judged));
    notes(judged, page);
}

fn row(judged: &Compared, line: &Line) -> Vec<Entry> {
    let text = |text: Option<String>| text.map_or(Entry::Missing, Entry::Text);
    let interval = line
        .shift
        .and_then(|shift| shift.interval)
        .map(|interval| format!("{} … {}", judged.show(interval.low), judged.show(interval.high)));
    let clean = line.clean.map(|(n, outcome)| format!("{outcome} ({n})"));
    let [outcome, why] = line.finding.entries();
    vec![
        Entry::code(&line.variant),
        Entry::count(line.n),
        text(line.shift.map(|shift| judged.show(shift.estimate))),
        text(interval),
        text(line.p_adjusted.map(show_p)),
        text(line.detectable.map(|effect| judged.show(effect))),
        outcome,
        why,
        text(clean),
    ]
}

/// The same, unrounded and on the comparison's own scale (logarithms for ratios).
fn numbers(judged: &Compared) -> Table {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("n", "n"),
        ("estimate", "estimate"),
        ("low", "low"),
        ("high", "high"),
        ("confidence", "confidence"),
        ("p", "p_holm"),
        ("p of equivalence", "p_equivalence"),
        ("margin", "margin"),
        ("detectable", "detectable"),
        COLUMNS[0],
        COLUMNS[1],
    ]);
    for line in &judged.lines {
        let interval = line.shift.and_then(|shift| shift.interval);
        let number = |value: Option<f64>| Entry::value(value, Unit::Count);
        let mut row = vec![
            Entry::code(&line.variant),
            Entry::count(line.n),
            number(line.shift.map(|shift| shift.estimate)),
            number(interval.map(|interval| interval.low)),
            number(interval.map(|interval| interval.high)),
            number(interval.map(|interval| interval.confidence)),
            number(line.p_adjusted),
            number(line.equivalence.map(|equivalence| equivalence.p)),
            number(Some(scaled_margin(judged.comparison))),
            number(line.detectable),
        ];
        row.extend(line.finding.entries());
        table.row(row);
    }
    table
}

/// What the verdicts were computed from: a row per variant, cell and block, on the comparison's
/// scale (logarithms for ratios).
fn values(study: &Study, judged: &Compared) -> Table {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("block", "block"),
        ("value", "value"),
    ]);
    for variant in study.frame.variants() {
        for ((cell, block), value) in by_pair(&study.all, judged.comparison, variant) {
            table.row(vec![
                Entry::code(variant),
                Entry::text(cell),
                Entry::count(block as usize),
                Entry::value(Some(value), Unit::Count),
            ]);
        }
    }
    table
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
