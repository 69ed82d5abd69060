//! Winners that change between repeats of one comparison.

use serde::Serialize;

use super::ranking::Better;

/// How repeats of one comparison disagree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flip {
    /// The best subject of every session, by index; of equal ones the first.
    pub winners: Vec<usize>,
    /// Kendall's tau between the orders of the subjects, the smallest of any two sessions.
    pub least_tau: f64,
    /// Pairs of subjects that change places at least once, and by how much: the smaller of the
    /// largest leads, as a share of the values, that either had over the other.
    pub swaps: Vec<Swap>,
}

/// Two subjects whose order depends on the session.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Swap {
    /// Index of the one.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
    /// The smaller of the two largest leads, as a share of the other's value.
    pub lead: f64,
}

impl Flip {
    /// Whether the sessions have different winners.
    pub fn winner_changes(&self) -> bool {
        self.winners.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// Compares sessions, each with one value per subject in the same order (a mean or median).
/// `None` for fewer than two sessions or subjects, sessions of different lengths, or values that
/// are not finite.
pub fn compare(sessions: &[Vec<f64>], better: Better) -> Option<Flip> {
    let subjects = sessions.first()?.len();
    let usable = |session: &Vec<f64>| {
        session.len() == subjects && session.iter().all(|value| value.is_finite())
    };
    if sessions.len() < 2 || subjects < 2 || !sessions.iter().all(usable) {
        return None;
    }
    let pairs = (0..sessions.len()).flat_map(|i| (i + 1..sessions.len()).map(move |j| (i, j)));
    let taus = pairs.map(|(i, j)| tau(&sessions[i], &sessions[j]));
    Some(Flip {
        winners: sessions.iter().map(|session| winner(session, better)).collect(),
        least_tau: taus.fold(1.0, f64::min),
        swaps: swaps(sessions, subjects),
    })
}

fn winner(session: &[f64], better: Better) -> usize {
    let mut best = 0;
    for (index, value) in session.iter().enumerate() {
        let beats = match better {
            Better::Higher => *value > session[best],
            Better::Lower => *value < session[best],
        };
        if beats {
            best = index;
        }
    }
    best
}

/// Kendall's tau-a. Source: Kendall (1938), Biometrika 30(1/2), pp. 81-93.
fn tau(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for i in 0..n {
        for j in i + 1..n {
            let sign = (a[i] - a[j]) * (b[i] - b[j]);
            sum += f64::from(sign > 0.0) - f64::from(sign < 0.0);
        }
    }
    sum / (n * (n - 1) / 2) as f64
}

fn swaps(sessions: &[Vec<f64>], subjects: usize) -> Vec<Swap> {
    let mut found = Vec::new();
    for a in 0..subjects {
        for b in a + 1..subjects {
            let leads = sessions.iter().map(|session| {
                (session[a] - session[b]) / session[a].abs().min(session[b].abs()).max(1e-300)
            });
            let largest = leads.clone().fold(f64::NEG_INFINITY, f64::max);
            let smallest = leads.fold(f64::INFINITY, f64::min);
            if largest > 0.0 && smallest < 0.0 {
                found.push(Swap { a, b, lead: largest.min(-smallest) });
            }
        }
    }
    found.sort_by(|a, b| b.lead.total_cmp(&a.lead));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means in milliseconds of six search engines in five sessions.
    #[test]
    fn the_fastest_engine_depends_on_the_session() {
        let sessions = [
            vec![363.6, 327.4, 403.2, 410.0, 297.7, 323.6],
            vec![238.1, 251.8, 266.8, 306.1, 186.5, 191.0],
            vec![248.8, 270.0, 291.5, 339.7, 195.6, 197.8],
            vec![237.5, 215.2, 285.0, 268.7, 188.1, 178.7],
            vec![244.4, 192.4, 287.0, 310.2, 223.8, 199.4],
        ];
        let found = compare(&sessions, Better::Lower).unwrap();
        assert_eq!(found.winners, [4, 4, 4, 5, 1]);
        assert!(found.winner_changes() && found.least_tau < 0.7);
        assert!(found.swaps.iter().any(|swap| (swap.a, swap.b) == (0, 1) && swap.lead > 0.08));
        let same = compare(&sessions[..3], Better::Lower).unwrap();
        assert!(!same.winner_changes() && !same.swaps.is_empty());
    }

    #[test]
    fn sessions_that_agree_have_no_swaps() {
        let found = compare(&[vec![1.0, 2.0], vec![1.1, 1.9]], Better::Higher).unwrap();
        assert_eq!((found.winners, found.least_tau, found.swaps.len()), (vec![1, 1], 1.0, 0));
        assert_eq!(compare(&[vec![1.0, 2.0], vec![1.0]], Better::Higher), None);
        assert_eq!(compare(&vec![vec![1.0, f64::NAN]; 2], Better::Higher), None);
    }
}
