//! Words that are planted at a stated frequency, so that queries of known selectivity exist.
//!
//! Which messages get a needle follows from the seed and their number alone: in every run of `of`
//! messages exactly one is chosen, at random. So the frequency holds in every part of the corpus,
//! and the manifest has the exact counts.

use serde::{Deserialize, Serialize};

use crate::kind::Kind;
use crate::random::{Random, Stream};

/// A word, where it stands and how often.
pub(crate) struct Needle {
    pub(crate) word: &'static str,
    /// One message of so many is chosen; 0 for the word that only hostile files have.
    pub(crate) of: u64,
    /// Whether all but the chosen ones get it.
    pub(crate) all_but_one: bool,
    /// How many messages of a run are chosen in the kind `dense`: that many in a row.
    pub(crate) dense: u64,
    /// Whether it is written `Word` in some lines, so that letter case matters.
    pub(crate) cased: bool,
    /// Whether as many other lines have it outside of the message: bytes that a search of the
    /// line finds and a search of the message must not.
    pub(crate) decoy: bool,
}

/// Every needle. None is a part of another, of a word, of a name or of a number in hexadecimal.
pub(crate) const NEEDLES: [Needle; 6] = [
    Needle { word: "claude", of: 16, all_but_one: true, dense: 1, cased: false, decoy: false },
    Needle { word: "narwhal", of: 10, all_but_one: false, dense: 3, cased: true, decoy: false },
    Needle { word: "quokka", of: 1_000, all_but_one: false, dense: 1, cased: false, decoy: false },
    Needle { word: "pangolin", of: 1_000, all_but_one: false, dense: 1, cased: false, decoy: true },
    Needle {
        word: "zyzzyva",
        of: 100_000,
        all_but_one: false,
        dense: 1,
        cased: false,
        decoy: false,
    },
    Needle { word: HOSTILE, of: 0, all_but_one: false, dense: 1, cased: false, decoy: false },
];

/// The word that hostile files ask for, in each of its spellings.
pub(crate) const HOSTILE: &str = "axolotl";

/// The index of [`HOSTILE`].
pub(crate) const HOSTILE_INDEX: usize = NEEDLES.len() - 1;

/// How often one needle stands in a file or in the corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedleCount {
    /// The word, in small letters.
    pub word: String,
    /// Lines whose bytes have the word, in any case of its letters, valid or not.
    pub lines: u64,
    /// Lines whose bytes have the word in small letters.
    pub lines_exact_case: u64,
    /// Messages whose text has the word in any case, once escapes are resolved.
    pub messages: u64,
}

impl NeedleCount {
    pub(crate) fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.lines_exact_case += other.lines_exact_case;
        self.messages += other.messages;
    }
}

/// A count of nothing yet for each needle.
pub(crate) fn none() -> Vec<NeedleCount> {
    NEEDLES
        .iter()
        .map(|needle| NeedleCount { word: needle.word.to_owned(), ..Default::default() })
        .collect()
}

/// How a needle stands in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Spelling {
    #[default]
    Absent,
    /// In small letters.
    Small,
    /// With a capital first.
    Capital,
}

/// What the next message is to contain, an entry for each of [`NEEDLES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// In the message's text.
    pub(crate) text: [Spelling; NEEDLES.len()],
    /// Elsewhere in the line, in small letters.
    pub(crate) decoy: [bool; NEEDLES.len()],
}

impl Due {
    /// Counts a line that has what was due.
    pub(crate) fn count(&self, counts: &mut [NeedleCount]) {
        for (index, count) in counts.iter_mut().enumerate() {
            let (spelling, decoy) = (self.text[index], self.decoy[index]);
            count.messages += u64::from(spelling != Spelling::Absent);
            count.lines += u64::from(spelling != Spelling::Absent || decoy);
            count.lines_exact_case += u64::from(spelling == Spelling::Small || decoy);
        }
    }
}

/// Says for each message of the corpus, in order, what is planted in it.
pub(crate) struct Schedule {
    random: Random,
    kind: Kind,
    message: u64,
    /// The chosen message of each needle's current run, and its decoy's.
    chosen: [(u64, u64); NEEDLES.len()],
}

impl Schedule {
    pub(crate) fn new(seed: u64, kind: Kind) -> Self {
        let random = Random::new(seed, Stream::Needles);
        Self { random, kind, message: 0, chosen: [(0, 0); NEEDLES.len()] }
    }

    pub(crate) fn next(&mut self) -> Due {
        let mut due = Due::default();
        for (index, needle) in NEEDLES.iter().enumerate().filter(|(_, needle)| needle.of > 0) {
            let place = self.message % needle.of;
            if place == 0 {
                let chosen = self.random.below(needle.of);
                // Anywhere but in the same message.
                let away = 1 + self.random.below(needle.of - 1);
                self.chosen[index] = (chosen, (chosen + away) % needle.of);
            }
            let (chosen, decoy) = self.chosen[index];
            let row = if self.kind == Kind::Dense { needle.dense } else { 1 };
            let is_chosen = (place + needle.of - chosen) % needle.of < row;
            if is_chosen != needle.all_but_one {
                let capital = needle.cased && self.random.once_in(4);
                due.text[index] = if capital { Spelling::Capital } else { Spelling::Small };
            }
            due.decoy[index] = needle.decoy && place == decoy;
        }
        self.message += 1;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_messages_have_exactly_the_stated_counts() {
        let mut schedule = Schedule::new(7, Kind::Sessions);
        let mut counts = none();
        (0..100_000).for_each(|_| schedule.next().count(&mut counts));
        let messages: Vec<u64> = counts.iter().map(|count| count.messages).collect();
        assert_eq!(messages, [93_750, 10_000, 100, 100, 1, 0]);
        assert_eq!((counts[3].lines, counts[3].lines_exact_case), (200, 200), "with decoys");
        assert!((7_000..8_000).contains(&counts[1].lines_exact_case), "a quarter is capital");
        let (mut schedule, mut counts) = (Schedule::new(7, Kind::Dense), none());
        (0..100_000).for_each(|_| schedule.next().count(&mut counts));
        assert_eq!((counts[0].messages, counts[1].messages), (93_750, 30_000));
    }
}
