//! What a ledger says of the load as a whole.

use crate::ledger::{CallRecord, Ledger};

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
    /// Requests that came in a second, from the first arrival to the last.
    pub arrivals_per_s: f64,
    /// From the first request's arrival to the last stamp.
    pub span_ns: i64,
    /// 99th percentile of how much later a request was read than it had come.
    pub heard_late_p99_ns: i64,
    /// 99th percentile of stamp minus due time.
    pub pacing_p99_ns: i64,
    /// What the replies took, by [`timings`]: from a request's arrival, by the stamps.
    pub timings: Vec<(&'static str, Spread)>,
}

/// A reply as one side saw it: the server by its stamps, a client by its clock. Nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// When it was asked for.
    pub start_ns: i64,
    /// When each token was there, or each chunk, where nothing else is known.
    pub tokens_ns: Vec<i64>,
    /// Its tokens.
    pub tokens: i64,
    /// When it was over.
    pub end_ns: i64,
}

/// A distribution in short. Nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Spread {
    /// Its mean.
    pub mean_ns: f64,
    /// Its median, by nearest rank.
    pub p50_ns: i64,
    /// Its 99th percentile, by nearest rank.
    pub p99_ns: i64,
}

/// The times that load generators report of the same replies, each by its definition:
///
/// * `first_token`: from the start to the first token
/// * `reply`: from the start to the end
/// * `gap`: between two tokens, of all replies together; 0 within a chunk; nothing where tokens are
///   known by chunk alone
/// * `chunk_gap`: between two moments at which tokens came, of all replies together
/// * `mean_gap`: of a reply, from its first token to its last by their number less one
/// * `token_share`: of a reply, from its start to its end by the number of its tokens
pub fn timings(replies: &[Reply]) -> Vec<(&'static str, Spread)> {
    let spoken = || replies.iter().filter(|reply| !reply.tokens_ns.is_empty());
    let gaps = || {
        let all = spoken().flat_map(|reply| reply.tokens_ns.windows(2));
        all.map(|pair| pair[1] - pair[0])
    };
    let took = |reply: &Reply| reply.end_ns - reply.start_ns;
    let count = |reply: &Reply| reply.tokens.max(1);
    let is_by_token = spoken().all(|reply| reply.tokens == reply.tokens_ns.len() as i64);
    let long = spoken().filter(|reply| count(reply) > 1);
    let mean_gap = long.map(|reply| {
        let last_ns = reply.tokens_ns[reply.tokens_ns.len() - 1];
        (last_ns - reply.tokens_ns[0]) / (count(reply) - 1)
    });
    let all: [(&str, Vec<i64>); 6] = [
        ("first_token", spoken().map(|reply| reply.tokens_ns[0] - reply.start_ns).collect()),
        ("reply", spoken().map(took).collect()),
        ("gap", gaps().filter(|_| is_by_token).collect()),
        ("chunk_gap", gaps().filter(|gap| *gap > 0).collect()),
        ("mean_gap", mean_gap.collect()),
        ("token_share", spoken().map(|reply| took(reply) / count(reply)).collect()),
    ];
    all.into_iter().filter_map(|(name, samples)| Some((name, spread(samples)?))).collect()
}

fn spread(samples: Vec<i64>) -> Option<Spread> {
    let mean_ns = samples.iter().sum::<i64>() as f64 / samples.len() as f64;
    let [p50_ns, p99_ns] = [50, 99].map(|percent| percentile(samples.clone(), percent));
    (!samples.is_empty()).then_some(Spread { mean_ns, p50_ns, p99_ns })
}

impl Served {
    /// Reads a ledger.
    pub fn of(ledger: &Ledger) -> Self {
        let calls = &ledger.calls;
        let began = calls.iter().map(|call| call.received_ns).min().unwrap_or(0);
        let span_ns = calls.iter().map(end_ns).max().unwrap_or(0) - began;
        let came_ns = calls.iter().map(|call| call.received_ns).max().unwrap_or(0) - began;
        let busy_ns: i64 = calls.iter().map(|call| end_ns(call) - call.received_ns).sum();
        let heard = calls.iter().map(|call| call.heard_ns - call.received_ns);
        // One that was broken off has no end to compare.
        let whole = calls.iter().filter(|call| call.complete);
        let replies: Vec<Reply> = whole.map(Reply::of).collect();
        let pacing = calls.iter().flat_map(|call| call.pacing_error_ns.iter().copied());
        Self {
            requests: calls.len(),
            complete: calls.iter().filter(|call| call.complete).count(),
            tokens: calls.iter().map(|call| call.tokens).sum(),
            most_at_once: most_at_once(calls),
            mean_at_once: busy_ns as f64 / span_ns.max(1) as f64,
            arrivals_per_s: calls.len().saturating_sub(1) as f64 * 1e9 / came_ns.max(1) as f64,
            span_ns,
            heard_late_p99_ns: percentile(heard.collect(), 99),
            pacing_p99_ns: percentile(pacing.collect(), 99),
            timings: timings(&replies),
        }
    }
}

impl Reply {
    fn of(call: &CallRecord) -> Self {
        let tokens_ns = call.sent_ns.clone();
        let tokens = call.tokens as i64;
        Self { start_ns: call.received_ns, tokens_ns, tokens, end_ns: end_ns(call) }
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
    use crate::ledger::NEVER;

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
    fn each_definition_counts_the_tokens_of_a_chunk_its_own_way() {
        let stamps = vec![90, 90, 90, 120, 120];
        let reply = Reply { start_ns: 0, tokens_ns: stamps, tokens: 5, end_ns: 150 };
        let means = |reply| -> Vec<_> {
            timings(&[reply]).iter().map(|(name, spread)| (*name, spread.mean_ns)).collect()
        };
        let whole = [("first_token", 90.0), ("reply", 150.0)];
        let chunks = [("chunk_gap", 30.0), ("mean_gap", 7.0), ("token_share", 30.0)];
        assert_eq!(means(reply.clone()), [&whole[..], &[("gap", 7.5)], &chunks].concat());
        let chunked = Reply { tokens_ns: vec![90, 120], ..reply };
        assert_eq!(means(chunked), [&whole[..], &chunks].concat());
        assert_eq!(timings(&[Reply::default()]), []);
    }

    #[test]
    fn a_load_is_summed_up_by_stamps() {
        let calls = vec![call(100, &[150, 200]), call(150, &[180, 250]), call(250, &[300])];
        let served = Served::of(&Ledger { run: "r".to_owned(), calls, refused: 0 });
        assert_eq!((served.requests, served.complete, served.tokens), (3, 3, 5));
        assert_eq!((served.most_at_once, served.span_ns), (2, 200));
        assert!((served.mean_at_once - 1.25).abs() < 1e-12, "{served:?}");
        // Two more within 150 ns.
        assert!((served.arrivals_per_s - 2e9 / 150.0).abs() < 1e-3, "{served:?}");
        assert_eq!((served.heard_late_p99_ns, served.pacing_p99_ns), (3, 2));
        let p50s: Vec<_> =
            served.timings.iter().map(|(name, spread)| (*name, spread.p50_ns)).collect();
        let gaps = [("gap", 50), ("chunk_gap", 50), ("mean_gap", 50), ("token_share", 50)];
        assert_eq!(p50s, [&[("first_token", 50), ("reply", 100)][..], &gaps].concat());
        let nothing = Served::of(&Ledger { run: "r".to_owned(), calls: vec![], refused: 0 });
        assert_eq!((nothing.requests, nothing.most_at_once, nothing.span_ns), (0, 0, 0));
    }
}
