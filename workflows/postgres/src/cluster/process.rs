//! A process of the cluster: an orchestrator, or some of the workers.
//!
//! It ends when its standard input does, so none outlives the client. Whatever it had claimed or
//! accepted is then in the database, where others find it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use postgres::fallible_iterator::FallibleIterator;
use workflows_database::{Answer, Counts, ENVIRONMENT, Handle, Session};
use workflows_kit::{Graph, RunError, Submission, Wire, Workload};

use super::Role;
use super::http;
use super::words::{Order, Said, hear, say};
use crate::outbox::{Outbox, ends};
use crate::statements::{self, ACCEPT, LOOK, TELL, complete_of};
use crate::threads::Threads;
use crate::waiting::Ends;
use crate::worker::{News, Shared, look_after};

/// The whole of such a process's `main`.
pub(crate) fn process(role: Role) -> ExitCode {
    let workload: Workload = match hear(&mut io::stdin().lock()) {
        Ok(Some(workload)) => workload,
        _ => {
            eprintln!("{} is for the client of a cluster alone", role.argument());
            return ExitCode::from(2);
        }
    };
    if workload.wire == Wire::Http
        && let Err(error) = http::open()
    {
        eprintln!("{} cannot listen: {error}", role.argument());
        return ExitCode::FAILURE;
    }
    let result = match role {
        Role::Orchestrator => orchestrate(&workload),
        Role::Worker => work(&workload),
    };
    let code = match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            failed(&error);
            ExitCode::FAILURE
        }
    };
    http::drain();
    code
}

/// Has the workers in threads, and answers what is asked of them.
fn work(workload: &Workload) -> Result<(), RunError> {
    let handle = Handle::inside(Path::new(&workload.folder))?;
    let graph = Arc::new(Graph::new(&workload.shape));
    // For the rest of the process.
    let hear = |news: News<'_>| match news {
        News::Entered(worker) => tell(&Said::Entered { worker }),
        News::Failed(error) => failed(error),
    };
    let shared = Shared::new(hear, Some(Outbox::default()), look_after(workload));
    let shared: &'static Shared = Box::leak(Box::new(shared));
    let listening = Session::open(handle.clone(), &shared.counts, "listen work", &[])?;
    spawn("listener", move || hear_of_work(listening, shared))?;
    let workers = Threads::start(workload, &handle, &graph, shared)?;
    tell(&Said::Ready);
    while let Some(order) = order()? {
        match order {
            Order::Count => tell(&Said::Counted { counts: shared.counts.numbers() }),
            Order::Finish => {
                drop(workers);
                let known = shared.take_recorded().into_iter();
                let steps = known.map(|((task, id), ns)| (task, id.step, id.part, ns)).collect();
                tell(&Said::Recorded { steps });
                return Ok(());
            }
            Order::Accept { .. } | Order::Bury { .. } => {
                return Err(RunError::failed("a worker was told what only an orchestrator does"));
            }
        }
    }
    // The client has gone, and perhaps the server: nobody is waited for.
    std::process::exit(1)
}

/// Calls the workers of this process when another has work for them.
fn hear_of_work(mut session: Session<'_>, shared: &Shared) -> Result<(), RunError> {
    loop {
        let message = session.client().notifications().blocking_iter().next();
        if let Err(error) = message {
            // What was told meanwhile was told to nobody.
            session.lost_or(&error)?;
        }
        shared.waiting.call(usize::MAX);
    }
}

const BURY: &str = "select bury($1)::text";

/// Tasks that this process has accepted and of whose end it has not told.
type Waiting = Mutex<BTreeSet<u32>>;

/// Takes tasks over in one session, and is told of their end in another, so that neither waits for
/// the other.
fn orchestrate(workload: &Workload) -> Result<(), RunError> {
    let handle = Handle::inside(Path::new(&workload.folder))?;
    // For the rest of the process.
    let counts: &'static Counts = Box::leak(Box::default());
    let waiting: &'static Waiting = Box::leak(Box::default());
    let listening = Session::open(handle.clone(), counts, "listen complete", &[LOOK])?;
    let mut session = Session::open(handle, counts, ENVIRONMENT, &[ACCEPT, BURY, TELL])?;
    let after = look_after(workload);
    spawn("listener", move || listen(listening, waiting, after))?;
    tell(&Said::Ready);
    while let Some(order) = order()? {
        match order {
            Order::Accept { tasks } => accept(&mut session, waiting, &tasks)?,
            Order::Bury { workers } => {
                while !matches!(session.ask(BURY, &[&workers])?, Answer::Row(_)) {}
                // They may have recorded steps and not have lived to tell.
                while !matches!(statements::tell(&mut session, Some(""), true)?, Answer::Row(_)) {}
            }
            Order::Count => tell(&Said::Counted { counts: counts.numbers() }),
            Order::Finish => break,
        }
    }
    Ok(())
}

fn accept(
    session: &mut Session<'_>,
    waiting: &Waiting,
    tasks: &[(u32, u64, i64)],
) -> Result<(), RunError> {
    let submission = |&(task, input, submitted_ns)| Submission { task, input, submitted_ns };
    let tasks: Vec<Submission> = tasks.iter().map(submission).collect();
    // Before they are asked for: an end may be told before the answer is read.
    lock(waiting).extend(tasks.iter().map(|one| one.task));
    let accepted = statements::accept(session, &tasks)?;
    while !matches!(statements::tell(session, None, true)?, Answer::Row(_)) {}
    for (one, (accepted, is_complete)) in tasks.iter().zip(accepted) {
        tell(&Said::accepted(one.task, accepted));
        if is_complete {
            tell_of_end(waiting, one.task);
        }
    }
    Ok(())
}

/// Looks after so long without being told, for who should tell may have ended.
fn listen(mut session: Session<'_>, waiting: &Waiting, after: Duration) -> Result<(), RunError> {
    loop {
        let message = session.client().notifications().timeout_iter(after).next();
        let Ends { mut complete, doubt } = match message {
            Ok(Some(message)) => ends(message.payload())?,
            Ok(None) => Ends { complete: Vec::new(), doubt: true },
            Err(error) => {
                // What was told meanwhile was told to nobody.
                session.lost_or(&error)?;
                Ends { complete: Vec::new(), doubt: true }
            }
        };
        let asked = lock(waiting).clone();
        if doubt && !asked.is_empty() {
            complete = complete_of(&mut session, &asked)?;
        }
        for task in complete {
            tell_of_end(waiting, task);
        }
    }
}

/// Tells of a task's end, once, if it was accepted here.
fn tell_of_end(waiting: &Waiting, task: u32) {
    if lock(waiting).remove(&task) {
        tell(&Said::Complete { task });
    }
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, BTreeSet<u32>> {
    waiting.lock().expect("nobody panics while it holds the tasks")
}

/// A thread whose error ends the run. It ends with the process.
fn spawn(
    name: &str,
    body: impl FnOnce() -> Result<(), RunError> + Send + 'static,
) -> Result<(), RunError> {
    let guarded = move || {
        if let Err(error) = body() {
            failed(&error);
        }
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(guarded);
    thread.map(drop).map_err(RunError::setup)
}

fn order() -> Result<Option<Order>, RunError> {
    match http::order() {
        Some(order) => Ok(order),
        None => hear(&mut io::stdin().lock()).map_err(RunError::failed),
    }
}

fn tell(said: &Said) {
    if !http::tell(said) {
        // When the client has gone, so will this process.
        let _ = say(&mut io::stdout().lock(), said);
    }
}

fn failed(error: &RunError) {
    tell(&Said::Failed { reason: error.to_string() });
}
