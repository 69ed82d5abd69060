//! The order of rows and axes: corpora by their bytes, queries by how much they find.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Cell;
use lab_report::Study;
use lab_stats::describe::median;

use super::engines;
use crate::engines::FACTORS;
use crate::engines::metrics::sizes;

/// What the levels of `corpus` and `query` hold.
pub(super) struct Order {
    bytes: BTreeMap<String, f64>,
    /// Share of lines that match; the same for all corpora but for chance.
    matching: BTreeMap<String, f64>,
}

impl Order {
    pub(super) fn of(study: &Study) -> Self {
        let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let engines = engines(study);
        for one in study.all.iter().filter(|one| engines.contains(&one.variant())) {
            let query = one.row.run.cell.get("query");
            if let Some((query, share)) = query.zip(one.value("matching_share")) {
                shares.entry(query.clone()).or_default().push(share);
            }
        }
        let middle = |(query, shares): (String, Vec<f64>)| Some((query, median(&shares)?));
        let sizes = sizes(&study.frame.rows).into_iter();
        Self {
            bytes: sizes.map(|(corpus, size)| (corpus, size.bytes)).collect(),
            matching: shares.into_iter().filter_map(middle).collect(),
        }
    }

    pub(super) fn bytes(&self, corpus: &str) -> Option<f64> {
        self.bytes.get(corpus).copied()
    }

    pub(super) fn matching(&self, query: &str) -> Option<f64> {
        self.matching.get(query).copied()
    }

    /// Small corpora first, queries that find most first, all others as everywhere.
    pub(super) fn rank(
        &self,
        study: &Study,
        factor: &str,
        level: &str,
    ) -> (i64, (u64, usize, String)) {
        let own = match factor {
            "corpus" => self.bytes(level).unwrap_or(f64::MAX),
            "query" => -1e9 * self.matching(level).unwrap_or(0.0),
            _ => 0.0,
        };
        (own as i64, study.level_rank(factor, level))
    }

    /// The cells of these variants that are kept, each once.
    pub(super) fn cells(
        &self,
        study: &Study,
        variants: &[&str],
        keep: &dyn Fn(&Cell) -> bool,
    ) -> Vec<Cell> {
        let cells = variants.iter().flat_map(|variant| study.cells(variant));
        let cells: BTreeSet<&Cell> = cells.filter(|cell| keep(cell)).collect();
        let mut cells: Vec<Cell> = cells.into_iter().cloned().collect();
        let rank = |factor: &str, cell: &Cell| {
            cell.get(factor).map(|level| self.rank(study, factor, level))
        };
        cells.sort_by_cached_key(|cell| -> Vec<_> {
            FACTORS.iter().map(|factor| rank(factor.name, cell)).collect()
        });
        cells
    }
    /// The same cells with each variant that ran there.
    pub(super) fn places<'v>(
        &self,
        study: &Study,
        variants: &[&'v str],
        keep: &dyn Fn(&Cell) -> bool,
    ) -> Vec<(&'v str, Cell)> {
        let cells = self.cells(study, variants, keep).into_iter();
        let places = cells.flat_map(|cell| variants.iter().map(move |name| (*name, cell.clone())));
        places.filter(|(name, cell)| !study.runs(name, cell).is_empty()).collect()
    }
}
