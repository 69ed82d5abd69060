//! Totals against their parts, and time claimed against time measured.

use super::{Mismatch, Span};
use crate::Printed;

/// Parts that sum to more than the whole they lie in, when at most `lanes` of them can run at
/// once. `None` where they fit. The stated value is the whole, the computed one its least size.
pub fn parts_exceed(whole: &Printed, parts: &[Span], lanes: usize) -> Option<Mismatch> {
    let sum = parts.iter().copied().reduce(Span::plus)?.times(1.0 / lanes.max(1) as f64);
    // A single part cannot be shared out.
    let longest = parts.iter().map(|part| part.low).fold(f64::NEG_INFINITY, f64::max);
    let least = sum.low.max(longest);
    let slack = 1e-9 * least.abs();
    if !least.is_finite() || Span::of(whole).high + slack >= least {
        return None;
    }
    let how = format!("sum of {} parts, {} at a time", parts.len(), lanes.max(1));
    Some(Mismatch {
        stated: whole.value,
        computed_low: least,
        computed_high: sum.high.max(least),
        how,
    })
}

/// A duration claimed for a whole campaign that its runs fill to less than `share`. `None` where
/// they fill it, or nothing was claimed.
///
/// Set-up and pauses take time as well, so that this is a doubt and not a contradiction.
pub fn time_unaccounted(claimed: &Printed, runs: &[Span], share: f64) -> Option<Mismatch> {
    let sum = runs.iter().copied().reduce(Span::plus)?;
    let least = Span::of(claimed).low;
    if !sum.is_finite() || least <= 0.0 || sum.high >= share * least {
        return None;
    }
    let how = format!("sum of the durations of {} runs", runs.len());
    Some(Mismatch { stated: claimed.value, computed_low: sum.low, computed_high: sum.high, how })
}

/// A number of runs that is not the product of the sizes of its factors. Counts are exact:
/// `150` means 150. `None` where it fits or there are no factors.
pub fn product(stated: &Printed, factors: &[usize]) -> Option<Mismatch> {
    let product = factors.iter().map(|&factor| factor as f64).reduce(|a, b| a * b)?;
    if stated.approximate || stated.value == product {
        return None;
    }
    let names: Vec<String> = factors.iter().map(usize::to_string).collect();
    let how = names.join(" × ");
    Some(Mismatch { stated: stated.value, computed_low: product, computed_high: product, how })
}

/// A rate (per second, or per whatever unit the duration has) that a count and a duration do
/// not give. `None` where it fits or the duration can be zero.
pub fn rate(stated: &Printed, count: Span, duration: Span) -> Option<Mismatch> {
    let allowed = count.over(duration)?;
    super::compare(stated, allowed, || "count / duration".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::{printed, printed_all, spans};

    #[test]
    fn parts_fit_into_their_whole() {
        let parts = spans(&printed_all("10.2 20.1 5.0"));
        assert_eq!(parts_exceed(&printed("36"), &parts, 1), None);
        assert_eq!(parts_exceed(&printed("35"), &parts, 1), None);
        assert!(parts_exceed(&printed("30"), &parts, 1).is_some());
        assert_eq!(parts_exceed(&printed("21"), &parts, 2), None);
        // One part alone is longer than this.
        assert!(parts_exceed(&printed("19"), &parts, 8).is_some());
    }

    #[test]
    fn claimed_hours_need_runs() {
        let runs = vec![Span::exact(57.8 / 3600.0); 150];
        let found = time_unaccounted(&printed("12"), &runs, 0.5).unwrap();
        assert!((found.computed() - 2.41).abs() < 0.01, "{found:?}");
        assert_eq!(time_unaccounted(&printed("3"), &runs, 0.5), None);
    }

    #[test]
    fn counts_are_exact() {
        assert_eq!(product(&printed("150"), &[5, 6, 5]), None);
        assert!(product(&printed("150"), &[5, 6, 4]).is_some());
        assert_eq!(product(&printed("150"), &[]), None);
        assert_eq!(rate(&printed("2795"), Span::exact(1000.0), Span::exact(0.35776)), None);
        assert!(rate(&printed("2500"), Span::exact(1000.0), Span::exact(0.35776)).is_some());
    }
}
