//! What must hold of the times and counts of a run of agents.

use lab_family::Account;
use lab_protocol::runtimes::names;

use crate::runtimes::cells::{UNSCALED_PPM, time_scale_ppm};
use crate::runtimes::samples::by_call;

/// Instants of the variant's clock, in columns. None is unknown: a run with a call that got no
/// token or did not end has failed.
const INSTANTS: [&str; 8] = [
    names::AGENT_START_NS,
    names::AGENT_END_NS,
    names::INGEST_END_NS,
    names::CALL_START_NS,
    names::CALL_FIRST_TOKEN_NS,
    names::CALL_LAST_TOKEN_NS,
    names::CALL_END_NS,
    names::TOKEN_RECEIVED_NS,
];
/// The server's stamps and what was dropped, -1 where there is none.
const STAMPS: [&str; 2] = [names::TOKEN_SENT_NS, names::CALL_DROPPED_NS];
/// Pairs of columns, the second of which never lies before the first.
const ORDERED: [(&str, &str); 13] = [
    (names::AGENT_DUE_NS, names::AGENT_START_NS),
    (names::AGENT_START_NS, names::INGEST_END_NS),
    (names::AGENT_START_NS, names::AGENT_END_NS),
    (names::CALL_START_NS, names::CALL_END_NS),
    (names::CALL_START_NS, names::CALL_FIRST_TOKEN_NS),
    (names::CALL_START_NS, "server_received_ns"),
    ("server_received_ns", "server_first_sent_ns"),
    ("server_first_sent_ns", names::CALL_FIRST_TOKEN_NS),
    ("server_last_sent_ns", names::CALL_LAST_TOKEN_NS),
    ("server_done_sent_ns", names::CALL_END_NS),
    (names::CALL_FIRST_TOKEN_NS, names::CALL_LAST_TOKEN_NS),
    (names::CALL_LAST_TOKEN_NS, names::CALL_END_NS),
    (names::TOKEN_SENT_NS, names::TOKEN_RECEIVED_NS),
];
/// Durations that a server says of its own work, -1 where it does not say.
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
/// CPU time outside the two parts: from the first agent's start to the first token, and after the
/// last one. In the committed records the kernel counted at most 1.01 ms more than twice both.
const OUTSIDE_PARTS_NS: u64 = 100_000_000;
/// And for each byte that the agents read from files before their first call.
const INGEST_CPU_NS: u64 = 20;
/// And for each agent beyond the first hundred: a thread that reads files, a connection.
const AGENT_CPU_NS: u64 = 1_000_000;
/// Time of a process outside its agents': a runtime that starts and ends. In the committed records
/// 167 ms, with Python's.
const OUTSIDE_AGENTS_NS: u64 = 2_000_000_000;

