//! Plans of the comparison of workflow back ends, and what is a right answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lab_families::workflows::Workflows;
use lab_family::{Answer, InputError, Places, Truth};
use lab_plan::{Plan, PlannedRun};
use lab_protocol::{
    PROTOCOL, RunOutcome, Status,
    workflows::{Beside, MODULUS, Shape, Wire, Worker, Workload, input, row},
};

const WORKFLOW: &str = include_str!("../../../../experiments/workflow.toml");
const HOT_PATH: &str = include_str!("../../../../experiments/workflow-hot-path.toml");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, InputError> {
    proof_kit::world::planned((&Workflows, &root()), text, profile, None)
}

fn workload(run: &PlannedRun) -> Workload {
    serde_json::from_value(run.work.workload(&Places::default())).expect("a workload")
}

/// A run of a shape that counts.
fn of_shape(plan: &Plan, shape: &str) -> PlannedRun {
    let is_it = |run: &&PlannedRun| !run.warmup && run.cell["shape"] == shape;
    plan.runs.iter().find(is_it).expect("the experiment has the shape").clone()
}

/// The longest chain of steps.
fn stages(shape: &Shape) -> usize {
    let mut depth: Vec<usize> = Vec::new();
    for step in &shape.steps {
        let waits =
            step.after.iter().chain(&step.parts_of).chain(step.when.iter().map(|w| &w.step));
        depth.push(1 + waits.map(|&index| depth[index as usize]).max().unwrap_or(0));
    }
    depth.into_iter().max().unwrap_or(0)
}

/// (step, part, value) of every step that a task of a shape has, by hand.
fn steps(shape: &str, input: u64) -> Vec<(i64, i64, u64)> {
    let square = |value: u64| (u128::from(value).pow(2) % u128::from(MODULUS)) as u64;
    match shape {
        "linear" => {
            let two = square(square(input));
            vec![
                (0, 0, square(input)),
                (1, 0, two),
                (2, 0, square(two)),
                (3, 0, square(square(two))),
            ]
        }
        // 500 needs no manager, so two steps are left out.
        "conditional" => vec![(0, 0, 500), (1, 0, 500), (2, 0, 250_000), (5, 0, 250_000)],
        "csv_batch" => {
            let batch = |part: u64| (200 * part..200 * (part + 1)).map(|at| row(input, at)).sum();
            let batches: Vec<u64> = (0..5).map(batch).collect();
            let parts = (0..).zip(&batches).map(|(part, &value)| (1, part, value));
            std::iter::once((0, 0, 5)).chain(parts).chain([(2, 0, batches.iter().sum())]).collect()
        }
        _ => panic!("no such shape"),
    }
}

type Columns = BTreeMap<String, Vec<i64>>;

/// What a back end would leave that did all tasks of a run: one nanosecond from stamp to stamp.
fn outcome(run: &PlannedRun) -> RunOutcome {
    let workload = workload(run);
    let mut columns: Columns = BTreeMap::new();
    let mut put = |name: &str, value: i64| {
        columns.entry(name.to_owned()).or_default().push(value);
    };
    for task in 0..workload.tasks {
        put("task", i64::from(task));
        for (at, name) in ["submitted", "accepted", "completed", "observed"].iter().enumerate() {
            put(&format!("task_{name}_ns"), at as i64);
        }
        for (step, part, value) in steps(&workload.shape.name, input(workload.seed, task)) {
            put("step_task", i64::from(task));
            put("step", step);
            put("step_part", part);
            put("step_value", value.cast_signed());
            put("step_claims", 1);
            let stamps = ["created", "enqueued", "claimed", "started", "finished", "recorded"];
            for (at, name) in stamps.iter().enumerate() {
                // A step takes the values of those before it.
                put(&format!("step_{name}_ns"), 10 * step + at as i64);
            }
        }
    }
    RunOutcome {
        protocol: PROTOCOL,
        run: String::new(),
        status: Status::Ok,
        reason: None,
        counters: BTreeMap::new(),
        samples: columns,
    }
}

fn checked(run: &PlannedRun, outcome: &RunOutcome) -> Result<(), String> {
    let answer = Answer { outcome, process_ns: 0, tags: &[] };
    run.work.check(&answer, &Truth::Plan).map(drop)
}

#[test]
fn shapes_are_the_published_ones() {
    let plan = planned(WORKFLOW, None).unwrap();
    for (name, defined, length) in [
        ("linear", 4, 4),
        ("diamond", 4, 3),
        ("conditional", 6, 4),
        ("complex_dag", 7, 4),
        ("hierarchical_tree", 8, 4),
        ("csv_batch", 3, 3),
    ] {
        let shape = workload(&of_shape(&plan, name)).shape;
        assert_eq!((shape.steps.len(), stages(&shape)), (defined, length), "{name}");
    }
    let edges = |name: &str| -> usize {
        let shape = workload(&of_shape(&plan, name)).shape;
        shape.steps.iter().map(|step| step.after.len()).sum()
    };
    assert_eq!((edges("complex_dag"), edges("hierarchical_tree")), (9, 10));
}

