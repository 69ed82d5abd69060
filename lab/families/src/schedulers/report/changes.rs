//! What a policy does after the cheaper arm has changed.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table};

use super::{cells, is};
use crate::schedulers::steps::{Steps, Switch};

/// The costs that change again and again, or once; of a record that has both, the former.
const SHIFTS: [&str; 2] = ["shift", "shift_once"];
/// Steps around a change that are shown.
const BEFORE: usize = 50;
const AFTER: usize = 200;
/// (title, whether offloading becomes the cheaper arm).
const DIRECTIONS: [(&str, bool); 2] = [("to offload", true), ("to inline", false)];

/// One replay and its changes.
type Replayed = (Steps, Vec<Switch>);

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut cells = cells(study, "replay");
    let has = |costs: &&str| cells.iter().any(|cell| is(cell, "costs", costs));
    let shift = SHIFTS.into_iter().find(has).unwrap_or_default();
    cells.retain(|cell| is(cell, "costs", shift));
    let replayed = |policy| -> Vec<Replayed> {
        let runs = cells.iter().flat_map(|cell| study.runs(policy, cell));
        let steps = runs.filter_map(|one| Steps::of(&one.row.samples));
        steps.map(|steps| (steps.clone(), steps.switches())).collect()
    };
    let policies: Vec<(&str, Vec<Replayed>)> =
        study.variants().into_iter().map(|policy| (policy, replayed(policy))).collect();
    if policies.iter().all(|(_, all)| all.iter().all(|(_, switches)| switches.is_empty())) {
        return;
    }
    page.paragraph(
        "A change is followed once 18 of the next 20 decisions take the cheaper arm; one that \
         never is counts the steps until the next.",
    );
    page.data("switch-times", &times(&policies));
    page.figure_by(
        ("switch-times", "offload-switch.gp"),
        "Share of changes that a policy has followed, over the steps since the change",
        &study.how_run(),
    );
    page.data("trajectory", &trajectory(&policies));
    page.figure_by(
        ("trajectory", "offload-trajectory.gp"),
        "Share of decisions that offload, over the steps around a change",
        &study.how_run(),
    );
}

/// The share of changes that were followed within so many steps.
fn times(policies: &[(&str, Vec<Replayed>)]) -> Table {
    let mut table =
        Table::new(&["change", "policy", "steps", "share", "changes"].map(|key| (key, key)));
    for (title, to_offload) in DIRECTIONS {
        for (policy, replayed) in policies {
            let switches = replayed.iter().flat_map(|(_, switches)| switches);
            let all: Vec<Option<usize>> = switches
                .filter(|switch| switch.to_offload == to_offload)
                .map(|switch| switch.steps)
                .collect();
            if all.is_empty() {
                continue;
            }
            let mut counts: BTreeMap<usize, usize> = BTreeMap::from([(0, 0), (AFTER, 0)]);
            for steps in all.iter().flatten() {
                *counts.entry(*steps).or_default() += 1;
            }
            let mut followed = 0;
            for (steps, count) in counts {
                followed += count;
                table.row(vec![
                    Entry::text(title),
                    Entry::text(*policy),
                    Entry::count(steps),
                    Entry::Value(followed as f64 / all.len() as f64, Unit::Share),
                    Entry::count(all.len()),
                ]);
            }
        }
    }
    table
}

/// The share of offload at each step around a change, over changes and blocks.
fn trajectory(policies: &[(&str, Vec<Replayed>)]) -> Table {
    let mut table =
        Table::new(&["change", "policy", "step", "offload_share", "changes"].map(|key| (key, key)));
    for (title, to_offload) in DIRECTIONS {
        for (policy, replayed) in policies {
            for (place, (offloaded, count)) in around(replayed, to_offload).into_iter().enumerate()
            {
                if count > 0 {
                    table.row(vec![
                        Entry::text(title),
                        Entry::text(*policy),
                        Entry::Value(place as f64 - BEFORE as f64, Unit::Count),
                        Entry::Value(offloaded as f64 / count as f64, Unit::Share),
                        Entry::count(count),
                    ]);
                }
            }
        }
    }
    table
}

/// Decisions that offload, and all, at each step from [`BEFORE`] a change to [`AFTER`] it.
fn around(replayed: &[Replayed], to_offload: bool) -> Vec<(usize, usize)> {
    let mut sums = vec![(0, 0); BEFORE + AFTER];
    for (steps, switches) in replayed {
        for switch in switches.iter().filter(|switch| switch.to_offload == to_offload) {
            for (place, (offloaded, count)) in sums.iter_mut().enumerate() {
                let Some(step) = (switch.at + place).checked_sub(BEFORE) else { continue };
                if step < switch.end {
                    *offloaded += usize::from(steps.offloaded[step]);
                    *count += 1;
                }
            }
        }
    }
    sums
}
