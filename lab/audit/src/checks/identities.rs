//! A metric that is a simple expression of other columns, so that it measures nothing of its own.

mod grammar;

use serde::Serialize;

use grammar::{Expression, Form};

/// A column that an expression of other columns reproduces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Identity {
    /// The expression, for example `50 · (a + b) / c`.
    pub formula: String,
    /// Columns that it uses, in the order of the formula.
    pub columns: Vec<String>,
    /// Whether it holds on every row to within the digits of the data; otherwise it leaves a
    /// residue.
    pub exact: bool,
    /// The largest absolute difference on any row, in the metric's unit.
    pub largest_error: f64,
    /// The standard deviation of the difference as a share of the metric's own.
    pub unexplained: f64,
}

/// Rows below which nothing is found: so few can be fitted by accident.
const FEWEST_ROWS: usize = 5;

/// A residue below this share of the metric's spread counts as an identity in practice.
const IN_PRACTICE: f64 = 0.02;

/// The logarithm of the chance, over all expressions tried, that has to be undercut.
const RARE: f64 = -13.8;

/// Columns considered for expressions of three.
const MOST_COLUMNS: usize = 24;

/// Simple expressions of up to three of `columns` that give `metric`, exact ones first and then
/// the shorter. Every slice has one value per row; rows with a value that is not finite are left
/// out.
///
/// The grammar is a ± b, a · b, a / b, shares, minima and maxima, (a + b) / c, a · b / c,
/// a / (b · c), a / (b + c) and (a + b) / max(a, b), each with one factor that is fitted. An
/// expression counts only where hitting every row by accident, with all that were tried, has a
/// chance below one in a million.
pub fn find(metric: &[f64], columns: &[(&str, &[f64])]) -> Vec<Identity> {
    let rows = usable_rows(metric, columns);
    let target = Column::take(metric, &rows);
    if rows.len() < FEWEST_ROWS || target.spread <= 0.0 {
        return Vec::new();
    }
    let inputs: Vec<Column> =
        columns.iter().map(|(_, values)| Column::take(values, &rows)).collect();
    let tried = grammar::expressions(inputs.len(), MOST_COLUMNS);
    let mut found: Vec<(Form, Identity)> = Vec::new();
    let penalty = (tried.len() as f64).ln();
    for expression in tried {
        let varies = |column: usize| inputs[column].spread > 0.0;
        let value = |column: usize, row: usize| inputs[column].values[row];
        if !expression.columns().all(varies) || expression.is_one_sided(target.values.len(), value)
        {
            continue;
        }
        let names = || expression.columns().map(|index| columns[index].0.to_owned()).collect();
        if let Some(identity) = fit(&target, &inputs, expression, penalty, names) {
            found.push((expression.form, identity));
        }
    }
    let rank = |(form, identity): &(Form, Identity)| {
        (!identity.exact, identity.columns.len(), form.length())
    };
    found.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.1.unexplained.total_cmp(&b.1.unexplained)));
    found.into_iter().map(|(_, identity)| identity).collect()
}

/// A column's usable rows with what its digits hide.
struct Column {
    values: Vec<f64>,
    half_step: f64,
    spread: f64,
}

impl Column {
    fn take(values: &[f64], rows: &[usize]) -> Self {
        let values: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
        let spread = deviation(&values);
        Self { half_step: half_step(&values), values, spread }
    }
}

