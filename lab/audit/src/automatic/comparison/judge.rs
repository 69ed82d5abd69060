//! Claims of two sides against the cells of both.

use super::sides::{Pair, is_about, is_of_metric, is_time, pairs};
use super::{Claim, Yields, cases};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::lexicon;
use crate::automatic::role::better;
use crate::automatic::sentence::shown;
use crate::automatic::stems::in_order;
use crate::automatic::tie::Tied;
use crate::checks::Span;
use crate::checks::ranking::{Better, surpassed};
use crate::checks::ratios::Reading;
use crate::{Check, Document, Place, Printed, Sentence, Severity};

/// Pairs from which an average over them may be what is stated.
const FEWEST: usize = 3;

/// Rows beyond which some pair explains any percentage.
const MOST_ROWS: usize = 6;

/// How far a factor that people say may lie from the one that they mean.
const LOOSE: f64 = 0.1;

/// A pair the other way round by less than this is noise to who writes "always".
const LEAST: f64 = 0.01;

const PERCENT: [Reading; 8] = [
    Reading::PercentChange,
    Reading::PercentOfOther,
    Reading::PercentReversed,
    Reading::PercentReversedOfOther,
    Reading::RatioInPercent,
    Reading::RatioReversedInPercent,
    Reading::Difference,
    Reading::DifferenceReversed,
];

const FACTOR: [Reading; 2] = [Reading::Ratio, Reading::RatioReversed];

/// A document and the tables that its sentences can be about.
pub(super) struct Page<'d, 'g, 'a> {
    pub(super) document: &'d Document,
    pub(super) tables: &'d [Tied<'g, 'a>],
    pub(super) results: &'d [Tied<'g, 'a>],
}

impl<'d, 'g, 'a> Page<'d, 'g, 'a> {
    /// Judges a claim; whether some table has its sides.
    pub(super) fn judge(&self, claim: &Claim<'_>, book: &mut Book) -> bool {
        match claim.yields {
            Yields::Than if claim.high.is_some() => self.range(claim, book),
            Yields::Than => self.amount(claim, book),
            Yields::Base => self.base(claim, book),
            Yields::Times => self.times(claim, book),
            Yields::Order => self.order(claim, book),
        }
    }

