//! The declared comparisons: every variant against the reference, over all (cell × block) pairs.

use std::collections::BTreeMap;

use lab_family::Better;
use lab_record::{Comparison, Scale};
use lab_stats::equivalence::Equivalence;
use lab_stats::interval::{FEWEST_FOR_INTERVAL, Interval};
use lab_stats::multiple::holm;
use lab_stats::outcome::{Direction, Evidence, Outcome, of_difference};
use lab_stats::paired::ShiftEstimate;

use crate::data::Data;
use crate::frame::cell_but;
use crate::judge::{self, Finding, TYPICAL, judge};
use crate::measure::Measured;
use crate::rounds::Trials;
use crate::study::Study;

/// The power that "detectable" is stated for.
pub const POWER: f64 = 0.8;

/// What is known of one variant against the reference. Differences are on the comparison's scale:
/// logarithms of ratios, or the metric's unit.
#[derive(Debug)]
pub struct Line {
    /// The candidate, or the contrast's id.
    pub variant: String,
    /// Pairs, or the smaller of two independent samples.
    pub n: usize,
    /// The Hodges-Lehmann estimate with its interval.
    pub shift: Option<ShiftEstimate>,
    /// The p-value after Holm's correction.
    pub p_adjusted: Option<f64>,
    /// The test against the margin.
    pub equivalence: Option<Equivalence>,
    /// The smallest true difference that would have been found with a power of 80 %.
    pub detectable: Option<f64>,
    /// What may be said.
    pub finding: Finding,
    /// Pairs of the runs that passed the noise gate and what they say by themselves, where not all
    /// did.
    pub clean: Option<(usize, Outcome)>,
}

impl Line {
    /// One whose question no run answers.
    pub(crate) fn not_measured(name: &str) -> Self {
        let missing = Some("no round of it was run".to_owned());
        let finding = judge(judge::Evidence { missing, ..judge::Evidence::default() });
        Self {
            variant: name.to_owned(),
            n: 0,
            shift: None,
            p_adjusted: None,
            equivalence: None,
            detectable: None,
            finding,
            clean: None,
        }
    }

    /// The Hodges-Lehmann estimate.
    pub fn estimate(&self) -> Option<f64> {
        self.shift.map(|shift| shift.estimate)
    }

    /// Its interval.
    pub fn interval(&self) -> Option<Interval> {
        self.shift?.interval
    }
}

/// Judges every candidate against the reference.
pub fn compare(study: &Study, comparison: &Comparison, candidates: &[&str]) -> Vec<Line> {
    let analysis = &study.frame.run_file.analysis;
    let asked = |measured: &[Measured]| {
        let one = |variant: &&str| {
            let names = (*variant, analysis.reference.as_str());
            let data = Data::of(measured, comparison, analysis.pairing, names);
            (data, (*variant).to_owned(), comparison)
        };
        candidates.iter().map(one).collect::<Vec<_>>()
    };
    judge_family(study, 0, asked)
}

/// One difference that is asked about: its values, what it is called, on which scale and margin.
pub type Asked<'a> = (Data, String, &'a Comparison);

/// Judges one family of tests together, by Holm. `asked` collects the differences from some of the
/// runs: from all, and from those that passed the noise gate where not all did. `beside` counts the
/// members of the family that rounds answer, each at its part of the level.
pub fn judge_family<'a>(
    study: &Study,
    beside: usize,
    asked: impl Fn(&[Measured]) -> Vec<Asked<'a>>,
) -> Vec<Line> {
    let all = tested(study, beside, &asked(&study.all));
    let clean = study.has_gated_runs().then(|| tested(study, beside, &asked(&study.clean)));
    let mut clean = clean.map(Vec::into_iter);
    let lines = all.into_iter().map(|(mut line, comparison)| {
        let gated = clean.as_mut().and_then(Iterator::next);
        line.clean = gated.map(|(gated, _)| (gated.n, gated.finding.outcome));
        let doubts = study.alarm(&comparison.metric).map(str::to_owned).into_iter();
        let doubts = doubts.chain(study.family.doubt(study, comparison, &line)).collect();
        let missing = (line.n == 0).then(|| missing(study, &line.variant));
        line.finding = judge(judge::Evidence {
            missing,
            doubts,
            all: Some((line.finding.outcome, line.finding.why.take())),
            clean: line.clean.map(|(_, outcome)| outcome),
            needs: line.finding.needs.take(),
            ..judge::Evidence::default()
        });
        line
    });
    lines.collect()
}

