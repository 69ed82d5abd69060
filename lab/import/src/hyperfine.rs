//! `results[].times`, in seconds; one sample is one process, which ended as `exit_codes` says.
//! `parameters` are what tells results of one name apart.

use std::collections::BTreeMap;

use crate::{Benchmark, GOOD_ENDING, ImportError, Sample, Tool, node::Node, reading::Reading};

const NS_PER_SECOND: f64 = 1e9;

pub(crate) fn read(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    for result in root.at("results", "an array")?.items()? {
        let benchmark = benchmark(&result, into);
        into.whole(benchmark);
    }
    Ok(())
}

fn benchmark(result: &Node<'_>, into: &mut Reading<'_>) -> Result<Benchmark, ImportError> {
    let mut name = result.at("command", "a string")?.text()?.to_owned();
    let parameters = result.find("parameters").map_or(Ok(Vec::new()), |all| all.settings())?;
    if !parameters.is_empty() {
        name += &format!(" ({})", parameters.join(", "));
    }
    let times = result.find("times").map_or(Ok(Vec::new()), |times| times.positives(into))?;
    let sample =
        |(fork, time): (usize, &f64)| Sample { ns: time * NS_PER_SECOND, fork: Some(fork) };
    let all = times.iter().enumerate().filter(|(_, time)| time.is_finite());
    let samples: Vec<Sample> = all.map(sample).collect();
    let new = if samples.is_empty() {
        let mean = result.at("mean", "a number above 0")?.positive()?;
        Benchmark::summary(Tool::Hyperfine, result.file(), name, mean * NS_PER_SECOND)
    } else {
        Benchmark::new(Tool::Hyperfine, result.file(), name, samples)
    };
    Ok(Benchmark { endings: endings(result)?, ..new })
}

fn endings(result: &Node<'_>) -> Result<BTreeMap<String, usize>, ImportError> {
    let codes = result.find("exit_codes").map_or(Ok(Vec::new()), |codes| codes.numbers())?;
    let mut endings = BTreeMap::new();
    for code in codes {
        let ending = match code {
            Some(0.0) => GOOD_ENDING.to_owned(),
            Some(code) => format!("status {code}"),
            None => "a signal".to_owned(),
        };
        *endings.entry(ending).or_default() += 1;
    }
    Ok(endings)
}
