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
    let dropped_ns = dropped(workload, outcome)?;
    let is_some_dropped = dropped_ns.iter().any(|ns| *ns >= 0);
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
            if dropped_ns[row] < 0 && said(column) != truth {
                let says = said(column);
                return Err(format!("{place}: {column} is {says}, the server sent {truth}"));
            }
        }
        if !truth.complete && dropped_ns[row] < 0 {
            return Err(format!("{place}: the server did not finish the reply"));
        }
        asked_its_server(truth, agent % servers).map_err(|why| format!("{place}: {why}"))?;
        told_its_stamps(truth, stamps[row]).map_err(|why| format!("{place}: {why}"))?;
        if dropped_ns[row] < 0 && said(names::CALL_END_NS) < truth.done_sent_ns {
            return Err(format!("{place}: says that it ended before the server had sent the end"));
        }
        push("received_ns", truth.received_ns);
        push("first_due_ns", truth.first_due_ns);
        push("first_sent_ns", truth.first_sent_ns);
        // Of a dropped reply the last one that its agent was given.
        push("last_sent_ns", stamps[row].last().copied().unwrap_or(truth.last_sent_ns));
        push("done_sent_ns", if dropped_ns[row] < 0 { truth.done_sent_ns } else { -1 });
        push("tokens", truth.tokens);
        push("text_hash", truth.text_hash);
        if (0..dropped_ns[row]).contains(&truth.left_ns) {
            return Err(format!("{place}: says that it dropped after the server had seen it go"));
        }
        if is_some_dropped {
            push("left_ns", truth.left_ns);
            push("after_drop_tokens", after_drop(truth, dropped_ns[row]));
        }
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

/// The server stamps every token: from its stamps the client must measure its lag, one after the
/// other from the first, and all of them where it dropped nothing.
fn told_its_stamps(truth: &ServedCall, stamps: &[i64]) -> Result<(), String> {
    let name = names::TOKEN_SENT_NS;
    if stamps.len() > truth.sent_ns.len() {
        let (says, sent) = (stamps.len(), truth.sent_ns.len());
        return Err(format!("{name} has {says} stamps, the server sent {sent}"));
    }
    let mut pairs = stamps.iter().zip(&truth.sent_ns).enumerate();
    match pairs.find(|(_, (says, truth))| says != truth) {
        None => Ok(()),
        Some((token, (says, truth))) => {
            let which = match token {
                0 => "first",
                token if token + 1 == stamps.len() => "last",
                _ => "later",
            };
            Err(format!("its {which} {name} is {says}, the server's stamp was {truth}"))
        }
    }
}

/// When each call was dropped, -1 for one that was read to its end.
///
/// # Errors
/// A reply was dropped by an agent that was to read it, or too early.
fn dropped(workload: &Workload, outcome: &RunOutcome) -> Result<Vec<i64>, String> {
    let calls: Vec<_> = calls(workload).collect();
    if !outcome.samples.contains_key(names::CALL_DROPPED_NS) {
        return Ok(vec![-1; calls.len()]);
    }
    let dropped = column(outcome, names::CALL_DROPPED_NS, calls.len())?;
    for (row, (agent, call, _)) in calls.into_iter().enumerate() {
        let of = &workload.agents[agent];
        let (had, asked) = (outcome.samples[names::CALL_TOKENS][row], of.drop_after_tokens);
        let is_asked = asked > 0 && call + 1 == of.calls.len() && had.cast_unsigned() >= asked;
        if dropped[row] >= 0 && !is_asked {
            return Err(format!(
                "agent {agent}, call {call}: dropped its reply after {had} tokens unasked"
            ));
        }
    }
    Ok(dropped.to_vec())
}

/// Tokens that the server wrote between a drop and its notice of it; -1 where there was no drop.
fn after_drop(truth: &ServedCall, dropped_ns: i64) -> i64 {
    if dropped_ns < 0 {
        return -1;
    }
    let until_ns = if truth.left_ns < 0 { i64::MAX } else { truth.left_ns };
    let in_vain = |ns: &&i64| (dropped_ns..until_ns).contains(*ns);
    truth.sent_ns.iter().filter(in_vain).count() as i64
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
        let call = |seed: i64, port: usize, stamps: [i64; 5], sent: &[i64], hash: i64| {
            let [received, due, first, last, done] = stamps;
            let tokens = sent.len();
            json!({
                "seed": seed, "port_index": port, "received_ns": received, "first_due_ns": due,
                "first_sent_ns": first, "last_sent_ns": last, "done_sent_ns": done,
                "tokens": tokens, "text_hash": hash, "sent_ns": sent,
                "pacing_error_ns": vec![1; tokens],
                "complete": true,
            })
        };
        json!([
            call(7, 0, [110, 289, 290, 870, 940], &[290, 580, 870], -5),
            call(8, 1, [120, 219, 220, 410, 500], &[220, 410], 6),
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

    /// The first agent drops after two tokens, at 650, which the server sees at 660 or never.
    fn drops(asked: u64, dropped_ns: i64, left_ns: i64) -> Result<Checked, String> {
        let mut workload = workload();
        workload.agents[0].drop_after_tokens = asked;
        let (mut outcome, mut served) = (outcome(), served());
        let samples = &mut outcome["samples"];
        samples["call_dropped_ns"] = json!([dropped_ns, -1]);
        samples["call_tokens"] = json!([2, 2]);
        samples["call_eval_count"] = json!([-1, 2]);
        samples["token_received_ns"] = json!([300, 600, 260, 460]);
        samples["token_sent_ns"] = json!([290, 580, 220, 410]);
        served[0]["complete"] = json!(false);
        served[0]["left_ns"] = json!(left_ns);
        let outcome: RunOutcome = serde_json::from_value(outcome).expect("an outcome");
        let served: Vec<ServedCall> = serde_json::from_value(served).expect("calls");
        against_server(&workload, 2, &outcome, &served)
    }

    #[test]
    fn a_dropped_reply_is_right_as_far_as_it_came() {
        let checked = drops(2, 650, 660).unwrap();
        assert_eq!(checked.columns["server_left_ns"], [660, -1]);
        assert_eq!(checked.columns["server_last_sent_ns"], [580, 410]);
        assert_eq!(checked.columns["server_after_drop_tokens"], [0, -1]);
        // The server wrote at 870 to a client of which it never heard that it had gone.
        assert_eq!(drops(2, 650, -1).unwrap().columns["server_after_drop_tokens"], [1, -1]);
        for (asked, dropped_ns, left_ns, said) in [
            (0, 650, 660, "dropped its reply after 2 tokens unasked"),
            (3, 650, 660, "dropped its reply after 2 tokens unasked"),
            (2, 650, 640, "says that it dropped after the server had seen it go"),
            (2, -1, -1, "call_tokens is 2, the server sent 3"),
        ] {
            assert_eq!(
                drops(asked, dropped_ns, left_ns).unwrap_err(),
                format!("agent 0, call 0: {said}")
            );
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
