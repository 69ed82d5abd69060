//! What the database has of all steps, as rows.

use std::collections::{BTreeMap, HashMap};

use workflows_kit::{Accepted, Graph, RunError, StepId, StepRow};

use crate::Handle;

/// What no database has: when the client knew that a task was accepted, and a worker that a step
/// was recorded.
#[derive(Debug, Default)]
pub struct Known {
    /// By task.
    pub accepted: HashMap<u32, Accepted>,
    /// By task and step.
    pub recorded_ns: HashMap<(u32, StepId), i64>,
}

const STEPS: &str = "select task, step, part, value, claims, claimed_ns, started_ns, finished_ns \
    from steps where value is not null order by task, step, part";

/// Reads all steps of the table `steps`. The database keeps what a worker said of a step when it
/// recorded it; that the commit has returned is known to the worker alone. A step whose worker did
/// not live to see that counts as recorded when it was finished.
///
/// When a step came to be and when it could be claimed is decided by commits of other steps, of
/// which no one clock reading exists: they count as the moment at which the worker of the last of
/// these knew of its commit, or, where another worker was faster to claim, as that claim.
///
/// # Errors
/// The database refuses, or is lost.
pub fn read(handle: &Handle, graph: &Graph, known: &Known) -> Result<Vec<StepRow>, RunError> {
    let mut client = handle.connect()?;
    let found = client.query(STEPS, &[]);
    let found = found.map_err(|error| handle.meaning(&client, &error, RunError::failed))?;
    let mut tasks: BTreeMap<u32, Vec<StepRow>> = BTreeMap::new();
    for row in &found {
        let task = row.get::<_, i64>("task") as u32;
        let step = row.get::<_, i32>("step").unsigned_abs();
        let part = row.get::<_, i32>("part").unsigned_abs();
        let finished_ns = row.get("finished_ns");
        let told_ns = known.recorded_ns.get(&(task, StepId { step, part }));
        tasks.entry(task).or_default().push(StepRow {
            task,
            step,
            part,
            created_ns: 0,
            enqueued_ns: 0,
            claimed_ns: row.get("claimed_ns"),
            started_ns: row.get("started_ns"),
            finished_ns,
            recorded_ns: told_ns.copied().unwrap_or(finished_ns),
            value: row.get::<_, i64>("value").cast_unsigned(),
            claims: row.get::<_, i32>("claims").unsigned_abs(),
        });
    }
    for (task, rows) in &mut tasks {
        let from = known.accepted.get(task).map_or(i64::MIN, |accepted| accepted.accepted_ns);
        place(graph, from, rows);
    }
    Ok(tasks.into_values().flatten().collect())
}

/// Says when each step of a task was created and enqueued.
fn place(graph: &Graph, accepted_ns: i64, rows: &mut [StepRow]) {
    // By step of the shape; a step that was left out is done when those before it are.
    let mut done_ns: Vec<i64> = Vec::new();
    let last = |steps: &[u32], done_ns: &[i64]| {
        steps.iter().map(|&step| done_ns[step as usize]).max().unwrap_or(accepted_ns)
    };
    for step in 0..graph.shape().steps.len() as u32 {
        let enqueued_ns = last(graph.waits_for(step), &done_ns);
        let created_ns = last(graph.deciders(step), &done_ns);
        let mut own_ns = enqueued_ns;
        for row in rows.iter_mut().filter(|row| row.step == step) {
            row.enqueued_ns = enqueued_ns.min(row.claimed_ns);
            row.created_ns = created_ns.min(row.enqueued_ns);
            own_ns = own_ns.max(row.recorded_ns);
        }
        done_ns.push(own_ns);
    }
}
