//! What a report states of its runs, and errors planted in it.

use rand::Rng;
use rand_pcg::Pcg64;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::kind::Kind;
use crate::study::{Group, Study};

/// What is stated of one group.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) subject: usize,
    pub(crate) config: usize,
    pub(crate) mean: f64,
    pub(crate) median: f64,
    pub(crate) sd: f64,
    pub(crate) cv: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// For the maximum, where a report gives such a thing.
    pub(crate) top_low: f64,
    pub(crate) top_high: f64,
    /// Mean, as a second table states it.
    pub(crate) again: f64,
    /// Mean, as every other table states it.
    pub(crate) plain: f64,
    /// Percent against the configuration's first subject.
    pub(crate) change: f64,
    /// How many times the first subject.
    pub(crate) ratio: f64,
    pub(crate) retries: f64,
    pub(crate) runs: Vec<f64>,
}

/// A stated comparison of the first subject and another, in the first configuration.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) with: usize,
    pub(crate) t: f64,
    pub(crate) df: f64,
    pub(crate) p: f64,
}

/// Everything that is stated.
#[derive(Debug, Clone)]
pub(crate) struct Stated {
    pub(crate) rows: Vec<Row>,
    pub(crate) tests: Vec<Test>,
    /// Subjects of the first configuration, the best first.
    pub(crate) ranking: Vec<usize>,
    /// Of all runs, in seconds.
    pub(crate) total_s: Option<f64>,
}

impl Stated {
    /// `population` is the divisor n of standard deviations.
    pub(crate) fn of(study: &Study, population: bool) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        for group in &study.groups {
            let base = rows.iter().find(|row| row.config == group.config).map(|row| row.mean);
            rows.push(row(group, base, population));
        }
        let own = rows.iter().filter(|row| row.config == 0);
        let mut ranking: Vec<usize> = own.map(|row| row.subject).collect();
        let key = |subject: &usize| {
            let mean = rows[*subject].mean;
            if study.metric.higher_is_better { -mean } else { mean }
        };
        ranking.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let all = study.groups.iter().flat_map(|group| &group.runs).sum::<f64>();
        let total_s = study.metric.per_second.map(|per_second| all / per_second);
        Self { tests: tests(study), ranking, total_s, rows }
    }

    /// Plants an error where it stands in the report alone. `step` is that of its printing.
    pub(crate) fn plant(&mut self, random: &mut Pcg64, kind: Kind, step: f64) {
        // Most tables are about the first configuration alone.
        let victim = random.random_range(0..self.ranking.len());
        let away = |random: &mut Pcg64, sd: f64| {
            let size = 4.0 * step + sd * random.random_range(0.3..1.5);
            if random.random_bool(0.5) { size } else { -size }
        };
        let sd = self.rows[victim].sd;
        let row = &mut self.rows[victim];
        match kind {
            Kind::WrongMean => row.mean += away(random, sd),
            Kind::WrongMedian => row.median += away(random, sd),
            Kind::UpperMiddleMedian => {
                for row in &mut self.rows {
                    row.median = sorted(&row.runs)[row.runs.len() / 2];
                }
            }
            Kind::WrongSd => {
                row.sd = row.sd * [0.4, 0.6, 1.7, 2.5][random.random_range(0..4)] + 4.0 * step;
                row.cv = 100.0 * row.sd / row.mean;
            }
            Kind::WrongCv => {
                row.cv = row.cv * [0.4, 0.6, 1.7, 3.0][random.random_range(0..4)] + 0.5
            }
            Kind::MinMaxNotInRuns if random.random_bool(0.5) => {
                row.max += 5.0 * step + 0.5 * sd;
            }
            Kind::MinMaxNotInRuns => row.min -= 5.0 * step + 0.5 * sd,
            Kind::TablesDisagree => row.again += away(random, sd),
            Kind::IntervalExcludesMean => {
                let off = (row.high - row.low) * random.random_range(0.8..2.0) + 5.0 * step;
                (row.low, row.high) = (row.low + off, row.high + off);
            }
            Kind::IntervalExcludesMaximum => {
                row.top_low = row.mean;
                row.top_high = row.max - 5.0 * step - 0.3 * sd;
            }
            _ => self.plant_between(random, kind, step),
        }
    }

    /// Errors in what compares groups.
    fn plant_between(&mut self, random: &mut Pcg64, kind: Kind, step: f64) {
        match kind {
            Kind::PercentOnWrongBase | Kind::SignReversed => {
                let far = |row: &&mut Row| row.change.abs() > 4.0;
                let Some(row) = self.rows.iter_mut().find(far) else { return };
                row.change = match kind {
                    Kind::SignReversed => -row.change,
                    _ => 100.0 * row.change / (100.0 + row.change),
                };
            }
            Kind::RankingReversed => {
                let apart = |pair: &[usize]| {
                    (self.rows[pair[0]].mean - self.rows[pair[1]].mean).abs() > 3.0 * step
                };
                if let Some(at) = self.ranking.windows(2).position(apart) {
                    self.ranking.swap(at, at + 1);
                }
            }
            Kind::TestMismatch => {
                if let Some(test) = self.tests.first_mut() {
                    test.p = if test.p < 0.1 { test.p * 5.0 + 0.2 } else { test.p / 20.0 };
                }
            }
            Kind::TotalBeyondWall => self.total_s = self.total_s.map(|total| 0.6 * total),
            Kind::RunsNotInRaw => {
                for row in &mut self.rows {
                    let (centre, sd) = (row.mean, row.sd);
                    for run in row.runs.iter_mut().skip(1) {
                        *run = centre + sd * (random.random_range(-1.5..1.5)) + 2.0 * step;
                    }
                }
            }
            Kind::ImpossibleMean => {
                let victim = random.random_range(0..self.ranking.len());
                let row = &mut self.rows[victim];
                // Halfway between two means that whole numbers can have.
                row.retries += 0.5 / row.runs.len() as f64;
            }
            _ => {}
        }
    }
}

