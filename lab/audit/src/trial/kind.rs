//! The errors that are planted.

use serde::Serialize;

/// A kind of planted error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A mean that its runs do not have.
    WrongMean,
    /// A median far from the middle of its runs.
    WrongMedian,
    /// The upper of the two middle values of an even number of runs, called the median.
    UpperMiddleMedian,
    /// A standard deviation that its runs do not have.
    WrongSd,
    /// A coefficient of variation that is not that of the mean and deviation beside it.
    WrongCv,
    /// A minimum or maximum that is no run.
    MinMaxNotInRuns,
    /// One mean in two tables, stated differently.
    TablesDisagree,
    /// A percentage on the other of its two bases.
    PercentOnWrongBase,
    /// A percentage with the other sign.
    SignReversed,
    /// Two places of a ranking changed over.
    RankingReversed,
    /// A confidence interval beside its mean.
    IntervalExcludesMean,
    /// A confidence interval for a maximum that ends below it.
    IntervalExcludesMaximum,
    /// A p-value that t and the degrees of freedom do not give.
    TestMismatch,
    /// A 99th percentile of ten runs.
    PercentileOfFew,
    /// A total wall time shorter than its runs.
    TotalBeyondWall,
    /// Runs in an appendix that the raw file does not hold.
    RunsNotInRaw,
    /// Outcomes rounded up to the next poll.
    PollLattice,
    /// Runs in blocks one after the other, with a drift.
    BlockDrift,
    /// Two sessions with different winners.
    WinnerFlips,
    /// A group that hardly varies.
    PinnedVariance,
    /// A metric that is the balance of two durations.
    IdentityMetric,
    /// A mean of whole numbers that no whole numbers have.
    ImpossibleMean,
}

use Kind::{
    BlockDrift, IdentityMetric, ImpossibleMean, IntervalExcludesMaximum, IntervalExcludesMean,
    MinMaxNotInRuns, PercentOnWrongBase, PercentileOfFew, PinnedVariance, PollLattice,
    RankingReversed, RunsNotInRaw, SignReversed, TablesDisagree, TestMismatch, TotalBeyondWall,
    UpperMiddleMedian, WinnerFlips, WrongCv, WrongMean, WrongMedian, WrongSd,
};

/// Every kind.
pub const KINDS: [Kind; 22] = [
    WrongMean,
    WrongMedian,
    UpperMiddleMedian,
    WrongSd,
    WrongCv,
    MinMaxNotInRuns,
    TablesDisagree,
    PercentOnWrongBase,
    SignReversed,
    RankingReversed,
    IntervalExcludesMean,
    IntervalExcludesMaximum,
    TestMismatch,
    PercentileOfFew,
    TotalBeyondWall,
    RunsNotInRaw,
    PollLattice,
    BlockDrift,
    WinnerFlips,
    PinnedVariance,
    IdentityMetric,
    ImpossibleMean,
];

impl Kind {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            WrongMean => "wrong mean",
            WrongMedian => "wrong median",
            UpperMiddleMedian => "upper-middle value as median",
            WrongSd => "wrong standard deviation",
            WrongCv => "wrong CV",
            MinMaxNotInRuns => "minimum or maximum that is no run",
            TablesDisagree => "two tables disagree",
            PercentOnWrongBase => "percentage on the wrong base",
            SignReversed => "sign reversed",
            RankingReversed => "ranking reversed",
            IntervalExcludesMean => "interval excludes its mean",
            IntervalExcludesMaximum => "interval excludes its maximum",
            TestMismatch => "t and p do not belong together",
            PercentileOfFew => "P99 of ten runs",
            TotalBeyondWall => "total below the sum of its runs",
            RunsNotInRaw => "runs that the raw file lacks",
            PollLattice => "poll lattice",
            BlockDrift => "blocks with a drift",
            WinnerFlips => "winner flips between sessions",
            PinnedVariance => "pinned variance",
            IdentityMetric => "metric that is an identity",
            ImpossibleMean => "impossible mean of whole numbers",
        }
    }

    /// The checks of which one must fire, where the error is in the data and any finding that
    /// the sound twin lacks could be a different one. Empty: any new finding counts.
    pub(super) fn checks(self) -> &'static [&'static str] {
        match self {
            PercentileOfFew => &["n_too_small"],
            RunsNotInRaw => &["runs_not_in_raw"],
            PollLattice => &["lattice"],
            BlockDrift => &["drift", "blocked_order"],
            WinnerFlips => &["winner_flips"],
            PinnedVariance => &["pinned_variance", "frozen_runs"],
            IdentityMetric => &["identity"],
            _ => &[],
        }
    }
}
