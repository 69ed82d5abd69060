//! Means of counts, which only some fractions can be.

use super::found::Found;
use super::grid::Grid;
use super::group::Group;
use super::role::Role;
use crate::Severity;
use crate::checks::grim;

/// Words for what comes in whole numbers, one a run.
const COUNTED: [&str; 14] = [
    "retries",
    "errors",
    "failures",
    "timeouts",
    "restarts",
    "crashes",
    "retransmits",
    "faults",
    "requests",
    "collisions",
    "misses",
    "hits",
    "allocations",
    "switches",
];

/// Checks means of counts beside the number of runs.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for record in &grid.records {
        for group in Group::all(record) {
            let (Some(n), Some(mean)) = (group.n, group.get(Role::Mean)) else { continue };
            let counted = mean.metric.split(' ').any(|word| COUNTED.contains(&word));
            if !counted || mean.number.unit.is_some() {
                continue;
            }
            let place = grid.place(record, mean);
            let wrong = grim::mean(&mean.number, n, 1.0);
            found.extend(wrong.map(|mismatch| {
                let severity = Severity::Doubtful;
                Found::mismatch("mean_of_whole_numbers", severity, place, &mean.number, &mismatch)
            }));
            if let Some(sd) = group.get(Role::Sd).filter(|sd| sd.sure) {
                let place = grid.place(record, sd);
                let wrong = grim::sd(&sd.number, &mean.number, n, 1.0);
                found.extend(wrong.map(|mismatch| {
                    let severity = Severity::Doubtful;
                    Found::mismatch("sd_of_whole_numbers", severity, place, &sd.number, &mismatch)
                }));
            }
        }
    }
    found
}
