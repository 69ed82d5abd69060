//! The journal's own file: cut off, damaged, on a full disk, and read as anybody could.

use std::fs;
use std::path::Path;

use proof_kit::workflows::{
    RunOutcome, Status, UnderWay, Variant, batches, check, draw, exit, kills, outcome, shape,
    shapes, variant, whole, workload,
};
use workflows_kit::Workload;

fn journal() -> Variant {
    variant(Path::new(env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn a_journal_syncs_once_a_transition_at_most() {
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&journal(), &workload(&shape, folder.path()));
        let steps = outcome.samples["step"].len() as u64;
        assert!(outcome.counters["syncs"] <= steps + 4, "{}: {outcome:?}", shape.name);
    }
}

#[test]
fn tasks_that_are_there_at_once_share_syncs() {
    let folder = tempfile::tempdir().unwrap();
    let workload =
        Workload { tasks: 640, in_flight: 64, ..workload(&shape("linear"), folder.path()) };
    let outcome = outcome(&journal(), &workload);
    check("at once", &workload, &outcome);
    let (steps, syncs) = (outcome.samples["step"].len() as u64, outcome.counters["syncs"]);
    assert!(syncs * 8 < steps + 640, "{syncs} syncs for {steps} steps of 640 tasks");
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |file| file.len())
}

#[test]
fn a_journal_whose_process_is_killed_loses_and_repeats_nothing() {
    let journal = journal();
    let mut killed = 0;
    for seed in 0..kills(8) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal");
        // A few at once, or so many that every write is of many.
        let in_flight = if seed % 2 == 0 { 2 } else { 20 };
        let workload = Workload { in_flight, ..batches(folder.path(), seed) };
        for which in 0..2 {
            let mut run = UnderWay::start(&journal, &workload, None);
            // All of it is some 40 kilobytes.
            let point = length(&file) + draw(seed, which, 20_000);
            killed += u64::from(run.until(|| length(&file) > point));
            run.kill();
        }
        let who = format!("seed {seed}");
        whole(&who, &workload, &outcome(&journal, &workload));
        each_once(&who, &workload, &file);
    }
    assert!(killed > 0, "every run had ended before it was to be killed");
}

/// Reads the journal as anybody could: its lines, by words.
fn each_once(who: &str, workload: &Workload, journal: &Path) {
    let text = fs::read_to_string(journal).unwrap();
    let records = |kind: &str, words: usize| {
        let lines = text.lines().map(|line| line.split(' ').skip(3).collect::<Vec<_>>());
        let found = lines.filter(|line| line[0] == kind).map(|line| line[1..=words].join(" "));
        let mut found: Vec<String> = found.collect();
        found.sort_unstable();
        found
    };
    let (tasks, steps) = (records("task", 1), records("step", 3));
    let count = (workload.tasks + workload.warmup_tasks) as usize;
    assert_eq!((tasks.len(), steps.len()), (count, 7 * count), "{who}");
    for found in [tasks, steps] {
        assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{who}: recorded twice");
    }
}

#[test]
fn a_journal_that_was_cut_off_anywhere_goes_on_and_a_damaged_one_does_not() {
    let (journal, folder) = (journal(), tempfile::tempdir().unwrap());
    let (workload, file) = (batches(folder.path(), 1), folder.path().join("journal"));
    outcome(&journal, &workload);
    let whole_file = fs::read(&file).unwrap();
    for which in 0..4 {
        let end = draw(1, which, whole_file.len() as u64) as usize;
        fs::write(&file, &whole_file[..end]).unwrap();
        whole("cut off", &workload, &outcome(&journal, &workload));
    }
    let mut damaged = whole_file.clone();
    damaged[500] ^= 1;
    fs::write(&file, &damaged).unwrap();
    let outcome = outcome(&journal, &workload);
    assert_eq!(outcome.status, Status::Failed);
    assert!(outcome.reason.unwrap().contains("the journal is damaged after byte"));
    assert_eq!(fs::read(&file).unwrap(), damaged, "a damaged journal was written to");
}

#[test]
fn a_full_disk_ends_a_journal_with_a_clear_state_and_room_lets_it_go_on() {
    let (journal, folder) = (journal(), tempfile::tempdir().unwrap());
    let (workload, file) = (batches(folder.path(), 2), folder.path().join("journal"));
    let mut last = 0;
    for blocks in [9, 30] {
        let finished = UnderWay::start(&journal, &workload, Some(blocks)).finish();
        assert_eq!(finished.code, Some(exit::FAILED), "{finished:?}");
        let outcome: RunOutcome = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("make room and start again"), "{reason}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.ends_with('\n'), "something is half written: {:?}", text.lines().last());
        assert!(text.len() > last, "the second run did not go on");
        last = text.len();
    }
    whole("room again", &workload, &outcome(&journal, &workload));
    each_once("room again", &workload, &file);
}
