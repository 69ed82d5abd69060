//! The curve over workers: time, rate and speed-up of every variant at every count.

use lab_stats::interval::median_interval;

use super::sweep::{Cell as Levels, FACTORS, Sweep, centre, counts, with};
use crate::effect::{CONFIDENCE, Effect, Series, as_times};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// More panels than this are not legible on one picture; the table has them all.
const MOST_PANELS: usize = 9;

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("The curve over workers");
    let panels = panels(sweep);
    let table = table(sweep, &panels);
    if table.is_empty() {
        page.paragraph(
            "No variant ran with more than one number of workers, so there is no curve.",
        );
        return;
    }
    page.paragraph(
        "Every cell that was run with several levels of `workers`. Time is the median over blocks \
         with its interval (order statistics, six blocks or more); speed-up is time at one worker, \
         or of `sync` on the same data, over the time here, paired by block (Hodges and Lehmann). \
         Exploratory: verdicts come from the declared comparisons and contrasts.",
    );
    page.data("panels", &panel_table(sweep, &panels));
    page.figure_by(
        ("curve", "threads-curve.gp"),
        "Time of one transaction over the number of workers, median and interval over blocks; the \
         grey line is one thread without a runtime",
        &note(sweep),
    );
    page.folded("curve-drawn", "The curves of the picture", &drawn(sweep, &panels));
    page.data("curve", &table);
    page.paragraph("Every other cell, with the same columns unrounded: `curve.tsv`.");
}

/// How a picture's cells were run, for its caption.
pub(super) fn note(sweep: &Sweep) -> String {
    let scale = match sweep.divide_by {
        1 => String::new(),
        by => format!("; smoke test, work divided by {by}"),
    };
    let (blocks, cpus) = (sweep.study.frame.run_file.blocks, sweep.cpus());
    format!("{blocks} blocks on {cpus} CPUs{scale}")
}

