//! Agents: what a client says is held against what the server knows.

use lab_family::{Checked, Columns, ServedCall, column};
use lab_protocol::runtimes::names;
use lab_protocol::{RunOutcome, runtimes::Workload};
use lab_record::Verification;

use crate::runtimes::samples::by_call;

/// Columns with a row for each call that every outcome has.
const OF_CALLS: [&str; 8] = [
    names::CALL_AGENT,
    names::CALL_FIRST_TOKEN_NS,
    names::CALL_LAST_TOKEN_NS,
    names::CALL_TOKENS,
    names::CALL_TEXT_HASH,
    names::CALL_START_NS,
    names::CALL_END_NS,
    names::CALL_EVAL_COUNT,
];

/// Compares an outcome with the paced server's ledger and returns the server's columns, in the
/// order of the client's. Agents ask the `servers` in turn.
///
/// # Errors
/// A sentence that names the agent, the call and both values.
pub(crate) fn against_server(
    workload: &Workload,
    servers: usize,
    outcome: &RunOutcome,
    served: &[ServedCall],
) -> Result<Checked, String> {
    own_shape(workload, outcome)?;
    let stamps = &outcome.samples[names::TOKEN_SENT_NS];
    let stamps = by_call(stamps, &outcome.samples[names::CALL_TOKENS]);
    let stamps = stamps.expect("the columns of tokens fit the calls");
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
        asked_its_server(truth, agent % servers).map_err(|why| format!("{place}: {why}"))?;
        told_its_stamps(truth, stamps[row]).map_err(|why| format!("{place}: {why}"))?;
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

fn asked_its_server(truth: &ServedCall, server: usize) -> Result<(), String> {
    match truth.port_index == server {
        true => Ok(()),
        false => Err(format!("asked server {}, not its own, {server}", truth.port_index)),
    }
}

/// The server stamps every token, and keeps the first and the last stamp of a call: from those the
/// client must measure its lag.
fn told_its_stamps(truth: &ServedCall, stamps: &[i64]) -> Result<(), String> {
    for (which, says, truth) in [
        ("first", stamps.first(), truth.first_sent_ns),
        ("last", stamps.last(), truth.last_sent_ns),
    ] {
        if let Some(says) = says.filter(|says| **says != truth) {
            let name = names::TOKEN_SENT_NS;
            return Err(format!("its {which} {name} is {says}, the server's stamp was {truth}"));
        }
    }
    Ok(())
}

/// What can be checked without the server's word: that the columns fit the workload, that every
/// call is its agent's, and that its reply has text and is not longer than asked.
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
    let total = tokens.iter().copied().fold(0, i64::saturating_add);
    for name in [names::TOKEN_RECEIVED_NS, names::TOKEN_SENT_NS] {
        column(outcome, name, total as usize)?;
    }
    for (row, (agent, call, _)) in calls.iter().enumerate() {
        let owner = outcome.samples[names::CALL_AGENT][row];
        if usize::try_from(owner) != Ok(*agent) {
            return Err(format!("agent {agent}, call {call}: call_agent is {owner}"));
        }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Two agents with a call each, of 3 tokens and of 2.
    fn workload() -> Workload {
        let agent = |seed: i64, num_predict: i64| {
            let options = json!({ "seed": seed, "num_predict": num_predict });
            json!({ "server": "", "model": "m", "calls": [{ "prompt": "p", "options": options }] })
        };
        let workload = json!({
            "arrangement": "concurrent", "stall_timeout_ms": 1, "ingest_dir": null,
            "agents": [agent(7, 3), agent(8, 2)],
        });
        serde_json::from_value(workload).expect("a workload")
    }

    fn outcome() -> Value {
        json!({
            "protocol": 1, "run": "r", "status": "ok", "counters": {},
            "samples": {
                "agent_start_ns": [0, 10], "agent_end_ns": [1_000, 510],
                "call_agent": [0, 1], "call_start_ns": [100, 110], "call_end_ns": [950, 510],
                "call_first_token_ns": [300, 260], "call_last_token_ns": [900, 460],
                "call_tokens": [3, 2], "call_eval_count": [3, 2], "call_text_hash": [-5, 6],
                "token_received_ns": [300, 600, 900, 260, 460],
                "token_sent_ns": [290, 580, 870, 220, 410],
            },
        })
    }

    fn served() -> Value {
        let call = |seed: i64, port: usize, stamps: [i64; 5], tokens: i64, hash: i64| {
            let [received, due, first, last, done] = stamps;
            json!({
                "seed": seed, "port_index": port, "received_ns": received, "first_due_ns": due,
                "first_sent_ns": first, "last_sent_ns": last, "done_sent_ns": done,
                "tokens": tokens, "text_hash": hash, "pacing_error_ns": vec![1; tokens as usize],
                "complete": true,
            })
        };
        json!([
            call(7, 0, [110, 289, 290, 870, 940], 3, -5),
            call(8, 1, [120, 219, 220, 410, 500], 2, 6),
        ])
    }

    fn checked(servers: usize, outcome: Value, served: Value) -> Result<Checked, String> {
        let outcome: RunOutcome = serde_json::from_value(outcome).expect("an outcome");
        let served: Vec<ServedCall> = serde_json::from_value(served).expect("calls");
        against_server(&workload(), servers, &outcome, &served)
    }

    #[test]
    fn what_the_server_saw_is_right() {
        let checked = checked(2, outcome(), served()).unwrap();
        assert_eq!(checked.verification, Verification::Verified);
        assert_eq!(checked.columns["server_first_sent_ns"], [290, 220]);
        assert_eq!(checked.columns["server_pacing_error_ns"], [1; 5]);
    }

    #[test]
    fn what_the_server_did_not_see_is_a_wrong_answer() {
        for (column, row, value, said) in [
            ("call_agent", 1, 0, "agent 1, call 0: call_agent is 0"),
            ("call_tokens", 0, 4, "column token_received_ns has 5 rows, not 6"),
            ("call_tokens", 0, i64::MAX, "column token_received_ns has 5 rows, not 92233720"),
            ("call_eval_count", 0, 2, "call_eval_count is 2, the server sent 3"),
            ("call_eval_count", 1, 3, "2 lines with text and 3 tokens evaluated, asked were 2"),
            ("call_text_hash", 1, 7, "agent 1, call 0: call_text_hash is 7, the server sent 6"),
            ("call_end_ns", 0, 939, "ended before the server had sent the end"),
            ("token_sent_ns", 0, 291, "its first token_sent_ns is 291, the server's stamp was 290"),
            ("token_sent_ns", 0, -1, "its first token_sent_ns is -1, the server's stamp was 290"),
            ("token_sent_ns", 4, 411, "its last token_sent_ns is 411, the server's stamp was 410"),
        ] {
            let _attack = proof_kit::Attack::on("answers", said);
            let mut outcome = outcome();
            outcome["samples"][column][row] = json!(value);
            let found = checked(2, outcome, served()).unwrap_err();
            assert!(found.contains(said), "{column}: {found}");
        }
        for name in OF_CALLS {
            let _attack = proof_kit::Attack::on("answers", &format!("no column {name}"));
            let mut outcome = outcome();
            outcome["samples"].as_object_mut().unwrap().remove(name);
            let found = checked(2, outcome, served()).unwrap_err();
            assert_eq!(found, format!("column {name} has 0 rows, not 2"));
        }
    }

    #[test]
    fn an_agent_asks_its_own_server_once() {
        for (key, value, said) in [
            ("port_index", json!(0), "agent 1, call 0: asked server 0, not its own, 1"),
            ("seed", json!(9), "agent 1, call 0: the server saw 0 requests for it, not one"),
            ("seed", json!(7), "agent 0, call 0: the server saw 2 requests for it, not one"),
            ("complete", json!(false), "agent 1, call 0: the server did not finish the reply"),
        ] {
            let _attack = proof_kit::Attack::on("answers", said);
            let mut served = served();
            served[1][key] = value;
            assert_eq!(checked(2, outcome(), served).unwrap_err(), said);
        }
        let found = checked(1, outcome(), served()).unwrap_err();
        assert_eq!(found, "agent 1, call 0: asked server 1, not its own, 0");
    }
}
