//! Plans of the comparison of workflow back ends.

mod manifests;

use std::collections::{BTreeMap, BTreeSet};

use lab_plan::workflow::{Value, values};
use lab_plan::{Experiment, Plan, PlanError, Work, plan};
use lab_protocol::workflow::{Shape, Workload, row};

use manifests::manifests;

const WORKFLOW: &str = include_str!("../../../experiments/workflow.toml");

fn planned(text: &str, profile: Option<&str>) -> Result<Plan, PlanError> {
    let mut experiment = Experiment::parse("e.toml", text)?;
    if let Some(profile) = profile {
        experiment = experiment.with_profile("e.toml", profile)?;
    }
    plan("e.toml", &experiment, &manifests("workflows"), &BTreeMap::new())
}

fn workloads(plan: &Plan) -> impl Iterator<Item = &Workload> {
    plan.runs.iter().map(|run| match &run.work {
        Work::Workflow { workload } => workload,
        _ => panic!("an experiment of workflows"),
    })
}

fn shape(name: &str) -> Shape {
    let plan = planned(WORKFLOW, None).unwrap();
    let found = workloads(&plan).find(|workload| workload.shape.name == name);
    found.expect("the experiment has the shape").shape.clone()
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

#[test]
fn shapes_are_the_published_ones() {
    for (name, created, length) in [
        ("linear", 4, 4),
        ("diamond", 4, 3),
        ("conditional", 4, 4),
        ("complex_dag", 7, 4),
        ("hierarchical_tree", 8, 4),
        ("csv_batch", 7, 3),
    ] {
        let shape = shape(name);
        assert_eq!(values(&shape, 6).len(), created, "{name}");
        assert_eq!(stages(&shape), length, "{name}");
    }
    let edges = |name: &str| shape(name).steps.iter().map(|step| step.after.len()).sum::<usize>();
    assert_eq!((edges("complex_dag"), edges("hierarchical_tree")), (9, 10));
}

#[test]
fn values_are_what_the_steps_compute() {
    let last = |name: &str, input: u64| values(&shape(name), input).last().unwrap().value;
    assert_eq!(last("linear", 2), 65_536);
    // 3 -> 9 -> 81, 81 -> (81 * 81)^2.
    assert_eq!(last("diamond", 3), 6_561 * 6_561);
    assert_eq!(last("conditional", 6), 250_000);
    let rows: u64 = (0..1_000).map(|index| row(6, index)).sum();
    assert_eq!(last("csv_batch", 6), rows);
}

#[test]
fn a_decision_leaves_steps_out_and_a_fan_out_makes_some() {
    let names: Vec<String> = values(&shape("conditional"), 6)
        .iter()
        .map(|value| shape("conditional").steps[value.step as usize].name.clone())
        .collect();
    assert_eq!(names, ["validate", "routing_decision", "auto_approve", "finalize"]);
    let parts: Vec<u32> = values(&shape("csv_batch"), 6)
        .iter()
        .filter(|value: &&Value| value.step == 1)
        .map(|value| value.part)
        .collect();
    assert_eq!(parts, [0, 1, 2, 3, 4]);
}

#[test]
fn every_cell_has_a_level_for_every_factor_and_is_planned_once_a_block() {
    for profile in [None, Some("quick")] {
        let plan = planned(WORKFLOW, profile).unwrap();
        let factors = &plan.runs[0].cell;
        let mut seen = BTreeSet::new();
        for run in &plan.runs {
            assert!(run.cell.keys().eq(factors.keys()));
            assert!(seen.insert((run.block, &run.variant, &run.cell)) || run.warmup);
        }
    }
}

#[test]
fn bad_shapes_and_levels_are_named() {
    let refused = |from: &str, to: &str| {
        assert!(WORKFLOW.contains(from), "{from}");
        planned(&WORKFLOW.replacen(from, to, 1), None).unwrap_err().to_string()
    };
    let later = refused("after = [\"square_1\"]", "after = [\"square_3\"]");
    assert!(later.contains("workflow.shape.linear") && later.contains("square_3"), "{later}");
    let twice = refused("name = \"square_2\"", "name = \"square_1\"");
    assert!(twice.contains("there twice"), "{twice}");
    let shape = refused("shape = [\"linear\", \"diamond\"]", "shape = [\"circle\"]");
    assert!(shape.contains("cells.shape") && shape.contains("linear"), "{shape}");
    let workers = refused("workers = \"2\"", "workers = \"0\"");
    assert!(workers.contains("1 to 256"), "{workers}");
    let last = refused(
        concat!(
            "parts_of = \"analyze_csv\" },\n",
            "  { name = \"aggregate\", after = [\"process_batch\"], operation = \"sum\" },"
        ),
        "parts_of = \"analyze_csv\" },",
    );
    assert!(last.contains("process_batch") && last.contains("always be one"), "{last}");
}
