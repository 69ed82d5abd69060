//! What to do, and where that holds: sentences made of measured cells alone.

use std::collections::BTreeMap;

use super::bars::advantage;
use super::heatmap::Choice;
use super::penalty::penalty;
use super::sweep::{Cell as Levels, Sweep, number, with};
use crate::effect::Effect;
use crate::page::Page;
use crate::tables::show_percent;

pub(super) fn write(sweep: &Sweep, choices: &[Choice], page: &mut Page) {
    page.heading("Recommendation, and where it holds");
    let free = ["streams", "work_ns", "transactions", "kinds", "contention"];
    let plain = |one: &&Choice| one.is_judged() && sweep.is_base_but(&one.rest, &free);
    let judged: Vec<&Choice> = choices.iter().filter(plain).collect();
    if judged.is_empty() {
        page.paragraph(
            "None: no cell has six blocks, and medians without an interval are no ground for \
             advice.",
        );
        return;
    }
    for variant in sweep.ledgers() {
        let own: Vec<&Choice> =
            judged.iter().copied().filter(|one| one.variant == variant).collect();
        if !own.is_empty() {
            page.item(&format!("`{variant}`: {}.", by_count(&own)));
        }
    }
    page.items(cost_of_many(sweep, &judged));
    page.items(store(sweep));
    page.markdown.push('\n');
    page.paragraph(&validity(sweep, &judged));
}

/// "2 workers in 7 cells (…); tie in 3 cells".
fn by_count(own: &[&Choice]) -> String {
    let mut groups: BTreeMap<String, Vec<&Levels>> = BTreeMap::new();
    for one in own {
        groups.entry(one.label()).or_default().push(&one.rest);
    }
    let shown = groups.iter().map(|(label, cells)| {
        let range = |factor: &str| {
            let mut levels: Vec<u64> = cells.iter().filter_map(|c| number(c, factor)).collect();
            levels.sort_unstable();
            match (levels.first(), levels.last()) {
                (Some(low), Some(high)) if low == high => format!("{low}"),
                (Some(low), Some(high)) => format!("{low} to {high}"),
                _ => "?".to_owned(),
            }
        };
        let workers = match label.strip_prefix("tie: ") {
            Some(tied) => format!("no difference shown between {tied}"),
            None if label == "1" => "1 worker".to_owned(),
            None => format!("{label} workers"),
        };
        format!(
            "{workers} in {} of {} cells (streams {}, work {} ns)",
            cells.len(),
            own.len(),
            range("streams"),
            range("work_ns")
        )
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// Whether more workers than CPUs ever paid, and what they cost.
fn cost_of_many(sweep: &Sweep, judged: &[&Choice]) -> Option<String> {
    let (mut slower, mut faster, mut cells, mut worst) = (0, 0, 0, 0.0_f64);
    for one in judged {
        let Some(penalty) = penalty(sweep, one.variant, &one.rest) else { continue };
        let Some(effect) = Effect::of(penalty.log.into_values().collect()) else { continue };
        cells += 1;
        slower += usize::from(effect.surely_above(0.0));
        faster += usize::from(effect.surely_below(0.0));
        worst = worst.max(effect.estimate);
    }
    (cells > 0).then(|| {
        format!(
            "More workers than CPUs: the largest count is slower than the best one up to the CPUs \
             in {slower} of {cells} cells, by {} at most, and faster in {faster}.",
            show_percent(worst.exp_m1())
        )
    })
}

/// Where a ledger without locks pays.
fn store(sweep: &Sweep) -> Option<String> {
    let cpus = sweep.cpus().to_string();
    let (mut faster, mut slower, mut cells) = (0, 0, 0);
    for (rest, _) in sweep.curves("owned") {
        let Some(effect) = advantage(sweep, &with(&rest, "workers", &cpus)) else { continue };
        cells += 1;
        faster += usize::from(effect.surely_above(0.0));
        slower += usize::from(effect.surely_below(0.0));
    }
    (cells > 0).then(|| {
        format!(
            "Store: at {cpus} workers `owned` is faster than `{}` in {faster} of {cells} cells and \
             slower in {slower}; the size in each is in `owned.tsv`.",
            sweep.reference()
        )
    })
}

fn validity(sweep: &Sweep, judged: &[&Choice]) -> String {
    let range = |factor: &str| {
        let mut levels: Vec<u64> =
            judged.iter().filter_map(|one| number(&one.rest, factor)).collect();
        levels.sort_unstable();
        match (levels.first(), levels.last()) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            _ => "unknown".to_owned(),
        }
    };
    let machine = &sweep.study.frame.run_file.machine;
    let blocks: Vec<usize> = judged.iter().map(|one| one.n()).collect();
    format!(
        "This holds for the numbers of streams that were measured ({}), {} transactions a \
         stream, busy work of {} ns, on {} with {} CPUs, over {} to {} blocks a cell. It says \
         nothing about machines with more CPUs, several sockets or caches that are not shared, \
         about tasks that wait for input, or about a process that does something else beside.",
        levels(judged, "streams"),
        range("transactions"),
        range("work_ns"),
        machine.cpu_model,
        machine.cpus,
        blocks.iter().min().unwrap_or(&0),
        blocks.iter().max().unwrap_or(&0),
    )
}

fn levels(judged: &[&Choice], factor: &str) -> String {
    let mut levels: Vec<u64> = judged.iter().filter_map(|one| number(&one.rest, factor)).collect();
    levels.sort_unstable();
    levels.dedup();
    levels.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
