//! What a policy is asked, and what it is told.

use std::sync::Arc;

use lab_protocol::schedulers::{Stream, Workload};

use crate::{Bench, Done, Item, RunError, map};

/// A way to decide where a piece of work runs. It is shared by all threads that decide.
pub trait Policy: Send + Sync + Sized + 'static {
    /// The question in the policy's own words: its key and its context. It is made outside of what
    /// [`Decide`](crate::Decide) times, as a call site has its key before it asks.
    type Asked: Send + Sync;
    /// What the policy has to get back together with the cost.
    type Pending: Send;

    /// Makes a policy that has learned nothing.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] where it cannot do this test, [`RunError::Failed`].
    fn new(setup: &Setup) -> Result<Self, RunError>;

    /// Puts a question into the policy's own words.
    fn ask(ask: &Ask) -> Self::Asked;

    /// Where to run it.
    fn choose(&self, asked: &Self::Asked) -> (Arm, Self::Pending);

    /// What it cost to do what was decided.
    fn finish(&self, pending: Self::Pending, cost: Cost);

    /// What the policy counted, under the names of the protocol: `gr0_activations` to
    /// `gr3_activations`, `strikes`.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// The policy's own index of pressure, in thousandths, where it has one. It is asked before a
    /// decision, beside a load alone, and outside of what a decision's cost counts.
    fn pressure_milli(&self, _: &Self::Asked) -> Option<u64> {
        None
    }

    /// Runs all items, at most `stream.concurrency` at once, and returns them as they come out.
    /// This is what a repetition times. A library with a map of its own for streams uses that.
    fn map(self: &Arc<Self>, bench: &Bench, items: Vec<Item>, stream: &Stream) -> Vec<Done> {
        map::on_the_bench(self, bench, items, stream)
    }
}

/// What a policy may know before the test.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The run's workload.
    pub workload: &'a Workload,
    /// The measured median of an empty round trip through the pool; `None` where no test runs
    /// anything, so that there is no pool.
    pub offload_round_trip_ns: Option<u64>,
}

/// One question, with what a policy may see of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ask {
    /// The call site.
    pub site: u32,
    /// Size of the input; 0 where it is not known.
    pub size: u64,
    /// Workers of the asynchronous runtime.
    pub tokio_workers: u32,
    /// Tasks that were spawned and are not done, this one included.
    pub in_flight: u32,
    /// Tasks that were spawned in a second, on average since the load began; 0 where none are.
    pub spawns_per_second: u32,
    /// How long tasks have lately waited for a worker: a moving average, measured.
    pub queue_delay_ns: u64,
    /// How long one of these tasks has lately kept its worker: a moving average, measured.
    pub poll_time_ns: u64,
    /// Threads of the pool.
    pub rayon_threads: u32,
    /// Jobs that wait in the pool for a thread.
    pub rayon_queue_depth: u32,
    /// What both arms cost. It is for a policy that is not to be beaten; no other may look.
    pub truth: Option<Truth>,
}

/// What both arms cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Truth {
    /// Inline: how long the worker is kept from everything else.
    pub inline_ns: u64,
    /// Offload: in a replay as given; where work is really done, the round trip.
    pub offload_ns: u64,
}

impl Truth {
    /// The cheaper arm; inline where both cost the same.
    pub fn best(self) -> Arm {
        if self.offload_ns < self.inline_ns { Arm::Offload } else { Arm::Inline }
    }
}

/// Where a piece of work runs; as a number, what the protocol's columns hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// On the asynchronous worker.
    Inline = 0,
    /// On the pool.
    Offload = 1,
}

/// What a decision cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// From the decision to the result, as the caller saw it.
    pub total_ns: u64,
    /// The work alone; `None` where nobody knows it, which is so for what a replay offloads.
    pub function_ns: Option<u64>,
}
