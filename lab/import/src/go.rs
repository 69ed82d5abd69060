//! The text of `go test -bench`: a line a sample, `BenchmarkName-8 2000 1165 ns/op …`. The format
//! is golang.org/design/14313-benchmark-format, and other programs write it with units of their
//! own. A process ends with `PASS`, and begins with `goos:` or `pkg:`.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    Contents, ImportError, Machine, Tool, go_line::Line, json::Json, reading::Reading,
    units::time_ns,
};

/// Settings that say where it ran.
const MACHINE: [&str; 3] = ["goos", "goarch", "cpu"];

/// A line of `go test -json`, as far as it matters here.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "Action")]
    action: Option<IgnoredAny>,
    #[serde(rename = "Output")]
    output: Option<Json>,
}

/// The text, where this is one: as it is, or put together from the events of `go test -json`.
pub(crate) fn text(text: &str) -> Option<Cow<'_, str>> {
    let event = |line: &str| serde_json::from_str::<Event>(line).ok();
    let first = text.lines().next().and_then(event);
    let plain = match first {
        Some(Event { action: Some(_), .. }) => {
            let output = |line| match event(line)?.output? {
                Json::Text(output) => Some(output),
                _ => None,
            };
            text.lines().filter_map(output).collect()
        }
        _ => Cow::Borrowed(text),
    };
    is_go(&plain).then_some(plain)
}

/// Whether there is a result with its name, or one without behind a head or a name.
fn is_go(text: &str) -> bool {
    let mut is_begun = false;
    text.lines().any(|line| match Line::of(line) {
        Line::Result(Some(_), _) | Line::Broken | Line::Failed(_) => true,
        Line::Result(None, _) => is_begun,
        Line::Name(_) => {
            is_begun = true;
            false
        }
        Line::Setting(key, _) => {
            is_begun |= key == "goos" || key == "pkg";
            false
        }
        Line::End | Line::Other => false,
    })
}

pub(crate) fn read(file: &str, text: &str) -> Result<Contents, ImportError> {
    let mut into = Reading::new(Tool::GoTest, file);
    let mut state = State { settings: vec![BTreeMap::new()], ..State::default() };
    for (place, line) in text.lines().enumerate() {
        state.line(place + 1, line, &mut into);
    }
    state.put(&mut into);
    if !state.nameless.is_empty() {
        let lines = shown(&state.nameless);
        into.leave_out(ImportError::Nameless { file: file.to_owned(), lines });
    }
    let units = state.others.into_iter().collect::<Vec<_>>().join(", ");
    if !units.is_empty() {
        into.note(format!("units that are not judged: {units}"));
        // Where nothing else is said this is why.
        if state.rows.is_empty() && state.failures.is_empty() {
            into.leave_out(ImportError::NoTime { file: file.to_owned(), units });
        }
    }
    into.finish()
}

/// `line 3`, `lines 3, 4 and 9 more`.
fn shown(lines: &[usize]) -> String {
    const MOST: usize = 8;
    let named: Vec<String> = lines.iter().take(MOST).map(usize::to_string).collect();
    let more = lines.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}{more}", named.join(", "))
}

/// A time, with what held where it stands.
struct Row<'a> {
    package: &'a str,
    name: &'a str,
    /// Of what the time is, such as `op`.
    per: &'a str,
    ns: f64,
    process: usize,
    settings: usize,
    machine: usize,
}

#[derive(Default)]
struct State<'a> {
    package: &'a str,
    /// A name whose result has not come yet.
    pending: Option<&'a str>,
    process: usize,
    is_ended: bool,
    machines: Vec<Machine>,
    machine: Machine,
    /// Settings that the head has, as they changed.
    settings: Vec<BTreeMap<&'a str, &'a str>>,
    rows: Vec<Row<'a>>,
    failures: Vec<(&'a str, &'a str)>,
    /// Lines of results without a name.
    nameless: Vec<usize>,
    /// Units that are no times.
    others: BTreeSet<&'a str>,
}

