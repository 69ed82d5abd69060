//! Mapping the items of a stream, each where the scheduler decides.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{Stream, StreamExt};
use tokio::task::JoinHandle;

use crate::decision::Arm;
use crate::key::{Hint, Key};
use crate::runtime::{Adaptive, Entered, Offloaded};

/// Items whose inline cost is known to be below this run in the task that polls the stream: a task
/// of their own would cost as much as they do.
const IN_PLACE_NS: u64 = 10_000;
/// Time in that task after which the other tasks of its worker get a turn.
const IN_PLACE_TURN_NS: u64 = 100_000;

/// Maps streams with up to `concurrency` items in flight. Of these, long ones run in tasks of the
/// Tokio runtime or on the pool, truly in parallel. A panic of the closure is the polling task's.
///
/// ```
/// use adaptive::{Adaptive, AdaptiveStreamExt, Scheduler};
/// use futures_util::{StreamExt, stream};
///
/// let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
/// let adaptive = Adaptive::new(runtime.handle().clone(), 2, Scheduler::default())?;
/// let squares = stream::iter(0..100_u64).adaptive_map(&adaptive, 4, |item| item * item);
/// let squares: Vec<u64> = runtime.block_on(squares.collect());
/// assert!(squares.into_iter().eq((0..100).map(|item| item * item)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait AdaptiveStreamExt: Stream + Sized {
    /// Results in the order of the items.
    fn adaptive_map<F, T>(
        self,
        adaptive: &Adaptive,
        concurrency: usize,
        work: F,
    ) -> impl Stream<Item = T> + use<Self, F, T>
    where
        F: Fn(Self::Item) -> T + Send + Sync + 'static,
        T: Send + 'static,
        Self::Item: Send + 'static,
    {
        let key = Key::of_type::<F>();
        calls(self, adaptive, concurrency, move |_| key, work).buffered(concurrency.max(1))
    }

    /// Results in the order in which they are there.
    fn adaptive_map_unordered<F, T>(
        self,
        adaptive: &Adaptive,
        concurrency: usize,
        work: F,
    ) -> impl Stream<Item = T> + use<Self, F, T>
    where
        F: Fn(Self::Item) -> T + Send + Sync + 'static,
        T: Send + 'static,
        Self::Item: Send + 'static,
    {
        let key = Key::of_type::<F>();
        calls(self, adaptive, concurrency, move |_| key, work).buffer_unordered(concurrency.max(1))
    }

    /// As [`Self::adaptive_map`], with a key for each item, for work that differs by size.
    fn adaptive_map_keyed<K, F, T>(
        self,
        adaptive: &Adaptive,
        concurrency: usize,
        key: K,
        work: F,
    ) -> impl Stream<Item = T> + use<Self, K, F, T>
    where
        K: Fn(&Self::Item) -> Key,
        F: Fn(Self::Item) -> T + Send + Sync + 'static,
        T: Send + 'static,
        Self::Item: Send + 'static,
    {
        calls(self, adaptive, concurrency, key, work).buffered(concurrency.max(1))
    }
}

impl<S: Stream + Sized> AdaptiveStreamExt for S {}

fn calls<S, K, F, T>(
    items: S,
    adaptive: &Adaptive,
    concurrency: usize,
    key: K,
    work: F,
) -> impl Stream<Item = Running<T>> + use<S, K, F, T>
where
    S: Stream,
    S::Item: Send + 'static,
    K: Fn(&S::Item) -> Key,
    F: Fn(S::Item) -> T + Send + Sync + 'static,
    T: Send + 'static,
{
    let mut starter = Starter {
        adaptive: adaptive.clone(),
        work: Arc::new(work),
        alone: concurrency <= 1,
        in_place_ns: 0,
    };
    items.map(move |item| {
        let key = key(&item);
        starter.start(key, item)
    })
}

/// Starts the calls of one stream.
struct Starter<F> {
    adaptive: Adaptive,
    work: Arc<F>,
    alone: bool,
    in_place_ns: u64,
}

impl<F> Starter<F> {
    fn start<I, T>(&mut self, key: Key, item: I) -> Running<T>
    where
        I: Send + 'static,
        F: Fn(I) -> T + Send + Sync + 'static,
        T: Send + 'static,
    {
        let decision = self.adaptive.choose(key, Hint::Unknown);
        if decision.arm() == Arm::Offload {
            let work = Arc::clone(&self.work);
            return Running::Offloaded(self.adaptive.offload(decision, move || work(item)));
        }
        let entered = Entered::new(self.adaptive.gauge());
        let expected_ns = self.adaptive.scheduler().inline_ns(&decision);
        if self.alone || expected_ns.is_some_and(|expected_ns| expected_ns < IN_PLACE_NS) {
            let value = self.adaptive.inline(decision, &entered, || (self.work)(item));
            self.in_place_ns += expected_ns.unwrap_or(IN_PLACE_TURN_NS).max(100);
            let turn_over = self.in_place_ns >= IN_PLACE_TURN_NS;
            if turn_over {
                self.in_place_ns = 0;
            }
            return Running::Here { value: Some(value), turn_over };
        }
        let (adaptive, work) = (self.adaptive.clone(), Arc::clone(&self.work));
        let run = async move { adaptive.inline(decision, &entered, || work(item)) };
        Running::Spawned(self.adaptive.handle().spawn(run))
    }
}

/// A call that was started.
enum Running<T> {
    /// It is done; with `turn_over` the worker's other tasks come first.
    Here {
        value: Option<T>,
        turn_over: bool,
    },
    Spawned(JoinHandle<T>),
    Offloaded(Offloaded<T>),
}

// The value is moved out of its place, never pinned in it.
impl<T> Unpin for Running<T> {}

impl<T> Future for Running<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match self.get_mut() {
            Self::Here { turn_over, .. } if *turn_over => {
                *turn_over = false;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Self::Here { value, .. } => {
                Poll::Ready(value.take().expect("a call is not polled after its result"))
            }
            Self::Spawned(task) => Pin::new(task).poll(context).map(|joined| match joined {
                Ok(value) => value,
                Err(error) => resume_unwind(match error.try_into_panic() {
                    Ok(panic) => panic,
                    Err(error) => Box::new(error.to_string()),
                }),
            }),
            Self::Offloaded(call) => Pin::new(call).poll(context),
        }
    }
}
