//! The name of every check, once.
//!
//! docs/audit-checks.tsv has a line for each; a test holds the two to each other.

/// Gives each name its variant; nothing can be found under a name that is not here.
macro_rules! checks {
    ($($variant:ident $name:literal,)*) => {
        /// A check, by the name that its findings carry.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Check {
            $(#[doc = $name] $variant,)*
        }

        impl Check {
            /// The check of a name.
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// As findings carry it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        /// The names of all checks, sorted.
        pub const CHECKS: &[&str] = &[$($name,)*];
    };
}

checks! {
    AverageOfColumns "average_of_columns",
    AverageRow "average_row",
    BlockedOrder "blocked_order",
    BlocksInTime "blocks_in_time",
    ChangeOfTwo "change_of_two",
    ClaimOfAllRows "claim_of_all_rows",
    ComparedWith "compared_with",
    CvOfRuns "cv_of_runs",
    CvOfSdAndMean "cv_of_sd_and_mean",
    Definition "definition",
    DifferenceNotInRawData "difference_not_in_raw_data",
    DifferenceOfParts "difference_of_parts",
    DiffersFromResults "differs_from_results",
    Drift "drift",
    Efficiency "efficiency",
    Equation "equation",
    ExtremeExceeded "extreme_exceeded",
    ExtremeTooFar "extreme_too_far",
    ImpossibleValue "impossible_value",
    IntervalExcludes "interval_excludes",
    IntervalExcludesEstimate "interval_excludes_estimate",
    IntervalExcludesMaximum "interval_excludes_maximum",
    IntervalReversed "interval_reversed",
    Inverse "inverse",
    Lattice "lattice",
    LowerMedian "lower_median",
    MaxOfRuns "max_of_runs",
    MaximumBelowMinimum "maximum_below_minimum",
    MeanBeyondPercentiles "mean_beyond_percentiles",
    MeanFarFromMedian "mean_far_from_median",
    MeanOfRuns "mean_of_runs",
    MeanOfWholeNumbers "mean_of_whole_numbers",
    MedianOfRuns "median_of_runs",
    MetricIsIdentity "metric_is_identity",
    MinOfRuns "min_of_runs",
    NTooSmall "n_too_small",
    NotInRawData "not_in_raw_data",
    OutsideItsExtremes "outside_its_extremes",
    OutsideItsRange "outside_its_range",
    OutsideOfExtremes "outside_of_extremes",
    OverallRow "overall_row",
    POfCounts "p_of_counts",
    POfTest "p_of_test",
    PartsOfWhole "parts_of_whole",
    PercentOfColumn "percent_of_column",
    PercentOfOther "percent_of_other",
    PercentileOfRuns "percentile_of_runs",
    PercentileOrder "percentile_order",
    PrintedRuns "printed_runs",
    ProductOfColumns "product_of_columns",
    QuotientOfColumns "quotient_of_columns",
    RangeOfExtremes "range_of_extremes",
    RankOrder "rank_order",
    RankingReversed "ranking_reversed",
    RankingsDiffer "rankings_differ",
    RateOfCounts "rate_of_counts",
    Ratio "ratio",
    RawSummary "raw_summary",
    Relation "relation",
    RelativeCell "relative_cell",
    RunsMissing "runs_missing",
    RunsNotInRaw "runs_not_in_raw",
    SameQuantity "same_quantity",
    SameTreatment "same_treatment",
    SdBeyondRange "sd_beyond_range",
    SdBeyondShares "sd_beyond_shares",
    SdOfOutcomes "sd_of_outcomes",
    SdOfRuns "sd_of_runs",
    SdOfWholeNumbers "sd_of_whole_numbers",
    ShareOfCounts "share_of_counts",
    ShareOfTotal "share_of_total",
    SpreadNamedTwice "spread_named_twice",
    StandardErrorOfRuns "standard_error_of_runs",
    StandardErrorOfSd "standard_error_of_sd",
    StatedTwice "stated_twice",
    StatisticOfRows "statistic_of_rows",
    SumOfCounts "sum_of_counts",
    SumOfRuns "sum_of_runs",
    Superlative "superlative",
    TestOfSamples "test_of_samples",
    TimesFaster "times_faster",
    TotalOfColumns "total_of_columns",
    TotalOfCounts "total_of_counts",
    TotalRow "total_row",
    TwoUnits "two_units",
    UpperMedian "upper_median",
    ValuesNotInRawData "values_not_in_raw_data",
    VarianceOfSamples "variance_of_samples",
    WinnerChanges "winner_changes",
}
