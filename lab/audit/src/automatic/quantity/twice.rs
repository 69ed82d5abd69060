//! One statistic of one thing in two places, with two values.

use super::known::Known;
use super::{Form, Quantity, Scope};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::role::Role;
use crate::automatic::sentence::shown;
use crate::checks::{Mismatch, bounds};
use crate::{Check, Severity};

/// Reports each number that no other statement of the same quantity agrees with.
pub(super) fn check(all: &[Quantity], known: &Known, book: &mut Book) {
    for (index, one) in all.iter().enumerate() {
        in_a_state(all, known, (index, one), book);
        of_all(all, one, book);
    }
}

/// Times when warm or cold, of which each thing has one.
fn in_a_state(all: &[Quantity], known: &Known, (index, one): (usize, &Quantity), book: &mut Book) {
    let plain = |role: Role| matches!(role, Role::Mean | Role::Value);
    let same = |two: &Quantity| {
        plain(two.role)
            && one.line() != two.line()
            && one.place.section != two.place.section
            && one.same_metric(two)
            && known.same(one, two)
    };
    if one.form != Form::Item || !one.has_state() || !plain(one.role) {
        return;
    }
    let others: Vec<(usize, &Quantity)> =
        all.iter().enumerate().filter(|(other, two)| *other != index && same(two)).collect();
    let Some((first, against)) = others.first() else { return };
    if others.iter().any(|(_, two)| differ(one, two).is_none()) {
        book.stated(one.line(), one.number.value, None);
        return;
    }
    // Where others bear each other out this one is wrong; else the first is reported once.
    let borne_out = others.iter().enumerate().any(|(at, (_, two))| {
        others[at + 1..].iter().any(|(_, three)| differ(two, three).is_none())
    });
    if borne_out || *first > index {
        book.stated(one.line(), one.number.value, Some(found(one, against)));
    }
}

/// A mean, median, deviation or CV beside the one of all that was measured.
fn of_all(all: &[Quantity], one: &Quantity, book: &mut Book) {
    let summed = |role: Role| match role {
        Role::Mean | Role::Sd | Role::Cv => true,
        Role::Percentile(p) => (p - 0.5).abs() < 1e-9,
        _ => false,
    };
    if one.scope != Scope::Open || !summed(one.role) || one.metric.is_empty() {
        return;
    }
    let of_all: Vec<&Quantity> = all
        .iter()
        .filter(|two| two.scope == Scope::All && two.role == one.role)
        .filter(|two| two.place.section != one.place.section)
        .filter(|two| one.same_metric(two) && one.subject == two.subject)
        .collect();
    let Some(first) = of_all.first() else { return };
    let agrees = of_all.iter().any(|two| differ(one, two).is_none());
    let found = (!agrees).then(|| found(one, first));
    match one.form {
        Form::Cell => book.cell(one.line(), one.column, found),
        Form::Item => book.stated(one.line(), one.number.value, found),
    }
}

fn differ(one: &Quantity, two: &Quantity) -> Option<Mismatch> {
    bounds::differ(&one.number, &two.number)
}

fn found(one: &Quantity, two: &Quantity) -> Found {
    let name = one.place.row.clone().unwrap_or_default();
    let sentence = format!(
        "`{name}` is {} here; line {} has {} for the same",
        shown(&one.number),
        two.line(),
        shown(&two.number)
    );
    let how = "statements of one metric of one thing, by their names";
    Found::remark(Check::SameQuantity, Severity::Inconsistent, one.place.clone(), sentence, how)
        .against(two.place.clone())
        .values(one.number.value, two.number.value)
}
