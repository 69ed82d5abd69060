//! What one run says: pure functions of its samples and counters.
//!
//! Every function returns `None` (or an empty list) where the columns it needs are not there, for
//! example with a real server that stamps no token.

use lab_protocol::runtimes::names;
use lab_record::{Run, Samples};
use lab_report::Distribution;
use lab_stats::describe::median;

/// First agent's start to last agent's end.
pub(crate) fn wall_ns(run: &Run) -> Option<f64> {
    run.counters.get(names::WALL_NS).map(|&ns| ns as f64)
}

/// How long each agent took, in the order of the workload.
pub(crate) fn agent_durations_ns(samples: &Samples) -> Option<Vec<i64>> {
    column_difference(samples, names::AGENT_END_NS, names::AGENT_START_NS)
}

/// The share of the shortest agent's time during which all agents ran at once: 1 where they
/// overlap fully, 0 where they ran one after the other.
pub(crate) fn overlap(samples: &Samples) -> Option<f64> {
    let (starts, ends) = (samples.raw(names::AGENT_START_NS)?, samples.raw(names::AGENT_END_NS)?);
    let shared = ends.iter().min()? - starts.iter().max()?;
    let shortest = *agent_durations_ns(samples)?.iter().min()?;
    (shortest > 0).then(|| shared.max(0) as f64 / shortest as f64)
}

/// Time to first token (TTFT) of each call: first token received minus start of the request.
pub(crate) fn ttft_ns(samples: &Samples) -> Vec<i64> {
    column_difference(samples, names::CALL_FIRST_TOKEN_NS, names::CALL_START_NS).unwrap_or_default()
}

/// The times to first token of a run, of [`ttft_ns`].
pub(crate) fn ttft(samples: &Samples) -> Option<Distribution> {
    let calls = ttft_ns(samples);
    raw_or_stored((!calls.is_empty()).then_some(calls), samples, TTFT_NS)
}

/// Names of columns that keep the distribution of what a slimmed record lacks.
pub(crate) const TTFT_NS: &str = "ttft_ns";
pub(crate) const TTFT_DUE_NS: &str = "ttft_due_ns";
pub(crate) const RELEASE_NS: &str = "release_ns";
/// The name of a column with one row, which a slimmed record has instead of instants.
pub(crate) const LEAKED_SOCKETS: &str = "leaked_sockets";

/// From the columns that it is computed of, or as it is stored where those were slimmed.
fn raw_or_stored(raw: Option<Vec<i64>>, samples: &Samples, name: &str) -> Option<Distribution> {
    match raw {
        Some(values) => Distribution::of(values),
        None => Distribution::of_column(samples, name),
    }
}

/// Inter-token latency (ITL): time between two tokens of the same call, as the client saw them.
/// From the token column, cut into calls by `call_tokens`; or from a stored
/// `inter_token_latency_ns` where the token columns were slimmed.
pub(crate) fn inter_token_ns(samples: &Samples) -> Option<Distribution> {
    raw_or_stored(raw_gaps_ns(samples), samples, "inter_token_latency_ns")
}

/// The gaps of [`inter_token_ns`], where the token columns are raw.
pub(crate) fn raw_gaps_ns(samples: &Samples) -> Option<Vec<i64>> {
    let received = samples.raw(names::TOKEN_RECEIVED_NS)?;
    let calls = by_call(received, samples.raw(names::CALL_TOKENS)?)?;
    let gaps = |call: &[i64]| call.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    Some(calls.into_iter().flat_map(gaps).collect())
}

/// A column with a row per token, cut into calls by their tokens; `None` where it has other rows.
pub(crate) fn by_call<'s>(column: &'s [i64], tokens: &[i64]) -> Option<Vec<&'s [i64]>> {
    let mut rest = column;
    let mut calls = Vec::with_capacity(tokens.len());
    for &tokens in tokens {
        let (call, after) = rest.split_at_checked(usize::try_from(tokens).ok()?)?;
        calls.push(call);
        rest = after;
    }
    rest.is_empty().then_some(calls)
}

