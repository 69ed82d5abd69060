//! Jobs of busy work, each through a policy, beside the ticks.

use std::sync::Arc;
use std::thread;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, yield_now};

use crate::bench::{Machine, Ran};
use crate::clock::{now_ns, sleep_until};
use crate::work::Work;
use crate::{Arm, Bench, Policy, RunError};

/// The most jobs that may be in flight; a policy that needs more never catches up.
const IN_FLIGHT: u32 = 4_096;

/// Instants of a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The first job.
    pub(crate) from_ns: u64,
    /// No job is started from here on.
    pub(crate) until_ns: u64,
}

/// A job that was done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    /// When it was to start; in a closed load when it did.
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) work_ns: u64,
    pub(crate) arm: Arm,
}

/// What a job does, and how long that should take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) work: Work,
    pub(crate) expected_ns: u64,
}

/// What each job does, and who decides where.
#[derive(Debug)]
pub(crate) struct Jobs<P> {
    pub(crate) policy: Arc<P>,
    /// Those that start together: one, or a burst.
    pub(crate) sizes: Vec<Size>,
}

impl<P: Policy> Jobs<P> {
    /// A job of each size at fixed intervals, whether or not the last are done, from a thread of
    /// its own that is no worker.
    pub(crate) fn open(
        &self,
        bench: &Bench,
        times: Times,
        every_ns: u64,
    ) -> Result<Vec<Job>, RunError> {
        let (machine, handle) = (bench.machine(), bench.handle());
        let tasks = thread::scope(|scope| {
            let start = scope.spawn(|| self.start_at_intervals(machine, handle, times, every_ns));
            start.join().expect("the thread that starts jobs only sleeps and spawns")
        })?;
        Ok(tasks.into_iter().map(|task| bench.wait(task)).collect())
    }

    fn start_at_intervals(
        &self,
        machine: &Arc<Machine>,
        handle: &Handle,
        times: Times,
        every_ns: u64,
    ) -> Result<Vec<JoinHandle<Job>>, RunError> {
        let instants = (times.from_ns..times.until_ns).step_by(every_ns as usize);
        let mut tasks = Vec::with_capacity(instants.size_hint().0 * self.sizes.len());
        for start_ns in instants {
            sleep_until(start_ns);
            if machine.in_flight() >= IN_FLIGHT {
                return Err(RunError::failed(format!(
                    "more than {IN_FLIGHT} jobs were in flight: this policy does not keep up with \
                     the load"
                )));
            }
            for &Size { work, expected_ns } in &self.sizes {
                let policy = Arc::clone(&self.policy);
                let (machine, spawned) = (Arc::clone(machine), machine.spawned());
                tasks.push(handle.spawn(async move {
                    let ran = machine.run(&*policy, &spawned, 0, work, expected_ns).await;
                    job(start_ns, ran)
                }));
            }
        }
        Ok(tasks)
    }

    /// Tasks that each start a job as soon as their last is done. In between they yield, as a task
    /// that takes its next request from a socket does.
    pub(crate) fn closed(&self, bench: &Bench, times: Times, tasks: u32) -> Vec<Job> {
        let handle = bench.handle();
        sleep_until(times.from_ns);
        let one = |_| {
            let (policy, Size { work, expected_ns }) = (Arc::clone(&self.policy), self.sizes[0]);
            let machine = Arc::clone(bench.machine());
            let mut spawned = machine.spawned();
            handle.spawn(async move {
                let mut done = Vec::new();
                loop {
                    let start_ns = now_ns();
                    if start_ns >= times.until_ns {
                        return done;
                    }
                    let ran = machine.run(&*policy, &spawned, 0, work, expected_ns).await;
                    done.push(job(start_ns, ran));
                    spawned = machine.spawned();
                    yield_now().await;
                }
            })
        };
        let tasks: Vec<_> = (0..tasks).map(one).collect();
        let mut done: Vec<Job> = tasks.into_iter().flat_map(|task| bench.wait(task)).collect();
        done.sort_by_key(|job| job.start_ns);
        done
    }
}

fn job(start_ns: u64, ran: Ran) -> Job {
    Job { start_ns, end_ns: now_ns(), work_ns: ran.work_ns, arm: ran.arm }
}
