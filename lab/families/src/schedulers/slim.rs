//! What a committed report keeps of a run's samples.

use lab_record::{Column, Histogram, Run, RunFile, Samples};

use crate::schedulers::steps::{
    BETTER_ARM, COST_TOTAL, REGRET_CURVE, Steps, regret_curve, total_cost,
};

/// Of a replay the arms, the better arms, the curve of regret and the sum of costs; of a curve in
/// rounds its end alone, for curves are drawn from blocks. Of ticks and jobs the distributions. The
/// rows of decisions and repetitions stay as they are; those of a stream's items, which no number
/// rests on, do not.
pub(crate) fn slim(sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
    match run.cell.get("test").map(String::as_str) {
        Some("replay") => replay(samples, sweep.question_of(run.block).is_some()),
        Some("stream") => stream(samples),
        Some("wake") => wake(samples),
        _ => samples,
    }
}

fn replay(samples: Samples, is_round: bool) -> Samples {
    let parts = (Steps::of(&samples), regret_curve(&samples), total_cost(&samples));
    let (Some(steps), Some(mut curve), Some(cost)) = parts else { return samples };
    if is_round {
        curve.drain(..curve.len().saturating_sub(1));
    }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lab_protocol::schedulers::names;

    use super::*;

    #[test]
    fn a_round_keeps_the_end_of_its_curve() {
        let steps: Vec<i64> = (0..500).collect();
        let columns = [names::ARM, "cost_ns", names::REGRET_NS];
        let columns = columns.map(|name| (name.to_owned(), steps.clone()));
        let of = |is_round| replay(Samples::from_raw(BTreeMap::from(columns.clone())), is_round);
        let (block, round) = (of(false), of(true));
        let curve = block.raw(REGRET_CURVE).unwrap();
        assert!(curve.len() > 1);
        assert_eq!(round.raw(REGRET_CURVE), curve.last().map(std::slice::from_ref));
        assert_eq!(replay(round.clone(), true), round);
    }
}
