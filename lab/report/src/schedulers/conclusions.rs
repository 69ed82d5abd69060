//! The seven conclusions of the published report, judged on the crate that it speaks of.

use super::bars::{contention, ratio};
use super::grid::read;
use super::learning::learned;
use super::pressure::{acted, closed};
use super::shift::{middles, switches};
use super::target::{Target, Truth};
use super::trials::{Asked, INLINE, OFFLOAD, PUBLISHED, Trials};
use super::wakes::{LOAD, interference};
use crate::measure::Unit;
use crate::page::Page;
use crate::reading::{Reading, or_not_measured};
use crate::tables::{Cell, Table};

/// One conclusion, judged.
struct Judgement {
    statement: &'static str,
    how: &'static str,
    measured: String,
    truth: Truth,
}

pub(super) fn write(trials: &Trials, clean: Option<&Trials>, page: &mut Page) {
    page.heading("The published conclusions");
    page.paragraph(&format!(
        "Judged on `{PUBLISHED}`, the published crate through its public interface, on this \
         machine. Reproduced where every part of a conclusion holds with the interval's \
         confidence, refuted where one part surely does not, cannot tell in between or where the \
         runs that passed the noise gate alone say something else; not testable where this sweep \
         did not run what it takes.",
    ));
    let gated = clean.map(judge);
    let mut table = Table::new(&[
        ("conclusion", "conclusion"),
        ("judged by", "how"),
        ("measured here", "measured"),
        ("verdict", "verdict"),
    ]);
    for (place, one) in judge(trials).into_iter().enumerate() {
        let truth = one.truth.agreed(gated.as_ref().map(|gated| gated[place].truth));
        table.row(vec![
            Cell::text(one.statement),
            Cell::text(one.how),
            Cell::text(one.measured),
            Cell::text(word(truth)),
        ]);
    }
    page.table("conclusions", &table);
}

fn judge(trials: &Trials) -> [Judgement; 7] {
    [
        overhead(trials),
        starvation(trials),
        throughput(trials),
        learning(trials),
        adapting(trials),
        guardrails(trials),
        both_worlds(trials),
    ]
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::Yes => "reproduced",
        Truth::No => "refuted",
        Truth::Unknown => "cannot tell",
        Truth::NotMeasured => "not testable",
    }
}

fn said(reading: Option<&Reading>) -> String {
    or_not_measured(reading)
}

fn overhead(trials: &Trials) -> Judgement {
    let warm = [("part", "choose"), ("deciders", "1")];
    let reading = read(trials, PUBLISHED, "decide", &warm, "choose_ns");
    let shared = contention(trials, PUBLISHED).map(|(_, reading)| reading);
    Judgement {
        statement: "1. Low overhead: a decision costs less than 200 ns",
        how: "warm choose(), one decider, at most 200 ns",
        measured: format!(
            "{}; all deciders at once pay {} of that",
            said(reading.as_ref()),
            said(shared.as_ref())
        ),
        truth: Truth::of(trials, "choose_ns", reading.as_ref(), Target::AtMost(200.0)),
    }
}

fn starvation(trials: &Trials) -> Judgement {
    let own = interference(trials, PUBLISHED, "1");
    let inline = interference(trials, INLINE, "1");
    let metric = "tick_p95_ns";
    let truth = Truth::all([
        Truth::of(trials, metric, own.as_ref(), Target::AtMost(1.0)),
        Truth::of(trials, metric, inline.as_ref(), Target::AtLeast(1.2)),
    ]);
    Judgement {
        statement: "2. Starvation protection: inline causes 1.5× interference, adaptive keeps it \
                    at 0.8×",
        how: "P95 of ticks under 3 ms work over the idle one's, one Tokio worker: inline at least \
              1.2, adaptive at most 1, for load cannot make a wake-up faster",
        measured: format!("inline {}, adaptive {}", said(inline.as_ref()), said(own.as_ref())),
        truth,
    }
}

fn throughput(trials: &Trials) -> Judgement {
    let share = |work| {
        let levels = [("work", work), ("concurrency", "1"), ("order", "ordered")];
        let threads = trials.shared_threads(&[PUBLISHED], &levels)?;
        let mut levels = levels.to_vec();
        levels.extend([("tokio_workers", threads[0].as_str()), ("rayon_threads", &threads[1])]);
        read(trials, PUBLISHED, "stream", &levels, "offload_share")
    };
    let (fast, slow) = (share("fast"), share("slow"));
    let truth = Truth::all([
        Truth::of(trials, "offload_share", fast.as_ref(), Target::AtMost(0.1)),
        Truth::of(trials, "offload_share", slow.as_ref(), Target::AtLeast(0.9)),
    ]);
    Judgement {
        statement: "3. Throughput: learns to inline fast work and to offload slow work",
        how: "of really fast items at most 10 % are offloaded, of really slow ones at least 90 %",
        measured: format!(
            "offloaded of fast items {}, of slow ones {}",
            said(fast.as_ref()),
            said(slow.as_ref())
        ),
        truth,
    }
}

