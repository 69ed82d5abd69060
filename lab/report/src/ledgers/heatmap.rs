//! The best number of workers in every cell, and whether it really is the best.

use std::collections::BTreeSet;

use super::sweep::{Cell as Levels, Sweep, counts, number, without};
use crate::effect::Effect;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// Which number of workers was fastest for a variant, everything else equal.
#[derive(Debug, Clone)]
pub(super) struct Choice<'a> {
    pub(super) variant: &'a str,
    pub(super) rest: Levels,
    /// The counts that were measured, ascending.
    pub(super) counts: Vec<u32>,
    pub(super) best: u32,
    /// Counts that the best one does not beat by interval, itself included, ascending.
    pub(super) tied: Vec<u32>,
    /// The second fastest by its median, and its time over the best one's (a logarithm).
    pub(super) runner_up: Option<(u32, Effect)>,
}

impl Choice<'_> {
    /// Blocks that the choice rests on.
    pub(super) fn n(&self) -> usize {
        self.runner_up.as_ref().map_or(0, |(_, effect)| effect.n())
    }

    /// Whether there are blocks enough for any interval.
    pub(super) fn is_judged(&self) -> bool {
        self.runner_up.as_ref().is_some_and(|(_, effect)| effect.interval.is_some())
    }

    /// "2", "tie: 2, 4", or what the medians say without an interval.
    pub(super) fn label(&self) -> String {
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
pub(super) fn choose<'a>(sweep: &Sweep<'a>) -> Vec<Choice<'a>> {
    let mut choices = Vec::new();
    for variant in sweep.ledgers() {
        for (rest, levels) in sweep.curves(variant) {
            choices.extend(choice(sweep, variant, rest, counts(&levels)));
        }
    }
    choices
}

fn choice<'a>(
    sweep: &Sweep,
    variant: &'a str,
    rest: Levels,
    counts: Vec<u32>,
) -> Option<Choice<'a>> {
    let best = sweep.best(variant, &rest, counts.iter().copied())?;
    let time = |count: u32| sweep.elapsed(variant, &rest, &count.to_string());
    let best_time = time(best);
    let others: Vec<(u32, Effect)> = counts
        .iter()
        .filter(|count| **count != best)
        .filter_map(|count| Some((*count, Effect::log_ratio(&time(*count), &best_time)?)))
        .collect();
    let second = sweep.best(variant, &rest, others.iter().map(|(count, _)| *count))?;
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

pub(super) fn write(sweep: &Sweep, choices: &[Choice], page: &mut Page) {
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
            &format!("{}; {}", sweep.label_of_plane(&drawn), super::curve::note(sweep)),
        );
    }
    page.folded("best", "The best count in every cell", &table(sweep, choices));
}

/// What a field shares with its neighbours.
fn plane_of(choice: &Choice) -> Levels {
    without(&without(&choice.rest, "streams"), "work_ns")
}

/// The plane with the most fields, of those with several levels of work where there are any; of
/// equals the first.
fn plane(choices: &[Choice]) -> Levels {
    let mut planes: Vec<(Levels, usize, BTreeSet<u64>)> = Vec::new();
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
    let size = |(_, fields, works): &(Levels, usize, BTreeSet<u64>)| (works.len() > 1, *fields);
    let most = planes.iter().map(size).max();
    let first = planes.into_iter().find(|plane| Some(size(plane)) == most);
    first.map(|(plane, ..)| plane).unwrap_or_default()
}

/// A row per field of the picture, places by index.
fn picture(choices: &[Choice], drawn: &Levels) -> Table {
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
            Cell::text(one.variant),
            Cell::count(variants.len() - 1),
            Cell::count(stream.0 as usize),
            Cell::count(stream.1),
            Cell::count(work.0 as usize),
            Cell::count(work.1),
            Cell::count(one.best as usize),
            Cell::text(one.mark()),
        ]);
    }
    table
}

fn table(sweep: &Sweep, choices: &[Choice]) -> Table {
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
            Cell::code(one.variant),
            Cell::text(sweep.label(&one.rest)),
            Cell::text(counts.join(" ")),
            Cell::count(one.best as usize),
            Cell::text(one.label()),
            Cell::value(second.map(|(count, _)| f64::from(*count)), Unit::Count),
        ];
        row.extend(crate::effect::as_times(second.map(|(_, effect)| effect)));
        row.push(Cell::count(one.n()));
        table.row(row);
    }
    table
}
