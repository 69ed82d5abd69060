//! What a worker outside the back end's process costs per step: the process and its pipe, another
//! language behind a C interface, and another language alone; with the empty call as floor.

use lab_family::Cell;
use lab_family::Unit::{self, Ns};
use lab_report::Column::{Code, Count, Interval, Number, Text};
use lab_report::{Chapter, Kept, Page, Reading, Study, Table, minus, study::with};

const FACTOR: &str = "worker";
const NATIVE: &str = "native";
/// The worker in Rust in a process of its own: the same pipe as every worker in another language.
const NATIVE_PROCESS: &str = "native_process";

/// What a worker adds to a step of a variant.
struct Added<'s> {
    variant: &'s str,
    shape: &'s str,
    worker: &'s str,
    /// The worker that it is compared with, and what the difference is called.
    reference: &'static str,
    what: &'static str,
    added: Reading,
    /// Of the step with a native worker.
    share: Option<Reading>,
    ffi_call_ns: Option<f64>,
}

/// Writes nothing where all workers were native.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let variants = study.variants();
    let places = study.places(&variants).into_iter();
    let places = places.filter(|(_, cell)| study.is_default_but(cell, &["shape", FACTOR]));
    let added = places.filter_map(|(variant, cell)| Added::of(study, variant, cell));
    page.chapter(Chapter {
        heading: "Workers in another language",
        text: "Time per step with the worker minus that with the other, paired; median over \
               restarts. `native` is a thread of the back end, all others are behind one pipe. \
               `_ffi` minus `native_process` is the FFI overhead; the empty call is its floor.",
        table: Table::over(
            added,
            &[
                Code("variant", "variant", &|of| of.variant),
                Text("shape", "shape", &|of| of.shape),
                Text(FACTOR, FACTOR, &|of| of.worker),
                Text("minus", "reference", &|of| of.reference),
                Text("", "what", &|of| of.what),
                Interval("adds to a step", "added{}_ns", &|of| Some(of.added)),
                Interval("", "added_share", &|of| of.share),
                Number("empty call", "ffi_call_ns", Ns, &|of| of.ffi_call_ns),
                Count("n", "n", &|of| of.added.n),
            ],
        ),
        kept: Kept::Shown("workers"),
        ..Chapter::default()
    });
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

impl<'s> Added<'s> {
    fn of(study: &Study, variant: &'s str, cell: &'s Cell) -> Option<Self> {
        let worker = cell.get(FACTOR)?;
        let series = |worker| study.series(variant, &with(cell, FACTOR, worker), "step_ns");
        let has_process = worker == NATIVE_PROCESS || !series(NATIVE_PROCESS).is_empty();
        let (reference, what) = compared_with(worker, has_process)?;
        let added = Reading::level(&minus(&series(worker), &series(reference)), Unit::Ns)?;
        let native = study.median(variant, &with(cell, FACTOR, NATIVE), "step_ns");
        let share = native.map(|native| Reading { unit: Unit::Share, ..added.over(native) });
        let ffi_call_ns = study.median(variant, cell, "ffi_call_ns");
        let shape = cell.get("shape")?;
        Some(Self { variant, shape, worker, reference, what, added, share, ffi_call_ns })
    }
}
