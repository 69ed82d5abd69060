//! What a worker outside the back end's process costs per step: the process and its pipe, another
//! language behind a C interface, and another language alone; with the empty call as floor.

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Reading, Study, Table, minus, study::with};

const FACTOR: &str = "worker";
const NATIVE: &str = "native";
/// The worker in Rust in a process of its own: the same pipe as every worker in another language.
const NATIVE_PROCESS: &str = "native_process";

/// Writes nothing where all workers were native.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("shape", "shape"),
        (FACTOR, FACTOR),
        ("minus", "reference"),
        ("", "what"),
        ("adds to a step", ""),
        ("", "added_ns"),
        ("", "added_low_ns"),
        ("", "added_high_ns"),
        ("", "added_share"),
        ("", "added_share_low"),
        ("", "added_share_high"),
        ("empty call", "ffi_call_ns"),
        ("n", "n"),
    ]);
    for variant in study.variants() {
        let cells = study.cells(variant).into_iter();
        for cell in cells.filter(|cell| study.is_default_but(cell, &["shape", FACTOR])) {
            row(study, variant, cell).into_iter().for_each(|row| table.row(row));
        }
    }
    if table.is_empty() {
        return;
    }
    page.heading("Workers in another language");
    page.paragraph(
        "Time per step with the worker minus that with the other, paired; median over restarts. \
         `native` is a thread of the back end, all others are behind one pipe. `_ffi` minus \
         `native_process` is the FFI overhead; the empty call is its floor.",
    );
    page.table("workers", &table);
}

/// What a worker's step is compared with, and what the difference is called. A peer has its own
/// worker in a language, and nothing of the lab's between.
fn compared_with(worker: &str, has_process: bool) -> Option<(&'static str, &'static str)> {
    match worker {
        NATIVE => None,
        _ if !has_process => Some((NATIVE, "its own worker")),
        NATIVE_PROCESS => Some((NATIVE, "process of its own")),
        worker if worker.ends_with("_ffi") => Some((NATIVE_PROCESS, "FFI overhead")),
        _ => Some((NATIVE_PROCESS, "process overhead")),
    }
}

fn row(study: &Study, variant: &str, cell: &Cell) -> Option<Vec<Entry>> {
    let worker = cell.get(FACTOR)?;
    let series = |worker| study.series(variant, &with(cell, FACTOR, worker), "step_ns");
    let has_process = worker == NATIVE_PROCESS || !series(NATIVE_PROCESS).is_empty();
    let (reference, what) = compared_with(worker, has_process)?;
    let added = Reading::level(&minus(&series(worker), &series(reference)), Unit::Ns)?;
    let native = study.median(variant, &with(cell, FACTOR, NATIVE), "step_ns");
    let mut row = vec![Entry::code(variant), Entry::text(cell.get("shape")?), Entry::text(worker)];
    row.extend([Entry::text(reference), Entry::text(what)]);
    row.push(Reading::in_short(Some(added)));
    row.extend(Reading::entries(Some(added)));
    let share = native.map(|native| Reading { unit: Unit::Share, ..added.over(native) });
    row.extend(Reading::entries(share));
    row.extend([
        Entry::value(study.median(variant, cell, "ffi_call_ns"), Unit::Ns),
        Entry::count(added.n),
    ]);
    Some(row)
}