    /// The tables of a sentence's own section, the nearest above first, then those below it.
    fn beside(&self, sentence: &Sentence) -> Vec<&'d Tied<'g, 'a>> {
        let own = |tied: &&Tied<'g, 'a>| tied.table().headings == sentence.headings;
        let above = |tied: &&Tied<'g, 'a>| tied.table().line < sentence.line;
        let all = || self.tables.iter().filter(own);
        let below = all().filter(|tied| !above(tied));
        all().filter(above).rev().chain(below).collect()
    }

    /// The pairs of the nearest table that has both sides, or else of a results file.
    fn nearest(&self, claim: &Claim<'_>) -> Vec<Pair<'a>> {
        let near = self.beside(claim.sentence).into_iter().chain(self.results);
        near.map(|tied| pairs(tied, claim)).find(|pairs| !pairs.is_empty()).unwrap_or_default()
    }

    fn found(
        &self,
        check: Check,
        claim: &Claim<'_>,
        line: usize,
        text: String,
        how: &str,
    ) -> Found {
        let place = self.document.at(claim.sentence);
        let against = Place { line: Some(line), ..place.clone() };
        Found::remark(check, Severity::Inconsistent, place, text, how).against(against)
    }

    /// One amount, which some pair must have.
    fn amount(&self, claim: &Claim<'_>, book: &mut Book) -> bool {
        let Some(stated) = claim.low.as_ref() else { return false };
        let mut all: Vec<(bool, Pair<'_>)> = Vec::new();
        for tied in self.tables.iter().chain(self.results) {
            // Columns of another section may be of another measurement.
            let own = tied.table().headings == claim.sentence.headings;
            all.extend(pairs(tied, claim).into_iter().map(|pair| (own || pair.of_rows, pair)));
        }
        all.retain(|(_, pair)| {
            pair.new.unit.is_some() && is_about(&claim.words, &pair.label, pair.new.unit.as_deref())
        });
        if all.iter().any(|(_, pair)| fits(stated, pair)) {
            book.tie(all[0].1.file);
            book.stated(claim.sentence.line, stated.value, None);
            return true;
        }
        let conditions = all.iter().filter(|(_, pair)| pair.condition);
        let conditions: Vec<Span> =
            conditions.filter_map(|(_, pair)| amount(stated, pair)).collect();
        let around = conditions.iter().copied().reduce(Span::hull);
        if conditions.len() >= FEWEST && around.is_some_and(|span| Span::of(stated).meets(span)) {
            return true;
        }
        let Some((_, pair)) = all.iter().find(|(own, _)| *own) else { return false };
        book.tie(pair.file);
        let text = format!(
            "{} is stated of the two sides; `{}` is {} against {} (line {}), and none of {} gives \
             it",
            shown(stated),
            pair.label,
            shown(pair.new),
            shown(&pair.old),
            pair.line,
            all.len()
        );
        let how = "the change or ratio of both sides, either of them the base, wherever both stand";
        let found = self
            .found(Check::ComparedWith, claim, pair.line, text, how)
            .values(stated.value, pair.new.value / pair.old.value);
        book.stated(claim.sentence.line, stated.value, Some(found));
        true
    }

    /// `19-31 % … in every config`: by one reading all pairs lie within, and the ends are met.
    fn range(&self, claim: &Claim<'_>, book: &mut Book) -> bool {
        let (Some(low), Some(high), true) = (&claim.low, &claim.high, claim.every) else {
            return false;
        };
        let mut all = self.nearest(claim);
        all.retain(|pair| is_about(&claim.words, &pair.label, unit(pair)));
        if all.len() < 2 {
            return false;
        }
        book.tie(all[0].file);
        let (own, ends) = (Span::of(low).hull(Span::of(high)), [Span::of(low), Span::of(high)]);
        let holds = |reading: &&Reading| {
            let of = |pair: &Pair<'_>| reading.of(Span::of(pair.new), Span::of(&pair.old));
            let spans: Option<Vec<Span>> = all.iter().map(of).collect();
            spans.is_none_or(|spans| {
                spans.iter().all(|span| own.meets(*span))
                    && ends.iter().all(|end| spans.iter().any(|span| end.meets(*span)))
            })
        };
        let fits = readings(low).iter().any(|reading| holds(&reading));
        let shown_as = |reading: Reading| {
            let of = |pair: &Pair<'_>| reading.of(Span::of(pair.new), Span::of(&pair.old));
            let spans = all.iter().filter_map(of).map(|span| span.middle().abs());
            let (least, most) =
                spans.fold((f64::INFINITY, 0.0_f64), |(a, b), one| (a.min(one), b.max(one)));
            format!("{least:.1} to {most:.1}")
        };
        let found = (!fits).then(|| {
            let both = match low.unit.as_deref() {
                Some("%") => [Reading::PercentReversedOfOther, Reading::PercentReversed],
                _ => FACTOR,
            };
            let text = format!(
                "{} to {} is stated of every case; the {} pairs from line {} on have {}, or {}",
                low.value,
                shown(high),
                all.len(),
                all[0].line,
                shown_as(both[0]),
                shown_as(both[1])
            );
            let how = "the change of both sides in every row, by either base";
            self.found(Check::ComparedWith, claim, all[0].line, text, how)
                .values(low.value, high.value)
        });
        book.stated(claim.sentence.line, low.value, found);
        true
    }

    /// `A has 25 % more …`: 100 is 25 % more than 80, and 80 is 20 % less than 100. The word says
    /// which is the whole; only what the other one as the whole explains is reported.
    fn base(&self, claim: &Claim<'_>, book: &mut Book) -> bool {
        let Some(stated) = claim.low.as_ref() else { return false };
        let more = lexicon::is(&claim.word, "up");
        let (own, other) = if more {
            (Reading::PercentChange, Reading::PercentOfOther)
        } else {
            (Reading::PercentReversed, Reading::PercentReversedOfOther)
        };
        let mut all = self.nearest(claim);
        // Of percentages, "%" is often points.
        all.retain(|pair| is_of_metric(claim, pair) && unit(pair) != Some("%"));
        let spans = |reading: Reading, pairs: &[&Pair<'_>]| -> Option<Vec<Span>> {
            pairs.iter().map(|pair| reading.of(Span::of(pair.new), Span::of(&pair.old))).collect()
        };
        let mut swapped = None;
        let mut sets: Vec<Vec<&Pair<'_>>> = Vec::new();
        for pair in &all {
            match sets.iter_mut().find(|set| set[0].sides == pair.sides) {
                Some(set) => set.push(pair),
                None => sets.push(vec![pair]),
            }
        }
        for set in sets.iter().filter(|set| set.len() <= MOST_ROWS) {
            let (Some(of_own), Some(of_other)) = (spans(own, set), spans(other, set)) else {
                continue;
            };
            if meets(claim, &of_own) {
                book.stated(claim.sentence.line, stated.value, None);
                return true;
            }
            if meets(claim, &of_other) {
                swapped.get_or_insert((of_own, set[0].line));
            }
        }
        let Some((of_own, line)) = swapped else { return false };
        let ends = of_own.iter().copied().reduce(Span::hull).unwrap_or(of_own[0]);
        let high = claim.high.as_ref().map_or(String::new(), |high| format!("-{}", high.value));
        let text = format!(
            "{}{high} % is of the wrong one of the two; from line {line} on it is {:.1} to {:.1} %",
            stated.value, ends.low, ends.high
        );
        let how =
            "100 · (A - B) / B for A that is higher or lower; the stated is 100 · (A - B) / A";
        let found = self
            .found(Check::PercentOfOther, claim, line, text, how)
            .values(stated.value, ends.middle());
        book.stated(claim.sentence.line, stated.value, Some(found));
        true
    }

    /// `A is … 8 times faster` below a small table of A and one other side.
    fn times(&self, claim: &Claim<'_>, book: &mut Book) -> bool {
        let Some(stated) = claim.low.as_ref() else { return false };
        let mut all = self.nearest(claim);
        all.retain(|pair| is_about(&claim.words, &pair.label, unit(pair)));
        if all.is_empty() || all.len() > MOST_ROWS {
            return false;
        }
        let least = |word: &str| claim.who.trim_end().to_lowercase().ends_with(word);
        let (low, high) = match () {
            () if least("over") || least("more than") || least("at least") => (0.0, f64::INFINITY),
            () if least("up to") => (LOOSE, f64::INFINITY),
            () => (LOOSE, LOOSE),
        };
        let about = Span { low: stated.value * (1.0 - low), high: stated.value * (1.0 + high) };
        let factors: Vec<Span> = all.iter().filter_map(|pair| amount(stated, pair)).collect();
        let fits = |one: &Span| about.meets(*one) || about.meets(one.minus(Span::exact(1.0)));
        let found = (!factors.iter().any(fits)).then(|| {
            let shown: Vec<String> =
                factors.iter().map(|factor| format!("{:.2}", factor.middle())).collect();
            let text = format!(
                "{} times is stated; both sides differ by {} times (line {})",
                stated.value,
                shown.join(", "),
                all[0].line
            );
            let how = "the ratio of both sides in every row of times or rates";
            self.found(Check::TimesFaster, claim, all[0].line, text, how).values(stated.value, 0.0)
        });
        book.stated(claim.sentence.line, stated.value, found);
        true
    }

    /// Who is ahead in every pair; one column of pairs in which it holds may be what is meant.
    fn order(&self, claim: &Claim<'_>, book: &mut Book) -> bool {
        let all = self.nearest(claim);
        let Some(first) = all.first() else { return false };
        book.tie(first.file);
        for (name, stated) in cases(&claim.sentence.text) {
            let of: Vec<&Pair<'_>> = all.iter().filter(|pair| pair.name.contains(&name)).collect();
            let found = (!of.iter().any(|pair| fits(&stated, pair))).then(|| {
                of.first().map(|pair| {
                    let text = format!(
                        "{} is stated of {name}; {} against {} in line {} do not give it",
                        shown(&stated),
                        shown(pair.new),
                        shown(&pair.old),
                        pair.line
                    );
                    let how = "the change of both sides in the rows of that name, by either base";
                    self.found(Check::ComparedWith, claim, pair.line, text, how)
                        .values(stated.value, pair.new.value / pair.old.value)
                })
            });
            if !of.is_empty() {
                book.stated(claim.sentence.line, stated.value, found.flatten());
            }
        }
        let mut reversed = None;
        for pair in &all {
            let Some(way) = direction(&claim.word, &pair.label, unit(pair)) else { return true };
            let far = (pair.new.value - pair.old.value).abs() > LEAST * pair.old.value.abs();
            let both = [pair.new.clone(), pair.old.clone()];
            if far && surpassed(&both, 0, way).is_some() {
                reversed.get_or_insert(pair);
            }
        }
        let found = reversed.map(|pair| {
            let text = format!(
                "said of every case; in line {} `{}` is {} against {}",
                pair.line,
                pair.label,
                shown(pair.new),
                shown(&pair.old)
            );
            let how = "the two sides that the sentence names, wherever both stand";
            self.found(Check::ClaimOfAllRows, claim, pair.line, text, how)
        });
        book.claim(found);
        true
    }
}

fn unit<'p>(pair: &'p Pair<'_>) -> Option<&'p str> {
    pair.new.unit.as_deref()
}

fn readings(stated: &Printed) -> &'static [Reading] {
    if stated.unit.as_deref() == Some("%") { &PERCENT } else { &FACTOR }
}

