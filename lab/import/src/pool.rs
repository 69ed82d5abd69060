//! What all files of a side together have of a benchmark.

use std::collections::{BTreeMap, BTreeSet};

use lab_stats::describe::median;

use crate::{Benchmark, Tool};

/// Frequencies closer than this share are one: what is read of them changes from run to run.
const SAME_MHZ: f64 = 0.05;
const NS_PER_SECOND: f64 = 1e9;

/// The runs of one benchmark.
pub(crate) struct Pool<'a> {
    pub(crate) name: &'a str,
    pub(crate) tool: Tool,
    parts: Vec<&'a Benchmark>,
}

/// Benchmarks of one tool and name, in their order.
pub(crate) fn pooled(benchmarks: &[Benchmark]) -> Vec<Pool<'_>> {
    let mut pools: Vec<Pool<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for benchmark in benchmarks {
        let (tool, name) = (benchmark.tool, benchmark.name.as_str());
        let place = *places.entry((tool, name)).or_insert_with(|| {
            pools.push(Pool { name, tool, parts: Vec::new() });
            pools.len() - 1
        });
        pools[place].parts.push(benchmark);
    }
    pools
}

impl Pool<'_> {
    /// The times of each process. Of a file that does not tell its processes apart all are of one:
    /// they share its memory, its compilation and its minute.
    pub(crate) fn processes(&self) -> Vec<Vec<f64>> {
        let mut processes: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for part in &self.parts {
            for sample in &part.samples {
                processes.entry((&part.file, sample.fork)).or_default().push(sample.ns);
            }
        }
        processes.into_values().collect()
    }

    /// Of times.
    pub(crate) fn median_ns(&self) -> Option<f64> {
        (!self.is_rate()).then(|| self.median(|ns| ns)).flatten()
    }

    /// Of rates.
    pub(crate) fn median_per_s(&self) -> Option<f64> {
        self.is_rate().then(|| self.median(|ns| NS_PER_SECOND / ns)).flatten()
    }

    fn median(&self, value: fn(f64) -> f64) -> Option<f64> {
        let samples = self.parts.iter().flat_map(|part| &part.samples);
        median(&samples.map(|sample| value(sample.ns)).collect::<Vec<_>>())
    }

    /// Whether more of it are better.
    pub(crate) fn is_rate(&self) -> bool {
        self.parts.iter().any(|part| part.is_rate)
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.parts.iter().any(|part| part.is_failed())
    }

    /// `status 0 in 18 runs and status 139 in 2`.
    pub(crate) fn endings(&self) -> String {
        let mut all: BTreeMap<&str, usize> = BTreeMap::new();
        for (ending, runs) in self.parts.iter().flat_map(|part| &part.endings) {
            *all.entry(ending).or_default() += runs;
        }
        if all.is_empty() {
            return "no failure told".to_owned();
        }
        let one = |(ending, runs): (&&str, &usize)| format!("{ending} in {runs}");
        let word = if all.values().sum::<usize>() == 1 { "run" } else { "runs" };
        format!("{} {word}", all.iter().map(one).collect::<Vec<_>>().join(" and "))
    }

    /// What the files say of a machine: its values.
    fn machines(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (key, value) in self.parts.iter().flat_map(|part| &part.machine) {
            all.entry(key).or_default().insert(value);
        }
        all
    }

    /// In which words the machine of a later side is another one, of what both tell.
    pub(crate) fn moved_to(&self, later: &Pool<'_>) -> Option<String> {
        let (before, now) = (self.machines(), later.machines());
        let joined =
            |values: &BTreeSet<&str>| values.iter().copied().collect::<Vec<_>>().join(" and ");
        let changed = before.iter().filter_map(|(key, was)| {
            let is = now.get(key).filter(|is| !is_same(key, was, is))?;
            Some(format!("{key} was {}, is {}", joined(was), joined(is)))
        });
        let mut changed: Vec<String> = changed.collect();
        if self.tool != later.tool {
            changed.push(format!("the tool was {}, is {}", self.tool, later.tool));
        }
        (!changed.is_empty()).then(|| changed.join("; "))
    }
}

fn is_same(key: &str, was: &BTreeSet<&str>, is: &BTreeSet<&str>) -> bool {
    let number = |values: &BTreeSet<&str>| values.first().and_then(|it| it.parse::<f64>().ok());
    let close = || match (number(was), number(is)) {
        (Some(was), Some(is)) => (is / was - 1.0).abs() < SAME_MHZ,
        _ => false,
    };
    was == is || key == "MHz" && was.len() == 1 && is.len() == 1 && close()
}

/// The name of a benchmark of Go without its processors.
fn stem(name: &str) -> &str {
    let bare = name.split(" (").next().unwrap_or(name);
    match bare.rsplit_once('-') {
        Some((stem, count)) if count.parse::<u32>().is_ok() => stem,
        _ => bare,
    }
}

/// With how many processors a benchmark of Go ran: one has no number.
fn processors(pool: &Pool<'_>) -> Option<u32> {
    let bare = pool.name.split(" (").next().unwrap_or(pool.name);
    let told = bare.strip_prefix(stem(pool.name)).and_then(|rest| rest.strip_prefix('-'));
    (pool.tool == Tool::GoTest).then(|| told.and_then(|count| count.parse().ok()).unwrap_or(1))
}

/// That the names differ in the number of processors alone, and in which.
pub(crate) fn other_processors(old: &[Pool<'_>], new: &[Pool<'_>]) -> Option<String> {
    let same = |one: &&Pool<'_>, other: &Pool<'_>| {
        stem(one.name) == stem(other.name) && processors(one) != processors(other)
    };
    let pairs =
        new.iter().filter_map(|other| Some((old.iter().find(|one| same(one, other))?, other)));
    let (mut was, mut is) = (BTreeSet::new(), BTreeSet::new());
    for (one, other) in pairs {
        was.extend(processors(one));
        is.extend(processors(other));
    }
    let list =
        |counts: BTreeSet<u32>| counts.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
    (!was.is_empty()).then(|| {
        let (was, is) = (list(was), list(is));
        format!("one side ran with {was} processors (GOMAXPROCS) and the other with {is}")
    })
}
