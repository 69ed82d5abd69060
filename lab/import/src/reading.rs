//! What is read of a file while it is read: a value that cannot be used is named and left out, and
//! the rest stays.

use std::collections::BTreeMap;

use crate::{Benchmark, ImportError, Machine, Sample, Tool, goodput::Requests};

/// So many values that were left out are named.
const MOST_NAMED: usize = 3;

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// In the file's order.
    pub benchmarks: Vec<Benchmark>,
    /// What else people should know, a sentence each, without the file's name.
    pub notes: Vec<String>,
    pub(crate) requests: Requests,
}

pub(crate) struct Reading<'a> {
    pub(crate) tool: Tool,
    pub(crate) file: &'a str,
    pub(crate) requests: Requests,
    benchmarks: Vec<Benchmark>,
    /// Where a benchmark of this name is, measured on that machine.
    places: BTreeMap<(String, usize), usize>,
    machines: Vec<Machine>,
    machine: usize,
    notes: Vec<String>,
    left_out: Vec<ImportError>,
    more_left_out: usize,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(tool: Tool, file: &'a str) -> Self {
        Self {
            tool,
            file,
            requests: Requests::default(),
            benchmarks: Vec::new(),
            places: BTreeMap::new(),
            machines: vec![Machine::new()],
            machine: 0,
            notes: Vec::new(),
            left_out: Vec::new(),
            more_left_out: 0,
        }
    }

    /// What follows was measured there.
    pub(crate) fn on(&mut self, machine: Machine) {
        let known = self.machines.iter().position(|known| *known == machine);
        self.machine = known.unwrap_or_else(|| {
            self.machines.push(machine);
            self.machines.len() - 1
        });
    }

    pub(crate) fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    pub(crate) fn leave_out(&mut self, error: ImportError) {
        match self.left_out.len() < MOST_NAMED {
            true => self.left_out.push(error),
            false => self.more_left_out += 1,
        }
    }

    /// The value, or nothing, which is then named.
    pub(crate) fn usable<T>(&mut self, value: Result<T, ImportError>) -> Option<T> {
        value.map_err(|error| self.leave_out(error)).ok()
    }

    /// The benchmark of this name, which may have samples already.
    pub(crate) fn benchmark(&mut self, name: &str) -> &mut Benchmark {
        let place = *self.places.entry((name.to_owned(), self.machine)).or_insert_with(|| {
            let machine = self.machines[self.machine].clone();
            let new = Benchmark::new(self.tool, self.file, name, Vec::new());
            self.benchmarks.push(Benchmark { machine, ..new });
            self.benchmarks.len() - 1
        });
        &mut self.benchmarks[place]
    }

    pub(crate) fn sample(&mut self, name: &str, ns: f64, fork: Option<usize>) {
        self.benchmark(name).samples.push(Sample { ns, fork });
    }

    /// A run that failed has no time.
    pub(crate) fn failed(&mut self, name: &str, ending: &str) {
        *self.benchmark(name).endings.entry(ending.to_owned()).or_default() += 1;
    }

    /// The mean of a benchmark; where it has samples they say more.
    pub(crate) fn mean(&mut self, name: &str, ns: f64) {
        self.benchmark(name).mean_ns = Some(ns);
    }

    /// A benchmark that is whole. Another one of its name is another: nobody knows what differs.
    pub(crate) fn whole(&mut self, benchmark: Result<Benchmark, ImportError>) {
        let Some(mut benchmark) = self.usable(benchmark) else { return };
        let mut times = 1;
        let mut name = benchmark.name.clone();
        while self.places.contains_key(&(name.clone(), 0)) {
            times += 1;
            name = format!("{} #{times}", benchmark.name);
        }
        if times > 1 {
            let all = format!("more than one is named `{}`", benchmark.name);
            self.note(format!("{all}: they are told apart by their order"));
        }
        self.places.insert((name.clone(), 0), self.benchmarks.len());
        benchmark.name = name;
        self.benchmarks.push(benchmark);
    }

    pub(crate) fn finish(mut self) -> Result<Contents, ImportError> {
        for benchmark in &mut self.benchmarks {
            if !benchmark.samples.is_empty() {
                benchmark.mean_ns = None;
            }
        }
        if self.benchmarks.is_empty() {
            let first = self.left_out.into_iter().next();
            return Err(first.unwrap_or(ImportError::Empty { file: self.file.to_owned() }));
        }
        let mut notes = self.notes;
        notes.dedup();
        let sentence = |error: ImportError| {
            let all = error.to_string();
            let bare = all.strip_prefix(self.file).unwrap_or(&all);
            format!("{}; left out", bare.trim_start_matches([':', ',', ' ']))
        };
        notes.extend(self.left_out.into_iter().map(sentence));
        if self.more_left_out > 0 {
            notes.push(format!("{} more are left out", self.more_left_out));
        }
        Ok(Contents { benchmarks: self.benchmarks, notes, requests: self.requests })
    }
}
