//! What each variant costs in each cell, and over the floor: where a choice begins to matter.

use lab_family::Unit::Times;
use lab_report::Column::{Code, Each, Levels, Number};
use lab_report::{Chapter, Kept, Page, Study, Table};

use crate::runtimes::levels::{AGENTS, ARRIVALS, BUSY, DROP, NEIGHBOUR, WORK};

const CPU: &str = "cpu_per_token_ns";
/// (title, metric); without a title it stands in the TSV alone.
const COSTS: [(&str, &str); 9] = [
    ("CPU per token", CPU),
    ("delivery lag (P50)", "delivery_lag_p50_ns"),
    ("(P99)", "delivery_lag_p99_ns"),
    ("(P99.9)", "delivery_lag_p999_ns"),
    ("late tokens", "late_token_share"),
    ("goodput", "goodput_tokens_per_s"),
    ("switches per token", "switches_per_token"),
    ("memory per stream", "rss_per_stream_bytes"),
    ("", "ttft_p50_ns"),
];

/// Of sweeps alone in which agents drop replies or come one after another.
const FURTHER: [(&str, &str); 7] = [
    ("first token since the intended start (P50)", "ttft_due_p50_ns"),
    ("(P99)", "ttft_due_p99_ns"),
    ("time to release a socket (P50)", "release_p50_ns"),
    ("(P99)", "release_p99_ns"),
    ("tokens after a drop", "tokens_after_drop"),
    ("leaked sockets", "leaked_sockets"),
    ("leaked tasks", "leaked_tasks"),
];

/// Only of sweeps that ask for goodput: they are about scale.
pub(crate) fn write(study: &Study, page: &mut Page) {
    if !study.section.contains_key("goodput_lag_ms") {
        return;
    }
    let variants = study.variants();
    let over_floor = |(variant, cell): &(&str, &lab_family::Cell)| {
        let floor = study.median(study.floor()?, cell, CPU).filter(|ns| *ns > 0.0)?;
        Some(study.median(variant, cell, CPU)? / floor)
    };
    let is_told =
        |(_, metric): &(&str, &str)| study.all.iter().any(|one| one.value(metric).is_some());
    let further: Vec<(&str, &str)> = FURTHER.into_iter().filter(is_told).collect();
    let varied = [AGENTS, WORK, BUSY, NEIGHBOUR, DROP, ARRIVALS, "config"];
    let varied: Vec<&str> = varied.into_iter().filter(|factor| is_varied(study, factor)).collect();
    let mut places = study.places(&variants);
    let rank = |cell: &lab_family::Cell| study.all_cells().iter().position(|one| *one == cell);
    places.sort_by_key(|(_, cell)| rank(cell));
    let table = Table::over(
        places,
        &[
            Levels(&varied, &|(_, cell)| cell),
            Code("variant", "variant", &|(variant, _)| variant),
            Each(&COSTS[..1], &|(variant, cell), metric| study.middle(variant, cell, metric)),
            Number("over the floor", "cpu_over_floor", Times, &over_floor),
            Each(&COSTS[1..], &|(variant, cell), metric| study.middle(variant, cell, metric)),
            Each(&further, &|(variant, cell), metric| study.middle(variant, cell, metric)),
        ],
    );
    page.chapter(Chapter {
        heading: "Costs at each scale",
        text: "Medians over blocks. A token is late beyond `goodput_lag_ms`.",
        table,
        kept: Kept::Shown("scale"),
        ..Chapter::default()
    });
}

fn is_varied(study: &Study, factor: &str) -> bool {
    let mut levels: Vec<_> = study.all_cells().iter().filter_map(|cell| cell.get(factor)).collect();
    levels.sort();
    levels.dedup();
    levels.len() > 1
}
