//! Thresholds that can fail: each stands here with the number that decides, for the library's
//! policy and for the published one.

use super::bars::{contention, ratio};
use super::grid::read;
use super::learning::learned;
use super::pressure::closed;
use super::shift::{followed, middles, switches};
use super::target::{Target, Truth};
use super::trials::{INLINE, OFFLOAD, ORACLE, OURS, PUBLISHED, Trials};
use super::wakes::LOAD;
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, or_not_measured};
use crate::tables::{Cell, Table};

const WARM_AT_MOST_NS: f64 = 200.0;
const CONTENTION_AT_MOST: f64 = 1.5;
const TICK_AT_MOST: f64 = 1.2;
const INLINE_TICK_AT_LEAST: f64 = 2.0;
const OFFLOAD_RATE_AT_LEAST: f64 = 1.0;
const ORACLE_RATE_AT_LEAST: f64 = 0.9;
const LEARNED_AT_MOST: f64 = 20.0;
const BETTER_AT_LEAST: f64 = 0.9;
const SWITCH_AT_MOST: f64 = 20.0;
const FOLLOWED_AT_LEAST: f64 = 0.9;

/// One threshold for one policy.
struct Check {
    threshold: String,
    metric: &'static str,
    measured: Option<Reading>,
    target: Target,
}

pub(super) fn write(trials: &Trials, clean: Option<&Trials>, page: &mut Page) {
    page.heading("Checklist");
    page.paragraph(
        "PASS where the whole interval over blocks lies on the threshold's side, FAIL where none \
         of it does, CANNOT TELL otherwise: where the interval reaches over the threshold, where \
         fewer than six blocks give none, where it was not measured, where the lab tells two equal \
         programs apart by the metric, and where the runs that passed the noise gate alone say \
         something else. Published thresholds could not fail: latency passed \
         below 2 × offload or below 5 ×, throughput above -10 %, and the whole passed in any case.",
    );
    let policies: Vec<&str> =
        [OURS, PUBLISHED].into_iter().filter(|policy| trials.policies().contains(policy)).collect();
    if policies.is_empty() {
        page.paragraph(&format!("Neither `{OURS}` nor `{PUBLISHED}` ran."));
        return;
    }
    let mut table = Table::new(&[
        ("policy", "policy"),
        ("threshold", "threshold"),
        ("measured", "measured"),
        ("outcome", "outcome"),
    ]);
    let mut overall = Vec::new();
    for policy in policies {
        let mut truths = Vec::new();
        let gated = clean.map(|clean| truths_of(clean, &checks(clean, policy)));
        let all = checks(trials, policy);
        for (place, (check, truth)) in all.iter().zip(truths_of(trials, &all)).enumerate() {
            let gated = gated.as_ref().and_then(|truths| truths.get(place).copied());
            let truth = truth.agreed(gated);
            truths.push(truth);
            table.row(vec![
                Cell::code(policy),
                Cell::text(&check.threshold),
                Cell::text(or_not_measured(check.measured.as_ref())),
                Cell::text(word(truth)),
            ]);
        }
        overall.push(summary(policy, &truths));
    }
    page.table("checklist", &table);
    page.items(overall);
    page.markdown.push('\n');
}

fn truths_of(trials: &Trials, checks: &[Check]) -> Vec<Truth> {
    let truth =
        |check: &Check| Truth::of(trials, check.metric, check.measured.as_ref(), check.target);
    checks.iter().map(truth).collect()
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::Yes => "PASS",
        Truth::No => "FAIL",
        Truth::Unknown | Truth::NotMeasured => "CANNOT TELL",
    }
}

fn summary(policy: &str, truths: &[Truth]) -> String {
    let count = |outcome: &str| truths.iter().filter(|truth| word(**truth) == outcome).count();
    format!(
        "`{policy}`: **{}** ({} PASS, {} FAIL, {} CANNOT TELL).",
        word(Truth::all(truths.iter().copied())),
        count("PASS"),
        count("FAIL"),
        count("CANNOT TELL"),
    )
}

fn checks(trials: &Trials, policy: &str) -> Vec<Check> {
    let mut checks = decisions(trials, policy);
    checks.extend(ticks(trials, policy));
    checks.extend(throughput(trials, policy));
    checks.extend(choices(trials, policy));
    checks.push(pressure(trials, policy));
    checks
}

