//! Where the time goes: makespans split along the critical path, transitions, operations.

use std::collections::BTreeMap;

use super::measure::OPERATIONS;
use super::path::{self, PARTS, Parts};
use super::published;
use super::sweep::{Cell as Levels, Sweep};
use super::task::tasks;
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::Series;
use crate::tables::{Cell, Table};

/// The metrics of a step's transitions, in order, with titles.
const TRANSITIONS: [(&str, &str); 6] = [
    ("created to enqueued", "created_to_enqueued_ns"),
    ("enqueued to claimed", "enqueued_to_claimed_ns"),
    ("claimed to started", "claimed_to_started_ns"),
    ("work", "work_ns"),
    ("finished to recorded", "finished_to_recorded_ns"),
    ("recorded to observed", "recorded_to_observed_ns"),
];

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Where the time goes");
    page.paragraph(
        "A task is complete when its critical path is: from the step that was recorded last back \
         through whichever of the steps it waited for was recorded last. The makespan is split \
         along that path, in whole nanoseconds that add up to it exactly: handing in (until the \
         first step may be claimed), waiting to be claimed and claimed to started (dispatch), \
         work, recording (until the result would not be lost: durability), to the next step (what \
         the back end does before it may be claimed), completing, and the client's look. Where one \
         transaction records a step and hands out the next, all of it is recording. A stamp that a \
         worker takes after the client knew (its commit returned later than the notice) ends at \
         the client's. Shares of all tasks of all restarts together; the sums in nanoseconds stand \
         in `parts.tsv`.",
    );
    let no_shape: Vec<String> =
        sweep.shapes().into_iter().filter(|name| sweep.shape(name).is_empty()).collect();
    if !no_shape.is_empty() {
        page.paragraph(&format!(
            "The stored experiment does not say what the steps of {} wait for; there the step that \
             was recorded last before another was enqueued stands for its dependency.",
            no_shape.join(", ")
        ));
    }
    let mut shown = Table::new(&columns());
    let mut exact = Table::new(&columns());
    for (variant, cell) in places(sweep) {
        let Some((count, sums)) = total(sweep, variant, cell) else { continue };
        let makespan = sums.iter().sum::<i64>() as f64;
        let head = [Cell::code(variant), Cell::text(sweep.label(cell)), Cell::count(count)];
        let share = |ns: &i64| Cell::Value(*ns as f64 / makespan, Unit::Share);
        let ns = |ns: &i64| Cell::Value(*ns as f64, Unit::Ns);
        let mean = Cell::Value(makespan / count as f64, Unit::Ns);
        shown.row([&head[..], &[mean], &sums.iter().map(share).collect::<Vec<_>>()].concat());
        let whole = Cell::Value(makespan, Unit::Ns);
        exact.row([&head[..], &[whole], &sums.iter().map(ns).collect::<Vec<_>>()].concat());
    }
    page.markdown.push_str(&format!("{}\n", shown.markdown()));
    page.data("parts", &exact);
    page.folded(
        "transitions",
        "Every transition of a step, median over restarts",
        &transitions(sweep),
    );
    operations(sweep, page);
}

/// A sum of parts by block, in nanoseconds per task.
pub(super) fn by_block(sweep: &Sweep, variant: &str, cell: &Levels, wanted: &[usize]) -> Series {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let shape = sweep.shape(cell.get("shape").map_or("", String::as_str));
    for one in sweep.runs(variant, cell) {
        for task in tasks(&one.row.samples).into_iter().flatten() {
            let parts = path::parts(&task, &shape);
            let sum: i64 = wanted.iter().map(|&part| parts[part]).sum();
            blocks.entry(one.row.run.block).or_default().push(sum as f64);
        }
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    blocks.into_iter().map(|(block, values)| (block, mean(values))).collect()
}

/// Number of tasks and nanoseconds by part, over all restarts.
pub(super) fn total(sweep: &Sweep, variant: &str, cell: &Levels) -> Option<(usize, Parts)> {
    let shape = sweep.shape(cell.get("shape")?);
    let tasks = sweep.tasks(variant, cell);
    let mut sums = Parts::default();
    for task in &tasks {
        let parts = path::parts(task, &shape);
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
    (sums.iter().sum::<i64>() > 0).then_some((tasks.len(), sums))
}

fn columns() -> Vec<(&'static str, &'static str)> {
    let head =
        [("variant", "variant"), ("cell", "cell"), ("tasks", "tasks"), ("makespan", "makespan_ns")];
    head.into_iter().chain(PARTS).collect()
}

fn places<'s>(sweep: &'s Sweep) -> impl Iterator<Item = (&'s str, &'s Levels)> {
    let cells = |variant| sweep.cells(variant).into_iter().map(move |cell| (variant, cell));
    sweep.variants().into_iter().flat_map(cells)
}

fn transitions(sweep: &Sweep) -> Table {
    let mut columns = vec![("variant", "variant"), ("cell", "cell")];
    columns.extend(TRANSITIONS);
    columns.push(("steps/s", "steps_per_s"));
    let mut table = Table::new(&columns);
    for (variant, cell) in places(sweep) {
        let level = |metric| sweep.level(variant, cell, metric).map(|level| level.estimate);
        let mut row = vec![Cell::code(variant), Cell::text(sweep.label(cell))];
        row.extend(TRANSITIONS.map(|(_, metric)| Cell::value(level(metric), Unit::Ns)));
        row.push(Cell::value(level("steps_per_s"), Unit::PerSecond));
        table.row(row);
    }
    table
}

fn operations(sweep: &Sweep, page: &mut Page) {
    page.heading("Operations per step");
    page.paragraph(&format!(
        "Counted by each back end over the tasks that count, all of its processes, per step that \
         ran; a dash where it has none or counts none. What a step takes beyond its counted bare \
         commits is told where steps follow each other and the client is told; elsewhere commits \
         overlap. The published system documents {}.",
        published::OPERATIONS
    ));
    let mut columns = vec![("variant", "variant"), ("cell", "cell"), ("steps", "steps_per_task")];
    columns.extend(OPERATIONS);
    columns.extend([("bare commit", "bare_commit_ns"), ("bare sync", "bare_sync_ns")]);
    columns.push(("beyond its commits", "beyond_commits_ns"));
    // Records from before memory was asked for lack it.
    let has_memory = sweep.study.all.iter().any(|one| one.value("all_pss_bytes").is_some());
    if has_memory {
        columns.extend([("processes", "all_processes"), ("memory of all", "all_pss_bytes")]);
    }
    let mut table = Table::new(&columns);
    for (variant, cell) in places(sweep) {
        let level = |metric| sweep.level(variant, cell, metric).map(|level| level.estimate);
        let mut row = vec![Cell::code(variant), Cell::text(sweep.label(cell))];
        row.push(Cell::value(level("steps_per_task"), Unit::Count));
        row.extend(OPERATIONS.map(|(_, metric)| Cell::value(level(metric), Unit::Count)));
        let bare = ["bare_commit_ns", "bare_sync_ns"];
        row.extend(bare.map(|metric| Cell::value(level(metric), Unit::Ns)));
        let in_a_row = *cell == sweep.event("linear");
        row.push(Cell::value(level("beyond_commits_ns").filter(|_| in_a_row), Unit::Ns));
        if has_memory {
            row.push(Cell::value(level("all_processes"), Unit::Count));
            row.push(Cell::value(level("all_pss_bytes"), Unit::Bytes));
        }
        table.row(row);
    }
    page.table("operations", &table);
}
