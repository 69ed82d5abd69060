//! How many workers to begin with, by class of load.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Cell;
use lab_family::Unit::{self, Times};
use lab_record::Contrast;
use lab_report::Column::{Code, Count, Number, Text};
use lab_report::{Chapter, Contrasted, Kept, Page, Study, Table, centre, show};
use lab_stats::outcome::Outcome;

use super::best::Choice;
use super::workers::{elapsed, ledgers, number};

/// Classes by streams at once, as the published report divides them: the name, and the most.
const CLASSES: [(&str, u64); 3] =
    [("one stream", 1), ("up to 100 streams", 100), ("over 100 streams", u64::MAX)];

/// For one class of load and one store.
struct Advice<'a> {
    load: &'static str,
    variant: &'a str,
    /// The smallest count of those that are best, or tied with the best, in most cells.
    workers: u32,
    /// In so many.
    best_in: usize,
    cells: usize,
    /// Its time over the best count's, in the cell where that is most.
    worst: f64,
    /// Why it is not given.
    against: Option<String>,
}

impl Advice<'_> {
    fn in_words(&self) -> String {
        let Self { load, workers, best_in, cells, .. } = self;
        if let Some(against) = &self.against {
            return format!("{load}: none, for {against}");
        }
        let worst = show(self.worst, Unit::Times);
        format!("{load}: {workers} (best or tied in {best_in} of {cells} cells, at worst {worst})")
    }
}

/// From the cells in which some count is known to be best or tied. None where the lab tells equal
/// programs apart.
pub(crate) fn write(study: &Study, judged: &[&Choice], page: &mut Page) {
    if study.alarm("elapsed_ns").is_some() {
        return;
    }
    let all: Vec<Advice> =
        ledgers(study).into_iter().flat_map(|variant| of_store(study, judged, variant)).collect();
    let given: Vec<&Advice> = all.iter().filter(|of| of.against.is_none()).collect();
    let every = if given.is_empty() { "" } else { " Every store: `advice.tsv`." };
    page.chapter(Chapter {
        table: Table::over(
            given,
            &[
                Text("", "load", &|of| of.load),
                Code("", "variant", &|of| of.variant),
                Count("", "workers", &|of| of.workers as usize),
                Count("", "best_in", &|of| of.best_in),
                Count("", "cells", &|of| of.cells),
                Number("", "over_best_max", Times, &|of| Some(of.worst)),
            ],
        ),
        kept: Kept::Data("advice"),
        ..Chapter::default()
    });
    let own = all.iter().filter(|of| of.variant == study.reference());
    let own: Vec<String> = own.map(Advice::in_words).collect();
    if own.is_empty() {
        return;
    }
    page.paragraph(&format!(
        "Workers to begin with on `{}`: {}.{every}",
        study.reference(),
        own.join("; "),
    ));
}

fn of_store<'a>(study: &Study, judged: &[&Choice<'a>], variant: &str) -> Vec<Advice<'a>> {
    let mut from = 0;
    let mut advice = Vec::new();
    for (load, most) in CLASSES {
        let is_here = |one: &&&Choice| {
            let streams = number(&one.rest, "streams");
            one.variant == variant && streams.is_some_and(|count| from < count && count <= most)
        };
        let own: Vec<&Choice<'a>> = judged.iter().filter(is_here).copied().collect();
        advice.extend(of_class(study, load, &own));
        from = most;
    }
    advice
}

/// Of the counts that every cell of the class ran.
fn of_class<'a>(study: &Study, load: &'static str, own: &[&Choice<'a>]) -> Option<Advice<'a>> {
    let ran = own.iter().map(|one| one.counts.iter().copied().collect::<BTreeSet<u32>>());
    let everywhere = ran.reduce(|a, b| &a & &b)?;
    let best_in = |count: u32| own.iter().filter(|one| one.fastest.tied.contains(&count)).count();
    let most = everywhere.iter().map(|count| best_in(*count)).max()?;
    let workers = everywhere.into_iter().find(|count| best_in(*count) == most)?;
    let over_best = |one: &&Choice| {
        let time = |count: u32| centre(&elapsed(study, one.variant, &one.rest, &count.to_string()));
        Some(time(workers)? / time(one.fastest.best)?)
    };
    let worst = own.iter().filter_map(over_best).max_by(f64::total_cmp)?;
    let variant = own.first()?.variant;
    let against = against(study, own, workers);
    Some(Advice { load, variant, workers, best_in: most, cells: own.len(), worst, against })
}

/// What stands against advice: a declared contrast on a cell of the class says that another count
/// is better, or no cell tells any count from the best.
fn against(study: &Study, own: &[&Choice], workers: u32) -> Option<String> {
    let advised = workers.to_string();
    let is_here = |contrast: &Contrast| {
        let mut cells = own.iter().filter(|one| one.variant == contrast.variant);
        contrast.factor == "workers" && cells.any(|one| is_within(&one.rest, &contrast.cells))
    };
    let told = |one: &&Contrasted| {
        let is_told = matches!(one.line.finding.outcome, Outcome::Faster | Outcome::Slower);
        is_told && is_here(one.contrast)
    };
    let contrary = |one: &&Contrasted| {
        let Contrast { level, reference, .. } = one.contrast;
        let worse = if one.line.finding.outcome == Outcome::Faster { reference } else { level };
        *worse == advised
    };
    if let Some(one) = study.contrasted.iter().filter(told).find(contrary) {
        let id = &one.contrast.id;
        return Some(format!("the contrast `{id}` shows that another number is better"));
    }
    if own.iter().any(|one| one.fastest.tied.len() < one.counts.len()) {
        return None;
    }
    Some(match study.contrasted.iter().find(told) {
        Some(one) => format!(
            "the blocks tell no number of workers from another; the contrast `{}` does",
            one.contrast.id
        ),
        None => "no number of workers is told from another".to_owned(),
    })
}

fn is_within(cell: &Cell, levels: &BTreeMap<String, Vec<String>>) -> bool {
    let has = |(factor, level): (&String, &String)| {
        levels.get(factor).is_none_or(|levels| levels.contains(level))
    };
    cell.iter().all(has)
}
