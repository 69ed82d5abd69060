//! Bytes per second of every program, beside the memory's own measured bandwidth.

use std::collections::BTreeMap;

use lab_family::Cell;
use lab_family::Unit::{self, Share};
use lab_report::Column::{Interval, Number, Text};
use lab_report::{Page, Reading, Study, Table, number, show, study::without};

use super::{engines, peers};
use crate::engines::READ;
use crate::engines::metrics::{bandwidth, page_cache};

pub(super) fn write(study: &Study, page: &mut Page) {
    let Some(place) = fullest_place(study) else { return };
    let bandwidth = bandwidth(study.frame);
    page.heading("How near to the memory's speed");
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

/// A bar of the picture, or a line over the bars.
struct Bar<'s> {
    program: &'s str,
    kind: &'static str,
    read: &'s str,
    speed: Reading,
    memory_share: Option<f64>,
}

fn table(study: &Study, place: &Cell, bandwidth: Option<f64>) -> Table {
    let kinds = [("engine", engines(study)), ("peer", peers(study))];
    let programs = kinds.into_iter();
    let programs = programs.flat_map(|(kind, all)| all.into_iter().map(move |name| (kind, name)));
    let in_place = |(kind, program)| {
        let cells = study.cells(program).into_iter().filter(|cell| without(cell, READ) == *place);
        cells.filter_map(move |cell| {
            let speed = study.series(program, cell, "gigabytes_per_s");
            Some(Bar {
                program,
                kind,
                read: cell.get(READ).map_or("", String::as_str),
                speed: Reading::level(&speed, Unit::Count)?,
                memory_share: study.median(program, cell, "memory_share"),
            })
        })
    };
    let ceiling = |(program, speed): (&'static str, f64)| Bar {
        program,
        kind: "ceiling",
        read: "",
        speed: Reading { estimate: speed, low_high: None, n: 0, unit: Unit::Count },
        memory_share: bandwidth.map(|all| speed / all),
    };
    // The picture draws bars first and then lines over them.
    let page_cache = page_cache(study.frame).map(|speed| ("page cache, copied", speed));
    let memory = bandwidth.map(|speed| ("memory bandwidth", speed));
    let ceilings = page_cache.into_iter().chain(memory).map(ceiling);
    let n = |bar: &Bar| (bar.speed.n > 0).then_some(bar.speed.n as f64);
    Table::over(
        programs.flat_map(in_place).chain(ceilings),
        &[
            Text("", "program", &|bar| bar.program),
            Text("", "kind", &|bar| bar.kind),
            Text("", "read", &|bar| bar.read),
            number("n", &|bar| n(bar)),
            Interval("", "gigabytes_per_s", &|bar| Some(bar.speed)),
            Number("", "memory_share", Share, &|bar| bar.memory_share),
        ],
    )
}
