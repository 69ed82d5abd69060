//! What a matching line's raw bytes must hold, found in whole buffers.
//!
//! A query's literals stand in the line as they are, unless JSON escapes them. So a needle holds no
//! character that is usually escaped (quotes, backslashes, control characters) and no slash, which
//! may be. Beyond ASCII each spelling is a needle; a line that spells one of ASCII as `\u00XX`
//! passes unseen.
//!
//! One needle is looked for by its rarest bytes, a few by the rarest three that follow each other,
//! in registers; many by an automaton, which looks at every byte once, however many they are (Aho
//! and Corasick, CACM 18(6), 1975). Which bytes are rare is told from what is searched.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr_iter, memmem};
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::find::{self, Finder, Frequencies, Trigrams};
use crate::lines::each_line;
use crate::parse::unit;
use crate::query::{Expr, Query, stands_for_itself};
use crate::scan::{self, Pair, Pass, Place, Probes};
use crate::spelling::{Letters, finders, forms};
use crate::times::Times;

/// More needles than this are an automaton's.
const MOST_TRIGRAMS: usize = 32;

/// A line that may match, and where it has a needle or an escape that may hide one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) hit: usize,
}

/// Which lines to parse.
#[derive(Debug, Clone)]
pub struct Prefilter {
    /// Each candidate line holds one of these, or an escape.
    any: Vec<Finder>,
    /// How these and the escapes are looked for.
    by: By,
    /// What else it holds; `None` where the first finders say all.
    need: Option<Need>,
    /// When it was written, if that is asked for.
    times: Option<Times>,
    /// Those that may hide one of the first.
    escapes: Escapes,
    /// Those that may hide anything that it holds.
    all_escapes: Escapes,
    /// Whether nobody asks how many lines there are.
    is_free: bool,
    /// Whether a sample has few of them, so that each may be looked at.
    has_few_escapes: bool,
}

/// A way of looking for several things in one pass.
#[derive(Debug, Clone)]
enum By {
    Probes(Probes),
    /// Two bytes of one needle, where newlines need not be counted and escapes are few.
    Pair(Pair),
    Trigrams(Trigrams),
    /// The needles in either case and, behind them, what every escape begins with.
    Automaton(Box<AhoCorasick>),
    /// There is nothing to look for but what each line has.
    Lines,
}

/// What a line's bytes must hold.
#[derive(Debug, Clone)]
enum Need {
    Nothing,
    /// One of these, which are the spellings of one literal.
    One(Vec<Finder>),
    All(Vec<Need>),
    Any(Vec<Need>),
}

impl Prefilter {
    /// `None` where every line may match.
    pub(crate) fn new(query: &Query) -> Option<Self> {
        // These are compared as they are, so their pieces must be there, too.
        let fields = [&query.roles, &query.sessions].map(|texts| Need::one_of(texts, Need::field));
        Self::of(query, fields.into(), Times::of(query.window), false)
    }

    /// For lines of any shape that may have to be repaired: a field may lack its end, and a time
    /// stands behind another key.
    pub(crate) fn lenient(query: &Query) -> Option<Self> {
        let fields = [&query.roles, &query.sessions];
        let need = |text: &str| Need::literal(text, true, true);
        let fields = fields.map(|texts| Need::one_of(texts, need));
        Self::of(query, fields.into(), Times::lenient(query.window), true)
    }

    /// `nests` where a string may hold JSON that has a literal's letters as escapes.
    fn of(query: &Query, mut needs: Vec<Need>, times: Option<Times>, nests: bool) -> Option<Self> {
        needs.insert(0, Need::of(&query.expr, nests));
        needs.extend(query.project.iter().map(|text| Need::literal(text, true, nests)));
        let need = Need::all(needs);
        let any = need.rarest().or_else(|| times.as_ref().map(|_| Vec::new()))?;
        let escapes = Escapes::hiding(&any);
        let mut all: Vec<&Finder> = times.iter().map(Times::key).collect();
        need.collect(&mut all);
        let all_escapes = Escapes::hiding(all);
        let need = (!need.is_any_of_one()).then_some(need);
        let by = By::of(&any, &Frequencies::guess());
        let (is_free, has_few_escapes) = (nests, false);
        Some(Self { any, by, need, times, escapes, all_escapes, is_free, has_few_escapes })
    }

