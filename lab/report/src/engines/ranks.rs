//! Whether the order of the engines is the same in every round.

use std::collections::BTreeSet;

use super::sweep::{Cell as Levels, PLACE, Sweep};
use crate::effect::Series;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// A round's times are ranks to be compared only where this many engines ran.
const FEWEST_ENGINES: usize = 3;

/// The engines' ranks in every round of one cell, 1 for the fastest; equal times share their mean.
struct Ranks<'a> {
    engines: Vec<&'a str>,
    /// A row per round, a column per engine.
    rounds: Vec<Vec<f64>>,
}

impl<'a> Ranks<'a> {
    /// Of the rounds in which every engine of the cell has a time.
    fn of(sweep: &Sweep<'a>, cell: &Levels) -> Option<Self> {
        let timed = sweep.engines().into_iter().map(|engine| (engine, sweep.wall(engine, cell)));
        let timed: Vec<(&str, Series)> = timed.filter(|(_, times)| !times.is_empty()).collect();
        let blocks: BTreeSet<u32> = timed.iter().flat_map(|(_, t)| t.keys().copied()).collect();
        let round = |block: &u32| {
            let times: Option<Vec<f64>> =
                timed.iter().map(|(_, t)| t.get(block).copied()).collect();
            times.map(|times| ranked(&times))
        };
        let rounds: Vec<Vec<f64>> = blocks.iter().filter_map(round).collect();
        let enough = timed.len() >= FEWEST_ENGINES && rounds.len() > 1;
        let engines = timed.into_iter().map(|(engine, _)| engine).collect();
        enough.then_some(Self { engines, rounds })
    }

    /// Rounds in which an engine was the fastest, alone or with others.
    fn firsts(&self, engine: usize) -> usize {
        let first = |round: &&Vec<f64>| round.iter().all(|rank| *rank >= round[engine]);
        self.rounds.iter().filter(first).count()
    }

    fn mean_rank(&self, engine: usize) -> f64 {
        self.rounds.iter().map(|round| round[engine]).sum::<f64>() / self.rounds.len() as f64
    }

    /// The engine that was first most often.
    fn most_often_first(&self) -> (&'a str, usize) {
        let counted = (0..self.engines.len()).rev().map(|e| (self.engines[e], self.firsts(e)));
        counted.max_by_key(|(_, firsts)| *firsts).unwrap_or_default()
    }
}

/// Kendall's coefficient of concordance over rows of ranks, with his correction for ties: 1 where
/// all rounds order the engines alike, about 1 / rounds where the order is chance.
/// (M. G. Kendall and B. Babington Smith, "The problem of m rankings", Annals of Mathematical
/// Statistics 10, 1939, p. 275; ties: M. G. Kendall, "Rank Correlation Methods", section 6.10.)
/// `None` of fewer than two rows or columns, or where everything is tied.
fn concordance(rounds: &[Vec<f64>]) -> Option<f64> {
    let (m, n) = (rounds.len() as f64, rounds.first()?.len() as f64);
    let sums: Vec<f64> =
        (0..rounds[0].len()).map(|e| rounds.iter().map(|round| round[e]).sum()).collect();
    let centre = m * (n + 1.0) / 2.0;
    let spread: f64 = sums.iter().map(|sum| (sum - centre).powi(2)).sum();
    let ties: f64 = rounds.iter().map(|round| tie_term(round)).sum();
    let most = m * m * (n * n * n - n) - m * ties;
    (m > 1.0 && n > 1.0 && most > 0.0).then(|| 12.0 * spread / most)
}

/// Σ t³ - t over groups of t equal ranks.
fn tie_term(round: &[f64]) -> f64 {
    let mut sorted = round.to_vec();
    sorted.sort_by(f64::total_cmp);
    let groups = sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64);
    groups.map(|t| t * t * t - t).sum()
}

