//! What a family needs around its runs: servers that answer, or somebody who knows the truth.

use std::path::{Path, PathBuf};

use lab_plan::{Experiment, Section, Work};
use lab_protocol::{PROTOCOL, RunOutcome, RunSpec, agents};
use serde::Serialize;

use crate::{
    DriverError, Program, SweepOptions, given::GivenServers, ingest, oracle::Oracle,
    paced::PacedServer, pinning::Pinning, servers::Servers, truth::Columns,
};

/// The surroundings of a family's runs.
#[derive(Debug)]
pub(crate) enum Stage {
    /// Servers, and the folder that agents read.
    Agents { servers: Servers, ingest: PathBuf },
    /// The floor variant, which knows the answer.
    Ledgers(Oracle),
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
                    Servers::Given(GivenServers::new(options.description.servers.clone()))
                } else {
                    Servers::Paced(PacedServer::start(&options.lab, section.agents, pinning)?)
                };
                Ok(Self::Agents { servers, ingest })
            }
            Section::Ledgers(_) => Oracle::of(file, experiment, programs).map(Self::Ledgers),
        }
    }

    /// Processes of the lab's own that work beside a run.
    pub(crate) fn pids(&self) -> Vec<u32> {
        match self {
            Self::Agents { servers, .. } => servers.pids(),
            Self::Ledgers(_) => Vec::new(),
        }
    }

    /// Whether all CPU time beside the variant's and ours is somebody else's. On given servers
    /// their own work would count as outside.
    pub(crate) fn knows_outside_cpu(&self) -> bool {
        !matches!(self, Self::Agents { servers: Servers::Given(_), .. })
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
                Work::Agents { workload, paced, time_scale_ppm },
            ) => {
                let workload = addressed(workload, servers.addresses(), ingest);
                let prepared = servers.begin(run, &workload, paced.as_ref())?;
                Ok(prepared.map(|()| Ready {
                    line: spec_line(run, &workload),
                    work: Work::Agents { workload, paced: None, time_scale_ppm: *time_scale_ppm },
                }))
            }
            (Self::Ledgers(_), Work::Ledgers { workload, .. }) => {
                Ok(Ok(Ready { line: spec_line(run, workload), work: work.clone() }))
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
    ) -> Result<Result<Columns, String>, DriverError> {
        match (self, &ready.work) {
            (Self::Agents { servers, .. }, Work::Agents { workload, .. }) => {
                servers.truth(answer.run, workload, answer.outcome)
            }
            (Self::Ledgers(oracle), Work::Ledgers { workload, oracle: asked }) => {
                oracle.truth(workload, asked, answer)
            }
            _ => unreachable!("a plan holds the work of its own family"),
        }
    }
}

/// The spec of a run, as a variant reads it.
pub(crate) fn spec_line<W: Serialize + Clone>(run: &str, workload: &W) -> String {
    let spec = RunSpec { protocol: PROTOCOL, run: run.to_owned(), workload: workload.clone() };
    serde_json::to_string(&spec).expect("a spec always serialises")
}

fn addressed(workload: &agents::Workload, addresses: &[String], ingest: &Path) -> agents::Workload {
    let mut workload = workload.clone();
    workload.ingest_dir = Some(ingest.to_string_lossy().into_owned());
    for (index, agent) in workload.agents.iter_mut().enumerate() {
        agent.server.clone_from(&addresses[index % addresses.len()]);
    }
    workload
}
