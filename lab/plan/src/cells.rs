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

/// The key by which a group of cells names the variants that it is for.
pub(crate) const VARIANT: &str = "variant";

/// A cell and who runs in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) cell: Cell,
    /// `None` for everybody.
    only: Option<Vec<String>>,
}

impl Place {
    pub(crate) fn is_for(&self, variant: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == variant))
    }
}

/// Every cell of all groups once, completed, with everybody that some group sends there.
pub(crate) fn places(
    groups: &[BTreeMap<String, Vec<String>>],
    complete: impl Fn(&Cell) -> Cell,
) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for group in groups {
        let mut factors = group.clone();
        let only = factors.remove(VARIANT);
        for cell in product(&factors).iter().map(&complete) {
            match places.iter_mut().find(|place| place.cell == cell) {
                Some(place) => place.only = join(place.only.take(), only.clone()),
                None => places.push(Place { cell, only: only.clone() }),
            }
        }
    }
    places
}

fn join(one: Option<Vec<String>>, other: Option<Vec<String>>) -> Option<Vec<String>> {
    let (mut one, other) = (one?, other?);
    one.extend(other);
    Some(one)
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

    #[test]
    fn a_cell_of_two_groups_is_for_the_variants_of_both() {
        let groups = [
            factors(&[("a", &["1", "2"]), ("variant", &["x"])]),
            factors(&[("a", &["2"]), ("variant", &["y"])]),
            factors(&[("a", &["3"])]),
        ];
        let places = places(&groups, Cell::clone);
        let who = |place: &Place| {
            ["x", "y", "z"].into_iter().filter(|name| place.is_for(name)).collect::<Vec<_>>()
        };
        assert_eq!(
            places.iter().map(who).collect::<Vec<_>>(),
            [vec!["x"], vec!["x", "y"], vec!["x", "y", "z"]]
        );
    }
}
