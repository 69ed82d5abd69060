//! What a sweep has recorded so far: rows on disk, counts, and who is left out.

use std::collections::BTreeSet;

use lab_record::{Results, Run, Samples, Status, Writer};

use crate::{
    Disturbance, DriverError, Position, Progress, SweepEnd,
    gate::{self, Gate},
    package::unfit_variant,
};

/// The records of a sweep in progress.
pub(crate) struct Recording<'w> {
    pub(crate) writer: &'w mut Writer,
    /// The orders of runs that are there already.
    pub(crate) done: BTreeSet<u64>,
    /// Variants whose check failed: they are not timed, and the failed check is their record.
    pub(crate) unfit: BTreeSet<String>,
    pub(crate) end: SweepEnd,
    /// Question and kind (whether a control) of the last round of which this session ran something.
    pub(crate) last_round: Option<(usize, bool)>,
    done_ms: u64,
    total_ms: u64,
    /// Runs of the blocks that were begun, and all of them.
    begun: usize,
    cells: usize,
    worst_noise: Option<Disturbance>,
}

impl<'w> Recording<'w> {
    /// Goes on after what earlier sessions recorded, with so many runs in the blocks; the forecast
    /// is in milliseconds.
    pub(crate) fn after(
        before: Option<&Results>,
        writer: &'w mut Writer,
        cells: usize,
        total_ms: u64,
    ) -> Self {
        let before: &[Run] = before.map_or(&[], |results| &results.runs);
        let failed = before.iter().filter(|run| run.status == Status::Failed).count();
        Self {
            writer,
            done: before.iter().map(|run| run.order).collect(),
            unfit: before.iter().filter_map(unfit_variant).collect(),
            end: SweepEnd { finished: false, recorded: before.len(), failed, head: None },
            last_round: None,
            done_ms: 0,
            total_ms,
            begun: 0,
            cells,
            worst_noise: None,
        }
    }

    /// A run is about to start, which should take so long.
    pub(crate) fn at(&mut self, progress: &mut dyn Progress, expected_ms: u64, label: &str) {
        progress.at(&Position {
            done_ms: self.done_ms.min(self.total_ms),
            total_ms: self.total_ms,
            cells_done: self.begun.min(self.cells),
            cells: self.cells,
            worst_noise: self.worst_noise,
            label,
        });
        self.begun += 1;
        self.done_ms += expected_ms;
    }

    /// The forecast of this much is done, whatever it took.
    pub(crate) fn forecast_done(&mut self, done_ms: u64) {
        self.done_ms = done_ms;
    }

    /// Counts a run, and says what a person should know of it.
    pub(crate) fn note(&mut self, run: &Run, label: &str, progress: &mut dyn Progress) {
        self.end.recorded += 1;
        self.disturbed(gate::largest(&run.noise));
        if run.status == Status::Failed {
            self.end.failed += 1;
            let reason = run.reason.as_deref().unwrap_or("no reason given");
            progress.note(&format!("failed: {label}: {reason}"));
        }
        if let Some(variant) = unfit_variant(run) {
            let why = match run.status {
                Status::Unsupported => run.reason.as_deref().unwrap_or("it refused"),
                _ => "its check failed",
            };
            progress.note(&format!("{variant} is left out: {why}"));
            self.unfit.insert(variant);
        }
    }

    fn disturbed(&mut self, found: Option<Disturbance>) {
        let size = |one: &Disturbance| one.share;
        let both = self.worst_noise.into_iter().chain(found);
        self.worst_noise = both.max_by(|a, b| size(a).total_cmp(&size(b)));
    }

    /// Puts a run on disk, and the window that it completes.
    pub(crate) fn write(
        &mut self,
        run: Run,
        samples: &Samples,
        gate: &mut Gate,
    ) -> Result<(), DriverError> {
        let (order, block) = (run.order, run.block);
        self.writer.run(run, samples)?;
        if let Some(window) = gate.recorded(order, block) {
            self.disturbed(gate::largest(&window.noise));
            self.writer.window(&window)?;
        }
        Ok(())
    }
}
