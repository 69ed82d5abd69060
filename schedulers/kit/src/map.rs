//! Items through a policy, as a stream with a bounded number in flight.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use lab_protocol::schedulers::Stream;

use crate::bench::Machine;
use crate::work::Work;
use crate::{Arm, Bench, Policy};

/// One piece of busy work.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub(crate) number: u32,
    pub(crate) class: u32,
    pub(crate) work: Work,
    pub(crate) expected_ns: u64,
}

/// An item that was worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub(crate) number: u32,
    pub(crate) arm: Arm,
    pub(crate) work_ns: u64,
}

impl Item {
    /// The class, which is the call site.
    pub fn site(&self) -> u32 {
        self.class
    }

    /// Works on it here. A library's own map does not say where it runs what: the arm is that of
    /// this thread.
    pub fn run(self) -> Done {
        let on_the_pool = rayon::current_thread_index().is_some();
        let arm = if on_the_pool { Arm::Offload } else { Arm::Inline };
        Done { number: self.number, arm, work_ns: self.work.timed() }
    }
}

/// The map of policies without one. One at a time needs no further task; several are tasks, so
/// that the workers share what runs inline.
pub(crate) fn on_the_bench<P: Policy>(
    policy: &Arc<P>,
    bench: &Bench,
    items: Vec<Item>,
    stream: &Stream,
) -> Vec<Done> {
    let (policy, machine) = (Arc::clone(policy), Arc::clone(bench.machine()));
    let (concurrency, ordered) = (stream.concurrency as usize, stream.ordered);
    bench.on_a_worker(async move {
        if concurrency == 1 {
            return one_at_a_time(&*policy, &machine, items).await;
        }
        let tasks = stream::iter(items).map(|item| {
            let (policy, machine) = (Arc::clone(&policy), Arc::clone(&machine));
            let spawned = machine.spawned();
            let task = async move {
                let Item { number, class, work, expected_ns } = item;
                let ran = machine.run(&*policy, &spawned, class, work, expected_ns).await;
                Done { number, arm: ran.arm, work_ns: ran.work_ns }
            };
            let task = tokio::spawn(task);
            async { task.await.expect("the policy panicked") }
        });
        if ordered {
            tasks.buffered(concurrency).collect().await
        } else {
            tasks.buffer_unordered(concurrency).collect().await
        }
    })
}

async fn one_at_a_time<P: Policy>(
    policy: &P,
    machine: &Arc<Machine>,
    items: Vec<Item>,
) -> Vec<Done> {
    let mut done = Vec::with_capacity(items.len());
    for Item { number, class, work, expected_ns } in items {
        let spawned = machine.spawned();
        let ran = machine.run(policy, &spawned, class, work, expected_ns).await;
        done.push(Done { number, arm: ran.arm, work_ns: ran.work_ns });
    }
    done
}
