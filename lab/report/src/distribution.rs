//! A distribution within one run, from raw values or from a stored histogram.

use lab_record::{Column, Samples};

/// A distribution within one run, from raw values or from a stored histogram.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// (value, how many), by value.
    counts: Vec<(i64, u64)>,
    total: u64,
}

impl Distribution {
    /// Of raw values; `None` of none.
    pub fn of(mut values: Vec<i64>) -> Option<Self> {
        values.sort_unstable();
        Self::from_sorted(values.into_iter().map(|value| (value, 1)).collect())
    }

    /// All of several together.
    pub fn pooled<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut counts: Vec<(i64, u64)> =
            parts.into_iter().flat_map(|part| part.counts.iter().copied()).collect();
        counts.sort_unstable();
        Self::from_sorted(counts)
    }

    /// Of a column, raw or a histogram.
    pub fn of_column(samples: &Samples, name: &str) -> Option<Self> {
        match samples.columns.get(name)? {
            Column::Raw(values) => Self::of(values.clone()),
            Column::Histogram(stored) => {
                let hdr = stored.decode().ok()?;
                let bins = hdr.iter_recorded();
                let count = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
                Self::from_sorted(
                    bins.map(|bin| (count(bin.value_iterated_to()), bin.count_at_value()))
                        .collect(),
                )
            }
        }
    }

    fn from_sorted(counts: Vec<(i64, u64)>) -> Option<Self> {
        let total = counts.iter().map(|(_, count)| count).sum();
        (total > 0).then_some(Self { counts, total })
    }

    /// The smallest value at or below which the share `p` of all values lies (nearest rank), so
    /// that raw values and histograms of them are read alike.
    pub fn quantile(&self, p: f64) -> i64 {
        let rank = ((p * self.total as f64).ceil() as u64).clamp(1, self.total);
        let mut seen = 0;
        for (value, count) in &self.counts {
            seen += count;
            if seen >= rank {
                return *value;
            }
        }
        self.max()
    }

    /// The share of all values at or below a limit.
    pub fn share_at_most(&self, limit: f64) -> f64 {
        let within = self.counts.iter().take_while(|(value, _)| *value as f64 <= limit);
        within.map(|(_, count)| count).sum::<u64>() as f64 / self.total as f64
    }

    /// The largest value. It has no interval: a longer run has a larger maximum.
    pub fn max(&self) -> i64 {
        self.counts.last().map_or(0, |(value, _)| *value)
    }
}
