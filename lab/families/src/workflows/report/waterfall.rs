//! One task of each shape as a picture: every step's stretches, on the floor and on the reference.

use lab_family::Unit;
use lab_protocol::workflows::Shape;
use lab_report::{Entry, Page, Study, Table};

use super::{default_cell, levels, scale, tasks_of};
use crate::workflows::path::{self, COMPLETING, NOTIFICATION, QUEUE, RECORDING, START, WORK};
use crate::workflows::shape;
use crate::workflows::task::Task;

/// What a stretch of a step is called in the picture, in the order of the key.
const SEGMENTS: [&str; 6] = ["wait", "queue", "start", "work", "recording", "notification"];

/// Writes nothing where neither the floor nor the reference ran a default cell.
pub(crate) fn write(study: &Study, page: &mut Page) {
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
    let variants: Vec<&str> = study.floor().into_iter().chain([study.reference()]).collect();
    let mut panel = 0;
    let shapes = shape::stored(&study.section);
    for name in levels(study, "shape") {
        let Some(shape) = shapes.get(&name) else { continue };
        for variant in variants.iter().copied() {
            let mut tasks = tasks_of(study, variant, &default_cell(study, &name));
            let count = tasks.len();
            let Some(task) = median_task(&mut tasks) else { continue };
            let lanes = draw(&task, shape, panel, &mut bars);
            panels.row(vec![
                Entry::count(panel),
                Entry::text(&name),
                Entry::text(variant),
                Entry::count(lanes),
                Entry::Value(micros(&task, task.observed), Unit::Count),
                Entry::count(count),
            ]);
            panel += 1;
        }
    }
    if panels.is_empty() {
        return;
    }
    page.heading("A task of every shape");
    page.data("waterfall", &bars);
    page.data("waterfall-panels", &panels);
    page.figure_by(
        ("waterfall", "workflow-waterfall.gp"),
        "The task of median makespan of each shape on the floor and on the reference: a lane per \
         step, from creation to recording, and the notification; steps on the critical path are \
         solid, the others pale",
        &scale(study),
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
            Entry::count(panel),
            Entry::count(lane),
            Entry::text(name),
            Entry::text(SEGMENTS[segment]),
            Entry::Value(micros(task, from), Unit::Count),
            Entry::Value(micros(task, to), Unit::Count),
            Entry::count(usize::from(on)),
        ]);
    };
    for stretch in path::stretches(task, shape) {
        bar(0, "task", segment(stretch.part), (stretch.from, stretch.to), true);
    }
    for (index, step) in task.steps.iter().enumerate() {
        let name = shape.steps.get(step.step).map_or("?", |step| step.name.as_str());
        let parts = task.steps.iter().filter(|other| other.step == step.step).count();
        let name = if parts > 1 { format!("{name} {}", step.part + 1) } else { name.to_owned() };
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
        NOTIFICATION => 5,
        _ => 0,
    }
}
