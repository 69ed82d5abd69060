//! Where the time goes inside an engine, and what it takes from the machine.

use super::measure::{PHASES, WALL};
use super::roofline::bandwidth;
use super::sweep::{Cell as Levels, Sweep, centre, without};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Where the time goes");
    let shown = shown(sweep);
    if shown.is_empty() {
        page.paragraph("No engine ran in the cells that this is read from.");
        return;
    }
    page.paragraph(
        "Shares of the time that the engine's own clock saw in its five phases (summed over \
         workers where they overlap, so the sum may be a multiple of the time that passed); \
         medians over rounds. With mmap, reading shows as page faults inside *scan*. \"Outside\" \
         is the time of the process before and after the search: start, arguments, output, exit, \
         and, with a cold cache, dropping the files.",
    );
    page.table("phases", &phases(sweep, &shown));
    page.paragraph(
        "What it takes: bytes and files over the whole process's time, CPU time (user + system), \
         cores used (CPU time over time), page faults, memory, and the share of lines that the \
         prefilter lets through to the parser. Bytes touched per byte of file are those read \
         (copied into a buffer and scanned there, or scanned where they are mapped) and, again, \
         those given to the parser. The share of the memory's bandwidth is that of bytes of file; \
         it is absent where no session measured the memory.",
    );
    page.table("resources", &resources(sweep, &shown));
    let engines = sweep.engines();
    let all: Vec<(&str, &Levels)> = engines
        .iter()
        .flat_map(|engine| sweep.cells(engine).into_iter().map(|cell| (*engine, cell)))
        .collect();
    page.data("phases-all", &phases(sweep, &all));
    page.data("resources-all", &resources(sweep, &all));
    page.paragraph(
        "The same of every engine in every cell: `phases-all.tsv`, `resources-all.tsv`.",
    );
}

/// Engines in the published table's cell and in the bars' cell, both ways of reading.
fn shown<'s>(sweep: &'s Sweep) -> Vec<(&'s str, &'s Levels)> {
    let published = sweep.published();
    let bars = without(&sweep.bars_cell(), "read");
    let is_shown =
        |cell: &Levels| Some(cell) == published.as_ref() || without(cell, "read") == bars;
    let engines = sweep.engines();
    let cells = sweep.cells_of(&engines).into_iter().filter(|cell| is_shown(cell));
    let places = cells.flat_map(|cell| engines.iter().map(move |engine| (*engine, cell)));
    places.filter(|(engine, cell)| !sweep.wall(engine, cell).is_empty()).collect()
}

fn phases(sweep: &Sweep, places: &[(&str, &Levels)]) -> Table {
    let mut columns = vec![("cell", "cell"), ("engine", "engine"), ("n", "n")];
    columns.push(("process", "process_ns"));
    columns.push(("search", "search_ns"));
    columns.push(("outside", "outside_search_ns"));
    columns.extend(PHASES.map(|(_, share)| (share.trim_end_matches("_share"), share)));
    columns.push(("phases over search", "phases_over_search"));
    let mut table = Table::new(&columns);
    for (engine, cell) in places {
        let median = |metric: &str| sweep.median(engine, cell, metric);
        let mut row = vec![
            Cell::text(sweep.label(cell)),
            Cell::code(engine),
            Cell::count(sweep.wall(engine, cell).len()),
            Cell::value(median(WALL), Unit::Ns),
            Cell::value(median("wall_ns"), Unit::Ns),
            Cell::value(median("outside_search_ns"), Unit::Ns),
        ];
        row.extend(PHASES.map(|(_, share)| Cell::value(median(share), Unit::Share)));
        let sum: Option<f64> = PHASES.iter().map(|(counter, _)| median(counter)).sum();
        let over = sum.zip(median("wall_ns")).map(|(sum, search)| sum / search);
        row.push(Cell::value(over, Unit::Times));
        table.row(row);
    }
    table
}

fn resources(sweep: &Sweep, places: &[(&str, &Levels)]) -> Table {
    let metrics = [
        ("GB/s", "gigabytes_per_s", Unit::Count),
        ("files/s", "files_per_s", Unit::PerSecond),
        ("CPU", "cpu_ns", Unit::Ns),
        ("cores used", "cores_used", Unit::Count),
        ("page faults", "page_faults", Unit::Count),
        ("major", "page_faults_major", Unit::Count),
        ("memory", "rss_high_water_bytes", Unit::Bytes),
        ("switches, voluntary", "voluntary_switches", Unit::Count),
        ("involuntary", "involuntary_switches", Unit::Count),
        ("threads", "threads", Unit::Count),
        ("share of lines parsed", "parsed_share", Unit::Count),
        ("bytes touched per byte of file", "touched_per_byte", Unit::Times),
        ("read", "read_per_byte", Unit::Times),
        ("parsed", "parsed_per_byte", Unit::Times),
    ];
    let mut columns = vec![("cell", "cell"), ("engine", "engine"), ("n", "n")];
    columns.extend(metrics.map(|(title, key, _)| (title, key)));
    columns.push(("of memory bandwidth", "memory_share"));
    let bandwidth = bandwidth(sweep).map(|found| found.gigabytes_per_s);
    let mut table = Table::new(&columns);
    for (engine, cell) in places {
        let value = |(_, metric, unit): (&str, &str, Unit)| {
            Cell::value(centre(&sweep.series(engine, cell, metric)), unit)
        };
        let mut row = vec![
            Cell::text(sweep.label(cell)),
            Cell::code(engine),
            Cell::count(sweep.wall(engine, cell).len()),
        ];
        row.extend(metrics.map(value));
        let speed = sweep.median(engine, cell, "gigabytes_per_s");
        let share = speed.zip(bandwidth).map(|(speed, all)| speed / all);
        row.push(Cell::value(share, Unit::Share));
        table.row(row);
    }
    table
}
