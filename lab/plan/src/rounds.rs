//! The declared questions as rounds of adjacent runs: everybody that a question needs, once, in an
//! order that a coin decides, so that what a machine does meanwhile falls on all alike.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Address, Cell, InputError, draw};
use lab_record::{Comparison, Contrast, Expectation, Question, Rounds};
use rand::seq::SliceRandom;

use crate::{Entrant, Experiment, PlannedRun, cells::Place};

/// Where a question's runs are counted from: far above every run of the blocks.
const ORDERS: u64 = 1 << 32;

/// A declared question, ready to be asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its place among [`lab_record::Analysis::questions`].
    pub place: usize,
    /// What it is about, for people.
    pub label: String,
    /// How long and how often.
    pub rounds: Rounds,
    /// Runs that stand side by side: one group for each cell of the question.
    groups: Vec<Vec<(String, Cell)>>,
}

impl Asked {
    /// The runs of one round, counted from 0, of those that are still `wanted`.
    ///
    /// # Errors
    /// As [`crate::plan`].
    pub fn round(
        &self,
        experiment: &Experiment,
        round: u32,
        wanted: impl Fn(&str, &Cell) -> bool,
    ) -> Result<Vec<PlannedRun>, InputError> {
        let seed = experiment.written.seed;
        let block = self.rounds.block(experiment.written.blocks, self.place, round);
        let mut coin = draw::generator(seed, &["round", &block.to_string()]);
        let mut groups: Vec<_> = self.numbered();
        groups.shuffle(&mut coin);
        let mut runs = Vec::new();
        let size = self.groups.iter().map(Vec::len).sum::<usize>() as u64;
        let first = (self.place as u64 + 1) * ORDERS + u64::from(round) * size;
        for mut group in groups {
            // Drawn for all, so that the coin of those left does not depend on who was left out.
            group.shuffle(&mut coin);
            for (number, variant, cell) in group {
                if !wanted(variant, cell) {
                    continue;
                }
                let order = first + number;
                let address = Address { seed, block, order, variant, cell };
                runs.push(PlannedRun::at(experiment, &address)?);
            }
        }
        Ok(runs)
    }

    /// Every member with its number in the round.
    fn numbered<'a>(&'a self) -> Vec<Vec<(u64, &'a str, &'a Cell)>> {
        let mut numbers = 0..;
        let mut number = |(variant, cell): &'a (String, Cell)| {
            (numbers.next().unwrap_or_default(), variant.as_str(), cell)
        };
        self.groups.iter().map(|group| group.iter().map(&mut number).collect()).collect()
    }
}

/// Every question of the experiment that has both its sides here.
pub(crate) fn asked(experiment: &Experiment, entrants: &[Entrant], places: &[Place]) -> Vec<Asked> {
    let analysis = &experiment.written.analysis;
    let Some(rounds) = analysis.rounds else { return Vec::new() };
    let questions = analysis.questions(&experiment.written.expect);
    let one = |(place, question): (usize, &Question<'_>)| {
        let (label, groups) = match question {
            Question::Comparisons(those) => {
                let comparison = &analysis.comparisons[those[0]];
                let groups = of_comparison(comparison, &analysis.reference, entrants, places);
                (comparison.label(), groups)
            }
            Question::Contrast(contrast) => (contrast.id.clone(), of_contrast(contrast, places)),
            Question::Expectation(one) => {
                let defaults = experiment.section.defaults();
                (one.id.clone(), of_expectation(one, &defaults, places))
            }
        };
        (!groups.is_empty()).then_some(Asked { place, label, rounds, groups })
    };
    questions.iter().enumerate().filter_map(one).collect()
}

fn of_comparison(
    comparison: &Comparison,
    reference: &str,
    entrants: &[Entrant],
    places: &[Place],
) -> Vec<Vec<(String, Cell)>> {
    let takes_part =
        |place: &&Place| place.is_for(reference) && has_levels(&place.cell, &comparison.cells);
    let group = |place: &Place| -> Vec<(String, Cell)> {
        let here = entrants.iter().filter(|entrant| place.is_for(&entrant.name));
        here.map(|entrant| (entrant.name.clone(), place.cell.clone())).collect()
    };
    let groups = places.iter().filter(takes_part).map(group);
    groups.filter(|group| group.len() > 1).collect()
}

fn of_contrast(contrast: &Contrast, places: &[Place]) -> Vec<Vec<(String, Cell)>> {
    let mut groups: BTreeMap<Cell, Vec<(String, Cell)>> = BTreeMap::new();
    for place in places.iter().filter(|place| place.is_for(&contrast.variant)) {
        let level = place.cell.get(&contrast.factor);
        let is_side =
            level.is_some_and(|level| [&contrast.level, &contrast.reference].contains(&level));
        if is_side && has_levels(&place.cell, &contrast.cells) {
            let mut rest = place.cell.clone();
            rest.remove(&contrast.factor);
            groups.entry(rest).or_default().push((contrast.variant.clone(), place.cell.clone()));
        }
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

/// What shares the free levels stands side by side, wherever every quantity has a place: maybe in
/// one run, which has all the numbers.
fn of_expectation(
    expectation: &Expectation,
    defaults: &Cell,
    places: &[Place],
) -> Vec<Vec<(String, Cell)>> {
    type Group = (BTreeSet<(String, Cell)>, BTreeSet<usize>);
    let mut groups: BTreeMap<Vec<String>, Group> = BTreeMap::new();
    let quantities = expectation.quantities();
    for (position, quantity) in quantities.iter().enumerate() {
        let Some((variants, _)) = expectation.about(quantity) else { continue };
        for (variant, quantity) in quantity.candidates(variants) {
            for place in places.iter().filter(|place| place.is_for(variant)) {
                if let Some(free) = expectation.free_levels(&quantity, &place.cell, defaults) {
                    let (group, placed) = groups.entry(free).or_default();
                    group.insert((variant.clone(), place.cell.clone()));
                    placed.insert(position);
                }
            }
        }
    }
    let whole = groups.into_values().filter(|(_, placed)| placed.len() == quantities.len());
    whole.map(|(group, _)| group.into_iter().collect()).collect()
}

fn has_levels(cell: &Cell, asked: &BTreeMap<String, Vec<String>>) -> bool {
    asked.iter().all(|(factor, levels)| cell.get(factor).is_some_and(|one| levels.contains(one)))
}
