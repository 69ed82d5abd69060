//! Tables against the raw rows behind them.

use super::book::Book;
use super::found::{Found, number};
use super::grid::{Grid, Record, Stat};
use super::link::{Labelled, Link};
use super::role::Role;
use super::statistic;
use super::words::tokens;
use crate::checks::{Mismatch, Span, provenance};
use crate::document::header;
use crate::printed::unit;
use crate::{Check, Printed, Raw, Severity};
use lab_stats::describe::{Summary, quantile, summarize};

/// Statistics computed from raw rows, for every table whose subjects the raw file names. The cells
/// of the document of this name count as checked.
pub(crate) fn check(
    grids: &[Grid<'_>],
    labelled: &[Labelled<'_>],
    document: &str,
    book: &mut Book,
) {
    for raw in labelled {
        let links: Vec<Option<Link<'_, '_>>> =
            grids.iter().map(|grid| Link::new(grid, raw)).collect();
        let linked = grids.iter().zip(&links);
        let comparisons: Vec<Comparison<'_, '_>> = linked
            .filter_map(|(grid, link)| Some(Comparison::new(grid, raw, link.as_ref()?)))
            .collect();
        let mut known: Vec<Known<'_>> = Vec::new();
        let mut open = Vec::new();
        for comparison in &comparisons {
            let is_own = comparison.grid.document == document;
            let sources = comparison.check(is_own, book);
            if sources.is_empty() {
                open.push(comparison);
            }
            known.extend(sources);
        }
        let strange = open.into_iter().filter_map(|comparison| comparison.strange_runs(&known));
        book.found.extend(strange);
    }
}

/// A raw column that a table was found to be about, and the unit that it is printed in.
struct Known<'c> {
    column: &'c str,
    scale: f64,
    unit: Option<String>,
}

/// A table beside a raw file.
struct Comparison<'c, 'a> {
    grid: &'c Grid<'a>,
    raw: &'c Labelled<'c>,
    /// Records with their raw rows.
    records: Vec<(&'c Record<'a>, Vec<usize>)>,
    /// Raw columns that were measured, with each record's values.
    columns: Vec<(&'c str, Vec<Sample>)>,
}

/// A record's raw values of one column, in order of size.
struct Sample {
    sorted: Vec<f64>,
    summary: Option<Summary>,
}

/// A raw column that a metric of the table is about, and how the table prints it.
#[derive(Clone, Copy)]
struct Source<'c> {
    column: &'c str,
    /// As many as there are records.
    samples: &'c [Sample],
    scale: f64,
    /// What a value without a statistic's name is.
    value: Role,
}

/// How well a source explains the table.
struct Score {
    fits: usize,
    misses: usize,
}

impl<'c, 'a> Comparison<'c, 'a> {
    fn new(grid: &'c Grid<'a>, raw: &'c Labelled<'c>, link: &Link<'c, 'c>) -> Self {
        let rows = |record: &'c Record<'a>| Some((record, link.rows(record)?));
        let records: Vec<_> = grid.records.iter().filter_map(rows).collect();
        let numeric = |column: &&str| !link.uses(column) && raw.raw.numbers(column).len() > 1;
        let sample = |column: &str, rows: &[usize]| {
            let mut sorted = numbers(raw.raw, column, rows);
            sorted.sort_unstable_by(f64::total_cmp);
            Sample { summary: summarize(&sorted), sorted }
        };
        let samples = |column: &'c str| {
            let samples = records.iter().map(|(_, rows)| sample(column, rows)).collect();
            (column, samples)
        };
        let columns = raw.raw.order.iter().map(String::as_str).filter(numeric);
        let columns = columns.take(60).map(samples).collect();
        Self { grid, raw, records, columns }
    }

    fn check(&self, is_own: bool, book: &mut Book) -> Vec<Known<'_>> {
        let mut metrics: Vec<&str> = Vec::new();
        for (record, _) in &self.records {
            for stat in &record.stats {
                if !metrics.contains(&&*stat.metric) && metrics.len() < 40 {
                    metrics.push(&stat.metric);
                }
            }
        }
        let mut known = Vec::new();
        for metric in metrics {
            let Some((source, severity)) = self.source(metric) else { continue };
            self.compare(metric, source, severity, is_own, book);
            let unit = self.unit(metric);
            known.push(Known { column: source.column, scale: source.scale, unit });
        }
        known
    }

    /// The unit that a metric is printed in.
    fn unit(&self, metric: &str) -> Option<String> {
        let stats = self.records.iter().flat_map(|(record, _)| &record.stats);
        let mut printed =
            stats.filter(|stat| *stat.metric == *metric && stat.sure && dimension(stat));
        printed.find_map(|stat| stat.number.unit.clone())
    }

    /// A table of runs of which hardly one is in the raw column that the document's other tables
    /// are about.
    fn strange_runs(&self, known: &[Known<'_>]) -> Option<Found> {
        let is_run = |stat: &&Stat<'_>| matches!(stat.role, Role::Run(_));
        let mut runs = self.records.iter().flat_map(|(record, _)| &record.stats).filter(is_run);
        let heading = self.grid.table.headings.last().and_then(|text| header::unit(text));
        let unit = runs.next()?.number.unit.clone().or(heading)?;
        let known = known.iter().find(|known| known.unit.as_ref() == Some(&unit))?;
        let (column, samples) = self.columns.iter().find(|(name, _)| *name == known.column)?;
        let (mut printed, mut unmatched, mut shown) = (0, 0, Vec::new());
        for ((record, _), sample) in self.records.iter().zip(samples) {
            let own: Vec<Printed> =
                record.stats.iter().filter(is_run).map(|stat| stat.number.clone()).collect();
            let values: Vec<f64> = sample.sorted.iter().map(|value| value * known.scale).collect();
            let missing = provenance::match_raw(&own, &values).unmatched;
            printed += own.len();
            unmatched += missing.len();
            shown.extend(missing.first().map(|index| own[*index].value.to_string()));
        }
        shown.truncate(4);
        let (record, _) = self.records.first()?;
        let first = record.stats.iter().find(is_run)?;
        (unmatched > 0).then(|| {
            let sentence = format!(
                "{unmatched} of {printed} printed runs ({}, …) are no raw value of `{column}`, \
                 which other tables of this document are about",
                shown.join(", ")
            );
            let place = self.grid.place(record, first);
            let how = "each printed run needs a raw value of its own subject that prints like it";
            Found::remark(Check::RunsNotInRaw, Severity::Doubtful, place, sentence, how)
        })
    }

    /// The raw column that a metric is about by its name or unit, and how sure a mismatch is.
    /// What a bare value is, its name does not say: of the usual statistics the one that most
    /// cells are. Where the raw column is only the one that there is, some cell has to agree: a
    /// table of times may have a column of ratios beside them.
    fn source(&self, metric: &str) -> Option<(Source<'_>, Severity)> {
        let mapped = self.grid.mapping.and_then(|mapping| mapping.raw.as_deref());
        let mapped = mapped.or(self.raw.mapping.and_then(|mapping| mapping.metric.as_deref()));
        let ((column, samples), is_named) = match mapped {
            Some(mapped) => (self.columns.iter().find(|(column, _)| *column == mapped)?, true),
            None => self.named(metric)?,
        };
        let mut sources = Vec::new();
        for scale in self.scales(metric, column) {
            for value in [Role::Mean, Role::Percentile(0.5), Role::Min, Role::Max, Role::Sum] {
                sources.push(Source { column, samples, scale, value });
            }
        }
        // Of those that explain as much the last is taken, so the usual ones come last.
        let scored = sources.into_iter().rev().map(|source| (source, self.score(metric, source)));
        let best = scored.max_by_key(|(_, score)| score.fits);
        let (source, score) = best.filter(|(_, score)| is_named || score.fits > 0)?;
        let sure = score.fits >= 4 && score.misses * 4 <= score.fits;
        let by_mapping = self.grid.mapping.is_some_and(|mapping| mapping.raw.is_some());
        let severity =
            if sure || by_mapping { Severity::Impossible } else { Severity::Inconsistent };
        Some((source, severity))
    }

    /// The one measured column that shares the metric's words, or else its unit; or the only one
    /// there is, and then `false`.
    fn named(&self, metric: &str) -> Option<(&(&'c str, Vec<Sample>), bool)> {
        let printed = self.unit(metric);
        let fits = |column: &str| {
            let own = self.raw.raw.unit(column);
            match (own.as_deref(), printed.as_deref()) {
                (Some(own), Some(printed)) => unit::factor(own, printed).is_some(),
                _ => true,
            }
        };
        let fitting: Vec<&(&str, Vec<Sample>)> = self
            .columns
            .iter()
            .filter(|(column, _)| !super::raw_alone::is_order(column) && fits(column))
            .collect();
        let words = tokens(metric);
        let shared = |column: &str| tokens(&column.replace('_', " ")).intersection(&words).count();
        let most = fitting.iter().map(|(column, _)| shared(column)).max().filter(|n| *n > 0);
        if let Some(most) = most {
            let mut best = fitting.iter().filter(|(column, _)| shared(column) == most);
            return best.next().copied().filter(|_| best.next().is_none()).map(|one| (one, true));
        }
        let in_unit = |column: &str| printed.is_some() && self.raw.raw.unit(column).is_some();
        let mut united = fitting.iter().filter(|(column, _)| in_unit(column));
        match (united.next(), united.next(), &fitting[..]) {
            (Some(one), None, _) => Some((*one, true)),
            // A file with one measured column is about that.
            (None, _, [one]) => Some((*one, false)),
            _ => None,
        }
    }

    /// Factors from the raw column's unit to the table's: the one that units give, else the
    /// usual ones.
    fn scales(&self, metric: &str, column: &str) -> Vec<f64> {
        let printed = self.unit(metric);
        let own = self.raw.raw.unit(column);
        match (own.as_deref(), printed.as_deref()) {
            (Some(own), Some(printed)) => match unit::factor(own, printed) {
                Some(factor) => vec![factor],
                None if own == "%" || printed == "%" => vec![1.0, 100.0],
                None => vec![],
            },
            (None, Some("%" | "pp")) => vec![1.0, 100.0],
            _ => vec![1.0, 1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9],
        }
    }

    fn score(&self, metric: &str, source: Source<'_>) -> Score {
        let mut score = Score { fits: 0, misses: 0 };
        for ((record, _), sample) in self.records.iter().zip(source.samples) {
            for stat in own(record, metric) {
                match quick(stat, source, sample) {
                    Some(true) => score.fits += 1,
                    Some(false) => score.misses += 1,
                    None => {}
                }
            }
        }
        score
    }

    fn compare(
        &self,
        metric: &str,
        source: Source<'_>,
        severity: Severity,
        is_own: bool,
        book: &mut Book,
    ) {
        book.tie(&self.raw.raw.name);
        let half_step = half_step(self.raw.raw, source.column) * source.scale;
        for ((record, _), sample) in self.records.iter().zip(source.samples) {
            let values: Vec<f64> = sample.sorted.iter().map(|value| value * source.scale).collect();
            let spans: Vec<Span> = values
                .iter()
                .map(|value| Span { low: value - half_step, high: value + half_step })
                .collect();
            for stat in own(record, metric).filter(|stat| stat.sure) {
                let Some(judged) = exact(stat, source.value, &spans) else { continue };
                let wrong = judged.err().map(|wrong| {
                    let (column, rows) = (source.column, spans.len());
                    let how = format!("{} of column `{column}`, {rows} raw rows", wrong.how);
                    let wrong = Mismatch { how, ..wrong };
                    let place = self.grid.place(record, stat);
                    Found::mismatch(Check::RawSummary, severity, place, &stat.number, &wrong)
                });
                match is_own {
                    true => book.cell(stat.line, stat.index, wrong),
                    false => book.claim(wrong),
                }
            }
            book.found.extend(self.provenance(record, &values, source, severity));
        }
    }

    /// Printed runs that are no raw value.
    fn provenance(
        &self,
        record: &Record<'_>,
        values: &[f64],
        source: Source<'_>,
        severity: Severity,
    ) -> Option<Found> {
        let runs: Vec<&Stat<'_>> =
            record.stats.iter().filter(|stat| matches!(stat.role, Role::Run(_))).collect();
        let printed: Vec<Printed> = runs.iter().map(|stat| stat.number.clone()).collect();
        let provenance = provenance::match_raw(&printed, values);
        let first = runs.get(*provenance.unmatched.first()?)?;
        let shown: Vec<String> = provenance
            .unmatched
            .iter()
            .take(5)
            .map(|index| number(printed[*index].value, printed[*index].decimals))
            .collect();
        let more = if provenance.unmatched.len() > 5 { ", …" } else { "" };
        let sentence = format!(
            "{} of {} runs of {} ({}{more}) are no raw value of `{}` ({} raw rows)",
            provenance.unmatched.len(),
            runs.len(),
            record.name(),
            shown.join(", "),
            source.column,
            values.len()
        );
        let place = self.grid.place(record, first);
        let how = "each printed run needs a raw value of its own that prints like it";
        let mut found = Found::remark(Check::RunsNotInRaw, severity, place, sentence, how);
        found.steps = provenance.unmatched.len() as f64;
        Some(found)
    }
}

/// A record's statistics of one metric that raw rows give.
fn own<'s, 'a>(record: &'s Record<'a>, metric: &'s str) -> impl Iterator<Item = &'s Stat<'a>> + 's {
    record.stats.iter().filter(move |stat| *stat.metric == *metric && stat.role != Role::Ratio)
}

/// Whether a statistic is in the unit of the values.
fn dimension(stat: &Stat<'_>) -> bool {
    !matches!(stat.role, Role::Cv | Role::Count | Role::Ratio | Role::P | Role::T | Role::Rank)
}

fn numbers(raw: &Raw, column: &str, rows: &[usize]) -> Vec<f64> {
    let values = raw.values(column);
    let number = |row: &usize| match values.get(*row) {
        Some(crate::Value::Number(number)) => Some(*number),
        _ => None,
    };
    rows.iter().filter_map(number).collect()
}

/// What the digits of a raw column can hide; nothing where it shows many.
fn half_step(raw: &Raw, column: &str) -> f64 {
    let decimals = |(_, value): (usize, f64)| {
        let shown = value.to_string();
        shown.split_once('.').map_or(0, |(_, digits)| digits.len())
    };
    let most = raw.numbers(column).into_iter().take(200).map(decimals).max().unwrap_or(0);
    if most > 9 { 0.0 } else { 0.5 * 10f64.powi(-i32::try_from(most).unwrap_or(9)) }
}

/// Whether a statistic is about what the values give; `None` for what they do not give at all.
/// Close is enough here: it only decides which column is meant.
fn quick(stat: &Stat<'_>, source: Source<'_>, sample: &Sample) -> Option<bool> {
    let role = if stat.role == Role::Value { source.value } else { stat.role };
    let (sorted, summary, scale) = (&sample.sorted, sample.summary.as_ref(), source.scale);
    let computed = match role {
        Role::Run(_) => {
            let span = Span::of(&stat.number);
            let at = sorted.partition_point(|value| *value * scale < span.low);
            return Some(sorted.get(at).is_some_and(|value| *value * scale <= span.high));
        }
        Role::Mean => summary?.mean,
        Role::Sd => summary?.sd?,
        Role::Min => *sorted.first()?,
        Role::Max => *sorted.last()?,
        Role::Sum => sorted.iter().sum(),
        Role::Cv => 100.0 * summary?.cv? / scale,
        Role::Percentile(p) => quantile(sorted, p)?,
        _ => return None,
    } * scale;
    let span = Span::of(&stat.number);
    let tail = matches!(role, Role::Percentile(p) if (p - 0.5).abs() > 1e-9);
    let slack = if tail { 0.02 * computed.abs() } else { 1e-9 * computed.abs() };
    // A standard deviation may have either divisor.
    let n = sorted.len() as f64;
    let divisor = if matches!(role, Role::Sd | Role::Cv) { ((n - 1.0) / n).sqrt() } else { 1.0 };
    let meets = |value: f64| span.meets(Span { low: value - slack, high: value + slack });
    // One of the two values in the middle is a median gone wrong, and still of these values.
    let median = matches!(role, Role::Percentile(p) if (p - 0.5).abs() < 1e-9);
    let middles = [sorted.get(sorted.len().saturating_sub(1) / 2), sorted.get(sorted.len() / 2)];
    let taken = middles.into_iter().flatten().any(|value| median && meets(value * scale));
    Some(meets(computed) || meets(computed * divisor) || taken)
}

/// The check for a statistic's role against raw values; `None` where they do not give it.
fn exact(stat: &Stat<'_>, value: Role, rows: &[Span]) -> Option<Result<(), Mismatch>> {
    let stated = &stat.number;
    let role = if stat.role == Role::Value { value } else { stat.role };
    let spreads = matches!(role, Role::Sd | Role::Cv | Role::StandardError);
    if rows.len() < if spreads { 2 } else { 1 } {
        return None;
    }
    let n = rows.len() as f64;
    let wrong = match role {
        Role::Count => (stated.value != n && stated.decimals == 0 && !stated.approximate)
            .then(|| Mismatch::of(stated, Span::exact(n), "number".to_owned())),
        role => statistic::wrong(role, stated, rows)?,
    };
    Some(wrong.map_or(Ok(()), Err))
}
