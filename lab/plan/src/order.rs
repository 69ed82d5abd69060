//! From an experiment to the ordered list of runs.

use std::collections::BTreeMap;

use lab_protocol::{agents, ledgers, offload, search, workflow};
use rand::seq::SliceRandom;

use crate::{
    Address, Cell, Experiment, Manifest, PlanError, Section,
    agents::Table,
    cells,
    cells::{Entry, Place},
    draw,
    offload::Recorded,
};

/// The factor whose levels are run back to back, in alternating order, because they are read as a
/// pair (a concurrent run and its solo baseline).
const ADJACENT: &str = "arrangement";

/// A variant that takes part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entrant {
    /// Its name in the sweep.
    pub name: String,
    /// Whose program it is, where that is another's.
    pub twin_of: Option<String>,
    /// The program's manifest.
    pub manifest: Manifest,
}

/// Everything that will run, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Who takes part.
    pub entrants: Vec<Entrant>,
    /// The runs; a run's `order` is its position.
    pub runs: Vec<PlannedRun>,
}

/// One run to be.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun {
    /// Position in the plan.
    pub order: u64,
    /// 1-based; 0 for warm-up.
    pub block: u32,
    /// Kept and never analysed.
    pub warmup: bool,
    /// The entrant's name.
    pub variant: String,
    /// Levels by factor.
    pub cell: Cell,
    /// What to do.
    pub work: Work,
    /// How long it should take.
    pub expected_ms: u64,
    /// When it is ended if it has given no outcome.
    pub deadline_ms: u64,
}

/// What a run of a family does.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// LLM agents. Server addresses are filled in by whoever knows them.
    Agents {
        /// The workload.
        workload: agents::Workload,
        /// How many servers answer: the agents' calls go to them in turn.
        servers: usize,
        /// What the paced server must do; `None` on real servers.
        paced: Option<serde_json::Value>,
        /// Parts per million of real time.
        time_scale_ppm: u64,
    },
    /// Streams of transactions.
    Ledgers {
        /// The workload.
        workload: ledgers::Workload,
    },
    /// A test of a policy. The columns of a replay are filled in from the costs.
    Offload {
        /// The workload.
        workload: offload::Workload,
        /// What the arms of a replay cost; `None` where work is really done.
        costs: Option<offload::Replay>,
    },
    /// Tasks of steps. The folder is filled in by whoever made it.
    Workflow {
        /// The workload.
        workload: workflow::Workload,
    },
    /// A query. The corpus's folder is filled in by whoever made it.
    Search {
        /// The workload.
        workload: Box<search::Workload>,
        /// The corpus to make.
        corpus: crate::search::Corpus,
    },
}

/// Makes the plan. `attachments` holds the text of [`Experiment::attachment`] by its name.
///
/// # Errors
/// Names the file and key where the experiment asks for a variant, a tag or a table row that is not
/// there.
pub fn plan(
    file: &str,
    experiment: &Experiment,
    manifests: &[Manifest],
    attachments: &BTreeMap<String, String>,
) -> Result<Plan, PlanError> {
    check_groups(file, experiment, manifests)?;
    let entrants = entrants(file, experiment, manifests)?;
    let worker = Worker::of(file, experiment, attachments)?;
    let places = cells::places(&experiment.cells, &entrants, |cell| worker.complete(cell));
    let mut runs = Vec::new();
    let mut push = |block: u32, variant: &Entrant, cell: &Cell| {
        let order = runs.len() as u64;
        let address = Address { seed: experiment.seed, block, order, variant, cell };
        let (work, expected_ms, deadline_ms) = worker.work(file, &address)?;
        let (variant, cell) = (variant.name.clone(), cell.clone());
        let warmup = block == 0;
        let run =
            PlannedRun { order, block, warmup, variant, cell, work, expected_ms, deadline_ms };
        runs.push(run);
        Ok::<(), PlanError>(())
    };
    let check_cell = worker.check_cell(&places);
    for entrant in &entrants {
        push(0, entrant, &check_cell)?;
    }
    for block in 1..=experiment.blocks {
        for (entrant, cell) in block_order(experiment.seed, block, &entrants, &places) {
            push(block, entrant, cell)?;
        }
    }
    Ok(Plan { entrants, runs })
}

