//! What work is done on: the asynchronous runtime, the pool, and what is measured of both.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use lab_protocol::schedulers::Workload;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::clock::now_ns;
use crate::pins::Pins;
use crate::pressure::Pressure;
use crate::work::Work;
use crate::{Arm, Ask, Cost, Policy, RunError, Truth};

/// Round trips of which the median is taken, and those before them.
const ROUND_TRIPS: usize = 501;
const WARM_UP_TRIPS: usize = 50;

/// The runtime and the pool of a run.
#[derive(Debug)]
pub struct Bench {
    runtime: Runtime,
    machine: Arc<Machine>,
}

impl Bench {
    /// Starts both and measures the round trip between them.
    pub(crate) fn new(workload: &Workload) -> Result<Self, RunError> {
        let [workers, threads] = Pins::of(workload)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(workload.tokio_workers as usize)
            .on_thread_start(move || workers.pin_this_thread())
            .enable_io()
            .build()
            .map_err(RunError::setup)?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(workload.rayon_threads as usize)
            .start_handler(move |_| threads.pin_this_thread());
        let machine = Machine {
            pool: Arc::new(pool.build().map_err(RunError::setup)?),
            tokio_workers: workload.tokio_workers,
            rayon_threads: workload.rayon_threads,
            in_flight: AtomicU32::new(0),
            waiting: Arc::new(AtomicU32::new(0)),
            spawned: AtomicU64::new(0),
            load_start_ns: AtomicU64::new(now_ns()),
            queue_delay_ns: AtomicU64::new(0),
            poll_time_ns: AtomicU64::new(0),
            round_trip_ns: AtomicU64::new(0),
            pressure: Pressure::default(),
        };
        let bench = Self { runtime, machine: Arc::new(machine) };
        let machine = Arc::clone(&bench.machine);
        let round_trip_ns = bench.on_a_worker(async move { machine.median_round_trip().await });
        bench.machine.round_trip_ns.store(round_trip_ns, Ordering::Relaxed);
        Ok(bench)
    }

    /// Runs a future on a worker of the runtime, not on the thread that waits for it.
    ///
    /// # Panics
    /// With the future.
    pub fn on_a_worker<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> T {
        self.wait(self.runtime.spawn(future))
    }

    /// Waits for a task on a thread that is no worker. Its panic becomes this thread's.
    pub(crate) fn wait<T>(&self, task: JoinHandle<T>) -> T {
        self.runtime.block_on(task).unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => panic!("{error}"),
        })
    }

    /// The asynchronous runtime.
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// The pool that work is offloaded to.
    pub fn pool(&self) -> &Arc<rayon::ThreadPool> {
        &self.machine.pool
    }

    pub(crate) fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    pub(crate) fn round_trip_ns(&self) -> u64 {
        self.machine.round_trip_ns.load(Ordering::Relaxed)
    }
}

/// What tasks share: the pool, and gauges of the load that policies may see. All gauges are
/// relaxed: they are a few microseconds old in any case.
#[derive(Debug)]
pub(crate) struct Machine {
    pool: Arc<rayon::ThreadPool>,
    tokio_workers: u32,
    rayon_threads: u32,
    in_flight: AtomicU32,
    waiting: Arc<AtomicU32>,
    spawned: AtomicU64,
    load_start_ns: AtomicU64,
    queue_delay_ns: AtomicU64,
    poll_time_ns: AtomicU64,
    round_trip_ns: AtomicU64,
    pressure: Pressure,
}

/// A task that was spawned and is not done. Whoever spawns it makes it, so that tasks no worker
/// has looked at yet are counted.
#[derive(Debug)]
pub(crate) struct Spawned {
    machine: Arc<Machine>,
    at_ns: u64,
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.machine.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What was decided, and how long the busy work really took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ran {
    pub(crate) arm: Arm,
    pub(crate) work_ns: u64,
}

impl Machine {
    /// From here on spawned tasks are counted.
    pub(crate) fn load_starts(&self) {
        self.spawned.store(0, Ordering::Relaxed);
        self.load_start_ns.store(now_ns(), Ordering::Relaxed);
    }

