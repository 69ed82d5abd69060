//! The samples of a run as the columns that `lab_protocol::agents` names.

use std::collections::BTreeMap;

use crate::{AgentLog, CallLog};

/// A column's name and where its rows come from.
type Column<T> = (&'static str, fn(&T) -> i64);

/// One column a name; agent by agent, call by call, token by token.
pub(crate) fn samples(logs: &[AgentLog]) -> BTreeMap<String, Vec<i64>> {
    let mut columns = BTreeMap::new();
    let agents: [Column<AgentLog>; 4] = [
        ("agent_start_ns", |log| log.start_ns),
        ("agent_end_ns", |log| log.end_ns),
        ("ingest_end_ns", |log| log.ingest_end_ns),
        ("ingest_bytes", |log| log.ingest_bytes),
    ];
    for (name, value) in agents {
        columns.insert(name.to_owned(), logs.iter().map(value).collect());
    }
    let calls: [Column<CallLog>; 12] = [
        ("call_start_ns", |call| call.start_ns),
        ("call_first_token_ns", |call| call.received_ns.first().copied().unwrap_or(-1)),
        ("call_last_token_ns", |call| call.received_ns.last().copied().unwrap_or(-1)),
        ("call_end_ns", |call| call.end_ns),
        ("call_tokens", |call| call.received_ns.len() as i64),
        ("call_text_hash", |call| call.text_hash),
        ("call_eval_count", |call| call.eval_count),
        ("call_eval_ns", |call| call.eval_ns),
        ("call_prompt_eval_count", |call| call.prompt_eval_count),
        ("call_prompt_eval_ns", |call| call.prompt_eval_ns),
        ("call_load_ns", |call| call.load_ns),
        ("call_server_total_ns", |call| call.server_total_ns),
    ];
    for (name, value) in calls {
        let rows = logs.iter().flat_map(|log| &log.calls).map(value);
        columns.insert(name.to_owned(), rows.collect());
    }
    let owners = logs.iter().enumerate();
    let owners = owners.flat_map(|(agent, log)| log.calls.iter().map(move |_| agent as i64));
    columns.insert("call_agent".to_owned(), owners.collect());
    let calls = || logs.iter().flat_map(|log| &log.calls);
    let received = calls().flat_map(|call| &call.received_ns);
    columns.insert("token_received_ns".to_owned(), received.copied().collect());
    let sent = calls().flat_map(|call| &call.sent_ns);
    columns.insert("token_sent_ns".to_owned(), sent.copied().collect());
    columns
}

/// First agent's start to last agent's end.
pub(crate) fn wall_ns(logs: &[AgentLog]) -> u64 {
    let start = logs.iter().map(|log| log.start_ns).min().unwrap_or(0);
    let end = logs.iter().map(|log| log.end_ns).max().unwrap_or(0);
    u64::try_from(end - start).unwrap_or(0)
}
