//! What a sweep has ready around its runs, and where the truth about an answer comes from.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use lab_family::{Answer, Checked, Needs, Places, ServersNeeded, Truth, Work};
use lab_plan::Experiment;
use lab_protocol::{RunOutcome, Status};
use lab_record::Nuisance;

use crate::{
    Catalog, DriverError, Program, SweepOptions,
    corpora::Corpora,
    floor::{FloorAnswers, spec_line},
    given::GivenServers,
    held::Held,
    ingest,
    kept::{KeptServers, Offer},
    paced::PacedServer,
    pinning::Pinning,
    servers::Servers,
};

/// The surroundings of a sweep's runs.
#[derive(Debug)]
pub(crate) struct Services {
    needs: Needs,
    servers: Option<Servers>,
    floor: Option<FloorAnswers>,
    corpora: Corpora,
    /// The folder of text files, as it must stay.
    texts: Vec<Held>,
    /// Over the runs of a sweep; each run of a check has its own.
    kept: Option<KeptServers>,
    /// A folder on the disk that is measured.
    scratch: PathBuf,
    worker_folder: PathBuf,
}

/// A run that can start.
#[derive(Debug)]
pub(crate) struct Ready {
    /// The spec, as one line.
    pub(crate) line: String,
    places: Places,
}

/// An execution that left an outcome.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) run: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) outcome: &'a RunOutcome,
    pub(crate) process_ns: u64,
}

impl Services {
    /// Brings up, or takes, what the experiment needs.
    pub(crate) fn set(
        experiment: &Experiment,
        options: &SweepOptions,
        catalog: &Catalog,
        programs: &[Program],
        scratch: &Path,
        pinning: &Pinning,
    ) -> Result<Self, DriverError> {
        let needs = experiment.needs();
        let texts = match needs.text_files {
            None => Vec::new(),
            Some((files, bytes)) => text_files(&scratch.join(TEXT_FILES), files, bytes)?,
        };
        let servers = needs.servers.as_ref();
        let servers = servers.map(|wanted| servers_for(wanted, experiment, options, pinning));
        let floor = needs.floor_answers.then(|| FloorAnswers::of(experiment, programs));
        Ok(Self {
            servers: servers.transpose()?,
            floor: floor.transpose()?,
            kept: None,
            corpora: Corpora::new(
                &options.lab,
                &options.workspace.join("corpora"),
                copies_files(experiment).then(|| scratch.join("corpora")),
            ),
            texts,
            scratch: scratch.to_owned(),
            worker_folder: catalog.worker_folder(experiment.family.name()),
            needs,
        })
    }

    /// From now on servers that variants name are kept up over runs.
    pub(crate) fn keep_up(&mut self) {
        self.kept = Some(KeptServers::new(self.scratch.join("kept")));
    }

    /// Ends them.
    pub(crate) fn end_kept(&mut self) {
        self.kept = None;
    }

    /// What is to be said of them; nothing where no variant named one.
    pub(crate) fn kept(&self) -> Option<serde_json::Value> {
        self.kept.as_ref().and_then(KeptServers::account)
    }

    /// Has up what this program can be offered. `None` when interrupted.
    pub(crate) fn offer(
        &mut self,
        program: &Program,
        cpus: &[usize],
        interrupt: &AtomicBool,
    ) -> Option<Offer> {
        match &mut self.kept {
            Some(kept) => kept.offer(program, cpus, interrupt),
            None => Some(Offer::default()),
        }
    }

    /// Processes of the lab's own that work beside a run.
    pub(crate) fn pids(&self) -> Vec<u32> {
        let servers = self.servers.as_ref().map_or(Vec::new(), Servers::pids);
        servers.into_iter().chain(self.kept.iter().flat_map(KeptServers::pids)).collect()
    }

    /// What each of the given servers says of itself; empty where none are given.
    pub(crate) fn given_servers(&self) -> Vec<serde_json::Value> {
        match &self.servers {
            Some(Servers::Given(servers)) => servers.identities(),
            _ => Vec::new(),
        }
    }

    /// What a run of this work reads.
    pub(crate) fn held(&self, work: &dyn Work) -> impl Iterator<Item = &Held> {
        let corpus = work.corpus().map_or(&[][..], |corpus| self.corpora.held(corpus));
        self.texts.iter().chain(corpus)
    }

    /// What all runs read.
    pub(crate) fn all_held(&self) -> impl Iterator<Item = &Held> {
        self.texts.iter().chain(self.corpora.all_held())
    }

