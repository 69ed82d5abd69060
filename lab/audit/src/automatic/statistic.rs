//! A stated statistic against the values that it is of.

use super::role::Role;
use crate::Printed;
use crate::checks::order_statistics::{self, Fit, Middle};
use crate::checks::{Mismatch, Span, moments};

/// What is wrong with a statistic of values; `None` for what they do not give.
pub(crate) fn wrong(role: Role, stated: &Printed, rows: &[Span]) -> Option<Option<Mismatch>> {
    Some(match role {
        Role::Mean => moments::mean(stated, rows),
        Role::Geometric => moments::geometric(stated, rows),
        Role::Harmonic => moments::harmonic(stated, rows),
        Role::Weighted => moments::weighted(stated, rows),
        Role::Sd => moments::sd(stated, rows),
        Role::StandardError => moments::standard_error(stated, rows),
        Role::Cv => moments::cv(stated, rows),
        Role::Min => order_statistics::min(stated, rows),
        Role::Max => order_statistics::max(stated, rows),
        Role::Sum => moments::sum(stated, rows),
        Role::Percentile(p) if (p - 0.5).abs() < 1e-9 => median(stated, rows),
        Role::Percentile(p) => match order_statistics::percentile(stated, p, rows)? {
            Fit::Not(mismatch) => Some(mismatch),
            Fit::By(_) => None,
        },
        _ => return None,
    })
}

/// A median that is none, with the middle value that was taken for it.
fn median(stated: &Printed, rows: &[Span]) -> Option<Mismatch> {
    let wrong = order_statistics::median(stated, rows)?;
    let taken = match wrong.taken {
        Some(Middle::Upper) => " (the stated one is the upper of the two)",
        Some(Middle::Lower) => " (the stated one is the lower of the two)",
        None => "",
    };
    let how = format!("{}{taken}", wrong.mismatch.how);
    Some(Mismatch { how, ..wrong.mismatch })
}
