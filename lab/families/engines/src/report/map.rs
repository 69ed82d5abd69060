//! Which engine is fastest where: corpus × query × threads, and which others it does not beat by
//! more than the interval.

use std::collections::BTreeMap;

use lab_family::{Cell, Unit};
use lab_report::effect::{Effect, as_times};
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::tables::{Entry, Table, show};

use super::engines;
use super::order::Order;
use super::speed::sweep;
use crate::PLACE;
use crate::metrics::WALL;

/// Which engine was fastest in a cell.
struct Win<'a> {
    cell: Cell,
    /// By the median.
    best: &'a str,
    /// Engines that the best one does not beat by interval, itself included, in order of the sweep.
    tied: Vec<&'a str>,
    runner_up: &'a str,
    /// The runner-up's time over the best one's.
    advantage: Effect,
    slowest: &'a str,
    /// The slowest one's time over the best one's.
    spread: Effect,
}

impl<'a> Win<'a> {
    /// `None` where fewer than two of these ran in the same blocks of a cell.
    fn of(study: &Study, engines: &[&'a str], cell: Cell) -> Option<Self> {
        let timed = engines.iter().filter_map(|e| Some((*e, study.median(e, &cell, WALL)?)));
        let mut timed: Vec<(&str, f64)> = timed.collect();
        timed.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, _) = *timed.first()?;
        let time = |engine: &str| study.series(engine, &cell, WALL);
        let behind = |engine: &str| Effect::log_ratio(&time(engine), &time(best));
        let others = timed[1..].iter().filter_map(|(e, _)| Some((*e, behind(e)?)));
        let others: Vec<(&str, Effect)> = others.collect();
        let (runner_up, advantage) = others.first()?.clone();
        let (slowest, spread) = others.last()?.clone();
        let is_close = |engine: &&str| {
            let mut others = others.iter();
            *engine == best || others.any(|(e, effect)| e == engine && !effect.surely_above(0.0))
        };
        let tied = engines.iter().copied().filter(is_close).collect();
        Some(Self { cell, best, tied, runner_up, advantage, slowest, spread })
    }

    /// Whether there are blocks enough for any interval.
    fn has_interval(&self) -> bool {
        self.advantage.interval.is_some()
    }

    /// Whether the best one beats every other one by more than the interval.
    fn is_clear(&self) -> bool {
        self.has_interval() && self.tied.len() == 1
    }

    /// "smol", "tie: rayon, smol", or what the medians say without an interval.
    fn label(&self) -> String {
        match (self.has_interval(), self.tied.len()) {
            (false, _) => format!("{}? (n = {})", self.best, self.advantage.n()),
            (true, 1) => self.best.to_owned(),
            (true, _) => format!("tie: {}", self.tied.join(", ")),
        }
    }

    /// The same, short enough for a field of the picture.
    fn mark(&self) -> String {
        match (self.has_interval(), self.tied.len()) {
            (false, _) => format!("{}?", self.best),
            (true, 1) => self.best.to_owned(),
            (true, _) => format!("tie of {}", self.tied.len()),
        }
    }
}

pub(super) fn write(study: &Study, order: &Order, page: &mut Page) {
    let engines = engines(study);
    let cells = order.cells(study, &engines, &|cell| study.is_default_but(cell, &PLACE));
    let wins: Vec<Win> =
        cells.into_iter().filter_map(|cell| Win::of(study, &engines, cell)).collect();
    if wins.is_empty() {
        return;
    }
    page.heading("Which engine is fastest where");
    page.paragraph(&format!(
        "The smallest median of a cell wins. Engines tie if the interval of their ratio, paired by \
         block, reaches the fastest one's time. {} The advantage is the runner-up's time over the \
         fastest one's. The floor has one thread whatever `threads` says. Exploratory: no \
         correction for the number of cells, nor for choosing the fastest by the same runs.",
        counted(&wins)
    ));
    page.data("crossover", &picture(study, order, &wins));
    page.figure_by(
        ("crossover", "search-crossover.gp"),
        "Fastest engine by size of the corpus, share of lines that match, and threads; a tie is \
         what no interval tells apart, `?` marks the median of too few blocks",
        &sweep(study),
    );
    page.folded("wins", "The fastest engine of every cell", &table(order, &wins));
}

