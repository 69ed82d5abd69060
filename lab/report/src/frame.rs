//! Loaded records: what every table, verdict and picture is computed from.

use lab_record::{RecordError, Results, Run, RunFile, Samples, Session, Status};

/// One run and its samples.
#[derive(Debug, Clone)]
pub struct Row {
    /// The line of `runs.jsonl`.
    pub run: Run,
    /// Its samples; empty where it left none.
    pub samples: Samples,
}

/// A results folder, in memory. A report is a function of this and of nothing else.
#[derive(Debug, Clone)]
pub struct Frame {
    /// `run.json`.
    pub run_file: RunFile,
    /// `sessions.jsonl`.
    pub sessions: Vec<Session>,
    /// Every run, failed ones and warm-ups included.
    pub rows: Vec<Row>,
    /// One value for all rows; none of a record from before chains.
    pub head: Option<String>,
}

impl Frame {
    /// Reads the samples of every run. The only function of this crate that touches the disk.
    ///
    /// # Errors
    /// Where samples are missing, damaged, or do not hash to their name.
    pub fn load(results: &Results) -> Result<Self, RecordError> {
        let row = |run: &Run| results.samples(run).map(|samples| Row { run: run.clone(), samples });
        Ok(Self {
            run_file: results.run_file.clone(),
            sessions: results.sessions.clone(),
            rows: results.runs.iter().map(row).collect::<Result<_, _>>()?,
            head: results.heads().map(lab_record::Heads::whole),
        })
    }

    /// The rows in the order of the plan. Lines of `runs.jsonl` may stand in any order (a resumed
    /// sweep, merged shards), and the report must not depend on it.
    pub fn in_plan_order(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| (row.run.order, row.run.attempt));
        rows
    }

    /// The variants in the order of the sweep.
    pub fn variants(&self) -> Vec<&str> {
        self.run_file.variants.iter().map(|entry| entry.variant.as_str()).collect()
    }

    /// The variants that copy another one under a second name: (twin, original).
    pub fn twins(&self) -> Vec<(&str, &str)> {
        let pair = |entry: &lab_record::VariantEntry| entry.twin_of.is_some();
        let entries = self.run_file.variants.iter().filter(|entry| pair(entry));
        entries
            .filter_map(|entry| Some((entry.variant.as_str(), entry.twin_of.as_deref()?)))
            .collect()
    }

    /// The largest speed, in bytes per second, that the last session with any measured of what
    /// begins so, such as `page_cache`.
    pub fn floor_bytes_per_s(&self, what: &str) -> Option<f64> {
        let sessions = self.sessions.iter().rev();
        let mut floors = sessions.filter_map(|one| one.environment.get("floors")?.as_object());
        floors.find_map(|floors| {
            let is_speed = |name: &str| name.starts_with(what) && name.ends_with("bytes_per_s");
            let speeds = floors.iter().filter(|(name, _)| is_speed(name));
            speeds.filter_map(|(_, value)| value.as_f64()).max_by(f64::total_cmp)
        })
    }

    /// Whether a name belongs to a twin.
    pub fn is_twin(&self, variant: &str) -> bool {
        self.twins().iter().any(|(twin, _)| *twin == variant)
    }
}

/// Whether a run only measured how long the program takes to start.
pub fn is_probe(run: &Run) -> bool {
    run.cell.contains_key("probe")
}

/// Whether a run enters the analysis: done, not a warm-up, and of the workload itself.
pub fn is_analysed(run: &Run) -> bool {
    !run.warmup && run.status == Status::Ok && !is_probe(run)
}

/// Whether the noise gate found a cause outside the run.
pub fn is_gated(run: &Run) -> bool {
    !run.gated.is_empty()
}

/// The cell without some of its factors: what runs that differ in these alone share.
pub fn cell_but(run: &Run, left_out: &[&str]) -> String {
    levels(run, |factor| !left_out.contains(&factor))
}

/// The whole cell as one key.
pub fn cell_key(run: &Run) -> String {
    levels(run, |_| true)
}

fn levels(run: &Run, keep: impl Fn(&str) -> bool) -> String {
    let kept = run.cell.iter().filter(|(factor, _)| keep(factor));
    kept.map(|(factor, level)| format!("{factor}={level}")).collect::<Vec<_>>().join(",")
}

/// Names a run so that a reader finds its line in `runs.jsonl`.
pub fn name(run: &Run) -> String {
    let repeat = if run.attempt > 0 { format!(" attempt {}", run.attempt) } else { String::new() };
    format!("`{}` {} block {} order {}{repeat}", run.variant, cell_key(run), run.block, run.order)
}
