//! The one thread that writes tokens, and nothing else, when they are due.
//!
//! It sleeps on an epoll set that holds a timer (absolute, `CLOCK_MONOTONIC`), the inbox and the
//! sockets of all streams; wakes a little early, and spins to the deadline as far as [`Spin`] lets
//! it. Timers of descriptors are high-resolution timers, so the thread's timer slack does not
//! apply to them.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timer::{Expiration, TimerSetTimeFlags};
use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};

use crate::clock::now_ns;
use crate::ledger::{CallRecord, Run};
use crate::schedule::{RequestId, Schedule, Step};
use crate::spin::Spin;
use crate::stream::{AfterStream, Call, Stream};

/// What the other threads ask of the pacing thread.
pub(crate) enum Command {
    /// A new run: what was streaming is broken off, and the ledger is empty.
    Begin(Arc<Run>),
    /// A call has arrived.
    Start(Box<Call>),
    /// The records of the present run.
    Collect(Sender<Vec<CallRecord>>),
    /// The end.
    Stop,
}

/// Commands on their way to the pacing thread.
pub(crate) struct Inbox {
    commands: Mutex<Vec<Command>>,
    bell: EventFd,
}

impl Inbox {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let bell = EventFd::from_flags(flags).context("failed to create an eventfd")?;
        Ok(Self { commands: Mutex::new(Vec::new()), bell })
    }

    pub(crate) fn send(&self, command: Command) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).push(command);
        // It fails only when 2^64 rings were not heard, and then one more would not be missed.
        let _ = self.bell.write(1);
    }

    fn take(&self) -> Vec<Command> {
        std::mem::take(&mut self.commands.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Keys of the epoll set; streams have the numbers from `FIRST_STREAM` on.
const TIMER: u64 = 0;
const BELL: u64 = 1;
const FIRST_STREAM: u64 = 2;

/// How often streams that have ended are looked at while some client has not read its reply.
const UNREAD_LOOK_MS: u16 = 1_000;

/// How long the thread may write back to back before it looks at its sockets.
const POLL_EVERY_NS: u64 = 1_000_000;

/// The pacing thread's state.
pub(crate) struct Pacer {
    inbox: Arc<Inbox>,
    epoll: Epoll,
    timer: TimerFd,
    schedule: Schedule,
    streams: HashMap<RequestId, Stream>,
    next_id: RequestId,
    run: Option<Arc<Run>>,
    records: Vec<CallRecord>,
    spin: Spin,
    polled_ns: u64,
}

impl Pacer {
    pub(crate) fn new(inbox: Arc<Inbox>) -> anyhow::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
        // Edge-triggered, so that nothing has to be read to make them quiet again.
        let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        epoll.add(&timer, EpollEvent::new(edge, TIMER))?;
        epoll.add(&inbox.bell, EpollEvent::new(edge, BELL))?;
        Ok(Self {
            inbox,
            epoll,
            timer,
            schedule: Schedule::new(crate::spec::Mode::Free, &[1.0]),
            streams: HashMap::new(),
            next_id: FIRST_STREAM,
            run: None,
            records: Vec::new(),
            spin: Spin::new(now_ns()),
            polled_ns: 0,
        })
    }

    /// Runs until [`Command::Stop`].
    ///
    /// # Errors
    /// When the kernel refuses a timer or an epoll call.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        loop {
            for command in self.inbox.take() {
                match command {
                    Command::Begin(run) => self.begin(run),
                    Command::Start(call) => self.start(*call)?,
                    Command::Collect(reply) => self.collect(&reply),
                    Command::Stop => return Ok(()),
                }
            }
            let Some(due_ns) = self.schedule.next_due() else {
                let unread = !self.streams.is_empty();
                self.wait(if unread {
                    EpollTimeout::from(UNREAD_LOOK_MS)
                } else {
                    EpollTimeout::NONE
                })?;
                self.drop_unread();
                continue;
            };
            let now = now_ns();
            let ahead_ns = self.spin.ahead_ns(now);
            if now + ahead_ns < due_ns {
                self.sleep_until(due_ns - ahead_ns)?;
            } else {
                self.spin.until(due_ns);
                self.write_all_due(due_ns);
                if now_ns() - self.polled_ns > POLL_EVERY_NS {
                    self.wait(EpollTimeout::ZERO)?;
                }
            }
        }
    }

    fn begin(&mut self, run: Arc<Run>) {
        for (_, stream) in std::mem::take(&mut self.streams) {
            self.release(stream, AfterStream::Close);
        }
        self.schedule = Schedule::new(run.spec.mode, &run.spec.rate_tokens_per_s);
        self.records.clear();
        self.run = Some(run);
    }

    fn start(&mut self, mut call: Call) -> anyhow::Result<()> {
        if !self.run.as_ref().is_some_and(|run| Arc::ptr_eq(run, &call.run)) {
            // It was read while the run changed, and belongs to neither.
            let _ = call.finished.send(AfterStream::Close);
            return Ok(());
        }
        // The past first: what was due before this arrival was due at the old speed.
        self.write_all_due(call.received_ns);
        let id = self.next_id;
        self.next_id += 1;
        self.schedule.start(call.received_ns, id, std::mem::take(&mut call.work_ns));
        // Writable is reported by edge too: only after a write that was not taken whole.
        // A client that closes its own half may still read; one that has gone answers the next
        // token with a reset.
        let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
        let added = self.epoll.add(&*call.socket, EpollEvent::new(flags, id));
        self.streams.insert(id, Stream::new(call));
        added.context("failed to watch a client's socket")
    }

    fn collect(&self, reply: &Sender<Vec<CallRecord>>) {
        let unfinished = self.streams.values().map(Stream::record);
        // Who asked may have given up; then nobody misses the answer.
        let _ = reply.send(self.records.iter().cloned().chain(unfinished).collect());
    }

    fn write_all_due(&mut self, now: u64) {
        while let Some(step) = self.schedule.pop(now) {
            self.write(step);
        }
    }

    fn write(&mut self, step: Step) {
        let Some(stream) = self.streams.get_mut(&step.id) else { return };
        let mut written = Ok(());
        if stream.has_piece(step.index) {
            written = stream.send_piece(step.due_ns);
        }
        if written.is_ok() && step.last {
            written = stream.send_ending();
        }
        match written {
            Err(_) => {
                stream.note_left();
                self.drop_stream(step.id);
            }
            Ok(()) if step.last => self.finish_if_over(step.id),
            Ok(()) => {}
        }
    }

    fn sleep_until(&mut self, wake_ns: u64) -> anyhow::Result<()> {
        let wake = TimeSpec::from_duration(Duration::from_nanos(wake_ns));
        self.timer
            .set(Expiration::OneShot(wake), TimerSetTimeFlags::TFD_TIMER_ABSTIME)
            .context("failed to set the pacing timer")?;
        self.wait(EpollTimeout::NONE)?;
        // Else a socket or the bell was first.
        if self.polled_ns >= wake_ns {
            self.spin.woke_late(self.polled_ns - wake_ns);
        }
        Ok(())
    }

    fn wait(&mut self, timeout: EpollTimeout) -> anyhow::Result<()> {
        let mut events = [EpollEvent::empty(); 64];
        let ready = match self.epoll.wait(&mut events, timeout) {
            Ok(ready) => ready,
            Err(nix::errno::Errno::EINTR) => 0,
            Err(error) => return Err(error).context("failed to wait for the pacing timer"),
        };
        self.polled_ns = now_ns();
        for event in &events[..ready] {
            if event.data() >= FIRST_STREAM {
                self.socket_changed(event.data(), event.events());
            }
        }
        Ok(())
    }

    fn socket_changed(&mut self, id: RequestId, events: EpollFlags) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let left = EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
        if events.intersects(left | EpollFlags::EPOLLRDHUP) {
            stream.note_left();
        }
        if events.intersects(left) || stream.flush().is_err() {
            self.drop_stream(id);
        } else {
            self.finish_if_over(id);
        }
    }

    /// Streams whose clients stay and do not read.
    fn drop_unread(&mut self) {
        let now = now_ns();
        let unread = self.streams.iter().filter(|(_, stream)| stream.is_left_unread(now));
        let unread: Vec<RequestId> = unread.map(|(id, _)| *id).collect();
        unread.into_iter().for_each(|id| self.drop_stream(id));
    }

    /// The client left, so its stream is no longer active.
    fn drop_stream(&mut self, id: RequestId) {
        self.schedule.cancel(now_ns(), id);
        if let Some(stream) = self.streams.remove(&id) {
            self.release(stream, AfterStream::Close);
        }
    }

    fn finish_if_over(&mut self, id: RequestId) {
        if self.streams.get(&id).is_some_and(Stream::is_over)
            && let Some(stream) = self.streams.remove(&id)
        {
            let outcome = stream.outcome();
            self.release(stream, outcome);
        }
    }

    /// Gives the socket back to its connection, which is waiting for the outcome.
    fn release(&mut self, stream: Stream, outcome: AfterStream) {
        if stream.call.run.is_recorded {
            self.records.push(stream.record());
        }
        let _ = self.epoll.delete(&*stream.call.socket);
        let finished = stream.call.finished.clone();
        drop(stream);
        let _ = finished.send(outcome);
    }
}
