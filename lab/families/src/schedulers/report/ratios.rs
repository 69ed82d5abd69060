//! Which ratio of workers to threads of the pool suits a policy.

use std::collections::BTreeMap;

use lab_family::{Better, Cell};
use lab_report::Column::{Code, Count, Interval, Text, Words};
use lab_report::{Chapter, Page, Reading, Series, Study, Table, centre, study::without};

use super::{is, level};
use crate::schedulers::ORACLE;

const WORKERS: &str = "tokio_workers";
const THREADS: &str = "rayon_threads";

/// What a policy does best with in cells that differ in their threads alone.
struct Choice<'a> {
    policy: &'a str,
    cell: &'a Cell,
    value: Reading,
    /// Those whose ratio to the best, paired by block, has an interval that reaches 1.
    tied: Vec<String>,
}

/// Writes nothing where each cell of the test has one number of threads.
pub(crate) fn write(study: &Study, page: &mut Page, (test, metric): (&str, &str)) {
    let policies = study.variants().into_iter().filter(|name| *name != ORACLE);
    let choices: Vec<Choice> = policies
        .flat_map(|policy| {
            let groups = groups(study, policy, test).into_values();
            groups.filter_map(move |cells| choose(study, policy, metric, &cells))
        })
        .collect();
    let work = if test == "wake" { "load" } else { "work" };
    let table = Table::over(
        &choices,
        &[
            Code("", "policy", &|one| one.policy),
            Text("", work, &|one| level(one.cell, work)),
            Text("", "concurrency", &|one| level(one.cell, "concurrency")),
            Text("", "order", &|one| level(one.cell, "order")),
            Words("", "best", &|one| ratio(one.cell)),
            Count("", "n", &|one| one.value.n),
            Interval("", metric, &|one| Some(one.value)),
            Words("", "tied", &|one| one.tied.join(", ")),
        ],
    );
    let what = "The best ratio of workers to pool threads, and those tied with it";
    page.chapter(Chapter::beside(&format!("best-ratio-{test}"), what, table));
}

/// The cells of a test that a policy ran, by all but their threads.
fn groups<'s>(study: &'s Study, policy: &str, test: &str) -> BTreeMap<Cell, Vec<&'s Cell>> {
    let mut groups: BTreeMap<Cell, Vec<&Cell>> = BTreeMap::new();
    // A default load says nothing of a stream, and a wake-up without one is no work.
    let is_idle = |cell: &Cell| test == "wake" && is(cell, "load", "idle");
    let asked = |cell: &&Cell| is(cell, "test", test) && !is_idle(cell);
    for cell in study.cells(policy).into_iter().filter(asked) {
        groups.entry(without(&without(cell, WORKERS), THREADS)).or_default().push(cell);
    }
    groups
}

fn choose<'a>(
    study: &'a Study,
    policy: &'a str,
    metric: &str,
    cells: &[&'a Cell],
) -> Option<Choice<'a>> {
    let higher = study.metric(metric)?.better == Better::Higher;
    // How many times worse `a` is than `b`.
    let worse = |a: &Series, b: &Series| match higher {
        true => Reading::ratio(b, a),
        false => Reading::ratio(a, b),
    };
    let mut found: Vec<(&'a Cell, Series, f64)> = cells
        .iter()
        .filter_map(|&cell| {
            let series = study.series(policy, cell, metric);
            let middle = centre(&series)?;
            Some((cell, series, if higher { -middle } else { middle }))
        })
        .collect();
    found.sort_by(|a, b| a.2.total_cmp(&b.2));
    let ((cell, own, _), others) = found.split_first().filter(|(_, others)| !others.is_empty())?;
    let is_worse = |series: &Series| {
        worse(series, own).is_some_and(|one| one.low_high.is_some_and(|(low, _)| low > 1.0))
    };
    let tied = others.iter().filter(|(_, series, _)| !is_worse(series));
    Some(Choice {
        policy,
        cell,
        value: Reading::level(own, study.unit(metric))?,
        tied: tied.map(|(cell, ..)| ratio(cell)).collect(),
    })
}

fn ratio(cell: &Cell) -> String {
    format!("{}:{}", level(cell, WORKERS), level(cell, THREADS))
}
