//! Agents: what a client says is held against what the server knows.

use lab_family::{Checked, Columns, ServedCall, column};
use lab_protocol::runtimes::names;
use lab_protocol::{RunOutcome, runtimes::Workload};
use lab_record::Verification;

/// Columns with a row for each call that every outcome has.
const OF_CALLS: [&str; 5] = [
    names::CALL_TOKENS,
    names::CALL_TEXT_HASH,
    names::CALL_START_NS,
    names::CALL_END_NS,
    names::CALL_EVAL_COUNT,
];

/// Compares an outcome with the paced server's ledger and returns the server's columns, in the
/// order of the client's.
///
/// # Errors
/// A sentence that names the agent, the call and both values.
pub(crate) fn against_server(
    workload: &Workload,
    outcome: &RunOutcome,
    served: &[ServedCall],
) -> Result<Checked, String> {
    own_shape(workload, outcome)?;
    let mut columns = Columns::new();
    let mut push = |name: &str, value: i64| {
        columns.entry(format!("server_{name}")).or_default().push(value);
    };
    let mut pacing = Vec::new();
    for (row, (agent, call, seed)) in calls(workload).enumerate() {
        let place = format!("agent {agent}, call {call}");
        let served: Vec<_> = served.iter().filter(|one| one.seed == seed).collect();
        let [truth] = served[..] else {
            return Err(format!(
                "{place}: the server saw {} requests for it, not one",
                served.len()
            ));
        };
        let said = |column: &str| outcome.samples[column][row];
        for (column, truth) in [
            (names::CALL_TOKENS, truth.tokens),
            (names::CALL_TEXT_HASH, truth.text_hash),
            (names::CALL_EVAL_COUNT, truth.tokens),
        ] {
            if said(column) != truth {
                let says = said(column);
                return Err(format!("{place}: {column} is {says}, the server sent {truth}"));
            }
        }
        if !truth.complete {
            return Err(format!("{place}: the server did not finish the reply"));
        }
        if said(names::CALL_END_NS) < truth.done_sent_ns {
            return Err(format!("{place}: says that it ended before the server had sent the end"));
        }
        push("received_ns", truth.received_ns);
        push("first_due_ns", truth.first_due_ns);
        push("first_sent_ns", truth.first_sent_ns);
        push("last_sent_ns", truth.last_sent_ns);
        push("done_sent_ns", truth.done_sent_ns);
        push("tokens", truth.tokens);
        push("text_hash", truth.text_hash);
        pacing.extend_from_slice(&truth.pacing_error_ns);
    }
    let counters = [("p50", 50), ("p99", 99)].map(|(name, percent)| {
        (format!("server_pacing_error_{name}_ns"), nearest_rank(&pacing, percent))
    });
    columns.insert("server_pacing_error_ns".to_owned(), pacing);
    Ok(Checked { columns, counters: counters.into(), verification: Verification::Verified })
}

/// What can be checked without the server's word: that the columns fit the workload, that every
/// reply has text, and that it is not longer than asked.
///
/// # Errors
/// A sentence that names the column, or the agent and call.
pub(crate) fn own_shape(workload: &Workload, outcome: &RunOutcome) -> Result<(), String> {
    let calls: Vec<_> = calls(workload).collect();
    for name in OF_CALLS {
        column(outcome, name, calls.len())?;
    }
    for name in [names::AGENT_START_NS, names::AGENT_END_NS] {
        column(outcome, name, workload.agents.len())?;
    }
    let tokens = &outcome.samples[names::CALL_TOKENS];
    let total: i64 = tokens.iter().sum();
    for name in [names::TOKEN_RECEIVED_NS, names::TOKEN_SENT_NS] {
        column(outcome, name, total as usize)?;
    }
    for (row, (agent, call, _)) in calls.iter().enumerate() {
        let asked = workload.agents[*agent].calls[*call].options.num_predict;
        let eval_count = outcome.samples[names::CALL_EVAL_COUNT][row];
        // A line may carry more than one token, so the server's own count is the bound.
        if tokens[row] < 1 || tokens[row] > asked || eval_count > asked {
            return Err(format!(
                "agent {agent}, call {call}: {} lines with text and {eval_count} tokens \
                 evaluated, asked were {asked}",
                tokens[row]
            ));
        }
    }
    Ok(())
}

fn calls(workload: &Workload) -> impl Iterator<Item = (usize, usize, i64)> + '_ {
    workload.agents.iter().enumerate().flat_map(|(agent, of)| {
        of.calls.iter().enumerate().map(move |(call, one)| (agent, call, one.options.seed))
    })
}

fn nearest_rank(values: &[i64], percent: usize) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(rank).map_or(0, |&value| value.max(0) as u64)
}
