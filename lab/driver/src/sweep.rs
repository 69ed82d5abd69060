//! A sweep: every planned run in order, recorded as it ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::probe::Snapshot;
use lab_family::{Referee, WORK_DECLARED_NS};
use lab_plan::{Experiment, Plan, PlannedRun, Starter};
use lab_process::{Guard, Orphans, Scratch};
use lab_record::{
    GitState, Noise, Results, Run, RunFile, SCHEMA, Session, SessionEvent, Status, Verification,
    Writer,
};
use serde_json::json;

use crate::{
    DriverError, Program,
    cards::{CardWatch, cards},
    execute::{self, Call, Executed, execute},
    gate::Gate,
    held::{self, Held},
    hyperfine,
    package::{Done, absent, failed, is_of_answer, package},
    pinning::Pinning,
    progress::{Position, Progress},
    recording::Recording,
    resume,
    rounds::{Recorded, RefereeOf},
    services::{Left, Services},
    tools::tool_version,
    traces::{Traces, count_left, tell_once},
};

/// Why a row has no readings of noise and cards.
const NOT_RUN: &str = "not asked: no program of a variant ran for work";

/// Everything that a sweep is given.
#[derive(Debug)]
pub struct SweepOptions {
    /// Where the records go; made by a new sweep, there already for a resumed one.
    pub results: PathBuf,
    /// Go on where a stopped sweep left off.
    pub resume: bool,
    /// The `lab` program, which is also the paced server.
    pub lab: PathBuf,
    /// Where generated corpora are kept from one sweep to the next, and where scratch files lie: on
    /// the disk that is measured, for a temporary folder may be memory.
    pub workspace: PathBuf,
    /// What `run.json` says of the experiment, the arguments and the repository; the driver adds
    /// programs and machine.
    pub description: Description,
    /// Time each program's start with hyperfine after the runs.
    pub startup: bool,
}

/// The parts of `run.json` that the command line knows.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The experiment's file, relative to the repository.
    pub experiment_file: String,
    /// Its text.
    pub experiment_toml: String,
    /// Files it names, by name.
    pub attachments: BTreeMap<String, String>,
    /// The profile.
    pub profile: Option<String>,
    /// Real servers.
    pub servers: Vec<String>,
    /// The model, where named.
    pub model: Option<String>,
    /// The command line.
    pub arguments: Vec<String>,
    /// The repository's state.
    pub git: Option<GitState>,
}

/// How a sweep ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepEnd {
    /// All runs are there; otherwise it was interrupted.
    pub finished: bool,
    /// Runs recorded, of this and earlier sessions.
    pub recorded: usize,
    /// Of those, failed ones.
    pub failed: usize,
    /// One value for all rows, by which the record is known again; none of one from before chains.
    pub head: Option<String>,
}

/// The result of checking one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The variant.
    pub variant: String,
    /// What its check gave.
    pub checked: Checked,
}

/// What the check of a variant gave; all but the first keep it from being timed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// Its answer was the known one.
    Right,
    /// Its answer had the right shape; nobody knows the right one.
    Plausible,
    /// It refused, for example because a program that it needs is not installed.
    Absent(String),
    /// It gave no answer.
    Failed(String),
    /// Its answer was wrong.
    Wrong(String),
}

/// A prepared sweep: planned, with its programs found and its services set.
pub struct Sweep<'a> {
    pub(crate) experiment: &'a Experiment,
    pub(crate) plan: &'a Plan,
    pub(crate) programs: Vec<Program>,
    /// Programs and what belongs to them, as they must stay.
    pub(crate) held: Vec<Held>,
    /// What was changed amid a run.
    pub(crate) changed: Option<String>,
    pub(crate) services: Services,
    pinning: Pinning,
    cards: CardWatch,
    pub(crate) gate: Gate,
    load_at_start: Option<f64>,
    built_by: String,
    lab_sha256: Option<String>,
    /// Variants of which a person was told what they leave.
    told: BTreeSet<String>,
    /// CPU time that kept servers had during runs of others than those that they were for: it is
    /// among the lab's own, and disturbs a run as that of strangers does.
    unused_ns: u64,
    pub(crate) scratch: Scratch,
    /// After these, so that it sees them ended.
    guard: Guard,
    /// After the guard, which is none.
    orphans: Orphans,
    interrupt: &'a AtomicBool,
}