/// Delivery lag: token handed to the agent minus the server's stamp just before it wrote. Server
/// and client share one clock, so the server's own pace does not enter. From the two token columns;
/// or from a stored `delivery_lag_ns` where those were slimmed.
pub(crate) fn delivery_lag_ns(samples: &Samples) -> Option<Distribution> {
    raw_or_stored(raw_lags_ns(samples), samples, "delivery_lag_ns")
}

/// The lags of [`delivery_lag_ns`], where the token columns are raw.
pub(crate) fn raw_lags_ns(samples: &Samples) -> Option<Vec<i64>> {
    let (received, sent) =
        (samples.raw(names::TOKEN_RECEIVED_NS)?, samples.raw(names::TOKEN_SENT_NS)?);
    if received.len() != sent.len() {
        return None;
    }
    let stamped = received.iter().zip(sent).filter(|(_, sent)| **sent >= 0);
    Some(stamped.map(|(received, sent)| received - sent).collect())
}

/// How long the server took to see that a client had closed a dropped reply's connection; nothing
/// of those that it never saw.
pub(crate) fn release_ns(samples: &Samples) -> Option<Distribution> {
    raw_or_stored(raw_releases_ns(samples), samples, RELEASE_NS)
}

/// The times of [`release_ns`], where the instants are raw.
pub(crate) fn raw_releases_ns(samples: &Samples) -> Option<Vec<i64>> {
    let pairs = dropped_and_left(samples)?.filter(|(_, left)| *left >= 0);
    Some(pairs.map(|(dropped, left)| left - dropped).collect())
}

/// Dropped replies whose connection was not closed when they ended or the last agent did.
pub(crate) fn leaked_sockets(samples: &Samples) -> Option<i64> {
    if let Some(stored) = samples.raw(LEAKED_SOCKETS) {
        return stored.first().copied();
    }
    let end = *samples.raw(names::AGENT_END_NS)?.iter().max()?;
    let is_open = |(_, left): &(i64, i64)| *left < 0 || *left > end;
    i64::try_from(dropped_and_left(samples)?.filter(is_open).count()).ok()
}

fn dropped_and_left(samples: &Samples) -> Option<impl Iterator<Item = (i64, i64)>> {
    let (dropped, left) = (samples.raw(names::CALL_DROPPED_NS)?, samples.raw("server_left_ns")?);
    let pairs = dropped.iter().copied().zip(left.iter().copied());
    Some(pairs.filter(|(dropped, _)| *dropped >= 0))
}

/// Tokens that the server wrote after a drop and before it saw it, mean over dropped replies.
pub(crate) fn tokens_after_drop(samples: &Samples) -> Option<f64> {
    let counts = samples.raw("server_after_drop_tokens")?;
    let counts: Vec<i64> = counts.iter().copied().filter(|count| *count >= 0).collect();
    (!counts.is_empty()).then(|| counts.iter().sum::<i64>() as f64 / counts.len() as f64)
}

/// How long after its intended start an agent had its first token: with what it waited for its
/// client before it could ask.
pub(crate) fn ttft_due(samples: &Samples) -> Option<Distribution> {
    raw_or_stored(raw_ttft_due_ns(samples), samples, TTFT_DUE_NS)
}

/// The times of [`ttft_due`], where the instants are raw.
pub(crate) fn raw_ttft_due_ns(samples: &Samples) -> Option<Vec<i64>> {
    let due = samples.raw(names::AGENT_DUE_NS)?;
    let first = samples.raw(names::CALL_FIRST_TOKEN_NS)?;
    let agents = samples.raw(names::CALL_AGENT)?;
    let mut since = vec![None; due.len()];
    for (&agent, &first) in agents.iter().zip(first) {
        let place = usize::try_from(agent).ok()?;
        // The first call is the earliest.
        since.get_mut(place)?.get_or_insert(first - due[place]);
    }
    since.into_iter().collect()
}

