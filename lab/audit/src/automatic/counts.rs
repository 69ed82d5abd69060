//! Means and standard deviations that no whole numbers and no shares have.

use super::book::Book;
use super::found::Found;
use super::grid::{Grid, Record, Stat};
use super::group::Group;
use super::role::Role;
use crate::automatic::lexicon::{Words, class};
use crate::checks::grim;
use crate::{Check, Severity};

/// Words for what comes in whole numbers, one a run.
static COUNTED: Words = Words::new(|| class("counts.counted"));

/// Words for what each run does or does not.
static YES_OR_NO: Words = Words::new(|| class("counts.yes_or_no"));

/// Checks means of counts beside the number of runs.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    let counted = |record: &Record<'_>| record.stats.iter().any(|one| one.role == Role::Count);
    for record in grid.records.iter().filter(|record| counted(record)) {
        for group in Group::all(record) {
            let (Some(n), Some(mean)) = (group.n, group.get(Role::Mean)) else { continue };
            outcomes(grid, record, (&group, mean, n), book);
            let counted = mean.metric.split(' ').any(|word| COUNTED.contains(&word));
            if !counted || mean.number.unit.is_some() {
                continue;
            }
            let wrong = grim::mean(&mean.number, n, 1.0).map(|mismatch| {
                let place = grid.place(record, mean);
                let check = Check::MeanOfWholeNumbers;
                Found::mismatch(check, Severity::Inconsistent, place, &mean.number, &mismatch)
            });
            book.cell(mean.line, mean.index, wrong);
            let Some(sd) = group.get(Role::Sd).filter(|sd| sd.sure) else { continue };
            let wrong = grim::sd(&sd.number, &mean.number, n, 1.0).map(|mismatch| {
                let place = grid.place(record, sd);
                let check = Check::SdOfWholeNumbers;
                Found::mismatch(check, Severity::Inconsistent, place, &sd.number, &mismatch)
            });
            book.cell(sd.line, sd.index, wrong);
        }
    }
}

/// The deviation of outcomes of yes or no, which their share alone gives.
fn outcomes(
    grid: &Grid<'_>,
    record: &Record<'_>,
    (group, mean, n): (&Group<'_, '_>, &Stat<'_>, usize),
    book: &mut Book,
) {
    let named = mean.metric.split(' ').any(|word| YES_OR_NO.contains(&word));
    let share = mean.number.unit.is_none() && (0.0..=1.0).contains(&mean.number.value);
    let Some(sd) = group.get(Role::Sd).filter(|sd| sd.sure && named && share) else { return };
    let wrong = grim::debit(&sd.number, &mean.number, n, 1.0).map(|mismatch| {
        let place = grid.place(record, sd);
        let check = Check::SdOfOutcomes;
        Found::mismatch(check, Severity::Inconsistent, place, &sd.number, &mismatch)
    });
    book.cell(sd.line, sd.index, wrong);
}
