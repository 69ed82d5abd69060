//! What a run leaves to the next, told: one table, and a sentence where a verdict may rest on it.

use lab_stats::after_itself::AfterItself;

use crate::chapter::Column::{Any, Code, Text};
use crate::chapter::number;
use crate::rounds::carry::{Carried, carried};
use crate::study::Study;
use crate::tables::{Table, show_with_ends};

/// Of the intervals in the table.
const CONFIDENCE: f64 = 0.95;
/// What all lines together may err with where one is said to have runs that differ after
/// themselves.
const ALPHA: f64 = 0.01;
/// More names would not be read.
const NAMED: usize = 6;

/// What the table holds, for `tables.tsv`.
pub(crate) const HOLDS: &str = "Of each line asked in rounds: how runs right after their own \
     program differ (95 %), which part of the paired runs these are, the bias of that, and whether \
     the verdict could change";

/// A sentence of the first screen, where it matters: which verdicts of old rounds could change, or
/// that runs differ after themselves although all are treated alike.
pub(crate) fn sentence(study: &Study) -> Option<String> {
    let carried = carried(study);
    match carried.iter().all(|one| one.is_fair) {
        true => differs(study, &carried),
        false => could_change(&carried),
    }
}

fn could_change(carried: &[Carried]) -> Option<String> {
    let verdicts: Vec<&Carried> =
        carried.iter().filter(|one| one.is_verdict() && !one.is_fair).collect();
    let changing: Vec<&&Carried> =
        verdicts.iter().filter(|one| one.could_change() != Some(false)).collect();
    let mut names: Vec<String> = Vec::new();
    for name in changing.iter().map(|one| format!("`{}`", one.line.variant)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let beyond = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    if beyond > 0 {
        names.push(format!("{beyond} more"));
    }
    (!names.is_empty()).then(|| {
        format!(
            "**{} of {} verdicts in rounds could be what a run leaves to the next**: its rounds \
             held the reference twice. To be taken again: {}.",
            changing.len(),
            verdicts.len(),
            names.join(", ")
        )
    })
}

fn differs(study: &Study, carried: &[Carried]) -> Option<String> {
    let confidence = 1.0 - ALPHA / (2 * carried.len().max(1)) as f64;
    let gains =
        carried.iter().flat_map(|one| one.gains.iter().flatten().map(move |gain| (one, gain)));
    let largest = gains
        .filter(|(_, gain)| gain.differs(confidence))
        .max_by(|(_, a), (_, b)| a.shift.abs().total_cmp(&b.shift.abs()));
    let (one, gain) = largest?;
    let ends = gain.interval(confidence)?.map(|end| one.show(study, end));
    let size = show_with_ends(&one.show(study, gain.shift), [&ends[0], &ends[1]]);
    Some(format!(
        "Right after its own program a run has {size} {}: verdicts are about a machine that runs \
         all in turn.",
        study.noun(&one.asked.metric)
    ))
}

/// A row for each line asked in rounds, unrounded and on its own scale; none where nothing was.
pub(crate) fn table(study: &Study) -> Option<Table> {
    let carried = carried(study);
    let gain = |one: &Carried, side: usize| one.gains.map(|gains| gains[side]);
    let end = |gain: Option<AfterItself>, end: usize| {
        gain.and_then(|gain| gain.interval(CONFIDENCE)).map(|ends| ends[end])
    };
    let bias = |one: &Carried| one.bias().filter(|_| !one.is_fair).map(|bias| bias.shift);
    let could = |one: &Carried| match one.could_change() {
        _ if one.is_fair => "no: shares equal",
        _ if !one.is_verdict() => "no verdict",
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    let table = Table::over(
        &carried,
        &[
            Text("", "question", &|one| &one.question),
            Code("", "line", &|one| &one.line.variant),
            Text("", "metric", &|one| &one.asked.metric),
            Any("", "outcome", &|one| one.line.finding.word()),
            number("difference", &|one| one.line.estimate()),
            number("low", &|one| Some(one.line.interval()?.low)),
            number("high", &|one| Some(one.line.interval()?.high)),
            number("reference_after_itself", &|one| Some(gain(one, 0)?.shift)),
            number("reference_after_itself_low", &|one| end(gain(one, 0), 0)),
            number("reference_after_itself_high", &|one| end(gain(one, 0), 1)),
            number("after_itself", &|one| Some(gain(one, 1)?.shift)),
            number("after_itself_low", &|one| end(gain(one, 1), 0)),
            number("after_itself_high", &|one| end(gain(one, 1), 1)),
            number("reference_share", &|one| Some(one.shares[0])),
            number("share", &|one| Some(one.shares[1])),
            number("bias", &|one| bias(one)),
            number("bias_low", &|one| one.bias_ends().map(|ends| ends[0])),
            number("bias_high", &|one| one.bias_ends().map(|ends| ends[1])),
            Text("", "could_change", &|one| could(one)),
        ],
    );
    (!table.is_empty()).then_some(table)
}
