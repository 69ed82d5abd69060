//! Tables and functions, and the shape in them.

use postgres::Client;
use workflows_kit::{Graph, RunError, Workload};

use crate::Handle;

/// Makes the tables of a new database by this text, among them `workload` and `shape`, and fills
/// these; of one that an earlier run left it sees that the tasks are the same.
///
/// # Errors
/// They are others, or the database refuses, or is lost.
pub fn prepare(
    handle: &Handle,
    schema: &str,
    workload: &Workload,
    graph: &Graph,
) -> Result<(), RunError> {
    let identity = identity(workload).cast_signed();
    let mut client = handle.connect()?;
    let found = found(&mut client);
    match found.map_err(|error| handle.meaning(&client, &error, RunError::setup))? {
        Some(other) if other == identity => Ok(()),
        Some(_) => Err(RunError::setup(format!(
            "{} has the tasks of another workload: give an empty folder",
            workload.folder
        ))),
        None => {
            let created = create(&mut client, schema, identity, graph);
            created.map_err(|error| handle.meaning(&client, &error, RunError::setup))
        }
    }
}

/// What tasks there are and what their steps compute.
fn identity(workload: &Workload) -> u64 {
    let text = serde_json::to_string(&(workload.seed, &workload.shape, workload.tasks))
        .expect("numbers and a shape have only string keys");
    xxhash_rust::xxh64::xxh64(text.as_bytes(), 0)
}

fn found(client: &mut Client) -> Result<Option<i64>, postgres::Error> {
    let there: bool = client.query_one("select to_regclass('workload') is not null", &[])?.get(0);
    if !there {
        return Ok(None);
    }
    client.query_one("select identity from workload", &[]).map(|row| Some(row.get(0)))
}

/// All of it or nothing: a run that is ended here leaves an empty database.
fn create(
    client: &mut Client,
    schema: &str,
    identity: i64,
    graph: &Graph,
) -> Result<(), postgres::Error> {
    let mut transaction = client.transaction()?;
    transaction.batch_execute(schema)?;
    transaction.execute("insert into workload values ($1)", &[&identity])?;
    for (index, step) in (0u32..).zip(&graph.shape().steps) {
        let ints = |steps: &[u32]| steps.iter().map(|step| step.cast_signed()).collect::<Vec<_>>();
        // No value is as large as the largest number that the database has.
        let bound = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        transaction.execute(
            "insert into shape values ($1, $2, $3, $4, $5, $6, $7, $8)",
            &[
                &index.cast_signed(),
                &ints(&step.after),
                &(graph.waits_for(index).len() as i32),
                &ints(graph.followers(index)),
                &step.when.map(|when| when.step.cast_signed()),
                &step.when.map(|when| bound(when.low)),
                &step.when.map(|when| bound(when.high)),
                &step.parts_of.map(u32::cast_signed),
            ],
        )?;
    }
    transaction.commit()
}
