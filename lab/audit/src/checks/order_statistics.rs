//! Minimum, maximum, median and percentiles.
//!
//! Every one of them never falls when a row grows, so that its bounds are those of the lower ends
//! and of the upper ends.

use serde::Serialize;

use super::{Mismatch, Span, compare, surely_below};
use crate::Printed;

/// A definition of a percentile by its number in Hyndman and Fan (1996), "Sample Quantiles in
/// Statistical Packages", The American Statistician 50(4), pp. 361-365. Definition 1 is the
/// nearest rank, 7 is the default of R and NumPy, 6 that of Minitab and SPSS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Definition(pub u8);

/// What a stated percentile is to its rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Fit {
    /// These definitions give it.
    By(Vec<Definition>),
    /// None does, nor anything between the order statistics next to it.
    Not(Mismatch),
}

/// A median that its rows do not give.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WrongMedian {
    /// The two values.
    pub mismatch: Mismatch,
    /// The value that was taken instead, where it is one of the two in the middle.
    pub taken: Option<Middle>,
}

/// One of the two values in the middle of an even number of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Middle {
    /// The n/2-th.
    Lower,
    /// The n/2 + 1st: what an index of n/2 gives where counting starts at zero.
    Upper,
}

/// The smallest of rows. `None` where it fits or there are no rows.
pub fn min(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let allowed = at(&ends(rows)?, 0);
    compare(stated, allowed, || format!("smallest of {} values", rows.len()))
}

/// The largest of rows. `None` where it fits or there are no rows.
pub fn max(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let allowed = at(&ends(rows)?, rows.len() - 1);
    compare(stated, allowed, || format!("largest of {} values", rows.len()))
}

/// The median of rows: the middle value, or the mean of the two in the middle. `None` where it
/// fits or there are no rows.
pub fn median(stated: &Printed, rows: &[Span]) -> Option<WrongMedian> {
    let sorted = ends(rows)?;
    let n = rows.len();
    let (lower, upper) = (at(&sorted, (n - 1) / 2), at(&sorted, n / 2));
    let how = || {
        if n % 2 == 1 {
            format!("value {} of {n} in order", n / 2 + 1)
        } else {
            format!("mean of values {} and {} of {n} in order", n / 2, n / 2 + 1)
        }
    };
    let mismatch = compare(stated, lower.plus(upper).times(0.5), how)?;
    let stated = Span::of(stated);
    let taken = if n % 2 == 1 {
        None
    } else if stated.meets(upper) {
        Some(Middle::Upper)
    } else {
        stated.meets(lower).then_some(Middle::Lower)
    };
    Some(WrongMedian { mismatch, taken })
}

/// The percentile `p` in (0, 1) of rows, by any usual definition. `None` without rows or for a
/// `p` outside.
///
/// [`Fit::Not`] only beyond the order statistics that all nine definitions lie between, for
/// histograms and streaming estimates interpolate in ways of their own.
pub fn percentile(stated: &Printed, p: f64, rows: &[Span]) -> Option<Fit> {
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let sorted = ends(rows)?;
    let definitions = (1..=9).map(Definition);
    let value = |definition| quantile(&sorted, p, definition);
    let fits: Vec<Definition> =
        definitions.clone().filter(|&d| Span::of(stated).meets(value(d))).collect();
    if !fits.is_empty() {
        return Some(Fit::By(fits));
    }
    let around = definitions.map(value).chain(neighbours(&sorted, p)).reduce(Span::hull)?;
    let n = rows.len();
    let how = || format!("percentile {} of {n} values by any of nine definitions", 100.0 * p);
    Some(compare(stated, around, how).map_or(Fit::By(Vec::new()), Fit::Not))
}

/// Percentiles of one sample, as pairs of p in [0, 1] and value, that fall where p rises: the
/// indices of the first such pair.
pub fn out_of_order(percentiles: &[(f64, Printed)]) -> Option<(usize, usize)> {
    let count = percentiles.len();
    let mut pairs = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
    pairs.find(|&(i, j)| {
        let ((p, low), (q, high)) = (&percentiles[i], &percentiles[j]);
        p < q && surely_below(high, low)
    })
}

/// The order statistics on both sides of position n·p, one further each way.
fn neighbours(sorted: &[Span], p: f64) -> impl Iterator<Item = Span> {
    let n = sorted.len();
    let position = (n as f64 * p).floor() as usize;
    let around = position.saturating_sub(1)..=(position + 1).min(n - 1);
    around.map(move |index| at(sorted, index)).collect::<Vec<_>>().into_iter()
}

/// Sorted lower ends beside sorted upper ends.
fn ends(rows: &[Span]) -> Option<Vec<Span>> {
    if rows.is_empty() || rows.iter().any(|row| !row.is_finite()) {
        return None;
    }
    let mut low: Vec<f64> = rows.iter().map(|row| row.low).collect();
    let mut high: Vec<f64> = rows.iter().map(|row| row.high).collect();
    low.sort_unstable_by(f64::total_cmp);
    high.sort_unstable_by(f64::total_cmp);
    Some(low.into_iter().zip(high).map(|(low, high)| Span { low, high }).collect())
}

