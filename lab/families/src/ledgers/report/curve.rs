//! The curve over workers: time, rate and speed-up of every variant at every count.

use lab_family::Cell;
use lab_family::Unit::{self, Ns, PerSecond, Times};
use lab_report::Column::{Count, Interval, Levels, Number, Text, Words};
use lab_report::{Page, Reading, Series, Study, Table, centre, number, study::with};

use super::workers::{
    PLAIN, counts, curves, elapsed, factors_of, floor_elapsed, ledgers, transactions_of,
};

/// More panels than this are not legible on one picture; the table has them all.
const MOST_PANELS: usize = 9;

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("The curve over workers");
    let panels = panels(study);
    let table = table(study, &panels);
    if table.is_empty() {
        page.paragraph(
            "No variant ran with more than one number of workers, so there is no curve.",
        );
        return;
    }
    page.paragraph(
        "Every cell with several levels of `workers`, with paired speed-ups over one worker and \
         over the floor: `curve.tsv`. Exploratory.",
    );
    page.data("panels", &panel_table(study, &panels));
    page.figure_by(
        ("curve", "threads-curve.gp"),
        "Time of one transaction over the number of workers, median and interval over blocks; the \
         grey line is one thread without a runtime",
        &study.how_run(),
    );
    page.data("curve", &table);
}

/// The cells to draw: the default one but for streams, transactions, kinds and contention, with as
/// many numbers of workers as any.
fn panels(study: &Study) -> Vec<Cell> {
    let mut found: Vec<(Cell, usize)> = Vec::new();
    for variant in ledgers(study) {
        for (rest, levels) in curves(study, variant) {
            let points = counts(&levels).len();
            if points < 2 || !study.is_default_but(&rest, &PLAIN) {
                continue;
            }
            match found.iter_mut().find(|(cell, _)| *cell == rest) {
                Some((_, most)) => *most = points.max(*most),
                None => found.push((rest, points)),
            }
        }
    }
    let most = found.iter().map(|(_, points)| *points).max().unwrap_or(0);
    let full = found.into_iter().filter(|(_, points)| *points == most).map(|(cell, _)| cell);
    full.take(MOST_PANELS).collect()
}

fn panel_table(study: &Study, panels: &[Cell]) -> Table {
    let floor = |rest: &Cell| {
        let floor = centre(&floor_elapsed(study, rest)).zip(transactions_of(study, rest));
        floor.map(|(ns, count)| ns / count)
    };
    Table::over(
        panels.iter().enumerate(),
        &[
            Count("", "panel", &|(position, _)| *position),
            Words("", "title", &|(_, rest)| study.label(rest)),
            Number("", "sync_ns_per_transaction", Ns, &|(_, rest)| floor(rest)),
        ],
    )
}

/// A variant at one number of workers.
struct Point<'s> {
    variant: &'s str,
    cell: Cell,
    panel: Option<usize>,
    /// Its time, that at one worker, and that of the floor.
    time: Series,
    one: Series,
    floor: Series,
    transactions: Option<f64>,
}

impl Point<'_> {
    fn level(&self) -> Option<Reading> {
        Reading::level(&self.time, Unit::Ns)
    }

    /// A number of the cell for each worker.
    fn per_worker(&self, value: Option<f64>) -> Option<f64> {
        Some(value? / self.number("workers")?)
    }

    fn number(&self, factor: &str) -> Option<f64> {
        self.cell.get(factor)?.parse().ok()
    }
}

fn table(study: &Study, panels: &[Cell]) -> Table {
    let curves = study.variants().into_iter().flat_map(|variant| {
        let curves = curves(study, variant).into_iter().filter(|(_, levels)| levels.len() > 1);
        curves.flat_map(move |(rest, levels)| {
            let panel = panels.iter().position(|cell| *cell == rest);
            let point = |level: &String| Point {
                variant,
                cell: with(&rest, "workers", level),
                panel,
                time: elapsed(study, variant, &rest, level),
                one: elapsed(study, variant, &rest, "1"),
                floor: floor_elapsed(study, &rest),
                transactions: transactions_of(study, &rest),
            };
            levels.iter().map(point).collect::<Vec<_>>()
        })
    });
    let each = |of: &Point| Some(of.level()?.over(of.transactions?));
    let rate = |of: &Point| Some(1e9 * of.transactions? / of.level()?.estimate);
    let speed_up = |of: &Point| Reading::ratio(&of.one, &of.time);
    Table::over(
        curves,
        &[
            Text("", "variant", &|of| of.variant),
            Levels(&factors_of(study.family), &|of| &of.cell),
            Count("", "n", &|of| of.time.len()),
            Interval("", "elapsed{}_ns", &|of| of.level()),
            Number("", "transactions_per_s", PerSecond, &|of| rate(of)),
            Interval("", "ns_per_transaction", &|of| each(of)),
            Interval("", "speed_up_one", &|of| speed_up(of)),
            Interval("", "speed_up_sync", &|of| Reading::ratio(&of.floor, &of.time)),
            number("panel", &|of| of.panel.map(|panel| panel as f64)),
            Number("", "speed_up_per_worker", Times, &|of| {
                of.per_worker(speed_up(of).map(|reading| reading.estimate))
            }),
            number("streams_per_worker", &|of| of.per_worker(of.number("streams"))),
        ],
    )
}
