//! Worker threads of one process.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;

use workflows_database::Handle;
use workflows_kit::{Computer, Graph, RunError, Workload, caught};

use crate::broker;
use crate::worker::{self, Shared};

/// Threads that are stopped and waited for when dropped.
pub(crate) struct Threads {
    pub(crate) shared: &'static Shared,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    /// None yet.
    pub(crate) fn new(shared: &'static Shared) -> Self {
        Self { shared, threads: Vec::new() }
    }

    /// Starts as many as the workload says, and what they compute with. `failed` hears at once why
    /// one has ended, in its thread.
    ///
    /// # Errors
    /// The system does not give a thread, or as [`Computer::start`].
    pub(crate) fn start(
        &mut self,
        workload: &Workload,
        graph: &Arc<Graph>,
        handles: &(Handle, broker::Handle),
        failed: fn(&RunError),
    ) -> Result<(), RunError> {
        let shared = self.shared;
        for worker in 0..workload.workers {
            let mut computer = Computer::start(workload, worker)?;
            let (handles, graph) = (handles.clone(), Arc::clone(graph));
            let body = move || {
                if let Err(error) = caught(|| worker::work(&handles, &graph, shared, &mut computer))
                {
                    shared.fail(&error);
                    failed(&error);
                }
            };
            let thread = std::thread::Builder::new().name(format!("worker-{worker}"));
            self.threads.push(thread.spawn(body).map_err(RunError::setup)?);
        }
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
