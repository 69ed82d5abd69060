//! What a policy decides around a change of the work.

use super::shift::{DIRECTIONS, SHIFT};
use super::steps::Steps;
use super::trials::Trials;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// Steps around a change that are shown.
const BEFORE: usize = 50;
pub(super) const AFTER: usize = 200;

/// The share of offload at each step around a change, over changes and blocks.
pub(super) fn table(trials: &Trials) -> Table {
    let mut table =
        Table::new(&["change", "policy", "step", "offload_share", "changes"].map(|key| (key, key)));
    for (title, to_offload) in DIRECTIONS {
        for policy in trials.policies() {
            let mut sums = vec![(0_usize, 0_usize); BEFORE + AFTER];
            for one in trials.rows(policy, "replay", &[("costs", SHIFT)]) {
                let Some(steps) = Steps::of(&one.row.samples) else { continue };
                let switches = steps.switches();
                for switch in switches.iter().filter(|one| one.to_offload == to_offload) {
                    for (place, (offloaded, count)) in sums.iter_mut().enumerate() {
                        let Some(step) = (switch.at + place).checked_sub(BEFORE) else { continue };
                        if step < switch.end {
                            *offloaded += usize::from(steps.offloaded[step]);
                            *count += 1;
                        }
                    }
                }
            }
            for (place, (offloaded, count)) in sums.into_iter().enumerate() {
                if count > 0 {
                    table.row(vec![
                        Cell::text(title),
                        Cell::text(policy),
                        Cell::Value(place as f64 - BEFORE as f64, Unit::Count),
                        Cell::Value(offloaded as f64 / count as f64, Unit::Share),
                        Cell::count(count),
                    ]);
                }
            }
        }
    }
    table
}

/// Of loom-rs in its published trajectory: inline in steps 1-50, 51-100, … of the slow half.
const SAID_BINS: [&str; 4] = ["14 %", "0 %", "0 %", "0 %"];

/// The published trajectory's table: shares of inline in fifties of steps after inline grew dear.
pub(super) fn bins(trials: &Trials, page: &mut Page) {
    let mut columns = vec![("steps after", "steps"), ("published", "published")];
    let policies = trials.with("replay", &[("costs", SHIFT)], "better_share");
    columns.extend(policies.iter().map(|policy| (*policy, *policy)));
    let mut table = Table::new(&columns);
    for (bin, said) in SAID_BINS.iter().enumerate() {
        let (from, to) = (bin * 50, (bin + 1) * 50);
        let mut row = vec![Cell::text(format!("{}-{to}", from + 1)), Cell::text(*said)];
        row.extend(policies.iter().map(|policy| inline_share(trials, policy, from, to)));
        table.row(row);
    }
    page.paragraph("Share of inline after inline has become the dear arm:");
    page.table("trajectory-bins", &table);
}

fn inline_share(trials: &Trials, policy: &str, from: usize, to: usize) -> Cell {
    let mut shares = Vec::new();
    for one in trials.rows(policy, "replay", &[("costs", SHIFT)]) {
        let Some(steps) = Steps::of(&one.row.samples) else { continue };
        for switch in steps.switches().iter().filter(|one| one.to_offload) {
            let end = (switch.at + to).min(switch.end);
            let Some(bin) = steps.offloaded.get(switch.at + from..end) else { continue };
            if !bin.is_empty() {
                let inline = bin.iter().filter(|offloaded| !**offloaded).count();
                shares.push(inline as f64 / bin.len() as f64);
            }
        }
    }
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    Cell::value((!shares.is_empty()).then_some(mean), Unit::Share)
}
