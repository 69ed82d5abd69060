//! Every run as a dot in a picture that answers to the pointer.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

pub(crate) const PLOT: &str = include_str!("../vendor/uplot/uPlot.iife.min.js");
pub(crate) const SCRIPT: &str = include_str!("runs.js");
/// The style of a page with this picture.
pub(crate) const STYLE: &str = include_str!("../vendor/uplot/uPlot.min.css");
/// The place of the picture on its page.
pub(crate) const PLACE: &str = "part-runs";
/// What the numbers of a page may take; more runs are thinned.
const BYTES_MAX: usize = 700_000;

/// The runs of a record, and what of each is drawn.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    /// What can be drawn, the first at once.
    pub quantities: Vec<Quantity>,
    /// The factors that levels of runs belong to.
    pub factors: Vec<String>,
    /// The runs, in the order in which they ran.
    pub runs: Vec<OneRun>,
    /// The declared comparisons, in their order.
    pub asked: Vec<Asked>,
    /// What their variants are compared with.
    pub reference: String,
    /// By variant, as the pictures of reports have them: `#0072B2`.
    pub colours: BTreeMap<String, String>,
}

/// What a comparison looks at.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The name of its quantity, which need not be drawn.
    pub quantity: String,
    /// Levels that its runs have, by factor.
    pub chosen: BTreeMap<String, String>,
}

/// One number that runs have.
#[derive(Debug, Clone, Default)]
pub struct Quantity {
    /// Its name in tables.
    pub name: String,
    /// What people read instead of the name.
    pub noun: String,
    /// How it is computed, in one sentence.
    pub says: String,
    /// `ns`, `share`, `per_second`, `times`, `bytes` or `count`.
    pub unit: &'static str,
    /// Levels that are chosen when it is, by factor.
    pub chosen: BTreeMap<String, String>,
}

/// One run.
#[derive(Debug, Clone, Default)]
pub struct OneRun {
    /// Its number in the plan.
    pub order: u64,
    /// Its block; none where it ran in rounds.
    pub block: Option<u32>,
    /// Whether the noise gate found a cause outside the run.
    pub gated: bool,
    /// Whose run it is.
    pub variant: String,
    /// Its level of each of the factors.
    pub levels: Vec<String>,
    /// Its value of each of the quantities.
    pub values: Vec<Option<f64>>,
}

/// The picture with its numbers and scripts.
pub(crate) fn section(runs: &Runs) -> Markup {
    let (drawn, data) = data(runs);
    let all = runs.runs.len();
    html! {
        section id=(PLACE) {
            h2 { "Every run" }
            p {
                "Each dot is one analysed run; the record has " (all) "."
                @if drawn < all {
                    " " (drawn) " of them are drawn, evenly over each variant in each cell: the "
                    "page would be too large with all."
                }
                " Drag over a part to see it alone, click twice to see all again; arrow keys go "
                "from run to run."
            }
            div id="run-picture" {
                noscript {
                    p {
                        "The picture needs a browser that runs scripts; the tables below have the "
                        "numbers."
                    }
                }
            }
            script type="application/json" id="run-data" { (PreEscaped(data)) }
            script { (PreEscaped(PLOT)) }
            script { (PreEscaped(SCRIPT)) }
        }
    }
}

/// How many runs are drawn, and their numbers as a text that cannot end its element.
fn data(runs: &Runs) -> (usize, String) {
    let most = most(&runs.runs);
    let mut every = 1;
    loop {
        let drawn = thinned(&runs.runs, every);
        // A script ends at its end tag alone, and JSON knows another way to write its first letter.
        let text = columns(runs, &drawn).to_string().replace('<', "\\u003c");
        // Where every variant and cell has one run left, none can go.
        if text.len() <= BYTES_MAX || every >= most {
            return (drawn.len(), text);
        }
        every += 1;
    }
}

/// How many runs of one variant one cell has at most.
fn most(runs: &[OneRun]) -> usize {
    let mut counts: BTreeMap<(&str, &[String]), usize> = BTreeMap::new();
    for run in runs {
        *counts.entry((&run.variant, &run.levels)).or_default() += 1;
    }
    counts.into_values().max().unwrap_or_default()
}

/// The first run of each variant in each cell, and every so manieth after it.
fn thinned(runs: &[OneRun], every: usize) -> Vec<&OneRun> {
    let mut seen: BTreeMap<(&str, &[String]), usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for run in runs {
        let count = seen.entry((&run.variant, &run.levels)).or_default();
        if count.is_multiple_of(every) {
            kept.push(run);
        }
        *count += 1;
    }
    kept
}

/// The runs as columns of numbers; names stand in lists of their own.
fn columns(runs: &Runs, drawn: &[&OneRun]) -> Value {
    let (variants, variant) = places(drawn.iter().map(|run| &run.variant));
    let (cells, cell) = places(drawn.iter().map(|run| &run.levels));
    let quantity = |(place, one): (usize, &Quantity)| {
        let value = |run: &&OneRun| run.values.get(place).copied().flatten().map(short);
        let values: Vec<Option<Value>> = drawn.iter().map(value).collect();
        let Quantity { name, noun, says, unit, chosen } = one;
        json!({
            "name": name, "noun": noun, "says": says, "unit": unit, "chosen": chosen,
            "values": values,
        })
    };
    let asked = |one: &Asked| {
        let place = runs.quantities.iter().position(|quantity| quantity.name == one.quantity);
        json!({ "quantity": place, "chosen": one.chosen })
    };
    json!({
        "asked": runs.asked.iter().map(asked).collect::<Vec<_>>(),
        "reference": runs.reference,
        "quantities": runs.quantities.iter().enumerate().map(quantity).collect::<Vec<_>>(),
        "factors": runs.factors,
        "colours": variants.iter().map(|name| runs.colours.get(*name)).collect::<Vec<_>>(),
        "variants": variants,
        "cells": cells,
        "variant": variant,
        "cell": cell,
        "order": drawn.iter().map(|run| run.order).collect::<Vec<_>>(),
        "block": drawn.iter().map(|run| run.block).collect::<Vec<_>>(),
        "gated": drawn.iter().map(|run| u8::from(run.gated)).collect::<Vec<_>>(),
    })
}

/// The values that occur, sorted, and each one's place among these.
fn places<'r, T: Ord>(all: impl Iterator<Item = &'r T> + Clone) -> (Vec<&'r T>, Vec<usize>) {
    let names: BTreeSet<&T> = all.clone().collect();
    let names: Vec<&T> = names.into_iter().collect();
    // Each of them is there.
    let places = all.map(|one| names.partition_point(|name| *name < one)).collect();
    (names, places)
}

/// A value with as many digits as a picture can show.
fn short(value: f64) -> Value {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    match rounded.fract() == 0.0 && rounded.abs() < 9e15 {
        // Without the point and the zero that a fraction would have.
        true => json!(rounded as i64),
        false => json!(rounded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_six_digits() {
        let shown =
            [1.0, 123_456_789.0, 0.123_456_789, -2.5, 0.0].map(|one| short(one).to_string());
        assert_eq!(shown, ["1", "123457000", "0.123457", "-2.5", "0"]);
    }
}