/// Non-empty replies' tokens over all calls.
pub(crate) fn tokens(samples: &Samples) -> Option<i64> {
    Some(samples.raw(names::CALL_TOKENS)?.iter().sum())
}

/// Tokens of each agent.
pub(crate) fn tokens_per_agent(samples: &Samples) -> Option<Vec<i64>> {
    sum_by_agent(samples, samples.raw(names::CALL_TOKENS)?)
}

/// Rate of a stream while it streams, as the client saw it: gaps between tokens over the time they
/// took, pooled over the calls of the run.
pub(crate) fn tokens_per_s_client(samples: &Samples) -> Option<f64> {
    let streaming =
        column_difference(samples, names::CALL_LAST_TOKEN_NS, names::CALL_FIRST_TOKEN_NS)?;
    let counts = samples.raw(names::CALL_TOKENS)?;
    let gaps: i64 = counts.iter().map(|tokens| (tokens - 1).max(0)).sum();
    per_second(gaps, streaming.iter().sum())
}

/// Rate of a stream by the server's own account: Σ eval_count ÷ Σ eval_duration. Blind to the
/// client.
pub(crate) fn tokens_per_s_server(samples: &Samples) -> Option<f64> {
    let counts = said(samples.raw(names::CALL_EVAL_COUNT)?)?;
    let durations = said(samples.raw(names::CALL_EVAL_NS)?)?;
    per_second(counts.iter().sum(), durations.iter().sum())
}

/// Time that each agent's calls spent on the server: reply finished minus request received on the
/// paced server, `total_duration` on a real one.
pub(crate) fn server_durations_ns(samples: &Samples) -> Option<Vec<i64>> {
    let stamped = column_difference(samples, "server_done_sent_ns", "server_received_ns");
    let calls = match stamped {
        Some(calls) => calls,
        None => said(samples.raw(names::CALL_SERVER_TOTAL_NS)?)?.to_vec(),
    };
    sum_by_agent(samples, &calls)
}

/// Client CPU time per token while tokens streamed.
pub(crate) fn cpu_per_token_ns(run: &Run, samples: &Samples) -> Option<f64> {
    let tokens = tokens(samples).filter(|tokens| *tokens > 0)?;
    Some(*run.counters.get(names::CPU_STREAMING_NS)? as f64 / tokens as f64)
}

fn column_difference(samples: &Samples, later: &str, earlier: &str) -> Option<Vec<i64>> {
    let (later, earlier) = (samples.raw(later)?, samples.raw(earlier)?);
    let aligned = later.len() == earlier.len() && !later.is_empty();
    aligned.then(|| later.iter().zip(earlier).map(|(later, earlier)| later - earlier).collect())
}

/// The share of all threads' time in which the client computed while tokens streamed: 1 where every
/// thread was busy.
pub(crate) fn threads_busy_share(run: &Run, samples: &Samples) -> Option<f64> {
    let first = samples.raw(names::CALL_FIRST_TOKEN_NS)?.iter().min()?;
    let last = samples.raw(names::CALL_LAST_TOKEN_NS)?.iter().max()?;
    let threads = *run.counters.get(names::THREADS)? as f64;
    let of_all = (last - first) as f64 * threads;
    let cpu = *run.counters.get(names::CPU_STREAMING_NS)? as f64;
    (of_all > 0.0).then(|| cpu / of_all)
}

/// Times that an agent was given bytes on another thread than before, over all agents.
pub(crate) fn migrations(samples: &Samples) -> Option<f64> {
    Some(samples.raw(names::AGENT_MIGRATIONS)?.iter().sum::<i64>() as f64)
}

/// Tasks in the runtime's own queue when bytes came, mean over the readings.
pub(crate) fn queue_depth_mean(run: &Run) -> Option<f64> {
    let counter = |name: &str| run.counters.get(name).map(|&count| count as f64);
    let readings = counter(names::QUEUE_DEPTH_SAMPLES).filter(|count| *count > 0.0)?;
    Some(counter(names::QUEUE_DEPTH_SUM)? / readings)
}

