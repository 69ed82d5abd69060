//! What a committed report keeps of a run's samples.

use std::collections::BTreeMap;

use lab_record::{Column, Histogram, Run, Samples};
use lab_stats::describe::median;

use super::steps::{BETTER_ARM, COST_TOTAL, REGRET_CURVE, Steps, regret_curve, total_cost};

/// Classes of a stream: items, items that were offloaded, and the median duration of the work.
pub(super) const CLASS_COLUMNS: [&str; 3] =
    ["class_items", "class_offloaded", "class_work_median_ns"];

/// Of a replay the arms, the better arms, the curve of regret and the sum of costs: what sections
/// read. Of a stream's items the counts by class. Of ticks and jobs the distributions. The rows of
/// decisions and repetitions stay as they are.
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
    let Some(classes) = classes(&samples) else { return samples };
    let mut slim = samples;
    for column in ["item_class", "item_work_ns", "item_arm"] {
        slim.columns.remove(column);
    }
    for (place, name) in CLASS_COLUMNS.into_iter().enumerate() {
        let values = classes.iter().map(|class| class[place]).collect();
        slim.columns.insert(name.to_owned(), Column::Raw(values));
    }
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

/// A row per class of a stream: items, items that were offloaded, median real duration of the work
/// in nanoseconds. `None` where the items of the last repetition are not there.
pub(super) fn classes(samples: &Samples) -> Option<Vec<[i64; 3]>> {
    let kept = CLASS_COLUMNS.map(|name| samples.raw(name));
    if let [Some(items), Some(offloaded), Some(work)] = kept {
        let rows = items.iter().zip(offloaded).zip(work);
        return Some(rows.map(|((items, offloaded), work)| [*items, *offloaded, *work]).collect());
    }
    let (class, arm) = (samples.raw("item_class")?, samples.raw("item_arm")?);
    let work = samples.raw("item_work_ns")?;
    let mut by_class: BTreeMap<i64, (i64, i64, Vec<f64>)> = BTreeMap::new();
    for ((class, arm), work) in class.iter().zip(arm).zip(work) {
        let (items, offloaded, works) = by_class.entry(*class).or_default();
        *items += 1;
        *offloaded += i64::from(*arm == 1);
        works.push(*work as f64);
    }
    let last = *by_class.keys().max()?;
    let row = |class: i64| {
        let empty = (0, 0, vec![]);
        let (items, offloaded, works) = by_class.get(&class).unwrap_or(&empty);
        [*items, *offloaded, median(works).unwrap_or(0.0) as i64]
    };
    Some((0..=last).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_survive() {
        let of = |name: &str, values: &[i64]| (name.to_owned(), values.to_vec());
        let samples = Samples::from_raw(BTreeMap::from([
            of("elapsed_ns", &[9, 8]),
            of("item_class", &[0, 2, 0, 0]),
            of("item_work_ns", &[5, 500, 7, 6]),
            of("item_arm", &[0, 1, 0, 1]),
        ]));
        let expected = vec![[3, 1, 6], [0, 0, 0], [1, 1, 500]];
        assert_eq!(classes(&samples), Some(expected.clone()));
        let slim = stream(samples);
        assert_eq!(classes(&slim), Some(expected));
        assert_eq!(slim.raw("elapsed_ns"), Some(&[9, 8][..]));
        assert_eq!(slim.raw("item_arm"), None);
        assert_eq!(stream(slim.clone()), slim);
    }
}
