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
        })
    }

    /// The rows in the order of the plan. Lines of `runs.jsonl` may stand in any order (a resumed
    /// sweep, merged shards), and the report must not depend on it.
    pub(crate) fn in_plan_order(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| (row.run.order, row.run.attempt));
        rows
    }

    /// The variants in the order of the sweep.
    pub(crate) fn variants(&self) -> Vec<&str> {
        self.run_file.variants.iter().map(|entry| entry.variant.as_str()).collect()
    }

    /// The variants that copy another one under a second name: (twin, original).
    pub(crate) fn twins(&self) -> Vec<(&str, &str)> {
        let pair = |entry: &lab_record::VariantEntry| entry.twin_of.is_some();
        let entries = self.run_file.variants.iter().filter(|entry| pair(entry));
        entries
            .filter_map(|entry| Some((entry.variant.as_str(), entry.twin_of.as_deref()?)))
            .collect()
    }

    /// Whether a name belongs to a twin.
    pub(crate) fn is_twin(&self, variant: &str) -> bool {
        self.twins().iter().any(|(twin, _)| *twin == variant)
    }

    /// Whether a variant repeats what the published code did, as its tags say.
    pub(crate) fn is_as_published(&self, variant: &str) -> bool {
        let entry = self.run_file.variants.iter().find(|entry| entry.variant == variant);
        variant.ends_with("_as_published")
            || entry.is_some_and(|entry| {
                entry.tags.iter().any(|tag| tag == "as-published" || tag == "as_published")
            })
    }
}

/// Whether a run only measured how long the program takes to start.
pub(crate) fn is_probe(run: &Run) -> bool {
    run.cell.contains_key("probe")
}

/// Whether a run enters the analysis: done, not a warm-up, and of the workload itself.
pub(crate) fn is_analysed(run: &Run) -> bool {
    !run.warmup && run.status == Status::Ok && !is_probe(run)
}

/// Whether the noise gate found a cause outside the run.
pub(crate) fn is_gated(run: &Run) -> bool {
    !run.gated.is_empty()
}

/// Whether the agents ran one after the other on purpose.
pub(crate) fn is_solo(run: &Run) -> bool {
    run.cell.get("arrangement").is_some_and(|level| level == "solo")
}

/// The cell's name for people: its configuration, then every further level but the arrangement.
pub(crate) fn configuration(run: &Run) -> String {
    let shown = |(factor, level): (&String, &String)| match factor.as_str() {
        "config" => Some((0, level.clone())),
        "arrangement" | "repeat" => None,
        _ => Some((1, format!("{factor}={level}"))),
    };
    let mut parts: Vec<(u8, String)> = run.cell.iter().filter_map(shown).collect();
    parts.sort();
    if parts.is_empty() {
        return "all".to_owned();
    }
    parts.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// The cell without some of its factors: what runs that differ in these alone share.
pub(crate) fn cell_but(run: &Run, left_out: &[&str]) -> String {
    levels(run, |factor| !left_out.contains(&factor))
}

/// The whole cell as one key.
pub(crate) fn cell_key(run: &Run) -> String {
    levels(run, |_| true)
}

fn levels(run: &Run, keep: impl Fn(&str) -> bool) -> String {
    let kept = run.cell.iter().filter(|(factor, _)| keep(factor));
    kept.map(|(factor, level)| format!("{factor}={level}")).collect::<Vec<_>>().join(",")
}

/// How many parts per million of real time the server's schedule took: 1,000,000 is unscaled. A
/// server that does not say is a real one.
pub(crate) fn time_scale_ppm(run: &Run) -> u64 {
    run.counters.get("server_time_scale_ppm").copied().unwrap_or(UNSCALED_PPM)
}

/// Real time.
pub(crate) const UNSCALED_PPM: u64 = 1_000_000;

/// A time scale for people: `unscaled`, or `time scaled 1/100`.
pub(crate) fn time_scale_label(ppm: u64) -> String {
    match ppm {
        UNSCALED_PPM => "unscaled".to_owned(),
        0 => "time scale 0".to_owned(),
        ppm if UNSCALED_PPM.is_multiple_of(ppm) => {
            format!("time scaled 1/{}", UNSCALED_PPM / ppm)
        }
        ppm => format!("time scaled by {}", ppm as f64 / UNSCALED_PPM as f64),
    }
}

/// Names a run so that a reader finds its line in `runs.jsonl`.
pub(crate) fn name(run: &Run) -> String {
    let repeat = if run.attempt > 0 { format!(" attempt {}", run.attempt) } else { String::new() };
    format!(
        "`{}` {} block {} order {}{repeat}",
        run.variant,
        configuration(run),
        run.block,
        run.order
    )
}
