//! The curve over workers: time, rate and speed-up of every variant at every count.

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Reading, Series, Study, Table, centre, study::with};

use super::workers::{
    PLAIN, counts, curves, elapsed, factors_of, floor_elapsed, ledgers, transactions_of,
};

/// More panels than this are not legible on one picture; the table has them all.
const MOST_PANELS: usize = 9;

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("The curve over workers");
    let panels = panels(study);
    let table = table(study, &panels);
    if table.is_empty() {
        page.paragraph(
            "No variant ran with more than one number of workers, so there is no curve.",
        );
        return;
    }
    page.paragraph(
        "Every cell with several levels of `workers`, with paired speed-ups over one worker and \
         over the floor: `curve.tsv`. Exploratory.",
    );
    page.data("panels", &panel_table(study, &panels));
    page.figure_by(
        ("curve", "threads-curve.gp"),
        "Time of one transaction over the number of workers, median and interval over blocks; the \
         grey line is one thread without a runtime",
        &study.how_run(),
    );
    page.data("curve", &table);
}

/// The cells to draw: the default one but for streams, transactions, kinds and contention, with as
/// many numbers of workers as any.
fn panels(study: &Study) -> Vec<Cell> {
    let mut found: Vec<(Cell, usize)> = Vec::new();
    for variant in ledgers(study) {
        for (rest, levels) in curves(study, variant) {
            let points = counts(&levels).len();
            if points < 2 || !study.is_default_but(&rest, &PLAIN) {
                continue;
            }
            match found.iter_mut().find(|(cell, _)| *cell == rest) {
                Some((_, most)) => *most = points.max(*most),
                None => found.push((rest, points)),
            }
        }
    }
    let most = found.iter().map(|(_, points)| *points).max().unwrap_or(0);
    let full = found.into_iter().filter(|(_, points)| *points == most).map(|(cell, _)| cell);
    full.take(MOST_PANELS).collect()
}

fn panel_table(study: &Study, panels: &[Cell]) -> Table {
    let floor = |rest: &Cell| {
        let floor = centre(&floor_elapsed(study, rest)).zip(transactions_of(study, rest));
        floor.map(|(ns, count)| ns / count)
    };
    Table::of(
        panels.iter().enumerate(),
        &[
            ("panel", "panel", &|(position, _)| Entry::count(*position)),
            ("title", "title", &|(_, rest)| Entry::text(study.label(rest))),
            ("sync", "sync_ns_per_transaction", &|(_, rest)| Entry::value(floor(rest), Unit::Ns)),
        ],
    )
}

fn table(study: &Study, panels: &[Cell]) -> Table {
    let factors = factors_of(study.family);
    let mut columns = vec!["variant"];
    columns.extend(&factors);
    columns.extend([
        "n",
        "elapsed_ns",
        "elapsed_low_ns",
        "elapsed_high_ns",
        "transactions_per_s",
        "ns_per_transaction",
        "ns_per_transaction_low",
        "ns_per_transaction_high",
        "speed_up_one",
        "speed_up_one_low",
        "speed_up_one_high",
        "speed_up_sync",
        "speed_up_sync_low",
        "speed_up_sync_high",
        "panel",
        "speed_up_per_worker",
        "streams_per_worker",
    ]);
    let columns: Vec<(&str, &str)> = columns.into_iter().map(|key| (key, key)).collect();
    let mut table = Table::new(&columns);
    for variant in study.variants() {
        for (rest, levels) in curves(study, variant) {
            if levels.len() < 2 {
                continue;
            }
            let panel = panels.iter().position(|cell| *cell == rest);
            let one = elapsed(study, variant, &rest, "1");
            let floor = floor_elapsed(study, &rest);
            for level in &levels {
                let cell = with(&rest, "workers", level);
                let time = elapsed(study, variant, &rest, level);
                let levels = factors.iter().map(|factor| cell.get(*factor));
                let mut row = vec![Entry::text(variant)];
                row.extend(levels.map(|level| level.map_or(Entry::Missing, Entry::text)));
                row.extend(times(&time, transactions_of(study, &rest)));
                row.extend(Reading::entries(Reading::ratio(&one, &time)));
                row.extend(Reading::entries(Reading::ratio(&floor, &time)));
                row.push(panel.map_or(Entry::Missing, Entry::count));
                let workers = level.parse::<f64>().ok();
                let speed_up = Reading::ratio(&one, &time).map(|speed_up| speed_up.estimate);
                let streams = cell.get("streams").and_then(|level| level.parse::<f64>().ok());
                for (value, unit) in [(speed_up, Unit::Times), (streams, Unit::Count)] {
                    let each = value.zip(workers).map(|(value, workers)| value / workers);
                    row.push(Entry::value(each, unit));
                }
                table.row(row);
            }
        }
    }
    table
}

/// n; median, low and high; rate; the three again per transaction.
fn times(time: &Series, transactions: Option<f64>) -> Vec<Entry> {
    let reading = Reading::level(time, Unit::Ns);
    let per = reading.zip(transactions).map(|(time, count)| time.over(count));
    let rate = reading.zip(transactions).map(|(time, count)| 1e9 * count / time.estimate);
    let mut entries = vec![Entry::count(time.len())];
    entries.extend(Reading::entries(reading));
    entries.push(Entry::value(rate, Unit::PerSecond));
    entries.extend(Reading::entries(per));
    entries
}
