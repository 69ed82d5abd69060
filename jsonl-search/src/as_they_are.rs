//! How a worker gets the bytes of whatever a person searches: files that others change, streams,
//! compressed texts.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Write};
use std::sync::{Arc, OnceLock};

use crate::again::Texts;
use crate::clock::{now_ns, since};
use crate::content::{Content, FIRST_BYTES};
use crate::cut_short::{Guarded, Watch};
use crate::files::{CHUNK_BYTES, aligned, read_full};
use crate::kernel::Worker;
use crate::parse::Parse;
use crate::reading::MAPPED_BYTES;
use crate::{Advise, Job, Read, SourceFile, Stream};

/// A large file, open as long as a job of it is left, so that all of them read the same one.
#[derive(Debug)]
pub(crate) struct Held {
    file: Arc<File>,
    content: Content,
    map: OnceLock<Option<Arc<Guarded>>>,
}

impl Held {
    pub(crate) fn open(source: &SourceFile, advise: Advise) -> io::Result<Self> {
        let file = source.open(advise)?;
        let mut first = [0; FIRST_BYTES];
        let count = read_full(&file, &mut first, 0, 0)?;
        let content = Content::of(&first[..count]);
        Ok(Self { file: Arc::new(file), content, map: OnceLock::new() })
    }

    /// `None` where it cannot be mapped.
    fn map(&self) -> Option<&Arc<Guarded>> {
        self.map.get_or_init(|| Guarded::new(&self.file).map(Arc::new)).as_ref()
    }
}

impl<P: Parse> Worker<P> {
    /// Reads and searches a job's lines, whatever its file is.
    pub(crate) fn read_as_it_is(&mut self, job: &Job, texts: &Texts) -> Result<(), String> {
        let source = &*job.file;
        if source.is_stream() {
            return self.read_stream(source, texts);
        }
        let is_mapped = match self.plan.read {
            Read::Buffered => false,
            Read::Mmap => true,
            Read::Auto => source.bytes >= MAPPED_BYTES && self.plan.speeds.are_maps_next(),
        };
        if source.is_unsized() && !is_mapped {
            return self.read_unsized(source);
        }
        let (start, before) = (now_ns(), self.tally.bytes);
        let content = match is_mapped || source.bytes > CHUNK_BYTES {
            true => self.read_held(job, is_mapped)?,
            false => self.read_small(source)?,
        };
        if content == Content::Plain && source.bytes >= MAPPED_BYTES {
            self.plan.speeds.add(is_mapped, self.tally.bytes - before, since(start));
        }
        Ok(())
    }

    fn read_small(&mut self, source: &SourceFile) -> Result<Content, String> {
        let start = now_ns();
        let file = source.open(self.plan.advise).map_err(|error| error.to_string())?;
        let content = self.read_open(&file, source.bytes, Stream::whole(source), start)?;
        if content != Content::Plain {
            self.read_packed(&Arc::new(file), content, source)?;
        }
        Ok(content)
    }

    /// Reads what is most likely to be all. Of a large file that is the first chunk, and the others
    /// are jobs of their own.
    fn read_unsized(&mut self, source: &SourceFile) -> Result<(), String> {
        let said = |error: io::Error| error.to_string();
        let start = now_ns();
        let file = source.open(self.plan.advise).map_err(said)?;
        let mut memory = std::mem::take(&mut self.buffer);
        let buffer = aligned(&mut memory, self.plan.buffer_bytes);
        // More than none, so that the first read that is short is the last.
        let count = read_full(&file, buffer, 0, 1).map_err(said)?;
        self.add_read(count, since(start));
        let file = Arc::new(file);
        let content = Content::of(&buffer[..count]);
        if content != Content::Plain {
            self.buffer = memory;
            return self.read_packed(&file, content, source);
        }
        let is_ended = count < buffer.len();
        let mut stream = match is_ended {
            true => Stream::whole(source),
            false => self.first_of(source, &file).map_err(said)?,
        };
        let needs_more = stream.feed(self, &buffer[..count]);
        self.buffer = memory;
        if needs_more && is_ended {
            stream.finish(self);
        } else if needs_more {
            self.read_open(&file, 1, stream, now_ns())?;
        }
        Ok(())
    }

    /// The first chunk of a file; its others are left for whoever is free.
    fn first_of(&mut self, source: &SourceFile, file: &Arc<File>) -> io::Result<Stream> {
        let bytes = file.metadata()?.len();
        let (file, map) = (Arc::clone(file), OnceLock::new());
        let held = Held { file, content: Content::Plain, map };
        let mut jobs = Job::cut(vec![Arc::new(source.sized(bytes, held))], CHUNK_BYTES);
        let others = jobs.split_off(1);
        self.more.extend(others);
        Ok(Stream::chunk(&jobs[0].chunk))
    }

