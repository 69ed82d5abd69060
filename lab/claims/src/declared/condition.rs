//! Two formulas, compared over all that their values can be.

use super::select::{Value, Values};
use lab_audit::{Expression, checks::Span};

/// Two formulas and how they must relate.
pub(super) struct Condition {
    pub left: Expression,
    sign: &'static str,
    pub right: Expression,
}

impl Condition {
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = ["<=", ">=", "<", ">", "="].into_iter().find_map(|sign| {
            let (left, right) = text.split_once(sign)?;
            Some((left, sign, right))
        });
        let Some((left, sign, right)) = parts else {
            return Err(format!("`{text}` has none of = < <= > >="));
        };
        let read = |side: &str| {
            Expression::parse(side).ok_or_else(|| format!("`{}` is no formula", side.trim()))
        };
        Ok(Self { left: read(left)?, sign, right: read(right)? })
    }

    pub fn names(&self) -> Vec<&str> {
        self.left.names().into_iter().chain(self.right.names()).collect()
    }

    pub fn sides(&self, values: &Values<'_>, span: fn(&Value) -> Span) -> Option<(Span, Span)> {
        let of = |name: &str| values.get(name).map(span);
        Some((self.left.value(&of)?, self.right.value(&of)?))
    }

    /// Whether some pair of values relates like this.
    pub fn possible(&self, (left, right): (Span, Span)) -> bool {
        match self.sign {
            "<=" => !right.below(left),
            ">=" => !left.below(right),
            "<" => left.low < right.high,
            ">" => left.high > right.low,
            _ => left.meets(right),
        }
    }
}

/// A value for people, with at most five digits that count; a range where it has no one value.
pub(super) fn show(span: Span) -> String {
    let number = |value: f64| {
        let before = value.abs().max(1.0).log10().floor() as usize + 1;
        let text = format!("{value:.*}", 5_usize.saturating_sub(before));
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    if span.low == span.high {
        number(span.low)
    } else {
        format!("{} to {}", number(span.low), number(span.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_audit::Place;

    pub fn possible(text: &str) -> bool {
        let condition = Condition::parse(text).unwrap();
        let value = Value {
            span: Span::between(1.0, 2.0),
            exact: Span::exact(1.5),
            shown: vec![1.5],
            place: Place::default(),
        };
        let values = Values::from([("x", value)]);
        condition.possible(condition.sides(&values, |value| value.span).unwrap())
    }

    #[test]
    fn a_condition_fails_only_where_no_value_fulfils_it() {
        assert!(possible("x = 2") && possible("x <= 1") && possible("x >= 2"));
        assert!(possible("x < 1.5") && possible("x > 1.5"));
        assert!(!possible("x = 3") && !possible("x <= 0.5") && !possible("x >= 2.5"));
        assert!(!possible("x < 1") && !possible("x > 2"));
        assert!(Condition::parse("x + 1").is_err());
    }
}
