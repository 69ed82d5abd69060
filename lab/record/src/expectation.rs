//! What an experiment expects of its results: bars, published statements, checks. They are data,
//! declared in the experiment's file and stored in `run.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scale;

/// One expectation. Exactly one of `value`, `contrast`, `all_of` and `not_testable` says what it
/// rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Names it in tables and claims.
    pub id: String,
    /// What kind of sentence it is.
    pub kind: ExpectationKind,
    /// The sentence.
    pub says: String,
    /// What the published report gives as its number or its reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// What a reader should know of how it is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Levels of every side, beside the defaults of the family's section.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<String, OneOrMore>,
    /// The number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Quantity>,
    /// What the number is divided by, within a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Quantity>,
    /// What is subtracted from the number, within a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus: Option<Quantity>,
    /// The largest value that is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// The smallest value that is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The id of a declared contrast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contrast: Option<String>,
    /// What the contrast is expected to be: `faster`, `slower`, `equivalent`, or several of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<OneOrMore>,
    /// Ids of expectations that must all hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub all_of: Vec<String>,
    /// Why no machine of ours can test it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_testable: Option<String>,
    /// Asked by itself, in rounds, where the experiment has [`crate::Rounds`]: ratios alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rounds: bool,
    /// With fewer CPUs it cannot be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_cpus: Option<u32>,
    /// It was added to the record after the runs, and could have been chosen by their results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared_after_run: bool,
}

/// What kind of sentence an expectation is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ExpectationKind {
    /// A goal that was set for this repository's programs.
    Bar,
    /// A statement of the published report that the experiment reproduces.
    Published,
    /// A property that a usable variant must have.
    Check,
}

/// A metric of one variant in one cell, by block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// The variant; of several the one that is best in all other blocks, so that none is judged by
    /// the runs that chose it. Left out, the same as that of `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<OneOrMore>,
    /// The metric. Left out, the same as that of `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Levels, beside those of the expectation and the defaults of the family's section. Of a
    /// factor with several levels each is a pair of its own; the level `*` takes all there are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cells: BTreeMap<String, OneOrMore>,
    /// Factors of which the best level in `cells` is chosen, as the best variant is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub best_of: Vec<String>,
    /// A quantity that this one is divided by first, for a ratio of ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<Box<Quantity>>,
    /// A quantity that is subtracted from this one first, for a difference of differences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minus: Option<Box<Quantity>>,
    /// A factor on the quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<f64>,
    /// A power of the quantity: 0.5 is half of a penalty in logarithms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
}

/// One name or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One.
    One(String),
    /// Several.
    More(Vec<String>),
}

impl OneOrMore {
    /// The names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::More(names) => names,
        }
    }
}

/// The level that takes all levels of a factor.
const ANY: &str = "*";

impl Quantity {
    /// Each of these variants at each level of the factors of which the best level is chosen.
    pub fn candidates<'v>(&self, variants: &'v [String]) -> Vec<(&'v String, Self)> {
        let mut places = vec![self.clone()];
        for factor in &self.best_of {
            let levels = self.cells.get(factor).map_or(&[][..], OneOrMore::names);
            let at = |place: &Self, level: &String| {
                let mut place = place.clone();
                place.cells.insert(factor.clone(), OneOrMore::One(level.clone()));
                place
            };
            places = places.iter().flat_map(|p| levels.iter().map(move |l| at(p, l))).collect();
        }
        let at_each = |variant| places.iter().map(move |place| (variant, place.clone()));
        variants.iter().flat_map(at_each).collect()
    }
}

