//! What a committed report keeps of a run's samples.

use lab_record::{Column, Histogram, Run, Samples};

use crate::steps::{BETTER_ARM, COST_TOTAL, REGRET_CURVE, Steps, regret_curve, total_cost};

/// Of a replay the arms, the better arms, the curve of regret and the sum of costs. Of ticks and
/// jobs the distributions. The rows of decisions and repetitions stay as they are; those of a
/// stream's items, which no number rests on, do not.
pub(crate) fn slim(run: &Run, samples: Samples) -> Samples {
    match run.cell.get("test").map(String::as_str) {
        Some("replay") => replay(samples),
        Some("stream") => stream(samples),
        Some("wake") => wake(samples),
        _ => samples,
    }
}

fn replay(samples: Samples) -> Samples {
    let parts = (Steps::of(&samples), regret_curve(&samples), total_cost(&samples));
    let (Some(steps), Some(curve), Some(cost)) = parts else { return samples };
    let mut slim = samples;
    slim.columns.remove("cost_ns");
    slim.columns.remove("regret_ns");
    let kept = [(BETTER_ARM, steps.better_arms()), (REGRET_CURVE, curve), (COST_TOTAL, vec![cost])];
    let kept = kept.into_iter().map(|(name, values)| (name.to_owned(), Column::Raw(values)));
    slim.columns.extend(kept);
    slim
}

fn stream(samples: Samples) -> Samples {
    let mut slim = samples;
    slim.columns.retain(|name, _| !name.starts_with("item_"));
    slim
}

fn wake(samples: Samples) -> Samples {
    let mut slim = samples;
    for name in ["tick_latency_ns", "job_latency_ns", "job_work_ns"] {
        if let Some(values) = slim.raw(name).map(<[i64]>::to_vec) {
            slim.columns.insert(name.to_owned(), Column::Histogram(Histogram::of(&values)));
        }
    }
    slim.columns.remove("job_arm");
    slim
}
