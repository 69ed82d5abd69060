//! What is done beside a step changes no value, and is really done.

use std::fs;
use std::path::Path;

use proof_kit::workflows::{Status, check, outcome, shapes, variant, workload};
use workflows_kit::{Beside, Workload};

const ALL: [Beside; 10] = [
    Beside::Nothing,
    Beside::LoudLog,
    Beside::QuietLog,
    Beside::LockedCounts,
    Beside::AtomicCounts,
    Beside::LockedMap,
    Beside::ShardedMap,
    Beside::BlockingBreaker,
    Beside::DirectBreaker,
    Beside::PoolStatistics,
];

#[test]
fn both_sides_of_every_optimisation_leave_the_values_as_they_are() {
    let own = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    for shape in shapes() {
        for beside in ALL {
            let folder = tempfile::tempdir().unwrap();
            let workload = workload(&shape, folder.path());
            let workload = Workload { beside, in_flight: 4, workers: 4, tasks: 12, ..workload };
            let outcome = outcome(&own, &workload);
            assert_eq!(outcome.status, Status::Ok, "{beside:?}: {outcome:?}");
            check(&format!("{beside:?} {}", shape.name), &workload, &outcome);
        }
    }
}

#[test]
fn a_loud_log_has_32_lines_of_each_step_and_a_quiet_one_none() {
    let own = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (beside, of_each) in [(Beside::LoudLog, 32), (Beside::QuietLog, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { warmup_tasks: 0, ..workload(&shapes()[0], folder.path()) };
        let outcome = outcome(&own, &Workload { beside, ..workload });
        assert_eq!(outcome.status, Status::Ok, "{outcome:?}");
        let log = fs::read_to_string(folder.path().join("worker.log")).unwrap();
        assert_eq!(log.lines().count(), of_each * outcome.samples["step"].len(), "{beside:?}");
    }
}
