//! Values called runs that no raw run contains.

use serde::Serialize;

use super::Span;
use crate::Printed;

/// How many printed values can be told apart as raw ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// How many have a raw value of their own that prints like them.
    pub matched: usize,
    /// Indices of those that have none.
    pub unmatched: Vec<usize>,
}

/// Gives each printed value a raw one of its own, as often as possible.
///
/// The whole list is taken as rounded or as cut off, whichever matches more: one program prints
/// one way. Matching points to intervals by the earliest end is largest possible (Glover 1967,
/// Naval Research Logistics Quarterly 14(3), pp. 313-316).
pub fn match_raw(printed: &[Printed], raw: &[f64]) -> Provenance {
    let rounded: Vec<Span> = printed.iter().map(as_rounded).collect();
    let cut: Vec<Span> = printed.iter().map(as_cut_off).collect();
    let (rounded, cut) = (assign(&rounded, raw), assign(&cut, raw));
    if cut.matched > rounded.matched { cut } else { rounded }
}

fn as_rounded(printed: &Printed) -> Span {
    let (low, high) = printed.range();
    if printed.approximate { Span::of(printed) } else { Span { low, high } }
}

fn as_cut_off(printed: &Printed) -> Span {
    let away = 2.0 * printed.half_step() * printed.value.signum();
    if printed.approximate {
        Span::of(printed)
    } else {
        Span::between(printed.value, printed.value + away)
    }
}

fn assign(intervals: &[Span], raw: &[f64]) -> Provenance {
    let mut raw: Vec<f64> = raw.iter().copied().filter(|raw| raw.is_finite()).collect();
    raw.sort_unstable_by(f64::total_cmp);
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by(|&a, &b| intervals[a].high.total_cmp(&intervals[b].high));
    let mut taken = vec![false; raw.len()];
    let mut unmatched = Vec::new();
    for index in order {
        let interval = intervals[index];
        let slack = 1e-9 * interval.low.abs().max(interval.high.abs());
        let first = raw.partition_point(|&value| value < interval.low - slack);
        let free = (first..raw.len())
            .take_while(|&at| raw[at] <= interval.high + slack)
            .find(|&at| !taken[at]);
        match free {
            Some(at) => taken[at] = true,
            None => unmatched.push(index),
        }
    }
    unmatched.sort_unstable();
    Provenance { matched: intervals.len() - unmatched.len(), unmatched }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed_all;

    #[test]
    fn each_raw_value_counts_once() {
        let found = match_raw(&printed_all("1.2 1.2 3.4"), &[1.21, 3.38, 9.0]);
        assert_eq!((found.matched, found.unmatched), (2, vec![1]));
    }

    #[test]
    fn cutting_off_is_a_way_to_print() {
        let raw = [1.29, 2.38, 3.47];
        assert_eq!(match_raw(&printed_all("1.2 2.3 3.4"), &raw).matched, 3);
        // One list is not printed in two ways.
        assert_eq!(match_raw(&printed_all("1.2 2.4 3.5"), &raw).matched, 2);
    }

    #[test]
    fn a_scarce_raw_value_goes_to_the_value_that_needs_it() {
        // 5 can be 4.6 or 5.4, 5.4 only 5.4.
        assert_eq!(match_raw(&printed_all("5 5.4"), &[4.6, 5.4]).matched, 2);
        assert_eq!(match_raw(&printed_all("5.4 5"), &[4.6, 5.4]).matched, 2);
    }
}
