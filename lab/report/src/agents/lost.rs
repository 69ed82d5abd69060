//! Where the efficiency went, and when agents really disturbed each other.

use super::Page;
use super::answers::mean_split;
use super::spread::configurations;
use crate::frame::configuration;
use crate::measure::Unit;
use crate::study::Study;
use crate::tables::{Cell, Table};

/// The published flag: speed-up as published below this.
const PUBLISHED_FLAG: f64 = 1.5;
/// The measured flag: the server's contention takes more than this of N times the wall time.
const CONTENTION_FLAG: f64 = 0.05;

pub(super) fn write(study: &Study, page: &mut Page) {
    page.heading("Where the efficiency went");
    let table = by_variant(study);
    if table.is_empty() {
        page.paragraph(
            "No concurrent run has a solo baseline and the server's times, so the loss cannot be \
             split.",
        );
    } else {
        page.paragraph(
            "Means over runs, as shares of N × wall; the three parts sum to the loss (formulas in \
             docs/METHODOLOGY.md). A negative part is a gain: an agent that waits leaves the \
             server to the other one.",
        );
        page.table("loss", &table);
        page.folded("loss-by-cell", "By configuration", &by_cell(study));
        super::figures::loss(study, page);
    }
    flags(study, page);
}

const COLUMNS: [(&str, &str); 6] = [
    ("variant", "variant"),
    ("runs", "runs"),
    ("loss", "loss"),
    ("imbalance", "imbalance"),
    ("server contention", "server_contention"),
    ("client remainder", "client_remainder"),
];

fn by_variant(study: &Study) -> Table {
    let mut table = Table::new(&COLUMNS);
    for variant in study.measured_variants() {
        let runs =
            study.concurrent_of(variant).filter(|one| one.value("loss_share").is_some()).count();
        let Some(split) = mean_split(study.concurrent_of(variant)) else { continue };
        let mut row = vec![Cell::code(variant), Cell::count(runs)];
        row.extend(split.map(|share| Cell::value(Some(share), Unit::Share)));
        table.row(row);
    }
    table
}

fn by_cell(study: &Study) -> Table {
    let mut columns = COLUMNS.to_vec();
    columns[1] = ("configuration", "config");
    let mut table = Table::new(&columns);
    for variant in study.measured_variants() {
        for config in configurations(study) {
            let runs = study.concurrent_of(variant);
            let here = runs.filter(|one| configuration(&one.row.run) == config);
            let Some(split) = mean_split(here) else { continue };
            let mut row = vec![Cell::code(variant), Cell::text(&config)];
            row.extend(split.map(|share| Cell::value(Some(share), Unit::Share)));
            table.row(row);
        }
    }
    table
}

/// The published contention flag beside a measured one.
fn flags(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("runs", "runs"),
        ("flagged as published", "published"),
        ("flagged by measurement", "measured"),
        ("flagged by both", "both"),
    ]);
    for variant in study.measured_variants() {
        let pairs: Vec<(bool, bool)> = study
            .concurrent_of(variant)
            .filter_map(|one| {
                let published = one.value("speed_up_as_published")? < PUBLISHED_FLAG;
                let contention = one.value("loss_server_contention_share")?;
                Some((published, contention > CONTENTION_FLAG))
            })
            .collect();
        if pairs.is_empty() {
            continue;
        }
        let count = |keep: fn(&(bool, bool)) -> bool| {
            Cell::count(pairs.iter().filter(|pair| keep(pair)).count())
        };
        table.row(vec![
            Cell::code(variant),
            Cell::count(pairs.len()),
            count(|(published, _)| *published),
            count(|(_, measured)| *measured),
            count(|(published, measured)| *published && *measured),
        ]);
    }
    if table.is_empty() {
        return;
    }
    page.paragraph(&format!(
        "Contention, flagged twice: as published (speed-up as published below {PUBLISHED_FLAG}) \
         and as measured (server contention above {} % of N × wall).",
        100.0 * CONTENTION_FLAG
    ));
    page.table("contention", &table);
}
