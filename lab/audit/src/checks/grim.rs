//! Means and standard deviations that no whole numbers have.

use super::{Mismatch, Span};
use crate::Printed;

/// More candidate sums than this lie so close that any mean fits.
const MOST_SUMS: f64 = 1_000.0;

/// A mean of `n` whole numbers (or of multiples of `grain`) that no sum of them gives: GRIM.
/// Source: Brown and Heathers (2017), Social Psychological and Personality Science 8(4),
/// pp. 363-369.
///
/// `None` where one does, or where the digits printed cannot tell. The computed values are the
/// nearest means that are possible.
pub fn mean(stated: &Printed, n: usize, grain: f64) -> Option<Mismatch> {
    let span = Span::of(stated);
    if n == 0 || !grain.is_finite() || grain <= 0.0 || sums(span, n, grain)?.next().is_some() {
        return None;
    }
    let step = grain / n as f64;
    let below = (span.low / step).floor() * step;
    Some(Mismatch {
        stated: stated.value,
        computed_low: below,
        computed_high: below + step,
        how: format!("the nearest multiples of {grain}/{n}"),
    })
}

/// A standard deviation of `n` whole numbers (or of multiples of `grain`) that no sum of squares
/// gives with this mean: GRIMMER, with either divisor.
/// Source: Anaya (2016), PeerJ Preprints 4:e2400v1; the parity of the sum of squares (a square is
/// odd where its number is) from Allard (2018), "Analytic-GRIMMER".
///
/// `None` where one does, or where the digits printed cannot tell, or the mean itself is
/// impossible. The computed values are the nearest standard deviations that are possible.
pub fn sd(stated: &Printed, of_mean: &Printed, n: usize, grain: f64) -> Option<Mismatch> {
    if n < 2 || !grain.is_finite() || grain <= 0.0 {
        return None;
    }
    let span = Span::of(stated).times(1.0 / grain);
    let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut sums = sums(Span::of(of_mean), n, grain)?.peekable();
    sums.peek()?;
    for sum in sums {
        for divisor in [n as f64 - 1.0, n as f64] {
            let (lower, upper) = around(span, sum, n as f64, divisor)?;
            if upper <= span.high + 1e-9 {
                return None;
            }
            below = lower.map_or(below, |lower| below.max(lower));
            above = above.min(upper);
        }
    }
    // No value below is possible where the smallest sum of squares already gives more.
    let below = if below.is_finite() { below } else { above };
    Some(Mismatch {
        stated: stated.value,
        computed_low: below * grain,
        computed_high: above * grain,
        how: format!(
            "the nearest to it of {n} multiples of {grain} with the mean {}",
            of_mean.value
        ),
    })
}

/// A standard deviation that `n` outcomes of yes or no with this share of yes do not have: DEBIT.
/// Their share alone gives it, √(p (1 - p)), with either divisor. `whole` is 1 or, in percent, 100.
/// Source: Heathers and Brown (2019), "DEBIT: A Simple Consistency Test For Binary Data".
///
/// `None` where it fits, below two outcomes, or for a share that is none.
pub fn debit(stated: &Printed, share: &Printed, n: usize, whole: f64) -> Option<Mismatch> {
    let size = n as f64;
    let ends = Span::of(share).times(1.0 / whole);
    let (low, high) = (ends.low.max(0.0), ends.high.min(1.0));
    if n < 2 || low > high {
        return None;
    }
    let sd = |p: f64| (p * (1.0 - p)).sqrt();
    let most = sd(0.5f64.clamp(low, high));
    let least = sd(low).min(sd(high));
    let allowed = Span { low: least, high: most * (size / (size - 1.0)).sqrt() }.times(whole);
    super::compare(stated, allowed, || format!("√(p (1 - p)) of {n} outcomes of yes or no"))
}

/// The sums, in grains, whose mean prints as stated.
fn sums(span: Span, n: usize, grain: f64) -> Option<impl Iterator<Item = f64>> {
    let size = n as f64 / grain;
    let (low, high) = (span.low * size - 1e-6, span.high * size + 1e-6);
    if !(low.abs() < 4e15 && high.abs() < 4e15 && high - low <= MOST_SUMS) {
        return None;
    }
    let first = low.ceil();
    let count = (high.floor() - first + 1.0).max(0.0) as usize;
    Some((0..count).map(move |index| first + index as f64))
}