    /// Whether all CPU time beside the variant's and ours is somebody else's. On given servers
    /// their own work would count as outside.
    pub(crate) fn knows_outside_cpu(&self) -> bool {
        !self.may_use_cards()
    }

    /// Whether the work of runs can reach a card: on servers that the user gave.
    pub(crate) fn may_use_cards(&self) -> bool {
        matches!(self.servers, Some(Servers::Given(_)))
    }

    /// Whether a program's start-up time is part of the question.
    pub(crate) fn times_startup(&self) -> bool {
        self.needs.startup_times
    }

    /// The outer error is the lab's own; the inner one is a failed run's reason. Where the user
    /// wants to stop either only says what was not waited for.
    pub(crate) fn begin(
        &mut self,
        run: &str,
        work: &dyn Work,
        interrupt: &AtomicBool,
    ) -> Result<Result<Ready, String>, DriverError> {
        let mut places = Places {
            text_files: self.scratch.join(TEXT_FILES),
            worker_folder: self.worker_folder.clone(),
            ..Places::default()
        };
        if self.needs.empty_folder {
            places.empty_folder = self.scratch.join("run");
            empty(&places.empty_folder)?;
        }
        if let Some(corpus) = work.corpus() {
            places.corpus = self.corpora.folder(corpus, interrupt)?.to_owned();
        }
        if let Some(servers) = &mut self.servers {
            places.servers = servers.first(work.servers()).to_vec();
            if let Err(reason) = servers.begin(run, work, &places, interrupt)? {
                return Ok(Err(reason));
            }
        }
        Ok(Ok(Ready { line: spec_line(run, &work.workload(&places)), places }))
    }

    /// Compares an outcome with the truth. Errors as in [`Self::begin`].
    pub(crate) fn check(
        &mut self,
        work: &dyn Work,
        ready: &Ready,
        left: &Left<'_>,
        interrupt: &AtomicBool,
    ) -> Result<Result<Checked, String>, DriverError> {
        let tags = &left.program.entry.tags;
        let answer = Answer { outcome: left.outcome, process_ns: left.process_ns, tags };
        // The paced server keeps its account until it is asked, whatever the variant says.
        let served = match &mut self.servers {
            Some(servers) => servers.served(left.run, &ready.places)?,
            None => None,
        };
        if left.outcome.status != Status::Ok {
            return Ok(Ok(Checked::right()));
        }
        let question = work.floor_workload(&ready.places, tags);
        let truth = match (&mut self.floor, question, &served) {
            (Some(floor), Some(question), _) => Truth::Floor(floor.answer(&question, interrupt)?),
            (_, _, Some(served)) => Truth::Served(served),
            _ => Truth::Plan,
        };
        Ok(work.check(&answer, &truth))
    }
}

/// Whether the sweep is a session that reads copies of its own.
fn copies_files(experiment: &Experiment) -> bool {
    experiment.session.is_some_and(|session| session.draws(Nuisance::Files))
}

/// Of the text files that every run reads.
pub(crate) const TEXT_FILES: &str = "ingest";

fn text_files(folder: &Path, files: u32, bytes: u32) -> Result<Vec<Held>, DriverError> {
    let made = ingest::make_folder(folder, files, bytes);
    made.and_then(|()| Held::below("the folder of text files", folder)).map_err(|error| {
        DriverError::Lab(format!("cannot write the folder of text files: {error}"))
    })
}

fn servers_for(
    wanted: &ServersNeeded,
    experiment: &Experiment,
    options: &SweepOptions,
    pinning: &Pinning,
) -> Result<Servers, DriverError> {
    if !wanted.given {
        return PacedServer::start(&options.lab, wanted.count, pinning).map(Servers::Paced);
    }
    let given = &options.description.servers;
    let mut different = given.clone();
    different.sort();
    different.dedup();
    if wanted.different > different.len() {
        return Err(DriverError::Input(format!(
            "{}: key `cells.servers`: asks for {} servers, but --servers names {}; give more \
             addresses",
            experiment.file,
            wanted.different,
            different.len()
        )));
    }
    Ok(Servers::Given(GivenServers::new(given.clone(), wanted.model.clone())))
}

/// Makes a folder that the last run may have left full.
fn empty(folder: &Path) -> Result<(), DriverError> {
    let failed = |error| DriverError::Lab(format!("cannot make a run's folder empty: {error}"));
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}
