//! Simulated runs: what a report is about.

use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use crate::kind::Kind;

/// What was measured.
#[derive(Debug, Clone)]
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    /// As a header prints it.
    pub(crate) unit: &'static str,
    /// The raw file's column.
    pub(crate) column: &'static str,
    pub(crate) higher_is_better: bool,
    /// How many of its units are a second, for times.
    pub(crate) per_second: Option<f64>,
}

/// Runs of one subject in one configuration.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) subject: usize,
    pub(crate) config: usize,
    /// In the metric's unit, as the raw file prints them.
    pub(crate) runs: Vec<f64>,
    /// Whole numbers, one per run.
    pub(crate) retries: Vec<u32>,
}

/// A benchmark and its outcomes.
#[derive(Debug, Clone)]
pub(crate) struct Study {
    pub(crate) metric: Metric,
    pub(crate) subjects: Vec<&'static str>,
    pub(crate) configs: Vec<&'static str>,
    /// Runs per group.
    pub(crate) n: usize,
    /// By configuration, then by subject.
    pub(crate) groups: Vec<Group>,
    /// Digits after the point of the raw file.
    pub(crate) raw_decimals: usize,
    /// The order in which runs happened, as indices of group and run.
    pub(crate) order: Vec<(usize, usize)>,
}

const METRICS: [Metric; 7] = [
    time("Latency", "ms", "latency_ms", 1e3),
    time("Wall time", "s", "wall_s", 1.0),
    time("Duration", "ms", "duration_ms", 1e3),
    time("Time", "µs", "time_us", 1e6),
    other("Throughput", "ops/s", "throughput", true),
    other("Memory", "MB", "memory_mb", false),
    other("Throughput", "MB/s", "throughput_mb_s", true),
];

const fn time(
    name: &'static str,
    unit: &'static str,
    column: &'static str,
    per_second: f64,
) -> Metric {
    Metric { name, unit, column, higher_is_better: false, per_second: Some(per_second) }
}

const fn other(
    name: &'static str,
    unit: &'static str,
    column: &'static str,
    higher_is_better: bool,
) -> Metric {
    Metric { name, unit, column, higher_is_better, per_second: None }
}

const SUBJECTS: [&str; 10] = [
    "tokio",
    "smol",
    "async-std",
    "rayon",
    "glommio",
    "monoio",
    "embassy",
    "crossbeam",
    "may",
    "actix",
];

const CONFIGS: [&str; 5] = ["small", "large", "mixed", "ctx512", "batch"];

impl Study {
    pub(crate) fn draw(random: &mut Pcg64, kind: Option<Kind>, plant: bool) -> Self {
        let timed = matches!(kind, Some(Kind::TotalBeyondWall | Kind::PollLattice));
        let metric = METRICS[random.random_range(0..if timed { 4 } else { 7 })].clone();
        let mut subjects = SUBJECTS.to_vec();
        subjects.shuffle(random);
        subjects.truncate(random.random_range(3..=6));
        let mut configs = CONFIGS.to_vec();
        configs.shuffle(random);
        configs.truncate([1, 1, 2, 3][random.random_range(0..4)]);
        let n = runs(random, kind);
        // Four significant digits at least, so that ties are rare.
        let base = 10f64.powf(random.random_range(0.5..3.5));
        let raw_decimals = random.random_range(2..=4) + usize::from(base < 30.0);
        let mut study =
            Self { metric, subjects, configs, n, groups: vec![], raw_decimals, order: vec![] };
        let spread = 10f64.powf(random.random_range(-2.0..-0.6));
        let between = random.random_range(0.05..0.4);
        for config in 0..study.configs.len() {
            let load = base * random.random_range(1.0..4.0);
            for subject in 0..study.subjects.len() {
                let centre = load * (between * gauss(random)).exp();
                let group = study.group(random, subject, config, centre, spread);
                study.groups.push(group);
            }
        }
        study.order =
            (0..study.groups.len()).flat_map(|group| (0..n).map(move |run| (group, run))).collect();
        study.order.shuffle(random);
        if plant {
            study.plant(random, kind);
        }
        study
    }

    fn group(
        &self,
        random: &mut Pcg64,
        subject: usize,
        config: usize,
        centre: f64,
        spread: f64,
    ) -> Group {
        let own = spread * random.random_range(0.5..2.0);
        let runs = (0..self.n).map(|_| self.round(centre * (own * gauss(random)).exp())).collect();
        let retries = (0..self.n).map(|_| random.random_range(0..9)).collect();
        Group { subject, config, runs, retries }
    }

    /// As the raw file prints it.
    pub(crate) fn round(&self, value: f64) -> f64 {
        let scale = 10f64.powi(self.raw_decimals as i32);
        (value * scale).round() / scale
    }

    /// Changes the data themselves; what is stated follows from them.
    fn plant(&mut self, random: &mut Pcg64, kind: Option<Kind>) {
        match kind {
            Some(Kind::PollLattice) => self.poll(random),
            Some(Kind::BlockDrift) => self.drift(),
            Some(Kind::PinnedVariance) => {
                let victim = random.random_range(0..self.groups.len());
                let centre = self.groups[victim].runs[0];
                let scale = 10f64.powi(-(self.raw_decimals as i32));
                let runs: Vec<f64> = (0..self.n)
                    .map(|_| self.round(centre + scale * f64::from(random.random_range(0..2))))
                    .collect();
                self.groups[victim].runs = runs;
            }
            _ => {}
        }
    }

    /// A client that looks every so often sees the next look after the end.
    fn poll(&mut self, random: &mut Pcg64) {
        // Each group then has a few levels: with one, nothing could be seen.
        let mut spreads: Vec<f64> = self.groups.iter().map(|group| spread(&group.runs)).collect();
        spreads.sort_unstable_by(f64::total_cmp);
        let step = spreads[spreads.len() / 2] * random.random_range(0.8..2.0);
        let delay = step * random.random_range(0.02..0.3);
        for index in 0..self.groups.len() {
            let group = self.groups[index].runs.clone();
            let seen = group.into_iter().map(|run| {
                let late = step * 0.02 * gauss(random);
                self.round((run / step).ceil() * step + delay + late)
            });
            let seen: Vec<f64> = seen.collect();
            self.groups[index].runs = seen;
        }
    }

    fn drift(&mut self) {
        self.order.sort_unstable();
        let total = self.order.len() as f64;
        for (position, (group, run)) in self.order.clone().into_iter().enumerate() {
            let slower = 1.0 + 0.5 * position as f64 / total;
            let value = self.round(self.groups[group].runs[run] * slower);
            self.groups[group].runs[run] = value;
        }
    }
}

fn runs(random: &mut Pcg64, kind: Option<Kind>) -> usize {
    match kind {
        Some(Kind::PercentileOfFew) => 10,
        Some(Kind::UpperMiddleMedian) => 2 * random.random_range(2..=6),
        Some(Kind::ImpossibleMean | Kind::RunsNotInRaw) => random.random_range(3..=11),
        Some(Kind::BlockDrift) => random.random_range(6..=20),
        Some(Kind::PollLattice) => random.random_range(12..=40),
        Some(Kind::IdentityMetric | Kind::PinnedVariance) => random.random_range(5..=20),
        _ if random.random_bool(0.6) => random.random_range(3..=12),
        _ => random.random_range(13..=50),
    }
}

/// The standard deviation.
fn spread(runs: &[f64]) -> f64 {
    lab_stats::describe::summarize(runs).and_then(|summary| summary.sd).unwrap_or(0.0)
}

pub(crate) fn gauss(random: &mut Pcg64) -> f64 {
    StandardNormal.sample(random)
}
