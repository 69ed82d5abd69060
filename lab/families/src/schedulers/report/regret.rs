//! What wrong decisions cost: against the better of the two fixed arms, and as a curve over the
//! steps.

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Reading, Series, Study, Table};

use super::{cells, grid::Grid, level};
use crate::schedulers::FIXED_ARMS;
use crate::schedulers::steps::{POINTS, Steps, regret_curve};

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut grid = Grid::titled(study, vec!["costs", "better fixed arm"]);
    for cell in cells(study, "replay") {
        let (arm, fixed) = better_fixed_arm(study, cell);
        let texts = vec![level(cell, "costs").to_owned(), arm];
        grid.row(texts, false, |policy| {
            Reading::ratio(&study.series(policy, cell, "cost_ns"), &fixed)
        });
    }
    if !grid.is_empty() {
        let what = "Whole cost over that of the better fixed arm";
        page.paragraph(&format!("{what}:"));
        page.excerpt("cost-over-fixed", &grid.wide());
        page.beside("cost-over-fixed", &format!("{what}, with intervals"), &grid.long());
    }
    page.data("regret", &curves(study));
    page.figure_by(
        ("regret", "offload-regret.gp"),
        "Cumulative regret against the oracle, median over blocks with its interval",
        &study.how_run(),
    );
}

/// The fixed arm that costs less, and its whole cost by block; both arms' runs are needed.
fn better_fixed_arm(study: &Study, cell: &Cell) -> (String, Series) {
    let [inline, offload] = FIXED_ARMS.map(|arm| study.series(arm, cell, "cost_ns"));
    let least = |(block, ns): (&u32, &f64)| Some((*block, ns.min(*offload.get(block)?)));
    let fixed: Series = inline.iter().filter_map(least).collect();
    let is_inline = fixed.iter().filter(|(block, ns)| inline.get(block) == Some(ns)).count();
    let arm = match (is_inline, fixed.len()) {
        (_, 0) => "not known".to_owned(),
        (inline, all) if inline == all => FIXED_ARMS[0].to_owned(),
        (0, _) => FIXED_ARMS[1].to_owned(),
        (inline, all) => format!("{} in {inline} of {all} blocks", FIXED_ARMS[0]),
    };
    (arm, fixed)
}

/// A row per costs, policy and point of the curve.
fn curves(study: &Study) -> Table {
    let mut table = Table::new(
        &["costs", "policy", "step", "n", "regret_ns", "regret_low_ns", "regret_high_ns"]
            .map(|key| (key, key)),
    );
    for cell in cells(study, "replay") {
        for policy in study.variants() {
            let mut points: Vec<Series> = vec![Series::new(); POINTS];
            let mut steps = 0;
            for one in study.runs(policy, cell) {
                let samples = &one.row.samples;
                let Some(curve) = regret_curve(samples) else { continue };
                steps = Steps::of(samples).map_or(0, |all| all.offloaded.len()).max(steps);
                for (series, sum) in points.iter_mut().zip(curve) {
                    series.insert(one.row.run.block, sum as f64);
                }
            }
            for (point, series) in points.iter().enumerate() {
                let Some(reading) = Reading::level(series, Unit::Ns) else { continue };
                let mut row = vec![Entry::text(level(cell, "costs")), Entry::text(policy)];
                row.extend([Entry::count((point + 1) * steps / POINTS), Entry::count(reading.n)]);
                row.extend(Reading::entries(Some(reading)));
                table.row(row);
            }
        }
    }
    table
}
