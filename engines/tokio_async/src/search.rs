//! The search on Tokio's own files; the program with another allocator includes it as it is.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;

use engines_kit::{Answer, Read, RunError, Search, SourceFile, Stream, Worker, now_ns};
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::runtime::Builder;
use tokio::task::{JoinSet, spawn_blocking};

/// What one file at a time is read and searched with.
struct Lane {
    worker: Worker,
    buffer: Vec<u8>,
}

/// The runtime is the one that `#[tokio::main]` makes, unless the workload names threads: then so
/// many workers search, and as many threads of the blocking pool read for them.
pub(crate) fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    search.with_whole_files()?;
    search.with_fixed_buffer()?;
    if search.workload().read == Read::Mmap {
        return Err(RunError::unsupported("this engine awaits its bytes: set read to buffered"));
    }
    let mut builder = Builder::new_multi_thread();
    if search.workload().threads.is_some() {
        builder.worker_threads(search.threads()).max_blocking_threads(search.threads());
    }
    let runtime = builder.build().map_err(RunError::setup)?;
    runtime.block_on(search_all(search))
}

/// As many files are open as there are lanes: two for each worker, so that one is searched while
/// the other is read, unless the workload's semaphore says otherwise.
async fn search_all(search: Arc<Search>) -> Result<Answer, RunError> {
    let lanes = search.workload().semaphore.map(|files| files.max(1) as usize);
    let lanes = lanes.unwrap_or(2 * search.threads());
    let lane = || Lane { worker: search.worker(), buffer: vec![0; search.buffer_bytes()] };
    let mut idle: Vec<Lane> = (0..lanes).map(|_| lane()).collect();
    let mut tasks = JoinSet::new();
    for file in search.walk()? {
        let lane = match idle.pop() {
            Some(lane) => lane,
            None => next(&mut tasks).await.expect("lanes that are not idle are busy"),
        };
        tasks.spawn(lane.search_file(Arc::clone(&search), file));
    }
    while let Some(lane) = next(&mut tasks).await {
        idle.push(lane);
    }
    let mut merger = search.merger();
    idle.into_iter().for_each(|lane| merger.add(lane.worker.finish()));
    Ok(merger.finish())
}

/// The next lane that is done with its file.
async fn next(tasks: &mut JoinSet<Lane>) -> Option<Lane> {
    let lane = tasks.join_next().await?;
    Some(lane.unwrap_or_else(|error| resume_unwind(error.into_panic())))
}

impl Lane {
    async fn search_file(mut self, search: Arc<Search>, file: Arc<SourceFile>) -> Self {
        if let Err(error) = self.read(&search, &file).await {
            self.worker.unreadable(&file, error);
        }
        self
    }

    async fn read(&mut self, search: &Search, file: &Arc<SourceFile>) -> io::Result<()> {
        let mut start = now_ns();
        let (path, advise) = (Arc::clone(file), search.advise());
        let opened = spawn_blocking(move || path.open(advise)).await;
        let opened = opened.unwrap_or_else(|error| resume_unwind(error.into_panic()));
        let mut reader = File::from_std(opened?);
        reader.set_max_buf_size(self.buffer.len());
        let mut stream = Stream::whole(file);
        loop {
            let count = reader.read(&mut self.buffer).await?;
            self.worker.add_read(count, (now_ns() - start).unsigned_abs());
            if count == 0 {
                stream.finish(&mut self.worker);
                return Ok(());
            }
            stream.feed(&mut self.worker, &self.buffer[..count]);
            start = now_ns();
        }
    }
}
