//! Section 6: how soon a policy takes the better arm after a change of the work.

use std::collections::BTreeMap;

use lab_stats::describe::median;

use super::steps::{SETTLED, Steps, Switch, WINDOW};
use super::trajectory;
use super::trials::{OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table};

pub(super) const SHIFT: &str = "shift";

/// The switches of one policy, by block.
pub(super) fn switches(trials: &Trials, policy: &str) -> BTreeMap<u32, Vec<Switch>> {
    let mut found: BTreeMap<u32, Vec<Switch>> = BTreeMap::new();
    for one in trials.rows(policy, "replay", &[("costs", SHIFT)]) {
        let Some(steps) = Steps::of(&one.row.samples) else { continue };
        found.entry(one.row.run.block).or_default().extend(steps.switches());
    }
    found
}

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("6. After a change of the work");
    page.paragraph(&format!(
        "Published: one change, 10 observations, which is seven inline calls until a moving \
         average crosses 250 µs and three in a row. Here costs change again and again, and the \
         switch time is a distribution: steps from a change until the first after which {SETTLED} \
         of the next {WINDOW} decisions take the better arm; a policy that never does so before \
         the next change is counted as never. Over the changes of all blocks; the interval is of \
         the blocks' medians, in which a change that was never followed counts with the steps \
         until the next.",
    ));
    let (table, ecdf) = (summary(trials), distribution(trials));
    if table.is_empty() {
        page.paragraph(
            "No replay of `shift` in this sweep has a lasting change of the better arm.",
        );
        return;
    }
    page.table("switches", &table);
    page.data("switch-times", &ecdf);
    page.figure_by(
        ("switch-times", "offload-switch.gp"),
        "Share of changes that a policy has followed, over the steps since the change",
        &super::note(trials),
    );
    page.data("trajectory", &trajectory::table(trials));
    page.figure_by(
        ("trajectory", "offload-trajectory.gp"),
        "Share of decisions that offload, over the steps around a change",
        &super::note(trials),
    );
    trajectory::bins(trials, page);
    page.paragraph(&reading(trials));
}

/// (key, title, whether offloading becomes the better arm).
pub(super) const DIRECTIONS: [(&str, bool); 2] = [("to offload", true), ("to inline", false)];

fn summary(trials: &Trials) -> Table {
    let mut table = Table::new(&[
        ("change", "change"),
        ("policy", "policy"),
        ("published", "published"),
        ("changes", "changes"),
        ("never", "never"),
        ("median steps", "median"),
        ("low", "low"),
        ("high", "high"),
        ("P90", "p90"),
        ("max", "max"),
    ]);
    for (title, to_offload) in DIRECTIONS {
        for policy in trials.policies() {
            let by_block = switches(trials, policy);
            let all = times(by_block.values().flatten(), to_offload);
            if all.is_empty() {
                continue;
            }
            let mut known: Vec<f64> = all.iter().flatten().copied().collect();
            known.sort_unstable_by(f64::total_cmp);
            let quantile = |p: f64| {
                let rank = (p * all.len() as f64).ceil() as usize;
                Cell::value(known.get(rank.max(1) - 1).copied(), Unit::Count)
            };
            let middle = middles(&by_block, to_offload);
            let middle = Reading::level(&middle, Unit::Count);
            let [_, low, high] = Reading::cells(middle.as_ref());
            let said = match (policy, to_offload) {
                (PUBLISHED, true) => "10, one change",
                _ => "",
            };
            table.row(vec![
                Cell::text(title),
                Cell::code(policy),
                Cell::text(said),
                Cell::count(all.len()),
                Cell::count(all.len() - known.len()),
                quantile(0.5),
                low,
                high,
                quantile(0.9),
                Cell::value(
                    known.last().copied().filter(|_| known.len() == all.len()),
                    Unit::Count,
                ),
            ]);
        }
    }
    table
}

/// Switch times in one direction; `None` is never.
fn times<'s>(switches: impl Iterator<Item = &'s Switch>, to_offload: bool) -> Vec<Option<f64>> {
    let same = switches.filter(|switch| switch.to_offload == to_offload);
    same.map(|switch| switch.steps.map(|steps| steps as f64)).collect()
}

/// The median switch time of each block; a change that was never followed counts with the steps
/// until the next one, which is less than it would have needed.
pub(super) fn middles(by_block: &BTreeMap<u32, Vec<Switch>>, to_offload: bool) -> Series {
    let middle = |(block, switches): (&u32, &Vec<Switch>)| {
        let same = switches.iter().filter(|switch| switch.to_offload == to_offload);
        let least = |switch: &Switch| switch.steps.unwrap_or(switch.end - switch.at) as f64;
        Some((*block, median(&same.map(least).collect::<Vec<_>>())?))
    };
    by_block.iter().filter_map(middle).collect()
}

/// The share of changes that were followed at all, by block.
pub(super) fn followed(by_block: &BTreeMap<u32, Vec<Switch>>) -> Series {
    let share = |(block, switches): (&u32, &Vec<Switch>)| {
        let followed = switches.iter().filter(|switch| switch.steps.is_some()).count();
        (!switches.is_empty()).then(|| (*block, followed as f64 / switches.len() as f64))
    };
    by_block.iter().filter_map(share).collect()
}

/// The share of changes that were followed within so many steps.
fn distribution(trials: &Trials) -> Table {
    let mut table =
        Table::new(&["change", "policy", "steps", "share", "changes"].map(|key| (key, key)));
    for (title, to_offload) in DIRECTIONS {
        for policy in trials.policies() {
            let all = times(switches(trials, policy).values().flatten(), to_offload);
            if all.is_empty() {
                continue;
            }
            let mut counts: BTreeMap<u64, usize> = BTreeMap::from([(0, 0)]);
            for steps in all.iter().flatten() {
                *counts.entry(*steps as u64).or_default() += 1;
            }
            let end = trajectory::AFTER as u64;
            counts.entry(end).or_default();
            let mut followed = 0;
            for (steps, count) in counts {
                followed += count;
                table.row(vec![
                    Cell::text(title),
                    Cell::text(policy),
                    Cell::Value(steps as f64, Unit::Count),
                    Cell::Value(followed as f64 / all.len() as f64, Unit::Share),
                    Cell::count(all.len()),
                ]);
            }
        }
    }
    table
}

fn reading(trials: &Trials) -> String {
    let one = |policy: &str, (title, to_offload): (&str, bool)| {
        let by_block = switches(trials, policy);
        let all = times(by_block.values().flatten(), to_offload);
        let known: Vec<f64> = all.iter().flatten().copied().collect();
        let middle = match median(&known) {
            Some(middle) => format!("a median of {middle} steps where it did"),
            None => "no change followed".to_owned(),
        };
        (!all.is_empty()).then(|| {
            let never = all.len() - known.len();
            format!("`{policy}` {title}: {middle}, never in {never} of {}", all.len())
        })
    };
    let said = [OURS, PUBLISHED]
        .into_iter()
        .flat_map(|policy| DIRECTIONS.map(|direction| one(policy, direction)));
    let said: Vec<String> = said.flatten().collect();
    match said.is_empty() {
        true => format!("**Reading.** Neither `{OURS}` nor `{PUBLISHED}` replayed `shift`."),
        false => format!("**Reading.** {}.", said.join("; ")),
    }
}
