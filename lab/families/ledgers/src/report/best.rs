//! The best number of workers in every cell, and whether it really is the best.

use std::collections::BTreeSet;

use lab_family::{Cell, Unit};
use lab_report::effect::{Effect, as_times};
use lab_report::page::Page;
use lab_report::study::{Study, without};
use lab_report::tables::{Entry, Table};

use super::workers::{counts, curves, elapsed, fastest, how_run, ledgers, number};

/// Which number of workers was fastest for a variant, everything else equal.
#[derive(Debug, Clone)]
pub(crate) struct Choice<'a> {
    pub(crate) variant: &'a str,
    pub(crate) rest: Cell,
    /// The counts that were measured, ascending.
    pub(crate) counts: Vec<u32>,
    pub(crate) best: u32,
    /// Counts that the best one does not beat by interval, itself included, ascending.
    pub(crate) tied: Vec<u32>,
    /// The second fastest by its median, and its time over the best one's (a logarithm).
    pub(crate) runner_up: Option<(u32, Effect)>,
}

impl Choice<'_> {
    /// Blocks that the choice rests on.
    pub(crate) fn n(&self) -> usize {
        self.runner_up.as_ref().map_or(0, |(_, effect)| effect.n())
    }

    /// Whether there are blocks enough for any interval.
    pub(crate) fn is_judged(&self) -> bool {
        self.runner_up.as_ref().is_some_and(|(_, effect)| effect.interval.is_some())
    }

    /// "2", "tie: 2, 4", or what the medians say without an interval.
    pub(crate) fn label(&self) -> String {
        match (self.is_judged(), self.tied.len()) {
            (false, _) => {
                format!("cannot tell: {} by the median alone (n = {})", self.best, self.n())
            }
            (true, 1) => self.best.to_string(),
            (true, _) => {
                let tied: Vec<String> = self.tied.iter().map(u32::to_string).collect();
                format!("tie: {}", tied.join(", "))
            }
        }
    }

    /// The same, short enough for a field of the picture.
    fn mark(&self) -> String {
        match (self.is_judged(), self.tied.len()) {
            (false, _) => format!("{}?", self.best),
            (true, 1) => self.best.to_string(),
            (true, _) => self.tied.iter().map(u32::to_string).collect::<Vec<_>>().join("="),
        }
    }
}

/// A choice for every variant and every cell with two counts or more.
pub(crate) fn choose<'a>(study: &Study<'a>) -> Vec<Choice<'a>> {
    let mut choices = Vec::new();
    for variant in ledgers(study) {
        for (rest, levels) in curves(study, variant) {
            choices.extend(choice(study, variant, rest, counts(&levels)));
        }
    }
    choices
}

fn choice<'a>(study: &Study, variant: &'a str, rest: Cell, counts: Vec<u32>) -> Option<Choice<'a>> {
    let best = fastest(study, variant, &rest, counts.iter().copied())?;
    let time = |count: u32| elapsed(study, variant, &rest, &count.to_string());
    let best_time = time(best);
    let others: Vec<(u32, Effect)> = counts
        .iter()
        .filter(|count| **count != best)
        .filter_map(|count| Some((*count, Effect::log_ratio(&time(*count), &best_time)?)))
        .collect();
    let second = fastest(study, variant, &rest, others.iter().map(|(count, _)| *count))?;
    let mut tied: Vec<u32> = others
        .iter()
        .filter(|(_, effect)| !effect.surely_above(0.0))
        .map(|(count, _)| *count)
        .chain([best])
        .collect();
    tied.sort_unstable();
    let runner_up = others.into_iter().find(|(count, _)| *count == second);
    Some(Choice { variant, rest, counts, best, tied, runner_up })
}

pub(crate) fn write(study: &Study, choices: &[Choice], page: &mut Page) {
    page.heading("The best number of workers, by streams and work per transaction");
    if choices.is_empty() {
        page.paragraph(
            "No cell was run with two numbers of workers, so there is nothing to choose.",
        );
        return;
    }
    page.paragraph(
        "A count is the best only where it beats every other one that was measured, each paired by \
         block, by more than the interval; else it is a tie between all that it does not beat. The \
         advantage is the runner-up's time over the best one's. Exploratory, without a correction \
         for the number of cells.",
    );
    let drawn = plane(choices);
    let picture = picture(choices, &drawn);
    if !picture.is_empty() {
        page.data("heatmap", &picture);
        page.figure_by(
            ("heatmap", "threads-heatmap.gp"),
            "Fastest number of workers by streams and busy work per transaction; `=` joins what no \
             interval tells apart, `?` marks the median of too few blocks",
            &format!("{}; {}", label_of_plane(&drawn), how_run(study)),
        );
    }
    page.folded("best", "The best count in every cell", &table(study, choices));
}

