//! What an experiment expects of its results: bars, published statements, checks. They are data,
//! declared in the experiment's file and stored in `run.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Scale;

/// One expectation. Exactly one of `value`, `contrast`, `all_of` and `not_testable` says what it
/// rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
