//! Tokens per second on real servers, whose replies may end early: over the reference's in the same
//! cell and block, as measured, and less what the lengths of the replies explain.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_report::study::is_unpaired;
use lab_report::{Effect, Entry, Page, Reading, Study, Table};
use lab_stats::describe::median;

use super::over::{Place, others, values};

const RATES: [&str; 2] = ["tokens_per_s_stream", "tokens_per_s_pooled"];
/// Fewer pairs of unequal replies tell nothing of how a rate depends on their lengths.
const FEWEST_UNEQUAL: usize = 6;

/// Logarithms, over the reference's: of the tokens of all replies, and of a rate.
type Pair = (f64, f64);

/// Nothing on the paced server, where every variant has the same replies.
pub(super) fn write(study: &Study, page: &mut Page) {
    let servers = study.section.get("servers").and_then(toml::Value::as_str);
    if servers != Some("given") || is_unpaired(study.frame) {
        return;
    }
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("rate", "metric"),
        ("n", "n"),
        ("equally long", "equal_share"),
        ("", "ratio"),
        ("", "ratio_low"),
        ("", "ratio_high"),
        ("", "slope"),
        ("", "adjusted"),
        ("", "adjusted_low"),
        ("", "adjusted_high"),
    ]);
    for variant in others(study) {
        for metric in RATES {
            row(study, variant, metric).into_iter().for_each(|row| table.row(row));
        }
    }
    if !table.is_empty() {
        let what = "Tokens per second over the reference's, at replies of equal length too";
        page.beside("rates-at-equal-lengths", what, &table);
    }
}

fn row(study: &Study, variant: &str, metric: &str) -> Option<Vec<Entry>> {
    let pairs = pairs(study, variant, metric);
    let unequal = pairs.iter().filter(|(tokens, _)| *tokens != 0.0).count();
    let reading = |differences| Effect::of(differences).as_ref().map(Reading::of_ratio);
    let measured = reading(pairs.iter().map(|(_, rate)| *rate).collect())?;
    let slope = slope(&pairs).filter(|_| unequal >= FEWEST_UNEQUAL);
    let adjusted = match slope {
        Some(slope) => reading(pairs.iter().map(|(tokens, rate)| rate - slope * tokens).collect()),
        // Nothing to take off where all are equal, and nothing known where a few are not.
        None => Some(measured).filter(|_| unequal == 0),
    };
    let mut row = vec![Entry::code(variant), Entry::code(metric), Entry::count(pairs.len())];
    row.push(Entry::Value(1.0 - unequal as f64 / pairs.len() as f64, Unit::Share));
    row.extend(Reading::entries(Some(measured)));
    row.push(Entry::value(slope, Unit::Count));
    row.extend(Reading::entries(adjusted));
    Some(row)
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
}