#[test]
fn both_sides_of_each_published_optimisation_are_levels_and_a_contrast() {
    let plan = planned(HOT_PATH, None).unwrap();
    let levels: BTreeSet<String> =
        plan.runs.iter().map(|run| format!("{:?}", workload(run).beside)).collect();
    assert_eq!(levels.len(), 10);
    let text: toml::Table = HOT_PATH.parse().unwrap();
    let contrasts = text["analysis"]["contrasts"].as_array().unwrap();
    let level = |one: &toml::Value, key: &str| one[key].as_str().unwrap().to_owned();
    let pairs: Vec<_> =
        contrasts.iter().map(|one| (level(one, "reference"), level(one, "level"))).collect();
    for (before, after) in [
        ("loud_log", "quiet_log"),
        ("locked_counts", "atomic_counts"),
        ("locked_map", "sharded_map"),
        ("blocking_breaker", "direct_breaker"),
        ("nothing", "pool_statistics"),
    ] {
        assert!(pairs.contains(&(before.to_owned(), after.to_owned())), "{before} and {after}");
    }
}

#[test]
fn the_cluster_is_the_published_one_and_its_polling_a_factor() {
    let runs = planned(WORKFLOW, None).unwrap().runs;
    let works: Vec<Workload> = runs.iter().map(workload).collect();
    let is_cluster = |one: &&Workload| one.processes == 10 && one.worker == Worker::FourLanguages;
    let at_once: BTreeSet<u32> = works.iter().filter(is_cluster).map(|one| one.in_flight).collect();
    assert_eq!(at_once, BTreeSet::from([1, 2]));
    let fallbacks: BTreeSet<u32> = works.iter().map(|one| one.fallback_ms).collect();
    assert_eq!(fallbacks, BTreeSet::from([0, 10, 1_000]));
    assert!(works.iter().all(|one| one.beside == Beside::Nothing));
    let over_http = works.iter().filter(|one| one.wire == Wire::Http);
    assert_eq!(over_http.map(|one| one.processes).collect::<BTreeSet<_>>(), BTreeSet::from([4]));
}

#[test]
fn an_answer_is_right_where_every_value_is() {
    let plan = planned(WORKFLOW, None).unwrap();
    for shape in ["linear", "conditional", "csv_batch"] {
        let run = of_shape(&plan, shape);
        let right = outcome(&run);
        assert_eq!(checked(&run, &right), Ok(()), "{shape}");
        let mut wrong = right.clone();
        wrong.samples.get_mut("step_value").unwrap()[1] += 1;
        let error = checked(&run, &wrong).unwrap_err();
        assert!(error.starts_with("task 0 has ") && error.contains("it must have"), "{error}");
    }
}

#[test]
fn an_answer_is_wrong_where_a_step_is_missing_unclaimed_or_before_its_time() {
    let run = of_shape(&planned(WORKFLOW, None).unwrap(), "linear");
    let refused = |change: &dyn Fn(&mut Columns)| {
        let mut outcome = outcome(&run);
        change(&mut outcome.samples);
        checked(&run, &outcome).unwrap_err()
    };
    let moved = refused(&|columns| columns.get_mut("step_task").unwrap()[3] = 1);
    assert!(moved.contains("task 0 has nothing further, it must have square_4"), "{moved}");
    let unclaimed = refused(&|columns| columns.get_mut("step_claims").unwrap()[0] = 0);
    assert!(unclaimed.contains("never claimed"), "{unclaimed}");
    let early = refused(&|columns| columns.get_mut("step_recorded_ns").unwrap()[2] = -1);
    assert_eq!(early, "row 2: step_recorded_ns lies before step_finished_ns");
    let short = refused(&|columns| drop(columns.remove("task_observed_ns")));
    assert_eq!(short, "column task_observed_ns has 0 rows, not 30");
}

#[test]
fn the_same_block_has_the_same_inputs_for_every_back_end() {
    let plan = planned(WORKFLOW, None).unwrap();
    let seeds = |block: u32| -> BTreeSet<u64> {
        plan.runs.iter().filter(|run| run.block == block).map(|run| workload(run).seed).collect()
    };
    assert_eq!((seeds(1).len(), seeds(2).len()), (1, 1));
    assert_ne!(seeds(1), seeds(2));
}

#[test]
fn bad_shapes_and_levels_are_named() {
    let refused = |from: &str, to: &str| {
        assert!(WORKFLOW.contains(from), "{from}");
        planned(&WORKFLOW.replacen(from, to, 1), None).unwrap_err().to_string()
    };
    let later = refused("after = [\"square_1\"]", "after = [\"square_3\"]");
    assert!(later.contains("workflows.shape.linear") && later.contains("square_3"), "{later}");
    let twice = refused("name = \"square_2\"", "name = \"square_1\"");
    assert!(twice.contains("there twice"), "{twice}");
    let shape = refused("shape = [\"linear\"]", "shape = [\"circle\"]");
    assert!(shape.contains("cells.shape") && shape.contains("linear"), "{shape}");
    let workers = refused("workers = \"2\"", "workers = \"0\"");
    assert!(workers.contains("1 to 256"), "{workers}");
    let poll = refused("poll_ms = [\"1\", \"10\", \"50\"]", "poll_ms = [\"1\", \"50\", \"10001\"]");
    assert!(poll.contains("0 (push notification) to 10,000"), "{poll}");
    let last = refused(
        concat!(
            "parts_of = \"analyze_csv\" },\n",
            "  { name = \"aggregate\", after = [\"process_batch\"], operation = \"sum\" },"
        ),
        "parts_of = \"analyze_csv\" },",
    );
    assert!(last.contains("process_batch") && last.contains("always be one"), "{last}");
}
