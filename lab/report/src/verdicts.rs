//! The declared comparisons, one table each.

use lab_record::{Analysis, Rounds, Scale};

use crate::aa::AaTest;
use crate::chapter::Column::{Any, Code, Count, Text, Words};
use crate::chapter::number;
use crate::compare::Line;
use crate::compare::scaled_margin;
use crate::page::{Page, method};
use crate::study::Study;
use crate::study::{Compared, is_unpaired};
use crate::tables::{Entry, Table, from_to};
use crate::tables::{show_p, show_with_ends};

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Verdicts");
    if study.has_only_reference() && !study.compared.is_empty() {
        page.paragraph(match study.contrasted.is_empty() {
            true => "Only the reference ran.",
            false => "Only the reference ran; see *Declared contrasts*.",
        });
        return;
    }
    let analysis = &study.frame.run_file.analysis;
    let is_left = |judged: &Compared| analysis.is_left_to_blocks(judged.comparison.rounds);
    let left = study.compared.iter().filter(|judged| is_left(judged)).count();
    page.paragraph(&match analysis.rounds {
        Some(rounds) if left == 0 => in_rounds(analysis, rounds),
        Some(rounds) if left < study.compared.len() => {
            format!("{} *By blocks*: {}", in_rounds(analysis, rounds), in_blocks(study))
        }
        _ => in_blocks(study),
    });
    for (position, judged) in study.compared.iter().enumerate() {
        one(study, judged, position + 1, page);
    }
    if study.compared.is_empty() {
        page.paragraph(match study.contrasted.is_empty() {
            true => "This experiment declares no comparison.",
            false => {
                "This experiment compares no variants: its questions are the declared contrasts."
            }
        });
    }
}

fn in_blocks(study: &Study) -> String {
    let analysis = &study.frame.run_file.analysis;
    let unit =
        if is_unpaired(study.frame) { "runs of each variant" } else { "(cell × block) pairs" };
    format!(
        "Against `{}` over all {unit}; Holm over the variants at {} ({}). p-values: \
         `verdicts-N.tsv`.",
        analysis.reference,
        analysis.alpha,
        method("Comparisons"),
    )
}