fn decisions(trials: &Trials, policy: &str) -> Vec<Check> {
    let warm = [("part", "choose"), ("deciders", "1")];
    vec![
        Check {
            threshold: format!("a warm decision takes at most {WARM_AT_MOST_NS} ns"),
            metric: "choose_ns",
            measured: read(trials, policy, "decide", &warm, "choose_ns"),
            target: Target::AtMost(WARM_AT_MOST_NS),
        },
        Check {
            threshold: format!("all deciders at once pay at most {CONTENTION_AT_MOST} × one's"),
            metric: "choose_ns",
            measured: contention(trials, policy).map(|(_, reading)| reading),
            target: Target::AtMost(CONTENTION_AT_MOST),
        },
    ]
}

fn ticks(trials: &Trials, policy: &str) -> Vec<Check> {
    let mut workers = trials.combinations("wake", &[("load", LOAD)], &["tokio_workers"]).concat();
    if workers.is_empty() {
        workers.push("1".to_owned());
    }
    let mut checks: Vec<Check> = workers
        .iter()
        .map(|count| {
            let levels = [("load", LOAD), ("tokio_workers", count.as_str())];
            Check {
                threshold: format!(
                    "tick P99 under 3 ms work at most {TICK_AT_MOST} × `{OFFLOAD}`'s, \
                     {count} worker(s)"
                ),
                metric: "tick_p99_ns",
                measured: ratio(trials, (policy, OFFLOAD), "wake", &levels, "tick_p99_ns"),
                target: Target::AtMost(TICK_AT_MOST),
            }
        })
        .collect();
    let levels = [("load", LOAD), ("tokio_workers", workers[0].as_str())];
    checks.push(Check {
        threshold: format!(
            "`{INLINE}`'s tick P99 there at least {INLINE_TICK_AT_LEAST} × the policy's, {} \
             worker(s): there is harm, and it is kept away",
            workers[0]
        ),
        metric: "tick_p99_ns",
        measured: ratio(trials, (INLINE, policy), "wake", &levels, "tick_p99_ns"),
        target: Target::AtLeast(INLINE_TICK_AT_LEAST),
    });
    checks
}

fn throughput(trials: &Trials, policy: &str) -> Vec<Check> {
    let mixed = [("work", "mixed"), ("concurrency", "1"), ("order", "ordered")];
    let check = |other: &str, bound: f64| Check {
        threshold: format!("mixed items/s at least {bound} × `{other}`'s, one at a time, ordered"),
        metric: "items_per_s",
        measured: ratio(trials, (policy, other), "stream", &mixed, "items_per_s"),
        target: Target::AtLeast(bound),
    };
    vec![check(OFFLOAD, OFFLOAD_RATE_AT_LEAST), check(ORACLE, ORACLE_RATE_AT_LEAST)]
}

fn choices(trials: &Trials, policy: &str) -> Vec<Check> {
    let learning = |costs: &str| Check {
        threshold: format!("stable on `{costs}` after at most {LEARNED_AT_MOST} steps"),
        metric: "learning_steps",
        measured: Reading::level(&learned(trials, policy, costs), Unit::Count),
        target: Target::AtMost(LEARNED_AT_MOST),
    };
    let worse = [("costs", "inline_240_offload_30")];
    let by_block = switches(trials, policy);
    let switching = |to_offload: bool, what: &str| Check {
        threshold: format!("median switch {what} after at most {SWITCH_AT_MOST} steps"),
        metric: "switch_steps",
        measured: Reading::level(&middles(&by_block, to_offload), Unit::Count),
        target: Target::AtMost(SWITCH_AT_MOST),
    };
    vec![
        learning("steady_small"),
        learning("slow"),
        Check {
            threshold: format!(
                "on inline 240 µs, offload 30 µs at least {} % of steps take the better arm",
                100.0 * BETTER_AT_LEAST
            ),
            metric: "better_share",
            measured: read(trials, policy, "replay", &worse, "better_share"),
            target: Target::AtLeast(BETTER_AT_LEAST),
        },
        switching(true, "to offload, once inline is dear,"),
        switching(false, "back to inline, once it is cheap,"),
        Check {
            threshold: format!(
                "at least {} % of changes are followed at all",
                100.0 * FOLLOWED_AT_LEAST
            ),
            metric: "switch_steps",
            measured: Reading::level(&followed(&by_block), Unit::Share),
            target: Target::AtLeast(FOLLOWED_AT_LEAST),
        },
    ]
}

fn pressure(trials: &Trials, policy: &str) -> Check {
    let most = closed(trials).pop().unwrap_or_else(|| "closed_80".to_owned());
    let levels = [("load", most.as_str())];
    Check {
        threshold: format!("tick P99 beside `{most}` at most {TICK_AT_MOST} × `{OFFLOAD}`'s"),
        metric: "tick_p99_ns",
        measured: ratio(trials, (policy, OFFLOAD), "wake", &levels, "tick_p99_ns"),
        target: Target::AtMost(TICK_AT_MOST),
    }
}
