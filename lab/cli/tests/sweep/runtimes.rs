//! Agents: with variants that misbehave, servers that misbehave, and a person who stops it.

use std::collections::BTreeSet;
use std::fs;

use crate::world::{FaultyServer, World};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Run, SessionEvent, Verification};
use nix::{sys::stat::Mode, unistd::mkfifo};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::{Value, json};

fn reasons(runs: &[Run], variant: &str) -> Vec<String> {
    let own = runs.iter().filter(|run| run.variant == variant);
    own.map(|run| run.reason.clone().unwrap_or_default()).collect()
}

/// Of its first call it counts another number of tokens.
const LIAR: &str = r#""$FLOOR" | sed 's/"call_tokens":\[\([0-9]*\)/"call_tokens":[1/'"#;

#[test]
fn a_sweep_records_every_cell_and_reports() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 2, "");
    let run = world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert();
    let run = run.code(0).stderr(contains("**Does the lab survive this?**"));
    // The head counts what is recorded, and start-ups are not.
    run.stderr(contains("2 checks = 10 rows")).stdout("r/report.md\n");
    let results = Results::load(&world.path("r")).unwrap();
    // A check each for the variant and its twin, then 2 blocks x 2 variants x 2 arrangements.
    assert_eq!(results.runs.len(), 2 + 8);
    assert!(results.runs.iter().all(|run| run.verification == Verification::Verified));
    assert_eq!(results.runs.iter().filter(|run| run.warmup).count(), 2);
    let hashes: Vec<_> = results.run_file.variants.iter().map(|v| &v.binary_sha256).collect();
    assert_eq!(hashes[0], hashes[1], "the twin is the same file");
    assert_eq!(results.sessions.last().unwrap().event, SessionEvent::Finished);
    let samples = results.samples(&results.runs[5]).unwrap();
    let column = |name| samples.raw(name).unwrap();
    assert_eq!(column("call_tokens"), column("server_tokens"));
    assert_eq!(column("token_received_ns").len(), column("server_pacing_error_ns").len());
    assert!(world.report().contains("steady"));
    world.lab(&["report", "r", "--check"]).assert().code(0);
}

/// Adds the factor to the cells of experiments/e.toml.
fn with_servers(world: &World, levels: &str) {
    let file = world.path("experiments/e.toml");
    let text = fs::read_to_string(&file).unwrap();
    let arrangement = "arrangement = [\"concurrent\", \"solo\"]\n";
    fs::write(&file, text.replace(arrangement, &format!("{arrangement}servers = {levels}\n")))
        .unwrap();
}

#[test]
fn one_server_answers_two_agents_in_turn() {
    let world = World::new();
    let specs = world.path("specs");
    let noted = format!("tee -a '{}'", specs.display());
    let script = format!("read -r line; printf '%s\\n' \"$line\" | {noted} | \"$FLOOR\"");
    world.variant("steady", &script);
    world.experiment("paced", 1, "");
    with_servers(&world, "[\"1\", \"2\"]");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    let results = Results::load(&world.path("r")).unwrap();
    let specs = fs::read_to_string(specs).unwrap();
    assert_eq!(results.runs.len(), specs.lines().count());
    for (run, spec) in results.runs.iter().zip(specs.lines()) {
        assert_eq!(run.verification, Verification::Verified);
        let spec: Value = serde_json::from_str(spec).unwrap();
        let agents = spec["workload"]["agents"].as_array().unwrap().iter();
        let addresses: BTreeSet<&str> = agents.filter_map(|one| one["server"].as_str()).collect();
        assert_eq!(addresses.len().to_string(), run.cell["servers"]);
        let samples = results.samples(run).unwrap();
        // As the server has sent them, for a client may be late.
        let mut sent = samples.raw("token_sent_ns").unwrap();
        let mut replies: Vec<(i64, i64)> = Vec::new();
        for &tokens in samples.raw("call_tokens").unwrap() {
            let (reply, rest) = sent.split_at(tokens as usize);
            replies.push((reply[0], reply[reply.len() - 1]));
            sent = rest;
        }
        replies.sort_unstable();
        // Two may answer at once, and do where nothing delays an agent.
        let in_turn = replies.windows(2).all(|two| two[0].1 <= two[1].0);
        assert!(in_turn || run.cell["servers"] == "2", "{replies:?}");
    }
}

#[test]
fn two_servers_that_are_asked_for_must_be_given() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("given", 1, "");
    with_servers(&world, "[\"1\", \"2\"]");
    let server = FaultyServer::start(&json!({"kind": "never_done", "every": 1_000_000}));
    let url = server.urls.split(',').next().unwrap();
    let twice = format!("{url},{url}");
    for urls in [url, &twice] {
        let run = ["run", "experiments/e.toml", "--servers", urls, "--out", "r", "--no-startup"];
        let said = "asks for 2 servers, but --servers names 1";
        world.lab(&run).assert().code(2).stderr(contains("cells.servers").and(contains(said)));
    }
    assert!(!world.path("r").exists(), "nothing was started");
}

