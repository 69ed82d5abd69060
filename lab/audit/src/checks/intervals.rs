//! Confidence intervals against what they stand around.

use super::{Mismatch, Span, compare};
use crate::Printed;

/// An estimate outside of its own interval, or an observed value above the interval of a maximum.
/// `None` where it lies inside.
pub fn excludes(value: &Printed, low: &Printed, high: &Printed) -> Option<Mismatch> {
    let interval = Span::of(low).hull(Span::of(high));
    compare(value, interval, || format!("the interval from {} to {}", low.value, high.value))
}

/// Bounds in the wrong order.
pub fn reversed(low: &Printed, high: &Printed) -> bool {
    Span::of(high).below(Span::of(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    #[test]
    fn a_mean_lies_in_its_interval() {
        let [low, high] = ["95.1", "97.3"].map(printed);
        assert_eq!(excludes(&printed("96.2"), &low, &high), None);
        assert!(excludes(&printed("98.7"), &low, &high).is_some());
        assert!(reversed(&high, &low) && !reversed(&low, &high));
    }
}