/// The tokens of each call's prompt, as the server counted them.
pub(crate) fn prompt_tokens(samples: &Samples) -> Option<Vec<f64>> {
    let counts = said(samples.raw(names::CALL_PROMPT_EVAL_COUNT)?)?;
    Some(counts.iter().map(|&count| count as f64).collect())
}

/// The times to first token of each agent's calls.
pub(crate) fn ttft_by_agent(samples: &Samples) -> Option<Vec<Vec<i64>>> {
    let (agents, calls) = (samples.raw(names::CALL_AGENT)?, ttft_ns(samples));
    if agents.len() != calls.len() {
        return None;
    }
    let mut by_agent = vec![Vec::new(); samples.raw(names::AGENT_START_NS)?.len()];
    for (&agent, ns) in agents.iter().zip(calls) {
        by_agent.get_mut(usize::try_from(agent).ok()?)?.push(ns);
    }
    Some(by_agent)
}

/// Each agent's median time to first token, in nanoseconds.
pub(crate) fn ttft_per_agent(samples: &Samples) -> Option<Vec<f64>> {
    let middle =
        |calls: Vec<i64>| median(&calls.into_iter().map(|ns| ns as f64).collect::<Vec<_>>());
    ttft_by_agent(samples)?.into_iter().map(middle).collect()
}

/// The rate of each agent's streams while they stream, as the client saw it.
pub(crate) fn stream_rates_per_agent(samples: &Samples) -> Option<Vec<Option<f64>>> {
    let times = column_difference(samples, names::CALL_LAST_TOKEN_NS, names::CALL_FIRST_TOKEN_NS)?;
    let counts = samples.raw(names::CALL_TOKENS)?.iter();
    let gaps: Vec<i64> = counts.map(|tokens| (tokens - 1).max(0)).collect();
    let (gaps, times) = (sum_by_agent(samples, &gaps)?, sum_by_agent(samples, &times)?);
    Some(gaps.into_iter().zip(times).map(|(gaps, ns)| per_second(gaps, ns)).collect())
}

fn sum_by_agent(samples: &Samples, calls: &[i64]) -> Option<Vec<i64>> {
    let agents = samples.raw(names::CALL_AGENT)?;
    if agents.len() != calls.len() {
        return None;
    }
    let mut sums = vec![0; samples.raw(names::AGENT_START_NS)?.len()];
    for (&agent, call) in agents.iter().zip(calls) {
        *sums.get_mut(usize::try_from(agent).ok()?)? += call;
    }
    Some(sums)
}

/// The column, where the server filled every row of it.
fn said(column: &[i64]) -> Option<&[i64]> {
    (!column.is_empty() && column.iter().all(|value| *value >= 0)).then_some(column)
}