#[test]
fn a_report_that_does_not_follow_from_its_records_is_found_out() {
    let _attack = Attack::on("records", "a report with other words");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    fs::write(world.path("r/report.md"), "everything is fast\n").unwrap();
    world.lab(&["report", "r", "--check"]).assert().code(1).stderr(contains("report.md"));
}

#[test]
fn a_bad_variant_is_one_failed_record_and_the_others_go_on() {
    let world = World::new();
    world.variant("crash", "kill -9 $$");
    world.variant("hang", "exec sleep 60");
    world.variant("liar", LIAR);
    world.variant("rubbish", "echo all is well");
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(1);
    let runs = Results::load(&world.path("r")).unwrap().runs;
    let expected = [
        ("crash", "signal: 9"),
        ("hang", "gave no outcome within 6 s and was killed"),
        ("liar", "wrong answer: "),
        ("rubbish", "printed no outcome but `all is well`"),
    ];
    for (variant, reason) in expected {
        let _attack = Attack::on("variants", &format!("a {variant} in the place of an answer"));
        let found = reasons(&runs, variant);
        assert_eq!(found.len(), 1, "{variant}: {found:?}");
        assert!(found[0].contains(reason), "{variant}: {found:?}");
    }
    assert_eq!(reasons(&runs, "steady"), ["", "", ""]);
}

#[test]
fn a_variant_that_fails_later_is_recorded_each_time() {
    let _attack = Attack::on("variants", "a failure after a good check");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    // Its check passes; it loses its senses in the first block.
    world.variant(
        "fickle",
        r#"read -r line
           case "$line" in
             *'"block 0'*) printf '%s\n' "$line" | "$FLOOR" ;;
             *) exit 7 ;;
           esac"#,
    );
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(1);
    let found = reasons(&Results::load(&world.path("r")).unwrap().runs, "fickle");
    assert_eq!(found[0], "");
    assert!(found[1..].iter().all(|reason| reason.contains("exit status: 7")), "{found:?}");
}

#[test]
fn a_stopped_sweep_goes_on_where_it_was() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 20, "");
    world.interrupt_after(&["run", "experiments/e.toml", "--out", "r", "--no-startup"], "r", 4);
    let stopped = Results::load(&world.path("r")).unwrap();
    assert_eq!(stopped.sessions.last().unwrap().event, SessionEvent::Stopped);
    let before = stopped.runs.len();
    assert!((4..82).contains(&before), "{before}");
    world.lab(&["run", "--resume", "r", "--no-startup"]).assert().code(0);
    let finished = Results::load(&world.path("r")).unwrap();
    assert_eq!(finished.runs.len(), 2 + 80);
    assert_eq!(finished.runs[..before], stopped.runs[..], "nothing is rewritten");
    let mut orders: Vec<_> = finished.runs.iter().map(|run| run.order).collect();
    orders.dedup();
    assert_eq!(orders, (0..82).collect::<Vec<_>>());
}

#[test]
fn a_resume_refuses_another_experiment_program_or_lab() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    world.lab(&["run", "experiments/e.toml", "--out", "r", "--no-startup"]).assert().code(0);
    world.variant("steady", "exec \"$FLOOR\" # rebuilt");
    let resume = ["run", "--resume", "r", "--no-startup"];
    world.lab(&resume).assert().code(4).stderr(contains("the program of steady has changed"));
    let file = world.path("r/run.json");
    let text = fs::read_to_string(&file).unwrap();
    let lab = Results::load(&world.path("r")).unwrap().run_file.lab_sha256.unwrap();
    fs::write(&file, text.replace(&lab, &"0".repeat(64))).unwrap();
    world.lab(&resume).assert().code(4).stderr(contains("it was changed after the sweep"));
    fs::write(&file, text).unwrap();
    world.experiment("paced", 2, "");
    world.lab(&resume).assert().code(4).stderr(contains("the experiment or a table"));
}

