//! Where the variance of a sweep comes from: variant, cell, block, server, or nothing named.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use thiserror::Error;

use crate::{mean, usable};

/// One value and the level of every factor under which it was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation<'a> {
    /// The metric, in any unit.
    pub value: f64,
    /// (factor, level), the same factors in the same order in every observation.
    pub levels: Vec<(&'a str, &'a str)>,
}

/// The share of one factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The factor's name.
    pub factor: String,
    /// Degrees of freedom it took: its levels less one, fewer where earlier factors determine it.
    pub df: usize,
    /// Its sum of squares over the total one, from 0 to 1.
    pub share: f64,
}

/// The whole variance, cut into shares that sum to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attribution {
    /// One share a factor, in the order given.
    pub factors: Vec<Share>,
    /// What no factor explains: interactions and noise.
    pub residue: f64,
    /// Degrees of freedom of the residue.
    pub residue_df: usize,
}

impl Attribution {
    /// What all factors explain together.
    pub fn explained(&self) -> f64 {
        self.factors.iter().map(|factor| factor.share).sum()
    }

    /// How much they would explain on average without any effect.
    pub fn by_chance(&self) -> f64 {
        let df = self.df();
        df as f64 / (df + self.residue_df).max(1) as f64
    }

    /// The probability that factors without any effect explain as much, where the residues are
    /// normal: the F test of all factors together, Searle (1971), Linear Models, section 3.5. For
    /// other residues give the ranks of the values: Conover and Iman (1981), The American
    /// Statistician 35(3), pp. 124-129. `None` where no degree of freedom is left.
    pub fn p_value(&self) -> Option<f64> {
        let (df, residue_df) = (self.df() as f64, self.residue_df as f64);
        let distribution = FisherSnedecor::new(df, residue_df).ok()?;
        let ratio = (self.explained() / df) / (self.residue / residue_df);
        Some(if ratio.is_finite() { distribution.sf(ratio) } else { 0.0 })
    }

    fn df(&self) -> usize {
        self.factors.iter().map(|factor| factor.df).sum()
    }
}

/// Why there is nothing to attribute.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VarianceError {
    /// No observation at all, or a value that is not finite or beyond 1e150.
    #[error("observations are missing, not finite or too large to square")]
    Unusable,
    /// An observation names other factors, or in another order, than the first.
    #[error("observation {index} has other factors than the first; give all the same, in order")]
    Factors {
        /// Its position, from 0.
        index: usize,
    },
    /// All values are equal.
    #[error("all observations are equal, so there is no variance to attribute")]
    Constant,
}

/// Attributes the variance of the observations to the main effects of their factors, as sums of
/// squares over the total (the eta squared of an analysis of variance without interactions).
///
/// The sums are sequential (type I): each factor gets what it explains beyond those before it.
/// When every level of one factor meets every level of another equally often the order does not
/// matter and a share is the familiar between-levels sum; with missing runs whatever two
/// factors could both explain goes to the first, so give the factors that are of least interest
/// (block, server) first. By least squares on dummy columns: Searle (1971), Linear Models,
/// chapters 5 and 7. A share is descriptive: with many levels and few runs some of it is chance,
/// about df / (n - 1) for a factor without any effect.
pub fn shares(observations: &[Observation]) -> Result<Attribution, VarianceError> {
    let values: Vec<f64> = observations.iter().map(|observation| observation.value).collect();
    if !usable(&values) {
        return Err(VarianceError::Unusable);
    }
    let factors = common_factors(observations)?.into_iter().enumerate();
    let columns = factors.map(|(place, name)| {
        (name, dummy_columns(observations.iter().map(|observation| observation.levels[place].1)))
    });
    attribute(values, &columns.collect::<Vec<_>>())
}

/// What the columns of each factor explain of usable values, beyond those before it.
pub(crate) fn attribute(
    values: Vec<f64>,
    factors: &[(&str, Vec<Vec<f64>>)],
) -> Result<Attribution, VarianceError> {
    let n = values.len();
    let mut residual = centred(values);
    let total = dot(&residual, &residual);
    if total == 0.0 {
        return Err(VarianceError::Constant);
    }
    let mut basis = vec![unit(vec![1.0; n], 0.0).expect("ones have a length")];
    let mut attributed = Vec::new();
    for (factor, columns) in factors {
        let mut squares = 0.0;
        let mut df = 0;
        for column in columns {
            if let Some(direction) = orthogonal_to(&basis, column.clone()) {
                squares += project_out(&mut residual, &direction).powi(2);
                df += 1;
                basis.push(direction);
            }
        }
        attributed.push(Share { factor: (*factor).to_owned(), df, share: squares / total });
    }
    let residue = dot(&residual, &residual) / total;
    Ok(Attribution { factors: attributed, residue, residue_df: n - basis.len() })
}

fn common_factors<'a>(observations: &[Observation<'a>]) -> Result<Vec<&'a str>, VarianceError> {
    let names = |observation: &Observation<'a>| -> Vec<&'a str> {
        observation.levels.iter().map(|(factor, _)| *factor).collect()
    };
    let first = names(&observations[0]);
    match observations.iter().position(|observation| names(observation) != first) {
        Some(index) => Err(VarianceError::Factors { index }),
        None => Ok(first),
    }
}

