//! Differences in words: "takes 48.0 % (31.8 … 62.8) less elapsed time than `a`".

use lab_family::{Metric, Unit, Verb};
use lab_record::Scale;
use lab_stats::paired::ShiftEstimate;

use crate::study::{Compared, Study, show_on};
use crate::tables::show_with_ends;

/// From this ratio on people read "3.00 times" more easily than "200 % more".
const TIMES_FROM: f64 = 2.0;

/// How differences of one metric are said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    metric: Option<&'static Metric>,
    scale: Scale,
}

impl Words {
    pub(crate) fn of(metric: Option<&'static Metric>, scale: Scale) -> Self {
        Self { metric, scale }
    }

    /// "takes", of one; "take", of several.
    pub(crate) fn verb(self, is_one: bool) -> &'static str {
        self.metric.map_or(Verb::Has, |metric| metric.verb).form(is_one)
    }

    /// "less", where the difference is below 0.
    pub(crate) fn comparative(self, difference: f64) -> &'static str {
        let is_more = difference > 0.0;
        match self.metric {
            Some(metric) => metric.comparative(is_more),
            None if is_more => "more",
            None => "less",
        }
    }

    /// "48.0 % (31.8 … 62.8) less elapsed time than `a`", "3.10 times (2.95 … 3.30) as much memory
    /// as `a`".
    pub(crate) fn against(self, shift: &ShiftEstimate, noun: &str, other: &str) -> String {
        let than = if self.is_times(shift.estimate) { "as" } else { "than" };
        format!("{} {noun} {than} {other}", self.alone(shift))
    }

    /// "48.0 % (31.8 … 62.8) less", "3.10 times (2.95 … 3.30) as much".
    pub(crate) fn alone(self, shift: &ShiftEstimate) -> String {
        format!("{} {}", self.sizes(shift), self.than(shift.estimate))
    }

    /// What follows the sizes of several whose largest difference this is.
    pub(crate) fn than(self, largest: f64) -> &'static str {
        match (self.is_times(largest), self.unit()) {
            (true, Unit::Count | Unit::PerSecond) => "as many",
            (true, Unit::Share | Unit::Times) => "as high",
            (true, Unit::Ns | Unit::Bytes) => "as much",
            (false, _) => self.comparative(largest),
        }
    }

    /// "48.0 %" of -0.654 as a logarithm, and "3.10 times" of 1.131.
    pub(crate) fn size(self, difference: f64) -> String {
        match self.is_times(difference) {
            true => times(difference.exp()),
            false => self.shown(difference.signum(), difference),
        }
    }

    /// The same, never in times: of what would have been seen.
    pub(crate) fn percent(self, difference: f64) -> String {
        self.shown(difference.signum(), difference)
    }

    /// The sizes of the least and the largest of several: in times where the largest is.
    pub(crate) fn range(self, [least, most]: [f64; 2]) -> String {
        let (low, high) = match self.is_times(most) {
            true => (times(least.exp()), times(most.exp())),
            false => (self.size(least), self.size(most)),
        };
        let (number, unit) = high.split_once(' ').unwrap_or((&high, ""));
        match low.split_once(' ') {
            Some((least, same)) if same == unit => format!("{least} to {number} {unit}"),
            _ => format!("{low} to {high}"),
        }
    }

    fn sizes(self, shift: &ShiftEstimate) -> String {
        let estimate = shift.estimate;
        let Some(ends) = shift.interval else { return self.size(estimate) };
        let sign = estimate.signum();
        let show = |end: f64| match self.is_times(estimate) {
            true => times(end.exp()),
            false => self.shown(sign, end),
        };
        let (near, far) = if sign < 0.0 { (ends.high, ends.low) } else { (ends.low, ends.high) };
        show_with_ends(&self.size(estimate), [&show(near), &show(far)])
    }

    /// A difference in the direction of `sign`: without a sign where it goes that way.
    fn shown(self, sign: f64, difference: f64) -> String {
        let shown = show_on(self.scale, self.unit(), difference);
        let (minus, size) = match shown.strip_prefix('-') {
            Some(size) => (true, size),
            None => (false, shown.trim_start_matches('+')),
        };
        let is_against = minus != (sign < 0.0) && difference != 0.0;
        format!("{}{size}", if is_against { "-" } else { "" })
    }

    fn is_times(self, difference: f64) -> bool {
        self.scale == Scale::Ratio && difference.exp() >= TIMES_FROM
    }

    fn unit(self) -> Unit {
        self.metric.map_or(Unit::Count, |metric| metric.unit)
    }
}

