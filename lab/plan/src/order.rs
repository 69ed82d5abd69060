//! From an experiment to the ordered list of runs.

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{Address, Cell, InputError, Planned, Work, draw};
use rand::seq::SliceRandom;

use crate::{
    Experiment, Manifest,
    cells::{self, Place},
    declared::check_variants,
    rounds::{self, Asked},
};

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

/// Everything that will run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Who takes part.
    pub entrants: Vec<Entrant>,
    /// The runs of the blocks; a run's `order` is its position.
    pub runs: Vec<PlannedRun>,
    /// What is asked after them, in rounds.
    pub asked: Vec<Asked>,
}

impl Plan {
    /// The time for all questions together.
    pub fn budget_ms(&self) -> u64 {
        self.asked.first().map_or(0, |asked| 1_000 * u64::from(asked.rounds.budget_s))
    }
}

/// One run to be.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    /// Position in the plan.
    pub order: u64,
    /// 1-based; 0 for the check before anything is timed.
    pub block: u32,
    /// Kept and never analysed.
    pub warmup: bool,
    /// The entrant's name.
    pub variant: String,
    /// Levels by factor.
    pub cell: Cell,
    /// What to do.
    pub work: Arc<dyn Work>,
    /// How long it should take.
    pub expected_ms: u64,
    /// When it is ended if it has given no outcome.
    pub deadline_ms: u64,
}

impl PlannedRun {
    /// The run at an address; block 0 is the check before anything is timed.
    pub(crate) fn at(experiment: &Experiment, at: &Address<'_>) -> Result<Self, InputError> {
        let Planned { work, expected_ms, deadline_ms } =
            experiment.section.plan(&experiment.file, at)?;
        Ok(Self {
            order: at.order,
            block: at.block,
            warmup: at.block == 0,
            variant: at.variant.to_owned(),
            cell: at.cell.clone(),
            work,
            expected_ms,
            deadline_ms,
        })
    }
}

/// Makes the plan of an experiment whose section has its attachment.
///
/// # Errors
/// Names the file and key where the experiment asks for a variant, a tag or a table row that is not
/// there.
pub fn plan(experiment: &Experiment, manifests: &[Manifest]) -> Result<Plan, InputError> {
    check_variants(experiment, manifests)?;
    let entrants = entrants(experiment, manifests)?;
    let defaults = experiment.section.defaults();
    let complete = |cell: &Cell| {
        let mut complete = defaults.clone();
        complete.extend(cell.clone());
        complete
    };
    let places = cells::places(&experiment.written.cells, &entrants, complete);
    bounded(experiment, entrants.len(), places.len())?;
    let seed = experiment.written.seed;
    let mut runs = Vec::new();
    let mut push = |block: u32, variant: &Entrant, cell: &Cell| {
        let order = runs.len() as u64;
        let address = Address { seed, block, order, variant: &variant.name, cell };
        runs.push(PlannedRun::at(experiment, &address)?);
        Ok::<(), InputError>(())
    };
    // Where cells have no defaults, any cell will do for the check.
    let last = &places.last().expect("parse has checked that there are cells").cell;
    let check_cell = if defaults.is_empty() { last } else { &defaults };
    for entrant in &entrants {
        push(0, entrant, check_cell)?;
    }
    let adjacent = experiment.family.definition().adjacent_factor;
    for block in 1..=experiment.written.blocks {
        for (entrant, cell) in block_order(seed, block, adjacent, &entrants, &places) {
            push(block, entrant, cell)?;
        }
    }
    let asked = rounds::asked(experiment, &entrants, &places);
    Ok(Plan { entrants, runs, asked })
}

/// The check of every entrant, at the levels of [`Experiment::lightest`].
///
/// # Errors
/// As those of [`plan`].
pub fn light_checks(experiment: &Experiment, plan: &Plan) -> Result<Vec<PlannedRun>, InputError> {
    let (seed, lightest) = (experiment.written.seed, experiment.lightest());
    let light = |run: &PlannedRun| {
        let PlannedRun { block, order, variant, .. } = run;
        let mut cell = run.cell.clone();
        cell.extend(lightest.clone());
        let at = Address { seed, block: *block, order: *order, variant, cell: &cell };
        PlannedRun::at(experiment, &at)
    };
    plan.runs.iter().filter(|run| run.warmup).map(light).collect()
}