fn per_second(count: i64, ns: i64) -> Option<f64> {
    (count > 0 && ns > 0).then(|| count as f64 * 1e9 / ns as f64)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use lab_record::{Column, Histogram};

    use super::*;

    /// Two agents with one call each: 3 tokens and 2 tokens.
    pub(crate) fn samples() -> Samples {
        let columns: [(&str, &[i64]); 18] = [
            ("agent_due_ns", &[0, 5]),
            ("agent_start_ns", &[0, 10]),
            ("agent_end_ns", &[1_000, 510]),
            ("agent_migrations", &[3, 1]),
            ("call_agent", &[0, 1]),
            ("call_start_ns", &[100, 110]),
            ("call_first_token_ns", &[300, 260]),
            ("call_last_token_ns", &[900, 460]),
            ("call_tokens", &[3, 2]),
            ("call_eval_count", &[3, 2]),
            ("call_eval_ns", &[750, 500]),
            ("call_server_total_ns", &[800, 400]),
            ("call_prompt_eval_count", &[20, 30]),
            ("token_received_ns", &[300, 600, 900, 260, 460]),
            ("token_sent_ns", &[290, 580, 870, 220, 410]),
            ("call_dropped_ns", &[-1, 480]),
            ("server_left_ns", &[-1, 500]),
            ("server_after_drop_tokens", &[-1, 1]),
        ];
        Samples::from_raw(
            columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec())).collect(),
        )
    }

    #[test]
    fn agents_calls_and_tokens_are_read_row_by_row() {
        let samples = samples();
        assert_eq!(agent_durations_ns(&samples), Some(vec![1_000, 500]));
        assert_eq!(overlap(&samples), Some(1.0));
        assert_eq!(ttft_ns(&samples), [200, 150]);
        assert_eq!(tokens_per_agent(&samples), Some(vec![3, 2]));
        assert_eq!(server_durations_ns(&samples), Some(vec![800, 400]));
    }

    #[test]
    fn no_gap_is_counted_between_two_calls() {
        let gaps = inter_token_ns(&samples()).unwrap();
        assert_eq!((gaps.quantile(0.01), gaps.quantile(0.5), gaps.max()), (200, 300, 300));
    }

    #[test]
    fn rates_pool_the_calls() {
        // 3 gaps in 600 + 200 ns; 5 tokens in 1250 ns of evaluation.
        assert_eq!(tokens_per_s_client(&samples()), Some(3.0 * 1e9 / 800.0));
        assert_eq!(tokens_per_s_server(&samples()), Some(5.0 * 1e9 / 1_250.0));
        // And an agent its own: 2 gaps in 600 ns, 1 in 200.
        let rates = stream_rates_per_agent(&samples()).unwrap();
        assert_eq!(rates, [Some(2.0 * 1e9 / 600.0), Some(1e9 / 200.0)]);
        assert_eq!(ttft_by_agent(&samples()).unwrap(), [[200], [150]]);
    }

    #[test]
    fn lag_is_received_minus_sent_by_nearest_rank() {
        let lag = delivery_lag_ns(&samples()).unwrap(); // 10, 20, 30, 40, 50
        let read = [0.5, 0.9, 0.99].map(|p| lag.quantile(p));
        assert_eq!((read, lag.max()), ([30, 50, 50], 50));
    }

    #[test]
    fn a_drop_lasts_until_the_server_has_seen_it() {
        let mut samples = samples();
        assert_eq!(release_ns(&samples).unwrap().max(), 20);
        assert_eq!((leaked_sockets(&samples), tokens_after_drop(&samples)), (Some(0), Some(1.0)));
        // After the last agent, or never.
        for left in [1_001, -1] {
            samples.columns.insert("server_left_ns".into(), Column::Raw(vec![-1, left]));
            assert_eq!(leaked_sockets(&samples), Some(1));
        }
        assert!(release_ns(&samples).is_none());
    }

    #[test]
    fn what_an_agent_waited_for_its_client_counts_from_its_intended_start() {
        let since = ttft_due(&samples()).unwrap();
        assert_eq!((since.quantile(0.5), since.max()), (255, 300));
    }

    #[test]
    fn a_slimmed_record_keeps_its_lag() {
        let lags: Vec<i64> = (1..=100).collect();
        let column = Column::Histogram(Histogram::of(&lags));
        let slim = Samples { columns: BTreeMap::from([("delivery_lag_ns".to_owned(), column)]) };
        let lag = delivery_lag_ns(&slim).unwrap();
        assert_eq!((lag.quantile(0.5), lag.quantile(0.99)), (50, 99));
    }

    #[test]
    fn an_unstamped_token_or_a_missing_column_is_no_lag() {
        let mut samples = samples();
        samples.columns.insert("token_sent_ns".into(), Column::Raw(vec![-1; 5]));
        assert!(delivery_lag_ns(&samples).is_none());
        samples.columns.remove("call_agent");
        assert_eq!(tokens_per_agent(&samples), None);
    }
}
