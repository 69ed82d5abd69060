//! The published table, made again from our runs: times as hyperfine prints them, which is no basis
//! for a verdict.

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Study, Table, takes_part};
use lab_stats::describe::{Summary, summarize};

use crate::metrics::WALL;

/// One engine in the published table's cell.
struct Line<'s> {
    variant: &'s str,
    cell: &'s Cell,
    wall: Summary,
}

pub(super) fn write(study: &Study, page: &mut Page) {
    // The first comparison is the published one.
    let Some(compared) = study.compared.first() else { return };
    let wall = |(variant, cell)| {
        let series = study.series(variant, cell, WALL);
        let wall = summarize(&series.values().copied().collect::<Vec<_>>())?;
        Some(Line { variant, cell, wall })
    };
    let variants = study.variants();
    let places = study.places(&variants).into_iter();
    let here = places.filter(|(_, cell)| takes_part(compared.comparison, cell));
    let mut lines: Vec<Line> = here.filter_map(wall).collect();
    lines.sort_by(|a, b| a.wall.mean.total_cmp(&b.wall.mean));
    let Some(fastest) = lines.first().map(|line| line.wall.mean) else { return };
    page.heading("The published table, made again");
    page.paragraph("Means and deviations over blocks, as published; no verdict rests on them.");
    let ns = |value: f64| Entry::Value(value, Unit::Ns);
    let median =
        |line: &Line, metric| Entry::value(study.median(line.variant, line.cell, metric), Unit::Ns);
    let table = Table::of(
        &lines,
        &[
            ("engine", "variant", &|line| Entry::code(line.variant)),
            ("n", "n", &|line| Entry::count(line.wall.n)),
            ("mean", "mean_ns", &|line| ns(line.wall.mean)),
            ("sd", "sd_ns", &|line| Entry::value(line.wall.sd, Unit::Ns)),
            ("", "cv", &|line| Entry::value(line.wall.cv, Unit::Share)),
            ("", "min_ns", &|line| ns(line.wall.min)),
            ("", "max_ns", &|line| ns(line.wall.max)),
            ("", "user_ns", &|line| median(line, "hyperfine_user_ns")),
            ("", "system_ns", &|line| median(line, "hyperfine_system_ns")),
            ("over the fastest mean", "over_fastest", &|line| {
                Entry::Value(line.wall.mean / fastest, Unit::Times)
            }),
        ],
    );
    page.table("published-table", &table);
}