/// Ranks from 1, equal values at the mean of their places.
fn ranked(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Is the order the same in every round?");
    let engines = sweep.engines();
    let cells = sweep.cells_of(&engines).into_iter();
    let cells: Vec<(&Levels, Ranks)> = cells
        .filter(|cell| sweep.is_base_but(cell, &PLACE))
        .filter_map(|cell| Some((cell, Ranks::of(sweep, cell)?)))
        .collect();
    if cells.is_empty() {
        page.paragraph("No cell has two rounds of three engines, so there is no order to compare.");
        return;
    }
    page.paragraph(
        "Engines ranked by time within every round in which all of the cell ran. Kendall's W is 1 \
         where all rounds order them alike and about 1 ÷ rounds where the order is chance.",
    );
    let published = sweep.published();
    if let Some((cell, ranks)) = cells.iter().find(|(cell, _)| Some(*cell) == published.as_ref()) {
        page.paragraph(&format!("The published table's cell ({}):", sweep.label(cell)));
        page.table("ranks-published", &by_engine(sweep, &[(*cell, ranks)]));
    }
    page.folded("stability", "Kendall's W in every cell", &stability(sweep, &cells));
    let all: Vec<(&Levels, &Ranks)> = cells.iter().map(|(cell, ranks)| (*cell, ranks)).collect();
    page.data("ranks", &by_engine(sweep, &all));
    page.paragraph("Ranks of every engine in every cell: `ranks.tsv`.");
}

fn by_engine(sweep: &Sweep, cells: &[(&Levels, &Ranks)]) -> Table {
    let mut table = Table::new(&[
        ("cell", "cell"),
        ("engine", "engine"),
        ("rounds", "n"),
        ("first in", "firsts"),
        ("share of rounds", "first_share"),
        ("mean rank", "mean_rank"),
        ("Kendall's W of the cell", "kendall_w"),
    ]);
    for (cell, ranks) in cells {
        let w = concordance(&ranks.rounds);
        for (position, engine) in ranks.engines.iter().enumerate() {
            let firsts = ranks.firsts(position);
            table.row(vec![
                Cell::text(sweep.label(cell)),
                Cell::code(engine),
                Cell::count(ranks.rounds.len()),
                Cell::count(firsts),
                Cell::Value(firsts as f64 / ranks.rounds.len() as f64, Unit::Share),
                Cell::Value(ranks.mean_rank(position), Unit::Count),
                Cell::value(w, Unit::Count),
            ]);
        }
    }
    table
}

fn stability(sweep: &Sweep, cells: &[(&Levels, Ranks)]) -> Table {
    let mut table = Table::new(&[
        ("cell", "cell"),
        ("engines", "engines"),
        ("rounds", "n"),
        ("Kendall's W", "kendall_w"),
        ("most often first", "first"),
        ("in", "firsts"),
    ]);
    for (cell, ranks) in cells {
        let (first, firsts) = ranks.most_often_first();
        table.row(vec![
            Cell::text(sweep.label(cell)),
            Cell::count(ranks.engines.len()),
            Cell::count(ranks.rounds.len()),
            Cell::value(concordance(&ranks.rounds), Unit::Count),
            Cell::code(first),
            Cell::count(firsts),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concordance_of_known_ranks() {
        let same = vec![vec![1.0, 2.0, 3.0]; 4];
        assert_eq!(concordance(&same), Some(1.0));
        // Column sums 6, 6, 6: no agreement at all.
        let rounds = [vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 1.0], vec![3.0, 1.0, 2.0]];
        assert_eq!(concordance(&rounds), Some(0.0));
        // A row whose last three are tied at their mean place.
        let tied = [vec![1.0, 2.0, 4.0, 4.0, 4.0], vec![1.0, 2.0, 3.0, 4.0, 5.0]];
        let w = concordance(&tied).unwrap();
        // Sums 2, 4, 7, 8, 9 about 6: S = 34; 12 · 34 / (4 · 120 - 2 · 24).
        assert!((w - 408.0 / 432.0).abs() < 1e-12, "{w}");
        assert_eq!(concordance(&[vec![1.0, 2.0]]), None);
    }

    #[test]
    fn equal_times_share_their_rank() {
        assert_eq!(ranked(&[5.0, 1.0, 5.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
    }
}
