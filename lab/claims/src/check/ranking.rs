//! Who is said to be best, against the document's tables and raw data.

use std::collections::BTreeMap;

use super::{Evidence, Fact, shown, span};
use crate::{Better, Comparator, Key, Statement};
use lab_audit::{Check, Finding, Place, Severity, checks::Span};

/// One subject's value in one source.
struct Entry {
    subject: String,
    span: Span,
    text: String,
    place: Place,
}

/// What the authors' own runs are called as a source.
const RAW_DATA: &str = "the raw data";

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for statement in &evidence.statements {
        // The same claim made again is one finding.
        findings.extend(against_sources(evidence, statement));
    }
    let mut findings = once(findings);
    findings.extend(differ(evidence));
    findings
}

/// A ranking against every source that gives its values.
fn against_sources(evidence: &Evidence, statement: &Statement) -> Vec<Finding> {
    let Some(highest) = wants_highest(evidence, statement) else { return Vec::new() };
    let sources = sources(evidence, statement);
    let reversed =
        |(name, entries): &(String, Vec<Entry>)| reversed(statement, name, entries, highest);
    sources.iter().filter_map(reversed).collect()
}

/// What contradicts a ranking: the raw data where they have its values, for a table may be wrong;
/// else the last table that does. `None` where no source has the values.
pub(super) fn decided(evidence: &Evidence, statement: &Statement) -> Option<Option<Finding>> {
    let highest = wants_highest(evidence, statement)?;
    let decides = |(_, entries): &(String, Vec<Entry>)| {
        entries.len() > 1 && entries.iter().any(|entry| entry.subject == statement.key.subject)
    };
    let mut sources = sources(evidence, statement);
    sources.retain(decides);
    let raw = sources.iter().rposition(|(name, _)| name == RAW_DATA);
    let deciding = raw.map_or(&sources[..], |raw| &sources[raw..=raw]);
    let contradicts =
        |(name, entries): &(String, Vec<Entry>)| reversed(statement, name, entries, highest);
    (!sources.is_empty()).then(|| deciding.iter().filter_map(contradicts).next_back())
}

/// Whether the claim is that its subject is the highest (`true`) or the lowest.
pub(super) fn wants_highest(evidence: &Evidence, statement: &Statement) -> Option<bool> {
    let metric = evidence.claims.metric.iter().find(|m| m.id == statement.key.metric)?;
    let higher_is_better = match metric.better {
        Some(better) => better == Better::Higher,
        None => true,
    };
    match statement.comparator {
        Comparator::HighestOf => Some(true),
        Comparator::LowestOf => Some(false),
        Comparator::BestOf => Some(higher_is_better),
        Comparator::WorstOf => Some(!higher_is_better),
        _ => None,
    }
}

/// Every table that gives the quantity for several subjects, and the facts.
fn sources(evidence: &Evidence, claim: &Statement) -> Vec<(String, Vec<Entry>)> {
    let same = |key: &Key| {
        let wanted = claim.among.is_empty() || claim.among.contains(&key.subject);
        wanted
            && key.metric == claim.key.metric
            && key.statistic == claim.key.statistic
            && key.scope == claim.key.scope
    };
    let mut sources = Vec::new();
    for table in &evidence.claims.table {
        let cells = table
            .cells
            .iter()
            .filter(|cell| cell.comparator == Comparator::Equal && same(&cell.key));
        let entry = |cell: &Statement| {
            Some(Entry {
                subject: cell.key.subject.clone(),
                span: span(cell)?,
                text: shown(cell),
                place: cell.place.clone(),
            })
        };
        sources.push((format!("table `{}`", table.id), cells.filter_map(entry).collect()));
    }
    let facts = evidence.facts.iter().filter(|(key, _)| same(key));
    let entry = |(key, fact): (&Key, &Fact)| {
        let value = fact.value.number()?;
        let place = fact.place.clone();
        let text = format!("{value:.3}");
        Some(Entry { subject: key.subject.clone(), span: Span::exact(value), text, place })
    };
    sources.push((RAW_DATA.to_owned(), facts.filter_map(entry).collect()));
    sources
}

