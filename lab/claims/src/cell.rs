//! What a cell of a table, or the `value` of a claim, says.

use std::sync::LazyLock;

use regex::Regex;

use super::Comparator;
use lab_audit::{Printed, printed::unit};

/// A cell, read.
#[derive(Debug, Clone, PartialEq)]
pub enum CellValue {
    /// Nothing, `N/A`, a dash.
    Empty,
    /// A number; `<0.001` says that the quantity is below.
    Number(Comparator, Printed),
    /// `1.94-1.96x`: the smallest and the largest of what is spoken of.
    Range(Printed, Printed),
    /// A name.
    Text(String),
}

// A number, marks before it, and perhaps a dash and a second number.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:[eE]([+-]?\d+))?";
    let pattern =
        format!(r"^\s*(~|≈|<=|>=|<|>|≤|≥|±)?\s*([+\-−]?){number}(?:\s*(?:-|–|…)\s*{number})?");
    Regex::new(&pattern).expect("the pattern is tested")
});

impl CellValue {
    /// Reads a cell's text. A number is taken where the text begins with one: what follows is a
    /// unit or a remark.
    pub fn read(text: &str) -> Self {
        let text = text.replace("**", "").replace('`', "");
        let text = text.trim();
        if ["", "-", "–", "—", "N/A", "n/a", "NA"].contains(&text) {
            return Self::Empty;
        }
        let Some(found) = NUMBER.captures(text) else { return Self::Text(text.to_owned()) };
        let group = |index: usize| found.get(index).map_or("", |part| part.as_str());
        let mark = group(1);
        let negative = ["-", "−"].contains(&group(2));
        let Some(first) = printed(group(3), group(4), negative, mark) else {
            return Self::Text(text.to_owned());
        };
        let unit = unit_of(&text[found.get(0).map_or(0, |whole| whole.end())..]);
        if let Some(second) = printed(group(5), group(6), false, mark) {
            let unit_too = |printed: Printed| Printed { unit: unit.clone(), ..printed };
            return Self::Range(unit_too(first), unit_too(second));
        }
        Self::Number(comparator(mark), Printed { unit, ..first })
    }

    /// The same in the unit `wanted`, where the cell has another unit of the same dimension that is
    /// a power of ten larger or smaller (`2.19 ms` of a metric in `µs`).
    pub fn in_unit(self, wanted: &str) -> Self {
        match self {
            Self::Number(mark, printed) => Self::Number(mark, in_unit(printed, wanted)),
            Self::Range(low, high) => Self::Range(in_unit(low, wanted), in_unit(high, wanted)),
            Self::Empty | Self::Text(_) => self,
        }
    }
}

/// The unit that directly follows a number.
fn unit_of(rest: &str) -> Option<String> {
    let token = rest.trim_start().split([' ', '(', ',', ';']).next()?;
    unit::known(token)
}

fn in_unit(printed: Printed, wanted: &str) -> Printed {
    let factor = || {
        let wanted = unit::known(wanted)?;
        let factor = unit::factor(printed.unit.as_deref()?, &wanted)?;
        let digits = factor.log10().round();
        ((factor.log10() - digits).abs() < 1e-9).then_some((digits as i32, wanted))
    };
    let Some((digits, wanted)) = factor() else { return printed };
    let value = if digits < 0 {
        printed.value / 10f64.powi(-digits)
    } else {
        printed.value * 10f64.powi(digits)
    };
    Printed { value, decimals: printed.decimals - digits, unit: Some(wanted), ..printed }
}

fn comparator(mark: &str) -> Comparator {
    match mark {
        "<" => Comparator::Below,
        ">" => Comparator::Above,
        "<=" | "≤" => Comparator::AtMost,
        ">=" | "≥" => Comparator::AtLeast,
        _ => Comparator::Equal,
    }
}

fn printed(digits: &str, exponent: &str, negative: bool, mark: &str) -> Option<Printed> {
    let plain = digits.replace(',', "");
    let size: f64 =
        format!("{plain}e{}", if exponent.is_empty() { "0" } else { exponent }).parse().ok()?;
    let after_point = plain.split_once('.').map_or(0, |(_, digits)| digits.len());
    let decimals = i32::try_from(after_point).ok()? - exponent.parse::<i32>().unwrap_or(0);
    let value = if negative { -size } else { size };
    let approximate = ["~", "≈"].contains(&mark);
    value.is_finite().then_some(Printed { value, decimals, unit: None, approximate })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> (f64, i32) {
        match CellValue::read(text) {
            CellValue::Number(Comparator::Equal, printed) => (printed.value, printed.decimals),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_lose_their_remarks() {
        assert_eq!(number("**98.70** 🏆"), (98.7, 2));
        assert_eq!(number("-1.9pp"), (-1.9, 1));
        assert_eq!(number("+0.04pp"), (0.04, 2));
        assert_eq!(number("12,345.6 ms"), (12_345.6, 1));
        assert_eq!(number("99.29% (gpu80_ctx2048)"), (99.29, 2));
        assert_eq!(number("1.5e3"), (1500.0, -2));
    }

    #[test]
    fn another_unit_of_the_same_dimension_is_converted_with_its_digits() {
        let read = |text: &str| match CellValue::read(text).in_unit("µs") {
            CellValue::Number(_, printed) => (printed.value, printed.decimals),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(read("2.19 ms"), (2190.0, -1));
        assert_eq!(read("~5ms (est.)"), (5000.0, -3));
        assert_eq!(read("546 µs"), (546.0, 0));
        assert_eq!(read("16.8M tx/sec"), (16.8, 1));
        assert_eq!(read("7"), (7.0, 0));
    }

    #[test]
    fn ranges_bounds_names_and_nothing_are_told_apart() {
        assert!(matches!(CellValue::read("1.94-1.96x"), CellValue::Range(a, b)
            if a.value == 1.94 && b.value == 1.96));
        assert!(matches!(CellValue::read("<0.001"), CellValue::Number(Comparator::Below, _)));
        assert!(matches!(CellValue::read("~42 tok/s"), CellValue::Number(_, p) if p.approximate));
        assert_eq!(CellValue::read(" N/A "), CellValue::Empty);
        assert_eq!(CellValue::read("gpu80_ctx512"), CellValue::Text("gpu80_ctx512".into()));
    }
}
