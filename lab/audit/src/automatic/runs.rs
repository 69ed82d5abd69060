//! Summaries against the runs that stand in the same row.

use super::book::Book;
use super::found::Found;
use super::grid::{Grid, Record};
use super::group::Group;
use super::role::Role;
use super::statistic;
use crate::{Check, Printed, Severity};

/// Fewer runs than this give no summary worth checking.
const FEWEST: usize = 2;

/// Checks summaries against run columns, and runs that repeat to the last digit.
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
    book.found.extend(frozen(grid));
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

/// Runs of one record that are equal to the last digit while those of others vary.
fn frozen(grid: &Grid<'_>) -> Vec<Found> {
    let runs = |record: &Record<'_>| -> Vec<f64> {
        let runs = record.stats.iter().filter(|stat| matches!(stat.role, Role::Run(_)));
        runs.map(|stat| stat.number.value).collect()
    };
    let all: Vec<Vec<f64>> = grid.records.iter().map(runs).collect();
    let constant = |runs: &[f64]| runs.len() >= 5 && runs.iter().all(|run| *run == runs[0]);
    let varied = all.iter().filter(|runs| runs.len() >= 5 && !constant(runs)).count();
    let mut found = Vec::new();
    for (record, runs) in grid.records.iter().zip(&all) {
        let digits = record.stats.iter().find(|stat| matches!(stat.role, Role::Run(_)));
        let Some(first) = digits.filter(|_| constant(runs) && varied >= 3) else { continue };
        // Few digits repeat by chance: three significant ones do not, five times in a row.
        if runs[0].abs() < 100.0 * 2.0 * first.number.half_step() {
            continue;
        }
        let sentence = format!(
            "all {} runs of {} are {}, while those of {varied} other rows vary: the metric cannot \
             vary there, or the values were not measured",
            runs.len(),
            record.name(),
            runs[0]
        );
        let place = grid.place(record, first);
        let how = "runs that are equal to the last printed digit";
        found.push(Found::remark(Check::FrozenRuns, Severity::Doubtful, place, sentence, how));
    }
    found
}
