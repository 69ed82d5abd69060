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

/// Names that stand for the same settings: `names[i]` ran with `settings[i]`. Pairs of indices of
/// the first run of each name.
pub fn same_settings<T: PartialEq>(names: &[&str], settings: &[T]) -> Vec<(usize, usize)> {
    let mut first: Vec<usize> = Vec::new();
    for (index, name) in names.iter().enumerate().take(settings.len()) {
        if !first.iter().any(|&known| names[known] == *name) {
            first.push(index);
        }
    }
    let mut pairs = Vec::new();
    for (position, &a) in first.iter().enumerate() {
        for &b in &first[position + 1..] {
            if settings[a] == settings[b] {
                pairs.push((a, b));
            }
        }
    }
    pairs
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
    fn two_names_for_one_setting() {
        let names = ["default", "default", "tuned", "gpu100", "gpu100"];
        let settings = [(80, 512), (80, 512), (80, 1024), (80, 512), (80, 512)];
        assert_eq!(same_settings(&names, &settings), [(0, 3)]);
        assert!(same_settings(&["a", "b"], &[1, 2]).is_empty());
    }

    #[test]
    fn factors_that_move_together() {
        let factor = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let factors = [factor("x x y y"), factor("1 1 2 2"), factor("p q p q"), factor("a b c d")];
        assert_eq!(confounded(&factors), [Confounded { a: 0, b: 1 }]);
        assert!(confounded(&[]).is_empty());
    }
}
