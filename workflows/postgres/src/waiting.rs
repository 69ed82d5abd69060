//! Who waits in this process, for work or for the end of a task, and what they are told.

use std::mem::take;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    work: Condvar,
    told: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Workers that wait.
    idle: usize,
    /// How often there was work.
    calls: u64,
    ends: Ends,
}

/// What is known of the ends of tasks.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    /// Complete, told by whoever recorded the last step.
    pub(crate) complete: Vec<u32>,
    /// There may be others, for somebody lost his session before he knew.
    pub(crate) doubt: bool,
}

impl Waiting {
    /// To be asked before looking for work, and given to [`Self::work`].
    pub(crate) fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// Whether a worker waits.
    pub(crate) fn somebody(&self) -> bool {
        self.lock().idle > 0
    }

    /// There are so many steps that are nobody's.
    pub(crate) fn call(&self, steps: usize) {
        let mut state = self.lock();
        state.calls += 1;
        for _ in 0..steps.min(state.idle) {
            self.work.notify_one();
        }
    }

    /// Waits for work that was not there before these calls; false when none came for a while.
    pub(crate) fn work(&self, calls: u64, patience: Duration) -> bool {
        let mut state = self.lock();
        state.idle += 1;
        let none = |state: &mut State| state.calls == calls;
        let waited = self.work.wait_timeout_while(state, patience, none);
        state = waited.expect("nobody panics while it holds this").0;
        state.idle -= 1;
        state.calls != calls
    }

    /// Tells of ends.
    pub(crate) fn tell(&self, ends: Ends) {
        let mut state = self.lock();
        state.ends.complete.extend(ends.complete);
        state.ends.doubt |= ends.doubt;
        self.told.notify_all();
    }

    /// Waits for ends that were not heard before; gives none when none came for a while.
    pub(crate) fn hear(&self, patience: Duration) -> Ends {
        let none = |state: &mut State| state.ends.complete.is_empty() && !state.ends.doubt;
        let waited = self.told.wait_timeout_while(self.lock(), patience, none);
        take(&mut waited.expect("nobody panics while it holds this").0.ends)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while it holds this")
    }
}
