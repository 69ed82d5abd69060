//! Findings in the making, with what they are ranked by.

use crate::checks::Mismatch;
use crate::{Check, Finding, Place, Printed, Severity};

/// A finding and how far off it is.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) finding: Finding,
    /// Printed steps between what is stated and the nearest value that is possible.
    pub(crate) steps: f64,
}

impl Found {
    /// A stated number that its inputs do not give.
    pub(crate) fn mismatch(
        check: Check,
        severity: Severity,
        place: Place,
        stated: &Printed,
        mismatch: &Mismatch,
    ) -> Self {
        let allowed = allowed(stated, mismatch);
        let column = place.column.clone().unwrap_or_default();
        let row = place.row.clone().unwrap_or_default();
        let value = number(stated.value, stated.decimals);
        let sentence = format!("`{column}` of {row} is {value}; {} gives {allowed}", mismatch.how);
        let finding = Finding::new(check, severity, place, sentence, mismatch.how.clone())
            .values(Some(stated.value), Some(mismatch.computed()));
        Self { finding, steps: mismatch.steps_off(stated) }
    }

    /// A finding without a computed number.
    pub(crate) fn remark(
        check: Check,
        severity: Severity,
        place: Place,
        sentence: String,
        how: &str,
    ) -> Self {
        Self { finding: Finding::new(check, severity, place, sentence, how), steps: 0.0 }
    }

    pub(crate) fn against(mut self, place: Place) -> Self {
        self.finding.against = Some(place);
        self
    }

    pub(crate) fn values(mut self, stated: f64, computed: f64) -> Self {
        (self.finding.stated, self.finding.computed) = (Some(stated), Some(computed));
        self
    }

    pub(crate) fn sentence(mut self, sentence: String) -> Self {
        self.finding.sentence = sentence;
        self
    }
}

/// What is possible, with one digit more than was printed.
pub(crate) fn allowed(stated: &Printed, mismatch: &Mismatch) -> String {
    let digits = stated.decimals + 1;
    let (low, high) = (mismatch.computed_low, mismatch.computed_high);
    if low.abs() > 1e300 {
        return format!("at most {}", number(high, digits));
    }
    if high.abs() > 1e300 {
        return format!("at least {}", number(low, digits));
    }
    let (low, high) = (number(low, digits), number(high, digits));
    if low == high { low } else { format!("{low} to {high}") }
}

/// A number with as many digits as are sensible.
pub(crate) fn number(value: f64, decimals: i32) -> String {
    if value != 0.0 && !(1e-9..1e15).contains(&value.abs()) {
        return format!("{value:e}");
    }
    format!("{value:.*}", usize::try_from(decimals.clamp(0, 9)).unwrap_or(0))
}
