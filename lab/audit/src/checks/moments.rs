//! Mean, sum, standard deviation and coefficient of variation, from rows and from each other.

use super::{Mismatch, Span, compare};
use crate::Printed;

/// The mean of rows. `None` where it fits or there are no rows.
pub fn mean(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let allowed = mean_of(rows)?;
    compare(stated, allowed, || format!("mean of {} values", rows.len()))
}

/// The geometric mean of rows. `None` where it fits, or a row may not be above zero.
pub fn geometric(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let logarithm =
        |row: &Span| (row.low > 0.0).then(|| Span { low: row.low.ln(), high: row.high.ln() });
    let logs: Option<Vec<Span>> = rows.iter().map(logarithm).collect();
    let mean = mean_of(&logs?)?;
    let allowed = Span { low: mean.low.exp(), high: mean.high.exp() };
    compare(stated, allowed, || format!("geometric mean of {} values", rows.len()))
}

/// The harmonic mean of rows. `None` where it fits, or a row may be zero.
pub fn harmonic(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let one = Span::exact(1.0);
    let inverse: Option<Vec<Span>> = rows.iter().map(|row| one.over(*row)).collect();
    let allowed = one.over(mean_of(&inverse?)?)?;
    compare(stated, allowed, || format!("harmonic mean of {} values", rows.len()))
}

/// A mean with whatever weights, which lies between the extremes. `None` where it does.
pub fn weighted(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let allowed = rows.iter().copied().reduce(Span::hull)?;
    compare(stated, allowed, || format!("the extremes of {} values", rows.len()))
}

/// The sum of rows. `None` where it fits or there are no rows.
pub fn sum(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let allowed = mean_of(rows)?.times(rows.len() as f64);
    compare(stated, allowed, || format!("sum of {} values", rows.len()))
}

/// The standard deviation of rows, with the divisor n - 1 or n. `None` where either fits or
/// there are fewer than two rows.
pub fn sd(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let sample = sd_of(rows)?;
    either(stated, [sample, population(sample, rows.len())], || {
        format!("standard deviation of {} values, divisor n or n - 1", rows.len())
    })
}

/// A mismatch with two values of which either may be meant, and nothing between them; the nearer
/// one is reported.
fn either(stated: &Printed, allowed: [Span; 2], how: impl Fn() -> String) -> Option<Mismatch> {
    let [one, other] = allowed;
    let (first, second) = (compare(stated, one, &how)?, compare(stated, other, &how)?);
    let away = |mismatch: &Mismatch| (mismatch.computed() - stated.value).abs();
    Some(if away(&first) <= away(&second) { first } else { second })
}

/// The standard error of the mean of rows, sd/√n. `None` where it fits or there are fewer than
/// two rows.
pub fn standard_error(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let n = rows.len();
    let sample = sd_of(rows)?;
    let root = 1.0 / (n as f64).sqrt();
    either(stated, [sample.times(root), population(sample, n).times(root)], || {
        format!("standard deviation of {n} values over √{n}")
    })
}

/// The standard error of a printed standard deviation of `n` values, with the divisor n or n - 1 in
/// either. `None` where it fits or `n` is below 2.
pub fn standard_error_of(stated: &Printed, sd: &Printed, n: usize) -> Option<Mismatch> {
    if n < 2 {
        return None;
    }
    let size = n as f64;
    let error = Span::of(sd);
    let allowed = Span { low: error.low / size.sqrt(), high: error.high / (size - 1.0).sqrt() };
    compare(stated, allowed, || format!("{} / √{n}", sd.value))
}

/// The coefficient of variation of rows, as a share or in percent. `None` where it fits, there
/// are fewer than two rows, or the mean can be zero.
pub fn cv(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let sample = sd_of(rows)?;
    let sd = sample.hull(population(sample, rows.len()));
    cv_allowed(stated, sd, mean_of(rows)?, &format!("of {} values", rows.len()))
}

/// The coefficient of variation of a printed standard deviation and a printed mean, as a share
/// or in percent. `None` where it fits or the mean can be zero.
pub fn cv_of(stated: &Printed, sd: &Printed, mean: &Printed) -> Option<Mismatch> {
    let how = format!("of {} and {} as printed", sd.value, mean.value);
    cv_allowed(stated, Span::of(sd), Span::of(mean), &how)
}

/// What the mean of rows can be; `None` without rows.
pub fn mean_of(rows: &[Span]) -> Option<Span> {
    let sum = rows.iter().copied().reduce(Span::plus)?;
    Some(sum.times(1.0 / rows.len() as f64)).filter(|span| span.is_finite())
}

