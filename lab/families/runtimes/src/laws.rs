//! What must hold of the times and counts of a run of agents.

use lab_family::Account;
use lab_protocol::runtimes::names;

use crate::cells::{UNSCALED_PPM, time_scale_ppm};

/// Instants of the variant's clock, in columns.
const INSTANTS: [&str; 9] = [
    names::AGENT_START_NS,
    names::AGENT_END_NS,
    names::INGEST_END_NS,
    names::CALL_START_NS,
    names::CALL_FIRST_TOKEN_NS,
    names::CALL_LAST_TOKEN_NS,
    names::CALL_END_NS,
    names::TOKEN_RECEIVED_NS,
    names::TOKEN_SENT_NS,
];
/// Pairs of columns, the second of which never lies before the first.
const ORDERED: [(&str, &str); 10] = [
    (names::AGENT_START_NS, names::INGEST_END_NS),
    (names::AGENT_START_NS, names::AGENT_END_NS),
    (names::CALL_START_NS, "server_received_ns"),
    ("server_received_ns", "server_first_sent_ns"),
    ("server_first_sent_ns", names::CALL_FIRST_TOKEN_NS),
    ("server_last_sent_ns", names::CALL_LAST_TOKEN_NS),
    ("server_done_sent_ns", names::CALL_END_NS),
    (names::CALL_FIRST_TOKEN_NS, names::CALL_LAST_TOKEN_NS),
    (names::CALL_LAST_TOKEN_NS, names::CALL_END_NS),
    (names::TOKEN_SENT_NS, names::TOKEN_RECEIVED_NS),
];
/// Durations that a server says of its own work.
const SERVERS_WORD: [&str; 4] = [
    names::CALL_EVAL_NS,
    names::CALL_PROMPT_EVAL_NS,
    names::CALL_LOAD_NS,
    names::CALL_SERVER_TOTAL_NS,
];
/// Tokens that one line may carry: a server holds text back until its bytes are whole characters,
/// and while they may be the beginning of a stop word.
const TOKENS_A_LINE: i64 = 4;
/// Tokens of a reply beyond that: its end, and what was held back when it came.
const TOKENS_HELD_BACK: i64 = 16;
/// By how much a server's durations may exceed the client's: both round, and their clocks differ.
const CLOCKS_DIFFER_NS: i64 = 1_000_000;
/// CPU time after the last reading: ending a runtime and freeing its memory.
const ENDING_CPU_NS: u64 = 50_000_000;

/// The laws of this family.
///
/// # Errors
/// A sentence that names the numbers.
pub(crate) fn hold(account: &Account<'_>) -> Result<(), String> {
    account.within_life(&INSTANTS)?;
    ORDERED.iter().try_for_each(|(earlier, later)| account.in_order(earlier, later))?;
    calls_within_agents(account)?;
    wall_is_of_agents(account)?;
    cpu_is_whole(account)?;
    tokens_are_counted(account)?;
    // A scaled server tells the times of its schedule.
    if time_scale_ppm(account.run) != UNSCALED_PPM {
        return account.durations(&SERVERS_WORD, i64::MAX as u64 / 2);
    }
    account.durations(&SERVERS_WORD, account.run.process_ns)?;
    server_worked_within_calls(account)
}

/// The tokens that a server counts are at least the lines with text, and not many times more.
fn tokens_are_counted(account: &Account<'_>) -> Result<(), String> {
    let (Some(lines), Some(counts)) =
        (account.column(names::CALL_TOKENS), account.column(names::CALL_EVAL_COUNT))
    else {
        return Ok(());
    };
    for (row, (&lines, &count)) in lines.iter().zip(counts).enumerate() {
        let most = lines.saturating_mul(TOKENS_A_LINE).saturating_add(TOKENS_HELD_BACK);
        if count != -1 && !(lines..=most).contains(&count) {
            return Err(format!(
                "call_eval_count is {count} in row {row}, but {lines} lines had text"
            ));
        }
    }
    Ok(())
}

/// What a server says that a call took it lies within the call.
fn server_worked_within_calls(account: &Account<'_>) -> Result<(), String> {
    let (Some(starts), Some(ends)) =
        (account.column(names::CALL_START_NS), account.column(names::CALL_END_NS))
    else {
        return Ok(());
    };
    for name in SERVERS_WORD {
        let said = account.column(name).unwrap_or_default();
        for (row, ((said, start), end)) in said.iter().zip(starts).zip(ends).enumerate() {
            if *said > end - start + CLOCKS_DIFFER_NS {
                let took = end - start;
                return Err(format!("{name} is {said} in row {row}, the call took {took} ns"));
            }
        }
    }
    Ok(())
}

/// Every call lies within its agent's time.
fn calls_within_agents(account: &Account<'_>) -> Result<(), String> {
    let column = |name| account.column(name);
    let (Some(agents), Some(starts), Some(ends)) =
        (column(names::CALL_AGENT), column(names::CALL_START_NS), column(names::CALL_END_NS))
    else {
        return Ok(());
    };
    let (Some(from), Some(to)) = (column(names::AGENT_START_NS), column(names::AGENT_END_NS))
    else {
        return Ok(());
    };
    for (row, ((agent, start), end)) in agents.iter().zip(starts).zip(ends).enumerate() {
        let agent = usize::try_from(*agent).unwrap_or(usize::MAX);
        let (Some(from), Some(to)) = (from.get(agent), to.get(agent)) else {
            return Err(format!("call_agent is {} in row {row}: no such agent", agents[row]));
        };
        if start < from || end > to {
            return Err(format!(
                "call {row} lasts from {start} to {end}, its agent from {from} to {to}"
            ));
        }
    }
    Ok(())
}

/// `wall_ns` is the time from the first agent's start to the last agent's end.
fn wall_is_of_agents(account: &Account<'_>) -> Result<(), String> {
    let ends = account.column(names::AGENT_END_NS).and_then(|ends| ends.iter().max());
    let starts = account.column(names::AGENT_START_NS).and_then(|starts| starts.iter().min());
    let (Some(end), Some(start), Some(wall)) = (ends, starts, account.counter(names::WALL_NS))
    else {
        return Ok(());
    };
    match i128::from(end - start) == i128::from(wall) {
        true => Ok(()),
        false => Err(format!("wall_ns is {wall}, its agents took {} ns", end - start)),
    }
}

/// CPU time before the agents and while tokens came is part of the whole, and the whole is what the
/// kernel counted but for the process's end.
fn cpu_is_whole(account: &Account<'_>) -> Result<(), String> {
    let Some(total) = account.counter(names::CPU_TOTAL_NS) else { return Ok(()) };
    let parts = [names::CPU_STARTUP_NS, names::CPU_STREAMING_NS];
    let parts: u64 = parts.iter().filter_map(|name| account.counter(name)).sum();
    if parts > total {
        return Err(format!("cpu_total_ns is {total}, less than its parts, {parts}"));
    }
    match account.run.cpu_ns.filter(|counted| *counted > 2 * total + ENDING_CPU_NS) {
        Some(counted) => {
            Err(format!("cpu_total_ns is {total}, but the kernel counted {counted} ns"))
        }
        None => Ok(()),
    }
}
