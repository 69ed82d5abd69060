//! From an experiment to the ordered list of runs.

use std::collections::BTreeMap;

use lab_protocol::agents::Workload;
use rand::seq::SliceRandom;

use crate::{Cell, Experiment, Manifest, PlanError, agents, cells, draw};

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
        workload: Workload,
        /// What the paced server must do; `None` on real servers.
        paced: Option<serde_json::Value>,
        /// Parts per million of real time.
        time_scale_ppm: u64,
    },
}

/// Makes the plan.
///
/// # Errors
/// Names the file and key where the experiment asks for a variant, a tag or a table row that is not
/// there.
pub fn plan(
    file: &str,
    experiment: &Experiment,
    manifests: &[Manifest],
    table: &agents::Table,
) -> Result<Plan, PlanError> {
    let entrants = entrants(file, experiment, manifests)?;
    let cells = distinct_cells(experiment);
    let section = experiment.agents.as_ref().expect("parse has checked that the section is there");
    let mut runs = Vec::new();
    let mut push = |block: u32, variant: &Entrant, cell: &Cell| {
        let order = runs.len() as u64;
        let address = agents::Address { seed: experiment.seed, block, order, variant, cell };
        let (work, expected_ms) = section.work(file, table, &address)?;
        let (variant, cell) = (variant.name.clone(), cell.clone());
        let deadline_ms = section.deadline_ms(expected_ms);
        let warmup = block == 0;
        let run =
            PlannedRun { order, block, warmup, variant, cell, work, expected_ms, deadline_ms };
        runs.push(run);
        Ok::<(), PlanError>(())
    };
    let warmup_cell = cells.last().expect("parse has checked that there are cells");
    for entrant in &entrants {
        push(0, entrant, warmup_cell)?;
    }
    for block in 1..=experiment.blocks {
        for (entrant, cell) in block_order(experiment.seed, block, &entrants, &cells) {
            push(block, entrant, cell)?;
        }
    }
    Ok(Plan { entrants, runs })
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
            let known: Vec<_> = entrants.iter().map(|entrant| entrant.name.as_str()).collect();
            let message =
                format!("no variant `{name}` is selected; there are: {}", known.join(", "));
            PlanError::value(file, key, message)
        })
    };
    for name in &selection.names {
        find("variants.names", name)?;
    }
    find("analysis.reference", &experiment.analysis.reference)?;
    if let Some(name) = &selection.twin {
        let original = find("variants.twin", name)?;
        entrants.push(Entrant {
            name: format!("{name}_twin"),
            twin_of: Some(name.clone()),
            manifest: original.manifest,
        });
    }
    Ok(entrants)
}

fn distinct_cells(experiment: &Experiment) -> Vec<Cell> {
    let mut distinct: Vec<Cell> = Vec::new();
    for cell in experiment.cells.iter().flat_map(cells::product) {
        if !distinct.contains(&cell) {
            distinct.push(cell);
        }
    }
    distinct
}

/// One block: every (variant, cell) once, in random order. Cells that differ only in [`ADJACENT`]
/// stay together, and which of them goes first alternates from block to block.
fn block_order<'a>(
    seed: u64,
    block: u32,
    entrants: &'a [Entrant],
    cells: &'a [Cell],
) -> Vec<(&'a Entrant, &'a Cell)> {
    let mut groups: BTreeMap<Cell, Vec<&Cell>> = BTreeMap::new();
    for cell in cells {
        let mut key = cell.clone();
        key.remove(ADJACENT);
        groups.entry(key).or_default().push(cell);
    }
    let mut pairs: Vec<(usize, &Entrant, Vec<&Cell>)> = entrants
        .iter()
        .enumerate()
        .flat_map(|(index, entrant)| {
            groups.values().map(move |group| (index, entrant, group.clone()))
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
