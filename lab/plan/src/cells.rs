//! Factors and levels to cells.

use std::collections::BTreeMap;

use lab_family::Cell;

use crate::order::Entrant;

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

/// The key by which a group of cells says which variants it is for.
pub(crate) const VARIANT: &str = "variant";
/// Before the name of a tag in a list of variants.
const TAG: &str = "tag:";

/// An entry of [`VARIANT`]: `NAME` or `tag:NAME`, and `!` before it where it leaves variants out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    Name(&'a str),
    Tag(&'a str),
}

impl<'a> Entry<'a> {
    /// The entry, and whether it leaves variants out.
    pub(crate) fn read(text: &'a str) -> (Self, bool) {
        let rest = text.strip_prefix('!');
        let (text, leaves_out) = (rest.unwrap_or(text), rest.is_some());
        (text.strip_prefix(TAG).map_or(Self::Name(text), Self::Tag), leaves_out)
    }

    /// Whether it means a variant of this name with these tags.
    pub(crate) fn means(self, name: &str, tags: &[String]) -> bool {
        match self {
            Self::Name(other) => other == name,
            Self::Tag(tag) => tags.iter().any(|other| other == tag),
        }
    }
}

/// The names of those that a group of cells is for: all that an entry means, or everybody where no
/// entry does, without those that are left out.
fn chosen(entries: &[String], entrants: &[Entrant]) -> Vec<String> {
    let (out, only): (Vec<_>, Vec<_>) =
        entries.iter().map(|entry| Entry::read(entry)).partition(|(_, leaves_out)| *leaves_out);
    let is_for = |entrant: &&Entrant| {
        let meant =
            |(entry, _): &(Entry<'_>, bool)| entry.means(&entrant.name, &entrant.manifest.tags);
        (only.is_empty() || only.iter().any(meant)) && !out.iter().any(meant)
    };
    entrants.iter().filter(is_for).map(|entrant| entrant.name.clone()).collect()
}

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
    entrants: &[Entrant],
    complete: impl Fn(&Cell) -> Cell,
) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for group in groups {
        let mut factors = group.clone();
        let only = factors.remove(VARIANT).map(|entries| chosen(&entries, entrants));
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
    use crate::Manifest;

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

    fn entrant(name: &str, tags: &[&str]) -> Entrant {
        let tags: Vec<String> = tags.iter().map(|&tag| tag.to_owned()).collect();
        let text = format!(
            "name = \"{name}\"\nfamily = \"f\"\ntags = {tags:?}\nsentence = \"\"\n\
             measures = \"m\"\nversion = \"1\"\nfeatures = []\n"
        );
        let manifest = Manifest::parse("variant.toml", &text, "f", name).unwrap();
        Entrant { name: name.to_owned(), twin_of: None, manifest }
    }

    #[test]
    fn a_group_takes_variants_by_name_and_by_tag_and_leaves_others_out() {
        let entrants =
            [entrant("x", &["t"]), entrant("y", &["t", "slow"]), entrant("z", &["other"])];
        for (entries, expected) in [
            (&["x"][..], &["x"][..]),
            (&["tag:t"], &["x", "y"]),
            (&["tag:t", "z", "!y"], &["x", "z"]),
            (&["tag:t", "!tag:slow"], &["x"]),
            (&["!tag:slow"], &["x", "z"]),
            (&["tag:unknown"], &[]),
        ] {
            let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
            assert_eq!(chosen(&entries, &entrants), expected, "{entries:?}");
        }
    }

    #[test]
    fn a_cell_of_two_groups_is_for_the_variants_of_both() {
        let entrants = ["x", "y", "z"].map(|name| entrant(name, &[]));
        let groups = [
            factors(&[("a", &["1", "2"]), ("variant", &["x"])]),
            factors(&[("a", &["2"]), ("variant", &["y"])]),
            factors(&[("a", &["3"])]),
        ];
        let places = places(&groups, &entrants, Cell::clone);
        let who = |place: &Place| {
            ["x", "y", "z"].into_iter().filter(|name| place.is_for(name)).collect::<Vec<_>>()
        };
        assert_eq!(
            places.iter().map(who).collect::<Vec<_>>(),
            [vec!["x"], vec!["x", "y"], vec!["x", "y", "z"]]
        );
    }
}
