//! What a ledger says of the load as a whole.

use crate::ledger::{CallRecord, Ledger, NEVER};

/// The load of a run, by the server's own stamps. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    /// Requests that got a reply, whole or in part.
    pub requests: usize,
    /// Of them, those whose reply went out to its end.
    pub complete: usize,
    /// Tokens that were stamped.
    pub tokens: usize,
    /// Requests that were there at once, at most.
    pub most_at_once: usize,
    /// The same on average, from the first request's arrival to the last stamp.
    pub mean_at_once: f64,
    /// From the first request's arrival to the last stamp.
    pub span_ns: i64,
    /// 99th percentile of how much later a request was read than it had come.
    pub heard_late_p99_ns: i64,
    /// 99th percentile of stamp minus due time.
    pub pacing_p99_ns: i64,
    /// Median time from a request's arrival to its first token's stamp.
    pub first_token_p50_ns: i64,
}

impl Served {
    /// Reads a ledger.
    pub fn of(ledger: &Ledger) -> Self {
        let calls = &ledger.calls;
        let began = calls.iter().map(|call| call.received_ns).min().unwrap_or(0);
        let span_ns = calls.iter().map(end_ns).max().unwrap_or(0) - began;
        let busy_ns: i64 = calls.iter().map(|call| end_ns(call) - call.received_ns).sum();
        let heard = calls.iter().map(|call| call.heard_ns - call.received_ns);
        let first = calls.iter().filter(|call| call.first_sent_ns != NEVER);
        let first = first.map(|call| call.first_sent_ns - call.received_ns);
        let pacing = calls.iter().flat_map(|call| call.pacing_error_ns.iter().copied());
        Self {
            requests: calls.len(),
            complete: calls.iter().filter(|call| call.complete).count(),
            tokens: calls.iter().map(|call| call.tokens).sum(),
            most_at_once: most_at_once(calls),
            mean_at_once: busy_ns as f64 / span_ns.max(1) as f64,
            span_ns,
            heard_late_p99_ns: percentile(heard.collect(), 99),
            pacing_p99_ns: percentile(pacing.collect(), 99),
            first_token_p50_ns: percentile(first.collect(), 50),
        }
    }
}

/// The last stamp of a call; a call without any is over as soon as it is there.
fn end_ns(call: &CallRecord) -> i64 {
    call.done_sent_ns.max(call.last_sent_ns).max(call.received_ns)
}

fn most_at_once(calls: &[CallRecord]) -> usize {
    // At one moment those that end go before those that come.
    let mut changes: Vec<(i64, i64)> =
        calls.iter().flat_map(|call| [(call.received_ns, 1), (end_ns(call), -1)]).collect();
    changes.sort_unstable();
    let mut there = 0;
    let counts = changes.iter().map(|(_, change)| {
        there += change;
        there
    });
    counts.max().unwrap_or(0).max(0) as usize
}

/// By nearest rank; 0 of nothing.
fn percentile(mut samples: Vec<i64>, percent: usize) -> i64 {
    samples.sort_unstable();
    let rank = (samples.len() * percent).div_ceil(100).max(1);
    samples.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(received_ns: i64, sent_ns: &[i64]) -> CallRecord {
        let last = sent_ns.last().copied().unwrap_or(NEVER);
        CallRecord {
            id: String::new(),
            seed: 0,
            port_index: 0,
            received_ns,
            heard_ns: received_ns + 3,
            first_due_ns: NEVER,
            first_sent_ns: sent_ns.first().copied().unwrap_or(NEVER),
            last_sent_ns: last,
            done_sent_ns: last,
            tokens: sent_ns.len(),
            text_hash: 0,
            sent_ns: sent_ns.to_vec(),
            pacing_error_ns: vec![2; sent_ns.len()],
            left_ns: NEVER,
            buffered_writes: 0,
            complete: !sent_ns.is_empty(),
        }
    }

    #[test]
    fn a_load_is_summed_up_by_stamps() {
        let calls = vec![call(100, &[150, 200]), call(150, &[180, 250]), call(250, &[300])];
        let served = Served::of(&Ledger { run: "r".to_owned(), calls, refused: 0 });
        assert_eq!((served.requests, served.complete, served.tokens), (3, 3, 5));
        assert_eq!((served.most_at_once, served.span_ns), (2, 200));
        assert!((served.mean_at_once - 1.25).abs() < 1e-12, "{served:?}");
        assert_eq!((served.heard_late_p99_ns, served.pacing_p99_ns), (3, 2));
        assert_eq!(served.first_token_p50_ns, 50);
        let nothing = Served::of(&Ledger { run: "r".to_owned(), calls: vec![], refused: 0 });
        assert_eq!((nothing.requests, nothing.most_at_once, nothing.span_ns), (0, 0, 0));
    }
}