    /// Looks for what is rare in a piece of what is searched.
    pub(crate) fn tune(&mut self, sample: &[u8]) {
        if matches!(self.by, By::Automaton(_) | By::Lines) {
            return;
        }
        let frequencies = Frequencies::of(sample);
        self.any.iter_mut().for_each(|finder| finder.tune(&frequencies));
        self.has_few_escapes = self.is_free && find::has_few_escapes(sample);
        let pair = match &self.any[..] {
            [needle] if self.has_few_escapes => needle.rare_pair(sample),
            _ => None,
        };
        self.by = pair.map_or_else(|| By::of(&self.any, &frequencies), By::Pair);
    }

    /// Collects the lines of `lines` that may match, in their order, and counts newlines.
    pub(crate) fn candidates(
        &self,
        lines: &[u8],
        pass: &mut Pass,
        candidates: &mut Vec<Candidate>,
    ) -> u64 {
        if matches!(self.by, By::Lines) {
            return each_line(lines, |start, end| {
                if self.admits(&lines[start..end]) {
                    candidates.push(Candidate { start, end, hit: start });
                }
            });
        }
        (pass.at, pass.newlines) = (0, 0);
        pass.has_few_escapes = self.has_few_escapes;
        // Of a line that was looked at, further hits say nothing new.
        let mut done = 0;
        while pass.at < lines.len() {
            pass.places.clear();
            self.look(lines, pass);
            for place in &pass.places {
                if place.at < done {
                    continue;
                }
                let Some(hit) = self.hit(lines, *place) else { continue };
                let start = scan::newline_before(&lines[done..], place.at - done);
                let start = start.map_or(done, |newline| done + newline + 1);
                let end = scan::newline_from(lines, place.at).unwrap_or(lines.len());
                if self.admits(&lines[start..end]) {
                    candidates.push(Candidate { start, end, hit });
                }
                done = (end + 1).min(lines.len());
            }
        }
        pass.newlines
    }

    /// Goes on where the pass has come to.
    fn look(&self, lines: &[u8], pass: &mut Pass) {
        match &self.by {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor can, as the condition makes sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            By::Probes(needle) if scan::has_registers() => unsafe {
                scan::probed(lines, needle, pass);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor can, as the condition makes sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            By::Trigrams(trigrams) if scan::has_registers() => unsafe {
                scan::trigrams(lines, trigrams, pass);
            },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor can, as the condition makes sure.
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            By::Pair(pair) if scan::has_registers() => unsafe { scan::paired(lines, pair, pass) },
            By::Probes(_) | By::Pair(_) | By::Trigrams(_) | By::Lines => pass.rest(lines),
            By::Automaton(automaton) => {
                let found = automaton.find_overlapping_iter(lines);
                let places = found.map(|found| Place { at: found.start(), buckets: u8::MAX });
                pass.places.extend(places);
                pass.newlines = memchr_iter(b'\n', lines).count() as u64;
                pass.at = lines.len();
            }
        }
    }

    /// Where the needle begins that a place belongs to, or the escape that may hide one.
    fn hit(&self, lines: &[u8], place: Place) -> Option<usize> {
        let found = match &self.by {
            By::Trigrams(trigrams) => trigrams.start(lines, place, &self.any),
            By::Pair(pair) => {
                let start = place.at.checked_sub(pair.probes[0].offset);
                start.filter(|&start| self.any[0].is_at(lines, start))
            }
            By::Probes(_) | By::Automaton(_) | By::Lines => {
                self.any.iter().any(|finder| finder.is_at(lines, place.at)).then_some(place.at)
            }
        };
        found.or_else(|| self.is_escape(lines, place.at).then_some(place.at))
    }

    fn is_escape(&self, lines: &[u8], at: usize) -> bool {
        lines[at..].starts_with(b"\\u") && self.escapes.hides(&lines[at + 2..])
    }

    fn admits(&self, line: &[u8]) -> bool {
        let has_all = self.need.as_ref().is_none_or(|need| need.is_in(line))
            && self.times.as_ref().is_none_or(|times| times.may_be_in(line));
        has_all || self.all_escapes.find_any(line)
    }
}

impl By {
    fn of(needles: &[Finder], frequencies: &Frequencies) -> Self {
        match needles {
            [] => return Self::Lines,
            [needle] => return Self::Probes(needle.probes()),
            _ => {}
        }
        if needles.len() <= MOST_TRIGRAMS {
            return Self::Trigrams(Trigrams::new(needles, frequencies));
        }
        let patterns = needles.iter().map(Finder::needle).chain([&b"\\u"[..]]);
        // Every match, also one inside another: which of them counts is decided by its case.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(patterns)
            .expect("a query is shorter than an automaton's largest pattern");
        Self::Automaton(Box::new(automaton))
    }
}

impl Need {
    fn of(expr: &Expr, nests: bool) -> Self {
        match expr {
            // What is not there leaves no trace.
            Expr::All | Expr::Not(_) => Self::Nothing,
            Expr::Literal(literal) => Self::literal(&literal.text, literal.case_sensitive, nests),
            Expr::Regex(_, hir) => Self::of_pattern(hir, nests),
            Expr::And(all) => Self::all(all.iter().map(|expr| Self::of(expr, nests)).collect()),
            Expr::Or(any) => Self::any(any.iter().map(|expr| Self::of(expr, nests)).collect()),
        }
    }

