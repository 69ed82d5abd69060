//! t, p, degrees of freedom and the summaries that they come from.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, StudentsT};

use super::{Mismatch, Span};
use crate::Printed;

/// A p-value as printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum StatedP {
    /// `p = 0.03`.
    Equals(Printed),
    /// `p < 0.001`.
    Below(f64),
    /// `p > 0.05`.
    Above(f64),
}

/// Mean, standard deviation and size of one sample, as far as printing shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Mean.
    pub mean: Span,
    /// Standard deviation (either divisor).
    pub sd: Span,
    /// Size.
    pub n: usize,
}

/// A p-value that t with these degrees of freedom does not give, neither two-sided nor on either
/// side. `None` where it fits, or the degrees of freedom are below 1.
///
/// For z take infinite degrees of freedom. The computed values are the two-sided ones.
pub fn p_of_t(p: &StatedP, t: &Printed, df: Span) -> Option<Mismatch> {
    let two_sided = p_values(Span::of(t), df)?;
    let one_sided = two_sided.times(0.5);
    if p.allows(two_sided) || p.allows(one_sided) || p.is_other_side(one_sided) {
        return None;
    }
    Some(Mismatch {
        stated: p.value(),
        computed_low: two_sided.low,
        computed_high: two_sided.high,
        how: format!("two-sided p of t = {} with {} degrees of freedom", t.value, show(df)),
    })
}

/// The side that a one-sided test is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The alternative is greater.
    Greater,
    /// The alternative is less.
    Less,
}

/// A p-value that t gives on neither side of zero but the one that the alternative names.
pub fn p_of_tail(p: &StatedP, t: &Printed, df: Span, tail: Tail) -> Option<Mismatch> {
    let half = p_values(Span::of(t), df)?.times(0.5);
    let span = Span::of(t);
    let (along, against) = match tail {
        Tail::Greater => (span.low >= 0.0, span.high <= 0.0),
        Tail::Less => (span.high <= 0.0, span.low >= 0.0),
    };
    let computed = match (along, against) {
        (true, _) => half,
        (_, true) => Span { low: 1.0 - half.high, high: 1.0 - half.low },
        _ => return None,
    };
    (!p.allows(computed)).then(|| Mismatch {
        stated: p.value(),
        computed_low: computed.low,
        computed_high: computed.high,
        how: format!("one-sided p of t = {} with {} degrees of freedom", t.value, show(df)),
    })
}

/// A test statistic with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// Student's t.
    T(f64),
    /// Fisher's F, of the numerator and of the denominator.
    F(f64, f64),
    /// Pearson's χ².
    ChiSquare(f64),
    /// A correlation with so many degrees of freedom, pairs less two.
    R(f64),
    /// A standard normal deviate.
    Z,
}

/// A p-value that a statistic does not give. `None` where it fits, or the degrees of freedom are
/// below 1. t, r and z may be tested on one side, F and χ² are tested above.
/// Source of the idea: Nuijten and others (2016), Behavior Research Methods 48, pp. 1205-1226.
pub fn p_of(p: &StatedP, value: &Printed, statistic: Statistic) -> Option<Mismatch> {
    let span = absolute(Span::of(value));
    let (upper, name): (Span, String) = match statistic {
        Statistic::T(df) => return p_of_t(p, value, Span::exact(df)),
        Statistic::Z => return p_of_t(p, value, Span::exact(1e6)),
        Statistic::R(df) => return p_of_correlation(p, value, df as usize + 2),
        Statistic::F(a, b) => {
            let f = FisherSnedecor::new(a, b).ok().filter(|_| a >= 1.0 && b >= 1.0)?;
            (Span { low: f.sf(span.high), high: f.sf(span.low) }, format!("F({a}, {b})"))
        }
        Statistic::ChiSquare(df) => {
            let chi = ChiSquared::new(df).ok().filter(|_| df >= 1.0)?;
            (Span { low: chi.sf(span.high), high: chi.sf(span.low) }, format!("χ²({df})"))
        }
    };
    if p.allows(upper) {
        return None;
    }
    Some(Mismatch {
        stated: p.value(),
        computed_low: upper.low,
        computed_high: upper.high,
        how: format!("p of {name} = {}", value.value),
    })
}

/// A p-value that the t-test of one sample against zero does not give, on two sides or on one.
pub fn one_sample_p(p: &StatedP, sample: Summary) -> Option<Mismatch> {
    if sample.n < 2 {
        return None;
    }
    let error = root(wide_variance(sample)).times(1.0 / (sample.n as f64).sqrt());
    let t = absolute(sample.mean).over(error)?;
    let two_sided = p_values(t, Span::exact(sample.n as f64 - 1.0))?;
    if p.allows_exactly(two_sided) || p.allows_exactly(two_sided.times(0.5)) {
        return None;
    }
    Some(Mismatch {
        stated: p.value(),
        computed_low: two_sided.low,
        computed_high: two_sided.high,
        how: format!("two-sided p of the mean of {} values against zero", sample.n),
    })
}

