//! What to do, and where that holds: sentences made of measured cells alone.

use std::collections::BTreeMap;

use lab_family::Cell;
use lab_report::{Effect, Page, Study, show_percent};

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
    for variant in ledgers(study) {
        let own: Vec<&Choice> =
            judged.iter().copied().filter(|one| one.variant == variant).collect();
        if !own.is_empty() {
            page.item(&format!("`{variant}`: {}.", by_count(&own)));
        }
    }
    page.items(cost_of_many(study, &judged));
    page.items(study.candidates().into_iter().filter_map(|variant| store(study, variant)));
    page.markdown.push('\n');
    page.paragraph(&validity(study, &judged));
}

/// "2 workers in 7 of 10 cells (…); no difference shown between 2, 4 in 3 of 10 cells".
fn by_count(own: &[&Choice]) -> String {
    let mut groups: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    for one in own {
        groups.entry(one.label()).or_default().push(&one.rest);
    }
    let shown = groups.iter().map(|(label, cells)| {
        let workers = match label.strip_prefix("tie: ") {
            Some(tied) => format!("no difference shown between {tied}"),
            None if label == "1" => "1 worker".to_owned(),
            None => format!("{label} workers"),
        };
        format!(
            "{workers} in {} of {} cells (streams {}, work {} ns)",
            cells.len(),
            own.len(),
            range(cells, "streams"),
            range(cells, "work_ns")
        )
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// "1 to 1000": the smallest and the largest level.
fn range(cells: &[&Cell], factor: &str) -> String {
    let levels: Vec<u64> = cells.iter().filter_map(|cell| number(cell, factor)).collect();
    match (levels.iter().min(), levels.iter().max()) {
        (Some(low), Some(high)) if low == high => format!("{low}"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
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
         {} of {} cells, by {} at most, and faster in {}.",
        costs.iter().filter(|cost| cost.surely_above(0.0)).count(),
        costs.len(),
        show_percent(worst.exp_m1()),
        costs.iter().filter(|cost| cost.surely_below(0.0)).count(),
    ))
}

/// Where a store pays at a worker for each CPU.
fn store(study: &Study, variant: &str) -> Option<String> {
    let cpus = study.cpus().to_string();
    let over = |(rest, _): (Cell, Vec<String>)| {
        let time = |variant: &str| elapsed(study, variant, &rest, &cpus);
        Effect::log_ratio(&time(variant), &time(study.reference()))
    };
    let ratios: Vec<Effect> = curves(study, variant).into_iter().filter_map(over).collect();
    (!ratios.is_empty()).then(|| {
        format!(
            "Store: at {cpus} workers `{variant}` is faster than `{}` in {} of {} cells and slower \
             in {}; the size in each is in `stores.tsv`.",
            study.reference(),
            ratios.iter().filter(|ratio| ratio.surely_below(0.0)).count(),
            ratios.len(),
            ratios.iter().filter(|ratio| ratio.surely_above(0.0)).count(),
        )
    })
}

fn validity(study: &Study, judged: &[&Choice]) -> String {
    let cells: Vec<&Cell> = judged.iter().map(|one| &one.rest).collect();
    let machine = &study.frame.run_file.machine;
    let blocks = judged.iter().map(|one| one.fastest.n());
    format!(
        "This holds for {} streams, {} transactions a stream, busy work of {} ns, on {} with {} \
         CPUs, over {} to {} blocks a cell. Workers beyond the CPUs share them here: they lose a \
         lock or a task when they are descheduled, and no more caches than CPUs ever hold a line. \
         It says nothing about machines with more CPUs (`experiments/threads-64.toml` asks one), \
         several sockets or caches that are not shared, about tasks that wait for input, or about \
         a process that does something else beside.",
        range(&cells, "streams"),
        range(&cells, "transactions"),
        range(&cells, "work_ns"),
        machine.cpu_model,
        machine.cpus,
        blocks.clone().min().unwrap_or(0),
        blocks.max().unwrap_or(0),
    )
}
