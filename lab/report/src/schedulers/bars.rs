//! What was set out to be reached, each as one ratio within a session.

use super::target::Target;
use super::trials::{Asked, OFFLOAD, ORACLE, OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table};

const CHOOSE_AT_MOST: f64 = 0.3;
const CYCLE_AT_MOST: f64 = 0.5;
const CONTENTION_AT_MOST: f64 = 1.5;
const THROUGHPUT_AT_LEAST: f64 = 1.0;
const ORACLE_AT_LEAST: f64 = 0.9;
const TICK_AT_MOST: f64 = 1.2;
const REGRET_AT_LEAST: f64 = 5.0;

/// One bar in one cell.
pub(super) struct Bar {
    pub(super) what: String,
    pub(super) cell: String,
    pub(super) pairing: String,
    pub(super) metric: &'static str,
    pub(super) measured: Option<Reading>,
    pub(super) target: Target,
}

impl Bar {
    /// In words; a bar on a metric that tells twins apart is withheld.
    pub(super) fn word(&self, trials: &Trials) -> String {
        let Some(reading) = &self.measured else { return "not measured".to_owned() };
        if self.target == Target::None {
            return "–".to_owned();
        }
        if let Some(alarm) = trials.doubt(self.metric) {
            return format!("withheld: {alarm}");
        }
        let word = if self.target.surely(reading) {
            "met"
        } else if self.target.surely_not(reading) {
            "not met"
        } else if self.target.holds(reading.estimate) {
            "met by the estimate, not by the interval"
        } else {
            "not met by the estimate, the interval reaches the target"
        };
        word.to_owned()
    }

    /// `gated` is the word of the runs that passed the noise gate, where not all did.
    fn row(&self, trials: &Trials, gated: Option<&str>) -> Vec<Cell> {
        let word = self.word(trials);
        let word = match gated {
            Some(gated) if gated != word => {
                format!("cannot tell: all runs say {word}, those past the noise gate {gated}")
            }
            _ => word,
        };
        let mut row = vec![Cell::text(&self.what), Cell::text(&self.cell)];
        row.extend(Reading::cells(self.measured.as_ref()));
        let n = self.measured.map(|reading| reading.n as f64);
        row.extend([
            Cell::value(n, Unit::Count),
            Cell::text(self.target.text(Unit::Times)),
            Cell::text(word),
            Cell::text(&self.pairing),
        ]);
        row
    }
}

pub(super) fn write(trials: &Trials, clean: Option<&Trials>, page: &mut Page) {
    page.heading("Bars");
    page.paragraph(
        "Ratios of two runs of one block, so that they share a session; estimate and interval \
         over blocks by Hodges and Lehmann on logarithms, at 95 % or more. A bar is met where the \
         whole interval lies on its side.",
    );
    let mut table = Table::new(&[
        ("bar", "bar"),
        ("cell", "cell"),
        ("measured", "measured"),
        ("low", "low"),
        ("high", "high"),
        ("n", "n"),
        ("target", "target"),
        ("met", "met"),
        ("pairing", "pairing"),
    ]);
    let gated = clean.map(|clean| (clean, bars(clean)));
    for bar in bars(trials) {
        let same = |other: &&Bar| other.what == bar.what && other.cell == bar.cell;
        let gated =
            gated.as_ref().and_then(|(clean, bars)| Some(bars.iter().find(same)?.word(clean)));
        table.row(bar.row(trials, gated.as_deref()));
    }
    page.table("bars", &table);
}

fn bars(trials: &Trials) -> Vec<Bar> {
    let mut bars = decisions(trials);
    bars.extend(throughput(trials));
    bars.extend(ticks(trials));
    bars.push(Bar {
        what: format!("regret, `{PUBLISHED}` over `{OURS}`"),
        cell: "inline 240 µs, offload 30 µs".to_owned(),
        pairing: "the same block and the same costs; a regret of 0 counts as 1 ns".to_owned(),
        metric: "regret_ns",
        measured: regret_ratio(trials, PUBLISHED, OURS, "inline_240_offload_30"),
        target: Target::AtLeast(REGRET_AT_LEAST),
    });
    bars
}

/// A metric of one policy over another's, within blocks. Streams are compared at a ratio of threads
/// at which both ran.
pub(super) fn ratio(
    trials: &Trials,
    (a, b): (&str, &str),
    test: &str,
    levels: Asked,
    metric: &str,
) -> Option<Reading> {
    let mut levels = levels.to_vec();
    let threads = (test == "stream"
        && !levels.iter().any(|(factor, _)| *factor == "tokio_workers"))
    .then(|| trials.shared_threads(&[a, b], &levels))
    .flatten();
    if let Some([tokio, rayon]) = &threads {
        levels.extend([("tokio_workers", tokio.as_str()), ("rayon_threads", rayon)]);
    }
    let series = |policy| trials.series(policy, test, &levels, metric);
    Reading::ratio(&series(a), &series(b))
}

