//! What sessions on several machines say of the next one. Machines are compared by nothing:
//! every difference is of two runs on one machine.

use lab_record::Machine;
use lab_stats::{
    by_machine::{FEW_MACHINES, LEAST_MACHINES, OverMachines, over_machines},
    by_session::{OverSessions, over_sessions, verdict},
    outcome::Outcome,
};

use super::{Line, Question, turned};
use crate::chapter::Column::{Any, Count, Words};
use crate::compare::scaled_margin;
use crate::study::Study;
use crate::tables::{Entry, Table};

/// The sessions of each machine, by their places, and what the machine is called.
pub(super) struct Machines<'s> {
    sessions: Vec<(&'s Machine, Vec<usize>)>,
}

/// One difference on each machine, and over them.
pub(super) struct OnMachines {
    each: Vec<OverSessions>,
    over: Option<OverMachines>,
}

/// A row: a machine's, or that over all.
struct Row {
    of: String,
    machine: String,
    sessions: usize,
    found: Option<String>,
    next: Option<String>,
    outcome: String,
}

impl<'s> Machines<'s> {
    pub(super) fn of(studies: &'s [Study]) -> Self {
        let mut sessions: Vec<(&Machine, Vec<usize>)> = Vec::new();
        for (place, study) in studies.iter().enumerate() {
            let machine = &study.frame.run_file.machine;
            match sessions.iter_mut().find(|(known, _)| known.is_same(machine)) {
                Some((_, places)) => places.push(place),
                None => sessions.push((machine, vec![place])),
            }
        }
        Self { sessions }
    }

    fn are_several(&self) -> bool {
        self.sessions.len() > 1
    }

    /// From (session, difference) of all.
    pub(super) fn judged(&self, pairs: &[(usize, f64)], alpha: f64) -> Option<OnMachines> {
        let of = |(_, places): &(&Machine, Vec<usize>)| {
            let here = |session: &usize| places.iter().position(|place| place == session);
            let own: Vec<(usize, f64)> = pairs
                .iter()
                .filter_map(|(session, difference)| Some((here(session)?, *difference)))
                .collect();
            over_sessions(&own, places.len(), alpha)
        };
        self.are_several().then(|| {
            let each: Vec<OverSessions> = self.sessions.iter().map(of).collect();
            let over = over_machines(&each, 1.0 - alpha);
            OnMachines { each, over }
        })
    }

    /// A table by machine, where there are several.
    pub(super) fn table(&self, question: &Question) -> String {
        let rows: Vec<Row> =
            question.lines.iter().flat_map(|line| self.rows(question, line)).collect();
        if rows.is_empty() {
            return String::new();
        }
        let text = |value: &Option<String>| Entry::optional(value.clone());
        let table = Table::over(
            &rows,
            &[
                Words("of", "", &|row| row.of.clone()),
                Words("machine", "", &|row| row.machine.clone()),
                Count("sessions", "", &|row| row.sessions),
                Any("found", "", &|row| text(&row.found)),
                Any("the next machine", "", &|row| text(&row.next)),
                Words("outcome", "", &|row| row.outcome.clone()),
            ],
        );
        format!("\nBy machine:\n\n{}", table.markdown())
    }

    fn rows(&self, question: &Question, line: &Line) -> Vec<Row> {
        let Some(on) = &line.machines else { return Vec::new() };
        let of = format!("`{}`", line.name);
        let machines = self.sessions.iter().zip(&on.each).enumerate();
        let mut rows: Vec<Row> = machines
            .map(|(number, ((machine, _), sessions))| Row {
                of: of.clone(),
                machine: format!("{}: {}, {} CPUs", number + 1, machine.cpu_model, machine.cpus),
                sessions: sessions.each.len(),
                found: sessions.over.as_ref().map(|it| question.ends(it.estimate, it.interval)),
                next: None,
                outcome: String::new(),
            })
            .collect();
        let ends =
            |[low, high]: [f64; 2]| format!("{} … {}", question.show(low), question.show(high));
        let over = on.over.as_ref();
        rows.push(Row {
            of,
            machine: format!("all {}", self.sessions.len()),
            sessions: on.each.iter().map(|machine| machine.each.len()).sum(),
            found: over.map(|it| question.ends(it.over.estimate, it.over.interval)),
            next: over
                .filter(|it| it.each.len() >= LEAST_MACHINES)
                .map(|it| ends(it.over.prediction)),
            outcome: over.map_or_else(String::new, |over| outcome(question, line, over)),
        });
        rows
    }
}

/// A verdict for machines that were not met.
fn outcome(question: &Question, line: &Line, over: &OverMachines) -> String {
    let count = over.each.len();
    if count < LEAST_MACHINES {
        let said = "machines are needed; more sessions on these do not help";
        return format!("{}: {LEAST_MACHINES} {said}", Outcome::CannotTell);
    }
    let told = match (line.is_control, question.is_off_over_machines()) {
        (true, _) => String::new(),
        (false, true) => format!("{}: A/A over machines", Outcome::Withheld),
        (false, false) => {
            let found = verdict(over.over.interval, scaled_margin(&question.asked)).outcome;
            turned(found, question.better).to_string()
        }
    };
    let sign = match over.of_other_sign() {
        0 => None,
        other => Some(format!("sign differs on {other} of {count}")),
    };
    let differ = over.over.differ().then(|| sign.unwrap_or("differs by machine".to_owned()));
    let few = (count < FEW_MACHINES).then(|| format!("{count} machines are few"));
    let parts = [Some(told).filter(|it| !it.is_empty()), differ, few];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

impl OnMachines {
    /// Whether the interval over machines leaves out 0.
    pub(super) fn leaves_out_0(&self) -> bool {
        let interval = self.over.as_ref().map(|over| over.over.interval);
        interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}
