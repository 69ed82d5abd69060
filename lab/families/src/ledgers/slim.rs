//! What a committed report keeps of a run's repetitions.

use std::collections::BTreeMap;

use lab_protocol::ledgers::names;
use lab_record::{Column, Samples};

use crate::ledgers::metrics::{WITH_TEARDOWN, with_teardown};

/// How many repetitions there were, where the others were left out.
pub(crate) const REPETITIONS: &str = "repetitions";

/// Of each column the one or two values that its median is made of: all that a report reads. The
/// sum of time and teardown has a median of its own, so it becomes a column. Thousands of runs of a
/// hundred repetitions would not be fit to commit.
pub(crate) fn middle_repetitions(samples: Samples) -> Samples {
    let count = repetitions(&samples);
    let sums = with_teardown(&samples);
    let mut columns: BTreeMap<String, Column> = samples
        .columns
        .into_iter()
        // Equal in every repetition, or the run was not verified.
        .filter(|(name, _)| !name.starts_with("answer_") || name == "answer_hash")
        .map(|(name, column)| match column {
            Column::Raw(values) => (name, Column::Raw(middles(values))),
            Column::Histogram(_) => (name, column),
        })
        .collect();
    if let Some(sums) = sums {
        columns.insert(WITH_TEARDOWN.to_owned(), Column::Raw(middles(sums)));
    }
    if count > 0 {
        columns.insert(REPETITIONS.to_owned(), Column::Raw(vec![count as i64]));
    }
    Samples { columns }
}

/// Repetitions of a run, slimmed or not.
pub(crate) fn repetitions(samples: &Samples) -> usize {
    let stated = samples.raw(REPETITIONS).and_then(|column| column.first());
    let stated = stated.and_then(|&count| usize::try_from(count).ok());
    stated.unwrap_or_else(|| samples.raw(names::ELAPSED_NS).map_or(0, <[i64]>::len))
}

fn middles(mut values: Vec<i64>) -> Vec<i64> {
    values.sort_unstable();
    let n = values.len();
    match n {
        0 => values,
        _ => values[(n - 1) / 2..=n / 2].to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_survive() {
        let of = |name: &str, values: &[i64]| (name.to_owned(), values.to_vec());
        let samples = Samples::from_raw(BTreeMap::from([
            of("elapsed_ns", &[9, 1, 5, 3]),
            of("teardown_ns", &[0, 9, 1, 1]),
            of("answer_total", &[7, 7, 7, 7]),
        ]));
        let slim = middle_repetitions(samples);
        assert_eq!(slim.raw("elapsed_ns"), Some(&[3, 5][..]));
        assert_eq!(slim.raw("elapsed_with_teardown_ns"), Some(&[6, 9][..]));
        assert_eq!(slim.raw("answer_total"), None);
        assert_eq!(repetitions(&slim), 4);
        assert_eq!(middle_repetitions(slim.clone()), slim);
    }
}