fn at(sorted: &[Span], index: usize) -> Span {
    sorted[index]
}

/// Hyndman and Fan, p. 361: Q(p) = (1 - γ) X(j) + γ X(j + 1) with j = ⌊pn + m⌋.
fn quantile(sorted: &[Span], p: f64, definition: Definition) -> Span {
    let n = sorted.len() as f64;
    let offset = match definition.0 {
        1 | 2 | 4 => 0.0,
        3 => -0.5,
        5 => 0.5,
        6 => p,
        7 => 1.0 - p,
        8 => (p + 1.0) / 3.0,
        _ => p / 4.0 + 3.0 / 8.0,
    };
    let position = n * p + offset;
    // p is rarely a binary fraction: 0.95 · 20 must be 19.
    let position =
        if (position - position.round()).abs() < 1e-9 { position.round() } else { position };
    let (j, rest) = (position.floor(), position - position.floor());
    let weight = match definition.0 {
        1 => f64::from(rest > 0.0),
        2 => {
            if rest > 0.0 {
                1.0
            } else {
                0.5
            }
        }
        3 => f64::from(rest > 0.0 || j % 2.0 != 0.0),
        _ => rest,
    };
    let pick = |rank: f64| sorted[(rank.max(1.0) as usize).min(sorted.len()) - 1];
    pick(j).times(1.0 - weight).plus(pick(j + 1.0).times(weight))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{printed, printed_all, spans};

    fn exact(values: &[f64]) -> Vec<Span> {
        values.iter().copied().map(Span::exact).collect()
    }

    fn one_to(n: u32) -> Vec<Span> {
        (1..=n).map(|value| Span::exact(f64::from(value))).collect()
    }

    #[test]
    fn extremes_must_be_there() {
        let rows = spans(&printed_all("94.8 99.2 98.1"));
        assert_eq!(max(&printed("99.2"), &rows), None);
        assert_eq!(max(&printed("99"), &rows), None);
        assert!(max(&printed("99.9"), &rows).is_some());
        assert_eq!(min(&printed("94.80"), &rows), None);
        assert!(min(&printed("86.4"), &rows).is_some());
        assert_eq!(min(&printed("1"), &[]), None);
    }

    #[test]
    fn a_median_of_an_even_number_is_no_single_value() {
        let rows = exact(&[1.0, 2.0, 4.0, 9.0]);
        assert_eq!(median(&printed("3.0"), &rows), None);
        assert_eq!(median(&printed("4.0"), &rows).unwrap().taken, Some(Middle::Upper));
        assert_eq!(median(&printed("2.0"), &rows).unwrap().taken, Some(Middle::Lower));
        assert_eq!(median(&printed("7.0"), &rows).unwrap().taken, None);
        assert_eq!(median(&printed("2.0"), &exact(&[1.0, 2.0, 9.0])), None);
    }

    #[test]
    fn the_nine_definitions_as_r_gives_them() {
        // quantile(1:10, 0.33, type = 1..9)
        let wanted = [4.0, 4.0, 3.0, 3.3, 3.8, 3.63, 3.97, 3.743_333_333, 3.757_5];
        for (index, wanted) in wanted.into_iter().enumerate() {
            let got = quantile(&one_to(10), 0.33, Definition(index as u8 + 1)).low;
            assert!((got - wanted).abs() < 1e-6, "definition {}: {got}", index + 1);
        }
    }

    #[test]
    fn a_percentile_says_which_definition_it_is() {
        let fit = percentile(&printed("19.00"), 0.95, &one_to(20)).unwrap();
        assert_eq!(fit, Fit::By([1, 3, 4].map(Definition).to_vec()));
        let fit = percentile(&printed("19.050"), 0.95, &one_to(20)).unwrap();
        assert_eq!(fit, Fit::By(vec![Definition(7)]));
        assert!(matches!(percentile(&printed("15"), 0.95, &one_to(20)), Some(Fit::Not(_))));
        assert_eq!(percentile(&printed("15"), 1.0, &one_to(20)), None);
    }

    #[test]
    fn a_single_value_is_every_percentile() {
        for p in [0.01, 0.5, 0.99] {
            assert!(matches!(percentile(&printed("1.0"), p, &one_to(1)), Some(Fit::By(_))));
        }
    }

    #[test]
    fn percentiles_rise() {
        let row = |values: [&str; 3]| {
            let [p50, p95, p99] = values.map(printed);
            out_of_order(&[(0.5, p50), (0.95, p95), (0.99, p99)])
        };
        assert_eq!(row(["981", "1981", "1983"]), None);
        // Printed with different digits, 10 may have been 9.7.
        assert_eq!(row(["10", "9.8", "11"]), None);
        assert_eq!(row(["10.0", "9.8", "11.0"]), Some((0, 1)));
        assert_eq!(row(["981", "1981", "1970"]), Some((1, 2)));
    }
}
