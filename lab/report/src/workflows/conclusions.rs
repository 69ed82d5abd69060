//! The published report's recommendations and what it says of foreign workers, each judged.

use super::boundary;
use super::breakdown::by_block;
use super::looks::{self, Found, Lattice};
use super::measure::MAKESPAN;
use super::path::{NEXT_STEP, QUEUE, RECORDING, START};
use super::published::{self, FOREIGN, Foreign, LOOK_MS};
use super::sweep::Sweep;
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table, show, show_percent};
use lab_stats::describe::summarize;

pub(super) const REPRODUCED: &str = "reproduced";
pub(super) const REFUTED: &str = "refuted";
pub(super) const CANNOT_TELL: &str = "cannot tell";
pub(super) const NOT_TESTABLE: &str = "not testable";

/// One sentence of the published report, judged.
pub(super) struct Conclusion {
    pub(super) says: &'static str,
    /// What the published numbers themselves say.
    published: String,
    /// What was measured here.
    here: String,
    pub(super) verdict: String,
    /// Whether the verdict rests on runs of this sweep.
    measured: bool,
}

/// Judges all. A verdict on runs that those which passed the noise gate do not share is "cannot
/// tell", and none is given where the lab told two equal programs apart.
pub(super) fn judge(sweep: &Sweep, clean: Option<&Sweep>) -> Vec<Conclusion> {
    let mut conclusions = all(sweep);
    for (one, second) in conclusions.iter_mut().zip(clean.map(all).unwrap_or_default()) {
        if one.verdict != second.verdict {
            one.here.push_str(&format!("; runs that passed the noise gate: {}", second.verdict));
            one.verdict = CANNOT_TELL.to_owned();
        }
    }
    if let Some(alarm) = sweep.alarm() {
        let judged = |one: &&mut Conclusion| one.measured && one.verdict != NOT_TESTABLE;
        for one in conclusions.iter_mut().filter(judged) {
            one.verdict = format!("withheld: {alarm}");
        }
    }
    conclusions
}

pub(super) fn write(conclusions: &[Conclusion], page: &mut Page) {
    page.heading("What the published report recommends");
    page.paragraph(&format!(
        "Its four recommendations, and its sentence on foreign workers. Where a verdict rests on \
         the published numbers it follows from their arithmetic: a whole look takes about \
         {LOOK_MS} ms (50 ms asleep, the timer's lateness, the request). A cost counts as lowered \
         where it is below two thirds of what it was, and as not lowered from nine tenths on. \
         Intervals at 95 % or more over restarts."
    ));
    let mut table = Table::new(&[
        ("it says", "says"),
        ("its own numbers", "published"),
        ("here", "here"),
        ("verdict", "verdict"),
    ]);
    for one in conclusions {
        table.row(vec![
            Cell::text(one.says),
            Cell::text(&one.published),
            Cell::text(&one.here),
            Cell::text(&one.verdict),
        ]);
    }
    page.table("conclusions", &table);
}

fn all(sweep: &Sweep) -> Vec<Conclusion> {
    vec![
        baseline(sweep, looks::published()),
        improved(FOREIGN),
        relative(sweep),
        dispatch(sweep),
        foreign(sweep, FOREIGN),
    ]
}

/// 1: take it as the baseline, and the median of linear as what tells whether it is stable.
fn baseline(sweep: &Sweep, lattice: Option<Lattice>) -> Conclusion {
    let verdict = match lattice.map(|lattice| lattice.found()) {
        Some(Found::Lattice) => REFUTED,
        _ => CANNOT_TELL,
    };
    let said = lattice.map_or(String::new(), |lattice| {
        format!(
            "medians modulo {LOOK_MS} ms: {} (R {:.2}, {} points): a median moves by whole looks \
             or not at all",
            lattice.found().word(),
            lattice.phases.resultant,
            lattice.levels
        )
    });
    let reference = sweep.reference();
    let told = sweep.event("linear");
    let varies = |poll: &str| {
        let series = sweep.series(reference, &looks::at(&told, poll), MAKESPAN);
        summarize(&series.into_values().collect::<Vec<_>>())?.cv
    };
    let shown = |cv: Option<f64>| cv.map_or("not measured".into(), |cv| show(cv, Unit::Share));
    Conclusion {
        says: "1. Use it as the baseline; the median of linear is the primary measure of stability",
        published: said,
        here: format!(
            "`{reference}`, linear, variation of the median over restarts: told {}, looking every \
             50 ms {}",
            shown(varies("0")),
            shown(varies("50"))
        ),
        verdict: verdict.to_owned(),
        measured: false,
    }
}

/// 2: foreign workers were made cheaper.
fn improved(versions: [Foreign; 2]) -> Conclusion {
    let [before, after] = versions.map(|version| cost_ms(&version));
    let verdict = match after / before {
        ratio if ratio < 2.0 / 3.0 => REPRODUCED,
        ratio if ratio >= 0.9 => REFUTED,
        _ => CANNOT_TELL,
    };
    Conclusion {
        says: "2. The improvements of foreign workers are validated (45 % became 23 %)",
        published: format!(
            "a foreign worker adds {before:.1} ms in {} and {after:.1} ms in {}: {}",
            versions[0].version,
            versions[1].version,
            show_percent(after / before - 1.0)
        ),
        here: "the change was made to another system".to_owned(),
        verdict: verdict.to_owned(),
        measured: false,
    }
}

