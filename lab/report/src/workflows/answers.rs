//! The first lines: what was asked, answered by numbers, each with its restarts and interval.

use super::bars::{Bar, Target};
use super::breakdown::total;
use super::conclusions::{Conclusion, of_medians};
use super::looks;
use super::path::PARTS;
use super::sweep::Sweep;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show, show_p};

/// What the other sections found.
pub(super) struct Findings<'f> {
    pub(super) bars: &'f [(Bar, String)],
    pub(super) conclusions: &'f [Conclusion],
}

pub(super) fn write(sweep: &Sweep, found: &Findings, page: &mut Page) {
    if let Some(alarm) = sweep.alarm() {
        page.paragraph(&format!(
            "**{alarm}**: this lab told two equal programs apart, so no time below is ground for a \
             choice."
        ));
    }
    let mut table = Table::new(&[("question", "question"), ("answer", "answer")]);
    let mut put = |question: &str, answer: String| {
        table.row(vec![Cell::text(question), Cell::text(answer)]);
    };
    put("What does a step cost from end to end (linear, told)?", steps(sweep));
    put("Where does the time of the reference go (linear, told)?", places(sweep));
    put("Are the published latencies counts of looks?", published());
    let words = found.bars.iter().filter(|(bar, _)| bar.target != Target::None);
    let words: Vec<String> = words
        .map(|(bar, word)| {
            let measured = bar.measured.as_ref().map(|reading| format!(" {}", reading.text()));
            format!("{}:{} {word}", bar.what, measured.unwrap_or_default())
        })
        .collect();
    put("Which bars are met?", words.join("; "));
    let words = found.conclusions.iter().map(|one| format!("{}: {}", one.says, one.verdict));
    put("What becomes of the published recommendations?", words.collect::<Vec<_>>().join("; "));
    page.table("answers", &table);
}

fn steps(sweep: &Sweep) -> String {
    let cell = sweep.event("linear");
    let one = |variant: &&str| {
        let step = sweep.level(variant, &cell, "step_ns")?;
        Some(format!("`{variant}` {}", step.text()))
    };
    let all: Vec<String> = sweep.variants().iter().filter_map(one).collect();
    if all.is_empty() { "not measured".to_owned() } else { all.join("; ") }
}

fn places(sweep: &Sweep) -> String {
    let cell = sweep.event("linear");
    let Some((_, sums)) = total(sweep, sweep.reference(), &cell) else {
        return "not measured".to_owned();
    };
    let makespan: i64 = sums.iter().sum();
    let mut parts: Vec<(i64, &str)> =
        sums.iter().zip(PARTS).map(|(ns, (title, _))| (*ns, title)).collect();
    parts.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    let share = |ns: i64| show(ns as f64 / makespan as f64, Unit::Share);
    let named = parts.iter().take(4).map(|(ns, title)| format!("{title} {}", share(*ns)));
    format!("`{}`: {}", sweep.reference(), named.collect::<Vec<_>>().join(", "))
}

fn published() -> String {
    looks::published().map_or("cannot tell".to_owned(), |lattice| {
        format!(
            "{}: {} medians modulo {} ms have R {:.2} (p {}), on {} points",
            lattice.found().word(),
            of_medians(),
            lattice.step,
            lattice.phases.resultant,
            show_p(lattice.phases.p),
            lattice.levels
        )
    })
}
