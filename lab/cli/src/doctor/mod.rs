//! `lab doctor`: what this machine is, how noisy it is, and what is missing.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use lab_driver::{Catalog, tool_version};
use serde_json::{Value, json};

use crate::{Failure, paths::Paths};

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// One JSON object instead of lines
    #[arg(long)]
    json: bool,
    /// Only whether containers can use an NVIDIA card here, and what is missing; exit code 1 where
    /// something is
    #[arg(long)]
    gpu: bool,
}

/// Programs that a report gets better by.
const TOOLS: [(&str, &str); 3] = [
    ("gnuplot", "without it a report has tables and no pictures"),
    ("hyperfine", "without it start-up times are left out, and searches need 1.16 or newer"),
    ("git", "without it the records name no commit"),
];

pub(crate) fn doctor(args: &DoctorArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    if args.gpu {
        return Ok(gpu(args.json));
    }
    let floors = lab_probe::measure_floors()
        .map_err(|error| Failure::lab(format!("no loopback sockets: {error}")))?;
    let tools: Vec<Value> = TOOLS
        .iter()
        .map(|(name, need)| json!({ "name": name, "version": tool_version(name), "need": need }))
        .collect();
    let missing = missing_programs(paths)?;
    let findings = json!({
        "machine": lab_probe::machine(),
        "environment": lab_probe::environment(),
        "floors": floors,
        "tools": tools,
        "programs_missing": missing,
    });
    if args.json {
        println!("{findings}");
    } else {
        print_lines("", &findings);
    }
    Ok(ExitCode::from(u8::from(!missing.is_empty())))
}

fn gpu(as_json: bool) -> ExitCode {
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    let parts = lab_probe::gpu_parts(Path::new("/"), &path);
    if as_json {
        println!("{}", json!({ "gpu": parts }));
    } else {
        for part in &parts {
            let (found, to_do) = (part.found.as_deref(), part.to_do.unwrap_or_default());
            let what = found.map_or_else(|| format!("missing: {to_do}"), str::to_owned);
            println!("{:<8} {what}", part.name);
        }
    }
    ExitCode::from(u8::from(parts.iter().any(|part| part.found.is_none())))
}

fn missing_programs(paths: &Paths) -> Result<Vec<String>, Failure> {
    let catalog = Catalog::read(&paths.root, "runtimes", &paths.bin_dir)?;
    let missing = |program: &String| {
        let built: PathBuf = paths.bin_dir.join(program);
        !built.is_file()
    };
    let in_folder = |manifest: &lab_plan::Manifest| {
        paths.root.join(&manifest.family).join(&manifest.name).join(manifest.program()).is_file()
    };
    let absent = catalog.manifests.iter().filter(|manifest| !in_folder(manifest));
    Ok(absent.map(lab_plan::Manifest::program).filter(missing).collect())
}

fn print_lines(prefix: &str, value: &Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                print_lines(&name, value);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                print_lines(&format!("{prefix}.{index}"), value);
            }
        }
        leaf => println!("{prefix:<44} {leaf}"),
    }
}
