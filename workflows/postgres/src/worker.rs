//! A worker: a thread with a session of its own.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use postgres::Row;
use workflows_database::{Answer, Counts, ENVIRONMENT, Handle, Session};
use workflows_kit::{Computer, Done, Graph, Job, MAX_PARTS, RunError, StepId, Workload, now_ns};

use crate::outbox::Outbox;
use crate::statements::TELL;
use crate::waiting::{Ends, Waiting};

/// What all workers of a process and whoever started them share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Hears from the workers, in their threads.
    hear: fn(News<'_>),
    pub(crate) counts: Counts,
    pub(crate) stop: AtomicBool,
    pub(crate) waiting: Waiting,
    /// How long a worker waits to be told of work before it also looks for steps whose worker's
    /// session is gone.
    look_after: Duration,
    /// Where there are other processes.
    outbox: Option<Outbox>,
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
    pub(crate) fn new(hear: fn(News<'_>), outbox: Option<Outbox>, look_after: Duration) -> Self {
        Self {
            hear,
            look_after,
            counts: Counts::default(),
            stop: AtomicBool::new(false),
            waiting: Waiting::default(),
            outbox,
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

    fn recorded(&self, steps: impl Iterator<Item = (u32, StepId)>) {
        let recorded_ns = now_ns();
        let mut known = self.recorded_ns.lock().expect("nobody panics while it holds this");
        known.extend(steps.map(|step| (step, recorded_ns)));
    }
}

/// Where the workload leaves it to this back end.
const LOOK_AFTER: Duration = Duration::from_millis(200);

/// How long those wait who are to be told, before they look: the polling behind the events.
pub(crate) fn look_after(workload: &Workload) -> Duration {
    match workload.fallback_ms {
        0 => LOOK_AFTER,
        ms => Duration::from_millis(ms.into()),
    }
}

/// One row: the worker's number, locked as long as the session lives.
const ENTER: &str = "with me as materialized (select nextval('workers')::int as number)
     select number, pg_advisory_lock(1, number)::text from me";
const CLAIM: &str = "select * from claim($1, $2, $3)";
const RECORD: &str = "select recorded, complete, free, (work).*
     from record_steps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// A step that this worker has.
struct Claimed {
    task: u32,
    job: Job,
    claimed_ns: i64,
}

/// The most steps that a worker has at once.
const STEPS_MOST: i32 = 64;

/// How many steps a worker takes at once: as many as it does in the time that recording them takes.
/// So it commits seldom where steps are short, and where they are long it keeps none from others.
struct Share {
    /// What the longest of its steps took, a little less with each turn.
    step: Duration,
    most: i32,
}

impl Share {
    fn adapt(&mut self, longest: Duration, recording: Duration) {
        self.step = longest.max(self.step * 7 / 8);
        let steps = recording.as_nanos() / self.step.as_nanos().max(1);
        self.most = i32::try_from(steps).unwrap_or(STEPS_MOST).clamp(1, STEPS_MOST);
    }
}

struct Worker<'a> {
    shared: &'a Shared,
    graph: &'a Graph,
    session: Session<'a>,
    computer: &'a mut Computer,
    number: i32,
    share: Share,
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
    let texts = &[ENTER, CLAIM, RECORD, TELL];
    let session = Session::open(handle.clone(), &shared.counts, ENVIRONMENT, texts)?;
    let share = Share { step: Duration::ZERO, most: 1 };
    let mut worker = Worker { shared, graph, session, computer, number: 0, share };
    worker.enter()?;
    let mut calls = shared.waiting.calls();
    let mut next = worker.claim(true)?;
    while !shared.stop.load(SeqCst) {
        next = if next.is_empty() {
            let called = shared.waiting.work(calls, shared.look_after);
            calls = shared.waiting.calls();
            worker.claim(!called)?
        } else {
            calls = shared.waiting.calls();
            worker.perform(next)?
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

    fn claim(&mut self, of_dead: bool) -> Result<Vec<Claimed>, RunError> {
        let _change = self.shared.counts.change();
        match self.session.ask(CLAIM, &[&self.number, &self.share.most, &of_dead])? {
            Answer::Row(row) => {
                let claimed = self.claimed(&row)?;
                if !claimed.is_empty() {
                    self.shared.counts.commit();
                }
                Ok(claimed)
            }
            Answer::Reconnected => self.enter().map(|()| Vec::new()),
        }
    }

    /// Does steps, records them, and takes the next, in one round trip.
    fn perform(&mut self, mut steps: Vec<Claimed>) -> Result<Vec<Claimed>, RunError> {
        // In the order in which tasks are locked.
        steps.sort_unstable_by_key(|step| (step.task, step.job.id));
        let mut longest = Duration::ZERO;
        let mut done = Vec::with_capacity(steps.len());
        for Claimed { job, .. } in &steps {
            let from = Instant::now();
            done.push(self.computer.compute(job)?);
            longest = longest.max(from.elapsed());
        }
        let _change = self.shared.counts.change();
        let from = Instant::now();
        let answer = self.record(&steps, &done)?;
        self.share.adapt(longest, from.elapsed());
        let Answer::Row(row) = answer else {
            // They may be recorded or not. If not, they are found as those of a session that is
            // gone.
            self.enter()?;
            return self.tell(Ends { doubt: true, ..Ends::default() }, 0).map(|_| Vec::new());
        };
        let recorded = row.get::<_, Vec<i32>>("recorded").into_iter();
        let recorded = recorded.map(|place| &steps[place as usize - 1]);
        self.shared.recorded(recorded.map(|step| (step.task, step.job.id)));
        self.shared.counts.commit();
        let next = self.claimed(&row)?;
        let complete = row.get::<_, Vec<i64>>("complete").into_iter();
        let complete = complete.map(|task| task as u32).collect();
        let still_has = self.tell(Ends { complete, doubt: false }, row.get("free"))?;
        Ok(if still_has { next } else { Vec::new() })
    }

    fn record(&mut self, steps: &[Claimed], done: &[Done]) -> Result<Answer, RunError> {
        let of_steps = |number: fn(&Claimed) -> i64| steps.iter().map(number).collect::<Vec<_>>();
        let of_done = |number: fn(&Done) -> i64| done.iter().map(number).collect::<Vec<_>>();
        let id = |number: fn(&StepId) -> u32| {
            steps.iter().map(|step| number(&step.job.id).cast_signed()).collect::<Vec<_>>()
        };
        let others_wait = self.shared.outbox.is_some() || self.shared.waiting.somebody();
        self.session.ask(
            RECORD,
            &[
                &self.number,
                &self.share.most,
                &others_wait,
                &of_steps(|step| step.task.into()),
                &id(|id| id.step),
                &id(|id| id.part),
                &of_done(|done| done.value.cast_signed()),
                &of_steps(|step| step.claimed_ns),
                &of_done(|done| done.started_ns),
                &of_done(|done| done.finished_ns),
                &MAX_PARTS.cast_signed(),
            ],
        )
    }

    /// Tells whoever waits for these ends, or for steps that are nobody's. False where the session
    /// was lost on the way, and with it the steps that the worker has.
    fn tell(&mut self, ends: Ends, free: i64) -> Result<bool, RunError> {
        let (shared, work) = (self.shared, free > 0);
        if work {
            shared.waiting.call(free as usize);
        }
        match &shared.outbox {
            None => shared.waiting.tell(ends),
            Some(outbox) if !outbox.tell(&mut self.session, ends, work)? => {
                return self.enter().map(|()| false);
            }
            Some(_) => {}
        }
        Ok(true)
    }

    fn claimed(&self, row: &Row) -> Result<Vec<Claimed>, RunError> {
        let Some(tasks) = row.get::<_, Option<Vec<i64>>>("tasks") else { return Ok(Vec::new()) };
        let (steps, parts): (Vec<i32>, Vec<i32>) = (row.get("steps"), row.get("parts"));
        let inputs: Vec<&str> = row.get("inputs");
        let claimed_ns = now_ns();
        let claimed = tasks.into_iter().zip(steps).zip(parts).zip(inputs);
        let claimed = claimed.map(|(((task, step), part), inputs)| {
            let id = StepId { step: step.unsigned_abs(), part: part.unsigned_abs() };
            let inputs = inputs.split_ascii_whitespace().map(str::parse::<u64>);
            let inputs = inputs.collect::<Result<_, _>>().map_err(RunError::failed)?;
            let operation = self.graph.shape().steps[id.step as usize].operation;
            let job = Job { id, operation, inputs };
            Ok(Claimed { task: task as u32, job, claimed_ns })
        });
        claimed.collect()
    }
}