/// Fits the factor and judges the residue.
fn fit(
    target: &Column,
    inputs: &[Column],
    expression: Expression,
    penalty: f64,
    names: impl FnOnce() -> Vec<String>,
) -> Option<Identity> {
    let n = target.values.len();
    let at = |row: usize| expression.at(|column| inputs[column].values[row]);
    // A few rows sort out nearly everything before all of them are read.
    let probe: Vec<usize> = (0..n).step_by(n.div_ceil(8)).collect();
    let factor = factor(target, &probe, &at)?;
    let limit = IN_PRACTICE * 20.0 * target.spread;
    if probe.iter().any(|&row| (factor * at(row) - target.values[row]).abs() > limit) {
        return None;
    }
    let all: Vec<usize> = (0..n).collect();
    let errors = |factor: f64| -> Vec<f64> {
        all.iter().map(|&row| factor * at(row) - target.values[row]).collect()
    };
    let size = |errors: &[f64]| deviation(errors).max(mean(errors).abs());
    let holds = |factor: f64| {
        let within = |row: usize| tolerance(target, inputs, expression, factor, row);
        errors(factor).iter().enumerate().all(|(row, error)| error.abs() <= within(row))
    };
    let fitted = self::factor(target, &all, &at)?;
    let nice = grammar::nice(fitted);
    // A round factor is the likelier one where the data cannot tell.
    let still_good = (1.5 * size(&errors(fitted))).max(0.01 * target.spread);
    let as_good = holds(nice) || size(&errors(nice)) <= still_good;
    let factor = if as_good { nice } else { fitted };
    let exact = holds(factor);
    let errors = errors(factor);
    let unexplained = size(&errors) / target.spread;
    let tolerance = |row: usize| tolerance(target, inputs, expression, factor, row);
    let hit = |row: usize| {
        let width = if exact { tolerance(row) } else { 3.0 * unexplained * target.spread };
        (2.0 * width / (3.4 * target.spread)).clamp(1e-12, 1.0).ln()
    };
    // One row went into the factor.
    let chance = all.iter().skip(1).map(|&row| hit(row)).sum::<f64>() + penalty;
    if !(unexplained <= IN_PRACTICE || exact) || chance > RARE {
        return None;
    }
    let columns = names();
    let formula = expression.formula(factor, &columns);
    let largest_error = errors.iter().fold(0.0, |largest: f64, error| largest.max(error.abs()));
    Some(Identity { formula, columns, exact, largest_error, unexplained })
}

/// The median of metric / expression; `None` where the expression is zero or no number somewhere.
fn factor(target: &Column, rows: &[usize], at: &impl Fn(usize) -> f64) -> Option<f64> {
    let mut factors: Vec<f64> = rows
        .iter()
        .map(|&row| (target.values[row], at(row)))
        .filter(|(metric, value)| *metric != 0.0 || *value != 0.0)
        .map(|(metric, value)| metric / value)
        .collect();
    if factors.is_empty() || factors.iter().any(|factor| !factor.is_finite()) {
        return None;
    }
    let middle = factors.len() / 2;
    let (_, factor, _) = factors.select_nth_unstable_by(middle, f64::total_cmp);
    (*factor != 0.0).then_some(*factor)
}

/// What the digits of the metric and of every input can hide on a row.
fn tolerance(
    target: &Column,
    inputs: &[Column],
    expression: Expression,
    factor: f64,
    row: usize,
) -> f64 {
    let at = |column: usize| inputs[column].values[row];
    let plain = expression.at(at);
    let moved: f64 = expression
        .columns()
        .map(|moving| {
            let step = inputs[moving].half_step;
            let shifted = |column| at(column) + if column == moving { step } else { 0.0 };
            (expression.at(shifted) - plain).abs()
        })
        .sum();
    let arithmetic = 1e-9 * target.values[row].abs();
    1.1 * (factor.abs() * moved + target.half_step) + arithmetic
}

fn usable_rows(metric: &[f64], columns: &[(&str, &[f64])]) -> Vec<usize> {
    let usable = |value: Option<&f64>| value.is_some_and(|value| value.abs() < 1e150);
    let row = |row: &usize| {
        usable(metric.get(*row)) && columns.iter().all(|(_, values)| usable(values.get(*row)))
    };
    (0..metric.len()).filter(row).collect()
}

/// Half of the last decimal that any value of a column shows.
fn half_step(values: &[f64]) -> f64 {
    let decimals = |value: &f64| {
        let shown = format!("{value}");
        shown.split_once('.').map_or(0, |(_, after)| after.len())
    };
    let most = values.iter().take(200).map(decimals).max().unwrap_or(0);
    // Integers are counts more often than rounded, and then exact.
    if most == 0 { 0.0 } else { 0.5 * 10f64.powi(-(most as i32)) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let deviation = (squares / values.len().max(1) as f64).sqrt();
    // A constant column's rounding errors are no spread.
    if deviation <= 1e-12 * centre.abs() { 0.0 } else { deviation }
}

#[cfg(test)]
mod tests;
