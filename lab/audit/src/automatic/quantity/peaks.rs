//! A largest value that another value of the same thing exceeds.

use super::known::Known;
use super::{Form, Quantity, Scope};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::role::Role;
use crate::automatic::sentence::shown;
use crate::checks::Span;
use crate::{Check, Severity};

/// Checks every maximum and minimum of a table or list that is about all that was measured.
pub(super) fn check(all: &[Quantity], known: &Known, book: &mut Book) {
    let extremes = all.iter().filter(|one| matches!(one.role, Role::Max | Role::Min));
    for one in extremes.filter(|one| one.scope != Scope::Part && !one.metric.is_empty()) {
        let others: Vec<&Quantity> =
            all.iter().filter(|two| is_value(one, two) && known.same(one, two)).collect();
        if others.is_empty() {
            continue;
        }
        let exceeded = others.into_iter().find(|two| beyond(one, two));
        let found = exceeded.map(|two| found(one, two));
        match one.form {
            Form::Cell => book.cell(one.line(), one.column, found),
            Form::Item => book.stated(one.line(), one.number.value, found),
        }
    }
}

/// Whether a number is a value of what the extreme is of.
fn is_value(one: &Quantity, two: &Quantity) -> bool {
    let value =
        matches!(two.role, Role::Value | Role::Mean | Role::Percentile(_) | Role::Max | Role::Min);
    value
        && !(one.role == Role::Max && two.role == Role::Min)
        && !(one.role == Role::Min && two.role == Role::Max)
        && one.place.section != two.place.section
        && one.same_metric(two)
}

fn beyond(one: &Quantity, two: &Quantity) -> bool {
    let (extreme, value) = (Span::of(&one.number), Span::of(&two.number));
    if one.role == Role::Max { extreme.below(value) } else { value.below(extreme) }
}

fn found(one: &Quantity, two: &Quantity) -> Found {
    let column = one.place.column.clone().or(one.place.row.clone()).unwrap_or_default();
    let sentence = format!(
        "`{column}` is {}; line {} has {} (`{}`) for the same",
        shown(&one.number),
        two.line(),
        shown(&two.number),
        two.place.column.clone().or(two.place.row.clone()).unwrap_or_default()
    );
    let how = "an extreme against every value that the document names for the same thing";
    Found::remark(Check::ExtremeExceeded, Severity::Inconsistent, one.place.clone(), sentence, how)
        .against(two.place.clone())
        .values(one.number.value, two.number.value)
}
