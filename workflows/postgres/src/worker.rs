//! A worker: a thread with a session of its own.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use postgres::Row;
use postgres::fallible_iterator::FallibleIterator;
use workflows_kit::{Computer, Done, Graph, Job, MAX_PARTS, RunError, StepId, now_ns};

use crate::session::{Answer, Counts, Session};
use workflows_database::Handle;

/// What all workers of a process and whoever started them share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Hears from the workers, in their threads.
    hear: fn(News<'_>),
    pub(crate) counts: Counts,
    pub(crate) stop: AtomicBool,
    /// Why a worker ended.
    failure: Mutex<Option<String>>,
    /// When a worker knew that a step was recorded.
    recorded_ns: Mutex<HashMap<(u32, StepId), i64>>,
}

/// What is heard of a worker at once.
pub(crate) enum News<'a> {
    /// It works under this number, which no other session has or had.
    Entered(i32),
    /// It has ended.
    Failed(&'a RunError),
}

impl Shared {
    pub(crate) fn new(hear: fn(News<'_>)) -> Self {
        Self {
            hear,
            counts: Counts::default(),
            stop: AtomicBool::new(false),
            failure: Mutex::default(),
            recorded_ns: Mutex::default(),
        }
    }

    /// Nothing more is done, for this reason.
    pub(crate) fn fail(&self, error: &RunError) {
        (self.hear)(News::Failed(error));
        let mut failure = self.failure.lock().expect("nobody panics while it holds the failure");
        failure.get_or_insert_with(|| error.to_string());
        self.stop.store(true, SeqCst);
    }

    /// The reason, if there is one.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let failure = self.failure.lock().expect("nobody panics while it holds the failure");
        failure.clone().map_or(Ok(()), |reason| Err(RunError::Failed(reason)))
    }

    /// When the workers knew of which step that it was recorded.
    pub(crate) fn take_recorded(&self) -> HashMap<(u32, StepId), i64> {
        std::mem::take(&mut *self.recorded_ns.lock().expect("nobody panics while it holds this"))
    }
}

/// How long a worker waits to be told of work before it also looks for steps whose worker's session
/// is gone.
const LOOK_FOR_DEAD: Duration = Duration::from_millis(200);

// The tables are small and grow: plans for the values at hand would be made again and again.
const OPENING: &str = "set plan_cache_mode = force_generic_plan; listen work";
/// One row: the worker's number, locked as long as the session lives.
const ENTER: &str = "with me as materialized (select nextval('workers')::int as number)
     select number, pg_advisory_lock(1, number)::text from me";
const CLAIM: &str = "select * from claim($1, $2)";
const RECORD: &str = "select * from record_step($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// A step that this worker has.
struct Claimed {
    task: u32,
    job: Job,
    claimed_ns: i64,
}

struct Worker<'a> {
    shared: &'a Shared,
    graph: &'a Graph,
    session: Session<'a>,
    computer: &'a mut Computer,
    number: i32,
}

/// Works until it is told to stop.
///
/// # Errors
/// The database is lost, or refuses a statement; or as [`Computer::compute`].
pub(crate) fn work(
    handle: &Handle,
    graph: &Graph,
    shared: &Shared,
    computer: &mut Computer,
) -> Result<(), RunError> {
    let session = Session::open(handle.clone(), &shared.counts, OPENING, &[ENTER, CLAIM, RECORD])?;
    let mut worker = Worker { shared, graph, session, computer, number: 0 };
    worker.enter()?;
    let mut next = worker.claim(true)?;
    while !shared.stop.load(SeqCst) {
        next = match next {
            Some(claimed) => worker.perform(claimed)?,
            None => {
                let told = worker.told()?;
                worker.claim(!told)?
            }
        };
    }
    Ok(())
}

impl Worker<'_> {
    /// Takes a number, in a new session.
    fn enter(&mut self) -> Result<(), RunError> {
        loop {
            if let Answer::Row(row) = self.session.uncounted(ENTER, &[])? {
                self.number = row.get(0);
                (self.shared.hear)(News::Entered(self.number));
                return Ok(());
            }
        }
    }

    fn claim(&mut self, of_dead: bool) -> Result<Option<Claimed>, RunError> {
        let _change = self.shared.counts.change();
        match self.session.ask(CLAIM, &[&self.number, &of_dead])? {
            Answer::Row(row) => {
                let claimed = self.claimed(&row);
                if claimed.is_some() {
                    self.shared.counts.commit(0);
                }
                Ok(claimed)
            }
            Answer::Reconnected => self.enter().map(|()| None),
        }
    }

    /// Does a step, records it, and takes the next one, in one round trip.
    fn perform(&mut self, claimed: Claimed) -> Result<Option<Claimed>, RunError> {
        let Claimed { task, job, claimed_ns } = claimed;
        let Done { value, started_ns, finished_ns } = self.computer.compute(&job)?;
        let value = value.cast_signed();
        let (step, part) = (job.id.step.cast_signed(), job.id.part.cast_signed());
        let _change = self.shared.counts.change();
        let answer = self.session.ask(
            RECORD,
            &[
                &self.number,
                &i64::from(task),
                &step,
                &part,
                &value,
                &claimed_ns,
                &started_ns,
                &finished_ns,
                &MAX_PARTS.cast_signed(),
            ],
        )?;
        match answer {
            Answer::Row(row) => {
                if row.get("recorded") {
                    let recorded_ns = now_ns();
                    let mut known =
                        self.shared.recorded_ns.lock().expect("nobody panics while it holds this");
                    known.insert((task, job.id), recorded_ns);
                }
                self.shared.counts.commit(row.get::<_, i32>("messages").unsigned_abs().into());
                Ok(self.claimed(&row))
            }
            // It may be recorded or not. If not, it is found as the step of a session that is gone.
            Answer::Reconnected => self.enter().map(|()| None),
        }
    }

    fn claimed(&self, row: &Row) -> Option<Claimed> {
        let task: i64 = row.get::<_, Option<i64>>("task")?;
        let step = row.get::<_, i32>("step").unsigned_abs();
        let part = row.get::<_, i32>("part").unsigned_abs();
        let inputs: Vec<i64> = row.get("inputs");
        let job = Job {
            id: StepId { step, part },
            operation: self.graph.shape().steps[step as usize].operation,
            inputs: inputs.into_iter().map(i64::cast_unsigned).collect(),
        };
        Some(Claimed { task: task as u32, job, claimed_ns: now_ns() })
    }

    /// Waits for a message; false when none came for a while.
    fn told(&mut self) -> Result<bool, RunError> {
        let message = self.session.client.notifications().timeout_iter(LOOK_FOR_DEAD).next();
        match message {
            Ok(message) => Ok(message.is_some()),
            Err(error) => {
                self.session.lost_or(&error)?;
                self.enter()?;
                Ok(false)
            }
        }
    }
}