#[test]
fn misbehaving_servers_are_failed_records_with_agent_and_server() {
    // The first call of a port loads the model; the second is the first that is timed.
    let cases = [
        (json!({"kind": "stall", "after_tokens": 3, "port_index": 0, "every": 2}), "stall"),
        (json!({"kind": "reset", "after_tokens": 3, "port_index": 0, "every": 2}), "reset"),
        (json!({"kind": "broken_json", "after_tokens": 3, "port_index": 1, "every": 2}), "JSON"),
        (json!({"kind": "never_done", "port_index": 0, "every": 2}), "done"),
        (json!({"kind": "error_line", "after_tokens": 3, "port_index": 0, "every": 2}), "agent 0"),
        (json!({"kind": "http_500", "port_index": 1, "every": 2}), "500"),
        (json!({"kind": "not_found"}), "404"),
    ];
    for (fault, expected) in cases {
        let _attack = Attack::on("servers", &format!("an answer with {}", fault["kind"]));
        let server = FaultyServer::start(&fault);
        let world = World::new();
        world.variant("steady", "exec \"$FLOOR\"");
        world.experiment("given", 1, "");
        let command = ["run", "experiments/e.toml", "--servers", &server.urls, "--out", "r"];
        world.lab(&[&command[..], &["--no-startup"]].concat()).assert().code(1);
        let runs = Results::load(&world.path("r")).unwrap().runs;
        let found: Vec<_> = runs.iter().filter_map(|run| run.reason.as_deref()).collect();
        assert!(!found.is_empty(), "{fault}: nothing failed");
        let names_it = |reason: &&str| reason.contains(expected) && reason.contains("127.0.0.1");
        assert!(found.iter().any(names_it), "{fault}: {found:?}");
    }
}

#[test]
fn every_session_says_which_servers_answered() {
    // A fault that is never reached: the server answers well.
    let server = FaultyServer::start(&json!({"kind": "not_found", "every": 1_000_000}));
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("given", 1, "");
    let command = ["run", "experiments/e.toml", "--servers", &server.urls, "--out", "r"];
    world.lab(&[&command[..], &["--no-startup"]].concat()).assert().code(0);
    let results = Results::load(&world.path("r")).unwrap();
    assert_eq!(results.sessions.len(), 2);
    for session in &results.sessions {
        let servers = session.environment["servers"].as_array().unwrap();
        let urls: Vec<&str> = servers.iter().filter_map(|one| one["address"].as_str()).collect();
        assert_eq!(urls.join(","), server.urls);
        for one in servers {
            assert!(one["version"].as_str().is_some_and(|it| it.ends_with("-paced")), "{one}");
            assert!(one["model_digest"].is_null(), "the paced server's model has no bytes");
        }
    }
    let environment = fs::read_to_string(world.path("r/environment.tsv")).unwrap();
    assert!(environment.contains("-paced"), "the report does not say it");
    let report = world.report();
    // What a server answers that the lab does not know is known to nobody.
    assert!(results.runs.iter().all(|run| run.verification == Verification::Checked));
    assert!(report.contains("Answers: 4 checked."), "{report}");
}

#[test]
fn servers_that_cannot_be_used_are_one_sentence() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("given", 1, "");
    let run = ["run", "experiments/e.toml", "--out", "r"];
    world.lab(&run).assert().code(2).stderr(contains("--servers URL,URL"));
    let nobody = [&run[..], &["--servers", "http://127.0.0.1:1"]].concat();
    world.lab(&nobody).assert().code(3).stderr(contains("http://127.0.0.1:1 does not answer"));
    let server = FaultyServer::start(&json!({"kind": "never_done"}));
    let other = [&run[..], &["--servers", &server.urls, "--model", "other"]].concat();
    world.lab(&other).assert().code(3).stderr(contains("has no model `other`, only: paced"));
    assert!(!world.path("r").exists(), "nothing was started");
}

#[test]
fn bad_input_is_one_sentence_with_file_and_key() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "colour = \"red\"\n");
    world.lab(&["plan", "experiments/e.toml"]).assert().code(2).stderr(contains("colour"));
    world.lab(&["plan", "experiments/none.toml"]).assert().code(2).stderr(contains("none.toml"));
    let near = "ee: there is no such file; did you mean experiments/e.toml?";
    world.lab(&["plan", "ee"]).assert().code(2).stderr(contains(near));
    world.experiment("paced", 1, "");
    world
        .lab(&["plan", "experiments/e.toml", "--quick"])
        .assert()
        .code(2)
        .stderr(contains("quick"));
    let run = ["run", "experiments/e.toml", "--out", "r"];
    let remove = |name: &str| {
        let program = format!("runtimes/{name}/runtimes-{name}");
        fs::remove_file(world.path(&program)).unwrap();
    };
    remove("steady");
    let one = "the program runtimes-steady is neither in its own folder";
    world.lab(&run).assert().code(2).stderr(contains(one));
    world.variant("calm", "exec \"$FLOOR\"");
    remove("calm");
    let both = "the programs runtimes-calm, runtimes-steady are neither in their own folders";
    world.lab(&run).assert().code(2).stderr(contains(both));
    world.lab(&["report", "nowhere"]).assert().code(4).stderr(contains("it does not exist"));
}