/// An F of a one-way analysis of variance that the samples do not give, by a tenth and more.
/// `None` where they do or may have no spread.
pub fn f_of_samples(f: &Printed, samples: &[Summary]) -> Option<Mismatch> {
    let total: usize = samples.iter().map(|sample| sample.n).sum();
    let (groups, total) = (samples.len() as f64, total as f64);
    let weighted = samples.iter().map(|sample| sample.mean.times(sample.n as f64));
    let grand = weighted.reduce(Span::plus)?.times(1.0 / total);
    let gap = |sample: &Summary| absolute(Span::exact(sample.mean.middle() - grand.middle()));
    let between = samples.iter().map(|one| gap(one).by(gap(one)).times(one.n as f64));
    let between = between.reduce(Span::plus)?.times(1.0 / (groups - 1.0));
    let within = samples.iter().map(|one| wide_variance(*one).times(one.n as f64 - 1.0));
    let within = within.reduce(Span::plus)?.times(1.0 / (total - groups));
    let value = between.over(within)?;
    let allowed = Span { low: 0.9 * value.low, high: 1.1 * value.high };
    super::compare(f, allowed, || {
        format!("F({}, {}) of the {groups} samples", groups - 1.0, total - groups)
    })
}

/// The degrees of freedom that a t-test of two samples can have: n1 + n2 - 2 of Student's,
/// Welch's down to min(n1, n2) - 1, n - 1 of a paired one.
pub fn df_of_two(n1: usize, n2: usize) -> Option<Span> {
    let least = n1.min(n2).checked_sub(1)?;
    (least > 0).then(|| Span { low: least as f64, high: (n1 + n2 - 2) as f64 })
}

/// A t that neither Student's nor Welch's test of the two samples gives, whatever its sign.
/// `None` where one does, a sample has fewer than two values, or both may have no spread.
/// Sources: Student (1908), Biometrika 6(1); Welch (1947), Biometrika 34(1/2), pp. 28-35.
pub fn t_of_samples(t: &Printed, a: Summary, b: Summary) -> Option<Mismatch> {
    let allowed = t_values(a, b)?;
    let size = Printed { value: t.value.abs(), ..t.clone() };
    super::compare(&size, allowed, || {
        format!("|t| of Student's or Welch's test of samples of {} and {}", a.n, b.n)
    })
}

/// A p-value that neither Student's nor Welch's test of the two samples gives. `None` as for
/// [`t_of_samples`].
pub fn p_of_samples(p: &StatedP, a: Summary, b: Summary) -> Option<Mismatch> {
    let two_sided = p_values(t_values(a, b)?, df_of_two(a.n, b.n)?)?;
    let either = Span { low: two_sided.low / 2.0, high: two_sided.high };
    if p.allows(either) || p.is_other_side(two_sided.times(0.5)) {
        return None;
    }
    Some(Mismatch {
        stated: p.value(),
        computed_low: two_sided.low,
        computed_high: two_sided.high,
        how: format!("two-sided p of Student's or Welch's test of samples of {} and {}", a.n, b.n),
    })
}

/// A p-value that a correlation of `n` pairs does not give, by t = r √((n - 2)/(1 - r²)).
/// `None` where it fits or below three pairs.
pub fn p_of_correlation(p: &StatedP, r: &Printed, n: usize) -> Option<Mismatch> {
    let freedom = n.checked_sub(2).filter(|&df| df > 0)? as f64;
    let r_span = Span::of(r);
    let t = |r: f64| {
        let r = r.clamp(-1.0, 1.0);
        r * (freedom / (1.0 - r * r).max(1e-300)).sqrt()
    };
    let two_sided =
        p_values(Span { low: t(r_span.low), high: t(r_span.high) }, Span::exact(freedom))?;
    if p.allows(two_sided) || p.allows(two_sided.times(0.5)) {
        return None;
    }
    Some(Mismatch {
        stated: p.value(),
        computed_low: two_sided.low,
        computed_high: two_sided.high,
        how: format!("two-sided p of r = {} of {n} pairs", r.value),
    })
}

