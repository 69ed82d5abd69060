//! What was set out to be reached: `owned` against the reference, and the harness's own cost.

use super::sweep::{Cell as Levels, Sweep, centre, number, with};
use crate::effect::{Effect, as_times};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

const OWNED: &str = "owned";
/// Workers at which the bars are stated.
const WORKERS: &str = "2";
/// (contention, how many times as fast `owned` is to be).
const TARGETS: [(&str, f64); 2] = [("hot", 2.0), ("disjoint", 1.2)];
/// Transactions a stream from which the bars hold.
const LONG_STREAM: u64 = 1_000;
/// The harness may cost less than this share of the cheapest variant.
const HARNESS_SHARE: f64 = 0.05;

/// One bar in one cell.
pub(super) struct Bar {
    pub(super) what: String,
    pub(super) cell: String,
    pub(super) measured: Option<Effect>,
    pub(super) target: String,
    pub(super) met: Met,
}

/// Whether a bar is met: surely, or by the estimate while the interval reaches beyond the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    Surely,
    ByEstimate,
    No,
    NotMeasured,
}

impl Met {
    fn judge(estimate: bool, surely: bool) -> Self {
        match (surely, estimate) {
            (true, _) => Self::Surely,
            (_, true) => Self::ByEstimate,
            _ => Self::No,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Surely => "met",
            Self::ByEstimate => "met by the estimate, not by the interval",
            Self::No => "not met",
            Self::NotMeasured => "not measured",
        }
    }
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Bars");
    let mut bars = speed(sweep);
    bars.extend(harness(sweep));
    let mut table = Table::new(&[
        ("bar", "bar"),
        ("cell", "cell"),
        ("measured", "measured"),
        ("low", "low"),
        ("high", "high"),
        ("n", "n"),
        ("target", "target"),
        ("met", "met"),
    ]);
    for bar in &bars {
        let effect = bar.measured.as_ref();
        let mut row = vec![Cell::text(&bar.what), Cell::text(&bar.cell)];
        row.extend(as_times(effect));
        row.push(Cell::value(effect.map(|effect| effect.n() as f64), Unit::Count));
        row.push(Cell::text(&bar.target));
        row.push(Cell::text(bar.met.word()));
        table.row(row);
    }
    page.table("bars", &table);
    let ratios = ratios(sweep);
    if !ratios.is_empty() {
        page.folded(
            "owned",
            &format!("How many times as fast `{OWNED}` is, at every number of workers"),
            &ratios,
        );
    }
}

/// How many times as fast `owned` is (a logarithm), in one whole cell.
pub(super) fn advantage(sweep: &Sweep, cell: &Levels) -> Option<Effect> {
    let reference = sweep.series(sweep.reference(), cell, "elapsed_ns");
    Effect::log_ratio(&reference, &sweep.series(OWNED, cell, "elapsed_ns"))
}

/// The two bars of speed, in every cell of streams long enough that is otherwise the base's.
pub(super) fn speed(sweep: &Sweep) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (contention, target) in TARGETS {
        let what = format!("`{OWNED}` as fast as `{}`, {contention}", sweep.reference());
        let free = ["transactions", "kinds", "streams", "contention", "workers"];
        let cells = sweep.cells(OWNED).into_iter().filter(|cell| {
            cell.get("contention").is_some_and(|level| level == contention)
                && cell.get("workers").is_some_and(|level| level == WORKERS)
                && number(cell, "transactions").is_some_and(|n| n >= LONG_STREAM)
                && sweep.is_base_but(cell, &free)
        });
        let before = bars.len();
        bars.extend(cells.filter_map(|cell| {
            let measured = advantage(sweep, cell)?;
            let least = target.ln();
            let met = Met::judge(measured.estimate >= least, measured.surely_above(least));
            Some(Bar {
                what: what.clone(),
                cell: sweep.label(cell),
                measured: Some(measured),
                target: format!("at least {}", show(target, Unit::Times)),
                met,
            })
        }));
        if bars.len() == before {
            bars.push(Bar {
                what,
                cell: format!("{LONG_STREAM} transactions a stream, {WORKERS} workers"),
                measured: None,
                target: format!("at least {}", show(target, Unit::Times)),
                met: Met::NotMeasured,
            });
        }
    }
    bars
}

/// The empty ledger's time over the cheapest variant's, per cell of long streams.
fn harness(sweep: &Sweep) -> Vec<Bar> {
    let what = "empty ledger over the cheapest variant".to_owned();
    let target = format!("below {}", show(HARNESS_SHARE, Unit::Times));
    let one = |cell: &Levels, harness: &str| {
        let ledgers = sweep.ledgers().into_iter();
        let timed = ledgers.filter_map(|v| Some((v, sweep.median(v, cell, "elapsed_ns")?)));
        let (cheapest, _) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let empty = sweep.series(harness, cell, "elapsed_ns");
        let measured = Effect::log_ratio(&empty, &sweep.series(cheapest, cell, "elapsed_ns"))?;
        let most = HARNESS_SHARE.ln();
        let met = Met::judge(measured.estimate < most, measured.surely_below(most));
        Some(Bar {
            what: what.clone(),
            cell: format!("{} (cheapest: `{cheapest}`)", sweep.label(cell)),
            measured: Some(measured),
            target: target.clone(),
            met,
        })
    };
    let mut bars = Vec::new();
    if let Some(harness) = sweep.harness() {
        let long = sweep
            .cells(harness)
            .into_iter()
            .filter(|cell| number(cell, "transactions").is_some_and(|n| n >= LONG_STREAM));
        bars.extend(long.filter_map(|cell| one(cell, harness)));
    }
    if bars.is_empty() {
        let cell = format!("{LONG_STREAM} transactions a stream");
        bars.push(Bar { what, cell, measured: None, target, met: Met::NotMeasured });
    }
    bars
}

fn ratios(sweep: &Sweep) -> Table {
    let mut table = Table::new(&[
        ("cell", "cell"),
        ("workers", "workers"),
        ("n", "n"),
        ("times as fast", "times"),
        ("low", "times_low"),
        ("high", "times_high"),
        ("reference's time", "reference_ns"),
        ("owned's time", "owned_ns"),
    ]);
    for (rest, levels) in sweep.curves(OWNED) {
        for level in &levels {
            let cell = with(&rest, "workers", level);
            let Some(effect) = advantage(sweep, &cell) else { continue };
            let time = |variant: &str| centre(&sweep.series(variant, &cell, "elapsed_ns"));
            let mut row =
                vec![Cell::text(sweep.label(&rest)), Cell::text(level), Cell::count(effect.n())];
            row.extend(as_times(Some(&effect)));
            row.push(Cell::value(time(sweep.reference()), Unit::Ns));
            row.push(Cell::value(time(OWNED), Unit::Ns));
            table.row(row);
        }
    }
    table
}