/// The cells to draw: the base's but for streams, transactions, kinds and contention, with as many
/// numbers of workers as any.
fn panels(sweep: &Sweep) -> Vec<Levels> {
    let mut found: Vec<(Levels, usize)> = Vec::new();
    for variant in sweep.ledgers() {
        for (rest, levels) in sweep.curves(variant) {
            let points = counts(&levels).len();
            let free = ["streams", "transactions", "kinds", "contention"];
            if points < 2 || !sweep.is_base_but(&rest, &free) {
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

fn panel_table(sweep: &Sweep, panels: &[Levels]) -> Table {
    let mut table =
        Table::new(&[("panel", "panel"), ("title", "title"), ("sync", "sync_ns_per_transaction")]);
    for (position, rest) in panels.iter().enumerate() {
        let floor = centre(&sweep.floor_elapsed(rest));
        let per = floor.zip(transactions(sweep, rest)).map(|(ns, count)| ns / count);
        table.row(vec![
            Cell::count(position),
            Cell::text(sweep.label(rest)),
            Cell::value(per, Unit::Ns),
        ]);
    }
    table
}

/// The panels' curves, for people.
fn drawn(sweep: &Sweep, panels: &[Levels]) -> Table {
    let mut table = Table::new(&[
        ("cell", "cell"),
        ("variant", "variant"),
        ("workers", "workers"),
        ("n", "n"),
        ("time", "elapsed_ns"),
        ("interval", "elapsed_interval_ns"),
        ("transactions/s", "transactions_per_s"),
        ("per transaction", "ns_per_transaction"),
        ("against 1 worker", "speed_up_one"),
        ("against sync", "speed_up_sync"),
    ]);
    for rest in panels {
        for variant in sweep.variants() {
            let curves = sweep.curves(variant);
            let Some((_, levels)) = curves.iter().find(|(cell, _)| cell == rest) else { continue };
            let one = sweep.elapsed(variant, rest, "1");
            let floor = sweep.floor_elapsed(rest);
            for level in levels {
                let time = sweep.elapsed(variant, rest, level);
                let values: Vec<f64> = time.values().copied().collect();
                let per = centre(&time).zip(transactions(sweep, rest)).map(|(ns, n)| ns / n);
                let interval = median_interval(&values, CONFIDENCE);
                let times = |other| Effect::log_ratio(other, &time).map(|effect| effect.times());
                let text = |text: Option<String>| text.map_or(Cell::Missing, Cell::Text);
                table.row(vec![
                    Cell::text(sweep.label(rest)),
                    Cell::code(variant),
                    Cell::text(level),
                    Cell::count(values.len()),
                    Cell::value(centre(&time), Unit::Ns),
                    interval.map_or(Cell::Missing, |i| Cell::Range(i.low, i.high, Unit::Ns)),
                    Cell::value(per.map(|ns| 1e9 / ns), Unit::PerSecond),
                    Cell::value(per, Unit::Ns),
                    text(times(&one)),
                    text(times(&floor)),
                ]);
            }
        }
    }
    table
}

fn table(sweep: &Sweep, panels: &[Levels]) -> Table {
    let mut columns = vec![("variant", "variant")];
    columns.extend(FACTORS.map(|factor| (factor, factor)));
    columns.extend([
        ("n", "n"),
        ("time", "elapsed_ns"),
        ("low", "elapsed_low_ns"),
        ("high", "elapsed_high_ns"),
        ("transactions/s", "transactions_per_s"),
        ("per transaction", "ns_per_transaction"),
        ("low", "ns_per_transaction_low"),
        ("high", "ns_per_transaction_high"),
        ("against 1 worker", "speed_up_one"),
        ("low", "speed_up_one_low"),
        ("high", "speed_up_one_high"),
        ("against sync", "speed_up_sync"),
        ("low", "speed_up_sync_low"),
        ("high", "speed_up_sync_high"),
        ("panel", "panel"),
    ]);
    let mut table = Table::new(&columns);
    for variant in sweep.variants() {
        for (rest, levels) in sweep.curves(variant) {
            if levels.len() < 2 {
                continue;
            }
            let panel = panels.iter().position(|cell| *cell == rest);
            let one = sweep.elapsed(variant, &rest, "1");
            let floor = sweep.floor_elapsed(&rest);
            for level in &levels {
                let cell = with(&rest, "workers", level);
                let time = sweep.elapsed(variant, &rest, level);
                let mut row = vec![Cell::text(variant)];
                row.extend(FACTORS.map(|f| cell.get(f).map_or(Cell::Missing, Cell::text)));
                row.extend(times(&time, transactions(sweep, &rest)));
                row.extend(as_times(Effect::log_ratio(&one, &time).as_ref()));
                row.extend(as_times(Effect::log_ratio(&floor, &time).as_ref()));
                row.push(panel.map_or(Cell::Missing, Cell::count));
                table.row(row);
            }
        }
    }
    table
}

/// n; median, low and high; rate; the three again per transaction.
fn times(time: &Series, transactions: Option<f64>) -> Vec<Cell> {
    let values: Vec<f64> = time.values().copied().collect();
    let interval = median_interval(&values, CONFIDENCE);
    let middle = centre(time);
    let three = [middle, interval.map(|i| i.low), interval.map(|i| i.high)];
    let rate = middle.zip(transactions).map(|(ns, count)| 1e9 * count / ns);
    let mut cells = vec![Cell::count(values.len())];
    cells.extend(three.map(|ns| Cell::value(ns, Unit::Ns)));
    cells.push(Cell::value(rate, Unit::PerSecond));
    let per = |ns: Option<f64>| ns.zip(transactions).map(|(ns, count)| ns / count);
    cells.extend(three.map(|ns| Cell::value(per(ns), Unit::Ns)));
    cells
}

/// Transactions of one repetition in a cell.
pub(super) fn transactions(sweep: &Sweep, cell: &Levels) -> Option<f64> {
    let streams = super::sweep::number(cell, "streams")?;
    let each = (super::sweep::number(cell, "transactions")? / sweep.divide_by).max(1);
    Some((streams * each) as f64)
}
