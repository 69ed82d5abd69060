//! `lab doctor`: what is wrong with this machine for measuring, what to do about it, and what could
//! be detected today.

mod findings;
mod pilot;

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use clap::Args;
use lab_driver::probe::Floors;
use lab_driver::{Catalog, families, noise_causes, tool_version};
use lab_process::Hold;
use lab_record::Machine;
use serde_json::{Value, json};

use crate::{Exit, Failure, paths::Paths};
use findings::{Family, Finding, Seen, findings};
use pilot::Pilot;

#[derive(Args)]
#[command(after_help = "Exit codes: 0, also with findings; 1 where a program of a variant is not \
                        built or, with --gpu, a part is missing")]
pub(crate) struct DoctorArgs {
    /// Print one JSON object: the findings and every value behind them
    #[arg(long)]
    json: bool,
    /// Check only what containers need to use an NVIDIA card
    #[arg(long)]
    gpu: bool,
}

/// Programs that the lab starts, and what is lost without them.
const TOOLS: [(&str, &str); 3] = [
    ("gnuplot", "reports have tables and no pictures"),
    ("hyperfine", "there are no start-up times, and runs that it starts fail (1.16 or newer)"),
    ("git", "records name no commit"),
];

const OUTSIDE: &str = "Programs of variants: not checked, because no folder above this one is a \
                       checkout; change into one or give --root";

pub(crate) fn doctor(args: &DoctorArgs, paths: Option<&Paths>) -> Result<Exit, Failure> {
    if args.gpu {
        return Ok(gpu(args.json));
    }
    let values = Values::read(paths)?;
    let found = findings(&values.seen);
    if args.json {
        println!("{}", values.json(&found));
    } else {
        println!("{}\n", shown(&values.machine));
        print_findings(&found);
        println!("\n{}", values.pilot.text());
        println!("\nPictures: {}.", Hold::here());
        if !values.in_checkout {
            println!("\n{OUTSIDE}.");
        }
    }
    Ok(Exit::failed_if(!values.seen.unbuilt().is_empty()))
}

/// Everything that is read of this machine.
struct Values {
    seen: Seen,
    machine: Machine,
    environment: BTreeMap<String, Value>,
    floors: Floors,
    pilot: Pilot,
    tools: Vec<Value>,
    in_checkout: bool,
}

impl Values {
    fn read(paths: Option<&Paths>) -> Result<Self, Failure> {
        // Before the pilot, which is load itself.
        let (load, environment) =
            (lab_driver::probe::load_1min(), lab_driver::probe::environment());
        let families = paths.map(families_of).transpose()?.unwrap_or_default();
        let floors = lab_driver::probe::measure_floors()
            .map_err(|error| Failure::lab(format!("loopback sockets do not work: {error}")))?;
        let mut pilot = pilot::pilot();
        let tools = TOOLS.map(|(name, without)| (name, without, tool_version(name)));
        let machine = lab_driver::probe::machine();
        let text = |key: &str| environment[key].as_str().map(str::to_owned);
        let missing = tools.iter().filter(|(_, _, version)| version.is_none());
        let seen = Seen {
            load,
            governor: text("cpu_governor"),
            cpus: machine.cpus as usize,
            virtual_machine: text("virtual_machine").is_some(),
            disturbances: noise_causes(&mut pilot.noise, "the pilot"),
            tools_missing: missing.map(|(name, without, _)| (*name, *without)).collect(),
            families,
        };
        let tools = tools.into_iter().map(|(name, without, version)| {
            let need = format!("without it {without}");
            json!({ "name": name, "version": version, "need": need })
        });
        let tools = tools.collect();
        Ok(Self { seen, machine, environment, floors, pilot, tools, in_checkout: paths.is_some() })
    }

    fn json(&self, found: &[Finding]) -> Value {
        let findings = found.iter().map(
            |one| json!({ "subject": one.subject, "problem": one.problem, "remedy": one.remedy }),
        );
        json!({
            "findings": findings.collect::<Vec<_>>(),
            "pilot": self.pilot.json(),
            "machine": self.machine,
            "environment": self.environment,
            "load_1min": self.seen.load,
            "floors": self.floors,
            "tools": self.tools,
            "pictures": Hold::here().to_string(),
            "programs_missing": self.in_checkout.then(|| self.seen.unbuilt()),
            "left_out": if self.in_checkout { vec![] } else { vec![OUTSIDE] },
        })
    }
}

fn shown(machine: &Machine) -> String {
    let Machine { cpu_model, cpus, memory_bytes, kernel, arch, id: _ } = machine;
    let gib = *memory_bytes as f64 / f64::from(1 << 30);
    format!("{cpu_model}, {cpus} CPUs, {gib:.1} GiB, Linux {kernel}, {arch}")
}

fn print_findings(found: &[Finding]) {
    match found.len() {
        0 => println!("Nothing is wrong with this machine for measuring."),
        1 => println!("1 finding:"),
        many => println!("{many} findings:"),
    }
    for Finding { subject, problem, remedy } in found {
        println!("  {subject:<16}{problem}\n  {:<16}to do: {remedy}", "");
    }
}

fn families_of(paths: &Paths) -> Result<Vec<Family>, Failure> {
    let family = |name: String| {
        let catalog = Catalog::read(&paths.root, &name, &paths.bin_dirs)?;
        let (unbuilt, unreadable) = (catalog.missing(), catalog.unreadable());
        Ok(Family { name, variants: catalog.manifests.len(), unbuilt, unreadable })
    };
    families(&paths.root)?.into_iter().map(family).collect()
}

fn gpu(as_json: bool) -> Exit {
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    let parts = lab_driver::probe::gpu_parts(Path::new("/"), &path);
    if as_json {
        println!("{}", json!({ "gpu": parts }));
    } else {
        for part in &parts {
            let (found, to_do) = (part.found.as_deref(), part.to_do.unwrap_or_default());
            let what = found.map_or_else(|| format!("missing: {to_do}"), str::to_owned);
            println!("{:<8} {what}", part.name);
        }
    }
    Exit::failed_if(parts.iter().any(|part| part.found.is_none()))
}
