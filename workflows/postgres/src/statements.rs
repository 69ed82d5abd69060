//! What a client or a worker says through its session.

use std::collections::BTreeSet;

use workflows_database::{Answer, Session};
use workflows_kit::{Accepted, RunError, Submission, now_ns};

/// Takes tasks over.
pub(crate) const ACCEPT: &str = "select * from accept($1, $2, $3)";
/// Notifies; nobody of what is null or false.
pub(crate) const TELL: &str = "select case when $1::text is not null \
    then pg_notify('complete', $1)::text end, case when $2 then pg_notify('work', '')::text end";
/// Which of some tasks are complete.
pub(crate) const LOOK: &str =
    "select coalesce(array_agg(task), '{}') from tasks where task = any($1) and steps_left = 0";
/// The least that commits something.
pub(crate) const BARE: &str = "update bare set commits = commits + 1 returning commits";

/// Takes tasks over, in one commit, and says whether each is complete already. Asked twice, it does
/// so once.
///
/// # Errors
/// The database refuses, or is lost.
pub(crate) fn accept(
    session: &mut Session<'_>,
    tasks: &[Submission],
) -> Result<Vec<(Accepted, bool)>, RunError> {
    let column = |number: fn(&Submission) -> i64| tasks.iter().map(number).collect::<Vec<_>>();
    let numbers = column(|one| one.task.into());
    let (inputs, submitted) =
        (column(|one| one.input.cast_signed()), column(|one| one.submitted_ns));
    let _change = session.counts().change();
    let row = loop {
        if let Answer::Row(row) = session.ask(ACCEPT, &[&numbers, &inputs, &submitted])? {
            break row;
        }
    };
    let now_ns = now_ns();
    let (is_new, complete): (Vec<bool>, Vec<bool>) = (row.get(0), row.get(2));
    if is_new.contains(&true) {
        session.counts().commit();
    }
    let accepted = row.get::<_, Vec<i64>>(1).into_iter().zip(is_new).zip(complete);
    let accepted = accepted.map(|((submitted_ns, is_new), complete)| {
        // When somebody else accepted it is not kept.
        let accepted_ns = if is_new { now_ns } else { submitted_ns };
        (Accepted { submitted_ns, accepted_ns }, complete)
    });
    Ok(accepted.collect())
}

/// Notifies other processes: those that wait for ends with this payload, or those that wait for
/// work, or both.
///
/// # Errors
/// The database refuses, or is lost.
pub(crate) fn tell(
    session: &mut Session<'_>,
    ends: Option<&str>,
    work: bool,
) -> Result<Answer, RunError> {
    session.counts().messages(u64::from(ends.is_some()) + u64::from(work));
    session.ask(TELL, &[&ends, &work])
}

/// Which of these tasks are complete.
///
/// # Errors
/// The database refuses, or is lost.
pub(crate) fn complete_of(
    session: &mut Session<'_>,
    tasks: &BTreeSet<u32>,
) -> Result<Vec<u32>, RunError> {
    let tasks: Vec<i64> = tasks.iter().map(|&task| task.into()).collect();
    loop {
        if let Answer::Row(row) = session.ask(LOOK, &[&tasks])? {
            let complete: Vec<i64> = row.get(0);
            return Ok(complete.into_iter().map(|task| task as u32).collect());
        }
    }
}

/// How long the least that commits something takes.
///
/// # Errors
/// The database refuses, or is lost.
pub(crate) fn bare_ns(session: &mut Session<'_>) -> Result<u64, RunError> {
    loop {
        let start_ns = now_ns();
        if let Answer::Row(_) = session.uncounted(BARE, &[])? {
            return Ok((now_ns() - start_ns).unsigned_abs());
        }
    }
}
