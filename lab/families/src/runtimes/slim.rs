//! What a committed report keeps of a run's samples.

use lab_record::{Column, Histogram, Question, Run, RunFile, Samples};
use lab_report::takes_part;

use crate::runtimes::cells::{UNSCALED_PPM, time_scale_ppm};
use crate::runtimes::samples::{
    LEAKED_SOCKETS, RELEASE_NS, TTFT_DUE_NS, TTFT_NS, leaked_sockets, raw_gaps_ns, raw_lags_ns,
    raw_releases_ns, raw_ttft_due_ns, ttft_ns,
};

/// Columns with a row per token.
const TOKEN_COLUMNS: [&str; 3] = ["token_received_ns", "token_sent_ns", "server_pacing_error_ns"];

/// Columns with a row per call or agent that the lab checks when a run ends: the client's last
/// token stands in for a call's end. What the server says of itself goes too.
const CHECKED_COLUMNS: [&str; 16] = [
    "call_text_hash",
    "server_text_hash",
    "server_tokens",
    "call_end_ns",
    "call_eval_ns",
    "call_server_total_ns",
    "call_load_ns",
    "call_prompt_eval_ns",
    "server_first_due_ns",
    "server_first_sent_ns",
    "server_last_sent_ns",
    "server_received_ns",
    "server_done_sent_ns",
    "call_thread",
    "ingest_bytes",
    "ingest_end_ns",
];

/// Instants of each agent and call: of hundreds they are most of a record, and of a crowd nobody
/// asks but for the times between some of them.
const INSTANTS: [&str; 8] = [
    "agent_due_ns",
    "agent_start_ns",
    "agent_end_ns",
    "call_start_ns",
    "call_first_token_ns",
    "call_last_token_ns",
    "call_dropped_ns",
    "server_left_ns",
];

/// From so many agents on a run is one of a crowd.
const CROWD: usize = 500;

/// More tokens than two agents receive in nearly any run; of hundreds of streams nobody commits
/// everything.
const TOKENS_KEPT: usize = 10_000;

/// Keeps the token columns of runs in real time where a comparison of lags or gaps is about their
/// cell, and of other runs and of those with hundreds of streams only the distributions of what is
/// derived from them, and not even these where a run in rounds was asked for something else.
/// Columns with a row per call or per agent stay raw, but for [`CHECKED_COLUMNS`] of hundreds of
/// streams and [`INSTANTS`] of a crowd, of which [`times_of_a_crowd`] stay.
pub(crate) fn slim(sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
    let tokens = samples.raw(TOKEN_COLUMNS[0]).map_or(0, <[i64]>::len);
    let is_crowd = samples.raw("agent_start_ns").is_some_and(|agents| agents.len() >= CROWD);
    let is_many = is_crowd || tokens > TOKENS_KEPT;
    if time_scale_ppm(run) == UNSCALED_PPM && !is_many && decides_on_tokens(sweep, run) {
        return samples;
    }
    let derived = [
        ("delivery_lag_ns", raw_lags_ns(&samples)),
        ("inter_token_latency_ns", raw_gaps_ns(&samples)),
        ("server_pacing_error_ns", samples.raw("server_pacing_error_ns").map(<[i64]>::to_vec)),
    ];
    let mut kept = Vec::new();
    if asks_for_tokens(sweep, run) {
        kept.extend(derived.into_iter().filter_map(distribution));
    }
    if is_crowd {
        kept.extend(times_of_a_crowd(&samples));
    }
    let mut slim = samples;
    let mut remove =
        |names: &[&str]| names.iter().for_each(|name| drop(slim.columns.remove(*name)));
    remove(&TOKEN_COLUMNS);
    if is_many {
        remove(&CHECKED_COLUMNS);
    }
    if is_crowd {
        remove(&INSTANTS);
    }
    slim.columns.extend(kept);
    slim
}

/// What metrics read instead of a crowd's instants: distributions, and a count.
fn times_of_a_crowd(samples: &Samples) -> Vec<(String, Column)> {
    let times = [
        (TTFT_NS, Some(ttft_ns(samples))),
        (TTFT_DUE_NS, raw_ttft_due_ns(samples)),
        (RELEASE_NS, raw_releases_ns(samples)),
    ];
    let leaks = leaked_sockets(samples).map(|leaks| Column::Raw(vec![leaks]));
    let leaks = leaks.map(|leaks| (LEAKED_SOCKETS.to_owned(), leaks));
    times.into_iter().filter_map(distribution).chain(leaks).collect()
}

fn distribution((name, values): (&str, Option<Vec<i64>>)) -> Option<(String, Column)> {
    let values = values.filter(|values| !values.is_empty())?;
    Some((name.to_owned(), Column::Histogram(Histogram::of(&values))))
}

/// Whether the question of a run in rounds may be about single tokens. A run of the blocks answers
/// all questions.
fn asks_for_tokens(sweep: &RunFile, run: &Run) -> bool {
    let Some(place) = sweep.question_of(run.block) else { return true };
    match &sweep.analysis.questions(&sweep.expectations)[place] {
        Question::Comparisons(places) => {
            places.iter().any(|one| is_of_tokens(&sweep.analysis.comparisons[*one].metric))
        }
        Question::Contrast(one) => is_of_tokens(&one.metric),
        Question::Expectation(_) => true,
    }
}

/// Whether single tokens decide a comparison that the run's cell takes part in.
fn decides_on_tokens(sweep: &RunFile, run: &Run) -> bool {
    let comparisons = &sweep.analysis.comparisons;
    comparisons.iter().any(|one| is_of_tokens(&one.metric) && takes_part(one, &run.cell))
}

