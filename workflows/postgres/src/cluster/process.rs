//! A process of the cluster: an orchestrator, or some of the workers.
//!
//! It ends when its standard input does, so none outlives the client. Whatever it had claimed or
//! accepted is then in the database, where others find it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use postgres::fallible_iterator::FallibleIterator;
use workflows_database::Handle;
use workflows_kit::{Graph, RunError, Workload};

use super::Role;
use super::words::{Order, Said, hear, say};
use crate::session::{ACCEPT, Answer, Counts, LOOK, Session};
use crate::threads::Threads;
use crate::worker::{News, Shared};

/// The whole of such a process's `main`.
pub(crate) fn process(role: Role) -> ExitCode {
    let workload: Workload = match hear(&mut io::stdin().lock()) {
        Ok(Some(workload)) => workload,
        _ => {
            eprintln!("{} is for the client of a cluster alone", role.argument());
            return ExitCode::from(2);
        }
    };
    let result = match role {
        Role::Orchestrator => orchestrate(&workload),
        Role::Worker => work(&workload),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            failed(&error);
            ExitCode::FAILURE
        }
    }
}

/// Has the workers in threads, and answers what is asked of them.
fn work(workload: &Workload) -> Result<(), RunError> {
    let handle = Handle::inside(Path::new(&workload.folder))?;
    let graph = Arc::new(Graph::new(&workload.shape));
    // For the rest of the process.
    let shared: &'static Shared = Box::leak(Box::new(Shared::new(|news| match news {
        News::Entered(worker) => tell(&Said::Entered { worker }),
        News::Failed(error) => failed(error),
    })));
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

const BURY: &str = "select bury($1)";
const GENERIC: &str = "set plan_cache_mode = force_generic_plan";

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
    let mut session = Session::open(handle, counts, GENERIC, &[ACCEPT, BURY])?;
    let listener = std::thread::Builder::new().name("listener".to_owned());
    let listen = move || {
        if let Err(error) = listen(listening, waiting) {
            failed(&error);
        }
    };
    listener.spawn(listen).map_err(RunError::setup)?;
    tell(&Said::Ready);
    while let Some(order) = order()? {
        match order {
            Order::Accept { task, input, submitted_ns } => {
                // Before it is asked for: its end may be told before the answer is read.
                lock(waiting).insert(task);
                let (accepted, is_complete) = session.accept(task, input, submitted_ns)?;
                tell(&Said::accepted(task, accepted));
                if is_complete {
                    complete(waiting, task);
                }
            }
            Order::Bury { workers } => {
                while !matches!(session.ask(BURY, &[&workers])?, Answer::Row(_)) {}
            }
            Order::Count => tell(&Said::Counted { counts: counts.numbers() }),
            Order::Finish => break,
        }
    }
    // The listener ends with the process.
    Ok(())
}

fn listen(mut session: Session<'_>, waiting: &Waiting) -> Result<(), RunError> {
    loop {
        let message = session.client.notifications().blocking_iter().next();
        let ended = match message {
            Ok(Some(message)) => {
                vec![message.payload().parse::<u32>().map_err(RunError::failed)?]
            }
            Ok(None) => continue,
            Err(error) => {
                // What was told meanwhile was told to nobody.
                session.lost_or(&error)?;
                let asked = lock(waiting).clone();
                session.complete_of(&asked)?
            }
        };
        for task in ended {
            complete(waiting, task);
        }
    }
}

/// Tells of a task's end, once, if it was accepted here.
fn complete(waiting: &Waiting, task: u32) {
    if lock(waiting).remove(&task) {
        tell(&Said::Complete { task });
    }
}

fn lock(waiting: &Waiting) -> std::sync::MutexGuard<'_, BTreeSet<u32>> {
    waiting.lock().expect("nobody panics while it holds the tasks")
}

fn order() -> Result<Option<Order>, RunError> {
    hear(&mut io::stdin().lock()).map_err(RunError::failed)
}

fn tell(said: &Said) {
    // When the client has gone, so will this process.
    let _ = say(&mut io::stdout().lock(), said);
}

fn failed(error: &RunError) {
    tell(&Said::Failed { reason: error.to_string() });
}
