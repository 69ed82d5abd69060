//! What cannot stand side by side in one record.

use super::book::Book;
use super::found::Found;
use super::grid::{Grid, Record, Stat};
use super::group::Group;
use super::role::{Role, better};
use crate::checks::ranking::Better;
use crate::checks::{Mismatch, bounds, intervals, moments, order_statistics, sample_size};
use crate::{Check, Printed, Severity};

/// Words of metrics that lie between none and all.
const SHARES: [&str; 8] =
    ["accuracy", "success", "recall", "precision", "utilization", "pass", "hit", "win"];

/// Checks every record of a table on its own.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    // A listing without percentiles is not gone through for them.
    let is_percentile = |role: Role| matches!(role, Role::Percentile(_));
    let ranked = grid.transposed || grid.columns().iter().any(|one| is_percentile(one.role));
    let reversed = ranked && exceedance(grid);
    for record in &grid.records {
        for group in Group::all(record) {
            let mut checks = Checks { grid, record, group: &group, book };
            checks.extremes();
            checks.spread();
            checks.interval();
            if ranked && !reversed {
                checks.percentiles();
                checks.between();
            }
        }
    }
    if ranked {
        book.found.extend(sizes(grid));
    }
}

/// Whether the table counts percentiles from above, as some do for throughput: P99 is then what
/// 99 % exceed, in every row.
fn exceedance(grid: &Grid<'_>) -> bool {
    let mut pairs = 0;
    for record in &grid.records {
        for group in Group::all(record) {
            let percentiles = percentiles(&group);
            for pair in percentiles.windows(2) {
                let (low, high) = (&pair[0].1, &pair[1].1);
                let unit = low.number.unit.as_deref();
                let words = format!("{} {}", low.metric, grid.table.section());
                if better(&words, unit) != Some(Better::Higher)
                    || low.number.value < high.number.value
                {
                    return false;
                }
                pairs += 1;
            }
        }
    }
    pairs >= 2
}

fn percentiles<'r, 'a>(group: &Group<'r, 'a>) -> Vec<(f64, &'r Stat<'a>)> {
    let of = |stat: &&'r Stat<'a>| match stat.role {
        Role::Percentile(p) => Some((p, *stat)),
        _ => None,
    };
    let mut found: Vec<_> = group.stats.iter().filter_map(of).collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    // P50 twice in a row is of two metrics, which a header above the header names.
    if found.windows(2).any(|pair| (pair[0].0 - pair[1].0).abs() < 1e-12) {
        return Vec::new();
    }
    found
}

struct Checks<'g, 'r, 'a> {
    grid: &'g Grid<'a>,
    record: &'r Record<'a>,
    group: &'g Group<'r, 'a>,
    book: &'g mut Book,
}