impl<'a> Sweep<'a> {
    /// Finds the programs and brings up, or takes, the servers.
    ///
    /// # Errors
    /// A missing program, a program that disagrees with its manifest, or a server that does not
    /// start.
    pub fn prepare(
        experiment: &'a Experiment,
        plan: &'a Plan,
        catalog: &crate::Catalog,
        options: &SweepOptions,
        interrupt: &'a AtomicBool,
    ) -> Result<Self, DriverError> {
        if experiment.written.starter == Starter::Hyperfine {
            let said = tool_version("hyperfine");
            hyperfine::check_version(said.as_deref()).map_err(DriverError::Input)?;
        }
        let load_at_start = crate::probe::load_1min();
        let orphans = Orphans::inherit();
        let scratch = Scratch::make(&options.workspace).map_err(|error| {
            DriverError::Lab(format!("cannot create a scratch folder: {error}"))
        })?;
        let guard = Guard::start(&options.lab, scratch.path()).map_err(|error| {
            DriverError::Lab(format!("cannot start the guard of this sweep: {error}"))
        })?;
        let programs = catalog.programs(&plan.entrants, &scratch.programs())?;
        let worker = catalog.worker_files(experiment.family.name());
        let held = held::programs(&programs, &worker, &scratch)?;
        let pinning = Pinning::choose(experiment.needs().servers.is_some(), experiment.session);
        let services =
            Services::set(experiment, options, catalog, &programs, scratch.path(), &pinning)?;
        let cards = if services.may_use_cards() {
            CardWatch::start()
        } else {
            CardWatch::none("not asked: nothing that this sweep starts uses a card")
        };
        let gate = Gate::default();
        // As it was when it was started, whatever lies at its path now.
        let lab = fs::read("/proc/self/exe").map_err(|error| {
            DriverError::Lab(format!("cannot read this program to hash it: {error}"))
        })?;
        let lab_sha256 = Some(lab_record::sha256_hex(&lab));
        Ok(Self {
            experiment,
            plan,
            programs,
            held,
            changed: None,
            services,
            pinning,
            cards,
            gate,
            load_at_start,
            built_by: catalog.built_by(&plan.entrants),
            lab_sha256,
            told: BTreeSet::new(),
            unused_ns: 0,
            scratch,
            guard,
            orphans,
            interrupt,
        })
    }

    /// Runs each variant once and checks its answer, without recording anything.
    ///
    /// # Errors
    /// Where the lab's own server fails.
    pub fn verify(&mut self, progress: &mut dyn Progress) -> Result<Vec<Verified>, DriverError> {
        let warmups: Vec<_> = self.plan.runs.iter().filter(|run| run.warmup).cloned().collect();
        let mut verdicts = Vec::new();
        for planned in &warmups {
            progress.at(&Position { label: &planned.variant, ..Position::default() });
            let Some(done) = self.one(planned, progress)? else { break };
            let reason = done.run.reason.unwrap_or_default();
            let checked = match done.run.status {
                Status::Ok if done.run.verification == Verification::Verified => Checked::Right,
                Status::Ok => Checked::Plausible,
                Status::Unsupported => Checked::Absent(reason),
                Status::Failed if is_of_answer(&reason) => Checked::Wrong(reason),
                Status::Failed => Checked::Failed(reason),
            };
            verdicts.push(Verified { variant: planned.variant.clone(), checked });
        }
        self.same_to_the_end()?;
        Ok(verdicts)
    }

    /// Runs what the plan asks for and is not recorded yet.
    ///
    /// # Errors
    /// Where records cannot be written, the folder belongs to another sweep, or the lab's own
    /// server fails. Failures of variants and given servers are records.
    pub fn run(
        &mut self,
        options: &SweepOptions,
        referee: RefereeOf<'_>,
        progress: &mut dyn Progress,
    ) -> Result<SweepEnd, DriverError> {
        self.services.keep_up();
        let run_file = self.run_file(options);
        let (mut writer, before) = resume::open(&run_file, options)?;
        let event = if options.resume { SessionEvent::Resume } else { SessionEvent::Start };
        writer.session(&self.session(event))?;
        let mut referee = referee(&run_file);
        let outcome = self.all(&mut writer, before.as_ref(), options, referee.as_mut(), progress);
        let mut outcome = outcome.and_then(|end| self.same_to_the_end().map(|()| end));
        if let Some(window) = self.gate.rest() {
            writer.window(&window)?;
        }
        let finished = outcome.as_ref().is_ok_and(|end| end.finished);
        let event = if finished { SessionEvent::Finished } else { SessionEvent::Stopped };
        writer.session(&self.session(event))?;
        self.services.end_kept();
        if let Ok(end) = &mut outcome {
            end.head = writer.heads().map(|heads| heads.whole());
        }
        outcome
    }

