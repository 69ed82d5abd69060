//! The samples of a run as the columns that `lab_protocol::runtimes` names.

use lab_protocol::runtimes::names;

use std::collections::BTreeMap;

use crate::{AgentLog, CallLog};

/// A column's name and where its rows come from.
type Column<T> = (&'static str, fn(&T) -> i64);

/// One column a name; agent by agent, call by call, token by token.
pub(crate) fn samples(logs: &[AgentLog]) -> BTreeMap<String, Vec<i64>> {
    let mut columns = BTreeMap::new();
    let agents: [Column<AgentLog>; 5] = [
        (names::AGENT_START_NS, |log| log.start_ns),
        (names::AGENT_END_NS, |log| log.end_ns),
        (names::INGEST_END_NS, |log| log.ingest_end_ns),
        (names::INGEST_BYTES, |log| log.ingest_bytes),
        (names::AGENT_MIGRATIONS, |log| log.migrations),
    ];
    for (name, value) in agents {
        columns.insert(name.to_owned(), logs.iter().map(value).collect());
    }
    let calls: [Column<CallLog>; 13] = [
        (names::CALL_START_NS, |call| call.start_ns),
        (names::CALL_FIRST_TOKEN_NS, |call| call.received_ns.first().copied().unwrap_or(-1)),
        (names::CALL_LAST_TOKEN_NS, |call| call.received_ns.last().copied().unwrap_or(-1)),
        (names::CALL_END_NS, |call| call.end_ns),
        (names::CALL_TOKENS, |call| call.received_ns.len() as i64),
        (names::CALL_TEXT_HASH, |call| call.text_hash),
        (names::CALL_EVAL_COUNT, |call| call.eval_count),
        (names::CALL_EVAL_NS, |call| call.eval_ns),
        (names::CALL_PROMPT_EVAL_COUNT, |call| call.prompt_eval_count),
        (names::CALL_PROMPT_EVAL_NS, |call| call.prompt_eval_ns),
        (names::CALL_LOAD_NS, |call| call.load_ns),
        (names::CALL_SERVER_TOTAL_NS, |call| call.server_total_ns),
        (names::CALL_THREAD, |call| call.thread),
    ];
    for (name, value) in calls {
        let rows = logs.iter().flat_map(|log| &log.calls).map(value);
        columns.insert(name.to_owned(), rows.collect());
    }
    let due = logs.iter().map(|log| log.due_ns);
    if due.clone().any(|ns| ns != logs[0].due_ns) {
        columns.insert(names::AGENT_DUE_NS.to_owned(), due.collect());
    }
    let dropped = logs.iter().flat_map(|log| &log.calls).map(|call| call.dropped_ns);
    if dropped.clone().any(|ns| ns >= 0) {
        columns.insert(names::CALL_DROPPED_NS.to_owned(), dropped.collect());
    }
    let owners = logs.iter().enumerate();
    let owners = owners.flat_map(|(agent, log)| log.calls.iter().map(move |_| agent as i64));
    columns.insert(names::CALL_AGENT.to_owned(), owners.collect());
    let calls = || logs.iter().flat_map(|log| &log.calls);
    let received = calls().flat_map(|call| &call.received_ns);
    columns.insert(names::TOKEN_RECEIVED_NS.to_owned(), received.copied().collect());
    let sent = calls().flat_map(|call| &call.sent_ns);
    columns.insert(names::TOKEN_SENT_NS.to_owned(), sent.copied().collect());
    columns
}

/// First agent's start to last agent's end.
pub(crate) fn wall_ns(logs: &[AgentLog]) -> u64 {
    let start = logs.iter().map(|log| log.start_ns).min().unwrap_or(0);
    let end = logs.iter().map(|log| log.end_ns).max().unwrap_or(0);
    u64::try_from(end - start).unwrap_or(0)
}
