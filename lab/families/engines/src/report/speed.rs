//! Bytes per second of every program, beside the memory's own measured bandwidth.

use std::collections::BTreeMap;

use lab_family::{Cell, Unit};
use lab_report::page::Page;
use lab_report::reading::Reading;
use lab_report::study::{Study, without};
use lab_report::tables::{Entry, Table, show};

use super::{engines, peers};
use crate::READ;
use crate::metrics::bandwidth;

pub(super) fn write(study: &Study, page: &mut Page) {
    let Some(place) = fullest_place(study) else { return };
    page.heading("How near to the memory's speed");
    let bandwidth = bandwidth(study.frame);
    page.paragraph(&format!(
        "Cell: {}, the one in which most programs ran, both ways of reading. Bytes of the corpus \
         over the time of the whole process. {}",
        study.label(&place),
        match bandwidth {
            Some(speed) => format!(
                "Memory bandwidth, as a session measured it: {} GB/s.",
                show(speed, Unit::Count)
            ),
            None =>
                "**No session measured the memory's bandwidth**, so its share is absent.".into(),
        }
    ));
    page.table("roofline", &table(study, &place, bandwidth));
    page.figure_by(
        ("roofline", "search-roofline.gp"),
        "Gigabytes per second of every engine and peer, median and interval over blocks; dashed: \
         the memory's bandwidth, where measured",
        &format!("{}; {}", study.label(&place), sweep(study)),
    );
}

/// How a picture's cells were run, for its caption.
pub(super) fn sweep(study: &Study) -> String {
    format!("{} blocks on {} CPUs", study.frame.run_file.blocks, study.cpus())
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
    let mut table = Table::new(&[
        ("program", "program"),
        ("kind", "kind"),
        ("read", "read"),
        ("n", "n"),
        ("GB/s", "gigabytes_per_s"),
        ("low", "gigabytes_per_s_low"),
        ("high", "gigabytes_per_s_high"),
        ("of memory bandwidth", "memory_share"),
    ]);
    for (kind, programs) in [("engine", engines(study)), ("peer", peers(study))] {
        for program in programs {
            for cell in
                study.cells(program).into_iter().filter(|cell| without(cell, READ) == *place)
            {
                let speed = study.series(program, cell, "gigabytes_per_s");
                let Some(speed) = Reading::level(&speed, Unit::Count) else { continue };
                let mut row = vec![
                    Entry::code(program),
                    Entry::text(kind),
                    Entry::text(cell.get(READ).map_or("", String::as_str)),
                    Entry::count(speed.n),
                ];
                row.extend(Reading::entries(Some(&speed)));
                let share = study.median(program, cell, "memory_share");
                row.push(Entry::value(share, Unit::Share));
                table.row(row);
            }
        }
    }
    // The picture draws bars first and then a line over them.
    if let Some(speed) = bandwidth {
        table.row(vec![
            Entry::text("memory bandwidth"),
            Entry::text("ceiling"),
            Entry::text(""),
            Entry::Missing,
            Entry::Value(speed, Unit::Count),
            Entry::Missing,
            Entry::Missing,
            Entry::Value(1.0, Unit::Share),
        ]);
    }
    table
}
