//! How a report is written.

use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_pcg::Pcg64;

use crate::kind::Kind;
use crate::study::Study;

/// A statistic of the summary table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Mean,
    Median,
    Sd,
    Cv,
    Min,
    Max,
    P95,
    P99,
    N,
}

/// Choices that change nothing in what is stated.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    /// Digits after the point of values.
    pub(crate) decimals: usize,
    /// Numbers are cut off instead of rounded.
    pub(crate) cut_off: bool,
    /// The divisor of standard deviations is n.
    pub(crate) population: bool,
    pub(crate) thousands: bool,
    pub(crate) unit_in_cells: bool,
    pub(crate) space_before_unit: bool,
    pub(crate) bold_best: bool,
    pub(crate) transposed: bool,
    pub(crate) plus_minus: bool,
    pub(crate) metric_in_header: bool,
    /// Configurations are a column instead of tables of their own.
    pub(crate) config_column: bool,
    /// One synonym is taken throughout.
    pub(crate) synonym: usize,
    pub(crate) columns: Vec<Column>,
    pub(crate) appendix: bool,
    pub(crate) comparison: bool,
    pub(crate) speed_up: bool,
    pub(crate) ranking: bool,
    pub(crate) intervals: bool,
    pub(crate) maxima: bool,
    pub(crate) tests: bool,
    pub(crate) again: bool,
    pub(crate) total: bool,
    pub(crate) retries: bool,
    pub(crate) prose: bool,
    pub(crate) raw: bool,
    /// The raw file says when each run started.
    pub(crate) stamps: bool,
}

use Column::{Cv, Max, Mean, Median, Min, N, P95, P99, Sd};

impl Style {
    pub(crate) fn draw(random: &mut Pcg64, study: &Study, kind: Option<Kind>) -> Self {
        let is = |kinds: &[Kind]| kind.is_some_and(|kind| kinds.contains(&kind));
        let columns = columns(random, study.n, kind);
        let data = is(&[
            Kind::RunsNotInRaw,
            Kind::TotalBeyondWall,
            Kind::PollLattice,
            Kind::BlockDrift,
            Kind::WinnerFlips,
            Kind::PinnedVariance,
            Kind::IdentityMetric,
        ]);
        let of_runs = is(&[
            Kind::WrongMean,
            Kind::WrongMedian,
            Kind::UpperMiddleMedian,
            Kind::WrongSd,
            Kind::MinMaxNotInRuns,
        ]);
        let mut maybe = |chance: f64, needed: bool| random.random_bool(chance) || needed;
        let raw = maybe(0.6, data);
        let appendix = (maybe(0.5, false) || of_runs && !raw) && study.n <= 12;
        let appendix = appendix || is(&[Kind::RunsNotInRaw]);
        Self {
            decimals: 0,
            cut_off: maybe(0.05, false),
            population: maybe(0.2, false),
            thousands: maybe(0.2, false),
            unit_in_cells: maybe(0.3, false),
            space_before_unit: maybe(0.5, false),
            bold_best: maybe(0.4, false),
            transposed: maybe(0.15, false),
            plus_minus: maybe(0.15, false) && !is(&[Kind::WrongSd, Kind::WrongCv]),
            metric_in_header: maybe(0.2, false),
            config_column: maybe(0.5, false),
            columns,
            // Without raw data and too many runs to print, nothing contradicts a summary.
            raw: raw || of_runs && !appendix,
            appendix,
            comparison: maybe(0.5, is(&[Kind::PercentOnWrongBase, Kind::SignReversed])),
            speed_up: maybe(0.4, false) && !is(&[Kind::PercentOnWrongBase, Kind::SignReversed]),
            ranking: maybe(0.3, is(&[Kind::RankingReversed])),
            intervals: maybe(0.3, is(&[Kind::IntervalExcludesMean])),
            maxima: is(&[Kind::IntervalExcludesMaximum]),
            tests: maybe(0.3, is(&[Kind::TestMismatch])),
            again: maybe(0.5, is(&[Kind::TablesDisagree])),
            total: maybe(0.3, is(&[Kind::TotalBeyondWall])),
            retries: maybe(0.2, is(&[Kind::ImpossibleMean])),
            prose: maybe(0.6, false),
            stamps: maybe(0.6, is(&[Kind::BlockDrift])),
            synonym: random.random_range(0..3),
        }
        .with_decimals(random, study)
    }

    /// Three to five significant digits of the smallest value.
    fn with_decimals(self, random: &mut Pcg64, study: &Study) -> Self {
        let runs = study.groups.iter().flat_map(|group| group.runs.iter().copied());
        let least = runs.fold(f64::INFINITY, f64::min).max(1e-3);
        let digits = random.random_range(3..=5) - 1 - least.log10().floor() as i64;
        let decimals = digits.clamp(0, study.raw_decimals as i64) as usize;
        // A summary of runs that are printed to one digit says nothing about them.
        Self { decimals: decimals.max(1), ..self }
    }

    /// The step between two printed values.
    pub(crate) fn step(&self) -> f64 {
        10f64.powi(-(self.decimals as i32))
    }

    /// The header of a statistic.
    pub(crate) fn name(&self, column: Column) -> &'static str {
        let names: [&str; 3] = match column {
            Mean => ["Mean", "Average", "Avg"],
            Median => ["Median", "P50", "p50"],
            Sd => ["Std Dev", "SD", "σ"],
            Cv => ["CV", "CV", "CV"],
            Min => ["Min", "Min", "Minimum"],
            Max => ["Max", "Peak", "Maximum"],
            P95 => ["P95", "p95", "95th percentile"],
            P99 => ["P99", "p99", "99th percentile"],
            N => ["N", "Runs", "Samples"],
        };
        names[self.synonym]
    }
}

fn columns(random: &mut Pcg64, n: usize, kind: Option<Kind>) -> Vec<Column> {
    let mut all = vec![Mean, Median, Sd, Cv, Min, Max];
    if n >= 20 {
        all.push(P95);
    }
    all.shuffle(random);
    let keep = random.random_range(2..=all.len());
    let mut columns: Vec<Column> = all.iter().copied().take(keep).collect();
    let needed: &[Column] = match kind {
        Some(Kind::WrongMean | Kind::TablesDisagree) => &[Mean],
        Some(Kind::WrongMedian | Kind::UpperMiddleMedian) => &[Median],
        Some(Kind::WrongSd) => &[Sd],
        Some(Kind::WrongCv) => &[Mean, Sd, Cv],
        Some(Kind::MinMaxNotInRuns) => &[Min, Max],
        Some(Kind::PercentileOfFew) => &[P99, N],
        _ => &[],
    };
    for column in needed {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    if columns.iter().all(|column| matches!(column, Sd | Cv)) {
        columns.push(*[Mean, Median].choose(random).unwrap_or(&Mean));
    }
    if random.random_bool(0.4) && !columns.contains(&N) {
        columns.push(N);
    }
    columns
}
