//! A Tokio runtime and a Rayon pool with a scheduler between them.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::thread;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tokio::runtime::{Handle, RuntimeMetrics};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::context::Context;
use crate::decision::{Arm, Cost, Decision};
use crate::key::{Hint, Key};
use crate::pressure::PressureGauge;
use crate::scheduler::Scheduler;

/// Runs closures where its scheduler decides. Clones share everything.
///
/// ```
/// use adaptive::{Adaptive, Scheduler};
///
/// let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
/// let adaptive = Adaptive::new(runtime.handle().clone(), 2, Scheduler::default())?;
/// let sum = runtime.block_on(async {
///     adaptive.calibrate(100).await;
///     adaptive.spawn_adaptive(|| (1..=100).sum::<u32>()).await
/// })?;
/// assert_eq!(sum, 5050);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Adaptive(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    scheduler: Scheduler,
    gauge: Arc<PressureGauge>,
    handle: Handle,
    /// Kept, because making it counts on what all workers share.
    metrics: RuntimeMetrics,
    pool: Arc<ThreadPool>,
}

impl Adaptive {
    /// Joins the runtime to a pool of its own with this many threads; 0 for one per processor.
    ///
    /// # Errors
    /// When the pool's threads cannot be started.
    pub fn new(
        handle: Handle,
        threads: usize,
        scheduler: Scheduler,
    ) -> Result<Self, ThreadPoolBuildError> {
        let name = |index| format!("adaptive-{index}");
        let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build()?;
        Ok(Self::with_pool(handle, Arc::new(pool), scheduler))
    }

    /// Joins the runtime to a pool that exists.
    #[must_use]
    pub fn with_pool(handle: Handle, pool: Arc<ThreadPool>, scheduler: Scheduler) -> Self {
        let metrics = handle.metrics();
        let workers = metrics.num_workers() as u32;
        let gauge = Arc::new(PressureGauge::new(workers, pool.current_num_threads() as u32));
        Self(Arc::new(Shared { scheduler, gauge, handle, metrics, pool }))
    }

