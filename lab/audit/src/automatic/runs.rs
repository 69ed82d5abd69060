//! Summaries against the runs that stand in the same row.

use super::book::Book;
use super::found::Found;
use super::grid::Grid;
use super::group::Group;
use super::role::Role;
use super::statistic;
use crate::{Check, Printed, Severity};

/// Fewer runs than this give no summary worth checking.
const FEWEST: usize = 2;

/// Checks summaries against run columns.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let named = grid.columns().iter().any(|meaning| matches!(meaning.role, Role::Run(_)));
    if !named && !grid.transposed {
        return;
    }
    for record in &grid.records {
        for group in Group::all(record) {
            let n = group.runs.len();
            if n < FEWEST || group.n.is_some_and(|stated| stated != n) {
                continue;
            }
            let printed: Vec<Printed> = group.runs.iter().map(|run| run.number.clone()).collect();
            let rows = crate::checks::spans(&printed);
            for stat in group.stats.iter().filter(|stat| stat.sure) {
                let Some(check) = check_of(stat.role) else { continue };
                let Some(wrong) = statistic::wrong(stat.role, &stat.number, &rows) else {
                    continue;
                };
                let found = wrong.map(|wrong| {
                    let place = grid.place(record, stat);
                    Found::mismatch(check, Severity::Impossible, place, &stat.number, &wrong)
                });
                book.cell(stat.line, stat.index, found);
            }
        }
    }
}

/// The check for a role; `None` for roles that runs do not give.
fn check_of(role: Role) -> Option<Check> {
    Some(match role {
        Role::Mean | Role::Geometric | Role::Harmonic | Role::Weighted => Check::MeanOfRuns,
        Role::Sd => Check::SdOfRuns,
        Role::StandardError => Check::StandardErrorOfRuns,
        Role::Cv => Check::CvOfRuns,
        Role::Min => Check::MinOfRuns,
        Role::Max => Check::MaxOfRuns,
        Role::Sum => Check::SumOfRuns,
        Role::Percentile(p) if (p - 0.5).abs() < 1e-9 => Check::MedianOfRuns,
        Role::Percentile(_) => Check::PercentileOfRuns,
        _ => return None,
    })
}
