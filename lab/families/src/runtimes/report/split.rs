//! Where more than one trace was replayed: what of the variance between runs is whose.

use lab_family::Unit;
use lab_report::Column::{Code, Count, Intervals};
use lab_report::{CONFIDENCE, Chapter, Kept, Page, Reading, Study, Table, show};
use lab_stats::split::{PARTS, Part, Replayed, split};

use super::groups::concurrent;
use crate::runtimes::table::traces;

/// Metrics, and how late the server was as it bears on each.
const METRICS: [(&str, &str); 5] = [
    ("ttft_p50_ns", "server_pacing_error_p50_ns"),
    ("inter_token_p50_ns", "server_pacing_error_p50_ns"),
    ("inter_token_p99_ns", "server_pacing_error_p99_ns"),
    ("delivery_lag_p50_ns", "server_pacing_error_p50_ns"),
    ("delivery_lag_p99_ns", "server_pacing_error_p99_ns"),
];
/// Of which the first screen tells.
const ASKED: &str = "inter_token_p50_ns";
/// The order of [`PARTS`].
const TITLES: [(&str, &str); 5] = [
    ("trace", PARTS[0]),
    ("server", PARTS[1]),
    ("runtime", PARTS[2]),
    ("runtime on one trace", PARTS[3]),
    ("residue", PARTS[4]),
];

pub(crate) fn write(study: &Study, page: &mut Page) {
    let rows = METRICS.into_iter().filter_map(|(metric, late)| {
        let (parts, runs) = parts(study, metric, late)?;
        Some((study.noun(metric), metric, parts, runs))
    });
    let part = |parts: &[Part; 5], runs: &usize, key: &str| {
        let place = PARTS.iter().position(|part| *part == key)?;
        Some(reading(parts[place], *runs))
    };
    let table = Table::over(
        rows,
        &[
            Code("metric", "metric", &|(_, metric, ..)| metric),
            Intervals(&TITLES, &|(.., parts, runs), key| part(parts, runs, key)),
            Count("runs", "runs", &|(.., runs)| *runs),
        ],
    );
    let text = "Every runtime got the same recorded replies, to the nanosecond of each token's due \
                time. Shares of the variance, between runs, of each metric's logarithm: the \
                trace's; the server's, as far as its own pacing error in a run tells; the \
                runtime's; what a runtime does on one trace alone; and what is left. What chance \
                gives a part is taken off. Intervals: 95 %, by the jackknife over blocks, for \
                these traces and runtimes (`lab/stats/src/split.rs`).";
    page.chapter(Chapter {
        heading: "Where the variance comes from",
        text,
        table,
        kept: Kept::Shown("split"),
        ..Chapter::default()
    });
}

/// "Of the variance of the time between tokens, between runs, 97 % (96 … 98) is the trace's and
/// 0.2 % (0.1 … 0.3) the runtime's; …"
pub(super) fn answer(study: &Study) -> Option<String> {
    let (_, late) = METRICS.iter().find(|(metric, _)| *metric == ASKED)?;
    let (parts, runs) = parts(study, ASKED, late)?;
    let [trace, _, runtime, ..] = parts.map(|part| reading(part, runs).short());
    let [_, server, _, both, residue] = parts.map(|part| show(part.share, Unit::Share));
    Some(format!(
        "Of the variance of the {}, between runs, {trace} is the trace's and {runtime} the \
         runtime's; {both} is a runtime's on one trace alone, {server} the server's, and {residue} \
         is left.",
        study.noun(ASKED)
    ))
}

fn reading(part: Part, runs: usize) -> Reading {
    let low_high = Some((part.low, part.high));
    Reading { estimate: part.share, low_high, n: runs, unit: Unit::Share }
}

/// The parts, and of how many runs. A twin is no runtime of its own.
fn parts(study: &Study, metric: &str, late: &str) -> Option<([Part; 5], usize)> {
    let traces = traces(&study.frame.run_file.attachments);
    let replayed = concurrent(study).filter(|one| !study.frame.is_twin(one.variant()));
    let runs = replayed.filter_map(|one| {
        let run = &one.row.run;
        Some(Replayed {
            value: one.value(metric).filter(|value| *value > 0.0)?.ln(),
            trace: traces.get(run.cell.get("config")?)?,
            runtime: one.variant(),
            late: one.value(late)?,
            block: run.block,
        })
    });
    let runs: Vec<Replayed> = runs.collect();
    Some((split(&runs, CONFIDENCE)?, runs.len()))
}
