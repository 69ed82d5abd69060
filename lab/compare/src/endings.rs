//! How the runs of two commands ended: where some ended otherwise than others, or crashed, a ratio
//! of their times says nothing.

use std::{collections::BTreeMap, ops::RangeInclusive};

use serde::Serialize;

/// What a shell ends with where a signal ended its command: 128 and the signal's number.
const OF_SIGNALS: RangeInclusive<i32> = 129..=192;

/// Numbers of runs by their statuses, of the rounds that held both commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Endings {
    reference: BTreeMap<i32, usize>,
    candidate: BTreeMap<i32, usize>,
}

impl Endings {
    /// Takes a round's.
    pub(crate) fn push(&mut self, [reference, candidate]: [i32; 2]) {
        *self.reference.entry(reference).or_default() += 1;
        *self.candidate.entry(candidate).or_default() += 1;
    }

    /// Whether a run crashed, or they did not all end alike.
    pub(crate) fn forbid_a_ratio(&self) -> bool {
        let mut all = self.reference.keys().chain(self.candidate.keys());
        let Some(first) = all.next() else { return false };
        signal(*first).is_some() || all.any(|other| other != first)
    }

    /// "new ends with status 1 in 3 of 20 runs, old with status 0".
    pub fn said(&self, [reference, candidate]: [&str; 2]) -> String {
        let (own, other) = (statuses(&self.candidate), statuses(&self.reference));
        format!("{candidate} ends {own}, {reference} {other}")
    }
}

fn signal(status: i32) -> Option<i32> {
    OF_SIGNALS.contains(&status).then(|| status - 128)
}

/// Those with which runs failed, and the only one in any case.
fn statuses(counts: &BTreeMap<i32, usize>) -> String {
    let named = |status: i32| match signal(status) {
        Some(signal) => format!("with status {status} (signal {signal})"),
        None => format!("with status {status}"),
    };
    let all: usize = counts.values().sum();
    let counted = |(status, count): (&i32, &usize)| match *count == all {
        true => named(*status),
        false => format!("{} in {count} of {all} runs", named(*status)),
    };
    // Where some succeeded the others are told.
    let told = counts.iter().filter(|(status, _)| **status != 0 || counts.len() == 1);
    told.map(counted).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[[i32; 2]]) -> Endings {
        let mut endings = Endings::default();
        pairs.iter().for_each(|pair| endings.push(*pair));
        endings
    }

    #[test]
    fn times_are_compared_of_runs_that_all_end_alike_and_do_not_crash() {
        for (pairs, forbidden) in [
            (&[][..], false),
            (&[[0, 0]], false),
            (&[[1, 1], [1, 1]], false),
            (&[[255, 255]], false),
            (&[[0, 1]], true),
            (&[[0, 0], [1, 1]], true),
            (&[[139, 139]], true),
        ] {
            assert_eq!(of(pairs).forbid_a_ratio(), forbidden, "{pairs:?}");
        }
    }

    #[test]
    fn the_statuses_that_differ_are_counted() {
        let said = |pairs: &[[i32; 2]]| of(pairs).said(["old", "new"]);
        assert_eq!(said(&[[0, 3], [0, 3]]), "new ends with status 3, old with status 0");
        assert_eq!(
            said(&[[0, 1], [0, 1], [0, 0]]),
            "new ends with status 1 in 2 of 3 runs, old with status 0"
        );
        assert_eq!(
            said(&[[2, 0], [1, 0], [2, 0]]),
            "new ends with status 0, old with status 1 in 1 of 3 runs and with status 2 in 2 of 3 \
             runs"
        );
        assert_eq!(said(&[[0, 139]]), "new ends with status 139 (signal 11), old with status 0");
    }
}
