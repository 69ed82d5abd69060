//! `benchmarks[]`: an entry of run_type `iteration` for each repetition, and with
//! `--benchmark_report_aggregates_only` the entries of run_type `aggregate` alone.

use crate::{ImportError, Machine, node::Node, reading::Reading, units::time_ns};

/// Of `context`.
const MACHINE: [&str; 2] = ["host_name", "num_cpus"];

pub(crate) fn read(root: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    if let Some(context) = root.find("context") {
        into.on(machine(&context));
        if context.find("library_build_type").is_some_and(|it| it.text() == Ok("debug")) {
            into.note(DEBUG);
        }
        if context.find("cpu_scaling_enabled").is_some_and(|it| it.is_true()) {
            into.note(SCALING);
        }
    }
    for entry in &root.at("benchmarks", "an array")?.items()? {
        let read = one(entry, into);
        into.usable(read);
    }
    Ok(())
}

/// What stands in `context`, or is a warning of the table.
pub(crate) const DEBUG: &str = "the benchmark library was built for debugging";
pub(crate) const SCALING: &str = "the CPU's frequency could change (CPU scaling was on)";

fn machine(context: &Node<'_>) -> Machine {
    let mut machine = context.texts(&MACHINE);
    if let Some(mhz) = context.find("mhz_per_cpu").and_then(|it| it.positive().ok()) {
        machine.insert("MHz".to_owned(), mhz.to_string());
    }
    machine
}

fn one(entry: &Node<'_>, into: &mut Reading<'_>) -> Result<(), ImportError> {
    let is = |key| entry.find(key).is_some_and(|flag| flag.is_true());
    let name = entry.find("run_name").map_or_else(|| entry.at("name", "a string"), Ok)?.text()?;
    let message = |key| entry.find(key).and_then(|it| it.text().ok()).unwrap_or("no reason told");
    // One that failed or was skipped has times that mean nothing.
    if is("error_occurred") {
        into.failed(name, &format!("the error `{}`", message("error_message")));
        return Ok(());
    }
    if is("skipped") {
        into.note(format!("{name} was skipped: {}", message("skip_message")));
        return Ok(());
    }
    match entry.find("aggregate_name") {
        None => into.sample(name, ns(entry)?, None),
        Some(aggregate) if aggregate.text()? == "mean" => into.mean(name, ns(entry)?),
        Some(_) => {}
    }
    Ok(())
}

fn ns(entry: &Node<'_>) -> Result<f64, ImportError> {
    let time = entry.at("real_time", "a number above 0")?.positive()?;
    let unit = entry.at("time_unit", "a string")?;
    let unit_ns = time_ns(unit.text()?).ok_or_else(|| unit.broken("one of ns, us, ms and s"))?;
    Ok(time * unit_ns)
}
