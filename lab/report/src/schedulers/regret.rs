//! What wrong decisions cost: against an oracle, and against the better of the two fixed arms.

use super::grid::{self, Line, Row};
use super::steps::{POINTS, Steps, regret_curve};
use super::trials::{INLINE, OFFLOAD, OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series, or_not_measured};
use crate::tables::{Cell, Table};

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("Regret");
    page.paragraph(
        "Every policy is given the same costs, step by step. Regret is what the other arm would \
         have saved: against an oracle that knows each step's costs beforehand, which nobody can \
         where costs are drawn at random. So beside it stands the whole cost over that of the \
         better fixed arm, whose totals come from `always_inline`'s and `always_offload`'s own \
         runs of the block; below 1 a policy did better than either.",
    );
    let costs = trials.levels("replay", "costs");
    let lines: Vec<Line> = costs
        .iter()
        .map(|costs| {
            Line::of("replay", &[("costs", costs)], "regret_per_step_ns").labelled(&[costs])
        })
        .collect();
    page.paragraph("Regret a step, against the oracle:");
    grid::write(trials, page, "regret-per-step", &["costs"], &lines);
    page.paragraph("Whole cost over the better fixed arm's:");
    let rows = costs.iter().map(|costs| over_fixed(trials, costs)).collect();
    grid::write_rows(trials, page, "cost-over-fixed", &["costs", "better fixed arm"], rows);
    let curves = curves(trials, &costs);
    if !curves.is_empty() {
        page.data("regret", &curves);
        page.figure_by(
            ("regret", "offload-regret.gp"),
            "Cumulative regret against the oracle, median over blocks with its interval",
            &super::note(trials),
        );
    }
    page.paragraph(&reading(trials, &costs));
}

/// The better fixed arm's whole cost by block; both arms' runs are needed.
pub(super) fn best_fixed(trials: &Trials, costs: &str) -> Series {
    let total = |arm| trials.series(arm, "replay", &[("costs", costs)], "cost_ns");
    let offload = total(OFFLOAD);
    let least = |(block, inline): (u32, f64)| Some((block, inline.min(*offload.get(&block)?)));
    total(INLINE).into_iter().filter_map(least).collect()
}

fn over_fixed(trials: &Trials, costs: &str) -> Row {
    let fixed = best_fixed(trials, costs);
    let over = |policy: &str| {
        Reading::ratio(&trials.series(policy, "replay", &[("costs", costs)], "cost_ns"), &fixed)
    };
    let inline = trials.series(INLINE, "replay", &[("costs", costs)], "cost_ns");
    let is_inline = fixed.iter().filter(|(block, ns)| inline.get(block) == Some(ns)).count();
    let arm = match (is_inline, fixed.len()) {
        (_, 0) => "not known".to_owned(),
        (inline, all) if inline == all => INLINE.to_owned(),
        (0, _) => OFFLOAD.to_owned(),
        (inline, all) => format!("{INLINE} in {inline} of {all} blocks"),
    };
    Row {
        labels: vec![costs.to_owned(), arm],
        published: String::new(),
        metric: "cost_over_fixed",
        readings: trials.policies().into_iter().map(over).collect(),
    }
}

/// A row per costs, policy and point of the curve.
fn curves(trials: &Trials, costs: &[String]) -> Table {
    let mut table = Table::new(
        &["costs", "policy", "step", "n", "regret_ns", "regret_low_ns", "regret_high_ns"]
            .map(|key| (key, key)),
    );
    for costs in costs {
        for policy in trials.policies() {
            let mut points: Vec<Series> = vec![Series::new(); POINTS];
            let mut steps = 0;
            for one in trials.rows(policy, "replay", &[("costs", costs)]) {
                let samples = &one.row.samples;
                let Some(curve) = regret_curve(samples) else { continue };
                steps = Steps::of(samples).map_or(0, |all| all.offloaded.len()).max(steps);
                for (series, sum) in points.iter_mut().zip(curve) {
                    series.insert(one.row.run.block, sum as f64);
                }
            }
            for (point, series) in points.iter().enumerate() {
                let Some(reading) = Reading::level(series, Unit::Ns) else { continue };
                let mut row = vec![Cell::text(costs), Cell::text(policy)];
                row.extend([Cell::count((point + 1) * steps / POINTS), Cell::count(reading.n)]);
                row.extend(Reading::cells(Some(&reading)));
                table.row(row);
            }
        }
    }
    table
}

fn reading(trials: &Trials, costs: &[String]) -> String {
    let one = |costs: &String| {
        let times = super::bars::regret_ratio(trials, PUBLISHED, OURS, costs)?;
        let lost = |policy| trials.series(policy, "replay", &[("costs", costs)], "regret_ns");
        if lost(PUBLISHED).values().chain(lost(OURS).values()).all(|ns| *ns == 0.0) {
            return Some(format!("on `{costs}` neither `{PUBLISHED}` nor `{OURS}` loses anything"));
        }
        let ours = trials.series(OURS, "replay", &[("costs", costs)], "cost_ns");
        let fixed = Reading::ratio(&ours, &best_fixed(trials, costs));
        Some(format!(
            "on `{costs}` `{PUBLISHED}` loses {} what `{OURS}` loses, whose cost over the better \
             fixed arm is {}",
            times.text(),
            or_not_measured(fixed.as_ref())
        ))
    };
    let said: Vec<String> = costs.iter().filter_map(one).collect();
    match said.is_empty() {
        true => format!("**Reading.** `{OURS}` and `{PUBLISHED}` replayed nothing in one block."),
        false => format!("**Reading.** {}.", said.join("; ")),
    }
}
