//! What a worker in another language costs per step: in-process, as a process, and the empty call.

use super::sweep::{Cell as Levels, Sweep};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table};

/// Worker levels that are held against `native`.
pub(super) const FOREIGN: [&str; 2] = ["python_ffi", "python_process"];

/// What a worker adds to a step, in nanoseconds, within blocks; told, at the cell's shape.
pub(super) fn added(sweep: &Sweep, variant: &str, shape: &str, worker: &str) -> Option<Reading> {
    let told = sweep.event(shape);
    let foreign = sweep.series(variant, &with_worker(&told, worker), "step_ns");
    let native = sweep.series(variant, &told, "step_ns");
    let more = |(block, ns): (&u32, &f64)| Some((*block, ns - native.get(block)?));
    Reading::level(&foreign.iter().filter_map(more).collect::<Series>(), Unit::Ns)
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Workers in another language");
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("shape", "shape"),
        ("worker", "worker"),
        ("adds to a step", "added_ns"),
        ("low", "added_low_ns"),
        ("high", "added_high_ns"),
        ("share of a native step", "added_share"),
        ("empty call", "ffi_call_ns"),
        ("n", "n"),
    ]);
    for variant in sweep.variants() {
        for (shape, worker) in sweep.shapes().iter().flat_map(|s| FOREIGN.map(|w| (s, w))) {
            let Some(added) = added(sweep, variant, shape, worker) else { continue };
            let told = sweep.event(shape);
            let native = sweep.level(variant, &told, "step_ns").map(|native| native.estimate);
            let call = sweep.level(variant, &with_worker(&told, worker), "ffi_call_ns");
            let mut row = vec![Cell::code(variant), Cell::text(shape), Cell::text(worker)];
            row.extend(Reading::cells(Some(&added)));
            row.extend([
                Cell::value(native.map(|native| added.estimate / native), Unit::Share),
                Cell::value(call.map(|call| call.estimate), Unit::Ns),
                Cell::count(added.n),
            ]);
            table.row(row);
        }
    }
    if table.is_empty() {
        page.paragraph("Not testable in this sweep: no worker but the native one ran.");
        return;
    }
    page.paragraph(
        "Time per step with the worker minus time per step natively, in the same block and shape, \
         told: median over restarts and its interval. The empty call is the floor of what goes \
         through the boundary.",
    );
    page.table("workers", &table);
}

fn with_worker(cell: &Levels, worker: &str) -> Levels {
    let mut cell = cell.clone();
    cell.insert("worker".to_owned(), worker.to_owned());
    cell
}
