//! What a variant says when it may not open as many files as its agents need. The limits are set
//! for the variant alone, by the shell that starts it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::absolute;
use std::sync::{Mutex, PoisonError};

use lab_protocol::runtimes::{Agent, Arrangement, Call, Options, Workload};
use proof_kit::runtimes::{FAMILY, Script, Server, Status, Variant, outcome, variants};
use tempfile::{TempDir, tempdir};

/// A program that another test starts at the wrong moment would hold this one's script open, and
/// nobody may start a script that is still written to.
static ALONE: Mutex<()> = Mutex::new(());

const AGENTS: usize = 40;
/// Too few for the agents, and enough for one of them.
const FEW: &str = "ulimit -n 64";
/// The same, which the variant may raise.
const FEW_AT_FIRST: &str = "ulimit -Sn 64 && ulimit -Hn 256";

/// Those that link the kit; a program in another language has what its interpreter says.
fn ours() -> Vec<Variant> {
    variants(FAMILY).into_iter().filter(|one| one.identity.version != "installed").collect()
}

fn workload(arrangement: Arrangement, server: &Server) -> Workload {
    let options = Options {
        num_gpu: None,
        num_ctx: None,
        num_thread: None,
        temperature: None,
        seed: 1,
        num_predict: 3,
    };
    let calls = vec![Call { prompt: "p".to_owned(), options }];
    let (server, model) = (server.url.clone(), "m".to_owned());
    let agent = Agent {
        server,
        model,
        calls,
        work_per_token_ns: 0,
        drop_after_tokens: 0,
        start_after_ns: 0,
    };
    Workload {
        arrangement,
        stall_timeout_ms: 30_000,
        ingest_dir: None,
        piece_bytes: None,
        give_up_lag_ms: None,
        agents: vec![agent; AGENTS],
    }
}

/// The variant, as started by a shell after that command.
fn after(command: &str, variant: &Variant) -> (Variant, TempDir) {
    let folder = tempdir().expect("there is a folder for what is temporary");
    let program = folder.path().join(&variant.name);
    let started = absolute(&variant.program).expect("a program has a path");
    let script = format!("#!/bin/sh\n{command} && exec '{}' \"$@\"\n", started.display());
    fs::write(&program, script).expect("the folder is ours");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the script is ours");
    (Variant { program, ..variant.clone() }, folder)
}

#[test]
fn more_agents_than_files_are_refused_before_anything_starts() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody listens, so an agent that started would say that.
    let workload = workload(Arrangement::Concurrent, &Server::nobody());
    for variant in ours() {
        let (limited, _folder) = after(FEW, &variant);
        let outcome = outcome(&limited, &workload);
        assert_eq!(outcome.status, Status::Unsupported, "{}: {outcome:?}", variant.name);
        let reason = outcome.reason.unwrap();
        assert!(reason.starts_with("40 agents at once need "), "{}: {reason}", variant.name);
        assert!(reason.contains("may have 64: raise that limit (ulimit -n "), "{reason}");
    }
}

#[test]
fn a_limit_that_can_be_raised_is_raised() {
    all_replies(FEW_AT_FIRST, Arrangement::Concurrent);
}

#[test]
fn agents_that_run_one_after_another_need_the_files_of_one() {
    all_replies(FEW, Arrangement::Solo);
}

fn all_replies(command: &str, arrangement: Arrangement) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let server = Server::start(Script::RightThenClose);
    let workload = workload(arrangement, &server);
    for variant in ours() {
        let (limited, _folder) = after(command, &variant);
        let outcome = outcome(&limited, &workload);
        let reason = outcome.reason.unwrap_or_default();
        match outcome.status {
            Status::Ok => assert_eq!(outcome.samples["call_tokens"], [3; AGENTS]),
            // What it cannot do here it cannot do with any limit.
            Status::Unsupported => assert!(!reason.contains("open files"), "{reason}"),
            Status::Failed => panic!("{}: {reason}", variant.name),
        }
    }
}