    /// The scheduler.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler {
        &self.0.scheduler
    }

    /// The gauge that calls and probe feed.
    #[must_use]
    pub fn gauge(&self) -> &Arc<PressureGauge> {
        &self.0.gauge
    }

    /// The Rayon pool.
    #[must_use]
    pub fn pool(&self) -> &Arc<ThreadPool> {
        &self.0.pool
    }

    /// The Tokio runtime.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.0.handle
    }

    /// The pressure as measured now.
    #[must_use]
    pub fn context(&self) -> Context {
        let queued_tasks = self.0.metrics.global_queue_depth() as u32;
        Context { queued_tasks, ..self.0.gauge.context() }
    }

    /// Spawns a task that runs the closure where the scheduler decides; the closure's type is the
    /// key. A panic of the closure is the task's.
    pub fn spawn_adaptive<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_with(Key::of_type::<F>(), Hint::Unknown, work)
    }

    /// As [`Self::spawn_adaptive`], with a hint for the first call.
    pub fn spawn_adaptive_with_hint<F, T>(&self, hint: Hint, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_with(Key::of_type::<F>(), hint, work)
    }

    /// As [`Self::spawn_adaptive`], with a key of the caller's, for work that differs by size.
    pub fn spawn_with<F, T>(&self, key: Key, hint: Hint, work: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let entered = Entered::new(&self.0.gauge);
        let adaptive = self.clone();
        let spawned = Instant::now();
        self.0.handle.spawn(async move {
            let polled = Instant::now();
            let delay = polled.saturating_duration_since(spawned);
            adaptive.gauge().record_queue_delay(delay.as_nanos() as u64);
            let decision = adaptive.choose(key, hint);
            match decision.arm() {
                Arm::Inline => adaptive.inline(decision, &entered, work),
                Arm::Offload => {
                    drop(entered);
                    let call = adaptive.offload(decision, work);
                    adaptive.gauge().record_poll(nanoseconds(polled));
                    call.await
                }
            }
        })
    }

    /// Runs the closure in this task or on the pool, as the scheduler decides. A panic of the
    /// closure is the caller's, and teaches the scheduler nothing.
    pub async fn run<F, T>(&self, key: Key, hint: Hint, work: F) -> T
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let decision = self.choose(key, hint);
        match decision.arm() {
            Arm::Inline => self.inline(decision, &Entered::new(&self.0.gauge), work),
            Arm::Offload => self.offload(decision, work).await,
        }
    }

    pub(crate) fn choose(&self, key: Key, hint: Hint) -> Decision {
        self.0.scheduler.choose_with_hint(key, hint, &self.context())
    }

    /// Runs here. The cost leaves out the wait for a worker: the context's pressure stands for it.
    pub(crate) fn inline<T>(
        &self,
        decision: Decision,
        _entered: &Entered,
        work: impl FnOnce() -> T,
    ) -> T {
        let span = tracing::trace_span!("inline", reason = decision.reason().name());
        let start = Instant::now();
        let value = span.in_scope(work);
        let total_ns = nanoseconds(start);
        self.0.gauge.record_poll(total_ns);
        let cost = Cost { total_ns, function_ns: Some(total_ns), queued_ns: None };
        self.0.scheduler.finish(decision, cost);
        value
    }

    /// Hands the closure to the pool. Nobody waiting for the result any more, it is not run.
    pub(crate) fn offload<F, T>(&self, decision: Decision, work: F) -> Offloaded<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let span = tracing::trace_span!("offload", reason = decision.reason().name());
        let chosen = Instant::now();
        let (sender, receiver) = oneshot::channel();
        let queued = Queued::new(&self.0.gauge);
        self.0.pool.spawn(move || {
            drop(queued);
            if sender.is_closed() {
                return;
            }
            let queued_ns = nanoseconds(chosen);
            let start = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| span.in_scope(work)));
            // Whether somebody still waits is not the pool's business.
            let _ = sender.send(Done { result, queued_ns, function_ns: nanoseconds(start) });
        });
        let scheduler = self.0.scheduler.clone();
        Offloaded { receiver, decision: Some(decision), scheduler, chosen }
    }
}

/// What the pool sends back.
#[derive(Debug)]
struct Done<T> {
    result: thread::Result<T>,
    queued_ns: u64,
    function_ns: u64,
}

/// An offloaded call on its way; finishes its decision when the result is in the caller's hands.
#[derive(Debug)]
pub(crate) struct Offloaded<T> {
    receiver: oneshot::Receiver<Done<T>>,
    decision: Option<Decision>,
    scheduler: Scheduler,
    chosen: Instant,
}

impl<T> Future for Offloaded<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<T> {
        let Poll::Ready(received) = Pin::new(&mut self.receiver).poll(context) else {
            return Poll::Pending;
        };
        let done = received.expect("the pool runs every job that somebody waits for");
        let value = done.result.unwrap_or_else(|panic| resume_unwind(panic));
        if let Some(decision) = self.decision.take() {
            let cost = Cost {
                total_ns: nanoseconds(self.chosen),
                function_ns: Some(done.function_ns),
                queued_ns: Some(done.queued_ns),
            };
            self.scheduler.finish(decision, cost);
        }
        Poll::Ready(value)
    }
}

/// Counts a call as in flight on the Tokio side while it lives, whether it ends or panics.
#[derive(Debug)]
pub(crate) struct Entered(Arc<PressureGauge>);

impl Entered {
    pub fn new(gauge: &Arc<PressureGauge>) -> Self {
        gauge.enter();
        Self(Arc::clone(gauge))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Counts a job as queued for Rayon while it lives.
#[derive(Debug)]
struct Queued(Arc<PressureGauge>);

impl Queued {
    fn new(gauge: &Arc<PressureGauge>) -> Self {
        gauge.queued();
        Self(Arc::clone(gauge))
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.started();
    }
}

/// Nanoseconds since then.
pub(crate) fn nanoseconds(start: Instant) -> u64 {
    start.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
}