impl<'r, 'a> Checks<'_, 'r, 'a> {
    fn get(&self, role: Role) -> Option<&'r Stat<'a>> {
        self.group.get(role)
    }

    /// Impossible where every number involved is what its header says, doubtful otherwise.
    fn add(
        &mut self,
        check: Check,
        stat: &Stat<'_>,
        others: &[&Stat<'_>],
        wrong: Option<Mismatch>,
    ) {
        if !Group::comparable(others) || others.last().is_some_and(|one| !one.shares_unit(stat)) {
            return;
        }
        let sure = stat.sure && others.iter().all(|stat| stat.sure);
        let severity = if sure { Severity::Impossible } else { Severity::Doubtful };
        let found = wrong.map(|wrong| {
            let place = self.grid.place(self.record, stat);
            Found::mismatch(check, severity, place, &stat.number, &wrong)
        });
        self.book.cell(stat.line, stat.index, found);
    }

    /// Mean, median and percentiles between minimum and maximum.
    fn extremes(&mut self) {
        let (min, max) = (self.get(Role::Min), self.get(Role::Max));
        let numbers = (min.map(|stat| &stat.number), max.map(|stat| &stat.number));
        let others: Vec<&Stat<'_>> = min.into_iter().chain(max).collect();
        if others.is_empty() {
            return;
        }
        let group = self.group;
        for stat in &group.stats {
            let mean =
                matches!(stat.role, Role::Mean | Role::Geometric | Role::Harmonic | Role::Weighted);
            if mean || matches!(stat.role, Role::Percentile(_)) {
                let wrong = bounds::value_outside(&stat.number, numbers.0, numbers.1);
                self.add(Check::OutsideOfExtremes, stat, &others, wrong);
            }
        }
        if let (Some(min), Some(max)) = (min, max) {
            let wrong = bounds::value_outside(&max.number, Some(&min.number), None);
            let wrong =
                wrong.map(|wrong| Mismatch { how: "the minimum beside it".into(), ..wrong });
            self.add(Check::MaximumBelowMinimum, max, &[min], wrong);
        }
    }

    /// Standard deviation and CV against the other statistics.
    fn spread(&mut self) {
        let (mean, median) = (self.get(Role::Mean), self.get(Role::Percentile(0.5)));
        let (min, max) = (self.get(Role::Min), self.get(Role::Max));
        let sd = self.get(Role::Sd);
        let n = self.group.n;
        if let (Some(sd), Some(min), Some(max)) = (sd, min, max)
            && min.number.value <= max.number.value
        {
            let inside = |mean: &&Stat<'_>| {
                bounds::mean_outside(&mean.number, &min.number, &max.number).is_none()
            };
            let mean = mean.filter(inside);
            let of = mean.map(|stat| &stat.number);
            let wrong = bounds::sd_beyond(&sd.number, of, &min.number, &max.number, n);
            let others: Vec<_> = mean.into_iter().chain([min, max]).collect();
            self.add(Check::SdBeyondRange, sd, &others, wrong);
        }
        if let (Some(sd), Some(mean)) = (sd, mean) {
            self.share_spread(sd, mean, n);
        }
        if let (Some(sd), Some(mean), Some(median)) = (sd, mean, median) {
            let wrong = bounds::mean_far_from_median(&mean.number, &median.number, &sd.number);
            self.add(Check::MeanFarFromMedian, mean, &[sd, median], wrong);
        }
        if let (Some(error), Some(sd), Some(n)) = (self.get(Role::StandardError), sd, n) {
            let wrong = moments::standard_error_of(&error.number, &sd.number, n);
            self.add(Check::StandardErrorOfSd, error, &[sd], wrong);
        }
        if let (Some(sd), Some(mean), Some(n)) = (sd, mean, n) {
            for extreme in min.into_iter().chain(max) {
                let wrong = bounds::extreme_too_far(&extreme.number, &mean.number, &sd.number, n);
                self.add(Check::ExtremeTooFar, extreme, &[sd, mean], wrong);
            }
        }
        if let (Some(cv), Some(sd), Some(mean)) = (self.get(Role::Cv), sd, mean) {
            let wrong = moments::cv_of(&cv.number, &sd.number, &mean.number);
            // A CV has no unit of the values.
            if Group::comparable(&[sd, mean]) {
                self.add(Check::CvOfSdAndMean, cv, &[], wrong.filter(|_| sd.sure));
            }
        }
    }

    /// The deviation of shares, which lie between none and all: at most that of as many of each
    /// as the mean leaves room for (DEBIT, where single outcomes are counted).
    fn share_spread(&mut self, sd: &Stat<'_>, mean: &Stat<'_>, n: Option<usize>) {
        let share = SHARES.iter().any(|word| mean.metric.split(' ').any(|own| own == *word));
        let percent = mean.number.unit.as_deref() == Some("%");
        if !share || !percent || !(0.0..=100.0).contains(&mean.number.value) {
            return;
        }
        let end = |value: f64| Printed { value, decimals: 9, unit: None, approximate: false };
        let wrong = bounds::sd_beyond(&sd.number, Some(&mean.number), &end(0.0), &end(100.0), n);
        // Below stands a floor for values that reach both ends, which shares need not.
        let above = |wrong: &Mismatch| wrong.stated > wrong.computed_high;
        self.add(Check::SdBeyondShares, sd, &[mean], wrong.filter(above));
    }

    /// An interval against what it is for.
    fn interval(&mut self) {
        if let (Some(low), Some(high)) = (self.get(Role::Low), self.get(Role::High)) {
            let estimate = [Role::Estimate, Role::Mean, Role::Percentile(0.5)];
            if let Some(estimate) = estimate.into_iter().find_map(|role| self.get(role)) {
                let wrong = intervals::excludes(&estimate.number, &low.number, &high.number);
                self.add(Check::IntervalExcludesEstimate, estimate, &[low, high], wrong);
            }
            if intervals::reversed(&low.number, &high.number) {
                let sentence = format!(
                    "the interval of {} ends at {} below its start {}",
                    self.record.name(),
                    high.number.value,
                    low.number.value
                );
                let place = self.grid.place(self.record, low);
                let how = "lower bound against upper bound";
                let found = Found::remark(
                    Check::IntervalReversed,
                    Severity::Impossible,
                    place,
                    sentence,
                    how,
                );
                let found = found.values(low.number.value, high.number.value);
                self.book.cell(low.line, low.index, Some(found));
            }
        }
        let group = self.group;
        for stat in &group.stats {
            if let Some((low, high)) = &stat.cell.range
                && stat.sure
            {
                let wrong = intervals::excludes(&stat.number, low, high);
                let unsure = Stat { sure: false, ..(*stat).clone() };
                self.add(Check::IntervalExcludesEstimate, &unsure, &[], wrong);
            }
        }
    }

    /// The mean between what its percentiles leave room for.
    fn between(&mut self) {
        let Some(mean) = self.get(Role::Mean) else { return };
        let stats = percentiles(self.group);
        let rising = stats.windows(2).all(|pair| pair[0].1.number.value <= pair[1].1.number.value);
        let (min, max) = (self.get(Role::Min), self.get(Role::Max));
        let others: Vec<&Stat<'_>> =
            stats.iter().map(|(_, stat)| *stat).chain(min).chain(max).collect();
        let sure = others.iter().all(|stat| stat.sure);
        // Of a few values some take the P95 from the wrong side.
        let few = self.group.n.is_some_and(|n| n < 20);
        if stats.len() < 2 || !rising || !sure || few {
            return;
        }
        let printed: Vec<(f64, &Printed)> =
            stats.iter().map(|(p, stat)| (*p, &stat.number)).collect();
        let (min, max) = (min.map(|stat| &stat.number), max.map(|stat| &stat.number));
        let wrong = bounds::mean_beyond_percentiles(&mean.number, &printed, min, max);
        self.add(Check::MeanBeyondPercentiles, mean, &others, wrong);
    }

    /// Percentiles rise with their rank.
    fn percentiles(&mut self) {
        let percentiles = percentiles(self.group);
        let printed: Vec<(f64, Printed)> =
            percentiles.iter().map(|(p, stat)| (*p, stat.number.clone())).collect();
        let stats: Vec<&Stat<'_>> = percentiles.iter().map(|(_, stat)| *stat).collect();
        if !Group::comparable(&stats) || stats.iter().any(|stat| is_part(stat)) {
            return;
        }
        if let Some((low, high)) = order_statistics::out_of_order(&printed) {
            let (low, high) = (percentiles[low].1, percentiles[high].1);
            let sentence = format!(
                "`{}` of {} is {}, above its `{}` {}",
                low.header,
                self.record.name(),
                low.number.value,
                high.header,
                high.number.value
            );
            let place = self.grid.place(self.record, low);
            let how = "percentiles of one sample rise with their rank";
            let mut found =
                Found::remark(Check::PercentileOrder, Severity::Impossible, place, sentence, how)
                    .against(self.grid.place(self.record, high))
                    .values(low.number.value, high.number.value);
            let step = low.number.half_step().max(high.number.half_step()) * 2.0;
            found.steps = (low.number.value - high.number.value) / step;
            self.book.cell(low.line, low.index, Some(found));
        } else if stats.len() > 1 {
            stats.iter().for_each(|stat| self.book.cell(stat.line, stat.index, None));
        }
    }
}