/// What turns a cell into work.
enum Worker<'a> {
    Agents(&'a crate::agents::Section, Table),
    Ledgers(&'a crate::ledgers::Section),
    Offload(&'a crate::offload::Section, Recorded),
    Search(&'a crate::search::Section),
    Workflow(&'a crate::workflow::Section),
}

impl<'a> Worker<'a> {
    fn of(
        file: &str,
        experiment: &'a Experiment,
        attachments: &BTreeMap<String, String>,
    ) -> Result<Self, PlanError> {
        Ok(match experiment.section(file)? {
            Section::Agents(section) => {
                let text = attachments.get(crate::agents::TABLE).map_or("", String::as_str);
                Self::Agents(section, Table::parse(&section.table, text)?)
            }
            Section::Ledgers(section) => Self::Ledgers(section),
            Section::Offload(section) => {
                let text = attachments.get(crate::offload::TABLE).map_or("", String::as_str);
                Self::Offload(section, Recorded::parse(&section.recorded, text)?)
            }
            Section::Search(section) => Self::Search(section),
            Section::Workflow(section) => Self::Workflow(section),
        })
    }

    fn complete(&self, cell: &Cell) -> Cell {
        match self {
            Self::Agents(..) => cell.clone(),
            Self::Ledgers(section) => section.complete(cell),
            Self::Offload(section, _) => section.complete(cell),
            Self::Search(section) => section.complete(cell),
            Self::Workflow(section) => section.complete(cell),
        }
    }

    /// The cell on which every entrant is checked before anything is timed.
    fn check_cell(&self, places: &[Place]) -> Cell {
        match self {
            Self::Agents(..) => {
                places.last().expect("parse has checked that there are cells").cell.clone()
            }
            Self::Ledgers(section) => section.defaults.clone(),
            Self::Offload(section, _) => section.defaults.clone(),
            Self::Search(section) => section.defaults.clone(),
            Self::Workflow(section) => section.defaults.clone(),
        }
    }

    /// The work, its forecast and its deadline, both in milliseconds.
    fn work(&self, file: &str, at: &Address<'_>) -> Result<(Work, u64, u64), PlanError> {
        match self {
            Self::Agents(section, table) => section.work(file, table, at),
            Self::Ledgers(section) => section.work(file, at),
            Self::Offload(section, recorded) => section.work(file, recorded, at),
            Self::Search(section) => section.work(file, at),
            Self::Workflow(section) => section.work(file, at),
        }
    }
}

/// Names and tags in groups of cells, against those there are: a slip of the pen would otherwise
/// leave a cell empty without a word.
fn check_groups(
    file: &str,
    experiment: &Experiment,
    manifests: &[Manifest],
) -> Result<(), PlanError> {
    let named = experiment.cells.iter().filter_map(|group| group.get(cells::VARIANT)).flatten();
    let twin = experiment.variants.twin.as_deref().map(twin_name);
    for text in named {
        let (entry, _) = Entry::read(text);
        let is_there = manifests.iter().any(|manifest| entry.means(&manifest.name, &manifest.tags));
        let message = match entry {
            _ if is_there => continue,
            Entry::Name(name) if twin.as_deref() == Some(name) => continue,
            Entry::Name(name) => format!("no variant `{name}` is in the family"),
            Entry::Tag(tag) => format!("no variant of the family carries the tag `{tag}`"),
        };
        return Err(PlanError::value(file, "cells.variant", message));
    }
    Ok(())
}

fn twin_name(original: &str) -> String {
    format!("{original}_twin")
}

fn entrants(
    file: &str,
    experiment: &Experiment,
    manifests: &[Manifest],
) -> Result<Vec<Entrant>, PlanError> {
    let selection = &experiment.variants;
    let chosen = |manifest: &&Manifest| {
        manifest.family == experiment.family
            && selection.tags.iter().all(|tag| manifest.tags.contains(tag))
            && (selection.names.is_empty() || selection.names.contains(&manifest.name))
    };
    let mut entrants: Vec<Entrant> = manifests
        .iter()
        .filter(chosen)
        .map(|manifest| Entrant {
            name: manifest.name.clone(),
            twin_of: None,
            manifest: manifest.clone(),
        })
        .collect();
    entrants.sort_by(|a, b| a.name.cmp(&b.name));
    let find = |key: &str, name: &str| {
        entrants.iter().find(|entrant| entrant.name == name).cloned().ok_or_else(|| {
            PlanError::value(file, key, not_selected(name, experiment, manifests, &entrants))
        })
    };
    for name in &selection.names {
        find("variants.names", name)?;
    }
    find("analysis.reference", &experiment.analysis.reference)?;
    for contrast in &experiment.analysis.contrasts {
        find("analysis.contrasts.variant", &contrast.variant)?;
    }
    if let Some(name) = &selection.twin {
        let original = find("variants.twin", name)?;
        entrants.push(Entrant {
            name: twin_name(name),
            twin_of: Some(name.clone()),
            manifest: original.manifest,
        });
    }
    Ok(entrants)
}

/// Why a variant that the experiment names takes no part, and what to change.
fn not_selected(
    name: &str,
    experiment: &Experiment,
    manifests: &[Manifest],
    entrants: &[Entrant],
) -> String {
    let (family, selection) = (&experiment.family, &experiment.variants);
    let found = manifests.iter().find(|one| one.family == *family && one.name == name);
    let lacks = |manifest: &&Manifest| {
        selection.tags.iter().find(|tag| !manifest.tags.contains(tag)).cloned()
    };
    if let Some(tag) = found.as_ref().and_then(lacks) {
        return format!(
            "`{name}` is not selected, for it lacks the tag `{tag}` of variants.tags: add it in \
             {family}/{name}/variant.toml"
        );
    }
    let known: Vec<_> = entrants.iter().map(|entrant| entrant.name.as_str()).collect();
    if known.is_empty() {
        let tags = selection.tags.join("` and `");
        return format!("no variant `{name}` is selected: no variant of {family} carries `{tags}`");
    }
    format!("no variant `{name}` is selected; there are: {}", known.join(", "))
}

/// One block: every (variant, cell) once, in random order. Cells that differ only in [`ADJACENT`]
/// stay together, and which of them goes first alternates from block to block.
fn block_order<'a>(
    seed: u64,
    block: u32,
    entrants: &'a [Entrant],
    places: &'a [Place],
) -> Vec<(&'a Entrant, &'a Cell)> {
    let mut groups: BTreeMap<Cell, Vec<&Place>> = BTreeMap::new();
    for place in places {
        let mut key = place.cell.clone();
        key.remove(ADJACENT);
        groups.entry(key).or_default().push(place);
    }
    let mut pairs: Vec<(usize, &Entrant, Vec<&Cell>)> = entrants
        .iter()
        .enumerate()
        .flat_map(|(index, entrant)| {
            groups.values().map(move |group| {
                let here = group.iter().filter(|place| place.is_for(&entrant.name));
                (index, entrant, here.map(|place| &place.cell).collect())
            })
        })
        .collect();
    pairs.shuffle(&mut draw::generator(seed, &["order", &block.to_string()]));
    let alternate = |(index, entrant, mut group): (usize, &'a Entrant, Vec<&'a Cell>)| {
        // Alternating by variant as well keeps half of the pairs each way round in every block.
        if (block as usize + index) % 2 == 1 {
            group.reverse();
        }
        group.into_iter().map(move |cell| (entrant, cell)).collect::<Vec<_>>()
    };
    pairs.into_iter().flat_map(alternate).collect()
}