/// What a field shares with its neighbours.
fn plane_of(choice: &Choice) -> Cell {
    without(&without(&choice.rest, "streams"), "work_ns")
}

/// The plane with the most fields, of those with several levels of work where there are any; of
/// equals the first.
fn plane(choices: &[Choice]) -> Cell {
    let mut planes: Vec<(Cell, usize, BTreeSet<u64>)> = Vec::new();
    for choice in choices {
        let (plane, work) = (plane_of(choice), number(&choice.rest, "work_ns").unwrap_or(0));
        match planes.iter_mut().find(|(known, ..)| *known == plane) {
            Some((_, fields, works)) => {
                *fields += 1;
                works.insert(work);
            }
            None => planes.push((plane, 1, BTreeSet::from([work]))),
        }
    }
    let size = |(_, fields, works): &(Cell, usize, BTreeSet<u64>)| (works.len() > 1, *fields);
    let most = planes.iter().map(size).max();
    let first = planes.into_iter().find(|plane| Some(size(plane)) == most);
    first.map(|(plane, ..)| plane).unwrap_or_default()
}

/// The levels that all fields of the picture share, for people.
fn label_of_plane(plane: &Cell) -> String {
    let level = |factor: &str| plane.get(factor).map_or("?", String::as_str);
    let (transactions, contention) = (level("transactions"), level("contention"));
    format!("{transactions} transactions a stream, {contention}, {}", level("kinds"))
}

/// A row per field of the picture, places by index.
fn picture(choices: &[Choice], drawn: &Cell) -> Table {
    let fields: Vec<&Choice> = choices.iter().filter(|one| plane_of(one) == *drawn).collect();
    let levels = |factor: &str| {
        let mut levels: Vec<u64> =
            fields.iter().filter_map(|one| number(&one.rest, factor)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    };
    let (streams, works) = (levels("streams"), levels("work_ns"));
    let mut variants: Vec<&str> = Vec::new();
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("variant index", "variant_index"),
        ("streams", "streams"),
        ("streams index", "streams_index"),
        ("work", "work_ns"),
        ("work index", "work_index"),
        ("best", "best"),
        ("label", "label"),
    ]);
    for one in fields {
        let of = |factor: &str, levels: &[u64]| {
            let level = number(&one.rest, factor)?;
            Some((level, levels.iter().position(|other| *other == level)?))
        };
        let (Some(stream), Some(work)) = (of("streams", &streams), of("work_ns", &works)) else {
            continue;
        };
        if !variants.contains(&one.variant) {
            variants.push(one.variant);
        }
        table.row(vec![
            Entry::text(one.variant),
            Entry::count(variants.len() - 1),
            Entry::count(stream.0 as usize),
            Entry::count(stream.1),
            Entry::count(work.0 as usize),
            Entry::count(work.1),
            Entry::count(one.best as usize),
            Entry::text(one.mark()),
        ]);
    }
    table
}

fn table(study: &Study, choices: &[Choice]) -> Table {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("counts measured", "counts"),
        ("best", "best"),
        ("which", "label"),
        ("runner-up", "runner_up"),
        ("its time over the best's", "advantage"),
        ("low", "advantage_low"),
        ("high", "advantage_high"),
        ("n", "n"),
    ]);
    for one in choices {
        let counts: Vec<String> = one.counts.iter().map(u32::to_string).collect();
        let second = one.runner_up.as_ref();
        let mut row = vec![
            Entry::code(one.variant),
            Entry::text(study.label(&one.rest)),
            Entry::text(counts.join(" ")),
            Entry::count(one.best as usize),
            Entry::text(one.label()),
            Entry::value(second.map(|(count, _)| f64::from(*count)), Unit::Count),
        ];
        row.extend(as_times(second.map(|(_, effect)| effect)));
        row.push(Entry::count(one.n()));
        table.row(row);
    }
    table
}
