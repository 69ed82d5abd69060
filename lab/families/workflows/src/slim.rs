//! What a committed report keeps of a run's samples.

use lab_protocol::workflows::names;
use lab_record::{Column, Samples};

/// The values of steps, which were checked when the run ended, and the number of claims go; times
/// count from the run's first submission, which takes a third of the digits. Nothing else changes.
pub(crate) fn from_the_first_task(samples: Samples) -> Samples {
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