fn is_of_tokens(metric: &str) -> bool {
    ["delivery_lag_", "inter_token_"].iter().any(|of| metric.starts_with(of))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::runtimes::samples::{release_ns, ttft, ttft_due};

    fn run() -> Run {
        let run = serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "runtimes", "variant": "floor", "cell": {}, "status": "ok",
            "verified": true, "binary_sha256": "", "start_ns": 0, "process_ns": 1,
            "counters": {}, "noise": {},
        });
        serde_json::from_value(run).unwrap()
    }

    /// One call of so many tokens, each received 7 ns after it was sent, 100 ns after the last.
    fn call(tokens: usize) -> Samples {
        let sent: Vec<i64> = (0..tokens as i64).map(|token| token * 100).collect();
        let received = sent.iter().map(|sent| sent + 7).collect();
        Samples::from_raw(BTreeMap::from([
            ("token_sent_ns".to_owned(), sent),
            ("token_received_ns".to_owned(), received),
            ("call_tokens".to_owned(), vec![tokens as i64]),
            ("call_text_hash".to_owned(), vec![5]),
        ]))
    }

    /// With a question in rounds about this metric.
    fn sweep(metric: &str) -> RunFile {
        let sweep = serde_json::json!({
            "schema": 1, "experiment": "e", "experiment_file": "e.toml", "experiment_toml": "",
            "experiment_sha256": "", "servers": [], "seed": 1, "blocks": 6, "runs_planned": 1,
            "variants": [], "started_unix_s": 0, "attachments": {}, "arguments": [],
            "machine": {
                "cpu_model": "m", "cpus": 2, "memory_bytes": 1, "kernel": "k", "arch": "x",
            },
            "analysis": {
                "reference": "a", "pairing": "paired", "alpha": 0.05, "contrasts": [],
                "rounds": { "budget_s": 1 },
                "comparisons": [{
                    "metric": metric, "scale": "ratio", "cells": {}, "margin": 0.1, "rounds": true,
                }],
            },
        });
        serde_json::from_value(sweep).unwrap()
    }

    #[test]
    fn a_scaled_run_keeps_distributions_of_tokens_where_something_may_ask_for_them() {
        let scaled = |block| {
            let counters = BTreeMap::from([("server_time_scale_ppm".to_owned(), 10_000)]);
            Run { block, counters, ..run() }
        };
        let names = |metric: &str, block| {
            let slim = slim(&sweep(metric), &scaled(block), call(3));
            slim.columns.into_keys().collect::<Vec<_>>()
        };
        let without = ["call_text_hash", "call_tokens"];
        let with = [&without[..], &["delivery_lag_ns", "inter_token_latency_ns"]].concat();
        assert_eq!(names("cpu_per_token_ns", 1), with, "a run of the blocks");
        assert_eq!(names("cpu_per_token_ns", 7), without);
        assert_eq!(names("delivery_lag_p50_ns", 7), with);
    }

    #[test]
    fn a_run_in_real_time_keeps_its_tokens_where_a_comparison_of_them_has_its_cell() {
        let few = call(3);
        let is_kept = |sweep: &RunFile| slim(sweep, &run(), few.clone()) == few;
        let mut of_lag = sweep("delivery_lag_p50_ns");
        assert!(is_kept(&of_lag) && is_kept(&sweep("inter_token_p99_ns")));
        assert!(!is_kept(&sweep("wall_ns")));
        let elsewhere = BTreeMap::from([("config".to_owned(), vec!["anchor".to_owned()])]);
        of_lag.analysis.comparisons[0].cells = elsewhere;
        assert!(!is_kept(&of_lag));
    }

    #[test]
    fn hundreds_of_streams_in_real_time_keep_their_distributions() {
        let few = call(TOKENS_KEPT);
        let sweep = sweep("delivery_lag_p50_ns");
        assert_eq!(slim(&sweep, &run(), few.clone()), few);
        let many = slim(&sweep, &run(), call(TOKENS_KEPT + 1));
        let names: Vec<&str> = many.columns.keys().map(String::as_str).collect();
        assert_eq!(names, ["call_tokens", "delivery_lag_ns", "inter_token_latency_ns"]);
        assert_eq!(slim(&sweep, &run(), many.clone()), many);
    }

    #[test]
    fn a_crowd_of_few_tokens_keeps_its_times_and_leaks_instead_of_instants() {
        let column = |name: &str, value: i64| (name.to_owned(), vec![value; CROWD]);
        let mut crowd = BTreeMap::from([
            column("agent_due_ns", 0),
            column("agent_start_ns", 1),
            column("agent_end_ns", 900),
            column("call_start_ns", 50),
            column("call_first_token_ns", 150),
            column("call_last_token_ns", 300),
            column("call_dropped_ns", 300),
            column("server_left_ns", 307),
        ]);
        crowd.insert("call_agent".to_owned(), (0..CROWD as i64).collect());
        // The server saw one drop after the last agent's end.
        crowd.get_mut("server_left_ns").unwrap()[7] = 901;
        let whole = Samples::from_raw(crowd);
        let slimmed = slim(&sweep("delivery_lag_p50_ns"), &run(), whole.clone());
        let names: Vec<&str> = slimmed.columns.keys().map(String::as_str).collect();
        assert_eq!(names, ["call_agent", LEAKED_SOCKETS, RELEASE_NS, TTFT_DUE_NS, TTFT_NS]);
        let said = |of: &Samples| {
            let times =
                [release_ns(of), ttft(of), ttft_due(of)].map(|of| of.unwrap().quantile(0.5));
            (times, leaked_sockets(of))
        };
        assert_eq!(said(&whole), ([7, 100, 150], Some(1)));
        assert_eq!(said(&slimmed), said(&whole));
        assert_eq!(slim(&sweep("delivery_lag_p50_ns"), &run(), slimmed.clone()), slimmed);
    }
}
