//! The published table, made again from our runs: times as hyperfine prints them, which is no
//! basis for a verdict.

use lab_family::Cell;
use lab_family::Unit::{Ns, Share, Times};
use lab_report::Column::{Code, Count, Number};
use lab_report::{Chapter, Kept, Page, Study, Table, takes_part};
use lab_stats::describe::{Summary, summarize};

use crate::engines::metrics::Clocks;

/// One engine in the published table's cell.
struct Line<'s> {
    variant: &'s str,
    cell: &'s Cell,
    wall: Summary,
}

pub(super) fn write(study: &Study, page: &mut Page) {
    // The first comparison is the published one.
    let Some(compared) = study.compared.first() else { return };
    let clocks = Clocks::of_record(study.frame);
    let wall = |(variant, cell)| {
        let series = study.series(variant, cell, clocks.wall);
        let wall = summarize(&series.values().copied().collect::<Vec<_>>())?;
        Some(Line { variant, cell, wall })
    };
    let variants = study.variants();
    let places = study.places(&variants).into_iter();
    let here = places.filter(|(_, cell)| takes_part(compared.comparison, cell));
    let mut lines: Vec<Line> = here.filter_map(wall).collect();
    lines.sort_by(|a, b| a.wall.mean.total_cmp(&b.wall.mean));
    let Some(fastest) = lines.first().map(|line| line.wall.mean) else { return };
    let median = |line: &Line, metric| study.median(line.variant, line.cell, metric);
    page.chapter(Chapter {
        heading: "The published table, made again",
        text: "Means and deviations over blocks, as published; no verdict rests on them.",
        table: Table::over(
            &lines,
            &[
                Code("engine", "variant", &|line| line.variant),
                Count("n", "n", &|line| line.wall.n),
                Number("mean", "mean_ns", Ns, &|line| Some(line.wall.mean)),
                Number("sd", "sd_ns", Ns, &|line| line.wall.sd),
                Number("", "cv", Share, &|line| line.wall.cv),
                Number("", "min_ns", Ns, &|line| Some(line.wall.min)),
                Number("", "max_ns", Ns, &|line| Some(line.wall.max)),
                Number("", "user_ns", Ns, &|line| median(line, clocks.user)),
                Number("", "system_ns", Ns, &|line| median(line, clocks.system)),
                Number("over the fastest mean", "over_fastest", Times, &|line| {
                    Some(line.wall.mean / fastest)
                }),
            ],
        ),
        kept: Kept::Shown("published-table"),
        ..Chapter::default()
    });
}
