//! What a run leaves to the next: each command's first runs of rounds, right after itself and right
//! after another command.

use lab_stats::{
    after_itself::{AfterItself, FirstRun},
    describe::median,
};

/// A finished round, as far as it tells what a run leaves to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran<'a> {
    /// As [`crate::RoundPlan::wash`] has it.
    pub wash: &'a [usize],
    /// As [`crate::RoundPlan::order`] has it.
    pub order: &'a [usize],
    /// The time of each run of `order`, in any unit.
    pub times: Vec<f64>,
}

/// By command: its runs right after itself against its runs right after another, of rounds in the
/// order in which they ran. Each first run is set against the others of its round, so that a drift
/// of the machine is none of it. `None` of a command with too few such runs.
pub fn after_themselves(rounds: &[Ran<'_>], commands: usize) -> Vec<Option<AfterItself>> {
    let mut logs = vec![Vec::new(); commands];
    for round in rounds {
        for (command, time) in round.order.iter().zip(&round.times) {
            logs[*command].push(time.ln());
        }
    }
    let typical: Vec<f64> = logs.iter().map(|logs| median(logs).unwrap_or(f64::NAN)).collect();
    let mut firsts = vec![Vec::new(); commands];
    let mut before = None;
    for round in rounds {
        let previous = round.wash.first().copied().or(before);
        before = round.order.last().copied();
        let (Some(previous), [first, others @ ..]) = (previous, round.order) else { continue };
        let own = |command: &usize, time: &f64| time.ln() - typical[*command];
        let rest = others.iter().zip(&round.times[1..]);
        let beside = rest.map(|(command, time)| own(command, time)).sum::<f64>();
        let log_time = own(first, &round.times[0]) - beside / others.len() as f64;
        firsts[*first].push(FirstRun { log_time, after_itself: previous == *first });
    }
    firsts.iter().map(|runs| AfterItself::of(runs)).collect()
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::{RoundPlan, Schedule};

    /// What is found of so many commands whose second takes 30 % more, on a machine that becomes
    /// slower, where command `gains` is 10 % faster after itself.
    fn found(commands: usize, gains: usize) -> Vec<Option<AfterItself>> {
        let mut rng = Pcg64::seed_from_u64(2);
        let plans: Vec<RoundPlan> = Schedule::new(1, commands).take(400).collect();
        let mut last = None;
        let mut drift = 0.0;
        let mut times = |plan: &RoundPlan| -> Vec<f64> {
            last = plan.wash.first().copied().or(last);
            let mut run = |command: &usize| {
                drift += 0.001;
                let noise: f64 = rng.random_range(-0.02..0.02);
                let gain = if last == Some(*command) && *command == gains { 0.1 } else { 0.0 };
                let more = if *command == 1 { 0.3 } else { 0.0 };
                last = Some(*command);
                (drift + noise + more - gain).exp()
            };
            plan.order.iter().map(&mut run).collect()
        };
        let rounds: Vec<Ran<'_>> = plans
            .iter()
            .map(|plan| Ran { wash: &plan.wash, order: &plan.order, times: times(plan) })
            .collect();
        after_themselves(&rounds, commands)
    }

    #[test]
    fn the_one_that_is_faster_after_itself_is_told_from_the_others() {
        for commands in [2, 4] {
            for (command, found) in found(commands, 1).into_iter().enumerate() {
                let found = found.unwrap();
                let expected = if command == 1 { -0.1 } else { 0.0 };
                assert!(
                    (found.shift - expected).abs() < 0.02,
                    "{command} of {commands}: {found:?}"
                );
                assert_eq!(found.differs(0.999), command == 1, "{command} of {commands}");
            }
        }
    }

    #[test]
    fn a_first_round_without_a_wash_follows_nothing_that_is_known() {
        let round = |wash, order, times: [f64; 2]| Ran { wash, order, times: times.to_vec() };
        let few = vec![round(&[], &[0, 1], [1.0, 1.0]); 5];
        assert_eq!(after_themselves(&few, 2), [None, None]);
        assert_eq!(after_themselves(&[], 1), [None]);
    }
}
