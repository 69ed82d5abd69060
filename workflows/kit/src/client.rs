//! The client: hands tasks in, and is told or looks until they are complete.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lab_protocol::workflows::names;
use lab_protocol::workflows::{Beside, Wire, Worker, Workload, input};
use lab_variant::Numbers;

use crate::columns::{StepRow, TaskRow, columns};
use crate::costs::{standing, whole_run};
use crate::{Accepted, Computer, Graph, RunError, Submission, now_ns};

/// Counters by the protocol's names.
pub type Counters = BTreeMap<&'static str, u64>;

/// Something that keeps tasks and has their steps done.
///
/// A back end that finds in the workload's folder what an earlier run of the same workload left
/// goes on from there: tasks that it knows are not accepted again, steps that are recorded are not
/// done again.
pub trait BackEnd: Sized {
    /// Whether its workers compute with [`Computer`]. Workers of other back ends do `native`
    /// workloads only.
    const TAKES_COMPUTER: bool = false;

    /// The workers of its own in other languages, which need no [`Computer`].
    const OWN_WORKERS: &'static [Worker] = &[];

    /// Whether it can be several processes.
    const TAKES_PROCESSES: bool = false;

    /// Whether its client can talk to them over HTTP.
    const TAKES_HTTP: bool = false;

    /// Whether those who wait to be told can look by themselves after a time of the workload's.
    const TAKES_FALLBACK: bool = false;

    /// Whether its workers can do something beside each step.
    const TAKES_BESIDE: bool = false;

    /// The counter of [`BackEnd::bare_ns`], where there is one.
    const BARE: Option<&'static str>;

    /// Ready for tasks, workers included.
    ///
    /// # Errors
    /// Whatever prevents it.
    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError>;

    /// Takes tasks over; on return none of them would be lost any more. In their order.
    ///
    /// # Errors
    /// The back end has stopped.
    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError>;

    /// Waits to be told of at least one complete task. Each is named once.
    ///
    /// # Errors
    /// The back end has stopped.
    fn wait(&mut self) -> Result<Vec<u32>, RunError>;

    /// Looks which of these tasks are complete.
    ///
    /// # Errors
    /// The back end has stopped.
    fn look(&mut self, waiting: &[u32]) -> Result<Vec<u32>, RunError>;

    /// Does the least that makes one record durable where this back end keeps its state, and says
    /// how long that took. It is called when no task is under way.
    ///
    /// # Errors
    /// It could not be made durable.
    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        Ok(None)
    }

    /// Servers that were up before this run: with what this process has started they do its work.
    fn servers(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What has been counted so far.
    fn counters(&self) -> Counters {
        Counters::new()
    }

    /// Ends the workers and everything that was started, and gives the steps of all tasks.
    ///
    /// # Errors
    /// The steps could not be read.
    fn finish(self) -> Result<Vec<StepRow>, RunError>;
}

/// How often the bare write is done before the first and after the last task: the median needs
/// some also where tasks overlap and none can be done between them.
const BARE_AROUND: u32 = 8;

