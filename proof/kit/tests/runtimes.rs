//! Every variant through the door that the driver takes: standard input, standard output, exit
//! code.

use std::fs;
use std::io::{self, Write};

use lab_protocol::runtimes::{Agent, Arrangement, Call, Options, Workload};
use lab_protocol::{RunOutcome, Status};
use proof_kit::runtimes::{
    FAMILY, PADDING, Script, Server, Variant, answer_text, check_identities, check_refusals, line,
    outcome, reply_text, skipped, variants,
};

const TOKENS: [i64; 2] = [40, 25];

/// A workload with one agent per server; seeds are 1, 2, 3, … in the order of the calls.
fn workload(arrangement: Arrangement, servers: &[&Server], ingest_dir: Option<String>) -> Workload {
    let agent = |(index, server): (usize, &&Server)| Agent {
        server: server.url.clone(),
        model: "m".to_owned(),
        calls: (0..2).map(|call| self::call(2 * index as i64 + call + 1, call)).collect(),
        work_per_token_ns: 0,
        drop_after_tokens: 0,
        start_after_ns: 0,
    };
    let agents = servers.iter().enumerate().map(agent).collect();
    Workload {
        arrangement,
        stall_timeout_ms: 1_000,
        ingest_dir,
        piece_bytes: None,
        give_up_lag_ms: None,
        agents,
    }
}

fn call(seed: i64, call: i64) -> Call {
    let options = Options {
        num_gpu: None,
        num_ctx: Some(512),
        num_thread: None,
        temperature: None,
        seed,
        num_predict: TOKENS[call as usize],
    };
    Call { prompt: format!("prompt {seed}"), options }
}

/// Those that this build and this kernel can run; of another one the test says so.
fn able() -> Vec<Variant> {
    let server = Server::start(Script::Right);
    let workload = workload(Arrangement::Solo, &[&server], None);
    let is_able = |variant: &Variant| {
        let outcome = outcome(variant, &workload);
        let reason = outcome.reason.unwrap_or_default();
        let known = ["this build of Tokio ", "the kernel gives this process "];
        if outcome.status != Status::Unsupported {
            return true;
        }
        assert!(known.iter().any(|start| reason.starts_with(start)), "{}: {reason}", variant.name);
        skipped(&format!("{}: {reason}", variant.name));
        false
    };
    variants(FAMILY).into_iter().filter(is_able).collect()
}

#[test]
fn a_variant_is_what_its_manifest_and_the_lock_say() {
    check_identities(FAMILY);
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let server = Server::nobody();
    let good = line(&workload(Arrangement::Solo, &[&server], None));
    let cases = [(good.replace("http://", ""), "write it as http://HOST:PORT")];
    check_refusals(FAMILY, &good, &cases);
}

#[test]
fn every_variant_reports_the_same_replies() {
    let (first, second) = (Server::start(Script::Right), Server::start(Script::RightThenClose));
    // Real files: variants follow no links, and links are all that Bazel shows of the sources.
    let source = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
    fs::create_dir_all(&source).unwrap();
    fs::write(source.join("notes.md"), "tokens per second\n".repeat(100)).unwrap();
    for variant in able() {
        for arrangement in [Arrangement::Concurrent, Arrangement::Solo] {
            let ingest = source.to_string_lossy().into_owned();
            let workload = workload(arrangement, &[&first, &second], Some(ingest));
            let outcome = outcome(&variant, &workload);
            assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
            check_numbers(&variant, arrangement, &outcome);
        }
    }
    fs::remove_dir_all(&source).unwrap();
}