#[test]
fn what_has_no_bounds_is_refused_before_anything_runs() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let plan = ["plan", "experiments/e.toml"];
    world.experiment("paced", 4_000_000_000, "");
    world.lab(&plan).assert().code(2).stderr(contains("key `blocks`: must lie between 1 and"));
    world.experiment("paced", 1, "");
    let file = world.path("experiments/e.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("ingest_files = 3", "ingest_files = 4_000_000_000")).unwrap();
    world.lab(&plan).assert().code(2).stderr(contains("runtimes.ingest_files"));
    fs::remove_file(&file).unwrap();
    mkfifo(&file, Mode::S_IRWXU).unwrap();
    world.lab(&plan).assert().code(2).stderr(contains("e.toml: is no regular file"));
}

#[test]
fn a_program_that_never_ends_saying_who_it_is_is_refused() {
    let _attack = Attack::on("programs", "an identity without an end");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let program = world.path("runtimes/steady/runtimes-steady");
    fs::write(program, "#!/bin/sh\nexec yes\n").unwrap();
    world.experiment("paced", 1, "");
    let refused = world.lab(&["run", "experiments/e.toml", "--out", "r"]).assert().code(2);
    refused.stderr(contains("steady --describe: printed more than 65536 bytes and was killed"));
}

#[test]
fn a_program_of_another_protocol_is_refused() {
    let _attack = Attack::on("programs", "an identity of another protocol");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let program = world.path("runtimes/steady/runtimes-steady");
    let text = fs::read_to_string(&program).unwrap();
    fs::write(program, text.replace("\"protocol\":1", "\"protocol\":2")).unwrap();
    world.experiment("paced", 1, "");
    let refused = world.lab(&["run", "experiments/e.toml", "--out", "r"]).assert().code(2);
    refused.stderr(contains("steady --describe: speaks protocol 2, this lab speaks 1"));
}

#[test]
fn a_program_that_is_not_what_its_manifest_says_is_refused() {
    let _attack = Attack::on("programs", "an identity of another version");
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    let manifest = world.path("runtimes/steady/variant.toml");
    let text = fs::read_to_string(&manifest).unwrap().replace("1.2.4", "9.9.9");
    fs::write(&manifest, text).unwrap();
    world.experiment("paced", 1, "");
    let sentence = "key `version` is `9.9.9`, but the program says `1.2.4`";
    let run = ["run", "experiments/e.toml", "--out", "r"];
    world.lab(&run).assert().code(2).stderr(contains(sentence));
}

#[test]
fn verify_says_who_is_right() {
    let world = World::new();
    world.variant("crash", "kill -9 $$");
    world.variant("rubbish", "echo all is well");
    world.variant("steady", "exec \"$FLOOR\"");
    world.variant("liar", LIAR);
    world.experiment("paced", 1, "");
    let verify = world.lab(&["verify", "experiments/e.toml"]).assert().code(1);
    let text = String::from_utf8(verify.get_output().stdout.clone()).unwrap();
    for (start, reason) in [
        ("FAILED  crash: ", "signal: 9"),
        ("FAILED  rubbish: ", "printed no outcome"),
        ("right   steady", ""),
        ("WRONG   liar: ", ""),
    ] {
        let is_said = |line: &str| line.starts_with(start) && line.contains(reason);
        assert!(text.lines().any(is_said), "{start} is not in {text}");
    }
}

#[test]
fn verify_skips_what_is_absent() {
    let world = World::new();
    world.variant(
        "peer",
        r#"read -r line; run=${line#*\"run\":\"}; run=${run%%\"*}
           echo "{\"protocol\":1,\"run\":\"$run\",\"status\":\"unsupported\",
             \"reason\":\"ugrep cannot be started\"}" | tr -d '\n'"#,
    );
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    let verify = world.lab(&["verify", "experiments/e.toml"]).assert().code(0);
    verify
        .stdout(contains("right   steady").and(contains("absent  peer: ugrep cannot be started")));
}

#[test]
fn verify_skips_what_nothing_on_this_machine_reads() {
    let world = World::new();
    for variant in ["foreign", "steady"] {
        world.variant(variant, "exec \"$FLOOR\"");
    }
    let manifest = world.path("runtimes/foreign/variant.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + "interpreter = \"no-such-interpreter\"\n").unwrap();
    world.experiment("paced", 1, "");
    let verify = world.lab(&["verify", "experiments/e.toml"]).assert().code(0);
    let absent = "absent  foreign: no-such-interpreter is not installed";
    verify.stdout(contains("right   steady").and(contains(absent)));
}
