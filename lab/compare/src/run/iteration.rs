//! The number of a run, which commands find as hyperfine gives it.

/// The variable.
const VARIABLE: &str = "HYPERFINE_ITERATION";
/// Letters of the longest number.
const LETTERS: usize = 16;

/// Which run of its command comes: all commands of a round have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Iteration {
    /// One that does not count.
    Warmup(usize),
    /// One that counts, and what checks it before.
    Run(usize),
}

impl Default for Iteration {
    fn default() -> Self {
        Self::Run(0)
    }
}

impl Iteration {
    /// The name and the value of the variable.
    pub(super) fn variable(self) -> (String, String) {
        (VARIABLE.to_owned(), self.value())
    }

    fn value(self) -> String {
        match self {
            Self::Warmup(number) => format!("warmup-{number}"),
            Self::Run(number) => number.to_string(),
        }
    }

    /// The bytes by which it is shorter than the longest: a tenth round moves no stack.
    pub(super) fn room(self) -> usize {
        LETTERS.saturating_sub(self.value().len())
    }

    /// Of this run in a row of several a round.
    pub(super) fn in_a_row(self, times: u32, at: u32) -> Self {
        let number = |round: usize| round * times as usize + at as usize;
        match self {
            Self::Warmup(round) => Self::Warmup(number(round)),
            Self::Run(round) => Self::Run(number(round)),
        }
    }

    /// Behind how a run failed.
    pub(super) fn told(self) -> String {
        match self {
            Self::Warmup(number) => format!(" in warmup run {}", number + 1),
            Self::Run(number) => format!(" in run {}", number + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_fills_the_same_room() {
        let size = |iteration: Iteration| iteration.variable().1.len() + iteration.room();
        let all = [Iteration::Run(9), Iteration::Run(10), Iteration::Warmup(3)].map(size);
        assert_eq!(all, [LETTERS; 3]);
    }

    #[test]
    fn runs_in_a_row_are_counted_on() {
        let numbers = (0..2).flat_map(|round| {
            (0..3).map(move |at| Iteration::Run(round).in_a_row(3, at).variable().1)
        });
        assert!(numbers.eq(["0", "1", "2", "3", "4", "5"]));
    }
}