fn check_numbers(variant: &Variant, arrangement: Arrangement, outcome: &RunOutcome) {
    let name = &variant.name;
    let column = |key: &str| outcome.samples[key].clone();
    assert_eq!(column("call_agent"), [0, 0, 1, 1], "{name}");
    assert_eq!(column("call_tokens"), [40, 25, 40, 25], "{name}");
    assert_eq!(column("call_eval_count"), column("call_tokens"), "{name}");
    for (key, value) in [
        ("call_eval_ns", 30),
        ("call_prompt_eval_count", 5),
        ("call_prompt_eval_ns", 20),
        ("call_load_ns", 10),
        ("call_server_total_ns", 60),
    ] {
        assert_eq!(column(key), [value; 4], "{name}: {key}");
    }
    let hash = |seed: i64| {
        let text = reply_text(seed, TOKENS[(seed as usize - 1) % 2]);
        xxhash_rust::xxh64::xxh64(text.as_bytes(), 0).cast_signed()
    };
    assert_eq!(column("call_text_hash"), [hash(1), hash(2), hash(3), hash(4)], "{name}");
    let sent = (1..=4).flat_map(|seed| (0..TOKENS[(seed as usize - 1) % 2]).map(move |i| seed + i));
    assert_eq!(column("token_sent_ns"), sent.collect::<Vec<_>>(), "{name}");
    let received = column("token_received_ns");
    assert_eq!(received.len(), 130, "{name}");
    assert_eq!(column("call_first_token_ns"), [0, 40, 65, 105].map(|row| received[row]), "{name}");
    assert_eq!(column("call_last_token_ns"), [39, 64, 104, 129].map(|row| received[row]), "{name}");
    let (starts, ends) = (column("agent_start_ns"), column("agent_end_ns"));
    let order = [starts[0], column("ingest_end_ns")[0], column("call_start_ns")[0], received[0]];
    assert!(order.is_sorted() && received[..65].is_sorted(), "{name}: {order:?}");
    let alone = arrangement == Arrangement::Solo || variant.is("serial");
    assert!(!alone || ends[0] <= starts[1], "{name}: {starts:?} {ends:?}");
    assert!(column("ingest_bytes")[0] > 0 && column("ingest_bytes")[1] > 0, "{name}");
    let wall = ends.iter().max().unwrap() - starts.iter().min().unwrap();
    assert_eq!(outcome.counters["wall_ns"], wall as u64, "{name}");
    for key in ["process_start_ns", "cpu_startup_ns", "cpu_streaming_ns", "cpu_total_ns"] {
        assert!(outcome.counters[key] > 0, "{name}: {key}");
    }
    for key in ["voluntary_switches", "rss_high_water_bytes", "threads"] {
        assert!(outcome.counters[key] > 0, "{name}: {key}");
    }
    assert!(outcome.counters.contains_key("involuntary_switches"), "{name}");
    // What a variant tells beside, it tells of every agent and call.
    if let Some(moves) = outcome.samples.get("agent_migrations") {
        assert!(moves.len() == 2 && moves.iter().all(|count| *count >= 0), "{name}: {moves:?}");
        assert!(column("call_thread").iter().all(|thread| *thread >= 0), "{name}");
    }
    assert!(outcome.counters.get("io_uring").is_none_or(|used| *used <= 1), "{name}");
    if let Some(readings) = outcome.counters.get("queue_depth_samples") {
        assert!(*readings > 0, "{name}");
        assert!(outcome.counters["queue_depth_max"] <= outcome.counters["queue_depth_sum"]);
    }
}

#[test]
fn a_thought_is_tokens_and_no_text() {
    let server = Server::start(Script::Thinks);
    for variant in able() {
        let outcome = outcome(&variant, &workload(Arrangement::Solo, &[&server], None));
        assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
        let column = |key: &str| outcome.samples[key].clone();
        assert_eq!(column("call_tokens"), TOKENS, "{}", variant.name);
        assert_eq!(column("call_eval_count"), TOKENS, "{}", variant.name);
        let received = column("token_received_ns");
        assert_eq!(column("call_first_token_ns"), [received[0], received[40]], "{}", variant.name);
        let hash = |seed: i64, tokens: i64| {
            let text = answer_text(seed, tokens);
            xxhash_rust::xxh64::xxh64(text.as_bytes(), 0).cast_signed()
        };
        let hashes = [hash(1, TOKENS[0]), hash(2, TOKENS[1])];
        assert_eq!(column("call_text_hash"), hashes, "{}", variant.name);
    }
}

#[test]
fn a_stream_is_cut_as_asked_or_the_variant_says_that_it_cuts_none() {
    let server = Server::start(Script::Right);
    for variant in able() {
        let mut workload = workload(Arrangement::Solo, &[&server], None);
        workload.piece_bytes = Some(16);
        let outcome = outcome(&variant, &workload);
        if variant.is("cuts") {
            assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
            assert_eq!(outcome.samples["call_tokens"], [40, 25], "{}", variant.name);
        } else {
            assert_eq!(outcome.status, Status::Unsupported, "{}: {outcome:?}", variant.name);
        }
    }
}

#[test]
fn work_between_tokens_is_done_or_the_variant_says_that_it_does_none() {
    const WORK_NS: u64 = 1_000_000;
    let server = Server::start(Script::Right);
    for variant in able() {
        let mut workload = workload(Arrangement::Solo, &[&server], None);
        workload.agents[0].work_per_token_ns = WORK_NS;
        let outcome = outcome(&variant, &workload);
        let name = &variant.name;
        if outcome.status == Status::Unsupported {
            let reason = outcome.reason.unwrap();
            assert!(reason.contains("work between tokens"), "{name}: {reason}");
            continue;
        }
        assert_eq!(outcome.status, Status::Ok, "{name}: {outcome:?}");
        assert_eq!(outcome.samples["call_tokens"], [40, 25], "{name}");
        assert!(outcome.counters["cpu_total_ns"] >= 65 * WORK_NS, "{name}: {outcome:?}");
    }
}

