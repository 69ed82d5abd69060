//! When the loop has to look at a silent connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// One entry for each connection that is watched, the earliest first.
///
/// A connection's deadline moves with every token, its entry does not: a deadline only ever moves
/// away, so the entry is early at worst, and then it is put back. A token costs the heap nothing.
#[derive(Debug, Default)]
pub struct Deadlines(BinaryHeap<Reverse<(Instant, usize)>>);

impl Deadlines {
    /// Watches a connection.
    pub fn push(&mut self, deadline: Instant, connection: usize) {
        self.0.push(Reverse((deadline, connection)));
    }

    /// How long nobody has to be looked at; `None` where nobody is watched.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        let Reverse((earliest, _)) = self.0.peek()?;
        Some(earliest.saturating_duration_since(now))
    }

    /// Takes out a connection whose entry is due.
    pub fn pop_due(&mut self, now: Instant) -> Option<usize> {
        let &Reverse((earliest, connection)) = self.0.peek()?;
        if earliest > now {
            return None;
        }
        self.0.pop();
        Some(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_none_before_its_time() {
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        let mut deadlines = Deadlines::default();
        assert_eq!((deadlines.wait(now), deadlines.pop_due(now)), (None, None));
        for (ms, connection) in [(30, 0), (10, 1), (20, 2)] {
            deadlines.push(after(ms), connection);
        }
        assert_eq!(deadlines.wait(now), Some(Duration::from_millis(10)));
        assert_eq!(deadlines.wait(after(15)), Some(Duration::ZERO));
        let due = |deadlines: &mut Deadlines, ms| deadlines.pop_due(after(ms));
        assert_eq!(due(&mut deadlines, 9), None);
        assert_eq!([20, 20, 20].map(|ms| due(&mut deadlines, ms)), [Some(1), Some(2), None]);
        assert_eq!(due(&mut deadlines, 30), Some(0));
    }
}
