//! Whether a difference of wall times is waiting: CPU time is little of it.

use lab_stats::{describe::median, outcome::Outcome};

use super::{export::column, metric::Metric, record::Round, table};
use crate::CandidateState;

/// The part of the difference that CPU time may make.
const PART: f64 = 0.25;

/// A difference of wall times that is one of waiting.
pub(super) struct Waits {
    /// "it waits", and what else may be the reason.
    pub(super) how: &'static str,
    /// "CPU time is equal, within 0.3 ms".
    pub(super) cpu: String,
}

impl Waits {
    /// `None` where it is no such difference, or where that is not known.
    pub(super) fn of(
        candidate: &CandidateState,
        number: usize,
        metrics: &[Metric],
        rounds: &[Round],
    ) -> Option<Self> {
        let outcome = candidate.verdict.outcome;
        let is_told = matches!(outcome, Outcome::Faster | Outcome::Slower);
        if !is_told || metrics[0] != Metric::Wall {
            return None;
        }
        let of = |metric| {
            let [old, new] =
                [0, number + 1].map(|command| median(&column(metrics, rounds, command, metric)));
            Some([old?, new?])
        };
        let (walls, cpus) = (of(Metric::Wall)?, of(Metric::Cpu)?);
        let place = metrics.iter().position(|metric| *metric == Metric::Cpu)?;
        let ends = candidate.metrics[place].estimate.as_ref()?.interval?;
        let cpu = cpu_part(walls, cpus, ends)?;
        // What keeps more than one processor busy may also have kept fewer busy than before.
        let is_alone = walls.iter().zip(cpus).all(|(wall, cpu)| cpu <= *wall);
        let how = match (is_alone, outcome) {
            (true, Outcome::Slower) => "it waits",
            (true, _) => "it waits less",
            (false, Outcome::Slower) => "it waits, or runs less in parallel",
            (false, _) => "it waits less, or runs more in parallel",
        };
        Some(Self { how, cpu })
    }
}

/// What CPU time makes of a difference, by the ends of its interval; `None` where it may be all.
fn cpu_part(walls: [f64; 2], cpus: [f64; 2], ends: [f64; 2]) -> Option<String> {
    let difference = walls[1] - walls[0];
    let [low, high] = ends.map(|end| cpus[0] * end.exp_m1());
    let typical = cpus[1] - cpus[0];
    // Towards the difference; CPU time that goes the other way makes none of it.
    let most = if difference > 0.0 { high } else { -low };
    if typical.abs() > PART * difference.abs() || most >= difference.abs() {
        return None;
    }
    let shown = |time: f64| table::shown(Metric::Wall, time);
    let within = low.abs().max(high.abs());
    Some(if low <= 0.0 && high >= 0.0 && within <= PART * difference.abs() {
        format!("CPU time is equal, within {}", shown(within))
    } else {
        let all = shown(difference.abs());
        format!("CPU time makes at most {} of the {all}", shown(most.max(0.0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_told_where_it_is_little_of_the_difference() {
        let part = |cpus, ends: [f64; 2]| cpu_part([7e3, 27e3], cpus, ends.map(f64::ln_1p));
        let equal = part([7e3, 7.1e3], [-0.02, 0.05]).unwrap();
        assert_eq!(equal, "CPU time is equal, within 350 µs");
        let little = part([7e3, 8e3], [-0.1, 0.8]).unwrap();
        assert_eq!(little, "CPU time makes at most 5.60 ms of the 20.0 ms");
        // It may be all of it, or is most of it.
        assert_eq!(part([7e3, 8e3], [-0.1, 3.0]), None);
        assert_eq!(part([7e3, 25e3], [2.3, 2.6]), None);
    }

    #[test]
    fn of_what_is_faster_the_other_end_counts() {
        let part = |ends: [f64; 2]| cpu_part([27e3, 7e3], [7e3, 6.9e3], ends.map(f64::ln_1p));
        assert_eq!(part([-0.5, 0.2]).unwrap(), "CPU time is equal, within 3.50 ms");
        assert_eq!(part([-0.9, 4.0]).unwrap(), "CPU time makes at most 6.30 ms of the 20.0 ms");
    }
}