#[test]
fn a_client_that_works_slowly_is_waited_for_and_keeps_little_of_what_is_to_come() {
    const LINES: i64 = 400;
    const ALL: u64 = LINES as u64 * PADDING as u64;
    let (light, heavy) = (Server::start(Script::Right), Server::start(Script::Heavy));
    for variant in able() {
        let peak = |server: &Server| {
            let mut workload = workload(Arrangement::Solo, &[server], None);
            workload.stall_timeout_ms = 30_000;
            workload.agents[0].work_per_token_ns = 500_000;
            workload.agents[0].calls.truncate(1);
            workload.agents[0].calls[0].options.num_predict = LINES;
            let outcome = outcome(&variant, &workload);
            if outcome.status == Status::Unsupported {
                return None;
            }
            assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
            assert_eq!(outcome.samples["call_tokens"], [LINES], "{}", variant.name);
            Some(outcome.counters["rss_high_water_bytes"])
        };
        let Some((little, much)) = peak(&light).zip(peak(&heavy)) else { continue };
        let name = &variant.name;
        assert!(much < little + ALL / 2, "{name}: {little} bytes, {much} with {ALL} to come");
    }
}

#[test]
fn a_reply_is_dropped_as_asked_or_the_variant_says_that_it_drops_none() {
    let (right, stalls) = (Server::start(Script::Right), Server::start(Script::Stall));
    // What was published as smol_1kb hands two tokens over when a kilobyte has come.
    for variant in able().into_iter().filter(|variant| !variant.is("as-published")) {
        let mut workload = workload(Arrangement::Concurrent, &[&right, &stalls], None);
        // Of a server that says no more after two tokens: only who drops is done with it.
        workload.agents[1].calls.truncate(1);
        workload.agents[1].drop_after_tokens = 2;
        let outcome = outcome(&variant, &workload);
        let name = &variant.name;
        if outcome.status == Status::Unsupported {
            let reason = outcome.reason.unwrap();
            assert!(reason.contains("it drops no reply"), "{name}: {reason}");
            continue;
        }
        assert_eq!(outcome.status, Status::Ok, "{name}: {outcome:?}");
        let column = |key: &str| outcome.samples[key].clone();
        assert_eq!(column("call_tokens"), [40, 25, 2], "{name}");
        assert_eq!(column("token_received_ns").len(), 67, "{name}");
        let dropped = column("call_dropped_ns");
        assert_eq!(dropped[..2], [-1, -1], "{name}");
        assert_eq!([dropped[2]; 2], [column("call_end_ns")[2], column("agent_end_ns")[1]]);
        assert!(column("call_last_token_ns")[2] <= dropped[2], "{name}");
        assert_eq!(column("call_eval_count"), [40, 25, -1], "{name}");
        let tasks = outcome.counters.get("leaked_tasks");
        assert!(tasks.is_none_or(|tasks| *tasks == 0), "{name}: {tasks:?} tasks are left");
    }
}

#[test]
fn a_client_that_cannot_keep_up_is_over_early_and_says_so() {
    // Its stamps are of the machine's first nanoseconds.
    let server = Server::start(Script::Right);
    for variant in able() {
        let mut workload = workload(Arrangement::Solo, &[&server], None);
        workload.give_up_lag_ms = Some(1);
        let outcome = outcome(&variant, &workload);
        assert_eq!(outcome.status, Status::Failed, "{}", variant.name);
        let reason = outcome.reason.unwrap();
        let place = format!("agent 0, call 0 on {}: saturated: a token waited ", server.url);
        assert!(reason.starts_with(&place), "{}: {reason}", variant.name);
        assert!(reason.ends_with(" ms for its agent, and 1 ms are the limit"), "{reason}");
    }
}

#[test]
fn agents_come_when_they_are_due_or_the_variant_says_that_they_come_at_once() {
    // No whole milliseconds, as which some timers count.
    const LATER_NS: u64 = 30_400_000;
    let server = Server::start(Script::Right);
    for variant in able() {
        let mut workload = workload(Arrangement::Concurrent, &[&server, &server], None);
        workload.agents[0].start_after_ns = LATER_NS;
        let outcome = outcome(&variant, &workload);
        let name = &variant.name;
        if outcome.status == Status::Unsupported {
            let reason = outcome.reason.unwrap();
            assert!(reason.contains("it starts all agents at once"), "{name}: {reason}");
            continue;
        }
        assert_eq!(outcome.status, Status::Ok, "{name}: {outcome:?}");
        let (due, start) = (&outcome.samples["agent_due_ns"], &outcome.samples["agent_start_ns"]);
        assert_eq!(due[0] - due[1], LATER_NS.cast_signed(), "{name}");
        assert!(due[0] <= start[0] && due[1] <= start[1], "{name}: {due:?} {start:?}");
        assert_eq!(outcome.samples["call_tokens"], [40, 25, 40, 25], "{name}");
    }
}

