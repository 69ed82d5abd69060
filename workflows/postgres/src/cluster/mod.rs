//! Several processes on one database: orchestrators, to which the client hands tasks in turn, and
//! processes with workers. The client talks to them by pipes ([`words`]) or by HTTP ([`http`]).
//!
//! Nothing that matters is in any of them. A task that was accepted is in the database; when its
//! orchestrator ends, another is asked for the same task and finds it there. A step that was
//! claimed names its worker by a number that no other session has or had, and which its session
//! keeps locked as long as it lives: when a process ends, the client sees its pipe end at once and
//! tells an orchestrator, who waits for the locks to come free and gives the steps to others. If
//! that is lost too, an idle worker finds such steps when it looks. Since a worker's number says
//! which claim of a step is meant, one that comes late records nothing.

mod http;
mod member;
mod process;
mod words;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use workflows_database::{Counts, Handle, Known, Session, named};
use workflows_kit::{Accepted, Counters, RunError, StepId, Submission, Workload, language};

use crate::Tasks;
use crate::statements::{BARE, bare_ns};
use member::{Heard, Member};
pub(crate) use process::process;
use words::{Order, Said};

/// What a process of the cluster is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Takes tasks over, and tells of their end.
    Orchestrator,
    /// Does steps.
    Worker,
}

impl Role {
    fn argument(self) -> &'static str {
        match self {
            Self::Orchestrator => "--orchestrator",
            Self::Worker => "--worker",
        }
    }
}

/// The role of this process, where its only argument is one.
pub(crate) fn role() -> Option<Role> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is = |role: &Role| arguments == [role.argument()];
    [Role::Orchestrator, Role::Worker].into_iter().find(is)
}

/// As many as the published cluster has; its other processes have workers.
const ORCHESTRATORS: u32 = 2;

/// How long the client waits before it looks whether the server is there.
const LOOK_AFTER_SERVER: Duration = Duration::from_millis(500);

/// The client's side. Nobody else looks while it is borrowed: the client is one thread.
pub(crate) struct Cluster {
    state: RefCell<State>,
    bare: Session<'static>,
}

struct State {
    handle: Handle,
    members: Vec<Member>,
    news: Receiver<Heard>,
    /// The orchestrator that got the last task.
    last: usize,
    /// Tasks that were handed in and are not complete.
    under_way: BTreeMap<u32, Handed>,
    accepted: HashMap<u32, Accepted>,
    recorded_ns: HashMap<(u32, StepId), i64>,
    /// Tasks whose end nobody has asked for yet.
    complete: Vec<u32>,
    /// Every member was told to end.
    finishing: bool,
    /// Why the run cannot go on, found where nobody could be told.
    failure: Option<RunError>,
}

#[derive(Debug, Clone, Copy)]
struct Handed {
    submission: Submission,
    /// The place of the orchestrator that has it.
    to: usize,
}

impl Cluster {
    /// Starts the processes, and waits until they are ready.
    ///
    /// # Errors
    /// One cannot be started, or says why it cannot work.
    pub(crate) fn start(workload: &Workload, handle: Handle) -> Result<Self, RunError> {
        // For the rest of the process: there is one run in it, and these are not its counts.
        let uncounted: &'static Counts = Box::leak(Box::default());
        let bare = Session::open(handle.clone(), uncounted, "", &[BARE])?;
        let orchestrators = ORCHESTRATORS.min(workload.processes / 2);
        let with_workers = workload.processes - orchestrators;
        let (sender, news) = channel();
        let mut members = Vec::new();
        for place in 0..workload.processes {
            let role = if place < orchestrators { Role::Orchestrator } else { Role::Worker };
            let number = place.saturating_sub(orchestrators);
            // The first have one more where they cannot have as many each.
            let more = u32::from(number < workload.workers % with_workers);
            let workers = (workload.workers / with_workers + more).max(1);
            let worker = language(workload.worker, number);
            let share = Workload { workers, worker, ..workload.clone() };
            members.push(Member::start(role, place as usize, &share, sender.clone())?);
        }
        let mut state = State {
            handle,
            members,
            news,
            last: 0,
            under_way: BTreeMap::new(),
            accepted: HashMap::new(),
            recorded_ns: HashMap::new(),
            complete: Vec::new(),
            finishing: false,
            failure: None,
        };
        state.until(|state| state.members.iter().all(|member| member.ready || !member.lives))?;
        Ok(Self { state: RefCell::new(state), bare })
    }
}