    fn literal(text: &str, case_sensitive: bool, nests: bool) -> Self {
        let forms = |letter| if case_sensitive { vec![letter] } else { forms(letter) };
        Self::all(pieces(text.chars().map(|letter| Some(forms(letter))), nests))
    }

    /// A field that is this text, in its own case, between the quotes that every string has.
    fn field(text: &str) -> Self {
        if text.is_empty()
            || !text.chars().all(|letter| letter.is_ascii() && stands_for_itself(letter))
        {
            return Self::literal(text, true, false);
        }
        Self::One(vec![Finder::exact(&format!("\"{text}\""))])
    }

    /// A field that is one of these texts; any where there is none.
    fn one_of(texts: &[String], need: impl Fn(&str) -> Self) -> Self {
        match texts {
            [] => Self::Nothing,
            [one] => need(one),
            many => Self::any(many.iter().map(|text| need(text)).collect()),
        }
    }

    /// The literals that every match of a pattern has.
    fn of_pattern(hir: &Hir, nests: bool) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::Nothing,
            HirKind::Literal(_) | HirKind::Class(_) => Self::all(pieces(letters(hir), nests)),
            HirKind::Capture(capture) => Self::of_pattern(&capture.sub, nests),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                Self::of_pattern(&repetition.sub, nests)
            }
            HirKind::Repetition(_) => Self::Nothing,
            HirKind::Alternation(any) => {
                Self::any(any.iter().map(|hir| Self::of_pattern(hir, nests)).collect())
            }
            HirKind::Concat(all) => {
                let simple =
                    |hir: &&Hir| matches!(hir.kind(), HirKind::Literal(_) | HirKind::Class(_));
                // Neighbours that are single letters make one needle.
                let letters = all.iter().flat_map(|hir| match simple(&hir) {
                    true => letters(hir),
                    false => vec![None],
                });
                let mut needs = pieces(letters, nests);
                let rest = all.iter().filter(|hir| !simple(hir));
                needs.extend(rest.map(|hir| Self::of_pattern(hir, nests)));
                Self::all(needs)
            }
        }
    }

    fn all(needs: Vec<Self>) -> Self {
        let mut flat = Vec::new();
        for need in needs {
            match need {
                Self::Nothing => {}
                Self::All(needs) => flat.extend(needs),
                need => flat.push(need),
            }
        }
        match flat.len() {
            0 => Self::Nothing,
            1 => flat.remove(0),
            _ => Self::All(flat),
        }
    }

    fn any(needs: Vec<Self>) -> Self {
        if needs.iter().any(|need| matches!(need, Self::Nothing)) {
            return Self::Nothing;
        }
        Self::Any(needs)
    }

    /// Whether a line that has one of the rarest needles has all that it needs.
    fn is_any_of_one(&self) -> bool {
        match self {
            Self::One(_) => true,
            Self::Any(needs) => needs.iter().all(Self::is_any_of_one),
            Self::Nothing | Self::All(_) => false,
        }
    }

    fn is_in(&self, line: &[u8]) -> bool {
        match self {
            Self::Nothing => true,
            Self::One(spellings) => spellings.iter().any(|finder| finder.find(line).is_some()),
            Self::All(needs) => needs.iter().all(|need| need.is_in(line)),
            Self::Any(needs) => needs.iter().any(|need| need.is_in(line)),
        }
    }

    fn collect<'a>(&'a self, finders: &mut Vec<&'a Finder>) {
        match self {
            Self::Nothing => {}
            Self::One(spellings) => finders.extend(spellings),
            Self::All(needs) | Self::Any(needs) => {
                needs.iter().for_each(|need| need.collect(finders));
            }
        }
    }

    /// The fewest lines have one of these; `None` where every line may match.
    fn rarest(&self) -> Option<Vec<Finder>> {
        match self {
            Self::Nothing => None,
            Self::One(spellings) => Some(spellings.clone()),
            Self::All(needs) => {
                let surprise =
                    |any: &Vec<Finder>| any.iter().map(Finder::surprise).min().unwrap_or_default();
                needs.iter().filter_map(Self::rarest).max_by_key(surprise)
            }
            Self::Any(needs) => {
                let each: Option<Vec<_>> = needs.iter().map(Self::rarest).collect();
                each.map(|any| any.concat())
            }
        }
    }
}