/// A column of zeros and ones for each level of a factor, in order of first appearance. They sum
/// to the column of ones; the redundant one falls out when they are made orthogonal.
pub(crate) fn dummy_columns<L: PartialEq>(of_each: impl Iterator<Item = L>) -> Vec<Vec<f64>> {
    let of_each: Vec<L> = of_each.collect();
    let mut levels: Vec<&L> = Vec::new();
    for level in &of_each {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    let indicator =
        |name: &&L| of_each.iter().map(|level| f64::from(u8::from(level == *name))).collect();
    levels.iter().map(indicator).collect()
}

/// What is new in a column, as a unit vector; `None` where the basis spans it already. Projected
/// out twice, for once leaves rounding behind when columns are nearly dependent.
fn orthogonal_to(basis: &[Vec<f64>], mut column: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&column, &column).sqrt();
    for _ in 0..2 {
        for direction in basis {
            project_out(&mut column, direction);
        }
    }
    unit(column, 1e-9 * length)
}

/// Removes from `vector` its part along a unit `direction`, and returns how long that part was.
fn project_out(vector: &mut [f64], direction: &[f64]) -> f64 {
    let along = dot(vector, direction);
    for (value, d) in vector.iter_mut().zip(direction) {
        *value -= along * d;
    }
    along
}

fn unit(mut vector: Vec<f64>, shortest: f64) -> Option<Vec<f64>> {
    let length = dot(&vector, &vector).sqrt();
    if length <= shortest {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    Some(vector)
}

fn centred(values: Vec<f64>) -> Vec<f64> {
    let centre = mean(&values);
    values.into_iter().map(|value| value - centre).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANTS: [&str; 2] = ["tokio", "smol"];
    const BLOCKS: [&str; 3] = ["1", "2", "3"];

    fn grid(value: impl Fn(usize, usize) -> f64) -> Vec<Observation<'static>> {
        let cells = (0..2).flat_map(|v| (0..3).map(move |b| (v, b)));
        cells
            .map(|(v, b)| Observation {
                value: value(v, b),
                levels: vec![("variant", VARIANTS[v]), ("block", BLOCKS[b])],
            })
            .collect()
    }

    /// Effects of ±3 and of -2, 0, 2, and no noise: 6 * 9 = 54 beside 2 * 8 = 16.
    #[test]
    fn an_additive_grid_is_explained_to_the_end() {
        let found = shares(&grid(|v, b| 100.0 + 6.0 * v as f64 + 2.0 * b as f64)).unwrap();
        assert!((found.factors[0].share - 54.0 / 70.0).abs() < 1e-12, "{found:?}");
        assert!((found.factors[1].share - 16.0 / 70.0).abs() < 1e-12, "{found:?}");
        assert!(found.residue < 1e-12);
        let df: Vec<usize> = found.factors.iter().map(|share| share.df).collect();
        assert_eq!((df, found.residue_df), (vec![1, 2], 2));
    }

    /// A pure interaction belongs to no factor.
    #[test]
    fn an_interaction_is_residue() {
        let found = shares(&grid(|v, b| if v == 0 { b as f64 } else { 2.0 - b as f64 })).unwrap();
        assert!(found.factors.iter().all(|share| share.share < 1e-12), "{found:?}");
        assert!((found.residue - 1.0).abs() < 1e-12);
    }

    #[test]
    fn of_two_factors_that_say_the_same_the_first_takes_all() {
        let mut observations = grid(|v, _| v as f64);
        for observation in &mut observations {
            let variant = observation.levels[0].1;
            observation.levels.push(("binary", variant));
        }
        let found = shares(&observations).unwrap();
        assert!((found.factors[0].share - 1.0).abs() < 1e-12);
        assert_eq!((found.factors[2].df, found.factors[2].share), (0, 0.0));
    }

    /// The one-way table of Snedecor and Cochran (1989), Statistical Methods, 8th ed., section
    /// 12.2: fat absorbed by doughnuts, F(3, 20) = 545.5 / 100.9 = 5.41.
    #[test]
    fn doughnuts_as_tabled() {
        let fats: [[f64; 6]; 4] = [
            [64.0, 72.0, 68.0, 77.0, 56.0, 95.0],
            [78.0, 91.0, 97.0, 82.0, 85.0, 77.0],
            [75.0, 93.0, 78.0, 71.0, 63.0, 76.0],
            [55.0, 66.0, 49.0, 64.0, 70.0, 68.0],
        ];
        let names = ["1", "2", "3", "4"];
        let row = |(name, values): (&&'static str, &[f64; 6])| {
            values.map(|value| Observation { value, levels: vec![("fat", *name)] })
        };
        let all: Vec<_> = names.iter().zip(&fats).flat_map(row).collect();
        let found = shares(&all).unwrap();
        assert!((found.explained() - 1_636.5 / 3_654.5).abs() < 1e-9, "{found:?}");
        assert!((found.by_chance() - 3.0 / 23.0).abs() < 1e-12);
        assert!((found.p_value().unwrap() - 0.006_876).abs() < 1e-5, "{:?}", found.p_value());
    }

    #[test]
    fn errors_say_which() {
        assert_eq!(shares(&[]), Err(VarianceError::Unusable));
        assert_eq!(shares(&grid(|_, _| f64::NAN)), Err(VarianceError::Unusable));
        assert_eq!(shares(&grid(|_, _| 0.1)), Err(VarianceError::Constant));
        let mut mixed = grid(|v, b| (v + b) as f64);
        mixed[4].levels.reverse();
        assert_eq!(shares(&mixed), Err(VarianceError::Factors { index: 4 }));
    }
}
