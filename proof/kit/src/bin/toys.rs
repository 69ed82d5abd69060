//! Every variant of the toys: it is the one that its file's name says. Its times are made up, so
//! that a test knows what a report must say.

#![forbid(unsafe_code)]

use std::{collections::BTreeMap, env, io, path::Path};

use lab_protocol::{Identity, PROTOCOL, RunOutcome, RunSpec, Status};
use proof_kit::toys::Workload;

fn main() {
    let mut arguments = env::args();
    let program = arguments.next().unwrap_or_default();
    let file = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let variant = file.strip_prefix("toys-").unwrap_or(&file).to_owned();
    let line = match arguments.next().as_deref() {
        Some("--describe") => serde_json::to_string(&identity(&variant)),
        _ => {
            let mut line = String::new();
            io::stdin().read_line(&mut line).expect("standard input is readable");
            let spec: RunSpec<Workload> = RunSpec::from_line(&line).expect("the lab writes specs");
            serde_json::to_string(&outcome(&variant, spec))
        }
    };
    println!("{}", line.expect("an outcome always serialises"));
}

fn identity(variant: &str) -> Identity {
    Identity {
        protocol: PROTOCOL,
        family: "toys".to_owned(),
        // A twin is a copy of the file under another name.
        variant: variant.trim_end_matches("_twin").to_owned(),
        measures: "addition".to_owned(),
        version: "1.0.0".to_owned(),
        features: vec![],
    }
}

/// A number that a run's name gives (FNV-1a).
fn mixed(run: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    run.bytes().fold(2_166_136_261, step) >> 8
}

fn outcome(variant: &str, spec: RunSpec<Workload>) -> RunOutcome {
    let numbers = spec.workload.numbers;
    let each_ns = match variant {
        "slow" => 30,
        "uneven" => 16 + i64::from(mixed(&spec.run) % 9),
        _ => 20,
    };
    let wrong = i64::from(variant == "wrong");
    let columns = [
        ("elapsed_ns", vec![each_ns * numbers]),
        ("sum", vec![numbers * (numbers + 1) / 2 + wrong]),
    ];
    let samples = columns.into_iter().map(|(name, values)| (name.to_owned(), values));
    RunOutcome {
        protocol: PROTOCOL,
        run: spec.run,
        status: Status::Ok,
        reason: None,
        counters: BTreeMap::new(),
        samples: samples.collect(),
    }
}
