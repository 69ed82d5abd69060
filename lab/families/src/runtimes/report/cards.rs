//! What the machine's cards did while agents waited for servers.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Unit::{self, Bytes, Share};
use lab_record::{CardUse, Spread};
use lab_report::Column::{Count, Number, Text};
use lab_report::{Chapter, Kept, Page, Study, Table};
use lab_stats::describe::median;

use crate::runtimes::cells::configuration;

/// Utilisation is recorded in percent, power in milliwatt, the clock in hertz.
const UTILISATION: Sensor = (|one| one.utilisation_percent, 0.01);
const MEMORY: Sensor = (|one| one.memory_used_bytes, 1.0);
const CLOCK: Sensor = (|one| one.clock_hz, 1e-6);
const POWER: Sensor = (|one| one.power_mw, 1e-3);

/// A reading of a card, and the factor to the unit that is shown.
type Sensor = (fn(&CardUse) -> Option<Spread>, f64);

/// Why there is nothing of cards in some runs that might have used one; records from before cards
/// were watched say nothing.
pub(crate) fn not_watched(study: &Study) -> Option<String> {
    let said = study.all.iter().filter_map(|one| one.row.run.gpu_reason.as_deref());
    let reasons: BTreeSet<&str> = said.filter(|reason| !reason.starts_with("not asked")).collect();
    let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
    (!reasons.is_empty()).then(|| format!("Runs without a watched card: {reasons}."))
}

pub(crate) fn write(study: &Study, page: &mut Page) {
    let table = Table::over(
        by_card(study),
        &[
            Count("card", "card", &|((card, ..), _)| *card as usize),
            Text("model", "name", &|(_, uses)| &uses[0].name),
            Text("configuration", "config", &|((_, config, _), _)| config),
            Text("arrangement", "arrangement", &|((.., arrangement), _)| arrangement),
            Count("runs", "runs", &|(_, uses)| uses.len()),
            Count("samples", "samples", &|(_, uses)| {
                uses.iter().map(|one| one.samples as usize).sum()
            }),
            Number("utilisation", "utilisation", Share, &|(_, uses)| middle(uses, UTILISATION)),
            Number("largest", "utilisation_max", Share, &|(_, uses)| most(uses, UTILISATION)),
            Number("memory in use", "memory_used_bytes", Bytes, &|(_, uses)| middle(uses, MEMORY)),
            Number("largest", "memory_used_max_bytes", Bytes, &|(_, uses)| most(uses, MEMORY)),
            Number("clock (MHz)", "clock_mhz", Unit::Count, &|(_, uses)| middle(uses, CLOCK)),
            Number("power (W)", "power_w", Unit::Count, &|(_, uses)| middle(uses, POWER)),
            Number("largest (W)", "power_max_w", Unit::Count, &|(_, uses)| most(uses, POWER)),
        ],
    );
    page.chapter(Chapter {
        heading: "What the cards did",
        text: "During runs of all variants: the median of a run's median sample, and the largest \
               sample. Utilisation is the share of time in which any kernel ran.",
        table,
        kept: Kept::Shown("cards"),
        ..Chapter::default()
    });
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

/// The middle of the medians.
fn middle(uses: &[&CardUse], (read, factor): Sensor) -> Option<f64> {
    let medians = uses.iter().filter_map(|one| Some(read(one)?.median as f64));
    Some(median(&medians.collect::<Vec<_>>())? * factor)
}

/// The largest of all.
fn most(uses: &[&CardUse], (read, factor): Sensor) -> Option<f64> {
    let most = uses.iter().filter_map(|one| Some(read(one)?.max)).max();
    Some(most? as f64 * factor)
}
