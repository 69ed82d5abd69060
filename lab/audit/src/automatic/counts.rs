//! Means and standard deviations that no whole numbers and no shares have.

use super::book::Book;
use super::found::Found;
use super::grid::Grid;
use super::group::Group;
use super::role::Role;
use crate::Severity;
use crate::checks::grim;

/// Words for what comes in whole numbers, one a run.
const COUNTED: [&str; 28] = [
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
    "votes",
    "bugs",
    "tests",
    "tokens",
    "items",
    "messages",
    "packets",
    "attempts",
    "steps",
    "turns",
    "wins",
    "losses",
    "questions",
    "answers",
];

/// Checks means of counts beside the number of runs.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    for record in &grid.records {
        for group in Group::all(record) {
            let (Some(n), Some(mean)) = (group.n, group.get(Role::Mean)) else { continue };
            let counted = mean.metric.split(' ').any(|word| COUNTED.contains(&word));
            if !counted || mean.number.unit.is_some() {
                continue;
            }
            let wrong = grim::mean(&mean.number, n, 1.0).map(|mismatch| {
                let place = grid.place(record, mean);
                let check = "mean_of_whole_numbers";
                Found::mismatch(check, Severity::Inconsistent, place, &mean.number, &mismatch)
            });
            book.cell(mean.line, mean.index, wrong);
            let Some(sd) = group.get(Role::Sd).filter(|sd| sd.sure) else { continue };
            let wrong = grim::sd(&sd.number, &mean.number, n, 1.0).map(|mismatch| {
                let place = grid.place(record, sd);
                let check = "sd_of_whole_numbers";
                Found::mismatch(check, Severity::Inconsistent, place, &sd.number, &mismatch)
            });
            book.cell(sd.line, sd.index, wrong);
        }
    }
}