impl Tasks for Cluster {
    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        let state = self.state.get_mut();
        let is_one = |member: &&Member| member.lives && member.role == Role::Orchestrator;
        let orchestrators = state.members.iter().filter(is_one).count();
        for share in tasks.chunks(tasks.len().div_ceil(orchestrators.max(1)).max(1)) {
            state.hand(share)?;
        }
        let is_accepted = |state: &State, one: &Submission| state.accepted.contains_key(&one.task);
        state.until(|state| tasks.iter().all(|one| is_accepted(state, one)))?;
        Ok(tasks.iter().map(|one| state.accepted[&one.task]).collect())
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        let state = self.state.get_mut();
        state.until(|state| !state.complete.is_empty())?;
        Ok(std::mem::take(&mut state.complete))
    }

    /// The client looks at what the orchestrators have said.
    fn look(&mut self) -> Result<Vec<u32>, RunError> {
        let state = self.state.get_mut();
        state.check()?;
        while let Ok(heard) = state.news.try_recv() {
            state.take(heard)?;
        }
        Ok(std::mem::take(&mut state.complete))
    }

    fn bare_ns(&mut self) -> Result<u64, RunError> {
        bare_ns(&mut self.bare)
    }

    /// Over all processes. Of one that was killed, what it had counted when it was last asked.
    fn counters(&self) -> Counters {
        let mut state = self.state.borrow_mut();
        for member in &mut state.members {
            member.counted = false;
            member.tell(&Order::Count);
        }
        let counted =
            state.until(|state| state.members.iter().all(|one| one.counted || !one.lives));
        // Whoever waits next hears it.
        state.failure = counted.err();
        let sum = |place: usize| state.members.iter().map(|member| member.counts[place]).sum();
        named(std::array::from_fn(sum))
    }

    fn finish(self: Box<Self>) -> Result<Known, RunError> {
        let mut state = self.state.into_inner();
        state.finishing = true;
        for member in &mut state.members {
            member.tell(&Order::Finish);
        }
        state.until(|state| state.members.iter().all(|member| !member.lives))?;
        Ok(Known { accepted: state.accepted, recorded_ns: state.recorded_ns })
    }
}

impl State {
    fn check(&mut self) -> Result<(), RunError> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Takes what is said until this is so.
    fn until(&mut self, so: impl Fn(&Self) -> bool) -> Result<(), RunError> {
        self.check()?;
        while !so(self) {
            match self.news.recv_timeout(LOOK_AFTER_SERVER) {
                Ok(heard) => self.take(heard)?,
                Err(RecvTimeoutError::Timeout) => self.handle.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RunError::failed("every process of the back end has ended"));
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, (place, said): Heard) -> Result<(), RunError> {
        let member = &mut self.members[place];
        match said {
            // Only its first word is where it listens, and that was heard.
            Some(Said::Listens { .. }) => {}
            Some(Said::Ready) => member.ready = true,
            Some(Said::Entered { worker }) => member.workers.push(worker),
            Some(Said::Counted { counts }) => {
                member.counts = counts;
                member.counted = true;
            }
            // An orchestrator that was killed may have said so before another does.
            Some(Said::Accepted { task, submitted_ns, accepted_ns }) => {
                let accepted = Accepted { submitted_ns, accepted_ns };
                self.accepted.entry(task).or_insert(accepted);
            }
            Some(Said::Complete { task }) => {
                if self.under_way.remove(&task).is_some() {
                    self.complete.push(task);
                }
            }
            Some(Said::Recorded { steps }) => {
                let known = steps.into_iter();
                self.recorded_ns.extend(
                    known.map(|(task, step, part, ns)| ((task, StepId { step, part }), ns)),
                );
            }
            Some(Said::Failed { reason }) => return Err(RunError::Failed(reason)),
            None => return self.ended(place),
        }
        Ok(())
    }

    /// Others do what this member would have done.
    fn ended(&mut self, place: usize) -> Result<(), RunError> {
        let member = &mut self.members[place];
        member.bury();
        if self.finishing {
            return Ok(());
        }
        let (role, workers) = (member.role, std::mem::take(&mut member.workers));
        eprintln!("{} {place} has ended; others go on with what it had", role.argument());
        self.next(Role::Worker, place)?;
        let heir = self.next(Role::Orchestrator, place)?;
        if !workers.is_empty() {
            self.members[heir].tell(&Order::Bury { workers });
        }
        let left = self.under_way.values().filter(|handed| handed.to == place);
        let left: Vec<Submission> = left.map(|handed| handed.submission).collect();
        if left.is_empty() { Ok(()) } else { self.hand(&left) }
    }

    /// Hands tasks to the next orchestrator.
    fn hand(&mut self, tasks: &[Submission]) -> Result<(), RunError> {
        let to = self.next(Role::Orchestrator, self.last)?;
        self.last = to;
        for &submission in tasks {
            self.under_way.insert(submission.task, Handed { submission, to });
        }
        let words = |one: &Submission| (one.task, one.input, one.submitted_ns);
        self.members[to].tell(&Order::Accept { tasks: tasks.iter().map(words).collect() });
        Ok(())
    }

    /// The next member with this role, round and round.
    fn next(&self, role: Role, after: usize) -> Result<usize, RunError> {
        let count = self.members.len();
        let mut others = (1..=count).map(|more| (after + more) % count);
        let found = others.find(|&place| {
            let member = &self.members[place];
            member.lives && member.role == role
        });
        found.ok_or_else(|| {
            let role = role.argument();
            self.handle.failed(&format!("the last process with {role} has ended"))
        })
    }
}
