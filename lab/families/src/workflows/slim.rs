//! What a committed report keeps of a run's samples.

use lab_family::{Cell, Family, text};
use lab_protocol::workflows::{Shape, names};
use lab_record::{Column, Run, RunFile, Samples};

use crate::workflows::metrics::{had_ns, rows_of_tasks, twice_medians};
use crate::workflows::task::{HAD, PATH_PARTS, STEP_COUNT, TASK_ROWS, TWICE_MEDIANS, tasks};
use crate::workflows::{Workflows, path, shape};

/// More steps than a run has whose tasks are looked at one by one.
const STEPS_KEPT: usize = 1_024;

/// Keeps the times of tasks, and those of steps where the report draws one of the tasks: in blocks,
/// on the floor and the reference, in the default cell of each shape, unless there are a thousand.
/// Of other runs, of which a sweep has thousands, it keeps what numbers rest on of the steps.
pub(crate) fn slim(sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
    let samples = from_the_first_task(samples);
    let profile = sweep.profile.as_deref();
    let section = text::stored_section(&sweep.experiment_toml, Workflows.definition(), profile);
    let steps = samples.raw(names::STEP_TASK).map_or(0, <[i64]>::len);
    if is_drawn(sweep, run, &text::defaults(&section)) && steps <= STEPS_KEPT {
        return samples;
    }
    let shapes = shape::stored(&section);
    match run.cell.get("shape").and_then(|name| shapes.get(name)) {
        Some(shape) => without_steps(samples, shape),
        None => samples,
    }
}

fn is_drawn(sweep: &RunFile, run: &Run, defaults: &Cell) -> bool {
    let analysis = &sweep.analysis;
    let mut drawn = analysis.floor.iter().chain([&analysis.reference]);
    let mut factors = defaults.iter().filter(|(factor, _)| *factor != "shape");
    sweep.question_of(run.block).is_none()
        && drawn.any(|variant| *variant == run.variant)
        && factors.all(|(factor, level)| run.cell.get(factor) == Some(level))
}

fn without_steps(samples: Samples, shape: &Shape) -> Samples {
    let Some(tasks) = tasks(&samples).filter(|_| samples.raw(STEP_COUNT).is_none()) else {
        return samples;
    };
    let rows = rows_of_tasks(&samples, &tasks, shape);
    let kept = [
        Some((STEP_COUNT, tasks.iter().map(|task| task.step_count as i64).collect())),
        rows.iter().any(|rows| *rows > 0).then_some((TASK_ROWS, rows)),
        had_ns(&samples, &tasks).map(|ns| (HAD, vec![ns])),
        twice_medians(&samples, &tasks).map(|twice| (TWICE_MEDIANS, twice)),
        path::of_run(&samples, &tasks, shape).map(|parts| (PATH_PARTS, parts.to_vec())),
    ];
    let mut slim = samples;
    slim.columns.retain(|name, _| !name.starts_with("step") && name != names::TASK_ACCEPTED_NS);
    let kept = kept.into_iter().flatten();
    slim.columns.extend(kept.map(|(name, values)| (name.to_owned(), Column::Raw(values))));
    slim
}

/// The values of steps, which were checked when the run ended, and the number of claims go; times
/// count from the run's first submission, which takes a third of the digits. Nothing else changes.
fn from_the_first_task(samples: Samples) -> Samples {
    let first =
        samples.raw(names::TASK_SUBMITTED_NS).and_then(|column| column.iter().min().copied());
    let Some(first) = first else { return samples };
    let mut slim = samples;
    for name in ["step_value", "step_claims"] {
        slim.columns.remove(name);
    }
    for (name, column) in &mut slim.columns {
        if let (true, Column::Raw(values)) = (name.ends_with("_ns"), column) {
            values.iter_mut().for_each(|value| *value -= first);
        }
    }
    slim
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_round_keeps_what_is_asked_of_its_steps() {
        let columns = [
            ("task", &[7][..]),
            ("task_submitted_ns", &[0]),
            ("task_accepted_ns", &[1]),
            ("task_completed_ns", &[90]),
            ("task_observed_ns", &[100]),
            ("step_task", &[7, 7]),
            ("step", &[0, 1]),
            ("step_part", &[0, 0]),
            ("step_created_ns", &[0, 40]),
            ("step_enqueued_ns", &[1, 42]),
            ("step_claimed_ns", &[5, 50]),
            ("step_started_ns", &[6, 52]),
            ("step_finished_ns", &[10, 60]),
            ("step_recorded_ns", &[40, 85]),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), values.to_vec()));
        let steps = r#"{ name = "a", operation = "square" },
            { name = "b", after = ["a"], operation = "square" }"#;
        let section = format!("[shape.pair]\nsteps = [{steps}]").parse().unwrap();
        let shape = shape::stored(&section).remove("pair").unwrap();
        let slim = without_steps(Samples::from_raw(columns.into()), &shape);
        assert_eq!(slim.raw(STEP_COUNT), Some(&[2][..]));
        assert_eq!(slim.raw(HAD), Some(&[70][..]));
        assert_eq!(slim.raw(TWICE_MEDIANS), Some(&[3, 12, 3, 12, 55][..]));
        // In the queue 4 ns and 8, to the start 1 and 2, at work 4 and 8, recording 30 and 25.
        assert_eq!(slim.raw(PATH_PARTS), Some(&[1, 12, 3, 12, 55, 2, 5, 10][..]));
        assert_eq!(slim.columns.len(), 8);
        assert_eq!(without_steps(slim.clone(), &shape), slim);
    }

    #[test]
    fn times_keep_their_distances() {
        let of = |name: &str, values: &[i64]| (name.to_owned(), values.to_vec());
        let samples = Samples::from_raw(BTreeMap::from([
            of("task", &[0, 1]),
            of("task_submitted_ns", &[9_000, 9_500]),
            of("task_observed_ns", &[9_400, 9_900]),
            of("step_value", &[4, 5]),
        ]));
        let slim = from_the_first_task(samples);
        assert_eq!(slim.raw("task"), Some(&[0, 1][..]));
        assert_eq!(slim.raw("task_submitted_ns"), Some(&[0, 500][..]));
        assert_eq!(slim.raw("task_observed_ns"), Some(&[400, 900][..]));
        assert_eq!(slim.raw("step_value"), None);
        assert_eq!(from_the_first_task(slim.clone()), slim);
    }
}