    fn all(
        &mut self,
        writer: &mut Writer,
        before: Option<&Results>,
        options: &SweepOptions,
        referee: &mut dyn Referee,
        progress: &mut dyn Progress,
    ) -> Result<SweepEnd, DriverError> {
        let plan = self.plan;
        let blocks_ms: u64 = plan.runs.iter().map(|run| run.expected_ms).sum();
        let total_ms = blocks_ms + plan.budget_ms();
        let mut recording = Recording::after(before, writer, plan.runs.len(), total_ms);
        let recorded = Recorded::of(before);
        for planned in &plan.runs {
            recording.at(progress, planned.expected_ms, &label(planned));
            if let Some((run, samples)) = recorded.get(planned.order)? {
                referee.map(&run, &samples);
                continue;
            }
            if recording.unfit.contains(&planned.variant) {
                continue;
            }
            if self.is_interrupted() {
                return Ok(recording.end);
            }
            let Some(Done { run, samples }) = self.one(planned, progress)? else {
                return Ok(recording.end);
            };
            recording.note(&run, &label(planned), progress);
            referee.map(&run, &samples);
            recording.write(run, &samples, &mut self.gate)?;
        }
        if !self.rounds(&mut recording, &recorded, referee, progress)? {
            return Ok(recording.end);
        }
        recording.forecast_done(total_ms);
        recording.at(progress, 0, "what is left");
        let startup = options.startup && self.services.times_startup();
        recording.end.finished = !startup || self.startup(&mut recording, progress)?;
        Ok(recording.end)
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// One planned run: begin, execute, compare, package. `None` when interrupted.
    pub(crate) fn once(
        &mut self,
        planned: &PlannedRun,
        progress: &mut dyn Progress,
    ) -> Result<Option<Done>, DriverError> {
        let name = label(planned);
        if let Some(why) = &program(&self.programs, planned).absent {
            let run = self.row(planned, lab_process::monotonic_ns(), 0);
            return Ok(Some(absent(run, why)));
        }
        let begun = self.services.begin(&name, planned.work.as_ref(), self.interrupt);
        // What the user stops has not failed.
        if self.is_interrupted() {
            return Ok(None);
        }
        let ready = match begun? {
            Ok(ready) => ready,
            Err(reason) => {
                let run = self.row(planned, lab_process::monotonic_ns(), 0);
                return Ok(Some(failed(run, &reason)));
            }
        };
        let program = program(&self.programs, planned);
        let cpus = self.pinning.clients();
        let offered = self.services.offer(program, cpus, self.interrupt);
        let Some(offer) = offered else { return Ok(None) };
        offer.notes.iter().for_each(|note| progress.note(note));
        let helpers = self.cards.pid().into_iter().chain([self.guard.pid()]);
        let ours: Vec<u32> = self.services.pids().into_iter().chain(helpers).collect();
        let ours_known = self.services.knows_outside_cpu().then_some(&ours[..]);
        let traces = Traces::take(self.scratch.path());
        let before = Snapshot::take(ours_known).without(self.unused_ns);
        let execution = {
            let deadline = Duration::from_millis(planned.deadline_ms);
            let (path, variables) = (&program.path, &offer.variables);
            let call = Call { program: path, variables, cpus, spec_line: &ready.line, run: &name };
            let _neighbour = crate::neighbour::Neighbour::start(planned.work.neighbour_percent());
            execute(self.starter(), call, deadline, self.interrupt)
        };
        let left = self.orphans.end_beside(&ours);
        let traces = (&traces, &Traces::take(self.scratch.path()));
        tell_once(&mut self.told, &planned.variant, &name, left, traces, progress);
        self.unused_ns += offer.others_cpu_ns();
        let after = Snapshot::take(ours_known).without(self.unused_ns);
        let mut run = self.row(planned, execution.start_ns, execution.process_ns);
        run.kept = offer.taken();
        self.cards.note(&mut run, execution.start_ns, execution.start_ns + execution.process_ns);
        self.gate.judge(&mut run, before, after);
        let outcome = match execution.ended {
            Executed::Interrupted => return Ok(None),
            Executed::Broken(reason) => return Ok(Some(failed(run, &reason))),
            Executed::Outcome(outcome) => outcome,
        };
        // What it did not wait for worked for it all the same.
        run.cpu_ns = execution.cpu_ns.map(|ns| ns + left.cpu_ns);
        run.counters.clone_from(&outcome.counters);
        count_left(left, &mut run);
        if let Some((by, timed)) = self.times_by().zip(execution.timed) {
            run.counters.extend(timed.counters(by));
        }
        let planned_counters = planned.work.counters().into_iter();
        run.counters.extend(planned_counters.map(|(name, value)| (name.to_owned(), value)));
        let declared_ns = planned.work.declared_ns(&program.entry.tags);
        run.counters.extend(declared_ns.map(|ns| (WORK_DECLARED_NS.to_owned(), ns)));
        let process_ns = execution.process_ns;
        let left = Left { run: &name, program, outcome: &outcome, process_ns };
        let work = planned.work.as_ref();
        match self.services.check(work, &ready, &left, self.interrupt) {
            Err(_) if self.is_interrupted() => Ok(None),
            checked => Ok(Some(package(self.experiment.family, run, outcome, checked?))),
        }
    }

    /// Who starts the programs of runs.
    fn starter(&self) -> execute::Starter<'_> {
        match self.experiment.written.starter {
            Starter::Lab => execute::Starter::Lab,
            Starter::Hyperfine => execute::Starter::Hyperfine(self.scratch.path()),
        }
    }