    /// The jobs that came of those that were searched.
    pub(crate) fn take_more(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.more)
    }

    fn read_held(&mut self, job: &Job, is_mapped: bool) -> Result<Content, String> {
        let (source, chunk) = (&*job.file, &job.chunk);
        let start = now_ns();
        let held = source.held(self.plan.advise)?;
        let map = || if is_mapped { held.map() } else { None };
        match (held.content, map()) {
            (Content::Plain, Some(map)) => {
                self.tally.read_ns += since(start);
                self.read_guarded(map, job)?;
            }
            (Content::Plain, None) => {
                let stream = Stream::chunk(chunk);
                self.read_open(&held.file, source.bytes, stream, start)?;
            }
            // Of what was cut by its size the first job is all.
            (content, _) if chunk.start == 0 => self.read_packed(&held.file, content, source)?,
            _ => {}
        }
        Ok(held.content)
    }

    /// Searches a map, and from where its file is cut short on what is left of the file.
    fn read_guarded(&mut self, map: &Arc<Guarded>, job: &Job) -> Result<(), String> {
        let mut stream = Stream::chunk(&job.chunk);
        let position = usize::try_from(stream.position()).unwrap_or(usize::MAX);
        let before = self.tally.bytes;
        self.watch = Watch::of(map);
        if stream.feed(self, map.bytes().get(position..).unwrap_or_default()) {
            stream.finish(self);
        }
        self.tally.bytes_read += self.tally.bytes - before;
        let watch = std::mem::take(&mut self.watch);
        if !map.is_cut() {
            return Ok(());
        }
        let stream = Stream::chunk(&job.chunk).on_from(watch.reached());
        self.watch = watch.without_map();
        let read = self.read_open(map.file(), 0, stream, now_ns());
        self.watch = Watch::default();
        read.map(|_| ())
    }

    fn read_packed(
        &mut self,
        file: &Arc<File>,
        content: Content,
        source: &SourceFile,
    ) -> Result<(), String> {
        let text = content.text_of(file).map_err(|error| error.to_string())?;
        self.read_text(text, source, None).map_err(|error| damaged(content, &error))
    }

    fn read_stream(&mut self, source: &SourceFile, texts: &Texts) -> Result<(), String> {
        let said = |error: io::Error| error.to_string();
        let input = source.open_stream().map_err(said)?;
        let mut first = Vec::new();
        (&input).take(FIRST_BYTES as u64).read_to_end(&mut first).map_err(said)?;
        let content = Content::of(&first);
        let input = BufReader::new(io::Cursor::new(first).chain(input));
        let text = content.text(input).map_err(said)?;
        let copy = texts.copy_of_stream(source.index).map_err(said)?;
        self.is_read_once = copy.is_none();
        let read = self.read_text(text, source, copy.as_deref());
        self.is_read_once = false;
        read.map_err(|error| damaged(content, &error))
    }

    /// Searches what comes until it ends or fails.
    fn read_text(
        &mut self,
        mut text: impl io::Read,
        source: &SourceFile,
        mut copy: Option<&File>,
    ) -> io::Result<()> {
        let mut stream = Stream::whole(source);
        let mut memory = std::mem::take(&mut self.buffer);
        let buffer = aligned(&mut memory, self.plan.buffer_bytes);
        let result = loop {
            let start = now_ns();
            let count = match text.read(buffer) {
                Ok(0) => break Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Err(error),
            };
            self.add_read(count, since(start));
            let piece = &buffer[..count];
            if let (0, content @ Content::Utf16(_)) = (stream.position(), Content::of(piece)) {
                break content.text(piece).map(|_| ());
            }
            if let Err(error) = copy.as_mut().map_or(Ok(()), |copy| copy.write_all(piece)) {
                break Err(error);
            }
            stream.feed(self, piece);
            if self.is_done() {
                break Ok(());
            }
        };
        stream.finish(self);
        self.buffer = memory;
        result
    }
}

/// Why a text ended before its end.
fn damaged(content: Content, error: &io::Error) -> String {
    match content {
        Content::Gzip | Content::Zstd => {
            format!("is damaged, and what stands before the damage was searched: {error}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};

    use super::*;
    use crate::again::Texts;
    use crate::kernel::Plan;
    use crate::parse::Records;
    use crate::walk::Walk;
    use crate::{Hit, Merger, Query, Wanted};

    fn line(number: u64) -> String {
        format!("{{\"type\":\"user\",\"message\":{{\"content\":\"needle {number}\"}}}}\n")
    }

    /// What is found of lines in a map whose file is then made so short, in jobs of so many bytes.
    fn found(text: &str, length: u64, bytes: u64) -> Vec<Hit> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        fs::write(&path, text).unwrap();
        let wanted = Wanted { text: "needle".into(), ..Wanted::default() };
        let mut plan = Plan::new(Query::compile(&wanted).unwrap());
        (plan.texts, plan.read) = (Some(Texts::default()), Read::Mmap);
        let files = Walk::for_a_person(1).files(std::slice::from_ref(&path)).unwrap();
        let jobs = Job::cut(files.into_iter().map(Arc::new).collect(), bytes);
        let map = jobs[0].file.held(Advise::None).unwrap().map().unwrap();
        assert!(!map.is_cut_now());
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        let mut worker = Worker::new(&plan, Records::new(plan.scope));
        jobs.iter().for_each(|job| worker.search_job(job));
        let mut merger = Merger::new(None);
        merger.add(worker.finish());
        let answer = merger.finish();
        assert!(answer.unreadable.is_empty(), "{:?}", answer.unreadable);
        let mut hits: Vec<_> = answer.hits().copied().collect();
        hits.sort_unstable_by_key(|hit| hit.offset);
        hits
    }

    #[test]
    fn of_a_map_that_is_cut_what_is_left_is_found_once() {
        let text: String = (0..20_000).map(line).collect();
        let whole = found(&text, text.len() as u64, u64::MAX);
        assert_eq!(whole.len(), 20_000);
        let length = text.len() as u64;
        let ends =
            [0, 1, 4095, 4096, 4097, 262_144, 600_000, length - 1, length - 40, length - 5000];
        for cut in ends {
            for bytes in [u64::MAX, 100_000] {
                let hits = found(&text, cut, bytes);
                let is_before = |hit: &&Hit| hit.offset + line(0).len() as u64 <= cut;
                let expected = whole.iter().filter(is_before).count();
                // Of the line that is cut in two a repair finds what is left.
                assert!(hits.len() >= expected && hits.len() <= expected + 2, "{cut} {bytes}");
                assert!(
                    hits.iter().zip(&whole).all(|(a, b)| a.offset == b.offset),
                    "{cut} {bytes}"
                );
            }
        }
    }
}
