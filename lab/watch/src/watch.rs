//! Rules over sliding windows, for each subject by itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Serialize, Serializer};

use crate::{Change, Event, Moment, Rule, Severity, State};

/// Rules, and how each stands with each subject that was seen.
#[derive(Debug)]
pub struct Watch {
    rules: Vec<Rule>,
    /// A [`Judged`] for each rule, in their order.
    subjects: BTreeMap<String, Vec<Judged>>,
    fired: BTreeSet<usize>,
}

/// A rule on a subject.
#[derive(Debug, Clone, Default)]
struct Judged {
    /// Moment and number, as far back as the rule's window reaches.
    numbers: VecDeque<(u64, f64)>,
    /// Whether there ever was one: a rule on requests has none of `all`.
    is_known: bool,
    value: Option<f64>,
    /// The most numbers that its window ever had, and whether they were enough.
    most: usize,
    was_enough: bool,
    state: State,
}

/// A rule that had too few numbers of a subject to be judged.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct NotJudged<'a> {
    /// The rule.
    #[serde(serialize_with = "by_name")]
    pub rule: &'a Rule,
    /// The subject; `None` where nothing of the rule's metric was seen of anybody.
    pub subject: Option<&'a str>,
    /// The most numbers that its window had.
    pub had: usize,
    /// So many are needed.
    pub needs: usize,
}

fn by_name<S: Serializer>(rule: &&Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rule.name())
}

/// How a rule stands with a subject.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The subject.
    pub subject: &'a str,
    /// The window's value at the last look, where it had one.
    pub value: Option<f64>,
    /// Pending, firing or neither.
    pub state: State,
}

impl Watch {
    /// Nothing was seen yet.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self { rules, subjects: BTreeMap::new(), fired: BTreeSet::new() }
    }

    /// Takes what was seen and judges each subject of which something was; moments come in the
    /// order of time.
    pub fn take(&mut self, moment: &Moment) -> Vec<Event> {
        for (subject, seen) in &moment.seen {
            let empty = || vec![Judged::default(); self.rules.len()];
            let judged = self.subjects.entry(subject.clone()).or_insert_with(empty);
            for (rule, judged) in self.rules.iter().zip(judged) {
                let number = rule.metric.of(seen).filter(|number| number.is_finite());
                judged.is_known |= number.is_some();
                judged.numbers.extend(number.map(|number| (moment.at_ns, number)));
            }
        }
        let subjects: BTreeSet<&String> = moment.seen.iter().map(|(subject, _)| subject).collect();
        subjects.into_iter().flat_map(|subject| self.judge(subject, moment.at_ns)).collect()
    }

    fn judge(&mut self, subject: &str, now_ns: u64) -> Vec<Event> {
        let judged = self.subjects.get_mut(subject).into_iter().flatten();
        let mut events = Vec::new();
        for (place, (rule, judged)) in self.rules.iter().zip(judged).enumerate() {
            let change = judged.judge(rule, now_ns);
            let Some((change, value)) = change.zip(judged.value) else { continue };
            if change == Change::Firing {
                self.fired.insert(place);
            }
            events.push(Event::of(rule, subject, change, (now_ns, value)));
        }
        events
    }

    /// How every rule stands with every subject of which it has seen a number.
    pub fn readings(&self) -> impl Iterator<Item = Reading<'_>> {
        self.subjects.iter().flat_map(|(subject, judged)| {
            let known = self.rules.iter().zip(judged).filter(|(_, judged)| judged.is_known);
            known.map(|(rule, judged)| {
                let Judged { value, state, .. } = *judged;
                Reading { rule, subject, value, state }
            })
        })
    }

    /// The rules that were never judged, of each subject of which they saw anything.
    pub fn not_judged(&self) -> Vec<NotJudged<'_>> {
        let mut left = Vec::new();
        for (place, rule) in self.rules.iter().enumerate() {
            let of_rule = || self.subjects.iter().map(|(name, judged)| (name, &judged[place]));
            let mut known = of_rule().filter(|(_, judged)| judged.is_known).peekable();
            let needs = rule.at_least;
            if known.peek().is_none() {
                left.push(NotJudged { rule, subject: None, had: 0, needs });
            }
            let short = known.filter(|(_, judged)| !judged.was_enough);
            left.extend(short.map(|(subject, judged)| NotJudged {
                rule,
                subject: Some(subject),
                had: judged.most,
                needs,
            }));
        }
        left
    }

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rules of this severity that fired at any time, on any subject.
    pub fn fired(&self, severity: Severity) -> impl Iterator<Item = &Rule> {
        let rules = self.fired.iter().map(|&place| &self.rules[place]);
        rules.filter(move |rule| rule.severity == severity)
    }
}

impl Judged {
    fn judge(&mut self, rule: &Rule, now_ns: u64) -> Option<Change> {
        let window_ns = rule.window_ns();
        let is_old = |(at_ns, _): &(u64, f64)| now_ns.saturating_sub(*at_ns) >= window_ns;
        while self.numbers.front().is_some_and(is_old) {
            self.numbers.pop_front();
        }
        self.most = self.most.max(self.numbers.len());
        let is_enough = self.numbers.len() >= rule.at_least;
        self.was_enough |= is_enough;
        self.value = if is_enough { rule.metric.value(&self.numbers, now_ns) } else { None };
        let crossed = self.value.map(|value| rule.is_crossed(value));
        let (state, change) = self.state.next(crossed, now_ns, rule.for_ns());
        self.state = state;
        change
    }
}
