//! Tokens per second on real servers, whose replies may end early: over the reference's in the same
//! cell and block, as measured, and less what the lengths of the replies explain.

use std::collections::BTreeMap;

use lab_family::Unit::Share;
use lab_report::Column::{Code, Count, Interval, Number};
use lab_report::study::is_unpaired;
use lab_report::{Chapter, Effect, Line, Page, Reading, Study, Table, number};
use lab_stats::{describe::median, outcome::Outcome};

use super::over::{Place, others, values};

const RATES: [&str; 2] = ["tokens_per_s_stream", "tokens_per_s_pooled"];
/// Fewer pairs of unequal replies tell nothing of how a rate depends on their lengths.
const FEWEST_UNEQUAL: usize = 6;

/// Logarithms, over the reference's: of the tokens of all replies, and of a rate.
type Pair = (f64, f64);

/// A rate over the reference's.
struct Rate {
    pairs: usize,
    equal_share: f64,
    measured: Reading,
    slope: Option<f64>,
    /// Less what the lengths explain, where that is known.
    adjusted: Option<Reading>,
}

/// Not on the paced server, where every variant has the same replies.
fn ends_freely(study: &Study) -> bool {
    let servers = study.section.get("servers").and_then(toml::Value::as_str);
    servers == Some("given") && !is_unpaired(study.frame)
}

pub(super) fn write(study: &Study, page: &mut Page) {
    if !ends_freely(study) {
        return;
    }
    let rates = others(study).into_iter().flat_map(|variant| {
        let rate = move |metric| Some((variant, metric, Rate::of(study, variant, metric)?));
        RATES.into_iter().filter_map(rate)
    });
    let table = Table::over(
        rates,
        &[
            Code("", "variant", &|(variant, ..)| variant),
            Code("", "metric", &|(_, metric, _)| metric),
            Count("", "n", &|(.., rate)| rate.pairs),
            Number("", "equal_share", Share, &|(.., rate)| Some(rate.equal_share)),
            Interval("", "ratio", &|(.., rate)| Some(rate.measured)),
            number("slope", &|(.., rate)| rate.slope),
            Interval("", "adjusted", &|(.., rate)| rate.adjusted),
        ],
    );
    let what = "Tokens per second over the reference's, at replies of equal length too";
    page.chapter(Chapter::beside("rates-at-equal-lengths", what, table));
}

/// Which of the verdicts on a rate are not shown at replies of equal length.
pub(super) fn caveat(study: &Study) -> Option<String> {
    if !ends_freely(study) {
        return None;
    }
    let is_shown = |line: &&Line| matches!(line.finding.outcome, Outcome::Faster | Outcome::Slower);
    let mut gone = Vec::new();
    for compared in &study.compared {
        let metric = compared.comparison.metric.as_str();
        if !RATES.contains(&metric) {
            continue;
        }
        for line in compared.lines.iter().filter(is_shown) {
            let rate = Rate::of(study, &line.variant, metric);
            let at_equal = rate.and_then(|rate| rate.adjusted);
            gone.extend(at_equal.and_then(|at_equal| beside_one(&line.variant, &at_equal)));
        }
    }
    (!gone.is_empty()).then(|| {
        let gone = gone.join(", ");
        format!(
            "Replies end freely. At replies of equal length tokens per second differ by {gone}."
        )
    })
}

/// "-0.4 % (-2.1 … +1.2) for `smol`", where the interval holds no difference.
fn beside_one(variant: &str, ratio: &Reading) -> Option<String> {
    let (low, high) = ratio.low_high.filter(|(low, high)| *low <= 1.0 && 1.0 <= *high)?;
    let [estimate, low, high] = [ratio.estimate, low, high].map(|one| 100.0 * (one - 1.0));
    Some(format!("{estimate:+.1} % ({low:+.1} … {high:+.1}) for `{variant}`"))
}

impl Rate {
    fn of(study: &Study, variant: &str, metric: &str) -> Option<Self> {
        let pairs = pairs(study, variant, metric);
        let unequal = pairs.iter().filter(|(tokens, _)| *tokens != 0.0).count();
        let reading = |differences| Effect::of(differences).as_ref().map(Reading::of_ratio);
        let measured = reading(pairs.iter().map(|(_, rate)| *rate).collect())?;
        let slope = slope(&pairs).filter(|_| unequal >= FEWEST_UNEQUAL);
        let less = |slope: f64| pairs.iter().map(move |(tokens, rate)| rate - slope * tokens);
        let adjusted = match slope {
            Some(slope) => reading(less(slope).collect()),
            // Nothing to take off where all are equal, and nothing known where a few are not.
            None => Some(measured).filter(|_| unequal == 0),
        };
        let equal_share = 1.0 - unequal as f64 / pairs.len() as f64;
        Some(Self { pairs: pairs.len(), equal_share, measured, slope, adjusted })
    }
}

fn pairs(study: &Study, variant: &str, metric: &str) -> Vec<Pair> {
    let of = |metric| [variant, study.reference()].map(|name| values(study, name, metric));
    let (rates, tokens) = (of(metric), of("tokens"));
    let log_ratio = |[own, base]: &[BTreeMap<Place, f64>; 2], place: &Place| {
        Some((own.get(place)? / base.get(place)?).ln()).filter(|ratio| ratio.is_finite())
    };
    let pair = |place: &Place| Some((log_ratio(&tokens, place)?, log_ratio(&rates, place)?));
    rates[0].keys().filter_map(pair).collect()
}

/// How a rate depends on the length of the replies: the median slope of all two pairs of unequal
/// length (Theil 1950; Sen 1968, "Estimates of the regression coefficient based on Kendall's tau").
fn slope(pairs: &[Pair]) -> Option<f64> {
    let mut slopes = Vec::new();
    for (place, (tokens, rate)) in pairs.iter().enumerate() {
        let others = pairs[place + 1..].iter().filter(|(other, _)| other != tokens);
        slopes.extend(others.map(|(other, its_rate)| (its_rate - rate) / (other - tokens)));
    }
    median(&slopes)
}

#[cfg(test)]
mod tests {
    use lab_family::Unit;

    use super::*;

    #[test]
    fn the_slope_is_that_of_most_pairs() {
        let on_a_line = |tokens: f64| (tokens, 0.1 + 0.5 * tokens);
        let mut pairs: Vec<Pair> = [-0.4, -0.1, 0.0, 0.2, 0.3, 0.7].map(on_a_line).to_vec();
        assert!((slope(&pairs).unwrap() - 0.5).abs() < 1e-12);
        pairs.push((0.5, 40.0));
        assert!((slope(&pairs).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(slope(&[(0.0, 0.1), (0.0, 0.2)]), None);
    }

    #[test]
    fn only_what_may_be_nothing_is_named() {
        let ratio = |estimate, low, high| Reading {
            estimate,
            low_high: Some((low, high)),
            n: 18,
            unit: Unit::Times,
        };
        let named = beside_one("smol", &ratio(0.996, 0.98, 1.01));
        assert_eq!(named.as_deref(), Some("-0.4 % (-2.0 … +1.0) for `smol`"));
        assert_eq!(beside_one("smol", &ratio(0.95, 0.9, 0.99)), None);
        assert_eq!(beside_one("smol", &ratio(1.2, 1.1, 1.3)), None);
    }
}
