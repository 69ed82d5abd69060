//! What a family needs around its runs: servers that answer, or somebody who knows the truth.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use lab_plan::{Experiment, Section, Work};
use lab_protocol::{
    RunOutcome, Status, agents,
    offload::{self, Test},
    search, workflow,
};

use crate::{
    Catalog, DriverError, Program, SweepOptions,
    corpora::Corpora,
    execute::Starter,
    given::GivenServers,
    ingest,
    oracle::{Oracle, spec_line},
    paced::PacedServer,
    pinning::Pinning,
    servers::Servers,
    truth::{self, Columns, Truth},
};

/// A variant with this tag measures the harness: it does no work and has no answer.
const HARNESS_TAG: &str = "harness";
/// A variant with this tag runs somebody else's program, which reports a count and no lines.
const PEER_TAG: &str = "peer";

/// The surroundings of a family's runs.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Servers, and the folder that agents read.
    Agents { servers: Servers, ingest: PathBuf },
    /// The floor variant, which knows the answer.
    Ledgers(Oracle),
    /// Nobody: the plan knows what is true.
    Offload,
    /// A disk: every run has an empty folder on it. And where workers of their own process lie.
    Workflow { scratch: PathBuf, worker_folder: String },
    /// The floor variant, the corpora, and a folder for hyperfine's files.
    Search { oracle: Oracle, corpora: Corpora, scratch: PathBuf },
}

/// A run that can start.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The spec, as one line.
    pub(crate) line: String,
    /// The work with the addresses filled in.
    work: Work,
}

/// An execution that left an outcome, for the comparison with the truth.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) run: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) outcome: &'a RunOutcome,
    pub(crate) process_ns: u64,
}

impl Stage {
    /// Brings up, or takes, what the experiment's family needs.
    pub(crate) fn set(
        experiment: &Experiment,
        options: &SweepOptions,
        catalog: &Catalog,
        programs: &[Program],
        scratch: &Path,
        pinning: &Pinning,
    ) -> Result<Self, DriverError> {
        let file = &options.description.experiment_file;
        let section =
            experiment.section(file).map_err(|error| DriverError::Input(error.to_string()))?;
        match section {
            Section::Agents(section) => {
                let ingest = scratch.join("ingest");
                ingest::make_folder(&ingest, section.ingest_files, section.ingest_file_bytes)
                    .map_err(|error| {
                        DriverError::Lab(format!("cannot write the ingest folder: {error}"))
                    })?;
                let servers = if section.servers == lab_plan::agents::Servers::Given {
                    let given = &options.description.servers;
                    enough(file, experiment, given)?;
                    Servers::Given(GivenServers::new(given.clone(), section.model.clone()))
                } else {
                    Servers::Paced(PacedServer::start(&options.lab, section.agents, pinning)?)
                };
                Ok(Self::Agents { servers, ingest })
            }
            Section::Ledgers(_) => Oracle::of(file, experiment, programs).map(Self::Ledgers),
            Section::Offload(_) => Ok(Self::Offload),
            Section::Workflow(_) => Ok(Self::Workflow {
                scratch: scratch.to_owned(),
                worker_folder: catalog.worker_folder(&experiment.family),
            }),
            Section::Search(_) => Ok(Self::Search {
                oracle: Oracle::of(file, experiment, programs)?,
                corpora: Corpora::new(&options.lab, &options.workspace.join("corpora")),
                scratch: scratch.to_owned(),
            }),
        }
    }