/// Whether it is a part of something about a time, such as of its variance: no percentile of it.
fn is_part(stat: &Stat) -> bool {
    let header = stat.header.trim_matches('`');
    let is_time = ["_ns", "_us", "_ms", "_s"].iter().any(|unit| header.ends_with(unit));
    is_time && stat.number.unit.as_deref() == Some("%")
}

/// Percentiles beyond what so few values can show, once a column.
fn sizes(grid: &Grid<'_>) -> Vec<Found> {
    let mut worst: Vec<(f64, usize, usize, Found)> = Vec::new();
    for record in &grid.records {
        for group in Group::all(record) {
            let Some(n) = group.n else { continue };
            for (p, stat) in percentiles(&group) {
                let needed = sample_size::percentile_needs(p).unwrap_or(0);
                if p <= 0.5 || n >= needed {
                    continue;
                }
                if let Some(known) = worst
                    .iter_mut()
                    .find(|(q, index, ..)| (*q - p).abs() < 1e-12 && *index == stat.index)
                {
                    known.2 += 1;
                    continue;
                }
                let sentence = format!(
                    "`{}` of {} comes from {n} values: it is their largest with another name, and \
                     needs at least {needed}",
                    stat.header,
                    record.name()
                );
                let how = "of n values the largest stands for the percentile n/(n + 1)";
                let place = grid.place(record, stat);
                let found =
                    Found::remark(Check::NTooSmall, Severity::Doubtful, place, sentence, how)
                        .values(n as f64, needed as f64);
                worst.push((p, stat.index, 1, found));
            }
        }
    }
    let with_count = |(_, _, count, mut found): (f64, usize, usize, Found)| {
        if count > 1 {
            found.finding.sentence += &format!(" (so in {count} rows)");
        }
        found
    };
    worst.into_iter().map(with_count).collect()
}
