//! Where the time goes: makespans split along the critical path, operations per step, and every
//! metric of every cell.

use lab_family::Unit;
use lab_report::Column::{Code, Each, Words};
use lab_report::{Entry, Page, Rows, Study, Table, method, metrics_by_cell};

use crate::workflows::metrics::{CPU_WITH_SERVERS, METRICS};
use crate::workflows::path::{self, PARTS, Parts};
use crate::workflows::shape;
use crate::workflows::task::tasks;

/// What a step costs a back end beside its time: (title, metric); without a title it stands in the
/// TSV alone.
const OPERATIONS: [(&str, &str); 10] = [
    ("", "steps_per_task"),
    ("statements", "statements_per_step"),
    ("commits", "commits_per_step"),
    ("messages", "messages_per_step"),
    ("syncs", "syncs_per_step"),
    ("", "bare_commit_ns"),
    ("", "bare_sync_ns"),
    ("beyond commits", "beyond_commits_ns"),
    ("", "all_processes"),
    ("memory (PSS)", "all_pss_bytes"),
];

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Where the time goes");
    page.paragraph(&format!(
        "The makespan along the critical path, in parts that add up to it ({}); all tasks and \
         restarts, default cell. Every cell: `parts.tsv`.",
        method("Workflows (`workflows`)")
    ));
    parts(study, page);
    page.heading("Operations per step");
    page.paragraph(
        "Per step, default cell, medians over restarts. The published system documents about 19 \
         database operations, 4 transitions and 2 messages. Every cell: `metrics.tsv`.",
    );
    page.table("operations", &operations(study));
    let variants = study.variants();
    let factors: Vec<&str> = study.family.factors().iter().map(|factor| factor.name).collect();
    let rows = Rows { variants: &variants, keep: &|_| true, factors: &factors };
    // Where no server was kept up it is the CPU time that the run counted.
    let is_kept = study.all.iter().any(|one| !one.row.run.kept.is_empty());
    let names = METRICS.iter().map(|metric| metric.name);
    let metrics: Vec<&str> = names.filter(|name| is_kept || *name != CPU_WITH_SERVERS).collect();
    page.data("metrics", &metrics_by_cell(study, &rows, &metrics));
}

fn parts(study: &Study, page: &mut Page) {
    let head =
        [("variant", "variant"), ("cell", "cell"), ("tasks", "tasks"), ("makespan", "makespan_ns")];
    let columns: Vec<_> = head.into_iter().chain(PARTS).collect();
    let (mut shown, mut exact) = (Table::new(&columns), Table::new(&columns));
    let shapes = shape::stored(&study.section);
    for (variant, cell) in study.places(&study.variants()) {
        let Some(shape) = cell.get("shape").and_then(|name| shapes.get(name)) else { continue };
        let (mut count, mut sums) = (0, Parts::default());
        for one in study.runs(variant, cell) {
            let samples = &one.row.samples;
            let Some(tasks) = tasks(samples) else { continue };
            let Some(parts) = path::of_run(samples, &tasks, shape) else { continue };
            count += tasks.len();
            path::add(&mut sums, &parts);
        }
        if count == 0 {
            continue;
        }
        let makespan = sums.iter().sum::<i64>() as f64;
        let head = [Entry::code(variant), Entry::text(study.label(cell)), Entry::count(count)];
        let row = |whole: f64, part: &dyn Fn(f64) -> Entry| {
            let parts: Vec<Entry> = sums.iter().map(|ns| part(*ns as f64)).collect();
            [&head[..], &[Entry::Value(whole, Unit::Ns)], &parts].concat()
        };
        exact.row(row(makespan, &|ns| Entry::Value(ns, Unit::Ns)));
        if study.is_default_but(cell, &[]) {
            let share = |ns| Entry::Value(ns / makespan, Unit::Share);
            shown.row(row(makespan / count as f64, &share));
        }
    }
    page.markdown_table(&shown);
    page.data("parts", &exact);
}

fn operations(study: &Study) -> Table {
    let variants = study.variants();
    let places = study.places(&variants).into_iter();
    Table::over(
        places.filter(|(_, cell)| study.is_default_but(cell, &[])),
        &[
            Code("variant", "variant", &|(variant, _)| variant),
            Words("cell", "cell", &|(_, cell)| study.label(cell)),
            Each(&OPERATIONS, &|(variant, cell), metric| study.middle(variant, cell, metric)),
        ],
    )
}