impl Compared<'_> {
    /// A difference in a table: "+48.0 %", and "6.83×" where it is said in times.
    pub(crate) fn in_short(&self, difference: f64) -> String {
        let ratio = difference.exp();
        match self.comparison.scale == Scale::Ratio && ratio >= TIMES_FROM {
            true => format!("{}×", digits(ratio)),
            false => self.show(difference),
        }
    }

    pub(crate) fn words(&self) -> Words {
        Words::of(self.metric, self.comparison.scale)
    }
}

impl Study<'_> {
    /// What people read instead of a metric's name; the name where the family has no such metric.
    pub fn noun(&self, metric: &str) -> String {
        self.metric(metric).map_or_else(|| format!("`{metric}`"), |known| known.noun.to_owned())
    }

    /// The same at the start of a line.
    pub(crate) fn heading(&self, metric: &str) -> String {
        let noun = self.noun(metric);
        let mut letters = noun.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect()
    }

    /// Why a variant is compared, but is nobody's choice and no answer.
    pub(crate) fn no_choice(&self, variant: &str) -> Option<&'static str> {
        match self.floor() == Some(variant) {
            true => Some("limit"),
            false => self.family.no_choice(self.entry(variant)?),
        }
    }
}

fn times(ratio: f64) -> String {
    format!("{} times", digits(ratio))
}

fn digits(ratio: f64) -> String {
    let decimals = if ratio >= 100.0 {
        0
    } else if ratio >= 10.0 {
        1
    } else {
        2
    };
    format!("{ratio:.decimals$}")
}

#[cfg(test)]
mod tests {
    use lab_family::{higher, lower};
    use lab_stats::interval::Interval;

    use super::*;

    const TIME: &Metric = &lower(("a_ns", "time"), Unit::Ns, "");
    const RATE: &Metric = &higher(("a_per_s", "tokens per second"), Unit::PerSecond, "");
    const SHARE: &Metric = &higher(("a_share", "efficiency"), Unit::Share, "");

    fn shift(estimate: f64, low: f64, high: f64) -> ShiftEstimate {
        ShiftEstimate { estimate, interval: Some(Interval { low, high, confidence: 0.95 }) }
    }

    #[test]
    fn a_difference_is_a_size_and_a_direction() {
        let ratio = Words::of(Some(TIME), Scale::Ratio);
        let less = shift(0.5_f64.ln(), 0.4_f64.ln(), 1.1_f64.ln());
        assert_eq!(ratio.against(&less, "time", "`a`"), "50.0 % (-10.0 … 60.0) less time than `a`");
        let more = shift(4.0_f64.ln(), 3.0_f64.ln(), 12.5_f64.ln());
        let expected = "4.00 times (3.00 … 12.5) as much time as with x 1";
        assert_eq!(ratio.against(&more, "time", "with x 1"), expected);
        assert_eq!(ratio.alone(&more), "4.00 times (3.00 … 12.5) as much");
        let of = |metric| Words::of(Some(metric), Scale::Ratio).than(more.estimate);
        assert_eq!([RATE, SHARE].map(of), ["as many", "as high"]);
        let plain = Words::of(Some(TIME), Scale::Difference);
        assert_eq!(plain.alone(&shift(2_000.0, 1_000.0, 3_000.0)), "2 µs (1 … 3) more");
        assert_eq!(plain.size(0.0), "0 ns");
    }

    #[test]
    fn a_range_has_one_unit() {
        let ratio = Words::of(Some(TIME), Scale::Ratio);
        assert_eq!(ratio.range([1.1_f64.ln(), 1.5_f64.ln()]), "10.0 to 50.0 %");
        assert_eq!(ratio.range([1.5_f64.ln(), 3.0_f64.ln()]), "1.50 to 3.00 times");
        let plain = Words::of(Some(TIME), Scale::Difference);
        assert_eq!(plain.range([100.0, 2_000.0]), "100 ns to 2 µs");
    }
}
