//! The search on Rayon's pool; programs with another allocator include it as it is.

use std::sync::{Arc, Mutex, PoisonError};

use engines_kit::{Answer, CHUNKS, RunError, Search, Worker};
use rayon::prelude::*;

pub(crate) fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    search.without_semaphore()?;
    let threads = search.threads();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(RunError::setup)?;
    let jobs = search.jobs(CHUNKS)?;
    // One worker a thread; nobody else ever asks for its lock.
    let workers: Vec<Mutex<Option<Worker>>> = (0..threads).map(|_| Mutex::default()).collect();
    pool.install(|| {
        jobs.par_iter().with_max_len(1).for_each(|job| {
            let index = rayon::current_thread_index().expect("the pool runs this");
            let mut worker = workers[index].lock().unwrap_or_else(PoisonError::into_inner);
            worker.get_or_insert_with(|| search.worker()).search_job(job);
        });
    });
    let mut merger = search.merger();
    for worker in workers {
        let worker = worker.into_inner().unwrap_or_else(PoisonError::into_inner);
        worker.into_iter().for_each(|worker| merger.add(worker.finish()));
    }
    Ok(merger.finish())
}
