//! What the machine's cards did while agents waited for servers.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Unit;
use lab_record::{CardUse, Spread};
use lab_report::{Entry, Page, Study, Table};
use lab_stats::describe::median;

use crate::cells::configuration;

/// Utilisation is recorded in percent, power in milliwatt, the clock in hertz.
const PER_CENT: f64 = 0.01;
const WATTS: f64 = 1e-3;
const MEGAHERTZ: f64 = 1e-6;

/// Why there is nothing of cards in some runs that might have used one; records from before cards
/// were watched say nothing.
pub(crate) fn not_watched(study: &Study) -> Option<String> {
    let said = study.all.iter().filter_map(|one| one.row.run.gpu_reason.as_deref());
    let reasons: BTreeSet<&str> = said.filter(|reason| !reason.starts_with("not asked")).collect();
    let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
    (!reasons.is_empty()).then(|| format!("Runs without a watched card: {reasons}."))
}

pub(crate) fn write(study: &Study, page: &mut Page) {
    let seen = by_card(study);
    if seen.is_empty() {
        return;
    }
    page.heading("What the cards did");
    page.paragraph(
        "During runs of all variants: the median of a run's median sample, and the largest sample. \
         Utilisation is the share of time in which any kernel ran.",
    );
    let mut table = Table::new(&[
        ("card", "card"),
        ("model", "name"),
        ("configuration", "config"),
        ("arrangement", "arrangement"),
        ("runs", "runs"),
        ("samples", "samples"),
        ("utilisation", "utilisation"),
        ("largest", "utilisation_max"),
        ("memory in use", "memory_used_bytes"),
        ("largest", "memory_used_max_bytes"),
        ("clock (MHz)", "clock_mhz"),
        ("power (W)", "power_w"),
        ("largest (W)", "power_max_w"),
    ]);
    for ((card, config, arrangement), uses) in &seen {
        let mut row = vec![
            Entry::count(*card as usize),
            Entry::text(&uses[0].name),
            Entry::text(config),
            Entry::text(arrangement),
            Entry::count(uses.len()),
            Entry::count(uses.iter().map(|one| one.samples as usize).sum()),
        ];
        let spreads = |of: fn(&CardUse) -> Option<Spread>| {
            uses.iter().filter_map(|one| of(one)).collect::<Vec<Spread>>()
        };
        row.extend(ends(&spreads(|one| one.utilisation_percent), PER_CENT, Unit::Share));
        row.extend(ends(&spreads(|one| one.memory_used_bytes), 1.0, Unit::Bytes));
        row.extend(ends(&spreads(|one| one.clock_hz), MEGAHERTZ, Unit::Count).into_iter().take(1));
        row.extend(ends(&spreads(|one| one.power_mw), WATTS, Unit::Count));
        table.row(row);
    }
    page.table("cards", &table);
}

type Place = (u32, String, String);

fn by_card<'a>(study: &Study<'a>) -> BTreeMap<Place, Vec<&'a CardUse>> {
    let mut seen: BTreeMap<Place, Vec<&CardUse>> = BTreeMap::new();
    for run in study.all.iter().map(|one| &one.row.run) {
        let arrangement = run.cell.get("arrangement").cloned().unwrap_or_default();
        for one in run.gpu.iter().flatten() {
            let place = (one.card, configuration(run), arrangement.clone());
            seen.entry(place).or_default().push(one);
        }
    }
    seen
}

/// The middle of the medians, and the largest.
fn ends(spreads: &[Spread], factor: f64, unit: Unit) -> [Entry; 2] {
    let medians: Vec<f64> = spreads.iter().map(|spread| spread.median as f64).collect();
    let max = spreads.iter().map(|spread| spread.max).max();
    [median(&medians), max.map(|max| max as f64)]
        .map(|value| Entry::value(value.map(|value| value * factor), unit))
}
