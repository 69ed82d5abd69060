//! Cells that share a treatment, and factors that cannot be told apart.

use serde::Serialize;

/// Two factors of which each level of one goes with one level of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Confounded {
    /// Index of the one factor.
    pub a: usize,
    /// Index of the other.
    pub b: usize,
}

/// Pairs of factors, each given as one level per run, that vary together in every run: no
/// comparison of these runs can say which of the two was the cause. Factors with one level, or
/// one level a run, are left out.
pub fn confounded(factors: &[Vec<String>]) -> Vec<Confounded> {
    let varies = |factor: &Vec<String>| {
        let levels = levels(factor);
        levels > 1 && levels < factor.len()
    };
    let mut found = Vec::new();
    for a in 0..factors.len() {
        for b in a + 1..factors.len() {
            let usable = factors[a].len() == factors[b].len();
            if usable && varies(&factors[a]) && varies(&factors[b]) {
                let both: Vec<(&String, &String)> = factors[a].iter().zip(&factors[b]).collect();
                let joint = levels(&both);
                if joint == levels(&factors[a]) && joint == levels(&factors[b]) {
                    found.push(Confounded { a, b });
                }
            }
        }
    }
    found
}

fn levels<T: Ord>(values: &[T]) -> usize {
    values.iter().collect::<std::collections::BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_that_move_together() {
        let factor = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let factors = [factor("x x y y"), factor("1 1 2 2"), factor("p q p q"), factor("a b c d")];
        assert_eq!(confounded(&factors), [Confounded { a: 0, b: 1 }]);
        assert!(confounded(&[]).is_empty());
    }
}
