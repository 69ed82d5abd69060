//! What was set out to be reached: the best engine against peers and against a newline scan.

use super::sweep::{Cell as Levels, NEWLINE_SCAN, Sweep};
use crate::effect::{Effect, as_times};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

/// (peer, how many times its throughput the best engine is to reach).
const TARGETS: [(&str, f64); 3] = [("ripgrep", 1.0), ("duckdb", 4.0), (NEWLINE_SCAN, 0.6)];
/// The corpus that the bars are stated for.
const CORPUS: &str = "gigabyte";

/// The bar for a word in its own case only, which asks the peer for less work per byte.
const IN_CASE: (&str, f64) = ("ripgrep", 1.0);

/// One bar.
pub(super) struct Bar<'a> {
    /// The peer, and how it was asked where it was asked otherwise.
    pub(super) peer: String,
    pub(super) engine: Option<(&'a str, String)>,
    pub(super) cell: String,
    /// The engine's throughput over the peer's.
    pub(super) measured: Option<Effect>,
    pub(super) target: f64,
    pub(super) met: &'static str,
}

impl Bar<'_> {
    /// "`threads` (read mmap)".
    pub(super) fn engine(&self) -> String {
        let named = self.engine.as_ref();
        named.map_or("none".to_owned(), |(engine, read)| format!("`{engine}` (read {read})"))
    }

    pub(super) fn target(&self) -> String {
        format!("at least {}", show(self.target, Unit::Times))
    }
}

pub(super) fn bars<'a>(sweep: &Sweep<'a>) -> Vec<Bar<'a>> {
    let cell = sweep.bars_cell();
    let mut bars: Vec<Bar> =
        TARGETS.iter().map(|&(peer, target)| bar(sweep, &cell, (peer, peer, target))).collect();
    let (peer, target) = IN_CASE;
    let asked = format!("{peer} --case-sensitive");
    // Beside the bar that it varies.
    bars.extend(sweep.bars_cell_in_case().map(|cell| bar(sweep, &cell, (peer, &asked, target))));
    bars.sort_by_key(|bar| !bar.peer.starts_with(peer));
    bars
}

fn bar<'a>(sweep: &Sweep<'a>, cell: &Levels, (peer, asked, target): (&str, &str, f64)) -> Bar<'a> {
    let best = sweep.fastest(&sweep.engines(), cell);
    let read = |cell: &Levels| cell.get("read").cloned().unwrap_or_default();
    let measured = best.zip(sweep.best_read(peer, cell)).and_then(|((engine, own), theirs)| {
        Effect::log_ratio(&sweep.wall(peer, theirs), &sweep.wall(engine, own))
    });
    let is_stated_one = cell.get("corpus").is_some_and(|corpus| corpus == CORPUS);
    Bar {
        peer: asked.to_owned(),
        engine: best.map(|(engine, own)| (engine, read(own))),
        cell: sweep.label(cell),
        met: met(measured.as_ref(), target, is_stated_one),
        measured,
        target,
    }
}

/// Surely, by the estimate while the interval reaches below the target, or not.
fn met(measured: Option<&Effect>, target: f64, is_stated_one: bool) -> &'static str {
    match measured {
        None => "not measured",
        Some(_) if !is_stated_one => "not the corpus of the bar",
        Some(effect) if effect.surely_above(target.ln()) => "met",
        Some(effect) if effect.estimate >= target.ln() => {
            "met by the estimate, not by the interval"
        }
        Some(_) => "not met",
    }
}

pub(super) fn write(bars: &[Bar], page: &mut Page) {
    page.heading("Bars");
    page.paragraph(
        "Throughput of the best engine, whichever way it reads, over a peer's, whichever way that \
         reads, same corpus, same number of threads, paired by round. The engine is chosen by the \
         same runs, which flatters it where several are close. The engine also checks \
         the JSON field, sorts and reports; `newline_scan` maps the files and counts newlines, \
         the least that any search by lines must do. `ripgrep` is asked with `-i` as the engines \
         are without regard to case; `--case-sensitive` is the other question, asked of both.",
    );
    let mut table = Table::new(&[
        ("best engine over", "peer"),
        ("best engine", "engine"),
        ("cell", "cell"),
        ("measured", "measured"),
        ("low", "low"),
        ("high", "high"),
        ("n", "n"),
        ("target", "target"),
        ("met", "met"),
    ]);
    for bar in bars {
        let effect = bar.measured.as_ref();
        let mut row = vec![Cell::code(&bar.peer), Cell::text(bar.engine()), Cell::text(&bar.cell)];
        row.extend(as_times(effect));
        row.push(Cell::value(effect.map(|effect| effect.n() as f64), Unit::Count));
        row.push(Cell::text(bar.target()));
        row.push(Cell::text(bar.met));
        table.row(row);
    }
    page.table("bars", &table);
    page.paragraph(
        "That the kernel allocates nothing for a line without a match is not timed here: the \
         kernel's own test counts allocations.",
    );
}
