//! The machine and its environment, by an allow-list: no host name, no user name, no path.

use std::{collections::BTreeMap, fs};

use lab_record::Machine;
use serde_json::{Value, json};

/// What identifies this machine well enough to refuse a resume on another one.
pub fn machine() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    Machine {
        cpu_model: model.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned()),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        memory_bytes: memory_bytes().unwrap_or(0),
        kernel: read_line("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned()),
        arch: std::env::consts::ARCH.to_owned(),
        id: hashed("/etc/machine-id"),
    }
}

/// A one-way name of what the file holds: ids of machines are not to be shown (machine-id(5)).
fn hashed(file: &str) -> Option<String> {
    let id = read_line(file).filter(|id| !id.is_empty())?;
    Some(lab_record::sha256_hex(format!("lab {id}").as_bytes())[..16].to_owned())
}

/// What may differ from one session to the next. A value that is not to be had is `null`, with the
/// reason beside it in a key that ends in `_reason`.
pub fn environment() -> BTreeMap<String, Value> {
    let mut known = BTreeMap::new();
    let mut note = |key: &str, value: Option<String>, reason: &str| {
        if value.is_none() {
            known.insert(format!("{key}_reason"), json!(reason));
        }
        known.insert(key.to_owned(), json!(value));
    };
    let virtual_machine = virtual_machine().then(|| "yes".to_owned());
    note("virtual_machine", virtual_machine, "the CPU names no hypervisor");
    let governor = read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    note("cpu_governor", governor, "the kernel shows no frequency control");
    let boot = hashed("/proc/sys/kernel/random/boot_id");
    note("boot", boot, "the kernel shows no id of its start");
    note("load_average", read_line("/proc/loadavg"), "no /proc/loadavg");
    let pressure = fs::metadata("/proc/pressure/cpu").is_ok().then(|| "yes".to_owned());
    note("pressure_stall_information", pressure, "the kernel was built or booted without PSI");
    let counters = fs::metadata("/sys/bus/event_source/devices/cpu").is_ok();
    let counters = counters.then(|| "yes".to_owned());
    note("hardware_counters", counters, "the kernel shows no counters of this CPU");
    let paranoid = read_line("/proc/sys/kernel/perf_event_paranoid");
    note("perf_event_paranoid", paranoid, "the kernel was built without perf events");
    note("entered_by", std::env::var("LAB_ENVIRONMENT").ok(), "not started through ./enter");
    note("rustc", std::env::var("LAB_RUSTC").ok(), "not started through ./enter");
    known
}

/// Runnable and waiting tasks of the whole machine, this process among them, averaged by the kernel
/// over about a minute.
pub fn load_1min() -> Option<f64> {
    first_load(&read_line("/proc/loadavg")?)
}

/// `0.20 0.18 0.12 1/80 11206`
fn first_load(line: &str) -> Option<f64> {
    line.split_whitespace().next()?.parse().ok()
}

/// As the CPU says it. On other architectures than x86 it never does.
fn virtual_machine() -> bool {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn memory_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn read_line(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.lines().next()?.trim().to_owned())
}
