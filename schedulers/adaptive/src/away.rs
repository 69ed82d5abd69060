//! A stretch of calls during which a site is kept from running inline, and when to look whether it
//! is over.
//!
//! Where only totals are told, a look is an inline call that may be long, and the budget pays for
//! few of them. So it matters when they are taken: a site whose cost changed and came back is
//! looked at when its last stretch was over, and from stretch to stretch the end is narrowed down.

/// Counts of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Away {
    /// Calls since the stretch began, with its first; 0 while there is none.
    since: u32,
    /// Offloaded calls until inline may be tried.
    left: u16,
    /// Calls offloaded since the last look.
    rest: u16,
    /// Calls of the last stretch until inline was found cheap again; 0 before one ended.
    length: u32,
    /// Calls of a stretch after which inline was last found dear.
    dear_at: u32,
}

impl Away {
    /// Whether the site is kept away.
    pub fn is_on(&self) -> bool {
        self.since > 0
    }

    /// Whether the time has come to look.
    pub fn is_due(&self) -> bool {
        self.left == 0
    }

    /// Whether so many calls were offloaded since the last look.
    pub fn rested(&self, calls: u32) -> bool {
        u32::from(self.rest) >= calls
    }

    /// A stretch begins with a call that was dear. `may_miss` says whether the budget pays for a
    /// look that comes too early, which narrows the end down.
    pub fn begin(&mut self, first_wait: u32, may_miss: bool) {
        let between = self.length.saturating_sub(self.dear_at);
        let end = match self.length {
            0 => first_wait.saturating_add(2),
            length if may_miss && between > length / 16 => length - between / 2,
            length => length,
        };
        self.since = 1;
        // The stretch's first call and the look itself are two of them.
        self.wait(end.saturating_sub(2).max(1));
    }

    /// It was not over after all.
    pub fn goes_on(&mut self, wait: u32) {
        self.since = self.since.max(self.length).max(1);
        self.wait(wait);
    }

    /// So many calls were offloaded.
    pub fn offloaded(&mut self, calls: u32) {
        if self.is_on() {
            self.since = self.since.saturating_add(calls);
        }
        self.left = short(u32::from(self.left).saturating_sub(calls));
        self.rest = short(u32::from(self.rest).saturating_add(calls));
    }

    /// A look is taken or cannot be paid for; either way the next may come after so many calls.
    pub fn look(&mut self, again_after: u32) {
        self.left = short(again_after);
    }

    /// A look found inline still dear: the next one comes when the last stretch ended, or after
    /// `wait` calls where that is over.
    pub fn still_dear(&mut self, wait: u32) {
        self.since = self.since.saturating_add(1);
        self.dear_at = self.since;
        self.wait(if self.since < self.length { self.length - self.since } else { wait });
    }

    /// A look found inline cheap.
    pub fn over(&mut self) {
        let length = self.since.saturating_add(1);
        if length < self.length || self.dear_at >= length {
            // It may have been over for long.
            self.dear_at = self.dear_at.min(length) / 2;
        }
        *self = Self { length, dear_at: self.dear_at, ..Self::default() };
    }

    fn wait(&mut self, calls: u32) {
        (self.left, self.rest) = (short(calls), 0);
    }

    pub fn words(self) -> [u64; 2] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let waits = u32::from(self.left) | u32::from(self.rest) << 16;
        [pair(self.since, waits), pair(self.length, self.dear_at)]
    }

    pub fn of_words([first, second]: [u64; 2]) -> Self {
        Self {
            since: first as u32,
            left: (first >> 32) as u16,
            rest: (first >> 48) as u16,
            length: second as u32,
            dear_at: (second >> 32) as u32,
        }
    }
}

fn short(calls: u32) -> u16 {
    calls.min(u32::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The call of a stretch of this length at which it is found over, and the looks before.
    fn stretch(away: &mut Away, length: u32, may_miss: bool) -> (u32, u32) {
        away.begin(16, may_miss);
        let (mut call, mut missed) = (1, 0);
        loop {
            while !away.is_due() {
                call += 1;
                away.offloaded(1);
            }
            call += 1;
            if call > length {
                away.over();
                return (call, missed);
            }
            missed += 1;
            away.still_dear(16 << missed);
        }
    }

    #[test]
    fn the_next_look_comes_when_the_last_stretch_was_over() {
        let mut away = Away::default();
        assert_eq!(stretch(&mut away, 500, false), (502, 4));
        assert_eq!(stretch(&mut away, 500, false), (502, 0));
        assert!(!away.is_on());
    }

    #[test]
    fn the_end_is_narrowed_down_where_the_budget_pays_for_it() {
        let mut away = Away::default();
        stretch(&mut away, 300, false);
        let found: Vec<_> = (0..8).map(|_| stretch(&mut away, 300, true)).collect();
        let late = found.iter().map(|&(call, _)| call - 300);
        assert!(late.skip(4).all(|late| late <= 20), "{found:?}");
        assert!(found.iter().all(|&(_, missed)| missed <= 1), "{found:?}");
    }

    #[test]
    fn words_hold_all_of_it() {
        let away = Away { since: 1 << 31, left: 65_535, rest: 7, length: 3, dear_at: 1 << 30 };
        assert_eq!(Away::of_words(away.words()), away);
    }
}
