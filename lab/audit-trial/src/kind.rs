//! The errors that are planted.

/// The kinds, each with what it is and its name in tables.
macro_rules! kinds {
    ($($(#[doc = $says:literal])* $kind:ident $name:literal,)*) => {
        /// A kind of planted error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[doc = $says])* $kind,)*
        }

        /// Every kind.
        pub const KINDS: &[Kind] = &[$(Kind::$kind,)*];

        impl Kind {
            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A mean that its runs do not have.
    WrongMean "wrong mean",
    /// A median far from the middle of its runs.
    WrongMedian "wrong median",
    /// The upper of the two middle values of an even number of runs, called the median.
    UpperMiddleMedian "upper-middle value as median",
    /// A standard deviation that its runs do not have.
    WrongSd "wrong standard deviation",
    /// A coefficient of variation that is not that of the mean and deviation beside it.
    WrongCv "wrong CV",
    /// A minimum or maximum that is no run.
    MinMaxNotInRuns "minimum or maximum that is no run",
    /// One mean in two tables, stated differently.
    TablesDisagree "two tables disagree",
    /// A percentage on the other of its two bases.
    PercentOnWrongBase "percentage on the wrong base",
    /// A percentage with the other sign.
    SignReversed "sign reversed",
    /// Two places of a ranking changed over.
    RankingReversed "ranking reversed",
    /// A confidence interval beside its mean.
    IntervalExcludesMean "interval excludes its mean",
    /// A confidence interval for a maximum that ends below it.
    IntervalExcludesMaximum "interval excludes its maximum",
    /// A p-value that t and the degrees of freedom do not give.
    TestMismatch "t and p do not belong together",
    /// A 99th percentile of ten runs.
    PercentileOfFew "P99 of ten runs",
    /// A total wall time shorter than its runs.
    TotalBeyondWall "total below the sum of its runs",
    /// Runs in an appendix that the raw file does not hold.
    RunsNotInRaw "runs that the raw file lacks",
    /// Outcomes rounded up to the next poll.
    PollLattice "poll lattice",
    /// Runs in blocks one after the other, with a drift.
    BlockDrift "blocks with a drift",
    /// Two sessions with different winners.
    WinnerFlips "winner flips between sessions",
    /// A group that hardly varies.
    PinnedVariance "pinned variance",
    /// A metric that is the balance of two durations.
    IdentityMetric "metric that is an identity",
    /// A mean of whole numbers that no whole numbers have.
    ImpossibleMean "impossible mean of whole numbers",
}

impl Kind {
    /// The checks of which one must fire, where the error is in the data and any finding that
    /// the sound twin lacks could be a different one. Empty: any new finding counts.
    pub(crate) fn checks(self) -> &'static [&'static str] {
        match self {
            Self::PercentileOfFew => &["n_too_small"],
            Self::RunsNotInRaw => &["runs_not_in_raw"],
            Self::PollLattice => &["lattice"],
            Self::BlockDrift => &["drift", "blocked_order"],
            Self::WinnerFlips => &["winner_flips"],
            Self::PinnedVariance => &["pinned_variance", "frozen_runs"],
            Self::IdentityMetric => &["identity"],
            _ => &[],
        }
    }
}
