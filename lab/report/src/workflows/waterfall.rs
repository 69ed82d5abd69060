//! One task of each shape as a picture: every step's stretches, on the floor and on the reference.

use super::path::{self, COMPLETING, LOOK, QUEUE, RECORDING, START, WORK};
use super::shape::Shape;
use super::sweep::Sweep;
use super::task::Task;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// What a stretch of a step is called in the picture, in the order of the key.
const SEGMENTS: [&str; 6] = ["wait", "queue", "start", "work", "recording", "look"];

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("A task of every shape");
    let mut bars = Table::new(&[
        ("panel", "panel"),
        ("lane", "lane"),
        ("step", "step"),
        ("segment", "segment"),
        ("from", "from_us"),
        ("to", "to_us"),
        ("critical", "critical"),
    ]);
    let mut panels = Table::new(&[
        ("panel", "panel"),
        ("shape", "shape"),
        ("variant", "variant"),
        ("lanes", "lanes"),
        ("makespan", "makespan_us"),
        ("tasks", "tasks"),
    ]);
    let variants: Vec<&str> = sweep.floor().into_iter().chain([sweep.reference()]).collect();
    let mut panel = 0;
    for shape in sweep.shapes() {
        let found = variants.iter().filter_map(|variant| {
            let mut tasks = sweep.tasks(variant, &sweep.event(&shape));
            let count = tasks.len();
            Some((*variant, median_task(&mut tasks)?, count))
        });
        // A shape has a row of panels for itself, whoever ran it.
        for (variant, task, count) in found.collect::<Vec<_>>() {
            let lanes = draw(&task, &sweep.shape(&shape), panel, &mut bars);
            panels.row(vec![
                Cell::count(panel),
                Cell::text(&shape),
                Cell::text(variant),
                Cell::count(lanes),
                Cell::Value(micros(&task, task.observed), Unit::Count),
                Cell::count(count),
            ]);
            panel += 1;
        }
    }
    if panels.is_empty() {
        page.paragraph("No picture: neither the floor nor the reference ran a shape told.");
        return;
    }
    page.data("waterfall", &bars);
    page.data("waterfall-panels", &panels);
    page.figure_by(
        ("waterfall", "workflow-waterfall.gp"),
        "The task of median makespan of each shape on the floor and on the reference: a lane per \
         step, from creation to recording, and the client's look; steps on the critical path are \
         solid, the others pale",
        &super::note(sweep),
    );
}

/// The task whose makespan is the lower median.
fn median_task(tasks: &mut Vec<Task>) -> Option<Task> {
    tasks.sort_by_key(|task| (task.makespan(), task.submitted));
    let middle = tasks.len().checked_sub(1)? / 2;
    Some(tasks.swap_remove(middle))
}

fn micros(task: &Task, at: i64) -> f64 {
    (at - task.submitted) as f64 / 1e3
}

/// Lanes from the top: the task itself, then its steps; returns how many.
fn draw(task: &Task, shape: &Shape, panel: usize, bars: &mut Table) -> usize {
    let critical = path::critical(task, shape);
    let mut bar = |lane: usize, name: &str, segment: usize, (from, to): (i64, i64), on: bool| {
        bars.row(vec![
            Cell::count(panel),
            Cell::count(lane),
            Cell::text(name),
            Cell::text(SEGMENTS[segment]),
            Cell::Value(micros(task, from), Unit::Count),
            Cell::Value(micros(task, to), Unit::Count),
            Cell::count(usize::from(on)),
        ]);
    };
    for stretch in path::stretches(task, shape) {
        bar(0, "task", segment(stretch.part), (stretch.from, stretch.to), true);
    }
    for (index, step) in task.steps.iter().enumerate() {
        let name = shape.name(step.step);
        let parts = task.steps.iter().filter(|other| other.step == step.step).count();
        let name = if parts > 1 { format!("{name} {}", step.part + 1) } else { name };
        let times =
            [step.created, step.enqueued, step.claimed, step.started, step.finished, step.recorded];
        for (segment, pair) in times.windows(2).enumerate() {
            bar(index + 1, &name, segment, (pair[0], pair[1]), critical.contains(&index));
        }
    }
    task.steps.len() + 1
}

/// A part's place in [`SEGMENTS`].
fn segment(part: usize) -> usize {
    match part {
        QUEUE => 1,
        START => 2,
        WORK => 3,
        RECORDING | COMPLETING => 4,
        LOOK => 5,
        _ => 0,
    }
}
