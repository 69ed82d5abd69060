//! One run's search, from its workload to its answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonl_search::{Advise, CHUNK_BYTES, Plan, QueryError, Wanted};
use lab_protocol::engines::{self, Granularity, Workload};

use crate::clock::since;
use crate::parse::Parsers;
use crate::{Job, Merger, Query, RunError, SourceFile, now_ns};

/// Parts of files, as [`CHUNK_BYTES`] has them.
pub const CHUNKS: Granularity = Granularity::Bytes(CHUNK_BYTES as u32);

/// Searches lines by the parser that the workload names.
pub type Worker = jsonl_search::Worker<Parsers>;

/// What an engine is to do. Share it between threads in an `Arc`.
#[derive(Debug)]
pub struct Search {
    workload: Workload,
    plan: Plan,
    corpus: [PathBuf; 1],
    walk_ns: AtomicU64,
    files: AtomicU64,
}

impl Search {
    /// Compiles a workload.
    ///
    /// # Errors
    /// Where its query is none.
    pub fn new(workload: Workload) -> Result<Self, QueryError> {
        let mut plan = Plan::new(Query::compile(&wanted(&workload.query))?);
        if !workload.prefilter {
            plan.prefilter = None;
        }
        plan.read = match workload.read {
            engines::Read::Buffered => jsonl_search::Read::Buffered,
            engines::Read::Mmap => jsonl_search::Read::Mmap,
            engines::Read::Auto => jsonl_search::Read::Auto,
        };
        plan.advise = match workload.advise {
            engines::Advise::None => Advise::None,
            engines::Advise::Sequential => Advise::Sequential,
            engines::Advise::WillNeed => Advise::WillNeed,
        };
        if let Some(bytes) = workload.buffer_bytes {
            plan.buffer_bytes = bytes.max(1) as usize;
        }
        plan.buffer_adapts = workload.buffer_adapts;
        plan.limit = workload.query.limit.map(|limit| limit as usize);
        plan.result_capacity = workload.result_capacity as usize;
        let corpus = [PathBuf::from(&workload.corpus)];
        let (walk_ns, files) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { workload, plan, corpus, walk_ns, files })
    }

    /// Everything that was asked for.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// Worker threads: what the workload says, or as many as this process may use.
    pub fn threads(&self) -> usize {
        let own = || std::thread::available_parallelism().map_or(1, usize::from);
        self.workload.threads.map_or_else(own, |threads| threads.max(1) as usize)
    }

    /// Bytes of a read buffer.
    pub fn buffer_bytes(&self) -> usize {
        self.plan.buffer_bytes
    }

    /// What the kernel is to be told of each file before it is read.
    pub fn advise(&self) -> Advise {
        self.plan.advise
    }

    /// The corpus's files in the order of their paths. Blocks.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn walk(&self) -> Result<Vec<Arc<SourceFile>>, RunError> {
        let start = now_ns();
        let files = self.look()?;
        self.files.store(files.len() as u64, Ordering::Relaxed);
        self.walk_ns.store(since(start), Ordering::Relaxed);
        Ok(files.into_iter().map(Arc::new).collect())
    }

    fn look(&self) -> Result<Vec<SourceFile>, RunError> {
        jsonl_search::walk(&self.corpus, self.threads()).map_err(|(root, error)| {
            RunError::failed(format!("cannot walk the corpus {}: {error}", root.display()))
        })
    }

    /// The corpus cut into pieces of work: of the workload's size, or of `own` where it leaves that
    /// to the engine. Blocks.
    ///
    /// # Errors
    /// As [`Self::walk`].
    pub fn jobs(&self, own: Granularity) -> Result<Vec<Job>, RunError> {
        let size = match self.workload.chunk {
            Granularity::Own => own,
            size => size,
        };
        let bytes = match size {
            Granularity::Own | Granularity::File => u64::MAX,
            Granularity::Bytes(bytes) => u64::from(bytes.max(1)),
        };
        Ok(Job::cut(self.walk()?, bytes))
    }

    /// A new worker, for a thread or a task.
    pub fn worker(&self) -> Worker {
        Worker::new(&self.plan, Parsers::new(self.workload.parser))
    }

    /// A new merger.
    pub fn merger(&self) -> Merger {
        Merger::new(self.plan.limit)
    }

    /// For an engine whose workers send nothing before they are done.
    ///
    /// # Errors
    /// Where the workload bounds a channel.
    pub fn without_channel(&self) -> Result<(), RunError> {
        refuse(self.workload.channel_bound, "channel_bound", "this engine has no channel")
    }

    /// For an engine that cannot limit the files it has open by itself.
    ///
    /// # Errors
    /// Where the workload has a semaphore.
    pub fn without_semaphore(&self) -> Result<(), RunError> {
        refuse(self.workload.semaphore, "semaphore", "its threads are all that limits this engine")
    }

    /// For an engine that reads a file from its beginning to its end.
    ///
    /// # Errors
    /// Where the workload cuts files.
    pub fn with_whole_files(&self) -> Result<(), RunError> {
        match self.workload.chunk {
            Granularity::Bytes(_) => {
                Err(RunError::unsupported("this engine reads whole files: set chunk to file"))
            }
            Granularity::Own | Granularity::File => Ok(()),
        }
    }

    /// For an engine that makes its buffers before it knows the files.
    ///
    /// # Errors
    /// Where the workload has buffers follow the files' sizes.
    pub fn with_fixed_buffer(&self) -> Result<(), RunError> {
        match self.workload.buffer_adapts {
            true => Err(RunError::unsupported(
                "this engine makes its buffers beforehand: set buffer_bytes to a number",
            )),
            false => Ok(()),
        }
    }

    /// Files that the run's walk found.
    pub(crate) fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    pub(crate) fn walk_ns(&self) -> u64 {
        self.walk_ns.load(Ordering::Relaxed)
    }

    /// Drops the corpus from the page cache.
    pub(crate) fn evict(&self) -> Result<(), RunError> {
        for file in self.look()? {
            // What cannot be read is not in the cache, and the run reports it.
            if let (Err(error), true) = (file.evict(), file.path.is_file()) {
                return Err(RunError::failed(format!(
                    "cannot drop the corpus {} from the page cache: {error}",
                    self.workload.corpus
                )));
            }
        }
        Ok(())
    }
}

fn wanted(query: &engines::Query) -> Wanted {
    let engines::Query { text, role, session, after, before, project, case_sensitive, .. } = query;
    Wanted {
        text: text.clone(),
        role: role.clone(),
        session: session.clone(),
        after: after.clone(),
        before: before.clone(),
        project: project.clone(),
        case_sensitive: *case_sensitive,
    }
}

fn refuse(asked: Option<u32>, key: &str, why: &str) -> Result<(), RunError> {
    match asked {
        None => Ok(()),
        Some(_) => Err(RunError::unsupported(format!("{why}: leave {key} out"))),
    }
}
