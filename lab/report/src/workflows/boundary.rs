//! What a worker outside the back end's process costs per step: the process and its pipe, another
//! language behind a C interface, and another language alone; with the empty call as floor.

use super::sweep::{Cell as Levels, Sweep};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table};

/// The worker in Rust in a process of its own: the same pipe as every worker in another language.
const NATIVE_PROCESS: &str = "native_process";
const NATIVE: &str = "native";

/// Workers in another language, the interface in C before the language alone.
pub(super) const FOREIGN: [&str; 6] =
    ["python_ffi", "python_process", "ruby_ffi", "ruby_process", "node_ffi", "node_process"];

/// What a worker's step is held against, and what the difference is called.
fn held_against(worker: &str) -> (&'static str, &'static str) {
    match worker {
        NATIVE_PROCESS => (NATIVE, "process of its own"),
        worker if worker.ends_with("_ffi") => (NATIVE_PROCESS, "FFI overhead"),
        _ => (NATIVE_PROCESS, "process overhead"),
    }
}

/// What a worker adds to a step of what it is held against, in nanoseconds, within blocks; told,
/// at the cell's shape.
pub(super) fn added(sweep: &Sweep, variant: &str, shape: &str, worker: &str) -> Option<Reading> {
    let told = sweep.event(shape);
    let series = |worker| sweep.series(variant, &with_worker(&told, worker), "step_ns");
    let (one, other) = (series(worker), series(held_against(worker).0));
    let more = |(block, ns): (&u32, &f64)| Some((*block, ns - other.get(block)?));
    Reading::level(&one.iter().filter_map(more).collect::<Series>(), Unit::Ns)
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Workers in another language");
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("shape", "shape"),
        ("worker", "worker"),
        ("minus", "reference"),
        ("is", "what"),
        ("adds to a step", "added_ns"),
        ("low", "added_low_ns"),
        ("high", "added_high_ns"),
        ("share of a native step", "added_share"),
        ("empty call", "ffi_call_ns"),
        ("n", "n"),
    ]);
    let workers = [NATIVE_PROCESS].into_iter().chain(FOREIGN);
    for variant in sweep.variants() {
        for shape in sweep.shapes() {
            for worker in workers.clone() {
                if let Some(row) = row(sweep, variant, &shape, worker) {
                    table.row(row);
                }
            }
        }
    }
    if table.is_empty() {
        page.paragraph("Not testable in this sweep: no worker but the native one ran.");
        return;
    }
    page.paragraph(
        "Time per step with the worker minus time per step with the other, in the same block and \
         shape, told: median over restarts and its interval. Steps go through the same pipe to \
         every worker but `native`, which is a thread of the back end. `native_process` and the \
         `_ffi` workers share the worker in Rust as well; only who calls it and computes differs, \
         so their difference is the FFI overhead, and the empty call is its floor. The published \
         bench has 45 % and later 23 % for that, of a task and in steps of one look.",
    );
    page.table("workers", &table);
}

fn row(sweep: &Sweep, variant: &str, shape: &str, worker: &str) -> Option<Vec<Cell>> {
    let added = added(sweep, variant, shape, worker)?;
    let (reference, what) = held_against(worker);
    let told = sweep.event(shape);
    let native = sweep.level(variant, &told, "step_ns").map(|native| native.estimate);
    let call = sweep.level(variant, &with_worker(&told, worker), "ffi_call_ns");
    let mut row = vec![Cell::code(variant), Cell::text(shape), Cell::text(worker)];
    row.extend([Cell::text(reference), Cell::text(what)]);
    row.extend(Reading::cells(Some(&added)));
    row.extend([
        Cell::value(native.map(|native| added.estimate / native), Unit::Share),
        Cell::value(call.map(|call| call.estimate), Unit::Ns),
        Cell::count(added.n),
    ]);
    Some(row)
}

fn with_worker(cell: &Levels, worker: &str) -> Levels {
    let mut cell = cell.clone();
    cell.insert("worker".to_owned(), worker.to_owned());
    cell
}