impl Expectation {
    /// The variants that a quantity of it may be about, and its metric; none where neither it nor
    /// `value` names them.
    pub fn about<'e>(&'e self, quantity: &'e Quantity) -> Option<(&'e [String], &'e String)> {
        let first = self.value.as_ref();
        let variants = quantity.variant.as_ref().or(first.and_then(|value| value.variant.as_ref()));
        let metric = quantity.metric.as_ref().or(first.and_then(|value| value.metric.as_ref()));
        Some((variants?.names(), metric?))
    }

    /// The levels of a cell's factors that stay free in a quantity; `None` where the cell does not
    /// take part. `defaults` are the levels of factors that nobody names.
    pub fn free_levels(
        &self,
        quantity: &Quantity,
        cell: &BTreeMap<String, String>,
        defaults: &BTreeMap<String, String>,
    ) -> Option<Vec<String>> {
        let mut free = Vec::new();
        for (factor, level) in cell {
            let named = quantity.cells.get(factor).or_else(|| self.cells.get(factor));
            match named.map(OneOrMore::names) {
                Some([only]) if only != ANY => (only == level).then_some(())?,
                Some(several) => {
                    let any = several.iter().any(|name| name == ANY || name == level);
                    any.then(|| free.push(level.clone()))?;
                }
                None => match defaults.get(factor) {
                    Some(default) => (default == level).then_some(())?,
                    None => free.push(level.clone()),
                },
            }
        }
        // A factor that is asked for and that the cell does not have.
        let asked = self.cells.keys().chain(quantity.cells.keys());
        let lacks = asked.into_iter().any(|factor| !cell.contains_key(factor));
        (!lacks).then_some(free)
    }

    /// How the number is compared: a ratio where it is divided, else as it is.
    pub fn scale(&self) -> Scale {
        if self.over.is_some() { Scale::Ratio } else { Scale::Difference }
    }

    /// The quantities that it rests on.
    pub fn quantities<'e>(&'e self) -> Vec<&'e Quantity> {
        let sides = [&self.value, &self.over, &self.minus].into_iter().flatten();
        let with_own = |side: &'e Quantity| {
            let own = [&side.over, &side.minus].into_iter().flatten();
            std::iter::once(side).chain(own.map(Box::as_ref))
        };
        sides.flat_map(with_own).collect()
    }

    /// The metrics that it rests on.
    pub fn metrics(&self) -> Vec<&str> {
        let default = self.value.as_ref().and_then(|value| value.metric.as_deref());
        let mut metrics: Vec<&str> = Vec::new();
        for quantity in self.quantities() {
            let named = quantity.metric.as_deref().or(default);
            metrics.extend(named.filter(|name| !metrics.contains(name)));
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn expectation(further: &Value) -> Expectation {
        let mut whole = json!({ "id": "i", "kind": "bar", "says": "s" });
        let Value::Object(further) = further else { panic!("{further} is no object") };
        whole.as_object_mut().unwrap().extend(further.clone());
        serde_json::from_value(whole).unwrap()
    }

    fn quantity(value: Value) -> Quantity {
        serde_json::from_value(value).unwrap()
    }

    fn levels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect()
    }

    #[test]
    fn candidates_are_each_variant_at_each_of_the_levels_to_choose_from() {
        let variants = ["a", "b"].map(str::to_owned);
        let best = quantity(json!({
            "metric": "m", "best_of": ["x", "y"],
            "cells": { "x": ["1", "2"], "y": "3", "z": ["4", "5"] },
        }));
        let found: Vec<_> = best
            .candidates(&variants)
            .into_iter()
            .map(|(variant, at)| {
                let one = |factor: &str| at.cells[factor].names().join("/");
                (variant.as_str(), one("x"), one("y"), one("z"))
            })
            .collect();
        let place = |variant, x: &str| (variant, x.to_owned(), "3".to_owned(), "4/5".to_owned());
        assert_eq!(found, [place("a", "1"), place("a", "2"), place("b", "1"), place("b", "2")]);
        // A factor without levels leaves no candidate, and no factor the quantity itself.
        let nothing = quantity(json!({ "metric": "m", "best_of": ["x"] }));
        assert_eq!(nothing.candidates(&variants), []);
        let plain = quantity(json!({ "metric": "m" }));
        assert_eq!(plain.candidates(&variants[..1]), [(&variants[0], plain.clone())]);
    }

    #[test]
    fn a_side_takes_variant_and_metric_of_the_value_where_it_names_none() {
        let whole = expectation(&json!({
            "value": { "variant": ["a", "b"], "metric": "m" }, "over": { "variant": "c" },
            "minus": { "metric": "n" },
        }));
        let about = |side: &Option<Quantity>| {
            let (variants, metric) = whole.about(side.as_ref().unwrap()).unwrap();
            (variants.join("/"), metric.clone())
        };
        assert_eq!(about(&whole.value), ("a/b".to_owned(), "m".to_owned()));
        assert_eq!(about(&whole.over), ("c".to_owned(), "m".to_owned()));
        assert_eq!(about(&whole.minus), ("a/b".to_owned(), "n".to_owned()));
        let nobody = expectation(&json!({ "over": { "variant": "c" } }));
        assert_eq!(nobody.about(nobody.over.as_ref().unwrap()), None);
    }

    #[test]
    fn a_cell_takes_part_where_its_levels_are_the_named_ones_or_the_defaults() {
        let whole = expectation(&json!({ "cells": { "x": "1", "w": "*" }, "value": {} }));
        let defaults = levels(&[("d", "normal"), ("x", "9")]);
        let free = |side: Value, cell: &[(&str, &str)]| {
            whole.free_levels(&quantity(side), &levels(cell), &defaults)
        };
        let cell = [("d", "normal"), ("f", "7"), ("w", "5"), ("x", "1")];
        let all = |levels: &[&str]| Some(levels.iter().map(|l| (*l).to_owned()).collect());
        assert_eq!(free(json!({}), &cell), all(&["7", "5"]));
        // The side's own level is before the expectation's; several levels are free.
        assert_eq!(free(json!({ "cells": { "x": "2" } }), &cell), None);
        assert_eq!(free(json!({ "cells": { "x": ["2", "1"] } }), &cell), all(&["7", "5", "1"]));
        assert_eq!(free(json!({ "cells": { "x": ["2", "3"] } }), &cell), None);
        assert_eq!(free(json!({ "cells": { "f": "7" } }), &cell), all(&["5"]));
        let other_default = [("d", "other"), ("f", "7"), ("w", "5"), ("x", "1")];
        assert_eq!(free(json!({}), &other_default), None);
        // A factor that is asked for and that the cell does not have.
        assert_eq!(free(json!({ "cells": { "v": "*" } }), &cell), None);
        assert_eq!(free(json!({}), &cell[..2]), None);
    }

    #[test]
    fn it_rests_on_all_sides_and_what_these_are_divided_by() {
        let ratio = expectation(&json!({
            "value": { "metric": "m", "over": { "metric": "n" } },
            "over": { "variant": "b", "minus": { "metric": "o" } }, "minus": { "metric": "m" },
        }));
        assert_eq!(ratio.quantities().len(), 5);
        assert_eq!(ratio.metrics(), ["m", "n", "o"]);
        assert_eq!(ratio.scale(), Scale::Ratio);
        let plain = expectation(&json!({ "value": { "metric": "m" }, "minus": {} }));
        assert_eq!((plain.scale(), plain.metrics()), (Scale::Difference, vec!["m"]));
    }
}