/// The laws of this family.
///
/// # Errors
/// A sentence that names the numbers.
pub(crate) fn hold(account: &Account<'_>) -> Result<(), String> {
    account.within_life(&INSTANTS)?;
    account.within_life_where_said(&STAMPS)?;
    ORDERED.iter().try_for_each(|(earlier, later)| account.in_order(earlier, later))?;
    calls_within_agents(account)?;
    wall_is_of_agents(account)?;
    wall_is_of_the_process(account)?;
    cpu_is_whole(account)?;
    tokens_are_counted(account)?;
    tokens_are_of_calls(account)?;
    // A scaled server tells the times of its schedule.
    if time_scale_ppm(account.run) != UNSCALED_PPM {
        return account.durations_where_said(&SERVERS_WORD, i64::MAX as u64 / 2);
    }
    account.durations_where_said(&SERVERS_WORD, account.run.process_ns)?;
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

/// Tokens come one after the other, from the first to the last that their call names, within the
/// call; and none was stamped before the one before it, or before the call. Records of scaled runs
/// keep no single token.
fn tokens_are_of_calls(account: &Account<'_>) -> Result<(), String> {
    let Some(counts) = account.column(names::CALL_TOKENS) else { return Ok(()) };
    for name in [names::TOKEN_RECEIVED_NS, names::TOKEN_SENT_NS] {
        let Some(tokens) = account.column(name) else { continue };
        let Some(calls) = by_call(tokens, counts) else {
            return Err(format!("{name} has {} rows, not those of call_tokens", tokens.len()));
        };
        for (row, call) in calls.into_iter().enumerate() {
            if let Some(pair) = call.windows(2).find(|pair| pair[0] > pair[1]) {
                return Err(format!("{name} falls from {} to {} in call {row}", pair[0], pair[1]));
            }
            match name {
                names::TOKEN_RECEIVED_NS => received_within_call(account, row, call)?,
                _ => stamped_after_start(account, row, call)?,
            }
        }
    }
    Ok(())
}

fn received_within_call(account: &Account<'_>, row: usize, tokens: &[i64]) -> Result<(), String> {
    let (Some(&first), Some(&last)) = (tokens.first(), tokens.last()) else { return Ok(()) };
    let of_call = |name| account.column(name).and_then(|column| column.get(row)).copied();
    for (name, token) in [(names::CALL_FIRST_TOKEN_NS, first), (names::CALL_LAST_TOKEN_NS, last)] {
        if let Some(said) = of_call(name).filter(|said| *said != token) {
            return Err(format!("{name} is {said} in row {row}, but that token came at {token}"));
        }
    }
    let start = of_call(names::CALL_START_NS).unwrap_or(first);
    let end = of_call(names::CALL_END_NS).unwrap_or(last);
    match start <= first && last <= end {
        true => Ok(()),
        false => Err(format!(
            "call {row} lasts from {start} to {end}, its tokens came from {first} to {last}"
        )),
    }
}

fn stamped_after_start(account: &Account<'_>, row: usize, stamps: &[i64]) -> Result<(), String> {
    let start = account.column(names::CALL_START_NS).and_then(|column| column.get(row));
    let (Some(start), Some(stamp)) = (start, stamps.iter().find(|stamp| **stamp >= 0)) else {
        return Ok(());
    };
    match start <= stamp {
        true => Ok(()),
        false => Err(format!("call {row} began at {start}, its first token was sent at {stamp}")),
    }
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
    let parts = [names::CPU_STARTUP_NS, names::CPU_STREAMING_NS];
    // A variant may leave the whole out.
    parts.iter().try_for_each(|name| account.cpu_at_most_counted(name))?;
    let sum: u128 = parts.iter().filter_map(|name| account.counter(name)).map(u128::from).sum();
    if let Some(total) = account.counter(names::CPU_TOTAL_NS).filter(|ns| u128::from(*ns) < sum) {
        return Err(format!("cpu_total_ns is {total}, less than its parts, {sum}"));
    }
    account.cpu_at_most("the sum of cpu_startup_ns and cpu_streaming_ns", sum)?;
    if parts.iter().any(|name| account.counter(name).is_none()) {
        return Ok(());
    }
    let bytes = account.column(names::INGEST_BYTES).unwrap_or_default();
    let bytes: u64 = bytes.iter().map(|bytes| bytes.unsigned_abs()).fold(0, u64::saturating_add);
    // Reports keep whose each call was, and not when each of a crowd began.
    let owners = account.column(names::CALL_AGENT).unwrap_or_default();
    let agents = owners.iter().max().map_or(0, |last| last.unsigned_abs() + 1);
    let beside = OUTSIDE_PARTS_NS
        .saturating_add(bytes.saturating_mul(INGEST_CPU_NS))
        .saturating_add(agents.saturating_sub(100).saturating_mul(AGENT_CPU_NS));
    account.cpu_nearly_counted("the sum of cpu_startup_ns and cpu_streaming_ns", sum, beside)
}

/// The agents' time is what the process lived for.
fn wall_is_of_the_process(account: &Account<'_>) -> Result<(), String> {
    let Some(wall) = account.counter(names::WALL_NS) else { return Ok(()) };
    let life = account.run.process_ns;
    match life > wall.saturating_mul(2).saturating_add(OUTSIDE_AGENTS_NS) {
        true => Err(format!("wall_ns is {wall}, but its process lived {life} ns")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use lab_record::{Column, Run, Samples};
    use serde_json::json;

    use super::*;

    /// A process that lived from 0 to 2,000, in real time.
    fn run(cpu_total_ns: u64) -> Run {
        let run = json!({
            "schema": 2, "order": 0, "attempt": 0, "block": 1, "warmup": false,
            "family": "runtimes", "variant": "v", "cell": {}, "status": "ok",
            "verification": "verified", "binary_sha256": "", "start_ns": 0, "process_ns": 2_000,
            "cpu_ns": 60_000_000, "noise": {},
            "counters": {
                "wall_ns": 1_000, "cpu_total_ns": cpu_total_ns, "cpu_startup_ns": 10_000_000,
                "cpu_streaming_ns": 15_000_000,
            },
        });
        serde_json::from_value(run).expect("a run")
    }

    /// Two agents with a call each, on a server that keeps accounts: 3 tokens and 2 tokens.
    fn samples() -> Samples {
        let further: [(&str, &[i64]); 6] = [
            ("ingest_end_ns", &[90, 105]),
            ("call_end_ns", &[950, 510]),
            ("server_received_ns", &[110, 120]),
            ("server_first_sent_ns", &[290, 220]),
            ("server_last_sent_ns", &[870, 410]),
            ("server_done_sent_ns", &[940, 500]),
        ];
        let mut samples = crate::runtimes::samples::tests::samples();
        for (name, values) in further {
            samples.columns.insert(name.to_owned(), Column::Raw(values.to_vec()));
        }
        samples
    }

    fn broken(name: &str, values: &[i64]) -> Option<String> {
        let mut samples = samples();
        samples.columns.insert(name.to_owned(), Column::Raw(values.to_vec()));
        hold(&Account { run: &run(40_000_000), samples: &samples }).err()
    }

    #[test]
    fn what_can_be_true_breaks_no_law() {
        let run = run(40_000_000);
        let hold = |samples: &Samples| hold(&Account { run: &run, samples });
        assert_eq!(hold(&samples()), Ok(()));
        assert_eq!(broken("token_sent_ns", &[-1; 5]), None, "a server that does not stamp");
        assert_eq!(broken("call_eval_ns", &[-1; 2]), None, "a server that does not say");
        let mut slim = samples();
        for column in ["token_received_ns", "token_sent_ns"] {
            slim.columns.remove(column);
        }
        assert_eq!(hold(&slim), Ok(()));
    }

    #[test]
    fn each_law_finds_the_column_that_breaks_it() {
        let cases: [(&str, &[i64], &str); 23] = [
            ("agent_start_ns", &[-1, 10], "agent_start_ns is -1 in row 0, but its process lived"),
            ("ingest_end_ns", &[90, 5], "ingest_end_ns is 5 in row 1, before agent_start_ns"),
            ("call_start_ns", &[100, -1], "call_start_ns is -1 in row 1, but its process lived"),
            ("call_start_ns", &[301, 110], "call_first_token_ns is 300 in row 0, before call_st"),
            ("call_start_ns", &[111, 110], "server_received_ns is 110 in row 0, before call_star"),
            ("call_first_token_ns", &[-1, 260], "call_first_token_ns is -1 in row 0, but its pro"),
            ("call_first_token_ns", &[300, 270], "call_first_token_ns is 270 in row 1, but that"),
            ("call_last_token_ns", &[900, -1], "call_last_token_ns is -1 in row 1, but its proc"),
            ("call_last_token_ns", &[890, 460], "call_last_token_ns is 890 in row 0, but that t"),
            ("call_last_token_ns", &[900], "call_last_token_ns has 1 rows, and server_last_sent"),
            ("call_end_ns", &[945, 2_001], "call_end_ns is 2001 in row 1, but its process lived"),
            ("call_end_ns", &[895, 510], "call_end_ns is 895 in row 0, before server_done_sent_n"),
            ("call_end_ns", &[950, 511], "call 1 lasts from 110 to 511, its agent from 10 to 510"),
            ("call_agent", &[0, 2], "call_agent is 2 in row 1: no such agent"),
            ("agent_end_ns", &[999, 510], "wall_ns is 1000, its agents took 999 ns"),
            ("call_tokens", &[4, 1], "call_eval_count is 3 in row 0, but 4 lines had text"),
            ("call_eval_count", &[3, 99], "call_eval_count is 99 in row 1, but 2 lines had text"),
            ("call_eval_ns", &[-2, 500], "call_eval_ns is -2 in row 0: impossible"),
            ("call_eval_ns", &[2_001, 500], "call_eval_ns is 2001 in row 0: impossible"),
            ("token_received_ns", &[-1; 5], "token_received_ns is -1 in row 0, but its process"),
            ("token_received_ns", &[300, 600, 900, 260], "token_received_ns has 4 rows, and tok"),
            ("token_received_ns", &[300, 901, 900, 260, 460], "falls from 901 to 900 in call 0"),
            ("token_received_ns", &[300, 600, 900, 260, 461], "460 in row 1, but that token cam"),
        ];
        for (name, values, said) in cases {
            let _attack = proof_kit::Attack::on("answers", said);
            let found = broken(name, values).unwrap_or_default();
            assert!(found.contains(said), "{name} {values:?}: {found}");
        }
    }

    #[test]
    fn stamps_belong_to_their_calls() {
        for (stamps, said) in [
            ([301, 580, 870, 220, 410], "token_received_ns is 300 in row 0, before token_sent_ns"),
            ([290, 289, 870, 220, 410], "token_sent_ns falls from 290 to 289 in call 0"),
            ([290, -1, 870, 220, 410], "token_sent_ns falls from 290 to -1 in call 0"),
            ([290, 580, 870, 109, 410], "call 1 began at 110, its first token was sent at 109"),
            ([-2, 580, 870, 220, 410], "token_sent_ns is -2 in row 0, but its process lived"),
        ] {
            let _attack = proof_kit::Attack::on("answers", said);
            let found = broken("token_sent_ns", &stamps).unwrap_or_default();
            assert!(found.contains(said), "{stamps:?}: {found}");
        }
    }

    #[test]
    fn tokens_lie_within_calls_that_do_not_name_their_first_and_last() {
        let mut samples = samples();
        for column in ["call_first_token_ns", "call_last_token_ns", "token_sent_ns"] {
            samples.columns.remove(column);
        }
        let run = run(40_000_000);
        let cases: [(&[i64], &str); 3] = [
            (&[300, 600, 900, 109, 460], "call 1 lasts from 110 to 510, its tokens came from 109"),
            (&[300, 600, 951, 260, 460], "call 0 lasts from 100 to 950, its tokens came from 300"),
            (&[300, 600, 900, 260], "token_received_ns has 4 rows, not those of call_tokens"),
        ];
        for (received, said) in cases {
            let _attack = proof_kit::Attack::on("answers", said);
            let received = Column::Raw(received.to_vec());
            samples.columns.insert("token_received_ns".to_owned(), received);
            let found = hold(&Account { run: &run, samples: &samples }).unwrap_err();
            assert!(found.contains(said), "{found}");
        }
    }

    #[test]
    fn no_part_of_the_cpu_time_is_more_than_the_kernel_counted() {
        for (total, part_ns) in [(None, 60_010_001), (Some(40_000_000), u64::MAX)] {
            let mut run = run(0);
            run.counters.remove("cpu_total_ns");
            run.counters.extend(total.map(|total| ("cpu_total_ns".to_owned(), total)));
            run.counters.insert("cpu_streaming_ns".to_owned(), part_ns);
            let found = hold(&Account { run: &run, samples: &samples() }).unwrap_err();
            let said = format!("cpu_streaming_ns is {part_ns}, but the kernel counted 60000000 ns");
            assert_eq!(found, said);
        }
        let mut older = run(u64::MAX);
        older.cpu_ns = None;
        older.counters.insert("cpu_startup_ns".to_owned(), u64::MAX);
        let found = hold(&Account { run: &older, samples: &samples() }).unwrap_err();
        assert!(found.contains("less than its parts, 18446744073724551615"), "{found}");
    }

    #[test]
    fn parts_that_leave_most_of_the_counted_time_out_are_no_account_of_it() {
        let said = "the sum of cpu_startup_ns and cpu_streaming_ns is";
        for (name, startup, streaming, found) in [
            ("175 ms counted, 1 ns of it while tokens came", 1_000_000, 1, true),
            ("most of the counted time left out", 20_000_000, 17_000_000, true),
            ("both parts 1 ns", 1, 1, true),
            ("as much as may be left out", 20_000_000, 17_500_001, false),
        ] {
            let _attack = proof_kit::Attack::on("answers", name);
            let mut run = run(175_000_000);
            run.cpu_ns = Some(175_000_000);
            run.counters.insert("cpu_startup_ns".to_owned(), startup);
            run.counters.insert("cpu_streaming_ns".to_owned(), streaming);
            let held = hold(&Account { run: &run, samples: &samples() });
            assert_eq!(held.is_err_and(|why| why.starts_with(said)), found, "{name}");
        }
        let _attack = proof_kit::Attack::on("answers", "two parts of more than was counted");
        let mut run = run(0);
        run.counters.remove("cpu_total_ns");
        run.counters.insert("cpu_startup_ns".to_owned(), 40_000_000);
        run.counters.insert("cpu_streaming_ns".to_owned(), 40_000_000);
        let found = hold(&Account { run: &run, samples: &samples() }).unwrap_err();
        assert!(found.starts_with(said) && found.contains("80000000, but the kernel counted 60"));
    }

    #[test]
    fn agents_of_no_time_are_none_of_a_process_that_lived_long() {
        let _attack = proof_kit::Attack::on("answers", "agents of 1 us in a process of 3 s");
        let mut run = run(40_000_000);
        run.process_ns = 3_000_000_000;
        let found = hold(&Account { run: &run, samples: &samples() }).unwrap_err();
        assert_eq!(found, "wall_ns is 1000, but its process lived 3000000000 ns");
    }

    #[test]
    fn cpu_time_is_at_least_its_parts() {
        let _attack = proof_kit::Attack::on("answers", "a whole that is less than its parts");
        let run = run(24_999_999);
        let found = hold(&Account { run: &run, samples: &samples() }).unwrap_err();
        assert_eq!(found, "cpu_total_ns is 24999999, less than its parts, 25000000");
    }
}