/// What the sample standard deviation (divisor n - 1) of rows can be; `None` below two rows.
///
/// Bounds by the triangle inequality: the distance of the true rows from their mean differs from
/// that of the middles by at most the length of the vector of half widths.
pub fn sd_of(rows: &[Span]) -> Option<Span> {
    if rows.len() < 2 {
        return None;
    }
    let centre = mean_of(rows)?.middle();
    let length = |squares: f64| (squares / (rows.len() as f64 - 1.0)).sqrt();
    let middles = length(rows.iter().map(|row| (row.middle() - centre).powi(2)).sum());
    let widths = length(rows.iter().map(|row| row.half_width().powi(2)).sum());
    let span = Span { low: (middles - widths).max(0.0), high: middles + widths };
    span.is_finite().then_some(span)
}

/// The same standard deviation with the divisor n.
fn population(sample: Span, n: usize) -> Span {
    sample.times(((n as f64 - 1.0) / n as f64).sqrt())
}

fn cv_allowed(stated: &Printed, sd: Span, mean: Span, of: &str) -> Option<Mismatch> {
    let share = sd.over(mean)?;
    // Some print it with the mean's sign.
    let share = if share.high <= 0.0 { share.times(-1.0) } else { share };
    let percent = share.times(100.0);
    let in_percent = stated.unit.as_deref() == Some("%");
    if !in_percent && Span::of(stated).meets(share) {
        return None;
    }
    compare(stated, percent, || format!("100 · standard deviation / mean {of}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{printed, printed_all, spans};

    fn rows(text: &str) -> Vec<Span> {
        spans(&printed_all(text))
    }

    const ROW: &str = "96.2 97.1 97.8 96.9 96.4";

    #[test]
    fn a_mean_fits_its_rows_or_does_not() {
        assert_eq!(mean(&printed("96.9"), &rows(ROW)), None);
        // 96.88 cut off instead of rounded.
        assert_eq!(mean(&printed("96.8"), &rows(ROW)), None);
        let wrong = mean(&printed("97.3"), &rows(ROW)).unwrap();
        assert!(wrong.computed_low > 96.8 && wrong.computed_high < 97.0, "{wrong:?}");
        assert_eq!(mean(&printed("1"), &[]), None);
    }

    #[test]
    fn exact_rows_leave_only_the_stated_rounding() {
        let exact: Vec<Span> = [1.0, 2.0, 3.0, 4.0].map(Span::exact).to_vec();
        assert_eq!(mean(&printed("2.5"), &exact), None);
        assert!(mean(&printed("2.6"), &exact).is_some());
        assert_eq!(sum(&printed("10"), &exact), None);
        assert!(sum(&printed("12"), &exact).is_some());
    }

    #[test]
    fn either_standard_deviation_is_accepted() {
        let exact: Vec<Span> = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(Span::exact).to_vec();
        assert_eq!(sd(&printed("2.000"), &exact), None);
        assert_eq!(sd(&printed("2.138"), &exact), None);
        assert!(sd(&printed("2.30"), &exact).is_some());
        assert!(sd(&printed("1.90"), &exact).is_some());
        assert_eq!(standard_error(&printed("0.756"), &exact), None);
        assert!(standard_error(&printed("0.9"), &exact).is_some());
    }

    #[test]
    fn a_standard_error_follows_from_its_deviation() {
        assert_eq!(standard_error_of(&printed("0.40"), &printed("2.00"), 25), None);
        assert!(standard_error_of(&printed("0.20"), &printed("2.00"), 25).is_some());
        assert_eq!(standard_error_of(&printed("0.20"), &printed("2.00"), 1), None);
    }

    #[test]
    fn coarse_rows_allow_a_wide_standard_deviation() {
        let coarse = rows("1 1 2");
        assert_eq!(sd(&printed("0.1"), &coarse), None);
        assert_eq!(sd(&printed("1.0"), &coarse), None);
        assert!(sd(&printed("2.5"), &coarse).is_some());
    }

    #[test]
    fn cv_as_a_share_or_in_percent() {
        assert_eq!(cv(&printed("0.64"), &rows(ROW)), None);
        assert_eq!(cv(&printed("0.006"), &rows(ROW)), None);
        assert!(cv(&printed("2.5"), &rows(ROW)).is_some());
        assert_eq!(cv_of(&printed("4.1"), &printed("4.03"), &printed("97.95")), None);
        let percent = Printed { unit: Some("%".to_owned()), ..printed("3.5") };
        assert!(cv_of(&percent, &printed("4.03"), &printed("97.95")).is_some());
        assert_eq!(cv_of(&printed("3.5"), &printed("1"), &printed("0")), None);
    }

    #[test]
    fn what_overflows_says_nothing() {
        let huge = [Span::exact(f64::MAX), Span::exact(f64::MAX)];
        assert_eq!(mean(&printed("1"), &huge), None);
        assert_eq!(sd(&printed("1"), &[Span::exact(f64::NAN); 3]), None);
    }
}