    /// Counts a task that is spawned now.
    pub(crate) fn spawned(self: &Arc<Self>) -> Spawned {
        self.spawned.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        Spawned { machine: Arc::clone(self), at_ns: now_ns() }
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(crate) fn pressure(&self) -> &Pressure {
        &self.pressure
    }

    /// One piece of work through a policy, from a task's first poll.
    pub(crate) async fn run<P: Policy>(
        &self,
        policy: &P,
        spawned: &Spawned,
        site: u32,
        work: Work,
        expected_ns: u64,
    ) -> Ran {
        let polled = now_ns();
        average(&self.queue_delay_ns, polled - spawned.at_ns);
        let asked = P::ask(&self.question(site, expected_ns, polled));
        if let Some(milli) = policy.pressure_milli(&asked) {
            self.pressure.add(milli);
        }
        let start = now_ns();
        let (arm, pending) = policy.choose(&asked);
        drop(asked);
        let work_ns = match arm {
            Arm::Inline => work.timed(),
            Arm::Offload => {
                let result = self.offload(work);
                average(&self.poll_time_ns, now_ns() - polled);
                result.await.expect("the pool does all its jobs")
            }
        };
        let end = now_ns();
        policy.finish(pending, Cost { total_ns: end - start, function_ns: Some(work_ns) });
        if arm == Arm::Inline {
            average(&self.poll_time_ns, end - polled);
        }
        Ran { arm, work_ns }
    }

    fn offload(&self, work: Work) -> oneshot::Receiver<u64> {
        let (sender, receiver) = oneshot::channel();
        let waiting = Arc::clone(&self.waiting);
        waiting.fetch_add(1, Ordering::Relaxed);
        self.pool.spawn(move || {
            waiting.fetch_sub(1, Ordering::Relaxed);
            // Nobody waits any more where the run is being given up.
            let _ = sender.send(work.timed());
        });
        receiver
    }

    fn question(&self, site: u32, expected_ns: u64, now_ns: u64) -> Ask {
        // A rate over less than ten milliseconds would be the luck of two spawns.
        let load_ns = (now_ns - self.load_start_ns.load(Ordering::Relaxed)).max(10_000_000);
        let offload_ns = self.round_trip_ns.load(Ordering::Relaxed);
        Ask {
            site,
            size: 0,
            tokio_workers: self.tokio_workers,
            in_flight: self.in_flight(),
            spawns_per_second: (self.spawned.load(Ordering::Relaxed) * 1_000_000_000 / load_ns)
                as u32,
            queue_delay_ns: self.queue_delay_ns.load(Ordering::Relaxed),
            poll_time_ns: self.poll_time_ns.load(Ordering::Relaxed),
            rayon_threads: self.rayon_threads,
            rayon_queue_depth: self.waiting.load(Ordering::Relaxed),
            truth: Some(Truth { inline_ns: expected_ns, offload_ns }),
        }
    }

    async fn median_round_trip(&self) -> u64 {
        let mut trips = Vec::with_capacity(ROUND_TRIPS);
        for trip in 0..WARM_UP_TRIPS + ROUND_TRIPS {
            let start = now_ns();
            self.offload(Work::NONE).await.expect("the pool does all its jobs");
            if trip >= WARM_UP_TRIPS {
                trips.push(now_ns() - start);
            }
        }
        trips.sort_unstable();
        trips[ROUND_TRIPS / 2]
    }
}

/// Moves a moving average by an eighth. Two that move it at once may lose one of the moves.
fn average(gauge: &AtomicU64, value: u64) {
    let old = gauge.load(Ordering::Relaxed);
    gauge.store(old - old / 8 + value / 8, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use lab_protocol::schedulers::{Replay, Test};

    use super::*;
    use crate::pins::allowed;

    #[test]
    fn pinned_threads_of_both_kinds_have_cpus_of_their_own() {
        let test = Test::Replay(Replay::default());
        let workload = Workload { seed: 1, tokio_workers: 1, rayon_threads: 1, pinned: true, test };
        let cpus = allowed().unwrap().len();
        match Bench::new(&workload) {
            Ok(bench) => {
                let worker = bench.on_a_worker(async { allowed().unwrap() });
                let thread = bench.pool().install(|| allowed().unwrap());
                assert_eq!((worker.len(), thread.len()), (1, 1));
                assert_ne!(worker, thread);
            }
            Err(error) => assert!(cpus < 2 && error.to_string().contains("want a CPU each")),
        }
        let many = Workload { tokio_workers: cpus as u32, ..workload };
        let error = Bench::new(&many).unwrap_err().to_string();
        assert!(error.contains("1 threads of the pool want a CPU each"), "{error}");
    }
}
