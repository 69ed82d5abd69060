//! What a committed report keeps of a run's samples.

use lab_record::{Column, Histogram, Run, Samples};

use crate::cells::{UNSCALED_PPM, time_scale_ppm};
use crate::samples::{raw_gaps_ns, raw_lags_ns};

/// Columns with a row per token.
const TOKEN_COLUMNS: [&str; 3] = ["token_received_ns", "token_sent_ns", "server_pacing_error_ns"];

/// Keeps the token columns of runs in real time, from which lag and CPU verdicts come, and of
/// scaled runs only the distributions of what is derived from them. Columns with a row per call or
/// per agent stay raw everywhere.
pub(crate) fn slim(run: &Run, samples: Samples) -> Samples {
    if time_scale_ppm(run) == UNSCALED_PPM {
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
