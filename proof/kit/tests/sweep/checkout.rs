//! A checkout with made-up variants, and sweeps of it.

use std::{
    cell::RefCell,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use lab_driver::{
    Catalog, Description, Position, Program, Progress, Sweep, SweepEnd, SweepOptions,
};
use lab_family::Referee;
use lab_plan::{Experiment, plan};
use lab_record::{Results, RunFile, VariantEntry};
use lab_report::{Frame, Report, Rounds, report};
use proof_kit::toys::Toys;
use tempfile::TempDir;

/// Sets the interrupt at a run, and keeps what was said of the way.
pub(crate) struct StopAt<'a> {
    interrupt: &'a AtomicBool,
    runs_left: usize,
    said: Vec<Said>,
    notes: &'a RefCell<Vec<String>>,
}

/// Of each run that was about to start: cells done, all cells, and milliseconds done of all.
pub(crate) type Said = (usize, usize, u64, u64);

impl Progress for StopAt<'_> {
    fn note(&mut self, sentence: &str) {
        self.notes.borrow_mut().push(sentence.to_owned());
    }

    fn at(&mut self, at: &Position<'_>) {
        self.said.push((at.cells_done, at.cells, at.done_ms, at.total_ms));
        match self.runs_left.checked_sub(1) {
            Some(left) => self.runs_left = left,
            None => self.interrupt.store(true, Ordering::Relaxed),
        }
    }
}

/// A checkout with a folder for each variant, its program in it.
pub(crate) fn family(root: &Path, variants: &[&str]) {
    for name in variants {
        let folder = root.join("toys").join(name);
        fs::create_dir_all(&folder).unwrap();
        let manifest = format!(
            "name = \"{name}\"\nfamily = \"toys\"\ntags = [\"toy\"]\nsentence = \"Adds.\"\n\
             measures = \"addition\"\nversion = \"1.0.0\"\nfeatures = []\n"
        );
        fs::write(folder.join("variant.toml"), manifest).unwrap();
        let program = fs::canonicalize(env!("CARGO_BIN_EXE_toys")).unwrap();
        fs::copy(program, folder.join(format!("toys-{name}"))).unwrap();
    }
}

/// One sweep at a time: a program that one test still writes cannot be started by another.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a sweep runs of an entrant.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) variant: String,
    pub(crate) twin_of: Option<String>,
    pub(crate) sha256: String,
    pub(crate) path: PathBuf,
    pub(crate) inode: u64,
}

/// A checkout and the results of one sweep in it.
pub(crate) struct Checkout {
    root: TempDir,
    text: String,
    /// What its sweeps have noted.
    pub(crate) notes: RefCell<Vec<String>>,
}

impl Checkout {
    pub(crate) fn of(text: &str, variants: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        family(root.path(), variants);
        Self { root, text: text.to_owned(), notes: RefCell::default() }
    }

    /// The folder of a variant.
    pub(crate) fn folder(&self, variant: &str) -> PathBuf {
        self.root.path().join("toys").join(variant)
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.root.path().join("results").join("one")
    }

    /// Each entrant's program as a sweep would copy it.
    pub(crate) fn programs(&self) -> Vec<Copied> {
        let _alone = alone();
        let root = self.root.path();
        let experiment = Experiment::parse("adding.toml", &self.text, &[&Toys]).unwrap();
        let catalog = Catalog::read(root, "toys", &[root.to_owned()]).unwrap();
        let plan = plan(&experiment, &catalog.manifests).unwrap();
        let copies = tempfile::tempdir().unwrap();
        let copied = |program: Program| {
            let inode = fs::metadata(&program.path).unwrap().ino();
            let VariantEntry { variant, twin_of, binary_sha256: sha256, .. } = program.entry;
            Copied { variant, twin_of, sha256, path: program.path, inode }
        };
        let programs = catalog.programs(&plan.entrants, copies.path()).unwrap();
        programs.into_iter().map(copied).collect()
    }

    /// Runs the sweep, or goes on with it, until so many runs have begun.
    pub(crate) fn sweep(&self, resume: bool, runs: usize) -> SweepEnd {
        self.watched(resume, runs).0
    }

    /// The same, with what was said of the way.
    pub(crate) fn watched(&self, resume: bool, runs: usize) -> (SweepEnd, Vec<Said>) {
        let root = self.root.path();
        let experiment = Experiment::parse("adding.toml", &self.text, &[&Toys]).unwrap();
        let catalog = Catalog::read(root, "toys", &[root.to_owned()]).unwrap();
        let plan = plan(&experiment, &catalog.manifests).unwrap();
        let options = SweepOptions {
            results: self.results(),
            resume,
            // No server is needed, and the guard ends at once.
            lab: "true".into(),
            workspace: root.to_owned(),
            description: Description {
                experiment_file: "experiments/adding.toml".to_owned(),
                experiment_toml: self.text.clone(),
                ..Description::default()
            },
            startup: false,
        };
        let interrupt = AtomicBool::new(false);
        let mut sweep = Sweep::prepare(&experiment, &plan, &catalog, &options, &interrupt).unwrap();
        let referee =
            |run_file: &RunFile| -> Box<dyn Referee> { Box::new(Rounds::before(run_file, &Toys)) };
        let (interrupt, notes) = (&interrupt, &self.notes);
        let mut progress = StopAt { interrupt, runs_left: runs, said: Vec::new(), notes };
        let end = sweep.run(&options, &referee, &mut progress).unwrap();
        (end, progress.said)
    }

    /// The records and the report on them.
    pub(crate) fn report(&self) -> (Frame, Report) {
        let mut frame = Frame::load(&Results::load(&self.results()).unwrap()).unwrap();
        // The times are made up, so what else the test's machine does is no doubt about them.
        frame.rows.iter_mut().for_each(|row| row.run.gated.clear());
        let report = report(&frame, &[&Toys]).unwrap();
        (frame, report)
    }
}

/// A whole sweep.
pub(crate) fn swept(text: &str, variants: &[&str]) -> (Frame, Report) {
    let _alone = alone();
    let checkout = Checkout::of(text, variants);
    assert!(checkout.sweep(false, usize::MAX).finished);
    checkout.report()
}

/// A field of a table's row.
#[track_caller]
pub(crate) fn field(report: &Report, table: &str, id: &str, column: &str) -> String {
    let text = &report.tables[table];
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let place = lines.next().unwrap().iter().position(|key| *key == column).unwrap();
    let row = lines.find(|row| row[0] == id).unwrap_or_else(|| panic!("{id} in {text}"));
    row[place].to_owned()
}

#[track_caller]
pub(crate) fn outcome(report: &Report, table: &str, id: &str) -> String {
    field(report, table, id, "outcome")
}