fn in_rounds(analysis: &Analysis, rounds: Rounds) -> String {
    format!(
        "Against `{}`, in rounds, at most {} s; anytime-valid intervals at {} a \
         comparison ({}).",
        analysis.reference,
        rounds.budget_s,
        analysis.alpha,
        method("Questions in rounds"),
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
    let beside = study.frame.run_file.analysis.rounds.is_some() && !comparison.rounds;
    page.markdown.push_str(&format!(
        "### {position}. {} (`{}`, {role}), margin {}\n\nCells: {place}.{}{}\n\n",
        study.heading(&comparison.metric),
        comparison.metric,
        judged.show_margin(),
        if beside { " *By blocks.*" } else { "" },
        known(study, judged)
    ));
    if judged.lines.iter().all(|line| line.n == 0) {
        page.paragraph(&format!("No run pair with `{}` has this metric.", study.reference()));
        return;
    }
    let table = lines(judged);
    page.markdown_table(&table);
    page.data(&format!("verdicts-{position}"), &table);
    page.data(&format!("differences-{position}"), &numbers(judged));
    page.data(&format!("aa-{position}"), &twins(judged));
    page.data(&format!("values-{position}"), &values(study, judged));
    notes(judged, page);
}

fn lines(judged: &Compared) -> Table {
    let shown = |value: Option<f64>| Entry::optional(value.map(|value| judged.show(value)));
    // A fraction for ratios, as margins are declared; else in the metric's unit.
    let plain = |value: f64| match judged.comparison.scale {
        Scale::Ratio => value.exp_m1(),
        Scale::Difference => value,
    };
    let interval = |line: &Line| {
        line.interval().map(|i| format!("{} … {}", judged.show(i.low), judged.show(i.high)))
    };
    let in_short = |line: &Line| {
        let estimate = line.estimate().map(|value| judged.show(value))?;
        Some(match line.interval() {
            Some(i) => show_with_ends(&estimate, [&judged.show(i.low), &judged.show(i.high)]),
            None => estimate,
        })
    };
    let clean = |line: &Line| line.clean.map(|(n, outcome)| format!("{outcome} ({n})"));
    Table::over(
        judged.lines.iter().filter(|line| line.n > 0),
        &[
            Code("variant", "variant", &|line| &line.variant),
            Count("", "n", &|line| line.n),
            Any("estimate", "", &|line| Entry::optional(in_short(line))),
            Any("", "estimate", &|line| shown(line.estimate())),
            Any("", "interval", &|line| Entry::optional(interval(line))),
            Any("", "p_holm", &|line| Entry::optional(line.p_adjusted.map(show_p))),
            Any("", "detectable", &|line| shown(line.detectable)),
            number("detectable_value", &|line| line.detectable.map(plain)),
            Words("", "margin", &|_| judged.show_margin()),
            number("margin_value", &|_| Some(judged.comparison.margin)),
            Any("outcome", "outcome", &|line| line.finding.word()),
            Any("why", "", &|line| line.finding.reason_in_short()),
            Any("", "why", &|line| line.finding.reason()),
            Any("", "past_gate", &|line| Entry::optional(clean(line))),
        ],
    )
}

/// " 36 pairs; detectable ±0.0706 % to ±0.94 %.", from the least to the most of any variant.
fn known(study: &Study, judged: &Compared) -> String {
    let counted = if is_unpaired(study.frame) { "runs" } else { "pairs" };
    let lines = || judged.lines.iter().filter(|line| line.n > 0);
    let (Some(least), Some(most)) =
        (lines().map(|line| line.n).min(), lines().map(|line| line.n).max())
    else {
        return String::new();
    };
    let n = from_to(least, most);
    let mut sizes: Vec<f64> = lines().filter_map(|line| line.detectable).collect();
    sizes.sort_by(f64::total_cmp);
    let show = |size: &f64| format!("±{}", judged.show(*size).trim_start_matches('+'));
    match (sizes.first(), sizes.last()) {
        (Some(low), Some(high)) => {
            format!(" {n} {counted}; detectable {} to {}.", show(low), show(high))
        }
        _ => format!(" {n} {counted}."),
    }
}

/// The same, unrounded and on the comparison's own scale (logarithms for ratios).
fn numbers(judged: &Compared) -> Table {
    let margin = scaled_margin(judged.comparison);
    Table::over(
        &judged.lines,
        &[
            Code("", "variant", &|line| &line.variant),
            Count("", "n", &|line| line.n),
            number("estimate", &|line| line.estimate()),
            number("low", &|line| Some(line.interval()?.low)),
            number("high", &|line| Some(line.interval()?.high)),
            number("confidence", &|line| Some(line.interval()?.confidence)),
            number("p_holm", &|line| line.p_adjusted),
            number("p_equivalence", &|line| Some(line.equivalence?.p)),
            number("margin", &|_| Some(margin)),
            number("detectable", &|line| line.detectable),
            Any("", "outcome", &|line| line.finding.word()),
            Any("", "why", &|line| line.finding.reason()),
        ],
    )
}

/// What two equal programs showed, on the comparison's scale.
fn twins(judged: &Compared) -> Table {
    let interval = |test: &AaTest| test.shift.as_ref()?.interval;
    Table::over(
        &judged.aa,
        &[
            Code("", "variant", &|(twin, _)| twin),
            Count("", "n", &|(_, test)| test.n),
            number("estimate", &|(_, test)| Some(test.shift.as_ref()?.estimate)),
            number("low", &|(_, test)| Some(interval(test)?.low)),
            number("high", &|(_, test)| Some(interval(test)?.high)),
            number("confidence", &|(_, test)| Some(interval(test)?.confidence)),
            number("detectable", &|(_, test)| test.detectable),
            Words("", "told_apart", &|(_, test)| test.failed().to_string()),
        ],
    )
}

/// What the verdicts were computed from: a row per variant, cell and block, on the comparison's
/// scale (logarithms for ratios).
fn values(study: &Study, judged: &Compared) -> Table {
    let of = |variant| {
        let values = study.values(judged.comparison, variant).into_iter();
        values.map(move |((cell, block), value)| (variant, cell, block, value))
    };
    Table::over(
        study.frame.variants().into_iter().flat_map(of),
        &[
            Code("", "variant", &|(variant, ..)| variant),
            Text("", "cell", &|(_, cell, ..)| cell),
            Count("", "block", &|(.., block, _)| *block as usize),
            number("value", &|(.., value)| Some(*value)),
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
