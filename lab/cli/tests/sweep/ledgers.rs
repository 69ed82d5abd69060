//! Transactions: the floor knows the answer, and a store that
//! gives another one, or times that cannot be, is a failed record.

use std::fs;

use crate::world::{World, assert_not_timed, of};
use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, Status, Verification};
use predicates::str::contains;
use proof_kit::Attack;

/// Two cells of contention by two of workers, with the least time a run may have.
pub(crate) const EXPERIMENT: &str = r#"schema = 1
name = "e"
question = "Does the lab survive this?"
family = "ledgers"
seed = 1
blocks = 2
[variants]
tags = ["t"]
[[cells]]
contention = ["disjoint", "hot"]
workers = ["1", "2"]
[analysis]
reference = "floor"
floor = "floor"
pairing = "paired"
alpha = 0.05
comparisons = []
[ledgers]
run_budget_ms = 1
repetitions_min = 2
repetitions_max = 3
warmup_repetitions = 1
[ledgers.defaults]
streams = "5"
transactions = "20"
contention = "disjoint"
kinds = "mixed"
work_ns = "0"
workers = "1"
pinned = "off"
spawn = "stream"
shards = "library"
locks = "plain"
"#;

fn world() -> World {
    let world = World::new();
    world.ledger("floor", &["t"], "exec \"$FLOOR\"");
    fs::write(world.path("experiments/e.toml"), EXPERIMENT).unwrap();
    world
}

#[test]
fn what_a_variant_cannot_do_is_a_record_and_no_failure() {
    let results = world().run(0);
    let floor = of(&results, "floor");
    assert_eq!(floor.len(), 1 + 2 * 4, "a check, then two blocks of four cells");
    for run in floor {
        let expected = if run.cell["workers"] == "1" { Status::Ok } else { Status::Unsupported };
        assert_eq!(run.status, expected);
        assert_eq!(run.verification == Verification::Verified, expected == Status::Ok);
    }
}

#[test]
fn two_sweeps_that_declare_contrasts_alone_are_compared_by_their_levels() {
    let world = world();
    let contrast = "[[analysis.contrasts]]\nid = \"hot\"\nvariant = \"floor\"\n\
        metric = \"elapsed_ns\"\nfactor = \"contention\"\nlevel = \"hot\"\n\
        reference = \"disjoint\"\nscale = \"ratio\"\nmargin = 0.05\n\
        cells = { workers = [\"1\"] }\n[ledgers]\nrun";
    let text = EXPERIMENT.replace("[ledgers]\nrun", contrast);
    fs::write(world.path("experiments/e.toml"), text).unwrap();
    for out in ["old", "new"] {
        world.lab(&["run", "experiments/e.toml", "--out", out]).assert().code(0);
    }
    let report = fs::read_to_string(world.path("new/report.md")).unwrap();
    assert!(report.contains("No A/A ran."), "{report}");
    let end = world.lab(&["report", "new", "--against", "old"]).output().unwrap();
    let said = String::from_utf8_lossy(&end.stdout);
    for level in ["hot", "disjoint"] {
        let title = format!("`elapsed_ns` (contention {level}; ");
        assert!(said.contains(&title), "{said}{}", String::from_utf8_lossy(&end.stderr));
    }
}

#[test]
fn the_report_follows_from_the_records() {
    let world = world();
    world.run(0);
    assert!(world.report().contains("floor"));
    world.lab(&["report", "r", "--check"]).assert().code(0);
}

#[test]
fn a_record_stores_the_whole_of_an_experiment_that_extends_another_one() {
    let world = world();
    let own = "extends = \"e.toml\"\nname = \"other\"\nblocks = 1\n";
    fs::write(world.path("experiments/other.toml"), own).unwrap();
    let run = ["run", "experiments/other.toml", "--out", "r"];
    world.lab(&run).assert().code(0);
    let results = Results::load(&world.path("r")).unwrap();
    assert_eq!(of(&results, "floor").len(), 1 + 4, "a check, then one block of four cells");
    assert_eq!(results.run_file.experiment, "other");
    assert!(results.run_file.experiment_toml.contains("[ledgers.defaults]"));
    world.lab(&["run", "--resume", "r"]).assert().code(0);

    fs::remove_file(world.path("experiments/e.toml")).unwrap();
    let expected = "experiments/other.toml: key `extends`: e.toml: No such file";
    world.lab(&run).assert().code(2).stderr(contains(expected));
}

#[test]
fn another_answer_than_the_floors_is_a_failed_record() {
    let world = world();
    let lie = r#""$FLOOR" | sed 's/"answer_hash":\[-*[0-9]*/"answer_hash":[7/'"#;
    world.ledger("liar", &["t"], lie);
    let steal = r#""$FLOOR" | sed 's/"answer_total":\[[0-9]*/"answer_total":[7/'"#;
    world.ledger("thief", &["t"], steal);
    let results = world.run(1);
    let reasons = [("liar", "answer_hash is 7, the floor's is"), ("thief", "total is 7")];
    assert_not_timed(&results, &reasons);
    assert_eq!(of(&results, "floor").len(), 9);
}

#[test]
fn a_run_cannot_have_measured_more_time_than_it_lived() {
    let world = world();
    let boast = r#""$FLOOR" | sed 's/"elapsed_ns":\[[0-9]*/"elapsed_ns":[99000000000/'"#;
    world.ledger("boaster", &["t"], boast);
    let tidy = r#""$FLOOR" | sed 's/"teardown_ns":\[[0-9]*/"teardown_ns":[99000000000/'"#;
    world.ledger("tidier", &["t"], tidy);
    let results = world.run(1);
    for (liar, column) in [("boaster", "elapsed_ns"), ("tidier", "teardown_ns")] {
        let _attack = Attack::on("answers", &format!("more {column} than the process lived"));
        let reason = of(&results, liar)[0].reason.clone().unwrap();
        let said = format!("column {column}: says that it measured 99");
        assert!(reason.contains(&said) && reason.contains("but it lived only"), "{reason}");
    }
}

#[test]
fn a_harness_has_no_answer_and_still_has_times() {
    let world = world();
    let no_answer = r#""$FLOOR" | sed 's/"answer_/"other_/g'"#;
    world.ledger("empty", &["t", "harness"], no_answer);
    world.ledger("silent", &["t"], no_answer);
    let results = world.run(1);
    for run in of(&results, "empty") {
        assert_ne!(run.status, Status::Failed, "{:?}", run.reason);
        let checked = run.verification == Verification::Checked;
        assert_eq!(
            checked,
            run.status == Status::Ok,
            "its times are checked, and it has no answer"
        );
    }
    let reason = of(&results, "silent")[0].reason.clone().unwrap();
    assert!(reason.contains("column answer_hash has 0 rows"), "{reason}");
}

#[test]
fn an_experiment_without_a_floor_is_refused_with_its_key() {
    let world = world();
    let text = EXPERIMENT.replace("floor = \"floor\"\n", "");
    fs::write(world.path("experiments/e.toml"), text).unwrap();
    let run = world.lab(&["run", "experiments/e.toml", "--out", "r"]).assert();
    run.code(2).stderr(contains("experiments/e.toml: key `analysis.floor`"));
}

#[test]
fn servers_are_refused_where_none_is_needed() {
    let run =
        world().lab(&["run", "experiments/e.toml", "--servers", "http://127.0.0.1:1"]).assert();
    run.code(2).stderr(contains("needs no server"));
}
