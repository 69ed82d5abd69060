//! What sessions on several machines tell of the next machine: pair < session < machine.

use serde::Serialize;

use crate::{
    by_session::OverSessions,
    sessions::{SessionEstimate, Sessions},
};

/// Below so many machines nothing is told of another one.
pub const LEAST_MACHINES: usize = 3;
/// Below so many the spread between machines is hardly known.
pub const FEW_MACHINES: usize = 5;

/// One question on several machines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverMachines {
    /// The estimate of each machine with a session, and its variance, the spread of its sessions
    /// included; its place among those that were given.
    pub each: Vec<(usize, SessionEstimate)>,
    /// The standard deviation of sessions around their machine, one for all machines.
    pub tau_sessions: f64,
    /// What holds over machines; its prediction is for the next one.
    pub over: Sessions,
}

/// What sessions of each machine tell together, with intervals of this confidence.
///
/// Machines are a random effect above sessions: a machine's estimate is the mean of its sessions,
/// weighted by the inverse of what they vary by, and machines are put together as sessions are. The
/// variance between sessions is taken as one for all machines, the mean of theirs by degrees of
/// freedom; a machine of one session borrows it. Source of the levels: Konstantopoulos (2011),
/// "Fixed effects and variance components estimation in three-level meta-analysis", Research
/// Synthesis Methods 2(1), pp. 61-76.
///
/// `None` for fewer than two machines with a session.
pub fn over_machines(machines: &[OverSessions], confidence: f64) -> Option<OverMachines> {
    let degrees = |machine: &OverSessions| machine.each.len().saturating_sub(1) as f64;
    let all = machines.iter().map(degrees).sum::<f64>();
    let square = |machine: &OverSessions| machine.over.as_ref().map_or(0.0, |it| it.tau.powi(2));
    let between = machines.iter().map(|machine| degrees(machine) * square(machine)).sum::<f64>();
    let tau_squared = if all > 0.0 { between / all } else { 0.0 };
    let each: Vec<(usize, SessionEstimate)> = machines
        .iter()
        .enumerate()
        .filter(|(_, machine)| !machine.each.is_empty())
        .map(|(place, machine)| (place, of_machine(&machine.each, tau_squared)))
        .collect();
    let estimates: Vec<SessionEstimate> = each.iter().map(|(_, estimate)| *estimate).collect();
    // Where no machine has two sessions their pairs alone say how well each is known.
    let known = if all > 0.0 { all } else { f64::INFINITY };
    let over = Sessions::over(&estimates, known, confidence)?;
    Some(OverMachines { each, tau_sessions: tau_squared.sqrt(), over })
}

fn of_machine(sessions: &[SessionEstimate], tau_squared: f64) -> SessionEstimate {
    let weight = |session: &SessionEstimate| 1.0 / (session.variance + tau_squared);
    let weights = sessions.iter().map(weight).sum::<f64>();
    let value = sessions.iter().map(|session| weight(session) * session.value).sum::<f64>();
    SessionEstimate { value: value / weights, variance: 1.0 / weights }
}

impl OverMachines {
    /// Machines whose estimate has the other sign than most, where some have.
    pub fn of_other_sign(&self) -> usize {
        let above = self.each.iter().filter(|(_, estimate)| estimate.value > 0.0).count();
        above.min(self.each.len() - above)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::by_session::over_sessions;

    /// Machines by the offsets of their sessions, eight pairs in each.
    fn machines(offsets: &[&[f64]]) -> Vec<OverSessions> {
        let noise = |pair: usize| 0.002 * if pair.is_multiple_of(2) { 1.0 } else { -1.0 };
        let of = |sessions: &&[f64]| {
            let pairs: Vec<(usize, f64)> = (sessions.iter().enumerate())
                .flat_map(|(number, offset)| (0..8).map(move |pair| (number, offset + noise(pair))))
                .collect();
            over_sessions(&pairs, sessions.len(), 0.05)
        };
        offsets.iter().map(of).collect()
    }

    #[test]
    fn more_sessions_do_not_help_where_machines_differ() {
        let few = machines(&[&[0.05, 0.05], &[-0.01, -0.01], &[0.03, 0.03]]);
        let many = machines(&[&[0.05; 12], &[-0.01; 12], &[0.03; 12]]);
        let [few, many] = [few, many].map(|all| over_machines(&all, 0.95).unwrap());
        let width = |found: &OverMachines| found.over.interval[1] - found.over.interval[0];
        assert!(width(&many) > 0.95 * width(&few), "{few:?} {many:?}");
        // The mean of 0.05, -0.01 and 0.03, and their standard deviation.
        assert!((many.over.estimate - 0.07 / 3.0).abs() < 1e-6, "{many:?}");
        assert!((many.over.tau - 0.030_550_5).abs() < 1e-4, "{many:?}");
        assert_eq!(many.of_other_sign(), 1);
    }

    #[test]
    fn a_machine_of_one_session_borrows_the_spread_of_the_others_sessions() {
        let spread = [0.04, -0.04, 0.03, -0.03];
        let found = over_machines(&machines(&[&spread, &spread, &[0.01]]), 0.95).unwrap();
        let [first, _, alone] = &found.each[..] else { panic!("{found:?}") };
        assert!((alone.1.variance / first.1.variance - 4.0).abs() < 1e-6, "{found:?}");
        assert!((found.tau_sessions - 0.040_8).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn one_machine_tells_nothing_of_another() {
        assert_eq!(over_machines(&machines(&[&[0.1; 6]]), 0.95), None);
        assert_eq!(over_machines(&machines(&[&[0.1; 6], &[]]), 0.95), None);
    }

    #[test]
    fn prediction_for_the_next_machine_holds_as_often_as_it_says() {
        let mut rng = Pcg64Mcg::seed_from_u64(11);
        let mut normal = move |sd: f64| Normal::new(0.0, sd).unwrap().sample(&mut rng);
        let (mut held, draws) = (0, 400);
        for _ in 0..draws {
            let sessions: Vec<Vec<f64>> = (0..6)
                .map(|_| {
                    let machine = normal(0.02);
                    (0..4).map(|_| machine + normal(0.01)).collect()
                })
                .collect();
            let given: Vec<&[f64]> = sessions[..5].iter().map(Vec::as_slice).collect();
            let found = over_machines(&machines(&given), 0.95).unwrap();
            let next = sessions[5].iter().sum::<f64>() / 4.0;
            let [low, high] = found.over.prediction;
            held += usize::from(low <= next && next <= high);
        }
        // Binomial of 400 at 0.93: 355 of 400 and fewer come once in 2,000.
        assert!(held >= 355, "{held} of {draws}");
    }
}