#[test]
fn a_faulty_server_is_one_failed_outcome_that_names_agent_and_server() {
    let good = Server::start(Script::Right);
    let cases = [
        (Server::nobody(), vec!["connection refused"]),
        (Server::start(Script::NotFound), vec!["status 404: model 'm' not found"]),
        (Server::start(Script::Reset), vec!["connection reset by the server"]),
        (Server::start(Script::Cut), vec!["the connection was closed inside the reply"]),
        (Server::start(Script::BrokenJson), vec!["broken JSON in line `{\"response\": oops}`"]),
        (Server::start(Script::ErrorLine), vec!["the server reports an error: out of memory"]),
        (Server::start(Script::ErrorObject), vec!["the server reports an error: upstream is gone"]),
        (Server::start(Script::NoDone), vec!["without a done line, after 2 tokens"]),
        (Server::start(Script::Stall), vec!["stalled"]),
        (Server::start(Script::Silence), vec!["stalled"]),
        (Server::start(Script::OtherModel), vec!["the server says that it ran other"]),
        (Server::start(Script::OtherModelBetween), vec!["the server says that it ran other"]),
        (Server::start(Script::NoModel), vec!["the server does not say which one it ran"]),
        (Server::start(Script::DoneTwice), vec!["the server went on after its done line"]),
        (Server::start(Script::GoesOn), vec!["the server went on after its done line"]),
        (Server::start(Script::Packed), vec!["broken JSON in line", "without a done line"]),
        (Server::start(Script::Refuses(429)), vec!["status 429: not now"]),
        (Server::start(Script::Refuses(500)), vec!["status 500: not now"]),
        (Server::start(Script::Refuses(503)), vec!["status 503: not now"]),
        // The good server would answer, and nobody gave its address for this agent.
        (Server::start(Script::Redirects(good.port())), vec!["status 307: not now"]),
    ];
    for variant in able() {
        for (bad, words) in &cases {
            let outcome =
                outcome(&variant, &workload(Arrangement::Concurrent, &[&good, bad], None));
            let name = &variant.name;
            assert_eq!(outcome.status, Status::Failed, "{name}: {words:?}");
            let reason = outcome.reason.unwrap();
            let place = format!("agent 1, call 0 on {}: ", bad.url);
            assert!(reason.starts_with(&place), "{name}: {reason}");
            assert!(words.iter().any(|word| reason.contains(word)), "{name}: {words:?}: {reason}");
        }
    }
}

#[test]
fn a_request_on_a_connection_that_the_server_has_closed_is_sent_again() {
    let server = Server::start(Script::RightThenGone);
    // HTTP libraries of others leave that to their callers.
    let is_ours =
        |variant: &Variant| variant.is("sockets") && variant.identity.version != "installed";
    for variant in able().into_iter().filter(is_ours) {
        let outcome = outcome(&variant, &workload(Arrangement::Solo, &[&server, &server], None));
        assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
        assert_eq!(outcome.samples["call_tokens"], [40, 25, 40, 25], "{}", variant.name);
    }
}

#[test]
fn a_server_of_ipv6_alone_is_reached() {
    let Some(server) = Server::start_on("[::1]:0", Script::Right) else {
        // As `.ci/count-tests` counts it; the harness would swallow what is printed.
        let reason = "SKIPPED a_server_of_ipv6_alone_is_reached: this machine has no IPv6";
        let _ = writeln!(io::stderr(), "{reason}");
        return;
    };
    for variant in able() {
        let outcome = outcome(&variant, &workload(Arrangement::Solo, &[&server], None));
        assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
        assert_eq!(outcome.samples["call_tokens"], [40, 25], "{}", variant.name);
    }
}

#[test]
fn a_host_that_no_name_server_knows_is_a_failure_that_names_it() {
    let server = Server::unknown();
    for variant in able() {
        let outcome = outcome(&variant, &workload(Arrangement::Solo, &[&server], None));
        assert_eq!(outcome.status, Status::Failed, "{}", variant.name);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("nobody.invalid:11434: cannot talk to the server"), "{reason}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let server = Server::start(Script::Right);
    let folder = Some("no/such/folder".to_owned());
    let workload = workload(Arrangement::Concurrent, &[&server], folder);
    for variant in able() {
        let reason = outcome(&variant, &workload).reason.unwrap();
        let expected = "agent 0: cannot ingest no/such/folder: No such file or directory";
        assert!(reason.starts_with(expected), "{reason}");
    }
}
