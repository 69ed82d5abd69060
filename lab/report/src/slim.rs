//! What a committed report keeps of a run's samples.

use lab_record::{Column, Histogram, Run, Samples};

use crate::metrics::{raw_gaps_ns, raw_lags_ns};
use crate::{ledgers, schedulers, workflows};

/// Columns with a row per token.
const TOKEN_COLUMNS: [&str; 3] = ["token_received_ns", "token_sent_ns", "server_pacing_error_ns"];
const REAL_TIME_PPM: u64 = 1_000_000;

/// By family: middle repetitions of a ledger's run, what a scheduler's sections read, the times of
/// a workflow's tasks, token columns of real time for an agent's.
pub fn slim(run: &Run, samples: Samples) -> Samples {
    match run.family.as_str() {
        "ledgers" => ledgers::slim::middle_repetitions(samples),
        "schedulers" => schedulers::slim::slim(run, samples),
        "workflows" => workflows::slim::from_the_first_task(samples),
        _ => of_agents(run, samples),
    }
}

/// Keeps the token columns of runs in real time, from which lag and CPU verdicts come, and of
/// scaled runs only the distributions of what is derived from them. Columns with a row per call or
/// per agent stay raw everywhere.
fn of_agents(run: &Run, samples: Samples) -> Samples {
    let scale_ppm = run.counters.get("server_time_scale_ppm");
    if scale_ppm.is_none_or(|&ppm| ppm == REAL_TIME_PPM) {
        return samples;
    }
    let derived = [
        ("delivery_lag_ns", raw_lags_ns(&samples)),
        ("inter_token_latency_ns", raw_gaps_ns(&samples)),
        ("server_pacing_error_ns", samples.raw("server_pacing_error_ns").map(<[i64]>::to_vec)),
    ];
    let mut slim = samples;
    for column in TOKEN_COLUMNS {
        slim.columns.remove(column);
    }
    for (name, values) in derived {
        if let Some(values) = values {
            slim.columns.insert(name.to_owned(), Column::Histogram(Histogram::of(&values)));
        }
    }
    slim
}