/// An effect size (Cohen's d, or Glass's with either sample's spread) that the two samples do
/// not give, whatever its sign. `None` where one does. Source: Cohen (1988), Statistical Power
/// Analysis for the Behavioral Sciences, 2nd ed., p. 20.
pub fn cohens_d(d: &Printed, a: Summary, b: Summary) -> Option<Mismatch> {
    let gap = distance(a.mean, b.mean);
    let mean_square = a.sd.by(a.sd).plus(b.sd.by(b.sd)).times(0.5);
    let pooled = root(pooled_variance(a, b)?);
    let spreads = [root(mean_square), pooled, a.sd, b.sd];
    // Hedges's correction for few values makes it smaller.
    let correction = 1.0 - 3.0 / (4.0 * (a.n + b.n - 2) as f64 - 1.0);
    let corrected = |span: Span| Span { low: span.low * correction, ..span };
    let allowed: Vec<Span> =
        spreads.into_iter().map(|spread| gap.over(spread).map(corrected)).collect::<Option<_>>()?;
    let size = Printed { value: d.value.abs(), ..d.clone() };
    let how = || "difference of means over a standard deviation".to_owned();
    let wrong = allowed.into_iter().map(|span| super::compare(&size, span, how));
    let wrong: Vec<Mismatch> = wrong.collect::<Option<_>>()?;
    let away = |one: &Mismatch| (one.computed() - size.value).abs();
    wrong.into_iter().min_by(|a, b| away(a).total_cmp(&away(b)))
}

impl StatedP {
    pub(super) fn value(&self) -> f64 {
        match self {
            Self::Equals(printed) => printed.value,
            Self::Below(value) | Self::Above(value) => *value,
        }
    }

    /// Whether a p somewhere in this span can be stated so. Tables of critical values and exact
    /// tests differ a little; a tenth of the value is allowed on top of printing.
    pub(super) fn allows(&self, computed: Span) -> bool {
        let wide = Span { low: computed.low * 0.9, high: computed.high * 1.1 };
        match self {
            // `p = 0.000` is what software prints for anything smaller.
            Self::Equals(printed) => Span::of(printed).meets(wide),
            Self::Below(bound) => wide.low < *bound,
            Self::Above(bound) => wide.high > *bound,
        }
    }

    /// The same where nothing but printing stands between.
    fn allows_exactly(&self, computed: Span) -> bool {
        match self {
            Self::Equals(printed) => Span::of(printed).meets(computed),
            _ => self.allows(computed),
        }
    }

    /// Whether an exact p is that of a one-sided test on the other side: rarely meant, never
    /// impossible.
    fn is_other_side(&self, one_sided: Span) -> bool {
        let other = Span { low: 1.0 - one_sided.high, high: 1.0 - one_sided.low };
        matches!(self, Self::Equals(printed) if Span::of(printed).meets(other))
    }
}

/// Two-sided p for every t and every number of degrees of freedom in the spans.
fn p_values(t: Span, df: Span) -> Option<Span> {
    if !t.is_finite() || df.low.is_nan() || df.low < 1.0 {
        return None;
    }
    let p = |t: f64, df: f64| {
        let student = StudentsT::new(0.0, 1.0, df.min(1e6)).ok()?;
        Some((2.0 * student.cdf(-t)).clamp(0.0, 1.0))
    };
    let size = absolute(t);
    Some(Span { low: p(size.high, df.high)?, high: p(size.low, df.low)? })
}

/// |t| by Student's and by Welch's test.
fn t_values(a: Summary, b: Summary) -> Option<Span> {
    let gap = distance(a.mean, b.mean);
    let (n1, n2) = (a.n as f64, b.n as f64);
    let pooled = pooled_variance(a, b)?.times(1.0 / n1 + 1.0 / n2);
    let separate = wide_variance(a).times(1.0 / n1).plus(wide_variance(b).times(1.0 / n2));
    let student = gap.over(root(pooled))?;
    let welch = gap.over(root(separate))?;
    Some(student.hull(welch))
}

fn pooled_variance(a: Summary, b: Summary) -> Option<Span> {
    if a.n < 2 || b.n < 2 {
        return None;
    }
    let (df1, df2) = (a.n as f64 - 1.0, b.n as f64 - 1.0);
    Some(wide_variance(a).times(df1).plus(wide_variance(b).times(df2)).times(1.0 / (df1 + df2)))
}

/// The sample variance, where the standard deviation may have been printed with either divisor.
fn wide_variance(sample: Summary) -> Span {
    let n = sample.n as f64;
    let (low, high) = (sample.sd.low.max(0.0), sample.sd.high.max(0.0));
    Span { low: low * low, high: high * high * n / (n - 1.0).max(1.0) }
}

fn distance(a: Span, b: Span) -> Span {
    absolute(a.minus(b))
}

fn absolute(span: Span) -> Span {
    if span.low <= 0.0 && span.high >= 0.0 {
        Span { low: 0.0, high: span.high.max(-span.low) }
    } else {
        Span::between(span.low.abs(), span.high.abs())
    }
}

fn root(span: Span) -> Span {
    Span { low: span.low.max(0.0).sqrt(), high: span.high.max(0.0).sqrt() }
}

