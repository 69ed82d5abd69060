//! Section 4: how soon a policy takes the better arm.

use super::grid::{self, Line, Row, read};
use super::steps::{SETTLED, Steps, WINDOW};
use super::trials::{OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};

/// Constant costs, and what was published of them.
const STEADY: [(&str, &str); 3] = [
    ("steady_small", "5 observations, 100 % inline"),
    ("inline_240_offload_30", ""),
    ("slow", "6 observations, 100 % offloaded"),
];

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("4. How fast a policy learns");
    page.paragraph(&format!(
        "Published: 5 and 6 observations, the least that five in a row allow when the first \
         choice is always inline, on a cost that did not depend on the arm. Here both arms have \
         their cost, and a policy has learned at the first step after which {SETTLED} of {WINDOW} \
         decisions take the cheaper one (medians of the runs that got there); 0 is right from the \
         start.",
    ));
    let mut lines = Vec::new();
    for (metric, what) in [
        ("learning_steps", "steps until stable"),
        ("better_share", "steps on the better arm"),
        ("offload_share", "offloaded"),
    ] {
        for (costs, said) in STEADY {
            let line = Line::of("replay", &[("costs", costs)], metric).labelled(&[costs, what]);
            lines.push(if metric == "learning_steps" { line.published(said) } else { line });
        }
    }
    let mut rows: Vec<Row> = lines.iter().map(|line| line.row(trials)).collect();
    rows.extend(STEADY.map(|(costs, _)| never(trials, costs)));
    grid::write_rows(trials, page, "learning", &["costs", "measure"], rows);
    let said: Vec<String> = STEADY.iter().filter_map(|(costs, _)| reading(trials, costs)).collect();
    if !said.is_empty() {
        page.paragraph(&format!("**Reading.** {}.", said.join("; ")));
    }
}

/// The share of runs that never got there, by policy.
fn never(trials: &Trials, costs: &str) -> Row {
    let share = |policy: &str| {
        let runs = trials.rows(policy, "replay", &[("costs", costs)]);
        let never = runs.iter().filter(|one| one.value("learning_steps").is_none()).count();
        let estimate = never as f64 / runs.len() as f64;
        let reading = Reading { estimate, low_high: None, n: runs.len(), unit: Unit::Share };
        (!runs.is_empty()).then_some(reading)
    };
    Row {
        labels: vec![costs.to_owned(), "runs that never were stable".to_owned()],
        published: String::new(),
        metric: "never_stable_share",
        readings: trials.policies().into_iter().map(share).collect(),
    }
}

/// Runs that never took the better arm for long are counted, for they have no time of learning.
fn reading(trials: &Trials, costs: &str) -> Option<String> {
    let one = |policy: &str| {
        let runs = trials.rows(policy, "replay", &[("costs", costs)]);
        let never = runs.iter().filter(|one| one.value("learning_steps").is_none()).count();
        let learned = read(trials, policy, "replay", &[("costs", costs)], "learning_steps");
        let after = learned.map_or("never".to_owned(), |one| format!("after {}", one.text()));
        (!runs.is_empty())
            .then(|| format!("`{policy}` {after}, in {never} of {} runs never", runs.len()))
    };
    let said: Vec<String> = [OURS, PUBLISHED].into_iter().filter_map(one).collect();
    (!said.is_empty()).then(|| format!("on `{costs}` {}", said.join(", ")))
}

/// Steps until stable by block, for judgements: a run that never got there counts with its length,
/// which is less than it would have needed.
pub(super) fn learned(trials: &Trials, policy: &str, costs: &str) -> Series {
    let runs = trials.rows(policy, "replay", &[("costs", costs)]).into_iter();
    let one = runs.filter_map(|one| {
        let steps = Steps::of(&one.row.samples)?;
        let learned = steps.learning().unwrap_or(steps.offloaded.len());
        Some((one.row.run.block, learned as f64))
    });
    one.collect()
}
