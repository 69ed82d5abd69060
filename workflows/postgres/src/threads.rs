//! Worker threads of one process.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;

use workflows_database::Handle;
use workflows_kit::{Computer, Graph, RunError, Workload, caught};

use crate::worker::{self, Shared};

/// Threads that are stopped and waited for when dropped.
pub(crate) struct Threads {
    pub(crate) shared: &'static Shared,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    /// Starts as many as the workload says, and what they compute with.
    ///
    /// # Errors
    /// The system does not give a thread, or as [`Computer::start`].
    pub(crate) fn start(
        workload: &Workload,
        handle: &Handle,
        graph: &Arc<Graph>,
        shared: &'static Shared,
    ) -> Result<Self, RunError> {
        let mut workers = Self { shared, threads: Vec::new() };
        for worker in 0..workload.workers {
            let mut computer = Computer::start(workload, worker)?;
            let (handle, graph) = (handle.clone(), Arc::clone(graph));
            let thread = std::thread::Builder::new().name(format!("worker-{worker}"));
            let body = move || {
                if let Err(error) = caught(|| worker::work(&handle, &graph, shared, &mut computer))
                {
                    shared.fail(&error);
                }
            };
            workers.threads.push(thread.spawn(body).map_err(RunError::setup)?);
        }
        Ok(workers)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        // Those that wait for work need not wait any longer.
        self.shared.waiting.call(self.threads.len());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
