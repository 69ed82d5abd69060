//! What this back end alone promises: how much it commits, and its end on a full disk.

use std::path::Path;
use std::time::{Duration, Instant};

use proof_kit::workflows::{
    Status, UnderWay, Variant, batches, check, draw, is_missing, kills, on_a_small_disk, outcome,
    sessions_of, shape, shapes, variant, whole, workload,
};
use workflows_kit::Workload;

fn postgres() -> Variant {
    variant(Path::new(env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn a_commit_accepts_another_records_steps_and_idle_workers_claim_in_others() {
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&postgres(), &workload(&shape, folder.path()));
        if is_missing(&outcome) {
            return;
        }
        let steps = outcome.samples["step"].len() as u64;
        let commits = outcome.counters["commits"];
        // Of the four tasks, one after the other, a commit for itself and for each of a chain.
        let least = if shape.name == "linear" { steps + 4 } else { 8 };
        assert!((least..=2 * steps + 4).contains(&commits), "{}: {commits}", shape.name);
        assert_eq!(outcome.counters["reconnections"], 0, "{}", shape.name);
        // Within a process nobody needs a notification, which would keep others from committing.
        assert_eq!(outcome.counters["messages"], 0, "{}", shape.name);
    }
}

#[test]
fn tasks_that_are_there_at_once_share_commits() {
    let folder = tempfile::tempdir().unwrap();
    let workload =
        Workload { tasks: 640, in_flight: 64, ..workload(&shape("linear"), folder.path()) };
    let outcome = outcome(&postgres(), &workload);
    if is_missing(&outcome) {
        return;
    }
    check("at once", &workload, &outcome);
    let (steps, commits) = (outcome.samples["step"].len() as u64, outcome.counters["commits"]);
    assert!(commits * 4 < steps + 640, "{commits} commits for {steps} steps of 640 tasks");
}

#[test]
fn many_tasks_at_once_whose_process_is_killed_are_neither_lost_nor_repeated() {
    let postgres = postgres();
    let mut killed = 0;
    for seed in 0..kills(3) {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { tasks: 1_000, in_flight: 64, ..batches(folder.path(), seed) };
        let mut run = UnderWay::start(&postgres, &workload, None);
        let there =
            run.until(|| sessions_of(folder.path()).is_some_and(|all| all.sessions.len() >= 3));
        if !there {
            assert!(is_missing(&run.outcome()));
            return;
        }
        let (from, wait) = (Instant::now(), Duration::from_micros(draw(seed, 0, 300_000)));
        killed += u64::from(run.until(|| from.elapsed() >= wait));
        run.kill();
        whole(&format!("seed {seed}"), &workload, &outcome(&postgres, &workload));
    }
    assert!(killed > 0, "every run had ended before it was to be killed");
}

#[test]
fn a_full_disk_ends_a_database_with_a_clear_state_and_room_lets_it_go_on() {
    let folder = tempfile::tempdir().unwrap();
    // A new cluster takes some 40 megabytes, most of it a segment of the log; the second fills it.
    let workload = Workload { tasks: 3_000, ..batches(folder.path(), 5) };
    let runs = on_a_small_disk(&postgres(), &workload, (folder.path(), 52));
    let Some([before, after]) = runs else { return };
    if is_missing(&before) {
        return;
    }
    assert_eq!(before.status, Status::Failed);
    let reason = before.reason.unwrap();
    // A later PostgreSQL may not even find room for an empty cluster.
    let clear = ["start again with the same folder", "initdb failed"];
    assert!(clear.iter().any(|words| reason.contains(words)), "{reason}");
    whole("room again", &workload, &after);
}
