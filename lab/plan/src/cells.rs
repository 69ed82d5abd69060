//! Factors and levels to cells.

use std::collections::BTreeMap;

/// One combination of levels, by factor.
pub type Cell = BTreeMap<String, String>;

/// Every combination of one group's levels, the last factor (by name) changing fastest.
pub(crate) fn product(factors: &BTreeMap<String, Vec<String>>) -> Vec<Cell> {
    let mut cells = vec![Cell::new()];
    for (factor, levels) in factors {
        cells = cells
            .iter()
            .flat_map(|cell| {
                levels.iter().map(move |level| {
                    let mut cell = cell.clone();
                    cell.insert(factor.clone(), level.clone());
                    cell
                })
            })
            .collect();
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(list: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        list.iter()
            .map(|(name, levels)| {
                ((*name).to_owned(), levels.iter().map(|&level| level.to_owned()).collect())
            })
            .collect()
    }

    #[test]
    fn a_product_has_every_combination_once() {
        let cells = product(&factors(&[("a", &["1", "2"]), ("b", &["x", "y", "z"])]));
        assert_eq!(cells.len(), 6);
        assert_eq!(cells.iter().collect::<std::collections::BTreeSet<_>>().len(), 6);
    }
}
