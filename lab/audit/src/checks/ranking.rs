//! Rankings and winners that their own numbers reverse.

use serde::Serialize;

use super::surely_below;
use crate::Printed;

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Throughput, efficiency.
    Higher,
    /// Time, latency, memory.
    Lower,
}

/// Two places of a ranking that stand the wrong way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Inversion {
    /// Index of the one ranked better.
    pub ahead: usize,
    /// Index of the one ranked worse, whose number is better.
    pub behind: usize,
}

/// The values of a ranking from the best place to the worst: the pairs of neighbouring places
/// that the values reverse, whatever was rounded. Ties in print reverse nothing.
pub fn inversions(ranked: &[Printed], better: Better) -> Vec<Inversion> {
    let reversed = |pair: &[Printed]| match better {
        Better::Higher => surely_below(&pair[0], &pair[1]),
        Better::Lower => surely_below(&pair[1], &pair[0]),
    };
    let pairs = ranked.windows(2).enumerate().filter(|(_, pair)| reversed(pair));
    pairs.map(|(ahead, _)| Inversion { ahead, behind: ahead + 1 }).collect()
}

/// Whoever is called the best (or the worst, with the direction turned round) while another is
/// surely better: the index of the best of all. `None` where the claim stands.
pub fn surpassed(values: &[Printed], claimed: usize, better: Better) -> Option<usize> {
    let claim = values.get(claimed)?;
    let beats = |value: &Printed| match better {
        Better::Higher => surely_below(claim, value),
        Better::Lower => surely_below(value, claim),
    };
    let surpassing = values.iter().enumerate().filter(|(_, value)| beats(value));
    let ends = |value: &Printed| match better {
        Better::Higher => value.value,
        Better::Lower => -value.value,
    };
    surpassing.max_by(|a, b| ends(a.1).total_cmp(&ends(b.1))).map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed_all as values;

    #[test]
    fn a_ranking_in_order_stands() {
        assert!(inversions(&values("99.99 99.94 99.89 50.00"), Better::Higher).is_empty());
        // A tie in print.
        assert!(inversions(&values("98.7 98.7 98.6"), Better::Lower).len() <= 1);
        assert!(inversions(&values("98.7 98.7"), Better::Lower).is_empty());
    }

    #[test]
    fn a_reversed_pair_is_found() {
        let ranked = values("1.2 1.3 4.9 4.1");
        let wanted = [Inversion { ahead: 2, behind: 3 }];
        assert_eq!(inversions(&ranked, Better::Lower), wanted);
    }

    #[test]
    fn a_winner_that_is_third_is_surpassed() {
        let peaks = values("99.89 99.99 99.94 99.87 50.00");
        assert_eq!(surpassed(&peaks, 0, Better::Higher), Some(1));
        assert_eq!(surpassed(&peaks, 1, Better::Higher), None);
        assert_eq!(surpassed(&peaks, 9, Better::Higher), None);
    }
}