fn show(df: Span) -> String {
    if df.low == df.high { format!("{}", df.low) } else { format!("{} to {}", df.low, df.high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    fn equals(text: &str) -> StatedP {
        StatedP::Equals(printed(text))
    }

    fn sample(mean: &str, sd: &str, n: usize) -> Summary {
        Summary { mean: Span::of(&printed(mean)), sd: Span::of(&printed(sd)), n }
    }

    /// Student's own tables: t(0.975, 9) = 2.262.
    #[test]
    fn p_of_t_from_the_table() {
        let t = printed("2.262");
        let df = Span::exact(9.0);
        assert_eq!(p_of_t(&equals("0.05"), &t, df), None);
        assert_eq!(p_of_t(&equals("0.025"), &t, df), None);
        assert_eq!(p_of_t(&StatedP::Below(0.05), &t, df), None);
        assert!(p_of_t(&StatedP::Below(0.001), &t, df).is_some());
        assert!(p_of_t(&StatedP::Above(0.2), &printed("-4.50"), df).is_some());
        let wrong = p_of_t(&equals("0.34"), &t, df).unwrap();
        assert!((wrong.computed() - 0.05).abs() < 0.001, "{wrong:?}");
        assert_eq!(p_of_t(&equals("0.34"), &t, Span::exact(0.0)), None);
    }

    /// R: 1 - pf(4.26, 2, 9) and 1 - pchisq(4.05, 1).
    #[test]
    fn p_of_f_and_of_chi_square() {
        let p = |text: &str, value: &str, test| p_of(&equals(text), &printed(value), test);
        assert_eq!(p("0.050", "4.26", Statistic::F(2.0, 9.0)), None);
        assert!(p("0.010", "4.26", Statistic::F(2.0, 9.0)).is_some());
        assert_eq!(p("0.044", "4.05", Statistic::ChiSquare(1.0)), None);
        assert!(p("0.004", "4.05", Statistic::ChiSquare(1.0)).is_some());
        assert_eq!(p("0.05", "1.96", Statistic::Z), None);
        assert_eq!(p("0.05", "0.632", Statistic::R(8.0)), None);
    }

    /// One-way F of three groups of 10, means 1, 2, 3, standard deviations 1: 10.
    #[test]
    fn f_and_p_of_samples() {
        let groups = ["1.00", "2.00", "3.00"].map(|mean| sample(mean, "1.00", 10));
        assert_eq!(f_of_samples(&printed("10.0"), &groups), None);
        assert!(f_of_samples(&printed("14.0"), &groups).is_some());
        // Mean 0.138, sd 0.313 of 18: t = 1.871, p = 0.079 on two sides.
        let one = sample("0.138", "0.313", 18);
        assert_eq!(one_sample_p(&equals("0.079"), one), None);
        assert!(one_sample_p(&equals("0.075"), one).is_some());
    }

    #[test]
    fn a_large_t_prints_as_zero() {
        assert_eq!(p_of_t(&equals("0.000"), &printed("12.0"), Span::exact(20.0)), None);
        assert!(p_of_t(&equals("0.049"), &printed("12.0"), Span::exact(20.0)).is_some());
    }

    /// Means 98.715 and 97.949, sds 1.207 and 4.030, n 30 each: Welch's t is 1.00, p 0.33.
    #[test]
    fn t_and_p_of_two_samples() {
        let (a, b) = (sample("98.72", "1.21", 30), sample("97.95", "4.03", 30));
        assert_eq!(t_of_samples(&printed("1.00"), a, b), None);
        assert_eq!(t_of_samples(&printed("-1.00"), a, b), None);
        assert_eq!(p_of_samples(&equals("0.33"), a, b), None);
        assert!(t_of_samples(&printed("5.20"), a, b).is_some());
        assert!(p_of_samples(&StatedP::Below(0.001), a, b).is_some());
        assert!(p_of_samples(&equals("0.01"), a, b).is_some());
        assert_eq!(t_of_samples(&printed("5.20"), sample("1", "1", 1), b), None);
    }

    #[test]
    fn effect_size_and_correlation() {
        let (a, b) = (sample("10.00", "2.00", 20), sample("12.00", "2.00", 20));
        assert_eq!(cohens_d(&printed("-1.00"), a, b), None);
        assert_eq!(cohens_d(&printed("0.98"), a, b), None);
        assert!(cohens_d(&printed("2.5"), a, b).is_some());
        // r = 0.632 of 10 pairs is the critical value at 5 %.
        assert_eq!(p_of_correlation(&equals("0.05"), &printed("0.632"), 10), None);
        assert!(p_of_correlation(&StatedP::Below(0.001), &printed("0.632"), 10).is_some());
        assert_eq!(p_of_correlation(&equals("0.05"), &printed("0.632"), 2), None);
    }
}