/// 3: relative patterns can be measured locally, absolute numbers cannot.
fn relative(sweep: &Sweep) -> Conclusion {
    let reference = sweep.reference();
    let ratio = |poll: &str| -> Series {
        let of = |shape| sweep.series(reference, &looks::at(&sweep.event(shape), poll), MAKESPAN);
        let linear = of("linear");
        let over = |(block, ns): (&u32, &f64)| Some((*block, ns / linear.get(block)?));
        of("diamond").iter().filter_map(over).collect()
    };
    let (told, looking) = (ratio("0"), ratio("50"));
    let change = Reading::ratio(&looking, &told);
    let verdict = match &change {
        None => NOT_TESTABLE,
        Some(Reading { low_high: Some((low, high)), .. }) if *low > 1.0 || *high < 1.0 => REFUTED,
        Some(_) => CANNOT_TELL,
    };
    let shown = |series: &Series| Reading::level(series, Unit::Times).map(|r| r.short());
    let here = shown(&told).zip(shown(&looking)).map_or(
        "diamond and linear were not both run told and looking".to_owned(),
        |(told, looking)| {
            format!(
                "`{reference}`, diamond over linear: told {told}, looking every 50 ms {looking}; a \
                 relative pattern is as good as the client that measures it"
            )
        },
    );
    Conclusion {
        says: "3. Local runs are suitable for relative patterns (overhead in %, P95 over P50)",
        published: "diamond over linear: 0.77 in run 1, 1.02 in run 2".to_owned(),
        here,
        verdict: verdict.to_owned(),
        measured: true,
    }
}

/// 4: 64 ms per step, to be found in notification and dispatch.
fn dispatch(sweep: &Sweep) -> Conclusion {
    let reference = sweep.reference();
    let cell = sweep.event("linear");
    let dispatch = by_block(sweep, reference, &cell, &[QUEUE, START, NEXT_STEP]);
    let recording = by_block(sweep, reference, &cell, &[RECORDING]);
    let ratio = Reading::ratio(&dispatch, &recording);
    let verdict = match &ratio {
        None => NOT_TESTABLE,
        Some(Reading { low_high: Some((low, _)), .. }) if *low > 1.0 => REPRODUCED,
        Some(Reading { low_high: Some((_, high)), .. }) if *high < 1.0 => REFUTED,
        Some(_) => CANNOT_TELL,
    };
    let step = sweep.level(reference, &cell, "step_ns");
    let here = ratio.zip(step).map_or("linear was not run told".to_owned(), |(ratio, step)| {
        format!(
            "`{reference}`, linear: a step takes {}; notification and dispatch over recording: {}",
            step.short(),
            ratio.text()
        )
    });
    Conclusion {
        says: "4. 257 ms for 4 steps (64 ms a step) suggest potential in notification and dispatch",
        published: format!(
            "257 ms are {} looks and {:.0} ms; how much of them is a step's nobody can say",
            (257.0 / LOOK_MS).floor(),
            257.0 % LOOK_MS
        ),
        here,
        verdict: verdict.to_owned(),
        measured: true,
    }
}

/// What a foreign worker costs: a share of the makespan, or one look.
fn foreign(sweep: &Sweep, versions: [Foreign; 2]) -> Conclusion {
    let costs = versions.map(|version| cost_ms(&version));
    let one_look = costs.iter().all(|cost| (cost / LOOK_MS - 1.0).abs() <= 0.1);
    let shares = versions.map(|version| show_percent(cost_ms(&version) / version.native_ms));
    let reference = sweep.reference();
    let added = boundary::FOREIGN.iter().filter_map(|worker| {
        let added = boundary::added(sweep, reference, "linear", worker)?;
        Some(format!("{worker} adds {} a step to native_process", added.text()))
    });
    let added: Vec<String> = added.collect();
    let here = if added.is_empty() {
        "not testable in this sweep: no foreign worker ran".to_owned()
    } else {
        format!("`{reference}`, linear: {}", added.join("; "))
    };
    Conclusion {
        says: "The overhead of foreign workers fell from 45 % to 23 % and is pure dispatch cost",
        published: format!(
            "{} of {:.0} ms and {} of {:.0} ms are {:.1} and {:.1} ms: {}",
            shares[0],
            versions[0].native_ms,
            shares[1],
            versions[1].native_ms,
            costs[0],
            costs[1],
            if one_look { "one more look each, over another denominator" } else { "not one look" }
        ),
        here,
        verdict: if one_look { REFUTED } else { CANNOT_TELL }.to_owned(),
        measured: false,
    }
}

/// What a foreign worker adds to linear, in the mean of the languages.
fn cost_ms(version: &Foreign) -> f64 {
    let [ruby, python, typescript] = version.foreign_ms;
    (ruby + python + typescript) / 3.0 - version.native_ms
}

/// How many scenarios the lattice rests on, for the first lines of the report.
pub(super) fn of_medians() -> usize {
    published::medians_ms().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(before_ms: f64, after_ms: f64) -> [Foreign; 2] {
        let [mut before, mut after] = FOREIGN;
        before.foreign_ms = [before.native_ms + before_ms; 3];
        after.foreign_ms = [after.native_ms + after_ms; 3];
        [before, after]
    }

    #[test]
    fn a_cost_that_fell_in_milliseconds_would_be_reproduced() {
        assert_eq!(improved(FOREIGN).verdict, REFUTED);
        assert_eq!(improved(versions(57.0, 28.0)).verdict, REPRODUCED);
        assert_eq!(improved(versions(57.0, 45.0)).verdict, CANNOT_TELL);
    }

    #[test]
    fn the_published_costs_are_one_look() {
        let [before, after] = FOREIGN.map(|version| cost_ms(&version));
        assert!((before - 57.46).abs() < 0.01 && (after - 58.05).abs() < 0.01, "{before} {after}");
        let share = |place: usize| cost_ms(&FOREIGN[place]) / FOREIGN[place].native_ms;
        assert!((share(0) - 0.454).abs() < 0.001 && (share(1) - 0.226).abs() < 0.001);
    }
}
