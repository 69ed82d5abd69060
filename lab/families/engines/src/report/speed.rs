//! Bytes per second of every program, beside the memory's own measured bandwidth.

use std::collections::BTreeMap;

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Reading, Study, Table, show, study::without};

use super::{engines, peers};
use crate::READ;
use crate::metrics::{bandwidth, page_cache};

pub(super) fn write(study: &Study, page: &mut Page) {
    let Some(place) = fullest_place(study) else { return };
    page.heading("How near to the memory's speed");
    let bandwidth = bandwidth(study.frame);
    page.paragraph(&format!(
        "Bytes of the corpus over the time of the whole process, in {}: `roofline.tsv`. {}",
        study.label(&place),
        match bandwidth {
            Some(speed) => format!("Memory bandwidth: {} GB/s.", show(speed, Unit::Count)),
            None =>
                "**No session measured the memory's bandwidth**, so its share is absent.".into(),
        }
    ));
    page.data("roofline", &table(study, &place, bandwidth));
    page.figure_by(
        ("roofline", "search-roofline.gp"),
        "Gigabytes per second of every engine and peer, median and interval over blocks; dashed: \
         the memory's bandwidth, where measured",
        &format!("{}; {}", study.label(&place), study.how_run()),
    );
}

/// The cell without its way of reading in which most programs ran.
fn fullest_place(study: &Study) -> Option<Cell> {
    let mut programs: BTreeMap<Cell, usize> = BTreeMap::new();
    for program in study.variants() {
        for (place, _) in study.along(program, READ) {
            *programs.entry(place).or_default() += 1;
        }
    }
    programs.into_iter().max_by_key(|(_, count)| *count).map(|(place, _)| place)
}

fn table(study: &Study, place: &Cell, bandwidth: Option<f64>) -> Table {
    let at = |cell: &&Cell| without(cell, READ) == *place;
    let in_place = |(kind, program)| {
        let cells = study.cells(program).into_iter().filter(at);
        cells.map(move |cell| (kind, program, cell))
    };
    let engines = engines(study).into_iter().map(|program| ("engine", program));
    let peers = peers(study).into_iter().map(|program| ("peer", program));
    let timed = engines.chain(peers).flat_map(in_place).filter_map(|(kind, program, cell)| {
        let speed = study.series(program, cell, "gigabytes_per_s");
        Some((kind, program, cell, Reading::level(&speed, Unit::Count)?))
    });
    let read = |cell: &Cell| cell.get(READ).cloned().unwrap_or_default();
    let share = |program, cell| study.median(program, cell, "memory_share");
    let mut table = Table::of(
        timed,
        &[
            ("program", "program", &|(_, program, ..)| Entry::code(program)),
            ("", "kind", &|(kind, ..)| Entry::text(*kind)),
            ("read", "read", &|(_, _, cell, _)| Entry::text(read(cell))),
            ("n", "n", &|(.., speed)| Entry::count(speed.n)),
            ("GB/s", "", &|(.., speed)| Reading::in_short(Some(*speed))),
            ("", "gigabytes_per_s", &|(.., speed)| Reading::middle(Some(*speed))),
            ("", "gigabytes_per_s_low", &|(.., speed)| Reading::low(Some(*speed))),
            ("", "gigabytes_per_s_high", &|(.., speed)| Reading::high(Some(*speed))),
            ("of memory bandwidth", "memory_share", &|(_, program, cell, _)| {
                Entry::value(share(program, cell), Unit::Share)
            }),
        ],
    );
    // The picture draws bars first and then lines over them.
    let page_cache = page_cache(study.frame).map(|speed| ("page cache, copied", speed));
    let memory = bandwidth.map(|speed| ("memory bandwidth", speed));
    for (name, speed) in page_cache.into_iter().chain(memory) {
        table.row(vec![
            Entry::text(name),
            Entry::text("ceiling"),
            Entry::text(""),
            Entry::Missing,
            Entry::Missing,
            Entry::Value(speed, Unit::Count),
            Entry::Missing,
            Entry::Missing,
            Entry::value(bandwidth.map(|all| speed / all), Unit::Share),
        ]);
    }
    table
}
