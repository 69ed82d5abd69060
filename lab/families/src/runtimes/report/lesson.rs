//! How often five runs with free reply lengths tell one program from itself.

use std::collections::BTreeMap;

use lab_family::Unit::Share;
use lab_report::Column::{Count, Number, Text};
use lab_report::{Chapter, Kept, Page, Study, Table, study::is_unpaired};
use lab_stats::false_finds::{Rates, false_find_rate};

use super::groups::concurrent;
use crate::runtimes::cells::configuration;

/// Runs of a cell in TR115.
const RUNS: usize = 5;
/// The gap that the published ranking was built on: its best four means lie within 1.0 points.
const GAP: f64 = 0.01;
const DRAWS: usize = 10_000;

pub(crate) fn write(study: &Study, page: &mut Page) {
    if !is_unpaired(study.frame) {
        return;
    }
    let table = Table::over(
        drawn(study),
        &[
            Text("configuration", "config", &|(config, ..)| config),
            Count("pool", "pool", &|(_, pool, _)| *pool),
            Number("means differ > 1 pp", "means_differ", Share, &|(.., of)| Some(of.means_differ)),
            Number("best runs differ > 1 pp", "maxima_differ", Share, &|(.., of)| {
                Some(of.maxima_differ)
            }),
            Number("groups separated", "separated", Share, &|(.., of)| Some(of.separated)),
            Number("Welch p < 0.05", "welch_significant", Share, &|(.., of)| {
                Some(of.welch_significant)
            }),
        ],
    );
    let wrote = page.chapter(Chapter {
        heading: "The lesson",
        text: &format!(
            "Two groups of {RUNS} runs are drawn {DRAWS} times from the runs of one program (the \
             reference and its twin). How often do they look like two programs? Each share is a \
             false find."
        ),
        table,
        kept: Kept::Shown("lesson"),
        ..Chapter::default()
    });
    if !wrote {
        page.heading("The lesson");
        page.paragraph("It cannot be drawn here: the reference has no analysed concurrent run.");
    }
}

/// "The means of two groups of 5 runs of one program differ by over 1 pp in 0.02 to 52 % of draws,
/// by configuration; Welch's test tells them apart in 1.3 to 3.9 %."
///
/// `None` where reply lengths are not free, and of fewer runs than a group has.
pub(super) fn answer(study: &Study) -> Option<String> {
    if !is_unpaired(study.frame) {
        return None;
    }
    let mut drawn = drawn(study);
    drawn.retain(|(_, pool, _)| *pool >= RUNS);
    let shares: [fn(&Rates) -> f64; 2] = [|of| of.means_differ, |of| of.welch_significant];
    let [differ, told_apart] =
        shares.map(|share| range(&drawn.iter().map(|(.., of)| share(of)).collect::<Vec<_>>()));
    Some(format!(
        "The means of two groups of {RUNS} runs of one program differ by over {} pp in {} of \
         draws, by configuration; Welch's test tells them apart in {}.",
        100.0 * GAP,
        differ?,
        told_apart?
    ))
}

/// "1.3 to 52 %", from the least to the largest of these shares.
fn range(shares: &[f64]) -> Option<String> {
    let least = shares.iter().copied().reduce(f64::min)?;
    let [low, high] = [least, shares.iter().copied().fold(least, f64::max)].map(percent);
    Some(if low == high { format!("{low} %") } else { format!("{low} to {high} %") })
}

/// To two digits.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = if percent >= 10.0 {
        0
    } else if percent >= 1.0 {
        1
    } else {
        2
    };
    format!("{percent:.decimals$}")
}

/// By configuration the runs that are drawn from, and how often they look like two programs.
fn drawn(study: &Study) -> Vec<(String, usize, Rates)> {
    let rates = |(config, pool): (String, Vec<f64>)| {
        let rates = false_find_rate(&pool, RUNS, GAP, DRAWS, study.seed())?;
        Some((config, pool.len(), rates))
    };
    pools(study).into_iter().filter_map(rates).collect()
}

/// The score of the reference and its twin together, by configuration.
fn pools(study: &Study) -> BTreeMap<String, Vec<f64>> {
    let reference = study.reference();
    let twins = study.frame.twins();
    let mut pools: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let same = |variant: &str| variant == reference || twins.contains(&(variant, reference));
    for one in concurrent(study).filter(|one| same(one.variant())) {
        let score = one.value("efficiency_as_published");
        pools.entry(configuration(&one.row.run)).or_default().extend(score);
    }
    pools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_shares_has_two_digits_and_one_unit() {
        assert_eq!(range(&[0.2476, 0.0002, 0.516]).unwrap(), "0.02 to 52 %");
        assert_eq!(range(&[0.0391, 0.013]).unwrap(), "1.3 to 3.9 %");
        assert_eq!(range(&[0.516]).unwrap(), "52 %");
        assert_eq!(range(&[]), None);
    }
}
