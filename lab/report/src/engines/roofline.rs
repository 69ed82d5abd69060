//! How near to the memory's speed: bytes per second of every engine, a newline scan, and the
//! machine's own measured bandwidth where a session recorded one.

use lab_stats::interval::median_interval;

use super::sweep::{Cell as Levels, NEWLINE_SCAN, Sweep};
use crate::effect::CONFIDENCE;
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table, show};

/// What the machine can read from memory, if a session said so.
pub(super) struct Bandwidth {
    /// The key it was recorded under.
    name: String,
    pub(super) gigabytes_per_s: f64,
}

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("How near to the memory's speed");
    let bandwidth = bandwidth(sweep);
    let table = table(sweep, bandwidth.as_ref());
    if table.is_empty() {
        page.paragraph(&format!(
            "Nothing ran in the cell that this is read from ({}).",
            sweep.label(&sweep.bars_cell())
        ));
        return;
    }
    page.paragraph(&format!(
        "Cell: {}, both ways of reading. Bytes of the corpus over the time of the whole process, \
         median and interval over rounds. `{NEWLINE_SCAN}` maps the files and counts newlines with \
         as many threads: the practical ceiling. {}",
        sweep.label(&sweep.bars_cell()),
        match &bandwidth {
            Some(found) => format!(
                "Memory bandwidth, as the session measured it (`{}`): {} GB/s.",
                found.name,
                show(found.gigabytes_per_s, Unit::Count)
            ),
            None => "**Memory bandwidth: no session recorded one**, so its share is absent.".into(),
        }
    ));
    page.table("roofline", &table);
    page.figure_by(
        ("roofline", "search-roofline.gp"),
        "Gigabytes per second of every engine and peer, median and interval over rounds; dashed: \
         the newline scan and, where measured, the memory's bandwidth",
        &format!("{}; {}", sweep.label(&sweep.bars_cell()), super::crossover::note(sweep)),
    );
}

fn table(sweep: &Sweep, bandwidth: Option<&Bandwidth>) -> Table {
    let mut table = Table::new(&[
        ("program", "program"),
        ("kind", "kind"),
        ("read", "read"),
        ("n", "n"),
        ("GB/s", "gigabytes_per_s"),
        ("low", "gigabytes_per_s_low"),
        ("high", "gigabytes_per_s_high"),
        ("of the newline scan", "newline_scan_share"),
        ("of memory bandwidth", "memory_share"),
    ]);
    let base = &sweep.bars_cell();
    let speed = |variant: &str, cell: &Levels| sweep.series(variant, cell, "gigabytes_per_s");
    let scan = sweep.best_read(NEWLINE_SCAN, base);
    let scan = scan.and_then(|cell| sweep.median(NEWLINE_SCAN, cell, "gigabytes_per_s"));
    let rest = super::sweep::without(base, "read");
    let mut add = |program: &str, kind: &str, cell: &Levels| {
        let values: Vec<f64> = speed(program, cell).values().copied().collect();
        let Some(middle) = lab_stats::describe::median(&values) else { return };
        let interval = median_interval(&values, CONFIDENCE);
        let share = |of: Option<f64>| Cell::value(of.map(|of| middle / of), Unit::Share);
        table.row(vec![
            Cell::code(program),
            Cell::text(kind),
            Cell::text(cell.get("read").map_or("", String::as_str)),
            Cell::count(values.len()),
            Cell::Value(middle, Unit::Count),
            Cell::value(interval.map(|i| i.low), Unit::Count),
            Cell::value(interval.map(|i| i.high), Unit::Count),
            share(scan),
            share(bandwidth.map(|found| found.gigabytes_per_s)),
        ]);
    };
    let (ceilings, peers): (Vec<&str>, Vec<&str>) =
        sweep.peers().into_iter().partition(|peer| *peer == NEWLINE_SCAN);
    // The picture draws bars first and then lines over them.
    for (kind, programs) in [("engine", sweep.engines()), ("peer", peers), ("ceiling", ceilings)] {
        for program in programs {
            let cells = sweep.cells(program).into_iter();
            let here = cells.filter(|cell| super::sweep::without(cell, "read") == rest);
            here.for_each(|cell| add(program, kind, cell));
        }
    }
    if let Some(found) = bandwidth.filter(|_| !table.is_empty()) {
        table.row(vec![
            Cell::text("memory bandwidth"),
            Cell::text("ceiling"),
            Cell::text(""),
            Cell::Missing,
            Cell::Value(found.gigabytes_per_s, Unit::Count),
            Cell::Missing,
            Cell::Missing,
            Cell::value(scan.map(|scan| found.gigabytes_per_s / scan), Unit::Share),
            Cell::Value(1.0, Unit::Share),
        ]);
    }
    table
}

/// The last session's floor for reading memory in bytes per second; the largest where it
/// measured several (with several threads).
pub(super) fn bandwidth(sweep: &Sweep) -> Option<Bandwidth> {
    let sessions = sweep.study.frame.sessions.iter().rev();
    let mut floors = sessions.filter_map(|session| session.environment.get("floors")?.as_object());
    floors.find_map(|floors| {
        let memory = floors.iter().filter_map(|(name, value)| {
            let is_speed = name.starts_with("memory") && name.ends_with("bytes_per_s");
            let gigabytes_per_s = value.as_f64().filter(|_| is_speed)? / 1e9;
            Some(Bandwidth { name: name.clone(), gigabytes_per_s })
        });
        memory.max_by(|a, b| a.gigabytes_per_s.total_cmp(&b.gigabytes_per_s))
    })
}
