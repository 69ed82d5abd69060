//! Several processes on one database against threads of one process.

use super::measure::MAKESPAN;
use super::sweep::Sweep;
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::Reading;
use crate::tables::{Cell, Table};

const FACTOR: &str = "processes";
/// The level at which the workers are threads of the client's process.
const THREADS: &str = "0";

/// Writes nothing where no back end ran as several processes: few can.
pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("makespan", "makespan_ns"),
        ("in threads", "threads_makespan_ns"),
        ("makespan, over threads", "makespan_ratio"),
        ("low", "makespan_ratio_low"),
        ("high", "makespan_ratio_high"),
        ("steps per second, over threads", "rate_ratio"),
        ("low", "rate_ratio_low"),
        ("high", "rate_ratio_high"),
        ("n", "n"),
    ]);
    for variant in sweep.variants() {
        let apart = |level: &String| level != THREADS;
        for cell in sweep.cells(variant).into_iter().filter(|c| c.get(FACTOR).is_some_and(apart)) {
            let mut threads = cell.clone();
            threads.insert(FACTOR.to_owned(), THREADS.to_owned());
            let over = |metric| sweep.ratio((variant, cell, metric), (variant, &threads, metric));
            let Some(makespan) = over(MAKESPAN) else { continue };
            let level = |cell| sweep.level(variant, cell, MAKESPAN).map(|level| level.estimate);
            let mut row = vec![Cell::code(variant), Cell::text(sweep.label(cell))];
            row.push(Cell::value(level(cell), Unit::Ns));
            row.push(Cell::value(level(&threads), Unit::Ns));
            row.extend(Reading::cells(Some(&makespan)));
            row.extend(Reading::cells(over("steps_per_s").as_ref()));
            row.push(Cell::count(makespan.n));
            table.row(row);
        }
    }
    if table.is_empty() {
        return;
    }
    page.heading("Several processes on one database");
    page.paragraph(
        "Half of the processes are orchestrators, to which the client hands tasks in turn, and \
         half have the workers, as many in all as there are threads otherwise. Every word between \
         client and orchestrator goes through a pipe. Ratios within blocks, by Hodges and Lehmann \
         on logarithms, at 95 % or more over blocks (restarts).",
    );
    page.table("processes", &table);
}