impl<'a> State<'a> {
    fn line(&mut self, place: usize, line: &'a str, into: &mut Reading<'_>) {
        match Line::of(line) {
            Line::Result(name, values) => match name.or(self.pending.take()) {
                Some(name) => self.result(place, name, &values, into),
                None => self.nameless.push(place),
            },
            Line::Name(name) => self.pending = Some(name),
            Line::Broken => into.leave_out(broken(into.file, place)),
            Line::Failed(name) => {
                self.pending = None;
                self.failures.push((self.package, name));
            }
            Line::Setting(key, value) => self.set(key, value),
            Line::End => self.end(),
            Line::Other => {}
        }
    }

    fn end(&mut self) {
        self.pending = None;
        self.is_ended = true;
    }

    fn set(&mut self, key: &'a str, value: &'a str) {
        if key == "pkg" || key == "goos" {
            self.end();
        }
        if key == "pkg" {
            self.package = value;
        } else if MACHINE.contains(&key) {
            self.machine.insert(key.to_owned(), value.to_owned());
        } else if let Some(last) = self.settings.last() {
            // What begins amid the results is what a benchmark logged.
            let is_known = self.rows.is_empty() || last.contains_key(key);
            if is_known && last.get(key) != Some(&value) {
                let mut next = last.clone();
                next.insert(key, value);
                self.settings.push(next);
            }
        }
    }

    fn result(
        &mut self,
        place: usize,
        name: &'a str,
        values: &[(f64, &'a str)],
        into: &mut Reading<'_>,
    ) {
        self.pending = None;
        self.process += usize::from(self.is_ended && !self.rows.is_empty());
        self.is_ended = false;
        if self.machines.last() != Some(&self.machine) {
            self.machines.push(self.machine.clone());
        }
        for (value, unit) in values {
            let parts = unit.split_once('/');
            let Some((ns, per)) = parts.and_then(|(time, per)| Some((time_ns(time)?, per))) else {
                self.others.insert(unit);
                continue;
            };
            let ns = value * ns;
            if !(ns > 0.0 && ns.is_finite()) {
                into.leave_out(broken(into.file, place));
                continue;
            }
            let (settings, machine) = (self.settings.len() - 1, self.machines.len() - 1);
            let (package, process) = (self.package, self.process);
            self.rows.push(Row { package, name, per, ns, process, settings, machine });
        }
    }

    fn put(&self, into: &mut Reading<'_>) {
        let varying = self.varying();
        for row in &self.rows {
            let mut name = whole(row.package, row.name);
            let mut words = Vec::new();
            if row.per != "op" {
                words.push(format!("per {}", row.per));
            }
            for key in varying.get(&(row.package, row.name)).into_iter().flatten() {
                let value = self.settings[row.settings].get(key).unwrap_or(&"");
                words.push(format!("{key}={value}"));
            }
            if !words.is_empty() {
                name += &format!(" ({})", words.join(", "));
            }
            into.on(self.machines[row.machine].clone());
            into.sample(&name, row.ns, Some(row.process));
        }
        for (package, name) in &self.failures {
            into.failed(&whole(package, name), "FAIL");
        }
    }

    /// The settings that tell rows of one name apart: those are other benchmarks.
    fn varying(&self) -> BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>> {
        let mut met: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        for row in &self.rows {
            met.entry((row.package, row.name)).or_default().insert(row.settings);
        }
        let keys = |met: BTreeSet<usize>| {
            let all: Vec<_> = met.iter().map(|place| &self.settings[*place]).collect();
            let keys: BTreeSet<&str> = all.iter().flat_map(|one| one.keys().copied()).collect();
            let varies = |key: &&str| all.iter().any(|one| one.get(key) != all[0].get(key));
            keys.into_iter().filter(varies).collect()
        };
        met.into_iter().map(|(name, met)| (name, keys(met))).collect()
    }
}

fn whole(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}

fn broken(file: &str, line: usize) -> ImportError {
    let expected = "a number of nanoseconds above 0 before `ns/op`";
    ImportError::Line { file: file.to_owned(), line, expected }
}
