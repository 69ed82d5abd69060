//! Sweeps that never ran, for the tests of reports: the plan is a real one, and every result
//! follows from a formula that a test states.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use lab_family::Family;
use lab_plan::{Experiment, InputError, Manifest, Plan, PlannedRun, Round, plan};
use lab_record::{
    GitState, Machine, Noise, Run, RunFile, SCHEMA, Samples, Session, SessionEvent, Status,
    VariantEntry, Verification,
};
use lab_report::{FamilyReport, Frame, Report, Row, report};
use xxhash_rust::xxh64::xxh64;

/// A sweep to be made up.
#[derive(Debug, Clone)]
pub struct World {
    /// The text of an experiment, as a user writes it.
    pub experiment: String,
    /// The profile, where one is used.
    pub profile: Option<String>,
    /// The files that the experiment names, by the name that records give them.
    pub attachments: BTreeMap<String, String>,
    /// The family's variants, each with its tags.
    pub variants: Vec<(String, Vec<String>)>,
    /// The machine's CPUs.
    pub cpus: u32,
    /// How often each declared question is asked in rounds; `None` for a sweep that has blocks
    /// alone, whatever its experiment says.
    pub rounds: Option<u32>,
}

/// What a made-up run left.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// Why it failed, where it did.
    pub failed: Option<String>,
    /// Why it was refused, where it was.
    pub unsupported: Option<String>,
    /// Causes that the noise gate found.
    pub gated: Vec<String>,
    /// Counters.
    pub counters: Vec<(&'static str, u64)>,
    /// Columns of samples.
    pub columns: Vec<(&'static str, Vec<i64>)>,
}

impl World {
    /// A sweep of these variants, all with the same tags.
    pub fn of(experiment: &str, tags: &[&str], variants: &[&str]) -> Self {
        let tags: Vec<String> = tags.iter().map(|&tag| tag.to_owned()).collect();
        let variants = variants.iter().map(|&name| (name.to_owned(), tags.clone()));
        Self {
            experiment: experiment.to_owned(),
            profile: None,
            attachments: BTreeMap::new(),
            variants: variants.collect(),
            cpus: 2,
            rounds: None,
        }
    }

    /// The sweep with the tags that the variants' folders have; `root` is the repository's root.
    ///
    /// # Panics
    /// As [`manifests`].
    pub fn with_tags_of(mut self, root: &Path, family: &str) -> Self {
        for manifest in manifests(root, family) {
            let own = self.variants.iter_mut().find(|(name, _)| *name == manifest.name);
            own.into_iter().for_each(|(_, tags)| tags.clone_from(&manifest.tags));
        }
        self
    }

    /// The records that the sweep would have left.
    ///
    /// # Panics
    /// Where the experiment is refused; the message says why.
    pub fn frame(&self, family: &'static dyn Family, make: impl Fn(&PlannedRun) -> Made) -> Frame {
        let mut experiment = Experiment::parse("made-up.toml", &self.experiment, &[family])
            .unwrap_or_else(|error| panic!("{error}"));
        if let Some(profile) = &self.profile {
            experiment = experiment.with_profile(profile).unwrap_or_else(|e| panic!("{e}"));
        }
        if let Some((name, _)) = experiment.section.attachment() {
            experiment.section.attach(&self.attachments[name]).unwrap_or_else(|e| panic!("{e}"));
        }
        if self.rounds.is_none() {
            experiment.written.analysis.rounds = None;
        }
        let manifests: Vec<Manifest> =
            self.variants.iter().map(|(name, tags)| manifest(family.name(), name, tags)).collect();
        let plan = plan(&experiment, &manifests).unwrap_or_else(|error| panic!("{error}"));
        let asked = plan.asked.iter().flat_map(|asked| {
            let most = self.rounds.unwrap_or_default().min(asked.rounds.most);
            (0..most).filter_map(|round| {
                let planned = asked.round(&experiment, round, |_, _| true);
                planned.unwrap_or_else(|error| panic!("{error}"))
            })
        });
        let runs = plan.runs.iter().cloned().chain(washed(asked));
        let rows =
            runs.zip(0..).map(|(planned, at)| row(family.name(), &planned, at, make(&planned)));
        let entries = plan.entrants.iter().map(|entrant| {
            let twin_of = entrant.twin_of.clone();
            entry(family.name(), &entrant.name, twin_of, &entrant.manifest.tags)
        });
        Frame {
            run_file: self.run_file(&experiment, entries.collect(), plan.runs.len() as u64),
            sessions: sessions(),
            rows: rows.collect(),
            head: None,
        }
    }

    /// The report of the made-up sweep.
    ///
    /// # Panics
    /// As [`Self::frame`], and where there is no report.
    pub fn report(
        &self,
        family: &'static dyn FamilyReport,
        make: impl Fn(&PlannedRun) -> Made,
    ) -> Report {
        report(&self.frame(family, make), &[family]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn run_file(
        &self,
        experiment: &Experiment,
        variants: Vec<VariantEntry>,
        runs_planned: u64,
    ) -> RunFile {
        let written = &experiment.written;
        RunFile {
            schema: SCHEMA,
            experiment: written.name.clone(),
            experiment_file: "experiments/made-up.toml".to_owned(),
            profile: self.profile.clone(),
            servers: vec![],
            model: None,
            experiment_toml: self.experiment.clone(),
            attachments: self.attachments.clone(),
            experiment_sha256: RunFile::hash_of(&self.experiment, &self.attachments),
            lab_sha256: None,
            arguments: vec!["run".to_owned(), "experiments/made-up.toml".to_owned()],
            analysis: written.analysis.clone(),
            expectations: written.expect.clone(),
            seed: written.seed,
            session: None,
            blocks: written.blocks,
            runs_planned,
            git: Some(GitState { commit: "abc123".to_owned(), dirty: false }),
            variants,
            machine: Machine {
                cpu_model: "Imaginary 2000".to_owned(),
                cpus: self.cpus,
                memory_bytes: 8 << 30,
                kernel: "6.1".to_owned(),
                arch: "x86_64".to_owned(),
                id: None,
            },
            started_unix_s: 0,
        }
    }
}

/// The plan of an experiment's text, called `e.toml`; `attachment` stands for the file that its
/// section names. `root` is the repository's root.
///
/// # Errors
/// Where the experiment is refused.
pub fn planned(
    (family, root): (&'static dyn Family, &Path),
    text: &str,
    profile: Option<&str>,
    attachment: Option<&str>,
) -> Result<Plan, InputError> {
    let mut experiment = Experiment::parse("e.toml", text, &[family])?;
    if let Some(profile) = profile {
        experiment = experiment.with_profile(profile)?;
    }
    if let Some(attachment) = attachment {
        experiment.section.attach(attachment)?;
    }
    plan(&experiment, &manifests(root, family.name()))
}

/// That an experiment with its first `from` changed `to` is refused in these words.
///
/// # Panics
/// Where the text has no `from`, and where it is not refused like that.
#[track_caller]
pub fn refused<T>(
    text: &str,
    (from, to): (&str, &str),
    planned: impl Fn(&str) -> Result<T, InputError>,
    expected: &str,
) {
    assert!(text.contains(from), "the test changes nothing: {from}");
    let error = planned(&text.replacen(from, to, 1)).err().map(|error| error.to_string());
    let error = error.unwrap_or_else(|| panic!("`{to}` is not refused"));
    assert!(error.starts_with("e.toml") && error.contains(expected), "{error}");
}

/// The manifests of a family's folders, by name. `root` is the root of the repository.
///
/// # Panics
/// Where a folder or a manifest cannot be read.
pub fn manifests(root: &Path, family: &str) -> Vec<Manifest> {
    let folders = fs::read_dir(root.join(family)).unwrap_or_else(|e| panic!("{family}: {e}"));
    let read = |folder: PathBuf| {
        let text = fs::read_to_string(folder.join("variant.toml")).ok()?;
        let name = folder.file_name()?.to_str()?;
        Some(Manifest::parse("variant.toml", &text, family, name).unwrap_or_else(|e| panic!("{e}")))
    };
    let mut manifests: Vec<Manifest> = folders.flatten().filter_map(|f| read(f.path())).collect();
    manifests.sort_by(|a, b| a.name.cmp(&b.name));
    manifests
}

/// A factor of 1 plus or minus at most `amount`, the same for the same parts.
pub fn noise(amount: f64, run: &PlannedRun) -> f64 {
    let parts = format!("{} {:?} {}", run.variant, run.cell, run.block);
    let unit = xxh64(parts.as_bytes(), 0) as f64 / u64::MAX as f64;
    1.0 + amount * (2.0 * unit - 1.0)
}

/// A field of a table, by the values of key columns.
///
/// # Panics
/// Where the table has no such column or row; the message shows it.
pub fn field(report: &Report, table: &str, keys: &[(&str, &str)], column: &str) -> String {
    let text = report.tables.get(table).unwrap_or_else(|| panic!("there is no {table}"));
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let place = |name: &str| {
        let found = header.iter().position(|key| *key == name);
        found.unwrap_or_else(|| panic!("{table} has no column {name}: {header:?}"))
    };
    let matches = |row: &Vec<&str>| keys.iter().all(|(key, value)| row[place(key)] == *value);
    let row = lines.find(matches).unwrap_or_else(|| panic!("{table} has no row {keys:?}:\n{text}"));
    row[place(column)].to_owned()
}

/// The same as a number.
///
/// # Panics
/// As [`field`], and where it is no number.
pub fn number(report: &Report, table: &str, keys: &[(&str, &str)], column: &str) -> f64 {
    let text = field(report, table, keys, column);
    text.parse().unwrap_or_else(|_| panic!("{column} of {keys:?} is `{text}`"))
}

/// The outcome of an expectation.
///
/// # Panics
/// As [`field`].
pub fn expected(report: &Report, id: &str) -> String {
    field(report, "expectations.tsv", &[("id", id)], "outcome")
}

fn manifest(family: &str, name: &str, tags: &[String]) -> Manifest {
    Manifest {
        name: name.to_owned(),
        family: family.to_owned(),
        tags: tags.to_vec(),
        sentence: "A variant that exists only here.".to_owned(),
        measures: "nothing".to_owned(),
        version: "1.0.0".to_owned(),
        features: vec![],
        interpreter: None,
        keep_up: vec![],
    }
}

fn entry(family: &str, name: &str, twin_of: Option<String>, tags: &[String]) -> VariantEntry {
    VariantEntry {
        variant: name.to_owned(),
        family: family.to_owned(),
        twin_of,
        measures: "nothing".to_owned(),
        version: "1.0.0".to_owned(),
        features: vec![],
        interpreter: None,
        tags: tags.to_vec(),
        binary_sha256: "0123456789abcdef".to_owned(),
        binary_bytes: 1 << 20,
    }
}

/// The runs of rounds in their order, each round with its wash where the one before was of
/// something else.
fn washed(rounds: impl Iterator<Item = Round>) -> impl Iterator<Item = PlannedRun> {
    let mut last = None;
    rounds.flat_map(move |round| {
        let kind = (round.place, round.is_control);
        let is_washed = last.replace(kind) != Some(kind);
        is_washed.then_some(round.wash).into_iter().chain(round.runs)
    })
}

/// A run that began `at` seconds.
fn row(family: &str, planned: &PlannedRun, at: u64, made: Made) -> Row {
    let (status, reason) = match (made.failed, made.unsupported) {
        (Some(reason), _) => (Status::Failed, Some(reason)),
        (None, Some(reason)) => (Status::Unsupported, Some(reason)),
        (None, None) => (Status::Ok, None),
    };
    let counters = planned.work.counters().into_iter().chain(made.counters);
    let columns = made.columns.into_iter().map(|(name, values)| (name.to_owned(), values));
    let run = Run {
        schema: SCHEMA,
        order: planned.order,
        attempt: 0,
        block: planned.block,
        warmup: planned.warmup,
        family: family.to_owned(),
        variant: planned.variant.clone(),
        cell: planned.cell.clone(),
        status,
        reason,
        verification: Verification::Verified,
        binary_sha256: "0123456789abcdef".to_owned(),
        start_ns: 1_000_000_000 * at,
        process_ns: 900_000_000,
        cpu_ns: None,
        counters: counters.map(|(name, value)| (name.to_owned(), value)).collect(),
        kept: BTreeMap::new(),
        noise: Noise::default(),
        gated: made.gated,
        gpu: None,
        gpu_reason: None,
        samples: None,
    };
    Row { run, samples: Samples::from_raw(columns.collect()) }
}

fn sessions() -> Vec<Session> {
    let event = |event, unix_s| Session {
        schema: SCHEMA,
        event,
        unix_s,
        environment: BTreeMap::from([("pinning".to_owned(), "not pinned".into())]),
    };
    vec![event(SessionEvent::Start, 0), event(SessionEvent::Finished, 100)]
}