/// Whether an amount is a change or a ratio of a pair, on either base.
fn fits(stated: &Printed, pair: &Pair<'_>) -> bool {
    let (new, old, own) = (Span::of(pair.new), Span::of(&pair.old), Span::of(stated));
    let factor = stated.unit.as_deref() == Some("x");
    readings(stated).iter().any(|reading| {
        reading.of(new, old).is_none_or(|value| {
            own.meets(value) || factor && own.meets(value.minus(Span::exact(1.0)))
        })
    })
}

/// How far a pair differs: in percent, or the larger over the smaller.
fn amount(stated: &Printed, pair: &Pair<'_>) -> Option<Span> {
    let (new, old) = (Span::of(pair.new), Span::of(&pair.old));
    let (large, small) = if new.middle() >= old.middle() { (new, old) } else { (old, new) };
    let percent = stated.unit.as_deref() == Some("%");
    let reading = if percent { Reading::PercentChange } else { Reading::Ratio };
    reading.of(large, small)
}

/// Whether one pair has the stated percentage, or all together the stated range.
fn meets(claim: &Claim<'_>, spans: &[Span]) -> bool {
    let Some(low) = claim.low.as_ref() else { return false };
    let Some(high) = &claim.high else {
        return spans.iter().any(|span| Span::of(low).meets(*span));
    };
    let order = |a: &&Span, b: &&Span| a.middle().total_cmp(&b.middle());
    let ends = spans.iter().min_by(order).zip(spans.iter().max_by(order));
    ends.is_some_and(|(least, most)| Span::of(low).meets(*least) && Span::of(high).meets(*most))
}

/// Which way the numbers of who is ahead must differ.
fn direction(word: &str, label: &str, of: Option<&str>) -> Option<Better> {
    let turned = |way: Better| if way == Better::Higher { Better::Lower } else { Better::Higher };
    let timed = of.is_some_and(is_time).then_some(Better::Lower);
    let way = timed.or_else(|| better(&in_order(label).join(" "), of));
    match word {
        "higher" => Some(Better::Higher),
        "lower" => Some(Better::Lower),
        word if lexicon::is(word, "worse") => way.map(turned),
        _ => way,
    }
}