/// "Of 59 cells, 3 go to `rayon` alone, 1 to `threads`; the others tie."
fn counted(wins: &[Win]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for win in wins.iter().filter(|win| win.is_clear()) {
        *counts.entry(win.best).or_default() += 1;
    }
    let listed: Vec<String> =
        counts.iter().map(|(engine, count)| format!("`{engine}` {count}")).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    format!("Alone in front, of {} cells: {listed}; the other cells tie.", wins.len())
}

/// A row per field of the picture, places by index.
fn picture(study: &Study, order: &Order, wins: &[Win]) -> Table {
    let levels = |factor: &'static str| {
        let mut levels: Vec<&String> = wins.iter().filter_map(|w| w.cell.get(factor)).collect();
        levels.sort_by_cached_key(|level| order.rank(study, factor, level));
        levels.dedup();
        levels
    };
    let places = PLACE.map(levels);
    let mut table = Table::new(&[
        ("threads", "threads"),
        ("threads index", "threads_index"),
        ("corpus", "corpus"),
        ("corpus index", "corpus_index"),
        ("query", "query"),
        ("query index", "query_index"),
        ("engine", "engine"),
        ("label", "label"),
        ("advantage", "advantage"),
        ("is a tie", "tie"),
    ]);
    let index = |win: &Win, place: usize| {
        let level = win.cell.get(PLACE[place])?;
        places[place].iter().position(|known| *known == level)
    };
    let mut sorted: Vec<&Win> = wins.iter().collect();
    // A panel of the picture for each number of threads.
    sorted.sort_by_key(|win| index(win, 2));
    for win in sorted {
        let mut row = Vec::new();
        for place in [2, 0, 1] {
            row.push(Entry::text(level(win, PLACE[place])));
            row.push(index(win, place).map_or(Entry::Missing, Entry::count));
        }
        row.push(Entry::text(win.best));
        row.push(Entry::text(win.mark()));
        row.push(Entry::text(show(win.advantage.estimate.exp(), Unit::Times)));
        row.push(Entry::count(usize::from(!win.is_clear())));
        table.row(row);
    }
    table
}

fn level<'w>(win: &'w Win, factor: &str) -> &'w str {
    win.cell.get(factor).map_or("", String::as_str)
}

fn table(order: &Order, wins: &[Win]) -> Table {
    let mut table = Table::new(&[
        ("corpus", "corpus"),
        ("bytes", "bytes"),
        ("query", "query"),
        ("share of lines that match", "matching_share"),
        ("threads", "threads"),
        ("fastest", "winner"),
        ("by the median", "best"),
        ("runner-up", "runner_up"),
        ("its time over the fastest one's", "advantage"),
        ("low", "advantage_low"),
        ("high", "advantage_high"),
        ("n", "n"),
        ("slowest", "slowest"),
        ("its time over the fastest one's", "spread"),
    ]);
    for win in wins {
        let [corpus, query, threads] = PLACE.map(|factor| level(win, factor));
        let mut row = vec![
            Entry::text(corpus),
            Entry::value(order.bytes(corpus), Unit::Bytes),
            Entry::text(query),
            Entry::value(order.matching(query), Unit::Count),
            Entry::text(threads),
            Entry::text(win.label()),
            Entry::code(win.best),
            Entry::code(win.runner_up),
        ];
        row.extend(as_times(Some(&win.advantage)));
        row.push(Entry::count(win.advantage.n()));
        row.push(Entry::code(win.slowest));
        row.push(Entry::Value(win.spread.estimate.exp(), Unit::Times));
        table.row(row);
    }
    table
}
