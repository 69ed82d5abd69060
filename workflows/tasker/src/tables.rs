//! tasker's tables in the run's database, and what the lab reads there.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Row, Statement};
use workflows_database::{Handle, said};
use workflows_kit::{Counters, RunError, StepRow, now_ns};

use crate::template::step_of;

const BARE_TABLE: &str =
    "create table public.bare (commits bigint not null); insert into public.bare values (0)";
const BARE: &str = "update public.bare set commits = commits + 1";
/// The next number that a transaction would get. One gets a number when it first writes, and this
/// statement does not; the second is how many messages PGMQ has ever taken.
const COUNTS: &str = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
    (select sum(total_messages)::bigint from pgmq.metrics_all())";

/// tasker tells nobody that a task has come to its end, but writes it here.
const TELL: &str = "
create function public.tell() returns trigger language plpgsql as $$
begin
    perform pg_notify('ended', new.task_uuid || ' ' || new.to_state);
    return null;
end $$;
create trigger tell after insert on tasker.task_transitions for each row
    when (new.to_state in
        ('complete', 'error', 'cancelled', 'resolved_manually', 'blocked_by_failures'))
    execute function public.tell()";

/// A row for each step: what it is, its result, and in microseconds when it was made and when it
/// was last brought into each of its states.
const ROWS: &str = "
select (task.context ->> 'task')::bigint,
    named.name,
    step.attempts,
    (step.results #>> '{result,value}')::bigint,
    (step.results #>> '{result,started_ns}')::bigint,
    (step.results #>> '{result,finished_ns}')::bigint,
    (extract(epoch from step.created_at) * 1000000)::bigint,
    entered.enqueued, entered.in_progress, entered.complete
from tasker.workflow_steps step
join tasker.tasks task using (task_uuid)
join tasker.named_steps named using (named_step_uuid)
cross join lateral (
    select max(at_us) filter (where to_state = 'enqueued') as enqueued,
        max(at_us) filter (where to_state = 'in_progress') as in_progress,
        max(at_us) filter (where to_state = 'complete') as complete
    from (
        select to_state, (extract(epoch from created_at) * 1000000)::bigint as at_us
        from tasker.workflow_step_transitions transition
        where transition.workflow_step_uuid = step.workflow_step_uuid
    ) transitions
) entered";

pub(crate) struct Tables {
    session: RefCell<Client>,
    /// Where the client is told.
    told: Option<Client>,
    bare: Statement,
    /// How often it was done: these commits are none of tasker's.
    bare_commits: u64,
    /// What `CLOCK_MONOTONIC` is ahead of the time of day.
    ahead_ns: i64,
}

impl Tables {
    /// Makes them from what `tools/peer tasker up` has put into this folder.
    ///
    /// # Errors
    /// The folder is not whole, or the database refuses something.
    pub(crate) fn make(handle: &Handle, installed: &Path, is_told: bool) -> Result<Self, RunError> {
        let setup = |error: postgres::Error| RunError::setup(said(&error));
        install(&mut handle.connect()?, installed)?;
        // A session of its own, for tasker's migrations leave settings behind.
        let mut session = handle.connect()?;
        session.batch_execute(BARE_TABLE).map_err(setup)?;
        let mut told = None;
        if is_told {
            session.batch_execute(TELL).map_err(setup)?;
            let mut listening = handle.connect()?;
            listening.batch_execute("listen ended").map_err(setup)?;
            told = Some(listening);
        }
        let bare = session.prepare(BARE).map_err(setup)?;
        let session = RefCell::new(session);
        Ok(Self { session, told, bare, bare_commits: 0, ahead_ns: ahead_ns() })
    }

    /// A task that has come to its end, by tasker's number, and its last state.
    ///
    /// # Errors
    /// The database is lost.
    pub(crate) fn told(&mut self, within: Duration) -> Result<Option<(String, String)>, RunError> {
        let session = self.told.as_mut().expect("a client that waits is told");
        let message = session.notifications().timeout_iter(within).next();
        let message = message.map_err(|error| RunError::failed(said(&error)))?;
        let words = |payload: &str| payload.split_once(' ').map(|(a, b)| (a.into(), b.into()));
        Ok(message.and_then(|message| words(message.payload())))
    }

    /// As `BackEnd::bare_ns`.
    ///
    /// # Errors
    /// The database is lost.
    pub(crate) fn bare_ns(&mut self) -> Result<u64, RunError> {
        let start_ns = now_ns();
        let done = self.session.get_mut().execute(&self.bare, &[]);
        done.map_err(|error| RunError::failed(said(&error)))?;
        self.bare_commits += 1;
        Ok((now_ns() - start_ns).unsigned_abs())
    }

    /// `commits` are transactions that wrote; tasker's own upkeep, a few in a second, is among
    /// them. `messages` went through PGMQ.
    pub(crate) fn counters(&self) -> Counters {
        // A session that is lost makes the run fail at its next bare commit.
        let Ok(row) = self.session.borrow_mut().query_one(COUNTS, &[]) else {
            return Counters::new();
        };
        let [writers, messages] = [0, 1].map(|column| row.get::<_, i64>(column).unsigned_abs());
        let commits = writers.saturating_sub(self.bare_commits);
        Counters::from([("commits", commits), ("messages", messages)])
    }

    /// All steps that were done.
    ///
    /// # Errors
    /// The database is lost, or a step is not as it must be.
    pub(crate) fn rows(self) -> Result<Vec<StepRow>, RunError> {
        let found = self.session.into_inner().query(ROWS, &[]);
        let found = found.map_err(|error| RunError::failed(said(&error)))?;
        found.iter().map(|found| row(found, self.ahead_ns)).collect()
    }
}

fn install(session: &mut Client, installed: &Path) -> Result<(), RunError> {
    let setup = |error: postgres::Error| RunError::setup(said(&error));
    let quoted = installed.to_string_lossy().replace('\'', "''");
    let found = format!("set extension_control_path = '{quoted}:$system'");
    session.batch_execute(&found).map_err(setup)?;
    let folder = fs::read_dir(installed.join("migrations")).map_err(RunError::setup)?;
    let mut paths: Vec<_> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let migration = fs::read_to_string(&path).map_err(RunError::setup)?;
        session
            .batch_execute(&migration)
            .map_err(|error| RunError::setup(format!("{}: {}", path.display(), said(&error))))?;
    }
    let path = "do $$ begin execute format(
        'alter database %I set search_path = tasker, public', current_database()); end $$";
    session.batch_execute(path).map_err(setup)
}

/// tasker's times are the time of day in microseconds, the steps' own are `CLOCK_MONOTONIC`. All
/// its processes and the lab run on one machine, so one difference, measured once, turns the former
/// into the latter; what the time of day is adjusted by during a run stays as an error.
fn ahead_ns() -> i64 {
    let day = || {
        let now = clock_gettime(ClockId::CLOCK_REALTIME).expect("Linux has this clock");
        now.tv_sec() * 1_000_000_000 + now.tv_nsec()
    };
    // The tightest of a few brackets.
    let brackets = (0..16).map(|_| {
        let (before, day, after) = (now_ns(), day(), now_ns());
        (after - before, (before + after) / 2 - day)
    });
    brackets.min().map_or(0, |(_, ahead)| ahead)
}

/// A step's times: `created`, tasker has a row of it. `enqueued`, the orchestrator has brought it
/// into that state, after which it sends its message. `claimed`, the worker has it in progress.
/// `started` and `finished` are around the operation. `recorded`, the orchestrator, told by a
/// message, has it complete: only then may those that wait for it go on.
///
/// Those of tasker's states are when the transaction began, cut to whole microseconds; they are
/// moved to where they cannot contradict those of the operation.
fn row(found: &Row, ahead_ns: i64) -> Result<StepRow, RunError> {
    let name: &str = found.get(1);
    let (step, part) =
        step_of(name).ok_or_else(|| RunError::failed(format!("tasker has a step {name}")))?;
    let number = |column: usize| {
        found.get::<_, Option<i64>>(column).ok_or_else(|| {
            RunError::failed(format!("tasker has a {name} whose column {column} is empty"))
        })
    };
    let at_ns = |column: usize| number(column).map(|at_us| at_us * 1_000 + ahead_ns);
    let (started_ns, finished_ns) = (number(4)?, number(5)?);
    let claimed_ns = at_ns(8)?.min(started_ns);
    let enqueued_ns = at_ns(7)?.min(claimed_ns);
    let created_ns = at_ns(6)?.min(enqueued_ns);
    Ok(StepRow {
        task: number(0)? as u32,
        step,
        part,
        created_ns,
        enqueued_ns,
        claimed_ns,
        started_ns,
        finished_ns,
        recorded_ns: at_ns(9)?.max(finished_ns),
        value: number(3)?.unsigned_abs(),
        claims: found.get::<_, Option<i32>>(2).map_or(1, |attempts| attempts.max(1) as u32),
    })
}
