//! Whether the order of the engines is the same in every block.

use std::collections::BTreeSet;

use lab_family::Cell;
use lab_report::Column::{Code, Count, Words};
use lab_report::{Chapter, Page, Series, Study, Table, number};

use super::order::Order;
use super::{engines, wall};
use crate::engines::PLACE;

/// A block's times are ranks to be compared only where this many engines ran.
const FEWEST_ENGINES: usize = 3;

pub(super) fn write(study: &Study, order: &Order, page: &mut Page) {
    let engines = engines(study);
    let cells = order.cells(study, &engines, &|cell| study.is_default_but(cell, &PLACE));
    let ranked = cells.iter().filter_map(|cell| {
        let ranks = Ranks::of(study, &engines, cell)?;
        Some((cell, ranks.most_often_first(), ranks))
    });
    let table = Table::over(
        ranked,
        &[
            Words("", "cell", &|(cell, ..)| study.label(cell)),
            Count("", "engines", &|(.., ranks)| ranks.engines.len()),
            Count("", "n", &|(.., ranks)| ranks.blocks.len()),
            number("kendall_w", &|(.., ranks)| concordance(&ranks.blocks)),
            Code("", "first", &|(_, (first, _), _)| first),
            Count("", "firsts", &|(_, (_, firsts), _)| *firsts),
        ],
    );
    page.chapter(Chapter::beside(
        "stability",
        "Kendall's W of the engines' order over blocks (1: all blocks agree; 1 ÷ blocks: chance)",
        table,
    ));
}

/// The engines' ranks in every block of one cell, 1 for the fastest; equal times share their mean.
struct Ranks<'a> {
    engines: Vec<&'a str>,
    /// A row per block, a column per engine.
    blocks: Vec<Vec<f64>>,
}

impl<'a> Ranks<'a> {
    /// Of the blocks in which every engine of the cell has a time.
    fn of(study: &Study, engines: &[&'a str], cell: &Cell) -> Option<Self> {
        let wall = wall(study);
        let timed = engines.iter().map(|engine| (*engine, study.series(engine, cell, wall)));
        let timed: Vec<(&str, Series)> = timed.filter(|(_, times)| !times.is_empty()).collect();
        let all: BTreeSet<u32> = timed.iter().flat_map(|(_, t)| t.keys().copied()).collect();
        let ranks = |block: &u32| {
            let times: Option<Vec<f64>> =
                timed.iter().map(|(_, t)| t.get(block).copied()).collect();
            times.map(|times| ranked(&times))
        };
        let blocks: Vec<Vec<f64>> = all.iter().filter_map(ranks).collect();
        let is_enough = timed.len() >= FEWEST_ENGINES && blocks.len() > 1;
        let engines = timed.into_iter().map(|(engine, _)| engine).collect();
        is_enough.then_some(Self { engines, blocks })
    }

    /// The engine that was fastest, alone or with others, in most blocks.
    fn most_often_first(&self) -> (&'a str, usize) {
        let is_first =
            |block: &&Vec<f64>, engine: usize| block.iter().all(|rank| *rank >= block[engine]);
        let firsts = |engine| self.blocks.iter().filter(|b| is_first(b, engine)).count();
        let counted = (0..self.engines.len()).rev().map(|e| (self.engines[e], firsts(e)));
        counted.max_by_key(|(_, firsts)| *firsts).unwrap_or_default()
    }
}

/// Kendall's coefficient of concordance over rows of ranks, with his correction for ties: 1 where
/// all blocks order the engines alike, about 1 / blocks where the order is chance.
/// (M. G. Kendall and B. Babington Smith, "The problem of m rankings", Annals of Mathematical
/// Statistics 10, 1939, p. 275; ties: M. G. Kendall, "Rank Correlation Methods", section 6.10.)
/// `None` of fewer than two rows or columns, or where everything is tied.
fn concordance(blocks: &[Vec<f64>]) -> Option<f64> {
    let (m, n) = (blocks.len() as f64, blocks.first()?.len() as f64);
    let sums: Vec<f64> =
        (0..blocks[0].len()).map(|e| blocks.iter().map(|block| block[e]).sum()).collect();
    let centre = m * (n + 1.0) / 2.0;
    let spread: f64 = sums.iter().map(|sum| (sum - centre).powi(2)).sum();
    let ties: f64 = blocks.iter().map(|block| tie_term(block)).sum();
    let most = m * m * (n * n * n - n) - m * ties;
    (m > 1.0 && n > 1.0 && most > 0.0).then(|| 12.0 * spread / most)
}

/// Σ t³ - t over groups of t equal ranks.
fn tie_term(block: &[f64]) -> f64 {
    let mut sorted = block.to_vec();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concordance_of_known_ranks() {
        let same = vec![vec![1.0, 2.0, 3.0]; 4];
        assert_eq!(concordance(&same), Some(1.0));
        // Column sums 6, 6, 6: no agreement at all.
        let blocks = [vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 1.0], vec![3.0, 1.0, 2.0]];
        assert_eq!(concordance(&blocks), Some(0.0));
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
