//! The words of a search: what it may spend, what it needs next, how it ends.

use serde::Serialize;

use crate::Estimate;

/// What a search may spend, and what it looks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BisectSettings {
    /// The probability that the whole search is wrong.
    pub alpha: f64,
    /// Seconds after which one comparison ends, or those of the fewest pairs that tell something
    /// where these take longer.
    pub budget_s: f64,
    /// Pairs after which a comparison ends, whatever the budget.
    pub most_pairs: Option<usize>,
    /// Whether a commit is looked for that takes less, not more.
    pub faster: bool,
}

impl Default for BisectSettings {
    fn default() -> Self {
        Self { alpha: 0.01, budget_s: 60.0, most_pairs: None, faster: false }
    }
}

/// What the search needs next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Whether this commit builds: [`Bisect::built`] or [`Bisect::broken`].
    Build(usize),
    /// One run of each of two commits in random order: [`Bisect::pair`].
    Pair {
        /// The earlier commit.
        reference: usize,
        /// The later one.
        candidate: usize,
    },
    /// Nothing.
    End(End),
}

/// How a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum End {
    /// The change came after commit `after` and with `commit` at the latest. All commits between
    /// the two do not build; mostly there are none.
    Found {
        /// The last commit without the change.
        after: usize,
        /// The first commit with it that builds.
        commit: usize,
        /// The two against each other.
        confirmation: Confirmation,
    },
    /// A comparison was not told within its budget. The change came after `after` and with `until`
    /// at the latest.
    Unknown {
        /// The last commit known to be without the change.
        after: usize,
        /// The first one known to have it.
        until: usize,
    },
    /// No change from good to bad was shown, or one in the other direction.
    NoChange,
}

/// What the comparison of the found commit with the last one before it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// A change in the right direction.
    Shown,
    /// One smaller than half of the whole, or none.
    TooSmall,
    /// Nothing within the budget.
    Open,
}

/// On which side of the change a commit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Without the change.
    Good,
    /// With it.
    Bad,
}

/// A finished comparison, or the one that goes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The earlier commit.
    pub reference: usize,
    /// The later one.
    pub candidate: usize,
    /// ln(candidate / reference) with its interval; `None` where no pair counts.
    pub estimate: Option<Estimate>,
    /// The side of the candidate, where it was told.
    pub side: Option<Side>,
    /// Whether the program has the same bytes as one whose side was known, so that none was run.
    pub same_bytes: bool,
    /// Seconds that it took.
    pub elapsed_s: f64,
}
