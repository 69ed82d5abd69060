//! Which engine is fastest where: corpus × query × threads, and which others it does not beat by
//! more than the interval.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Cell;
use lab_family::Unit::{Bytes, Times};
use lab_report::Column::{Code, Count, Interval, Number, Text, Words};
use lab_report::{Fastest, Page, Study, Table, number, show};

use super::order::Order;
use super::{engines, wall};
use crate::engines::PLACE;

/// Which engine was fastest in a cell.
struct Win<'a> {
    cell: Cell,
    engines: Fastest<&'a str>,
}

impl<'a> Win<'a> {
    /// `None` where fewer than two of these ran in the same blocks of a cell.
    fn of(study: &Study, engines: &[&'a str], cell: Cell) -> Option<Self> {
        let wall = wall(study);
        let timed = engines.iter().map(|engine| (*engine, study.series(engine, &cell, wall)));
        let engines = Fastest::of(&timed.collect::<Vec<_>>())?;
        Some(Self { cell, engines })
    }

    fn level(&self, factor: &str) -> &str {
        self.cell.get(factor).map_or("", String::as_str)
    }

    /// "smol", "tie: rayon, smol", or what the medians say without an interval.
    fn label(&self) -> String {
        let Fastest { best, tied, .. } = &self.engines;
        match (self.engines.is_judged(), tied.len()) {
            (false, _) => format!("{best}? (n = {})", self.engines.n()),
            (true, 1) => (*best).to_owned(),
            (true, _) => format!("tie: {}", tied.join(", ")),
        }
    }

    /// The same, short enough for a field of the picture.
    fn mark(&self) -> String {
        let Fastest { best, tied, .. } = &self.engines;
        match (self.engines.is_judged(), tied.len()) {
            (false, _) => format!("{best}?"),
            (true, 1) => (*best).to_owned(),
            (true, _) => format!("tie of {}", tied.len()),
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
        "The smallest median of a cell wins; engines whose paired ratio to it has an interval that \
         reaches 1 tie. {} Exploratory, not corrected for the number of cells.",
        counted(&wins)
    ));
    page.data("crossover", &picture(study, order, &shown(&wins)));
    page.figure_by(
        ("crossover", "search-crossover.gp"),
        "Fastest engine by size of the corpus, share of lines that match, and threads; `?` marks \
         the median of too few blocks; `wins.tsv` has all cells",
        &study.how_run(),
    );
    page.beside("wins", "The fastest engine of every cell and its advantage", &table(order, &wins));
}

/// "Of 59 cells, 3 go to `rayon` alone, 1 to `threads`; the others tie."
fn counted(wins: &[Win]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for win in wins.iter().filter(|win| win.engines.is_alone()) {
        *counts.entry(win.engines.best).or_default() += 1;
    }
    let listed: Vec<String> =
        counts.iter().map(|(engine, count)| format!("`{engine}` {count}")).collect();
    let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
    format!("Alone in front, of {} cells: {listed}; the other cells tie.", wins.len())
}

/// What the picture has. Its panels, one for each number of threads, are compared field by field:
/// a corpus or a query of one panel alone would be an empty row or column in all others, and a
/// single field is no panel.
fn shown<'a, 'b>(wins: &'a [Win<'b>]) -> Vec<&'a Win<'b>> {
    let threads_with = |factor: &str, win: &Win| {
        let alike = wins.iter().filter(|other| other.level(factor) == win.level(factor));
        alike.map(|other| other.level("threads")).collect::<BTreeSet<_>>().len()
    };
    let is_shared = |win: &&Win| ["corpus", "query"].iter().all(|f| threads_with(f, win) > 1);
    let shared: Vec<&Win> = wins.iter().filter(is_shared).collect();
    let fields = |win: &Win| {
        shared.iter().filter(|other| other.level("threads") == win.level("threads")).count()
    };
    let panels: Vec<&Win> = shared.iter().copied().filter(|win| fields(win) > 1).collect();
    if panels.is_empty() { wins.iter().collect() } else { panels }
}

/// A row per field of the picture, places by index.
fn picture(study: &Study, order: &Order, wins: &[&Win]) -> Table {
    let levels = |factor: &'static str| {
        let mut levels: Vec<&String> = wins.iter().filter_map(|w| w.cell.get(factor)).collect();
        levels.sort_by_cached_key(|level| order.rank(study, factor, level));
        levels.dedup();
        levels
    };
    let places = PLACE.map(levels);
    let index = |win: &Win, place: usize| {
        let level = win.cell.get(PLACE[place])?;
        places[place].iter().position(|known| *known == level)
    };
    let place = |win: &Win, place| index(win, place).map(|index| index as f64);
    let mut sorted: Vec<&Win> = wins.to_vec();
    // A panel of the picture for each number of threads.
    sorted.sort_by_key(|win| index(win, 2));
    Table::over(
        sorted,
        &[
            Text("", "threads", &|win| win.level("threads")),
            number("threads_index", &|win| place(win, 2)),
            Text("", "corpus", &|win| win.level("corpus")),
            number("corpus_index", &|win| place(win, 0)),
            Text("", "query", &|win| win.level("query")),
            number("query_index", &|win| place(win, 1)),
            Text("", "engine", &|win| win.engines.best),
            Words("", "label", &|win| win.mark()),
            Words("", "advantage", &|win| show(win.engines.advantage().estimate, Times)),
            Count("", "tie", &|win| usize::from(!win.engines.is_alone())),
        ],
    )
}

fn table(order: &Order, wins: &[Win]) -> Table {
    Table::over(
        wins,
        &[
            Text("", "corpus", &|win| win.level("corpus")),
            Number("", "bytes", Bytes, &|win| order.bytes(win.level("corpus"))),
            Text("", "query", &|win| win.level("query")),
            number("matching_share", &|win| order.matching(win.level("query"))),
            Text("", "threads", &|win| win.level("threads")),
            Words("", "winner", &|win| win.label()),
            Code("", "best", &|win| win.engines.best),
            Code("", "runner_up", &|win| win.engines.runner_up().0),
            Interval("", "advantage", &|win| Some(win.engines.advantage())),
            Count("", "n", &|win| win.engines.n()),
            Code("", "slowest", &|win| win.engines.slowest().0),
            Number("", "spread", Times, &|win| Some(win.engines.slowest().1.estimate.exp())),
        ],
    )
}