    /// Who starts this family's programs: where whole processes are compared, hyperfine.
    pub(crate) fn starter(&self) -> Starter<'_> {
        match self {
            Self::Search { scratch, .. } => Starter::Hyperfine(scratch),
            _ => Starter::Lab,
        }
    }

    /// Processes of the lab's own that work beside a run.
    pub(crate) fn pids(&self) -> Vec<u32> {
        match self {
            Self::Agents { servers, .. } => servers.pids(),
            _ => Vec::new(),
        }
    }

    /// What each of the given servers says of itself; empty where none are given.
    pub(crate) fn given_servers(&self) -> Vec<serde_json::Value> {
        match self {
            Self::Agents { servers: Servers::Given(servers), .. } => servers.identities(),
            _ => Vec::new(),
        }
    }

    /// Whether all CPU time beside the variant's and ours is somebody else's. On given servers
    /// their own work would count as outside.
    pub(crate) fn knows_outside_cpu(&self) -> bool {
        !matches!(self, Self::Agents { servers: Servers::Given(_), .. })
    }

    /// Whether the work of runs can reach a card: on servers that the user gave.
    pub(crate) fn may_use_cards(&self) -> bool {
        matches!(self, Self::Agents { servers: Servers::Given(_), .. })
    }

    /// Whether a program's start-up time is part of the family's question.
    pub(crate) fn times_startup(&self) -> bool {
        matches!(self, Self::Agents { .. })
    }

    /// The outer error is the lab's own; the inner one is a failed run's reason.
    pub(crate) fn begin(
        &mut self,
        run: &str,
        work: &Work,
    ) -> Result<Result<Ready, String>, DriverError> {
        match (self, work) {
            (
                Self::Agents { servers, ingest },
                Work::Agents { workload, servers: count, paced, time_scale_ppm },
            ) => {
                let workload = addressed(workload, servers.first(*count), ingest);
                let prepared = servers.begin(run, &workload, paced.as_ref())?;
                let line = spec_line(run, &workload);
                let (servers, time_scale_ppm) = (*count, *time_scale_ppm);
                let work = Work::Agents { workload, servers, paced: None, time_scale_ppm };
                Ok(prepared.map(|()| Ready { line, work }))
            }
            (Self::Ledgers(_), Work::Ledgers { workload }) => {
                Ok(Ok(Ready { line: spec_line(run, workload), work: work.clone() }))
            }
            (Self::Offload, Work::Offload { workload, costs }) => {
                let workload = priced(workload, costs.as_ref());
                let line = spec_line(run, &workload);
                Ok(Ok(Ready { line, work: Work::Offload { workload, costs: None } }))
            }
            (Self::Workflow { scratch, worker_folder }, Work::Workflow { workload }) => {
                let folder = scratch.join("run");
                empty(&folder)?;
                let folder = folder.to_string_lossy().into_owned();
                let worker_folder = worker_folder.clone();
                let workload = workflow::Workload { folder, worker_folder, ..workload.clone() };
                let line = spec_line(run, &workload);
                Ok(Ok(Ready { line, work: Work::Workflow { workload } }))
            }
            (Self::Search { corpora, .. }, Work::Search { workload, corpus }) => {
                let folder = corpora.folder(corpus)?.to_string_lossy().into_owned();
                let workload = Box::new(search::Workload { corpus: folder, ..*workload.clone() });
                Ok(Ok(Ready {
                    line: spec_line(run, &*workload),
                    work: Work::Search { workload, corpus: corpus.clone() },
                }))
            }
            _ => unreachable!("a plan holds the work of its own family"),
        }
    }

    /// Compares an outcome with the truth and returns further columns. Errors as in
    /// [`Self::begin`].
    pub(crate) fn truth(
        &mut self,
        ready: &Ready,
        answer: &Answer<'_>,
    ) -> Result<Result<Truth, String>, DriverError> {
        match (self, &ready.work) {
            (Self::Agents { servers, .. }, Work::Agents { workload, .. }) => {
                let checked = servers.truth(answer.run, workload, answer.outcome)?;
                Ok(checked.map(Truth::from))
            }
            _ if answer.outcome.status != Status::Ok => Ok(Ok(Truth::default())),
            (Self::Ledgers(oracle), Work::Ledgers { workload }) => {
                let times = truth::ledgers::times(workload, answer.outcome, answer.process_ns);
                if times.is_err() || answer.is_tagged(HARNESS_TAG) {
                    return Ok(times.map(|()| Truth::from(Columns::new())));
                }
                let floor = oracle.answer(&lab_plan::ledgers::oracle(workload))?;
                let checked = truth::ledgers::answers(workload, answer.outcome, floor);
                Ok(checked.map(|()| Truth::from(Columns::new())))
            }
            (Self::Offload, Work::Offload { workload, .. }) => {
                let checked = truth::offload::answer(workload, answer.outcome, answer.process_ns);
                Ok(checked.map(|()| Truth::from(Columns::new())))
            }
            (Self::Workflow { .. }, Work::Workflow { workload }) => {
                let checked = truth::workflow::answer(workload, answer.outcome);
                Ok(checked.map(|()| Truth::from(Columns::new())))
            }
            (Self::Search { oracle, .. }, Work::Search { workload, .. }) => {
                let floor = oracle.answer(&lab_plan::search::oracle(workload))?;
                if answer.is_tagged(PEER_TAG) {
                    return Ok(Ok(truth::search::beside(answer.outcome, floor)));
                }
                let checked = truth::search::answer(answer.outcome, floor);
                Ok(checked.map(|()| Truth::from(Columns::new())))
            }
            _ => unreachable!("a plan holds the work of its own family"),
        }
    }
}

impl Answer<'_> {
    fn is_tagged(&self, tag: &str) -> bool {
        self.program.entry.tags.iter().any(|known| known == tag)
    }
}

/// Makes a folder that the last run may have left full.
fn empty(folder: &Path) -> Result<(), DriverError> {
    let failed = |error| DriverError::Lab(format!("cannot make a run's folder empty: {error}"));
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

fn priced(workload: &offload::Workload, costs: Option<&offload::Replay>) -> offload::Workload {
    match costs {
        Some(costs) => offload::Workload { test: Test::Replay(costs.clone()), ..workload.clone() },
        None => workload.clone(),
    }
}

/// An experiment that tells one server from several needs that many.
fn enough(file: &str, experiment: &Experiment, given: &[String]) -> Result<(), DriverError> {
    let levels = experiment.cells.iter().filter_map(|group| group.get(lab_plan::agents::SERVERS));
    let most = levels.flatten().filter_map(|level| level.parse::<usize>().ok()).max();
    let different = given.iter().collect::<BTreeSet<_>>().len();
    match most.filter(|&most| most > different) {
        None => Ok(()),
        Some(most) => Err(DriverError::Input(format!(
            "{file}: key `cells.servers`: asks for {most} servers, but --servers names \
             {different}; give more addresses"
        ))),
    }
}

fn addressed(workload: &agents::Workload, addresses: &[String], ingest: &Path) -> agents::Workload {
    let mut workload = workload.clone();
    workload.ingest_dir = Some(ingest.to_string_lossy().into_owned());
    for (index, agent) in workload.agents.iter_mut().enumerate() {
        agent.server.clone_from(&addresses[index % addresses.len()]);
    }
    workload
}