fn reversed(claim: &Statement, source: &str, entries: &[Entry], highest: bool) -> Option<Finding> {
    let own = entries.iter().find(|entry| entry.subject == claim.key.subject)?;
    let better = |entry: &&Entry| {
        if highest { own.span.below(entry.span) } else { entry.span.below(own.span) }
    };
    let mut above: Vec<&Entry> = entries.iter().filter(better).collect();
    let value = |entry: &Entry| if highest { -entry.span.middle() } else { entry.span.middle() };
    above.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let first = above.first()?;
    let word = if highest { "highest" } else { "lowest" };
    let sentence = format!(
        "{} is said to have the {word} {} {}; by {source} it is number {} of {} with {}, behind \
         {} with {}",
        claim.key.subject,
        claim.key.statistic,
        claim.key.metric,
        above.len() + 1,
        entries.len(),
        own.text,
        first.subject,
        first.text,
    );
    Some(
        Finding::new(
            Check::RankingReversed,
            Severity::Impossible,
            claim.place.clone(),
            sentence,
            format!("the values of all subjects in {source}, in order"),
        )
        .values(Some(own.span.middle()), Some(first.span.middle()))
        .against(Some(first.place.clone())),
    )
}

fn once(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings {
        match kept.iter_mut().find(|known| known.sentence == finding.sentence) {
            Some(known) => {
                let line = finding.place.line.map_or(String::new(), |line| line.to_string());
                known.how = format!("{}; said again at line {line}", known.how);
            }
            None => kept.push(finding),
        }
    }
    kept
}

/// Tables that put the same subjects in another order by the same quantity.
fn differ(evidence: &Evidence) -> Vec<Finding> {
    // The quantity without its subject, then the table, then the subjects.
    let mut orders: BTreeMap<Key, BTreeMap<&str, Vec<Entry>>> = BTreeMap::new();
    for table in &evidence.claims.table {
        for cell in table.cells.iter().filter(|cell| cell.comparator == Comparator::Equal) {
            let Some(span) = span(cell) else { continue };
            let quantity = Key { subject: String::new(), ..cell.key.clone() };
            let (subject, place) = (cell.key.subject.clone(), cell.place.clone());
            let entry = Entry { subject, span, text: shown(cell), place };
            orders.entry(quantity).or_default().entry(&table.id).or_default().push(entry);
        }
    }
    let mut findings = Vec::new();
    for (quantity, tables) in &orders {
        let tables: Vec<_> = tables.iter().collect();
        for (index, (first, left)) in tables.iter().enumerate() {
            for (second, right) in &tables[index + 1..] {
                findings.extend(inverted(quantity, (first, left), (second, right)));
            }
        }
    }
    findings
}

fn inverted(
    quantity: &Key,
    (first, left): (&str, &[Entry]),
    (second, right): (&str, &[Entry]),
) -> Option<Finding> {
    let at = |entries: &[Entry], subject: &str| {
        entries.iter().find(|entry| entry.subject == subject).map(|entry| entry.span)
    };
    let mut pairs = Vec::new();
    for (index, a) in left.iter().enumerate() {
        for b in &left[index + 1..] {
            let (Some(c), Some(d)) = (at(right, &a.subject), at(right, &b.subject)) else {
                continue;
            };
            if a.span.below(b.span) && d.below(c) || b.span.below(a.span) && c.below(d) {
                pairs.push((a, b));
            }
        }
    }
    let (a, b) = pairs.first()?;
    let other = right.iter().find(|entry| entry.subject == a.subject)?;
    let sentence = format!(
        "tables `{first}` and `{second}` put {} pair(s) of subjects in opposite orders by their \
         {quantity}, among them {} and {}",
        pairs.len(),
        a.subject,
        b.subject,
    );
    Some(
        Finding::new(
            Check::RankingsDiffer,
            Severity::Impossible,
            a.place.clone(),
            sentence,
            format!("{} is {} in the first and {} in the second", a.subject, a.text, other.text),
        )
        .values(Some(a.span.middle()), Some(other.span.middle()))
        .against(Some(other.place.clone())),
    )
}