/// Runs the workload. Tasks that count are 0 and up, those before them have the numbers behind.
pub(crate) fn measure<B: BackEnd>(workload: &Workload) -> Result<Numbers, RunError> {
    let is_own = workload.worker == Worker::Native || B::OWN_WORKERS.contains(&workload.worker);
    if !is_own && !B::TAKES_COMPUTER {
        return Err(RunError::unsupported(
            "the operations of this back end run in its workers themselves: set worker to native",
        ));
    }
    if workload.processes > 0 && !B::TAKES_PROCESSES {
        return Err(RunError::unsupported(
            "this back end is not made of several processes: set processes to 0",
        ));
    }
    if workload.wire == Wire::Http && (workload.processes == 0 || !B::TAKES_HTTP) {
        return Err(RunError::unsupported("nobody talks over HTTP here: set wire to pipe"));
    }
    if workload.fallback_ms > 0 && !B::TAKES_FALLBACK {
        return Err(RunError::unsupported(
            "nobody in this back end looks by himself after a time that can be set: set \
             fallback_ms to 0",
        ));
    }
    if workload.beside != Beside::Nothing && !B::TAKES_BESIDE {
        return Err(RunError::unsupported(
            "the workers of this back end do nothing beside a step: set beside to nothing",
        ));
    }
    // Asked before anything is started, so that an interpreter that is not there is an answer.
    let ffi_call_ns = if is_own { None } else { Computer::try_all(workload)? };
    let graph = Arc::new(Graph::new(&workload.shape));
    let mut client = Client { back_end: B::start(workload, &graph)?, workload, bare: Vec::new() };
    client.drive(workload.tasks..workload.tasks + workload.warmup_tasks)?;
    client.bare(BARE_AROUND)?;
    let before = client.back_end.counters();
    let tasks = client.drive(0..workload.tasks)?;
    let after = client.back_end.counters();
    client.bare(BARE_AROUND)?;
    let standing = standing(client.back_end.servers());
    let Client { back_end, mut bare, .. } = client;
    let steps = back_end.finish()?;
    let counted = after
        .into_iter()
        .map(|(name, count)| (name, count - before.get(name).copied().unwrap_or(0)));
    bare.sort_unstable();
    let bare = B::BARE.into_iter().zip(bare.get(bare.len() / 2).copied());
    let call = ffi_call_ns.map(|ns| (names::FFI_CALL_NS, ns));
    let counters = counted.chain(bare).chain(call).chain(standing).chain(whole_run());
    Ok(Numbers {
        counters: counters.map(|(name, count)| (name.to_owned(), count)).collect(),
        samples: columns(tasks, steps),
    })
}

struct Client<'a, B> {
    back_end: B,
    workload: &'a Workload,
    bare: Vec<u64>,
}

impl<B: BackEnd> Client<'_, B> {
    /// Brings these tasks to their end.
    fn drive(&mut self, mut tasks: std::ops::Range<u32>) -> Result<Vec<TaskRow>, RunError> {
        let mut rows = Vec::with_capacity(tasks.len());
        let mut waiting: BTreeMap<u32, TaskRow> = BTreeMap::new();
        loop {
            if waiting.is_empty() && !tasks.is_empty() {
                self.bare(1)?;
            }
            let room = self.workload.in_flight as usize - waiting.len();
            waiting.extend(self.submit(tasks.by_ref().take(room))?);
            if waiting.is_empty() {
                return Ok(rows);
            }
            let complete = self.complete(&waiting)?;
            let observed_ns = now_ns();
            for task in complete {
                // Of a task that an earlier run left nobody may have asked yet.
                let row = waiting.remove(&task);
                rows.extend(row.map(|row| TaskRow { observed_ns, ..row }));
            }
        }
    }

    /// Hands in together what may be handed in: what each costs must not keep the others waiting.
    fn submit(
        &mut self,
        tasks: impl Iterator<Item = u32>,
    ) -> Result<Vec<(u32, TaskRow)>, RunError> {
        let seed = self.workload.seed;
        let handed = |task| Submission { task, input: input(seed, task), submitted_ns: now_ns() };
        let tasks: Vec<Submission> = tasks.map(handed).collect();
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let accepted = self.back_end.submit(&tasks)?;
        let row = |(one, accepted): (Submission, Accepted)| {
            let Accepted { submitted_ns, accepted_ns } = accepted;
            (one.task, TaskRow { task: one.task, submitted_ns, accepted_ns, observed_ns: 0 })
        };
        Ok(tasks.into_iter().zip(accepted).map(row).collect())
    }

    fn complete(&mut self, waiting: &BTreeMap<u32, TaskRow>) -> Result<Vec<u32>, RunError> {
        if self.workload.poll_ms == 0 {
            return self.back_end.wait();
        }
        thread::sleep(Duration::from_millis(self.workload.poll_ms.into()));
        self.back_end.look(&waiting.keys().copied().collect::<Vec<_>>())
    }

    fn bare(&mut self, times: u32) -> Result<(), RunError> {
        for _ in 0..times {
            self.bare.extend(self.back_end.bare_ns()?);
        }
        Ok(())
    }
}
