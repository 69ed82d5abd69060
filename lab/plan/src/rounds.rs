//! The declared questions as rounds of adjacent runs: everybody that a question needs, once, in an
//! order that a coin decides, so that what a machine does meanwhile falls on all alike, and so does
//! what each run leaves to the next. A twin in the reference's rounds would break that: the
//! reference's program would follow itself more often than others follow themselves. So it has
//! rounds of its own.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Address, Cell, InputError, draw};
use lab_record::{Comparison, Contrast, Expectation, Question, Rounds};
use rand::{
    Rng,
    seq::{IndexedRandom, SliceRandom},
};

use crate::{Entrant, Experiment, PlannedRun, cells::Place};

/// Where a question's runs are counted from: far above every run of the blocks.
const ORDERS: u64 = 1 << 32;
/// Of so many rounds of a question with a twin, one compares the reference with it.
const ONE_CONTROL_IN: u32 = 3;

/// Runs that stand side by side.
type Group = Vec<(String, Cell)>;

/// A declared question, ready to be asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its place among [`lab_record::Analysis::questions`].
    pub place: usize,
    /// What it is about, for people.
    pub label: String,
    /// How long and how often.
    pub rounds: Rounds,
    /// Whom it is about: one group for each cell of the question.
    groups: Vec<Group>,
    /// The reference and its twin, in the same cells.
    controls: Vec<Group>,
}

/// One round of a question.
#[derive(Debug, Clone)]
pub struct Round {
    /// The question's place.
    pub place: usize,
    /// Whether it compares the reference with its twin.
    pub is_control: bool,
    /// A run that does not count. It goes first where a round of something else went before:
    /// whatever is left then is of any of this round's own runs with equal probability.
    pub wash: PlannedRun,
    /// Everybody that is still wanted, once, in the order that was drawn.
    pub runs: Vec<PlannedRun>,
}

impl Asked {
    /// A round, counted from 0, of those that are still `wanted`; `None` where nobody is.
    ///
    /// # Errors
    /// As [`crate::plan`].
    pub fn round(
        &self,
        experiment: &Experiment,
        round: u32,
        wanted: impl Fn(&str, &Cell) -> bool,
    ) -> Result<Option<Round>, InputError> {
        let seed = experiment.written.seed;
        let block = self.rounds.block(experiment.written.blocks, self.place, round);
        let planned = |order: u64, (variant, cell): &(String, Cell)| {
            PlannedRun::at(experiment, &Address { seed, block, order, variant, cell })
        };
        let mut coin = draw::generator(seed, &["round", &block.to_string()]);
        let is_wanted = |(variant, cell): &(String, Cell)| wanted(variant, cell);
        let is_control = coin.random_ratio(1, ONE_CONTROL_IN)
            && self.controls.iter().any(|group| group.iter().all(is_wanted));
        let mut groups = self.numbered(is_control);
        groups.shuffle(&mut coin);
        // Drawn for all, so that the coin of those left does not depend on who was left out.
        groups.iter_mut().for_each(|group| group.shuffle(&mut coin));
        let first = self.first_order(round);
        let runs = groups.into_iter().flatten().filter(|(_, member)| is_wanted(member));
        let runs = runs.map(|(number, member)| planned(first + number, member));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        // A generator of its own: which run it is must tell nothing of the order of the others.
        let Some(washing) = runs.choose(&mut draw::generator(seed, &["wash", &block.to_string()]))
        else {
            return Ok(None);
        };
        let member = (washing.variant.clone(), washing.cell.clone());
        let wash = PlannedRun { warmup: true, ..planned(first, &member)? };
        Ok(Some(Round { place: self.place, is_control, wash, runs }))
    }

    /// The `order` of a round's wash; its runs are counted on from there.
    fn first_order(&self, round: u32) -> u64 {
        let members = self.groups.iter().chain(&self.controls).map(Vec::len).sum::<usize>();
        (self.place as u64 + 1) * ORDERS + u64::from(round) * (members as u64 + 1)
    }

    /// Every member of a kind of round with its number.
    fn numbered(&self, is_control: bool) -> Vec<Vec<(u64, &(String, Cell))>> {
        let mut numbers = 1..;
        let mut number = |member| (numbers.next().unwrap_or_default(), member);
        let [groups, controls] = [&self.groups, &self.controls].map(|groups| {
            let numbered = groups.iter().map(|group| group.iter().map(&mut number).collect());
            numbered.collect()
        });
        if is_control { controls } else { groups }
    }
}

/// Every question of the experiment that has both its sides here.
pub(crate) fn asked(experiment: &Experiment, entrants: &[Entrant], places: &[Place]) -> Vec<Asked> {
    let analysis = &experiment.written.analysis;
    let Some(rounds) = analysis.rounds else { return Vec::new() };
    let questions = analysis.questions(&experiment.written.expect);
    let one = |(place, question): (usize, &Question<'_>)| {
        let mut controls = Vec::new();
        let (label, groups) = match question {
            Question::Comparisons(those) => {
                let comparison = &analysis.comparisons[those[0]];
                let (twins, others): (Vec<_>, Vec<_>) =
                    entrants.iter().partition(|entrant| entrant.twin_of.is_some());
                let is_reference = |one: &&&Entrant| one.name == analysis.reference;
                let around: Vec<_> =
                    others.iter().filter(is_reference).chain(&twins).copied().collect();
                let groups = |members: &[&Entrant]| {
                    of_comparison(comparison, &analysis.reference, members, places)
                };
                controls = groups(&around);
                (comparison.label(), groups(&others))
            }
            Question::Contrast(contrast) => (contrast.id.clone(), of_contrast(contrast, places)),
            Question::Expectation(one) => {
                let defaults = experiment.section.defaults();
                (one.id.clone(), of_expectation(one, &defaults, places))
            }
        };
        (!groups.is_empty()).then_some(Asked { place, label, rounds, groups, controls })
    };
    questions.iter().enumerate().filter_map(one).collect()
}

/// In each cell of a comparison those of these entrants who run there, where there are two. A twin
/// among them is the reference's: no other may be declared beside rounds.
fn of_comparison(
    comparison: &Comparison,
    reference: &str,
    entrants: &[&Entrant],
    places: &[Place],
) -> Vec<Group> {
    let takes_part =
        |place: &&Place| place.is_for(reference) && has_levels(&place.cell, &comparison.cells);
    let group = |place: &Place| -> Group {
        let here = entrants.iter().filter(|entrant| place.is_for(&entrant.name));
        here.map(|entrant| (entrant.name.clone(), place.cell.clone())).collect()
    };
    let groups = places.iter().filter(takes_part).map(group);
    groups.filter(|group| group.len() > 1).collect()
}

fn of_contrast(contrast: &Contrast, places: &[Place]) -> Vec<Group> {
    let mut groups: BTreeMap<Cell, Group> = BTreeMap::new();
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
fn of_expectation(expectation: &Expectation, defaults: &Cell, places: &[Place]) -> Vec<Group> {
    type Members = (BTreeSet<(String, Cell)>, BTreeSet<usize>);
    let mut groups: BTreeMap<Vec<String>, Members> = BTreeMap::new();
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