    /// What the counters are called by that say how long a process took; none where nobody asks.
    fn times_by(&self) -> Option<&'static str> {
        match self.experiment.written.starter {
            Starter::Hyperfine => Some("hyperfine"),
            Starter::Lab => self.experiment.needs().whole_processes.then_some("process"),
        }
    }

    pub(crate) fn row(&self, planned: &PlannedRun, start_ns: u64, process_ns: u64) -> Run {
        let entry = &program(&self.programs, planned).entry;
        Run {
            schema: SCHEMA,
            order: planned.order,
            attempt: 0,
            block: planned.block,
            warmup: planned.warmup,
            family: entry.family.clone(),
            variant: planned.variant.clone(),
            cell: planned.cell.clone(),
            status: Status::Ok,
            reason: None,
            verification: Verification::Unchecked,
            binary_sha256: entry.binary_sha256.clone(),
            start_ns,
            process_ns,
            cpu_ns: None,
            counters: BTreeMap::new(),
            kept: BTreeMap::new(),
            noise: Noise { ungated: Some(NOT_RUN.to_owned()), ..Noise::default() },
            gated: Vec::new(),
            gpu: None,
            gpu_reason: Some(NOT_RUN.to_owned()),
            samples: None,
        }
    }

    fn run_file(&self, options: &SweepOptions) -> RunFile {
        let description = options.description.clone();
        let hash = RunFile::hash_of(&description.experiment_toml, &description.attachments);
        RunFile {
            schema: SCHEMA,
            experiment: self.experiment.written.name.clone(),
            experiment_file: description.experiment_file,
            profile: description.profile,
            servers: description.servers,
            model: description.model,
            experiment_sha256: hash,
            experiment_toml: description.experiment_toml,
            attachments: description.attachments,
            lab_sha256: self.lab_sha256.clone(),
            arguments: description.arguments,
            analysis: self.experiment.written.analysis.clone(),
            expectations: self.experiment.written.expect.clone(),
            seed: self.experiment.written.seed,
            session: self.experiment.session,
            blocks: self.experiment.written.blocks,
            runs_planned: self.plan.runs.len() as u64,
            git: description.git,
            variants: self.programs.iter().map(|program| program.entry.clone()).collect(),
            machine: crate::probe::machine(),
            started_unix_s: unix_s(),
        }
    }

    fn session(&self, event: SessionEvent) -> Session {
        let mut environment = crate::probe::environment();
        environment.insert("lab_sha256".to_owned(), json!(self.lab_sha256));
        environment.insert("built_by".to_owned(), json!(self.built_by));
        environment.insert("pinning".to_owned(), json!(self.pinning.statement));
        environment.insert("load_1min_at_start".to_owned(), json!(self.load_at_start));
        match crate::probe::measure_floors() {
            Ok(floors) => environment.insert("floors".to_owned(), json!(floors)),
            Err(error) => environment.insert("floors_reason".to_owned(), json!(error.to_string())),
        };
        // Which cards there are, in every session; what they do during a run is in its row.
        let cards = cards();
        environment.insert("gpu".to_owned(), json!(cards.as_ref().ok()));
        if let Err(reason) = cards {
            environment.insert("gpu_reason".to_owned(), json!(reason));
        }
        // A server that is replaced between two sessions is another one.
        let servers = self.services.given_servers();
        if !servers.is_empty() {
            environment.insert("servers".to_owned(), json!(servers));
        }
        if let Some(kept) = self.services.kept() {
            environment.insert("kept".to_owned(), kept);
        }
        Session { schema: SCHEMA, event, unix_s: unix_s(), environment }
    }
}

fn program<'a>(programs: &'a [Program], planned: &PlannedRun) -> &'a Program {
    let found = programs.iter().find(|program| program.entry.variant == planned.variant);
    found.expect("every planned variant is an entrant")
}

pub(crate) fn label(planned: &PlannedRun) -> String {
    let levels: Vec<_> = planned.cell.values().map(String::as_str).collect();
    format!("block {} {} {} #{}", planned.block, planned.variant, levels.join(" "), planned.order)
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
