//! Words with the frequencies of a language: the r-th most frequent is drawn in proportion to
//! 1/(r + 2), Zipf's law with Mandelbrot's shift (Mandelbrot, "An informational theory of the
//! statistical structure of language", 1953).
//!
//! Integers only, so that a draw is the same on every machine.

use crate::random::Random;

/// The frequent words, the most frequent first. No needle is a part of any of them.
const FREQUENT: &str = "
the to of and a in is that it for on this with be as you are we not from file or have by was an if
can test error code function but all will line should now use when let run there so which new what
then build my path one result data at type I need see value add they its fix has more first do only
how here output check command same read return set time string make name into case list call also
main config does than found change using update no start server other after just create work been
each any both like tests where some key version two user write used find import was lib state look
next request task thread move index struct get change field module still good since before right
directory without because response message log size remove second implementation last issue empty
problem done support number instead already current missing would way every parse files client
default lines called table might order point them works panic their between out keep cache while
process failed handle method buffer reads adding stream channel memory works single compile up me
passes until writes option branch commit merge rename refactor lock queue poll future await async
runtime worker pool schedule latency throughput measure sample median report plan record block cell
page mapped kernel socket retry timeout header body token model prompt context session agent tool
json yaml toml schema parser lexer syntax tree node leaf root graph edge sort search filter query
match regex pattern word count total average sum mean rate limit bound upper lower range window
offset length width height column row matrix vector array slice pointer borrow lifetime trait impl
generic closure iterator macro crate package workspace dependency feature flag release debug profile
linker symbol binary library shell script docker image container volume network port address host
database migration transaction rollback snapshot replica shard partition leader follower quorum
consensus clock drift monotonic epoch zone calendar locale unicode escape quote bracket comma colon
semicolon newline whitespace indent format lint warning hint verbose quiet strict loose maximum
minimum average deprecated obsolete legacy modern portable native foreign upstream downstream
";

/// Consonants and vowels of the rare words. Every needle has a letter that these lack.
const ONSETS: [&str; 16] =
    ["b", "d", "f", "g", "h", "j", "l", "m", "p", "r", "s", "t", "v", "w", "st", "tr"];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "ea", "ai", "oo", "ie"];

/// Words in all; a power of two is not needed, room in `u16` is.
const VOCABULARY: usize = 4096;

/// Draws come from 16 bits each, four of them from one step of the generator.
const SLOTS: usize = 1 << 16;

/// The vocabulary and a table to draw from it.
pub(crate) struct Words {
    text: Vec<u8>,
    /// Where each word begins and how many bytes it has.
    places: Vec<(u32, u8)>,
    /// The word of each 16-bit number, as often as the word is frequent.
    slots: Vec<u16>,
}

impl Words {
    pub(crate) fn new() -> Self {
        let frequent = FREQUENT.split_ascii_whitespace().map(str::to_owned);
        let words: Vec<String> = frequent.chain((0..).map(rare)).take(VOCABULARY).collect();
        let mut text = Vec::new();
        let mut places = Vec::new();
        for word in &words {
            places.push((text.len() as u32, word.len() as u8));
            text.extend_from_slice(word.as_bytes());
        }
        Self { text, places, slots: slots(VOCABULARY) }
    }

    /// The word of a 16-bit number.
    pub(crate) fn word(&self, draw: u16) -> &[u8] {
        let (start, length) = self.places[usize::from(self.slots[usize::from(draw)])];
        &self.text[start as usize..start as usize + usize::from(length)]
    }

    /// Appends `count` words, each followed by a space.
    pub(crate) fn append(&self, count: usize, random: &mut Random, out: &mut Vec<u8>) {
        let mut left = count;
        while left > 0 {
            let draws = random.bits();
            for quarter in 0..left.min(4) {
                out.extend_from_slice(self.word((draws >> (16 * quarter)) as u16));
                out.push(b' ');
            }
            left -= left.min(4);
        }
    }
}

/// A word of two or three syllables for each number; the first 16384 are all different.
fn rare(number: usize) -> String {
    let syllable = |number: usize| [ONSETS[number % 16], VOWELS[number / 16 % 8]].concat();
    let (first, second) = (syllable(number % 128), syllable(number / 128 % 128));
    let ending = ["n", "r", "s", "tion", "ly", "ment", "d", ""][number % 8];
    format!("{first}{second}{ending}")
}

/// Shares the numbers out in proportion to 1/(rank + 2); what rounding leaves goes to the first.
fn slots(words: usize) -> Vec<u16> {
    let weight = |rank: usize| (1_u64 << 40) / (rank as u64 + 2);
    let total: u64 = (0..words).map(weight).sum();
    let share = |rank: usize| weight(rank) * SLOTS as u64 / total;
    let mut slots = Vec::with_capacity(SLOTS);
    for rank in 0..words {
        slots.extend(std::iter::repeat_n(rank as u16, share(rank) as usize));
    }
    slots.resize(SLOTS, 0);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needles::NEEDLES;

    #[test]
    fn no_word_hides_a_needle() {
        let words = Words::new();
        let text = String::from_utf8(words.text.clone()).unwrap();
        assert!(NEEDLES.iter().all(|needle| !text.contains(needle.word)));
        assert!(words.places.len() == VOCABULARY && text.is_ascii());
    }

    #[test]
    fn frequencies_follow_the_law() {
        let slots = slots(VOCABULARY);
        let count = |rank: u16| slots.iter().filter(|slot| **slot == rank).count();
        // 1/(10 + 2) against 1/(100 + 2), up to the rounding of the rarer one.
        assert!((8..=9).contains(&(count(10) / count(100))));
        assert!(count(VOCABULARY as u16 - 1) >= 1, "every word can be drawn");
    }
}