/// What a letter may be, or `None` for what no needle can hold.
type Letter = Option<Vec<char>>;

/// The letters of a literal or of a class that is one ASCII letter in both cases.
fn letters(hir: &Hir) -> Vec<Letter> {
    match hir.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => text.chars().map(|letter| Some(vec![letter])).collect(),
            Err(_) => vec![None],
        },
        HirKind::Class(Class::Unicode(class)) => {
            let letter = match class.ranges() {
                [upper, lower]
                    if upper.start() == upper.end()
                        && lower.start() == lower.end()
                        && upper.start().is_ascii_uppercase()
                        && upper.start().to_ascii_lowercase() == lower.start() =>
                {
                    Some(vec![lower.start(), upper.start()])
                }
                _ => None,
            };
            vec![letter]
        }
        _ => vec![None],
    }
}

/// The needles between the letters that a needle cannot hold.
fn pieces(letters: impl IntoIterator<Item = Letter>, nests: bool) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut piece = Letters::new();
    for letter in letters.into_iter().chain([None]) {
        match letter.filter(|forms| forms.iter().all(|&letter| stands_for_itself(letter))) {
            Some(forms) => piece.push(forms),
            None if piece.is_empty() => {}
            None => needs.push(Need::One(finders(std::mem::take(&mut piece), nests))),
        }
    }
    needs
}

/// `\u00XX` of the characters of ASCII that needles hold, letters in both cases.
#[derive(Debug, Clone)]
struct Escapes(Box<[bool; 128]>);

impl Escapes {
    fn hiding<'a>(needles: impl IntoIterator<Item = &'a Finder>) -> Self {
        let mut ascii = Box::new([false; 128]);
        for byte in needles.into_iter().flat_map(Finder::ascii) {
            ascii[usize::from(byte.to_ascii_lowercase())] = true;
            ascii[usize::from(byte.to_ascii_uppercase())] = true;
        }
        Self(ascii)
    }

    /// Whether a line holds any of them.
    fn find_any(&self, line: &[u8]) -> bool {
        memmem::find_iter(line, "\\u00").any(|at| self.hides(&line[at + 2..]))
    }

    fn hides(&self, digits: &[u8]) -> bool {
        // Other digits are no escape: a backslash that was escaped itself, or an invalid line.
        unit(digits).is_some_and(|unit| unit < 128 && self.0[usize::from(unit)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wanted;

    /// The needles that a candidate holds one of.
    fn needles(text: &str) -> Option<Vec<String>> {
        let query = Wanted { text: text.to_owned(), ..Default::default() };
        let prefilter = Prefilter::new(&Query::compile(&query).unwrap())?;
        let text = |finder: &Finder| String::from_utf8(finder.needle().to_vec()).unwrap();
        Some(prefilter.any.iter().map(text).collect())
    }

    #[test]
    fn the_rarest_needles_are_looked_for() {
        for (text, expected) in [
            ("Error", &["error"][..]),
            ("a connection b", &["connection"]),
            ("(a OR b) connection", &["connection"]),
            ("one OR two three", &["one", "three"]),
            ("one NOT two", &["one"]),
            ("\"say \\\"hello\\\" to\"", &["hello"]),
            ("src/main.rs", &["main.rs"]),
            ("Ö", &["Ö", r"\u00d6", "ö", r"\u00f6"]),
            ("日本語", &["日本", r"日\u672c", r"\u65e5本", r"\u65e5\u672c"]),
            ("/re(try|set)ting/", &["ting"]),
            ("/(?:out of|no) memory/i", &[" memory"]),
            ("/claude/i", &["claude"]),
            ("/lock(ed|s)?/i", &["loc"]),
            ("/(fatal)+ x*/", &["fatal"]),
        ] {
            let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(needles(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn many_needles_are_all_looked_for() {
        let words: Vec<String> = (0..100).map(|number| format!("word{number}x")).collect();
        assert_eq!(needles(&words.join(" OR ")), Some(words));
    }

    #[test]
    fn what_leaves_no_trace_has_no_prefilter() {
        for text in ["", "NOT a", "a OR NOT b", "a OR /x*/", "/\\d+/", "\"\\\"\"", "/a|/"] {
            assert_eq!(needles(text), None, "{text}");
        }
    }
}
