//! Where a generator's report is found, and what it says.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::Path,
    time::SystemTime,
};

use lab_import::generators::{Quantity, Reported, reported};
use lab_sim::{Reply, timings};
use serde_json::Value;

use super::OUTPUT_BYTES_MAX;
use crate::Failure;

/// As reports name a client of the lab's own.
const OURS: &str = "lab";

/// The report that the generator wrote since `began`; `None` where it is of no known one.
pub(super) fn of_file(path: &Path, began: SystemTime) -> Result<Option<Reported>, Failure> {
    let unread = |error: &dyn std::fmt::Display| {
        Failure::failed(format!("the generator's report {}: {error}", path.display()))
    };
    let mut file = File::open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => unread(&"it was not written"),
        _ => unread(&error),
    })?;
    let written = file.metadata().and_then(|about| about.modified());
    if written.map_err(|error| unread(&error))? < began {
        return Err(unread(&"it is from before; nothing was written over it"));
    }
    let mut text = Vec::new();
    let whole = file.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut text);
    whole.map_err(|error| unread(&error))?;
    Ok(of_output(&text))
}

/// The report among what the generator printed: all of it, or the last line that is one.
pub(super) fn of_output(stdout: &[u8]) -> Option<Reported> {
    let text = String::from_utf8_lossy(stdout);
    let whole = serde_json::from_str::<Value>(text.trim()).ok();
    let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    whole.into_iter().chain(lines).find_map(|value| reported(&value).or_else(|| of_run(&value)))
}

/// What a client of the lab's own says, from the samples of its outcome.
fn of_run(outcome: &Value) -> Option<Reported> {
    let column = |name: &str| -> Option<Vec<i64>> {
        outcome["samples"][name].as_array()?.iter().map(Value::as_i64).collect()
    };
    let [starts, ends, chunks, counts] =
        ["call_start_ns", "call_end_ns", "call_tokens", "call_eval_count"].map(column);
    let (starts, ends, counts) = (starts?, ends?, counts?);
    let received = column("token_received_ns")?;
    let mut received = received.into_iter();
    let mut replies = Vec::new();
    for (call, chunks) in chunks?.into_iter().enumerate() {
        let tokens_ns: Vec<i64> = received.by_ref().take(usize::try_from(chunks).ok()?).collect();
        // Where the server did not say how many they were, each is taken for a token.
        let tokens = counts.get(call).copied().filter(|count| *count >= chunks).unwrap_or(chunks);
        let (start_ns, end_ns) = (*starts.get(call)?, *ends.get(call)?);
        replies.push(Reply { start_ns, tokens_ns, tokens, end_ns });
    }
    let tokens = replies.iter().map(|reply| reply.tokens).sum::<i64>() as f64;
    let took_ns = ends.iter().max()? - starts.iter().min()?;
    let number = |name, value: f64| Quantity { name, mean: Some(value), p50: None, p99: None };
    let tokens_per_s = tokens * 1e9 / took_ns.max(1) as f64;
    let numbers = [
        number("requests", replies.len() as f64),
        number("tokens", tokens),
        number("tokens_per_s", tokens_per_s),
    ];
    let times = timings(&replies).into_iter().map(|(name, spread)| Quantity {
        name,
        mean: Some(spread.mean_ns),
        p50: Some(spread.p50_ns as f64),
        p99: Some(spread.p99_ns as f64),
    });
    Some(Reported { tool: OURS, quantities: numbers.into_iter().chain(times).collect() })
}
