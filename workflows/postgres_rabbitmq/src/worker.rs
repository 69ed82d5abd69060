//! A worker: a thread with a session of the database and a connection to the broker of its own.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use workflows_database::{Answer, Counts, ENVIRONMENT, Handle, Session};
use workflows_kit::{Computer, Done, Graph, Job, MAX_PARTS, RunError, StepId, now_ns};

use crate::broker;
use crate::link::{COMPLETE, Delivery, Link, Lost, Reads, STEPS};

/// What all workers and the client share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) counts: Counts,
    pub(crate) stop: AtomicBool,
    /// Why a worker ended.
    pub(crate) failure: Mutex<Option<String>>,
    /// When a worker knew that a step was recorded.
    pub(crate) recorded_ns: Mutex<HashMap<(u32, StepId), i64>>,
}

impl Shared {
    /// Nothing more is done, for this reason.
    pub(crate) fn fail(&self, error: &RunError) {
        let mut failure = self.failure.lock().expect("nobody panics while it holds the failure");
        failure.get_or_insert_with(|| error.to_string());
        self.stop.store(true, SeqCst);
    }

    /// The reason, if there is one.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let failure = self.failure.lock().expect("nobody panics while it holds the failure");
        failure.clone().map_or(Ok(()), |reason| Err(RunError::Failed(reason)))
    }
}

/// How long a worker waits for a message before it looks whether there will be more.
const LOOK: Duration = Duration::from_millis(50);

const RECORD: &str = "select * from record_step($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

struct Worker<'a> {
    shared: &'a Shared,
    graph: &'a Graph,
    session: Session<'a>,
    link: Link,
    computer: &'a mut Computer,
}

/// Works until it is told to stop.
///
/// # Errors
/// Database or broker is lost, or the database refuses a statement; or as [`Computer::compute`].
pub(crate) fn work(
    handles: &(Handle, broker::Handle),
    graph: &Graph,
    shared: &Shared,
    computer: &mut Computer,
) -> Result<(), RunError> {
    let session = Session::open(handles.0.clone(), &shared.counts, ENVIRONMENT, &[RECORD])?;
    let link = Link::open(handles, Reads::Steps)?;
    let mut worker = Worker { shared, graph, session, link, computer };
    while !shared.stop.load(SeqCst) {
        // A message that was taken from a lost connection is given to somebody again.
        if let Err(lost) = worker.turn()? {
            shared.counts.reconnected(&lost.to_string())?;
            worker.link.reopen(&lost)?;
        }
    }
    Ok(())
}

impl Worker<'_> {
    /// Takes a step, does it, records it, and publishes what may be done now; only then it is done
    /// with the message.
    fn turn(&mut self) -> Result<Result<(), Lost>, RunError> {
        let delivery = match self.link.receive(LOOK) {
            Ok(Some(delivery)) => delivery,
            Ok(None) => return Ok(Ok(())),
            Err(lost) => return Ok(Err(lost)),
        };
        let claimed_ns = now_ns();
        let (task, job) = self.read(&delivery)?;
        let messages = self.perform(task, &job, claimed_ns, delivery.redelivered)?;
        self.shared.counts.messages(messages.len() as u64);
        let sent = if messages.is_empty() { Ok(()) } else { self.link.publish(messages) };
        Ok(sent.and_then(|()| self.link.acknowledge(&delivery)))
    }

    fn read(&self, delivery: &Delivery) -> Result<(u32, Job), RunError> {
        let foreign = || {
            RunError::failed(format!("the broker has a message that is no step: {}", delivery.body))
        };
        let numbers = delivery.body.split_ascii_whitespace().map(str::parse::<u64>);
        let numbers = numbers.collect::<Result<Vec<_>, _>>().map_err(|_| foreign())?;
        let [task, step, part, inputs @ ..] = &numbers[..] else { return Err(foreign()) };
        let number = |number: &u64| u32::try_from(*number).map_err(|_| foreign());
        let id = StepId { step: number(step)?, part: number(part)? };
        let what = self.graph.shape().steps.get(id.step as usize).ok_or_else(foreign)?;
        let job = Job { id, operation: what.operation, inputs: inputs.to_vec() };
        Ok((number(task)?, job))
    }

    /// Does a step and records it. Gives the messages that follow.
    fn perform(
        &mut self,
        task: u32,
        job: &Job,
        claimed_ns: i64,
        redelivered: bool,
    ) -> Result<Vec<(&'static str, String)>, RunError> {
        let Done { value, started_ns, finished_ns } = self.computer.compute(job)?;
        let (value, task_number) = (value.cast_signed(), i64::from(task));
        let (step, part) = (job.id.step.cast_signed(), job.id.part.cast_signed());
        let mut again = false;
        let change = self.shared.counts.change();
        let row = loop {
            let answer = self.session.ask(
                RECORD,
                &[
                    &task_number,
                    &step,
                    &part,
                    &value,
                    &redelivered,
                    &again,
                    &claimed_ns,
                    &started_ns,
                    &finished_ns,
                    &MAX_PARTS.cast_signed(),
                ],
            )?;
            match answer {
                Answer::Row(row) => break row,
                // It may be recorded or not; asked again, the database knows.
                Answer::Reconnected => again = true,
            }
        };
        if row.get("recorded") {
            let recorded_ns = now_ns();
            let known = &self.shared.recorded_ns;
            let mut known = known.lock().expect("nobody panics while it holds this");
            known.insert((task, job.id), recorded_ns);
        }
        self.shared.counts.commit();
        drop(change);
        let ready: Vec<String> = row.get("ready");
        let mut messages: Vec<_> = ready.into_iter().map(|body| (STEPS, body)).collect();
        if row.get("complete") {
            messages.push((COMPLETE, task.to_string()));
        }
        Ok(messages)
    }
}