fn row(group: &Group, base: Option<f64>, population: bool) -> Row {
    let runs = sorted(&group.runs);
    let n = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / n;
    let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
    let sample = (squares / (n - 1.0)).sqrt();
    let sd = if population { (squares / n).sqrt() } else { sample };
    let quantile = |p: f64| lab_stats::describe::quantile(&runs, p).unwrap_or(f64::NAN);
    let reach = t_quantile(n - 1.0) * sample / n.sqrt();
    let base = base.unwrap_or(mean);
    let max = runs[runs.len() - 1];
    Row {
        subject: group.subject,
        config: group.config,
        mean,
        median: quantile(0.5),
        sd,
        cv: 100.0 * sd / mean,
        min: runs[0],
        max,
        p95: quantile(0.95),
        p99: quantile(0.99),
        low: mean - reach,
        high: mean + reach,
        top_low: max - 2.0 * sample,
        top_high: max,
        again: mean,
        plain: mean,
        change: 100.0 * (mean / base - 1.0),
        ratio: mean / base,
        retries: group.retries.iter().map(|&retries| f64::from(retries)).sum::<f64>() / n,
        runs: group.runs.clone(),
    }
}

fn tests(study: &Study) -> Vec<Test> {
    let first = &study.groups[0].runs;
    let others = study.groups.iter().filter(|group| group.config == 0 && group.subject > 0);
    others
        .filter_map(|group| {
            let welch = lab_stats::unpaired::welch_t(first, &group.runs)?;
            Some(Test { with: group.subject, t: welch.t, df: welch.df, p: welch.p })
        })
        .collect()
}

fn t_quantile(df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).map_or(2.0, |t| t.inverse_cdf(0.975))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut copy = values.to_vec();
    copy.sort_unstable_by(f64::total_cmp);
    copy
}
