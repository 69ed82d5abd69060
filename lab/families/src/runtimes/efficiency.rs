//! Parallel efficiency, twice, and where the lost part went.
//!
//! With N agents, wall time W, concurrent durations c_i, durations s_i of the same agents alone,
//! and the parts u_i (concurrent) and v_i (alone) of them that were spent on the server:
//!
//! ```text
//! as published        Σc / (N W)
//! true                Σs / (N W)
//! loss                1 - Σs / (N W)
//!   imbalance         (N max c - Σc) / (N W)
//!   server contention (Σu - Σv) / (N W)
//!   client remainder  (N (W - max c) + Σ(c - u) - Σ(s - v)) / (N W)
//! ```
//! The three parts sum to the loss: max c, Σc, Σu and Σv each appear twice with opposite signs.

/// The published figure: sum of the concurrent durations over N times the wall time. It falls when
/// one agent's reply is longer than the other's, whatever the runtime did.
pub(crate) fn as_published(concurrent_ns: &[i64], wall_ns: i64) -> Option<f64> {
    ratio(sum(concurrent_ns), denominator(concurrent_ns, wall_ns)?)
}

/// Against a real baseline: sum of the same agents' durations alone over N times the wall time.
pub(crate) fn against_solo(solo_ns: &[i64], wall_ns: i64) -> Option<f64> {
    ratio(sum(solo_ns), denominator(solo_ns, wall_ns)?)
}

/// Where the efficiency went, as exact numerators over [`LossSplit::denominator_ns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LossSplit {
    /// N W - Σs.
    pub(crate) loss_ns: i128,
    /// N max c - Σc.
    pub(crate) imbalance_ns: i128,
    /// Σu - Σv.
    pub(crate) contention_ns: i128,
    /// N (W - max c) + Σ(c - u) - Σ(s - v).
    pub(crate) remainder_ns: i128,
    /// N W.
    pub(crate) denominator_ns: i128,
}

impl LossSplit {
    /// Splits the loss of one concurrent run with its solo baseline. All slices hold one value per
    /// agent, in nanoseconds; `None` where they do not, or where the wall time is not positive.
    pub(crate) fn of(
        wall_ns: i64,
        concurrent_ns: &[i64],
        solo_ns: &[i64],
        server_concurrent_ns: &[i64],
        server_solo_ns: &[i64],
    ) -> Option<Self> {
        let agents = concurrent_ns.len();
        let others = [solo_ns, server_concurrent_ns, server_solo_ns];
        if others.iter().any(|durations| durations.len() != agents) {
            return None;
        }
        let denominator_ns = denominator(concurrent_ns, wall_ns)?;
        let (n, wall) = (agents as i128, i128::from(wall_ns));
        let longest = i128::from(*concurrent_ns.iter().max()?);
        let [c, s, u, v] = [concurrent_ns, solo_ns, server_concurrent_ns, server_solo_ns].map(sum);
        Some(Self {
            loss_ns: denominator_ns - s,
            imbalance_ns: n * longest - c,
            contention_ns: u - v,
            remainder_ns: n * (wall - longest) + (c - u) - (s - v),
            denominator_ns,
        })
    }

    /// Loss, imbalance, server contention and client remainder as shares of N W.
    pub(crate) fn shares(&self) -> [f64; 4] {
        [self.loss_ns, self.imbalance_ns, self.contention_ns, self.remainder_ns]
            .map(|part| part as f64 / self.denominator_ns as f64)
    }
}

fn sum(durations: &[i64]) -> i128 {
    durations.iter().map(|&ns| i128::from(ns)).sum()
}

fn denominator(durations: &[i64], wall_ns: i64) -> Option<i128> {
    let product = durations.len() as i128 * i128::from(wall_ns);
    (product > 0).then_some(product)
}

fn ratio(numerator: i128, denominator: i128) -> Option<f64> {
    Some(numerator as f64 / denominator as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_parts_sum_to_the_loss_exactly(
            wall in 1i64..10_000_000_000_000,
            agents in prop::collection::vec(prop::array::uniform4(0i64..10_000_000_000_000), 1..9),
        ) {
            let column = |part: usize| agents.iter().map(|agent| agent[part]).collect::<Vec<_>>();
            let [c, s, u, v] = [0, 1, 2, 3].map(column);
            let split = LossSplit::of(wall, &c, &s, &u, &v).unwrap();
            let parts = split.imbalance_ns + split.contention_ns + split.remainder_ns;
            prop_assert_eq!(parts, split.loss_ns);
            let efficiency = against_solo(&s, wall).unwrap();
            prop_assert!((1.0 - efficiency - split.shares()[0]).abs() < 1e-9);
        }
    }

    #[test]
    fn a_mutex_around_the_agents_is_the_clients_loss() {
        // Two agents of 10 s, one after the other, the server never contended.
        let split = LossSplit::of(20, &[10, 10], &[10, 10], &[9, 9], &[9, 9]).unwrap();
        assert_eq!(split.shares(), [0.5, 0.0, 0.0, 0.5]);
        assert_eq!(as_published(&[10, 10], 20), Some(0.5));
    }

    #[test]
    fn one_gpu_for_two_agents_is_the_servers_loss() {
        let split = LossSplit::of(20, &[20, 20], &[8, 8], &[20, 20], &[8, 8]).unwrap();
        assert_eq!(split.shares(), [0.6, 0.0, 0.6, 0.0]);
        assert_eq!(as_published(&[20, 20], 20), Some(1.0));
    }

    #[test]
    fn a_long_reply_is_imbalance() {
        let split = LossSplit::of(20, &[20, 10], &[20, 10], &[20, 10], &[20, 10]).unwrap();
        assert_eq!(split.shares(), [0.25, 0.25, 0.0, 0.0]);
    }

    #[test]
    fn slices_of_different_length_have_no_split() {
        assert_eq!(LossSplit::of(20, &[1, 2], &[1], &[1, 2], &[1, 2]), None);
        assert_eq!(as_published(&[], 20), None);
    }
}
