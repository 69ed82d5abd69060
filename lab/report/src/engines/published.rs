//! The published table made again: time, CPU time and cores of every engine, beside what was said.

use lab_stats::describe::summarize;
use lab_stats::interval::median_interval;

use super::sweep::{Cell as Levels, Sweep};
use crate::effect::{CONFIDENCE, Effect, Series, as_times};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

/// A row of the published table, in ms; CPU times and ranges from its text and raw files.
pub(super) struct Said {
    pub(super) engine: &'static str,
    pub(super) name: &'static str,
    pub(super) mean_ms: f64,
    sd_ms: f64,
    min_ms: f64,
    max_ms: f64,
    user_ms: f64,
    system_ms: f64,
}

impl Said {
    pub(super) fn cores(&self) -> f64 {
        (self.user_ms + self.system_ms) / self.mean_ms
    }
}

/// The report prints means, deviations and ranges of runs whose number it does not state, on a
/// machine with ten cores and on files that nobody else has.
pub(super) const SAID: [Said; 4] = [
    Said {
        engine: "smol",
        name: "smol (standard)",
        mean_ms: 204.4,
        sd_ms: 7.4,
        min_ms: 192.5,
        max_ms: 217.5,
        user_ms: 1230.3,
        system_ms: 148.9,
    },
    Said {
        engine: "rayon",
        name: "Rayon",
        mean_ms: 234.3,
        sd_ms: 19.7,
        min_ms: 207.6,
        max_ms: 266.6,
        user_ms: 1353.0,
        system_ms: 153.0,
    },
    Said {
        engine: "smol_multi",
        name: "smol (multi-thread)",
        mean_ms: 264.0,
        sd_ms: 47.4,
        min_ms: 227.3,
        max_ms: 362.4,
        user_ms: 1524.8,
        system_ms: 129.6,
    },
    Said {
        engine: "tokio",
        name: "Tokio (async)",
        mean_ms: 269.3,
        sd_ms: 17.5,
        min_ms: 252.5,
        max_ms: 302.3,
        user_ms: 1482.1,
        system_ms: 264.3,
    },
];

/// The engine that all published ratios are against.
pub(super) const SMOL: &str = "smol";

pub(super) fn write(sweep: &Sweep, page: &mut Page) {
    page.heading("The published table, made again");
    let Some(cell) = sweep.published() else {
        page.paragraph("No engine ran with its own choice of threads, so there is no such table.");
        return;
    };
    page.paragraph(&format!(
        "Cell: {}. Whole processes by hyperfine, one a round, in rounds of random order; median \
         with its interval by order statistics (six rounds or more); user, system and cores are \
         medians; the ratio is each engine's time over `{SMOL}`'s, paired by round.",
        sweep.label(&cell)
    ));
    page.table("published", &measured(sweep, &cell));
    page.paragraph(
        "What the report printed, of another machine (ten cores), other files and engines that did \
         unequal work; number of runs and order not stated. Cores used follow from its own user \
         and system times:",
    );
    page.table("published-said", &said());
    page.items(absent(sweep, &cell));
    page.markdown.push('\n');
}

fn values(series: &Series) -> Vec<f64> {
    series.values().copied().collect()
}

fn measured(sweep: &Sweep, cell: &Levels) -> Table {
    let mut table = Table::new(&[
        ("engine", "engine"),
        ("n (rounds)", "n"),
        ("median", "median_ns"),
        ("interval", "median_interval_ns"),
        ("mean", "mean_ns"),
        ("sd", "sd_ns"),
        ("min", "min_ns"),
        ("max", "max_ns"),
        ("user", "user_ns"),
        ("system", "system_ns"),
        ("cores used", "cores_used"),
        ("time over smol's", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
        ("published ratio", "published_ratio"),
        ("published cores", "published_cores"),
    ]);
    let smol = sweep.wall(SMOL, cell);
    for engine in sweep.engines() {
        let time = sweep.wall(engine, cell);
        let Some(summary) = summarize(&values(&time)) else { continue };
        let interval = median_interval(&values(&time), CONFIDENCE);
        let said = SAID.iter().find(|said| said.engine == engine);
        let ns = |value: f64| Cell::Value(value, Unit::Ns);
        let of = |metric: &str, unit| Cell::value(sweep.median(engine, cell, metric), unit);
        let mut row = vec![
            Cell::code(engine),
            Cell::count(summary.n),
            ns(summary.median),
            interval.map_or(Cell::Missing, |i| Cell::Range(i.low, i.high, Unit::Ns)),
            ns(summary.mean),
            Cell::value(summary.sd, Unit::Ns),
            ns(summary.min),
            ns(summary.max),
            of("hyperfine_user_ns", Unit::Ns),
            of("hyperfine_system_ns", Unit::Ns),
            of("cores_used", Unit::Count),
        ];
        row.extend(as_times(Effect::log_ratio(&time, &smol).as_ref()));
        let ratio = said.map(|said| said.mean_ms / SAID[0].mean_ms);
        row.push(Cell::value(ratio, Unit::Times));
        row.push(Cell::value(said.map(Said::cores), Unit::Count));
        table.row(row);
    }
    table
}

fn said() -> Table {
    let mut table = Table::new(&[
        ("published as", "published"),
        ("here", "engine"),
        ("mean", "mean_ns"),
        ("sd", "sd_ns"),
        ("min", "min_ns"),
        ("max", "max_ns"),
        ("user", "user_ns"),
        ("system", "system_ns"),
        ("cores used", "cores_used"),
        ("time over smol's", "ratio"),
    ]);
    for said in &SAID {
        let ms = |ms: f64| Cell::Value(1e6 * ms, Unit::Ns);
        table.row(vec![
            Cell::text(said.name),
            Cell::code(said.engine),
            ms(said.mean_ms),
            ms(said.sd_ms),
            ms(said.min_ms),
            ms(said.max_ms),
            ms(said.user_ms),
            ms(said.system_ms),
            Cell::Value(said.cores(), Unit::Count),
            Cell::Value(said.mean_ms / SAID[0].mean_ms, Unit::Times),
        ]);
    }
    table
}

/// Published engines that these records cannot speak of.
fn absent(sweep: &Sweep, cell: &Levels) -> Vec<String> {
    let missing = SAID.iter().filter(|said| sweep.wall(said.engine, cell).is_empty());
    missing.map(|said| format!("**`{}` was not measured in this cell.**", said.engine)).collect()
}