/// The lines of a comparison that was asked in rounds. Their runs are not gated: what a machine
/// does beside them falls on both sides of a pair by a coin.
pub(crate) fn in_rounds(study: &Study, comparison: &Comparison, trials: &Trials) -> Vec<Line> {
    let lines = trials.lines().into_iter().map(|mut line| {
        let doubts = study.alarm(&comparison.metric).map(str::to_owned).into_iter();
        let doubts = doubts.chain(study.family.doubt(study, comparison, &line)).collect();
        line.finding = judge(judge::Evidence {
            missing: (line.n == 0).then(|| missing(study, &line.variant)),
            doubts,
            all: Some((line.finding.outcome, line.finding.why.take())),
            needs: line.finding.needs.take(),
            ..judge::Evidence::default()
        });
        line
    });
    lines.collect()
}

fn missing(study: &Study, variant: &str) -> String {
    match study.has_only_reference() {
        true => "only the reference ran".to_owned(),
        false => format!("no pair of `{variant}` with `{}` has this metric", study.reference()),
    }
}

/// The margin on the comparison's scale.
pub fn scaled_margin(comparison: &Comparison) -> f64 {
    match comparison.scale {
        Scale::Ratio => comparison.margin.ln_1p(),
        Scale::Difference => comparison.margin,
    }
}

/// Whether a cell takes part in a comparison.
pub fn takes_part(comparison: &Comparison, cell: &BTreeMap<String, String>) -> bool {
    let allowed = |(factor, levels): (&String, &Vec<String>)| {
        cell.get(factor).is_some_and(|level| levels.contains(level))
    };
    comparison.cells.iter().all(allowed)
}

/// Entry and block.
pub type PairKey = (String, u32);

/// Every difference tested, with Holm's correction over all of them, before the lab's own checks.
fn tested<'a>(study: &Study, beside: usize, asked: &[Asked<'a>]) -> Vec<(Line, &'a Comparison)> {
    let seed = study.seed();
    let p_of = |(data, ..): &Asked| data.enough().then(|| data.p(seed)).flatten();
    let p_values: Vec<Option<f64>> = asked.iter().map(p_of).collect();
    // Those beside are never rejected here. So Holm leaves t true ones at most t of t + beside
    // parts of the level, and all members together err no more often than the level says.
    let others = std::iter::repeat_n(1.0, beside);
    let tested: Vec<f64> = p_values.iter().flatten().copied().chain(others).collect();
    let mut adjusted = holm(&tested).unwrap_or_default().into_iter();
    let lines = asked.iter().zip(p_values).map(|((data, name, comparison), p)| {
        let p_adjusted = p.and_then(|_| adjusted.next());
        let family = tested.len().max(1);
        (line(study, name, data, (p_adjusted, family), comparison), *comparison)
    });
    lines.collect()
}

fn line(
    study: &Study,
    variant: &str,
    data: &Data,
    (p_adjusted, family): (Option<f64>, usize),
    comparison: &Comparison,
) -> Line {
    let alpha = study.frame.run_file.analysis.alpha;
    let shift = data.shift(1.0 - alpha, study.seed());
    let equivalence = data.equivalence(scaled_margin(comparison), alpha, study.seed());
    let evidence = p_adjusted.zip(shift).map(|(adjusted_p, shift)| Evidence {
        adjusted_p,
        estimate: shift.estimate,
        mean: data.mean(),
        equivalence,
        tail: data.tail(comparison.margin, alpha),
    });
    let direction = study.metric(&comparison.metric).and_then(|metric| match metric.better {
        Better::Lower => Some(Direction::LowerIsBetter),
        Better::Higher => Some(Direction::HigherIsBetter),
        Better::Neither => None,
    });
    let detectable = data.detectable(alpha / family as f64, study.seed());
    let open = |why: String| (Outcome::CannotTell, Some(why));
    let (outcome, why) = match (evidence, direction) {
        (Some(evidence), Some(direction)) => {
            let outcome = of_difference(&evidence, alpha, direction);
            (outcome, tail_unknown(&evidence, outcome))
        }
        (None, _) => open(format!("{} pairs, and {FEWEST_FOR_INTERVAL} are needed", data.n())),
        (_, None) => {
            open("the family's table does not say which way the metric is better".to_owned())
        }
    };
    let open_shift = shift.filter(|_| outcome == Outcome::CannotTell && why.is_none());
    let times =
        open_shift.and_then(|shift| times_needed(shift, detectable, scaled_margin(comparison)));
    let needs = times.map(|times| study.more_blocks(times));
    Line {
        variant: variant.to_owned(),
        n: data.n(),
        shift,
        p_adjusted,
        equivalence,
        detectable,
        finding: Finding { outcome, why, needs },
        clean: None,
    }
}