fn learning(trials: &Trials) -> Judgement {
    let costs = ["steady_small", "slow", "inline_240_offload_30"];
    let read = |costs| Reading::level(&learned(trials, PUBLISHED, costs), Unit::Count);
    let readings = costs.map(|costs| (costs, read(costs)));
    let truths = readings.iter().map(|(_, reading)| {
        Truth::of(trials, "learning_steps", reading.as_ref(), Target::AtMost(6.0))
    });
    let shown: Vec<String> = readings
        .iter()
        .map(|(costs, reading)| format!("{costs}: {}", said(reading.as_ref())))
        .collect();
    Judgement {
        statement: "4. Fast learning: converges within about 6 observations",
        how: "stable on the cheaper arm after at most 6 steps on each constant cost; a run that \
              never gets there counts with its length",
        measured: shown.join("; "),
        truth: Truth::all(truths),
    }
}

fn adapting(trials: &Trials) -> Judgement {
    let by_block = switches(trials, PUBLISHED);
    let read = |to_offload| Reading::level(&middles(&by_block, to_offload), Unit::Count);
    let (away, back) = (read(true), read(false));
    let at_most = |reading: &Option<Reading>| {
        Truth::of(trials, "switch_steps", reading.as_ref(), Target::AtMost(10.0))
    };
    Judgement {
        statement: "5. Adaptive: detects a shift of the work within about 10 observations",
        how: "median switch time over the changes of a block, in both directions, at most 10 \
              steps; a change never followed counts with the steps until the next",
        measured: format!(
            "to offload {}, back to inline {}",
            said(away.as_ref()),
            said(back.as_ref())
        ),
        truth: Truth::all([at_most(&away), at_most(&back)]),
    }
}

fn guardrails(trials: &Trials) -> Judgement {
    let loads = closed(trials);
    let names = ["gr1_activations", "gr2_activations", "gr3_activations"];
    let sum = |load: &String| -> Option<u64> {
        let counts: Vec<u64> =
            names.iter().filter_map(|name| acted(trials, PUBLISHED, load, name)).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    };
    let sums: Vec<(&String, u64)> =
        loads.iter().filter_map(|load| Some((load, sum(load)?))).collect();
    let most = loads.last().map_or("closed_80", String::as_str);
    let levels: Asked = &[("load", most)];
    let spared = ratio(trials, (PUBLISHED, INLINE), "wake", levels, "tick_p99_ns");
    let act = match sums.last() {
        None => Truth::NotMeasured,
        Some((_, 0)) => Truth::No,
        Some(_) => Truth::Yes,
    };
    let shown: Vec<String> = sums.iter().map(|(load, sum)| format!("{load} {sum}")).collect();
    let shown = if shown.is_empty() { "not counted".to_owned() } else { shown.join(", ") };
    Judgement {
        statement: "6. Guardrails act under pressure and prevent starvation",
        how: "at the highest real load guardrails GR1 to GR3 act, and the P99 of ticks is at most \
              0.9 of always_inline's",
        measured: format!(
            "activations, all runs: {shown}; tick P99 over `{INLINE}`'s at {most} {}",
            said(spared.as_ref())
        ),
        truth: Truth::all([
            act,
            Truth::of(trials, "tick_p99_ns", spared.as_ref(), Target::AtMost(0.9)),
        ]),
    }
}

fn both_worlds(trials: &Trials) -> Judgement {
    let fast = [("work", "fast"), ("concurrency", "1"), ("order", "ordered")];
    let rate = ratio(trials, (PUBLISHED, INLINE), "stream", &fast, "items_per_s");
    let workers = trials.combinations("wake", &[("load", LOAD)], &["tokio_workers"]).concat();
    let ticks: Vec<(String, Option<Reading>)> = workers
        .into_iter()
        .map(|count| {
            let levels = [("load", LOAD), ("tokio_workers", count.as_str())];
            let reading = ratio(trials, (PUBLISHED, OFFLOAD), "wake", &levels, "tick_p99_ns");
            (count, reading)
        })
        .collect();
    let mut truths = vec![Truth::of(trials, "items_per_s", rate.as_ref(), Target::AtLeast(0.9))];
    if ticks.is_empty() {
        truths.push(Truth::NotMeasured);
    }
    truths.extend(ticks.iter().map(|(_, reading)| {
        Truth::of(trials, "tick_p99_ns", reading.as_ref(), Target::AtMost(1.2))
    }));
    let shown: Vec<String> = ticks
        .iter()
        .map(|(count, reading)| format!("{count} worker(s) {}", said(reading.as_ref())))
        .collect();
    Judgement {
        statement: "7. The best of both worlds: low latency for small work and a protected \
                    runtime for slow work",
        how: "fast items at least 0.9 of always_inline's rate, and the P99 of ticks under 3 ms \
              work at most 1.2 of always_offload's, at every number of workers",
        measured: format!(
            "rate {}; ticks: {}",
            said(rate.as_ref()),
            if shown.is_empty() { "not measured".to_owned() } else { shown.join(", ") }
        ),
        truth: Truth::all(truths),
    }
}