/// The regret of one policy over another's. Nobody's regret may be 0 in a ratio.
pub(super) fn regret_ratio(trials: &Trials, a: &str, b: &str, costs: &str) -> Option<Reading> {
    let series = |policy| -> Series {
        let regret = trials.series(policy, "replay", &[("costs", costs)], "regret_ns");
        regret.into_iter().map(|(block, ns)| (block, ns.max(1.0))).collect()
    };
    Reading::ratio(&series(a), &series(b))
}

/// What `all` deciders at once pay over one, by a policy; with the number of deciders.
pub(super) fn contention(trials: &Trials, policy: &str) -> Option<(String, Reading)> {
    let all = trials.levels("decide", "deciders").into_iter().rfind(|level| level != "1")?;
    let at = |deciders: &str| {
        let levels = [("part", "choose"), ("deciders", deciders)];
        trials.series(policy, "decide", &levels, "choose_ns")
    };
    let reading = Reading::ratio(&at(&all), &at("1"))?;
    Some((all, reading))
}

fn decisions(trials: &Trials) -> Vec<Bar> {
    let alone = |part: &'static str, metric: &'static str, target: f64, what: &str| Bar {
        what: format!("{what}, `{OURS}` over `{PUBLISHED}`"),
        cell: "1 decider".to_owned(),
        pairing: "the same block, keys and context".to_owned(),
        metric,
        measured: ratio(
            trials,
            (OURS, PUBLISHED),
            "decide",
            &[("part", part), ("deciders", "1")],
            metric,
        ),
        target: Target::AtMost(target),
    };
    let shared = |policy: &str, target: Target| {
        let found = contention(trials, policy);
        Bar {
            what: format!("warm choose() of `{policy}`, all deciders at once over one"),
            cell: found.as_ref().map_or("several deciders".to_owned(), |(all, _)| {
                format!("{all} deciders against 1")
            }),
            pairing: "the same block, two runs of one policy".to_owned(),
            metric: "choose_ns",
            measured: found.map(|(_, reading)| reading),
            target,
        }
    };
    vec![
        alone("choose", "choose_ns", CHOOSE_AT_MOST, "warm choose()"),
        alone("cycle", "cycle_ns", CYCLE_AT_MOST, "full cycle"),
        shared(OURS, Target::AtMost(CONTENTION_AT_MOST)),
        shared(PUBLISHED, Target::None),
    ]
}

/// Mixed work against loom-rs's `adaptive_map` and against the oracle, wherever it ran.
fn throughput(trials: &Trials) -> Vec<Bar> {
    let factors = ["concurrency", "order"];
    let mut places = trials.combinations("stream", &[("work", "mixed")], &factors);
    if places.is_empty() {
        places.push(vec!["1".to_owned(), "ordered".to_owned()]);
    }
    let mut bars = Vec::new();
    for (other, target) in [(PUBLISHED, THROUGHPUT_AT_LEAST), (ORACLE, ORACLE_AT_LEAST)] {
        for place in &places {
            let [concurrency, order] = place.as_slice() else { continue };
            let levels = [("work", "mixed"), ("concurrency", concurrency), ("order", order)];
            let like = match (other, concurrency.as_str(), order.as_str()) {
                (PUBLISHED, "1", "ordered") => {
                    "the same block and items; like with like, both one item at a time, in order"
                }
                (PUBLISHED, _, _) => {
                    "the same block and items; not like with like where `adaptive_map` does one \
                     item at a time whatever is asked"
                }
                _ => "the same block and items",
            };
            let threads = trials.shared_threads(&[OURS, other], &levels);
            let threads = threads.map_or(String::new(), |[tokio, rayon]| {
                format!(", {tokio} Tokio and {rayon} pool threads")
            });
            bars.push(Bar {
                what: format!("mixed throughput, `{OURS}` over `{other}`"),
                cell: format!("concurrency {concurrency}, {order}{threads}"),
                pairing: like.to_owned(),
                metric: "items_per_s",
                measured: ratio(trials, (OURS, other), "stream", &levels, "items_per_s"),
                target: Target::AtLeast(target),
            });
        }
    }
    bars
}

fn ticks(trials: &Trials) -> Vec<Bar> {
    let load = ("load", "block_3ms");
    let mut workers: Vec<String> = trials
        .combinations("wake", &[load], &["tokio_workers"])
        .into_iter()
        .filter_map(|levels| levels.into_iter().next())
        .collect();
    if workers.is_empty() {
        workers.push("1".to_owned());
    }
    let bar = |workers: String| {
        let levels = [load, ("tokio_workers", workers.as_str())];
        Bar {
            what: format!("tick P99 under 3 ms blocking work, `{OURS}` over `{OFFLOAD}`"),
            cell: format!("{workers} Tokio worker{}", if workers == "1" { "" } else { "s" }),
            pairing: "the same block, load and ticks".to_owned(),
            metric: "tick_p99_ns",
            measured: ratio(trials, (OURS, OFFLOAD), "wake", &levels, "tick_p99_ns"),
            target: Target::AtMost(TICK_AT_MOST),
        }
    };
    workers.into_iter().map(bar).collect()
}
