//! io_uring: each thread keeps several reads in flight and searches what has arrived.

mod reads;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use engines_kit::{
    Answer, CHUNKS, Found, Identity, Job, Read, RunError, Search, SourceFile, Stream, Worker,
    now_ns, variant_main,
};
use reads::{Done, Reads};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, run)
}

fn run(search: Arc<Search>) -> Result<Answer, RunError> {
    search.without_channel()?;
    search.without_semaphore()?;
    search.with_fixed_buffer()?;
    if search.workload().read == Read::Mmap {
        return Err(RunError::unsupported("this engine reads into buffers: set read to buffered"));
    }
    // Asked before anything begins: a kernel or a sandbox may have no rings.
    Reads::<()>::new().map_err(|error| {
        RunError::unsupported(format!("the kernel gives this process no io_uring: {error}"))
    })?;
    let jobs = search.jobs(CHUNKS)?;
    let next = AtomicUsize::new(0);
    let mut merger = search.merger();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..search.threads().min(jobs.len()))
            .map(|_| scope.spawn(|| work(&search, &jobs, &next)))
            .collect();
        for thread in threads {
            let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            merger.add(found.map_err(RunError::setup)?);
        }
        Ok(merger.finish())
    })
}

/// A piece of a chunk.
struct Piece<'a> {
    source: &'a SourceFile,
    /// Closed after its last piece.
    file: Rc<File>,
    offset: u64,
    length: usize,
    /// Begins the chunk: its lines.
    first: Option<Stream>,
    /// Ends the chunk, of which no further piece is asked for ahead.
    last: bool,
}

/// Takes chunks until none is left. Their pieces are asked for ahead and arrive in that order.
fn work(search: &Search, jobs: &[Job], next: &AtomicUsize) -> io::Result<Found> {
    let mut worker = search.worker();
    let mut reads = Reads::new()?;
    let mut pieces = Vec::new();
    let mut lines: Option<Stream> = None;
    let mut left = true;
    loop {
        while reads.has_room() && (left || !pieces.is_empty()) {
            match pieces.pop() {
                Some(piece) => {
                    let Piece { offset, length, .. } = piece;
                    reads.ask(&Rc::clone(&piece.file), offset, length, piece);
                }
                None => match jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    Some(job) => pieces = cut(search, job, &mut worker),
                    None => left = false,
                },
            }
        }
        let start = now_ns();
        let Some(done) = reads.next() else { return Ok(worker.finish()) };
        let done = done?;
        worker.add_read(0, u64::try_from(now_ns() - start).unwrap_or(0));
        let buffer = search_piece(done, &mut lines, &mut worker);
        reads.recycle(buffer);
    }
}

/// The pieces of a chunk, the first one last. None where its file cannot be opened.
fn cut<'a>(search: &Search, job: &'a Job, worker: &mut Worker) -> Vec<Piece<'a>> {
    let Job { file: source, chunk } = job;
    let file = match source.open(search.advise()) {
        Ok(file) => Rc::new(file),
        Err(error) => {
            worker.unreadable(source, error);
            return Vec::new();
        }
    };
    let stream = Stream::chunk(chunk);
    let (start, end) = (stream.position(), chunk.end.min(source.bytes));
    let offsets = (start..end).step_by(search.buffer_bytes());
    let piece = |offset: u64| {
        let rest = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let length = rest.min(search.buffer_bytes());
        let (file, last) = (Rc::clone(&file), length == rest);
        Piece { source, file, offset, length, first: None, last }
    };
    let mut pieces: Vec<Piece> = offsets.map(piece).collect();
    pieces.reverse();
    if let Some(first) = pieces.last_mut() {
        first.first = Some(stream);
    }
    pieces
}

/// Searches what has arrived, and gives its buffer back.
fn search_piece(done: Done<Piece<'_>>, lines: &mut Option<Stream>, worker: &mut Worker) -> Vec<u8> {
    let Done { what: Piece { source, file, offset, length, first, last }, mut buffer, read } = done;
    if let Some(stream) = first {
        *lines = Some(stream);
    }
    // Of a chunk that needs no further byte, or that could not be read, pieces may still arrive.
    let Some(stream) = lines else { return buffer };
    let mut read = read.and_then(|read| {
        // A read may come back short; the rest is not worth a second trip.
        let rest = file.read_at(&mut buffer[read..length], offset + read as u64);
        rest.map(|rest| read + rest)
    });
    let more = loop {
        worker.add_read(*read.as_ref().unwrap_or(&0), 0);
        match read {
            Ok(0) => break false,
            Ok(count) if !stream.feed(worker, &buffer[..count]) => {
                *lines = None;
                return buffer;
            }
            Ok(_) if !last => break true,
            // The chunk's last line goes on behind it.
            Ok(_) => read = file.read_at(&mut buffer, stream.position()),
            Err(error) => {
                worker.unreadable(source, error);
                *lines = None;
                return buffer;
            }
        }
    };
    if !more && let Some(stream) = lines.take() {
        stream.finish(worker);
    }
    buffer
}
