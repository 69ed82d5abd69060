//! CPUs of their own for the workers and for the threads of the pool.

use std::sync::atomic::{AtomicUsize, Ordering};

use lab_protocol::schedulers::Workload;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::RunError;

/// The CPUs of one kind of threads; none where they are free.
#[derive(Debug)]
pub(crate) struct Pins {
    cpus: Vec<usize>,
    next: AtomicUsize,
}

impl Pins {
    /// Those of the workers, and behind them those of the pool.
    pub(crate) fn of(workload: &Workload) -> Result<[Self; 2], RunError> {
        if !workload.pinned {
            return Ok([vec![], vec![]].map(Self::on));
        }
        let allowed = allowed().map_err(RunError::setup)?;
        let (workers, threads) = (workload.tokio_workers as usize, workload.rayon_threads as usize);
        if workers + threads > allowed.len() {
            return Err(RunError::unsupported(format!(
                "pinned: {workers} workers and {threads} threads of the pool want a CPU each, and \
                 this process may use {}: set fewer, or leave them free",
                allowed.len()
            )));
        }
        let (first, rest) = allowed.split_at(workers);
        Ok([first.to_vec(), rest[..threads].to_vec()].map(Self::on))
    }

    fn on(cpus: Vec<usize>) -> Self {
        Self { cpus, next: AtomicUsize::new(0) }
    }

    /// Call it once on each thread of this kind. Does nothing where they are free.
    ///
    /// # Panics
    /// When the kernel refuses a CPU that it named before.
    pub(crate) fn pin_this_thread(&self) {
        if self.cpus.is_empty() {
            return;
        }
        let thread = self.next.fetch_add(1, Ordering::Relaxed);
        let mut set = CpuSet::new();
        set.set(self.cpus[thread % self.cpus.len()]).expect("the kernel named this CPU");
        sched_setaffinity(Pid::from_raw(0), &set).expect("a thread may stay on an allowed CPU");
    }
}

/// The CPUs that this thread may use.
pub(crate) fn allowed() -> nix::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect())
}
