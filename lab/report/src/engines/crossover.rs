//! Who wins where: corpus × query × threads, and whether the win is beyond the interval.

use super::measure::WALL;
use super::sweep::{Cell as Levels, PLACE, Sweep};
use crate::effect::{Effect, as_times};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

/// Which engine was fastest in a cell.
pub(super) struct Win<'a> {
    pub(super) cell: Levels,
    pub(super) best: &'a str,
    /// Engines that the best one does not beat by interval, itself included, in order of the sweep.
    pub(super) tied: Vec<&'a str>,
    pub(super) runner_up: &'a str,
    /// The runner-up's time over the best one's.
    pub(super) advantage: Effect,
    pub(super) slowest: &'a str,
    /// The slowest one's time over the best one's.
    pub(super) spread: Effect,
}

impl<'a> Win<'a> {
    /// `None` where fewer than two of these ran in the same blocks of a cell.
    pub(super) fn of(sweep: &Sweep<'a>, engines: &[&'a str], cell: &Levels) -> Option<Self> {
        let timed = engines.iter().filter_map(|e| Some((*e, sweep.median(e, cell, WALL)?)));
        let mut timed: Vec<(&str, f64)> = timed.collect();
        timed.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, _) = *timed.first()?;
        let best_time = sweep.wall(best, cell);
        let behind = |engine: &str| Effect::log_ratio(&sweep.wall(engine, cell), &best_time);
        let others = timed[1..].iter().filter_map(|(e, _)| Some((*e, behind(e)?)));
        let others: Vec<(&str, Effect)> = others.collect();
        let (runner_up, advantage) = others.first()?.clone();
        let (slowest, spread) = others.last()?.clone();
        let close = |engine: &&str| {
            let mut others = others.iter();
            *engine == best || others.any(|(e, effect)| e == engine && !effect.surely_above(0.0))
        };
        let tied = engines.iter().copied().filter(close).collect();
        let cell = cell.clone();
        Some(Self { cell, best, tied, runner_up, advantage, slowest, spread })
    }

    /// Whether there are blocks enough for any interval.
    fn is_judged(&self) -> bool {
        self.advantage.interval.is_some()
    }

    /// Whether the best one beats every other one by more than the interval.
    pub(super) fn is_clear(&self) -> bool {
        self.is_judged() && self.tied.len() == 1
    }

    /// "smol", "tie: rayon, smol", or what the medians say without an interval.
    pub(super) fn label(&self) -> String {
        match (self.is_judged(), self.tied.len()) {
            (false, _) => {
                let n = self.advantage.n();
                format!("cannot tell: {} by the median alone (n = {n})", self.best)
            }
            (true, 1) => self.best.to_owned(),
            (true, _) => format!("tie: {}", self.tied.join(", ")),
        }
    }

    /// The same, short enough for a field of the picture.
    fn mark(&self) -> String {
        match (self.is_judged(), self.tied.len()) {
            (false, _) => format!("{}?", self.best),
            (true, 1) => self.best.to_owned(),
            (true, _) => format!("tie of {}", self.tied.len()),
        }
    }
}

/// A win for every cell in which two engines or more ran, everything else as the base has it.
pub(super) fn wins<'a>(sweep: &Sweep<'a>) -> Vec<Win<'a>> {
    let engines = sweep.engines();
    let cells = sweep.cells_of(&engines).into_iter();
    let map = cells.filter(|cell| sweep.is_base_but(cell, &PLACE));
    map.filter_map(|cell| Win::of(sweep, &engines, cell)).collect()
}

pub(super) fn write(sweep: &Sweep, wins: &[Win], page: &mut Page) {
    page.heading("Who wins where: corpus, query and threads");
    if wins.is_empty() {
        page.paragraph("No cell was run by two engines, so there is no map.");
        return;
    }
    page.paragraph(
        "The engine with the smallest median wins a cell only where it beats every other one that \
         ran there, each paired by block, by more than the interval; else the cell is a tie \
         between all that it does not beat. The advantage is the runner-up's time over the \
         winner's. `sequential` is one thread whatever `threads` says; peers have their own \
         section. Exploratory, without a correction for the number of cells or for choosing the \
         winner by the same runs.",
    );
    page.data("crossover", &picture(sweep, wins));
    page.figure_by(
        ("crossover", "search-crossover.gp"),
        "Fastest engine by size of the corpus, share of lines that match, and threads; a tie is \
         what no interval tells apart, `?` marks the median of too few blocks",
        &note(sweep),
    );
    page.folded("wins", "The winner of every cell", &table(sweep, wins));
}

/// How a picture's cells were run, for its caption.
pub(super) fn note(sweep: &Sweep) -> String {
    let (blocks, cpus) = (sweep.study.frame.run_file.blocks, sweep.cpus());
    format!("{blocks} blocks on {cpus} CPUs")
}

/// A row per field of the picture, places by index.
fn picture(sweep: &Sweep, wins: &[Win]) -> Table {
    let levels = |factor: &str| {
        let mut levels: Vec<&String> = wins.iter().filter_map(|w| w.cell.get(factor)).collect();
        levels.sort_by_cached_key(|level| (sweep.level_rank(factor, level), (*level).clone()));
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
    let mut sorted: Vec<&Win> = wins.iter().collect();
    let panel = |win: &&Win| places[2].iter().position(|own| win.cell.get("threads") == Some(*own));
    sorted.sort_by_key(panel);
    for win in sorted {
        let place = |position: usize| {
            let level = win.cell.get(PLACE[position])?;
            let index = places[position].iter().position(|known| *known == level)?;
            Some([Cell::text(level), Cell::count(index)])
        };
        let (Some(corpus), Some(query), Some(threads)) = (place(0), place(1), place(2)) else {
            continue;
        };
        let mut row: Vec<Cell> = threads.into_iter().chain(corpus).chain(query).collect();
        row.push(Cell::text(win.best));
        row.push(Cell::text(win.mark()));
        row.push(Cell::text(show(win.advantage.estimate.exp(), Unit::Times)));
        row.push(Cell::count(usize::from(!win.is_clear())));
        table.row(row);
    }
    table
}

fn table(sweep: &Sweep, wins: &[Win]) -> Table {
    let mut table = Table::new(&[
        ("corpus", "corpus"),
        ("bytes", "bytes"),
        ("query", "query"),
        ("share of lines that match", "matching_share"),
        ("threads", "threads"),
        ("winner", "winner"),
        ("by the median", "best"),
        ("runner-up", "runner_up"),
        ("its time over the winner's", "advantage"),
        ("low", "advantage_low"),
        ("high", "advantage_high"),
        ("n", "n"),
        ("slowest", "slowest"),
        ("its time over the winner's", "spread"),
    ]);
    for win in wins {
        let level = |factor: &str| win.cell.get(factor).map_or("", String::as_str);
        let bytes = sweep.sizes.get(level("corpus")).map(|size| size.bytes);
        let mut row = vec![
            Cell::text(level("corpus")),
            Cell::value(bytes, Unit::Bytes),
            Cell::text(level("query")),
            Cell::value(sweep.selectivity(level("query")), Unit::Count),
            Cell::text(level("threads")),
            Cell::text(win.label()),
            Cell::code(win.best),
            Cell::code(win.runner_up),
        ];
        row.extend(as_times(Some(&win.advantage)));
        row.push(Cell::count(win.advantage.n()));
        row.push(Cell::code(win.slowest));
        row.push(Cell::Value(win.spread.estimate.exp(), Unit::Times));
        table.row(row);
    }
    table
}
