//! `benchmarks[].stats.data`, in seconds a call; `--benchmark-save-data` keeps it, and older
//! releases leave it out of `--benchmark-json` without that.

use crate::{Benchmark, ImportError, Machine, Sample, Tool, node::Node, reading::Reading};

const NS_PER_SECOND: f64 = 1e9;
/// What tells machines and runtimes apart; the rest changes from run to run, or says it again.
const MACHINE: [&str; 8] = [
    "node",
    "processor",
    "machine",
    "system",
    "release",
    "python_implementation",
    "python_version",
    "cpu",
];
/// The same of `machine_info.cpu`.
const CPU: [&str; 5] = ["brand_raw", "brand", "arch", "count", "hardware_raw"];

pub(crate) fn read(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    let machine = root.find("machine_info").map(|info| machine(&info)).unwrap_or_default();
    for result in root.at("benchmarks", "an array")?.items()? {
        let benchmark = benchmark(&result, into)
            .map(|benchmark| Benchmark { machine: machine.clone(), ..benchmark });
        into.whole(benchmark);
    }
    Ok(())
}

fn machine(info: &Node<'_>) -> Machine {
    let mut machine = info.texts(&MACHINE);
    if let Some(cpu) = info.find("cpu") {
        let known = cpu.texts(&CPU).into_iter();
        machine.extend(known.map(|(key, value)| (format!("cpu {key}"), value)));
    }
    machine
}

fn benchmark(benchmark: &Node<'_>, into: &mut Reading<'_>) -> Result<Benchmark, ImportError> {
    let name = benchmark.at("fullname", "a string")?.text()?;
    let stats = benchmark.at("stats", "an object")?;
    let data = stats.find("data").map_or(Ok(Vec::new()), |data| data.positives(into))?;
    let sample = |time: &f64| Sample { ns: time * NS_PER_SECOND, fork: None };
    let samples: Vec<Sample> = data.iter().filter(|time| time.is_finite()).map(sample).collect();
    if samples.is_empty() {
        let mean = stats.at("mean", "a number above 0")?.positive()?;
        let mean = mean * NS_PER_SECOND;
        return Ok(Benchmark::summary(Tool::PytestBenchmark, benchmark.file(), name, mean));
    }
    Ok(Benchmark::new(Tool::PytestBenchmark, benchmark.file(), name, samples))
}
