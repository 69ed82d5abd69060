//! What the sessions of a back end have counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use workflows_kit::{Counters, RunError};

/// Of all sessions of the back end, and of its connections to a broker where it has one.
#[derive(Debug, Default)]
pub struct Counts {
    statements: AtomicU64,
    commits: AtomicU64,
    messages: AtomicU64,
    reconnections: AtomicU64,
    /// Read by whoever is about to change something, until that is counted.
    changes: RwLock<()>,
}

impl Counts {
    /// Taken before a statement that may change something and kept until that is counted: others
    /// may be told of the change, and ask for the counts, before its own session is.
    pub fn change(&self) -> RwLockReadGuard<'_, ()> {
        self.changes.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A statement that a task needs.
    pub(crate) fn statement(&self) {
        self.statements.fetch_add(1, Relaxed);
    }

    /// A statement that changed something.
    pub fn commit(&self) {
        self.commits.fetch_add(1, Relaxed);
    }

    /// Messages, said before they are sent: who is told by one finds it counted.
    pub fn messages(&self, count: u64) {
        self.messages.fetch_add(count, Relaxed);
    }

    /// A session or a connection was lost, for this reason.
    ///
    /// # Errors
    /// So many were that this will not end.
    pub fn reconnected(&self, why: &str) -> Result<(), RunError> {
        if self.reconnections.fetch_add(1, Relaxed) > RECONNECTIONS_MOST {
            return Err(RunError::failed(format!("too many connections were lost: {why}")));
        }
        Ok(())
    }

    /// Statements, commits, messages, reconnections. Waits for the changes that are under way.
    pub fn numbers(&self) -> [u64; 4] {
        let _none = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        [&self.statements, &self.commits, &self.messages, &self.reconnections]
            .map(|count| count.load(Relaxed))
    }
}

/// [`Counts::numbers`] by the protocol's names.
pub fn named(numbers: [u64; 4]) -> Counters {
    ["statements", "commits", "messages", "reconnections"].into_iter().zip(numbers).collect()
}

pub(crate) const RECONNECTIONS_MOST: u64 = 100;

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_wait_for_a_change_that_is_not_counted_yet() {
        let counts = Counts::default();
        let (began, begun) = channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let _change = counts.change();
                began.send(()).unwrap();
                thread::sleep(Duration::from_millis(50));
                counts.commit();
            });
            begun.recv().unwrap();
            assert_eq!(counts.numbers(), [0, 1, 0, 0]);
        });
    }

    #[test]
    fn a_run_that_loses_every_connection_ends() {
        let counts = Counts::default();
        let failed = (0..=RECONNECTIONS_MOST + 1).find_map(|_| counts.reconnected("gone").err());
        assert_eq!(failed.unwrap().to_string(), "too many connections were lost: gone");
    }
}
