//! What a committed report keeps of a run's samples.

use lab_record::{Column, Histogram, Question, Run, RunFile, Samples};
use lab_report::takes_part;

use crate::runtimes::cells::{UNSCALED_PPM, time_scale_ppm};
use crate::runtimes::samples::{raw_gaps_ns, raw_lags_ns, ttft_ns};

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

/// Instants of each agent and call: of thousands they are most of a record, and no metric of a
/// crowd needs them but the times to first token.
const INSTANTS: [&str; 5] = [
    "agent_start_ns",
    "agent_end_ns",
    "call_start_ns",
    "call_first_token_ns",
    "call_last_token_ns",
];

/// Beyond so many agents a run is one of a crowd.
const AGENTS_KEPT: usize = 500;

/// More tokens than two agents receive in nearly any run; of hundreds of streams nobody commits
/// everything.
const TOKENS_KEPT: usize = 10_000;

/// Keeps the token columns of runs in real time where a comparison of lags or gaps is about their
/// cell, and of other runs and of those with hundreds of streams only the distributions of what is
/// derived from them, and not even these where a run in rounds was asked for something else.
/// Columns with a row per call or per agent stay raw, but for [`CHECKED_COLUMNS`] of hundreds of
/// streams and [`INSTANTS`] of a crowd, of which the times to first token stay as a distribution.
pub(crate) fn slim(sweep: &RunFile, run: &Run, mut samples: Samples) -> Samples {
    let tokens = samples.raw(TOKEN_COLUMNS[0]).map_or(0, <[i64]>::len);
    let is_many = tokens > TOKENS_KEPT;
    if time_scale_ppm(run) == UNSCALED_PPM && !is_many && decides_on_tokens(sweep, run) {
        return samples;
    }
    if is_many {
        CHECKED_COLUMNS.iter().for_each(|column| drop(samples.columns.remove(*column)));
    }
    let ttft = (samples.raw(INSTANTS[0]).map_or(0, <[i64]>::len) > AGENTS_KEPT && is_many)
        .then(|| ttft_ns(&samples));
    let derived = [
        ("delivery_lag_ns", raw_lags_ns(&samples)),
        ("inter_token_latency_ns", raw_gaps_ns(&samples)),
        ("server_pacing_error_ns", samples.raw("server_pacing_error_ns").map(<[i64]>::to_vec)),
    ];
    let mut slim = samples;
    for column in TOKEN_COLUMNS {
        slim.columns.remove(column);
    }
    if let Some(ttft) = ttft {
        INSTANTS.iter().for_each(|column| drop(slim.columns.remove(*column)));
        slim.columns.insert("ttft_ns".to_owned(), Column::Histogram(Histogram::of(&ttft)));
    }
    let asks_for_tokens = asks_for_tokens(sweep, run);
    for (name, values) in derived {
        if let Some(values) = values.filter(|_| asks_for_tokens) {
            slim.columns.insert(name.to_owned(), Column::Histogram(Histogram::of(&values)));
        }
    }
    slim
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
}
