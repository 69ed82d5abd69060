//! Agents: what a client says is held against what the server knows.

use lab_protocol::{RunOutcome, agents::Workload};

use super::Columns;
use crate::paced::ServedCall;

/// Compares an outcome with the paced server's ledger and returns the server's columns, in the
/// order of the client's.
///
/// # Errors
/// A sentence that names the agent, the call and both values.
pub(crate) fn against_ledger(
    workload: &Workload,
    outcome: &RunOutcome,
    served: &[ServedCall],
) -> Result<Columns, String> {
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
        for (column, truth) in [("call_tokens", truth.tokens), ("call_text_hash", truth.text_hash)]
        {
            if said(column) != truth {
                let says = said(column);
                return Err(format!("{place}: {column} is {says}, the server sent {truth}"));
            }
        }
        if !truth.complete {
            return Err(format!("{place}: the server did not finish the reply"));
        }
        if said("call_end_ns") < truth.done_sent_ns {
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
    columns.insert("server_pacing_error_ns".to_owned(), pacing);
    Ok(columns)
}

/// What can be checked without the server's word: that the columns fit the workload, that every
/// reply has text, and that it is not longer than asked.
///
/// # Errors
/// A sentence that names the column, or the agent and call.
pub(crate) fn own_shape(workload: &Workload, outcome: &RunOutcome) -> Result<(), String> {
    let calls: Vec<_> = calls(workload).collect();
    let length = |column: &str| outcome.samples.get(column).map_or(0, Vec::len);
    for column in
        ["call_tokens", "call_text_hash", "call_start_ns", "call_end_ns", "call_eval_count"]
    {
        if length(column) != calls.len() {
            let found = length(column);
            return Err(format!(
                "column {column} has {found} rows, the run has {} calls",
                calls.len()
            ));
        }
    }
    for column in ["agent_start_ns", "agent_end_ns"] {
        if length(column) != workload.agents.len() {
            let found = length(column);
            return Err(format!(
                "column {column} has {found} rows, the run has {} agents",
                workload.agents.len()
            ));
        }
    }
    let tokens = &outcome.samples["call_tokens"];
    let total: i64 = tokens.iter().sum();
    if length("token_received_ns") as i64 != total || length("token_sent_ns") as i64 != total {
        return Err(format!("the token columns do not have {total} rows, the sum of call_tokens"));
    }
    for (row, (agent, call, _)) in calls.iter().enumerate() {
        let asked = workload.agents[*agent].calls[*call].options.num_predict;
        let eval_count = outcome.samples["call_eval_count"][row];
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