/// The largest standard deviation below the span and the smallest at or above its lower end, of
/// `n` whole numbers with this sum.
fn around(span: Span, sum: f64, n: f64, divisor: f64) -> Option<(Option<f64>, f64)> {
    let base = sum * sum / n;
    let of_squares = |squares: f64| ((squares - base).max(0.0) / divisor).sqrt();
    let low = span.low.max(0.0);
    let wanted = (low * low * divisor + base - 1e-6).ceil();
    // As even as possible: the smallest sum of squares that whole numbers of this sum have.
    let quotient = (sum / n).floor();
    let larger = sum - quotient * n;
    let least = larger * (quotient + 1.0).powi(2) + (n - larger) * quotient.powi(2);
    let mut squares = wanted.max(least);
    // Sums above 2^52 are no longer exact.
    if squares.is_nan() || squares > 4e15 {
        return None;
    }
    if (squares - sum).rem_euclid(2.0) != 0.0 {
        squares += 1.0;
    }
    let lower = squares - 2.0;
    Some(((lower >= least).then(|| of_squares(lower)), of_squares(squares)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    #[test]
    fn the_example_of_brown_and_heathers() {
        // Their page 364: a mean of 5.19 is impossible for 28 whole numbers; 5.18 and 5.21 are not.
        assert!(mean(&printed("5.19"), 28, 1.0).is_some());
        assert_eq!(mean(&printed("5.18"), 28, 1.0), None);
        assert_eq!(mean(&printed("5.21"), 28, 1.0), None);
        // One cut off: 145/28 = 5.178.
        assert_eq!(mean(&printed("5.17"), 28, 1.0), None);
    }

    #[test]
    fn a_share_of_yes_has_one_deviation() {
        // 20 of 30: √(0.667 · 0.333) = 0.471, and 0.479 with the divisor 29.
        let fits = |sd: &str| debit(&printed(sd), &printed("0.667"), 30, 1.0).is_none();
        assert!(fits("0.471") && fits("0.479"));
        assert!(!fits("0.31") && !fits("0.52"));
        assert_eq!(debit(&printed("47.1"), &printed("66.7"), 30, 100.0), None);
        assert_eq!(debit(&printed("0.3"), &printed("0.5"), 1, 1.0), None);
    }

    #[test]
    fn enough_values_make_every_mean_possible() {
        for hundredths in 0..100 {
            assert_eq!(mean(&printed(&format!("3.{hundredths:02}")), 100, 1.0), None);
        }
        assert_eq!(mean(&printed("3.14"), 0, 1.0), None);
        assert_eq!(mean(&printed("3"), usize::MAX, 1.0), None);
    }

    #[test]
    fn a_coarser_grain_leaves_fewer_means() {
        assert_eq!(mean(&printed("0.35"), 2, 0.1), None);
        assert!(mean(&printed("0.37"), 2, 0.1).is_some());
    }

    #[test]
    fn every_sample_of_small_whole_numbers_passes_and_some_others_do_not() {
        let mut impossible = 0;
        for a in 0..6_i32 {
            for b in 0..6_i32 {
                for c in 0..6_i32 {
                    let values = [a, b, c].map(f64::from);
                    let centre = values.iter().sum::<f64>() / 3.0;
                    let squares: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
                    let stated = printed(&format!("{centre:.2}"));
                    for divisor in [2.0, 3.0] {
                        let shown = printed(&format!("{:.2}", (squares / divisor).sqrt()));
                        assert_eq!(mean(&stated, 3, 1.0), None);
                        assert_eq!(sd(&shown, &stated, 3, 1.0), None, "{values:?} {shown:?}");
                        let off = Printed { value: shown.value + 0.05, ..shown.clone() };
                        impossible += usize::from(sd(&off, &stated, 3, 1.0).is_some());
                    }
                }
            }
        }
        assert!(impossible > 300, "{impossible}");
    }
}
