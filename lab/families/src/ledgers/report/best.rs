//! The best number of workers in every cell, and whether it really is the best.

use std::collections::BTreeSet;

use lab_family::Cell;
use lab_report::Column::{Code, Count, Interval, Text, Words};
use lab_report::{Chapter, Fastest, Kept, Page, Study, Table, study::without};

use super::workers::{counts, curves, elapsed, ledgers, number};

/// Which number of workers was fastest for a variant, everything else equal.
#[derive(Debug, Clone)]
pub(crate) struct Choice<'a> {
    pub(crate) variant: &'a str,
    pub(crate) rest: Cell,
    /// The counts that were measured, ascending.
    pub(crate) counts: Vec<u32>,
    pub(crate) fastest: Fastest<u32>,
}

impl Choice<'_> {
    /// "2", "tie: 2, 4", or what the medians say without an interval.
    pub(crate) fn label(&self) -> String {
        let (best, n) = (self.fastest.best, self.fastest.n());
        match (self.fastest.is_judged(), self.fastest.tied.len()) {
            (false, _) => format!("cannot tell: {best} by the median alone (n = {n})"),
            (true, 1) => best.to_string(),
            (true, _) => format!("tie: {}", joined(&self.fastest.tied, ", ")),
        }
    }

    /// The same, short enough for a field of the picture.
    fn mark(&self) -> String {
        match self.fastest.is_judged() {
            false => format!("{}?", self.fastest.best),
            true => joined(&self.fastest.tied, "="),
        }
    }
}

fn joined(counts: &[u32], between: &str) -> String {
    counts.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

/// A choice for every variant and every cell with two counts or more.
pub(crate) fn choose<'a>(study: &Study<'a>) -> Vec<Choice<'a>> {
    let mut choices = Vec::new();
    for variant in ledgers(study) {
        for (rest, levels) in curves(study, variant) {
            let counts = counts(&levels);
            let time = |count: &u32| (*count, elapsed(study, variant, &rest, &count.to_string()));
            let fastest = Fastest::of(&counts.iter().map(time).collect::<Vec<_>>());
            choices.extend(fastest.map(|fastest| Choice { variant, rest, counts, fastest }));
        }
    }
    choices
}

pub(crate) fn write(study: &Study, choices: &[Choice], page: &mut Page) {
    page.heading("The best number of workers");
    if choices.is_empty() {
        page.paragraph(
            "No cell was run with two numbers of workers, so there is nothing to choose.",
        );
        return;
    }
    page.paragraph(
        "A count ties with all that it does not beat, paired by block, by more than the interval. \
         Exploratory, not corrected for the number of cells.",
    );
    let drawn = plane(choices);
    page.chapter(Chapter {
        table: picture(choices, &drawn),
        kept: Kept::Data("heatmap"),
        figure: Some((
            ("heatmap", "threads-heatmap.gp"),
            "Fastest number of workers by streams and busy work per transaction; `=` joins what no \
             interval tells apart, `?` marks the median of too few blocks",
            &format!("{}; {}", label_of_plane(&drawn), study.how_run()),
        )),
        ..Chapter::default()
    });
    let what = "The best count in every cell and its advantage over the runner-up";
    page.beside("best", what, &table(study, choices));
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
    let mut variants: Vec<&str> = fields.iter().map(|one| one.variant).collect();
    variants.dedup();
    let variant = |one: &Choice| variants.iter().position(|name| *name == one.variant);
    let place = |one: &Choice, factor: &str, levels: &[u64]| {
        let level = number(&one.rest, factor)?;
        Some((level as usize, levels.iter().position(|other| *other == level)?))
    };
    let placed = fields.iter().filter_map(|one| {
        let (stream, work) = (place(one, "streams", &streams)?, place(one, "work_ns", &works)?);
        Some((one, variant(one)?, stream, work))
    });
    Table::over(
        placed,
        &[
            Text("", "variant", &|(one, ..)| one.variant),
            Count("", "variant_index", &|(_, index, ..)| *index),
            Count("", "streams", &|(.., stream, _)| stream.0),
            Count("", "streams_index", &|(.., stream, _)| stream.1),
            Count("", "work_ns", &|(.., work)| work.0),
            Count("", "work_index", &|(.., work)| work.1),
            Count("", "best", &|(one, ..)| one.fastest.best as usize),
            Words("", "label", &|(one, ..)| one.mark()),
        ],
    )
}

fn table(study: &Study, choices: &[Choice]) -> Table {
    Table::over(
        choices,
        &[
            Code("", "variant", &|one| one.variant),
            Words("", "cell", &|one| study.label(&one.rest)),
            Words("", "counts", &|one| joined(&one.counts, " ")),
            Count("", "best", &|one| one.fastest.best as usize),
            Words("", "label", &|one| one.label()),
            Count("", "runner_up", &|one| one.fastest.runner_up().0 as usize),
            Interval("", "advantage", &|one| Some(one.fastest.advantage())),
            Count("", "n", &|one| one.fastest.n()),
        ],
    )
}
