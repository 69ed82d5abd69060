//! When each token is due: a state machine without clock or socket.
//!
//! All active requests run at one common speed, 1 when a request is alone and
//! `rate(n) / rate(1)` when n share a GPU. So instead of rescaling the remaining work of every
//! request whenever one starts or ends, the schedule keeps one *virtual clock* that advances at
//! that speed, and stamps each step with the virtual time at which it will be done: the usual
//! form of processor sharing (Parekh and Gallager, "A generalized processor sharing approach to
//! flow control", IEEE/ACM Trans. Networking 1(3), 1993, section III). A change of speed then
//! costs O(1), a step O(log n).
//!
//! In [`Mode::Free`] virtual time is real time. Nothing that happens to one request moves another,
//! so one that is heard of late is due as if it had been heard of in time.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::spec::Mode;

/// Names a request within a schedule; later requests have larger numbers.
pub type RequestId = u64;

/// One step that has come due: the end of the prefill (and with it the first token) is step 0,
/// every further token one step more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Whose step.
    pub id: RequestId,
    /// When it was due, in the unit and origin of the caller's `now`.
    pub due_ns: u64,
    /// Its number within the request.
    pub index: usize,
    /// Whether the request has ended with it.
    pub last: bool,
}

/// The active and waiting requests of one server.
#[derive(Debug)]
pub struct Schedule {
    mode: Mode,
    rates: Vec<f64>,
    /// Virtual time `virtual_ns` belongs to real time `real_ns`; `speed` holds since then.
    real_ns: u64,
    virtual_ns: u64,
    speed: f64,
    /// The pending step of every active request, by virtual time and then by arrival.
    pending: BTreeSet<(u64, RequestId)>,
    active: HashMap<RequestId, Active>,
    waiting: VecDeque<(RequestId, Vec<u64>)>,
}

#[derive(Debug)]
struct Active {
    /// Work of each step: nanoseconds that it takes when the request is alone.
    work_ns: Vec<u64>,
    index: usize,
    due_virtual_ns: u64,
}

impl Schedule {
    /// An idle server. `rates` are tokens per second and stream with 1, 2, … active requests.
    ///
    /// # Panics
    /// When `rates` is empty.
    pub fn new(mode: Mode, rates: &[f64]) -> Self {
        assert!(!rates.is_empty(), "a schedule needs a rate");
        Self {
            mode,
            rates: rates.to_vec(),
            real_ns: 0,
            virtual_ns: 0,
            speed: 1.0,
            pending: BTreeSet::new(),
            active: HashMap::new(),
            waiting: VecDeque::new(),
        }
    }

    /// A request arrives. `work_ns` is the time that each of its steps takes when it is alone.
    ///
    /// The caller pops every step that is due by `now` first. Where requests share the server, an
    /// arrival is counted as having come at the last change or at the earliest pending step, if
    /// `now` lies outside them, for the past does not change.
    ///
    /// # Panics
    /// When `work_ns` is empty.
    pub fn start(&mut self, now: u64, id: RequestId, work_ns: Vec<u64>) {
        assert!(!work_ns.is_empty(), "a request needs at least one step");
        if self.mode == Mode::Free {
            self.activate(now, id, work_ns);
        } else if self.mode == Mode::Queue && !self.active.is_empty() {
            self.waiting.push_back((id, work_ns));
        } else {
            let now = self.not_beyond_the_next_step(now);
            self.settle(now);
            self.activate(self.virtual_ns, id, work_ns);
        }
    }

    /// A request is gone before its end; the others have the server to themselves from `now` on.
    pub fn cancel(&mut self, now: u64, id: RequestId) {
        self.waiting.retain(|(waiting, _)| *waiting != id);
        if let Some(gone) = self.active.get(&id) {
            let key = (gone.due_virtual_ns, id);
            let now = self.not_beyond_the_next_step(now);
            self.settle(now);
            self.pending.remove(&key);
            self.deactivate(id);
        }
    }

    /// When the next step is due.
    pub fn next_due(&self) -> Option<u64> {
        let (due_virtual_ns, _) = self.pending.first()?;
        if self.mode == Mode::Free {
            return Some(*due_virtual_ns);
        }
        let ahead = due_virtual_ns.saturating_sub(self.virtual_ns);
        Some(self.real_ns + (ahead as f64 / self.speed).ceil() as u64)
    }

    /// The next step, if it is due by `now`.
    pub fn pop(&mut self, now: u64) -> Option<Step> {
        let due_ns = self.next_due().filter(|due| *due <= now)?;
        let (_, id) = self.pending.pop_first()?;
        let request = self.active.get_mut(&id)?;
        let index = request.index;
        let last = index + 1 == request.work_ns.len();
        if last {
            self.settle(due_ns);
            self.deactivate(id);
        } else {
            request.index += 1;
            request.due_virtual_ns += request.work_ns[request.index];
            self.pending.insert((request.due_virtual_ns, id));
        }
        Some(Step { id, due_ns, index, last })
    }

    /// How many requests are prefilling or decoding.
    pub fn active(&self) -> usize {
        self.active.len()
    }

    fn not_beyond_the_next_step(&self, now: u64) -> u64 {
        self.next_due().map_or(now, |due| now.min(due))
    }

    /// Brings the virtual clock up to `now`, because the speed is about to change.
    fn settle(&mut self, now: u64) {
        if self.mode == Mode::Free {
            return;
        }
        let elapsed = now.saturating_sub(self.real_ns);
        self.virtual_ns += (elapsed as f64 * self.speed) as u64;
        self.real_ns += elapsed;
    }

    /// `virtual_ns` is when its work begins.
    fn activate(&mut self, virtual_ns: u64, id: RequestId, work_ns: Vec<u64>) {
        let due_virtual_ns = virtual_ns + work_ns[0];
        self.pending.insert((due_virtual_ns, id));
        self.active.insert(id, Active { work_ns, index: 0, due_virtual_ns });
        self.set_speed();
    }

    fn deactivate(&mut self, id: RequestId) {
        self.active.remove(&id);
        match self.waiting.pop_front() {
            Some((next, work_ns)) => self.activate(self.virtual_ns, next, work_ns),
            None => self.set_speed(),
        }
    }

    fn set_speed(&mut self) {
        if self.mode == Mode::SharedGpu {
            let row = self.active.len().clamp(1, self.rates.len()) - 1;
            self.speed = self.rates[row] / self.rates[0];
        }
    }
}