/// A plan is held in memory, and half a year of runs of ten seconds is a slip of the pen.
const RUNS_MAX: u64 = 2_000_000;

fn bounded(experiment: &Experiment, entrants: usize, places: usize) -> Result<(), InputError> {
    let blocks = u64::from(experiment.written.blocks);
    let runs = blocks.saturating_mul(entrants as u64).saturating_mul(places as u64);
    if runs <= RUNS_MAX {
        return Ok(());
    }
    let message = format!(
        "{blocks} blocks of {places} cells with {entrants} variants are {runs} runs, more than \
         {RUNS_MAX}; ask for fewer"
    );
    Err(InputError::value(&experiment.file, "blocks", message))
}

pub(crate) fn twin_name(original: &str) -> String {
    format!("{original}_twin")
}

fn entrants(experiment: &Experiment, manifests: &[Manifest]) -> Result<Vec<Entrant>, InputError> {
    check_tags(experiment, manifests)?;
    let selection = &experiment.written.variants;
    let chosen = |manifest: &&Manifest| {
        manifest.family == experiment.family.name()
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
            let message = not_selected(name, experiment, manifests, &entrants);
            InputError::value(&experiment.file, key, message)
        })
    };
    find("analysis.reference", &experiment.written.analysis.reference)?;
    if experiment.needs().floor_answers {
        let key = "analysis.floor";
        let floor = experiment.written.analysis.floor.as_deref();
        find(
            key,
            floor.ok_or_else(|| {
                let message =
                    "is missing; name a variant that takes part, whose answers are expected";
                InputError::value(&experiment.file, key, message)
            })?,
        )?;
    }
    if let Some(name) = &selection.twin {
        let original = find("variants.twin", name)?;
        let analysis = &experiment.written.analysis;
        if analysis.rounds.is_some() && *name != analysis.reference {
            let message = format!(
                "is `{name}`, but the control of rounds is the reference a second time; write `{}`",
                analysis.reference
            );
            return Err(InputError::value(&experiment.file, "variants.twin", message));
        }
        entrants.push(Entrant {
            name: twin_name(name),
            twin_of: Some(name.clone()),
            manifest: original.manifest,
        });
    }
    Ok(entrants)
}

/// Refuses a tag that no variant of the family has.
fn check_tags(experiment: &Experiment, manifests: &[Manifest]) -> Result<(), InputError> {
    let family = experiment.family.name();
    let own = manifests.iter().filter(|manifest| manifest.family == family);
    let known: Vec<&str> =
        own.flat_map(|manifest| manifest.tags.iter().map(String::as_str)).collect();
    let unknown = experiment.written.variants.tags.iter().find(|tag| !known.contains(&&tag[..]));
    unknown.map_or(Ok(()), |tag| {
        let what = format!("tag of a variant of {family}");
        Err(InputError::unknown(&experiment.file, "variants.tags", &what, tag, known))
    })
}

/// Why a variant that the experiment names takes no part, and what to change.
fn not_selected(
    name: &str,
    experiment: &Experiment,
    manifests: &[Manifest],
    entrants: &[Entrant],
) -> String {
    let (family, selection) = (experiment.family.name(), &experiment.written.variants);
    let found = manifests.iter().find(|one| one.family == family && one.name == name);
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

/// One block: every (variant, cell) once, in random order. Cells that differ only in the adjacent
/// factor stay together, and which of them goes first alternates from block to block.
fn block_order<'a>(
    seed: u64,
    block: u32,
    adjacent: Option<&str>,
    entrants: &'a [Entrant],
    places: &'a [Place],
) -> Vec<(&'a Entrant, &'a Cell)> {
    let mut groups: BTreeMap<Cell, Vec<&Place>> = BTreeMap::new();
    for place in places {
        let mut key = place.cell.clone();
        adjacent.and_then(|factor| key.remove(factor));
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
