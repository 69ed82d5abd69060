//! Other programs with the nearest question, in the same rounds, and their counts beside ours.

use super::measure::WALL;
use super::sweep::{Cell as Levels, NEWLINE_SCAN, Sweep};
use crate::effect::{Effect, as_times};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("Peers");
    let peers = sweep.peers();
    if peers.is_empty() {
        page.paragraph("No peer has an analysed run in these records.");
        return;
    }
    page.paragraph(
        "Each peer, read or mapped where it can do both, against the fastest engine (same corpus, \
         query and threads, whichever way that reads), paired by round. A peer asks the nearest \
         question that it can: those that search text find the word anywhere in the line and not \
         in the message alone, so their counts may differ from the floor's, and the difference \
         stands here. Equal counts do not make equal work: a peer neither parses nor sorts unless \
         it has to. A small program of ours starts a peer and adds up its counts; its start is \
         part of the peer's time.",
    );
    let mut table = Table::new(&[
        ("cell", "cell"),
        ("peer", "peer"),
        ("n", "n"),
        ("time", "median_ns"),
        ("GB/s", "gigabytes_per_s"),
        ("cores used", "cores_used"),
        ("best engine", "engine"),
        ("its time", "engine_ns"),
        ("peer's time over it", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
        ("found", "matches"),
        ("the floor found", "floor_matches"),
        ("counts", "counts"),
    ]);
    for cell in sweep.cells_of(&peers) {
        let best = sweep.fastest(&sweep.engines(), cell);
        let here = peers.iter().filter(|peer| sweep.cells(peer).contains(&cell));
        here.for_each(|peer| table.row(row(sweep, peer, cell, best)));
    }
    page.table("peers", &table);
}

fn row(sweep: &Sweep, peer: &str, cell: &Levels, best: Option<(&str, &Levels)>) -> Vec<Cell> {
    let time = sweep.wall(peer, cell);
    let engine_time = best.map(|(engine, own)| sweep.wall(engine, own)).unwrap_or_default();
    let of = |metric: &str, unit| Cell::value(sweep.median(peer, cell, metric), unit);
    let found = sweep.median(peer, cell, "matches").filter(|_| peer != NEWLINE_SCAN);
    let floor = floor_matches(sweep, peer, cell);
    let mut row = vec![
        Cell::text(sweep.label(cell)),
        Cell::code(peer),
        Cell::count(time.len()),
        of(WALL, Unit::Ns),
        of("gigabytes_per_s", Unit::Count),
        of("cores_used", Unit::Count),
        best.map_or(Cell::Missing, |(engine, own)| {
            let read = own.get("read").map_or("", String::as_str);
            Cell::text(format!("`{engine}` (read {read})"))
        }),
        Cell::value(super::sweep::centre(&engine_time), Unit::Ns),
    ];
    row.extend(as_times(Effect::log_ratio(&time, &engine_time).as_ref()));
    row.push(Cell::value(found, Unit::Count));
    row.push(Cell::value(floor, Unit::Count));
    row.push(Cell::text(match found.zip(floor) {
        None if peer == NEWLINE_SCAN => "looks for no word".to_owned(),
        None => "not counted".to_owned(),
        Some((found, floor)) if found == floor => "equal".to_owned(),
        Some((found, floor)) => format!("{:+} lines", found - floor),
    }));
    row
}

/// What the floor found where the peer looked.
fn floor_matches(sweep: &Sweep, peer: &str, cell: &Levels) -> Option<f64> {
    let runs = sweep.study.all.iter();
    let mut here = runs.filter(|one| one.variant() == peer && one.row.run.cell == *cell);
    let count = here.find_map(|one| one.row.samples.raw("floor_matches")?.first().copied());
    count.map(|count| count as f64)
}
