//! What to do, and where that holds: sentences made of measured cells alone.

use std::collections::BTreeSet;

use lab_family::Cell;
use lab_report::Column::{Any, Code, Count, Each};
use lab_report::{Effect, Entry, Page, Study, Table, from_to, several, show_percent};

use super::advice;
use super::best::Choice;
use super::workers::{PLAIN, curves, elapsed, fastest, ledgers, number};

pub(crate) fn write(study: &Study, choices: &[Choice], page: &mut Page) {
    page.heading("Recommendation, and where it holds");
    let free = [PLAIN.as_slice(), &["work_ns"]].concat();
    let plain = |one: &&Choice| one.fastest.is_judged() && study.is_default_but(&one.rest, &free);
    let judged: Vec<&Choice> = choices.iter().filter(plain).collect();
    if judged.is_empty() {
        page.paragraph(
            "None: no cell has six blocks, and medians without an interval are no ground for \
             advice.",
        );
        return;
    }
    if let Some(alarm) = study.alarm("elapsed_ns") {
        page.paragraph(&format!("**{alarm}**: no time below is ground for a choice."));
    }
    page.paragraph(&format!(
        "Cells in which so many workers are best or tied, of those run, and alone in front; last, \
         at {} workers, cells in which the store is faster, slower than `{}`:",
        study.cpus(),
        study.reference()
    ));
    page.markdown_table(&by_count(study, &judged));
    page.items(cost_of_many(study, &judged));
    page.markdown.push('\n');
    advice::write(study, &judged, page);
    page.paragraph(&validity(study, &judged));
}

/// A row for each store, a column for each number of workers.
fn by_count(study: &Study, judged: &[&Choice]) -> Table {
    let counts: BTreeSet<u32> = judged.iter().flat_map(|one| one.counts.clone()).collect();
    let titles: Vec<String> = counts.iter().map(u32::to_string).collect();
    let titles: Vec<(&str, &str)> =
        titles.iter().map(|count| (count.as_str(), &count[..])).collect();
    let best = |own: &[&&Choice], count: &str| {
        let count = count.parse().unwrap_or_default();
        let ran = own.iter().filter(|one| one.counts.contains(&count));
        let best = ran.clone().filter(|one| one.fastest.tied.contains(&count)).count();
        Entry::text(format!("{best}/{}", ran.count()))
    };
    let stores = ledgers(study).into_iter().map(|variant| {
        let own: Vec<&&Choice> = judged.iter().filter(|one| one.variant == variant).collect();
        (variant, own)
    });
    Table::over(
        stores.filter(|(_, own)| !own.is_empty()),
        &[
            Code("store", "", &|(variant, _)| variant),
            Each(&titles, &|(_, own), count| best(own, count)),
            Count("alone", "", &|(_, own)| own.iter().filter(|one| one.fastest.is_alone()).count()),
            Any("faster, slower", "", &|(variant, _)| Entry::optional(store(study, variant))),
        ],
    )
}

/// "1 to 1000": the smallest and the largest level.
fn range(cells: &[&Cell], factor: &str) -> String {
    let levels: Vec<u64> = cells.iter().filter_map(|cell| number(cell, factor)).collect();
    match (levels.iter().min(), levels.iter().max()) {
        (Some(low), Some(high)) => from_to(low, high),
        _ => "?".to_owned(),
    }
}

/// Whether more workers than CPUs ever paid, and what they cost.
fn cost_of_many(study: &Study, judged: &[&Choice]) -> Option<String> {
    let cost = |one: &&Choice| {
        let (within, beyond): (Vec<u32>, Vec<u32>) =
            one.counts.iter().partition(|count| **count <= study.cpus());
        let few = fastest(study, one.variant, &one.rest, within.into_iter())?;
        let time = |count: u32| elapsed(study, one.variant, &one.rest, &count.to_string());
        Effect::log_ratio(&time(beyond.into_iter().max()?), &time(few))
    };
    let costs: Vec<Effect> = judged.iter().filter_map(cost).collect();
    let worst = costs.iter().map(|cost| cost.estimate).max_by(f64::total_cmp)?;
    Some(format!(
        "More workers than CPUs: the largest count is slower than the best one up to the CPUs in \
         {} of {} cells (at most {}), faster in {}.",
        costs.iter().filter(|cost| cost.surely_above(0.0)).count(),
        costs.len(),
        show_percent(worst.exp_m1()),
        costs.iter().filter(|cost| cost.surely_below(0.0)).count(),
    ))
}

/// In how many cells a store pays and costs at a worker for each CPU.
fn store(study: &Study, variant: &str) -> Option<String> {
    let cpus = study.cpus().to_string();
    let over = |(rest, _): (Cell, Vec<String>)| {
        let time = |variant: &str| elapsed(study, variant, &rest, &cpus);
        Effect::log_ratio(&time(variant), &time(study.reference()))
    };
    let ratios: Vec<Effect> = curves(study, variant).into_iter().filter_map(over).collect();
    (!ratios.is_empty() && variant != study.reference()).then(|| {
        format!(
            "{}, {} of {}",
            ratios.iter().filter(|ratio| ratio.surely_below(0.0)).count(),
            ratios.iter().filter(|ratio| ratio.surely_above(0.0)).count(),
            ratios.len(),
        )
    })
}

fn validity(study: &Study, judged: &[&Choice]) -> String {
    let cells: Vec<&Cell> = judged.iter().map(|one| &one.rest).collect();
    let machine = &study.frame.run_file.machine;
    let blocks = judged.iter().map(|one| one.fastest.n());
    format!(
        "For {} streams, {} transactions a stream, busy work of {} ns, on {} with {}, over {} \
         blocks a cell. It says nothing about more CPUs (`experiments/threads-64.toml` asks), \
         several sockets, or tasks that wait for input.",
        range(&cells, "streams"),
        range(&cells, "transactions"),
        range(&cells, "work_ns"),
        machine.cpu_model,
        several(machine.cpus as usize, "CPU"),
        from_to(blocks.clone().min().unwrap_or(0), blocks.max().unwrap_or(0)),
    )
}
