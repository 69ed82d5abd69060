//! Start-up time of every variant: whole processes by hyperfine, in interleaved rounds.

use std::{collections::BTreeMap, fs, path::Path};

use lab_process::Limits;
use lab_record::{Samples, Status};

use crate::{
    DriverError, Progress, Sweep, hyperfine,
    package::{Done, failed},
    recording::Recording,
    tools::tool_version,
};

/// Rounds of start-up timing; a report wants an interval, so more than six.
pub const STARTUP_ROUNDS: u32 = 10;

impl Sweep<'_> {
    /// Interleaved rounds of start-up timing, recorded as runs after the planned ones. False when
    /// interrupted.
    pub(crate) fn startup(
        &mut self,
        recording: &mut Recording<'_>,
        progress: &mut dyn Progress,
    ) -> Result<bool, DriverError> {
        if tool_version("hyperfine").is_none() {
            progress.note("hyperfine is not installed: start-up times are skipped");
            return Ok(true);
        }
        let first = self.plan.runs.len() as u64;
        for round in 0..STARTUP_ROUNDS {
            for turn in 0..self.programs.len() {
                // Every round starts with the next program, so that none is always first.
                let index = (turn + round as usize) % self.programs.len();
                let order = first + u64::from(round) * self.programs.len() as u64 + index as u64;
                let is_absent = self.programs[index].absent.is_some();
                if is_absent || recording.done.contains(&order) {
                    continue;
                }
                if self.is_interrupted() {
                    return Ok(false);
                }
                let Done { run, samples } = self.start_once(index, round, order)?;
                recording.end.recorded += 1;
                recording.end.failed += usize::from(run.status == Status::Failed);
                recording.writer.run(run, &samples)?;
            }
        }
        Ok(true)
    }

    fn start_once(&mut self, index: usize, round: u32, order: u64) -> Result<Done, DriverError> {
        let program = &self.programs[index];
        let like = self.plan.runs.iter().find(|run| run.variant == program.entry.variant);
        let mut planned = like.expect("every program has a planned run").clone();
        planned.order = order;
        planned.block = round + 1;
        planned.warmup = false;
        planned.cell = BTreeMap::from([("probe".to_owned(), "startup".to_owned())]);
        self.nothing_changed(&planned)?;
        let mut run = self.row(&planned, lab_process::monotonic_ns(), 0);
        let done = match time_once(&program.path, self.scratch.path()) {
            Ok(time_ns) => {
                run.process_ns = time_ns;
                run.counters.insert("startup_ns".to_owned(), time_ns);
                Done { run, samples: Samples::default() }
            }
            Err(reason) => failed(run, &reason),
        };
        Ok(self.unless_changed(&planned, done))
    }
}

/// One timed `--describe` of a program; hyperfine's JSON is kept only as long as it takes to read.
fn time_once(program: &Path, scratch: &Path) -> Result<u64, String> {
    let export = scratch.join("hyperfine.json");
    let output = hyperfine::once(&export, program, "--describe")
        .ask(Limits::QUESTION)
        .map_err(|unfinished| format!("hyperfine {unfinished}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hyperfine: {}", said.lines().next().unwrap_or("failed")));
    }
    let text = fs::read_to_string(&export).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    Ok(hyperfine::read(&text)?.wall_ns)
}