/// How many times as many pairs should tell the estimated difference from 0, or show that it lies
/// within the margin: what is known narrows with the root of their number.
fn times_needed(shift: ShiftEstimate, detectable: Option<f64>, margin: f64) -> Option<f64> {
    let effect = shift.estimate.abs();
    let half_width = shift.interval.map(|interval| (interval.high - interval.low) / 2.0);
    let ways = [(detectable, effect), (half_width, margin - effect)];
    let ways = ways.into_iter().filter(|(_, wanted)| *wanted > 0.0);
    let times = ways.filter_map(|(known, wanted)| Some((known? / wanted).powi(2)));
    times.reduce(f64::min)
}

/// What stands beside an outcome where only the middle is shown to be equivalent.
fn tail_unknown(evidence: &Evidence, outcome: Outcome) -> Option<String> {
    let tail = evidence.tail.filter(|_| evidence.is_typically_equivalent())?;
    if outcome != Outcome::CannotTell {
        return Some("within the margin; tail unknown".to_owned());
    }
    let points = |share: f64| format!("{:+.0}", 100.0 * share);
    let share = tail.slow_share.map_or(String::new(), |share| {
        format!(", share of slow runs {} to {} points", points(share.low), points(share.high))
    });
    Some(format!("{TYPICAL}tail unknown{share}"))
}

/// A variant's values on the comparison's scale by (cell, block); where a run was repeated, the
/// mean of both.
pub fn by_pair(
    measured: &[Measured],
    comparison: &Comparison,
    variant: &str,
) -> BTreeMap<PairKey, f64> {
    by_pair_but(measured, comparison, variant, "")
}

/// The same by (cell without one of its factors, block).
pub fn by_pair_but(
    measured: &[Measured],
    comparison: &Comparison,
    variant: &str,
    factor: &str,
) -> BTreeMap<PairKey, f64> {
    let mut sums: BTreeMap<PairKey, (f64, f64)> = BTreeMap::new();
    let of_variant = measured.iter().filter(|run| run.variant() == variant);
    for one in of_variant.filter(|one| takes_part(comparison, &one.row.run.cell)) {
        let Some(value) = on_scale(one.value(&comparison.metric), comparison.scale) else {
            continue;
        };
        let run = &one.row.run;
        let (sum, count) = sums.entry((cell_but(run, &[factor]), run.block)).or_default();
        *sum += value;
        *count += 1.0;
    }
    sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect()
}

/// A value as differences of the scale are made of it.
pub(crate) fn on_scale(value: Option<f64>, scale: Scale) -> Option<f64> {
    match scale {
        Scale::Difference => value,
        Scale::Ratio => value.filter(|value| *value > 0.0).map(f64::ln),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_narrows_with_the_root_of_the_pairs() {
        let interval = Some(Interval { low: -0.02, high: 0.06, confidence: 0.95 });
        let shift = ShiftEstimate { estimate: 0.02, interval };
        let times = |margin| times_needed(shift, Some(0.04), margin).unwrap();
        // Twice the estimate is detectable.
        assert!((times(0.01) - 4.0).abs() < 1e-9);
        // Half of the interval is 0.04, and 0.08 lie between estimate and margin.
        assert!((times(0.1) - 0.25).abs() < 1e-9);
        let nothing = ShiftEstimate { estimate: 0.0, interval: None };
        assert_eq!(times_needed(nothing, Some(0.04), 0.1), None);
    }
}
